#!/bin/sh
# Checks that the folders of Sources/Martlet point one way. The rule stands in check_folders.py.
exec python3 "$(dirname "$0")/check_folders.py" "$@"

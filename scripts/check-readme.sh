#!/bin/sh
# Compiles every Swift block of README.md and of the DocC articles, runs those that are tests, and checks that
# README.ko.md has the same blocks. Errors name the file and line of the block. How blocks are marked: check_readme.py.
exec python3 "$(dirname "$0")/check_readme.py" "$@"

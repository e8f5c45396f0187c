#!/usr/bin/env bash
# Installs Glewlwyd, Canaille, Django OAuth Toolkit and Chromium, and signs in there with a browser.
#
#   scripts/oauth.sh [--if-possible] COMMAND OPTION…
#
# COMMAND is the built `martlet`, and the options are those of `martlet oauth`. With --if-possible, the script says in
# one line what cannot be installed, and succeeds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

may_skip=
if [[ "${1:-}" == --if-possible ]]; then may_skip=1 && shift; fi

give_up() {
    if [[ -n "$may_skip" ]]; then
        echo "skipped: $1"
        exit 0
    fi
    echo "oauth: $1" >&2
    exit 1
}

as_root() {
    # Without a terminal, sudo must not ask for a password.
    if [[ "$(id -u)" == 0 ]]; then "$@"; elif [[ -t 0 ]]; then sudo "$@"; else sudo -n "$@"; fi
}

[[ "$(uname -s)" == Linux ]] || give_up "Glewlwyd has a package for Linux only."

apt_options=(-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)

# Each has a package of Debian with its name. Chromium's snap, on Ubuntu, cannot use the folders of the run.
missing=()
[[ -x /usr/bin/glewlwyd ]] || missing+=(glewlwyd)
command -v chromium >/dev/null || missing+=(chromium)
command -v chromedriver >/dev/null || missing+=(chromium-driver)
if ((${#missing[@]} > 0)); then
    command -v apt-get >/dev/null || give_up "${missing[*]}: not installed, and there is no apt-get."
    grep -qs '^ID=debian' /etc/os-release || give_up "${missing[*]}: not installed, and this is not Debian."
    echo "Installing ${missing[*]} with apt-get."
    {
        as_root apt-get update "${apt_options[@]}" &&
            as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y --no-install-recommends "${apt_options[@]}" "${missing[@]}"
    } >/dev/null 2>&1 || give_up "apt-get cannot install ${missing[*]}."
fi

python=.venv/bin/python3
# The packages are imported, too: pip would ask PyPI for each of them again.
if ! "$python" -c 'import canaille, flask_talisman, oauth2_provider, sys
from importlib.metadata import version
sys.exit((version("canaille"), version("django-oauth-toolkit")) != ("0.3.6", "3.4.0"))' 2>/dev/null; then
    echo "Installing Canaille and Django OAuth Toolkit into .venv."
    [[ -x "$python" ]] || python3 -m venv .venv >/dev/null 2>&1 || give_up "python3 cannot create .venv."
    "$python" -m pip install --quiet --disable-pip-version-check --timeout 20 --retries 1 \
        -r Tools/Interop/requirements-oauth.txt >/dev/null 2>&1 ||
        give_up "PyPI did not deliver what Tools/Interop/requirements-oauth.txt lists."
fi

command=$1
shift
"$command" oauth "$@"

#!/usr/bin/env bash
# Installs what Martlet's tests and tools need besides a Swift toolchain, or says what to install. macOS needs nothing.
#
#   libsqlite3-dev               SQLite, which the reference backend uses
#   libjpeg-dev and others       the codecs of the trait ImageCodecs, and libheif1 for the tests that read HEIC
#   gnome-keyring and others     for the tests of the Secret Service
#   werkzeug, python-multipart   other multipart parsers to test against (Python, in .venv)
#
# usage: scripts/install-dependencies.sh [library|tools|all]     library: nothing for the default traits, whose tests skip
#                                                             what is not there; tools: what the backend and the command need
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

warn() { printf 'install-dependencies: %s\n' "$@" >&2; }
fail() { warn "$@" && exit 1; }

command -v swift >/dev/null || fail "Swift is missing. Install Swift 6.3 or newer: https://www.swift.org/install"
[[ "$(uname -s)" == Linux ]] || exit 0

as_root() {
    # Without a terminal, sudo must not ask for a password.
    if [[ "$(id -u)" == 0 ]]; then "$@"; elif [[ -t 0 ]]; then sudo "$@"; else sudo -n "$@"; fi
}

apt_install() {
    command -v apt-get >/dev/null || return 1
    echo "Installing $* with apt-get."
    as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

has_headers() {
    local header
    for header in "$@"; do
        [[ -e "/usr/include/$header" || -e "/usr/local/include/$header" ]] || return 1
    done
}

# need_headers HEADER… -- PACKAGE…: installs Debian's packages if a header is missing.
need_headers() {
    local headers=()
    while [[ "$1" != -- ]]; do headers+=("$1") && shift; done
    shift
    has_headers "${headers[@]}" || apt_install "$@" || true
    has_headers "${headers[@]}" || fail "Headers are missing: ${headers[*]}. Install the packages that have them:" \
        "  Debian, Ubuntu:  sudo apt-get install $*" \
        "  Fedora, RHEL:    sudo dnf install sqlite-devel libjpeg-turbo-devel libpng-devel libwebp-devel lcms2-devel" \
        "  Alpine:          sudo apk add sqlite-dev libjpeg-turbo-dev libpng-dev libwebp-dev lcms2-dev"
}

[[ "${1:-all}" != library ]] || exit 0
need_headers sqlite3.h -- libsqlite3-dev
[[ "${1:-all}" == all ]] || exit 0
need_headers jpeglib.h png.h webp/encode.h lcms2.h -- libjpeg-dev libpng-dev libwebp-dev liblcms2-dev

if ! command -v python3 >/dev/null; then
    apt_install python3 || fail "The checks need python3. Install it with your system's package manager."
fi

can_load() { python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null; }

if ! can_load libheif.so.1; then
    apt_install libheif1 || true
    # Newer systems have the HEVC decoder in a package of its own.
    apt_install libheif-plugin-libde265 2>/dev/null || true
    can_load libheif.so.1 ||
        warn "Install libheif1 or libheif. The tests that read HEIC are skipped, or fail if CI is set."
fi

has_parsers() { "$1" -c 'import werkzeug.sansio.multipart, python_multipart.multipart' >/dev/null 2>&1; }

if ! has_parsers python3 && ! has_parsers .venv/bin/python3; then
    # Debian's python3 cannot create virtual environments without this package.
    python3 -c 'import ensurepip' >/dev/null 2>&1 || apt_install python3-venv || true
    echo "Installing werkzeug and python-multipart into .venv."
    { python3 -m venv .venv && .venv/bin/python3 -m pip install --quiet werkzeug python-multipart; } ||
        warn "Installing werkzeug and python-multipart failed. The tests that compare with them are skipped."
fi

has_keyring() {
    command -v gnome-keyring-daemon && command -v dbus-daemon && command -v dbus-send && can_load libsecret-1.so.0
}

if ! has_keyring >/dev/null; then
    apt_install gnome-keyring dbus libsecret-1-0 || true
    has_keyring >/dev/null || warn "There is no keyring. The tests that need one are skipped." \
        "Install gnome-keyring, dbus and libsecret (apt: gnome-keyring dbus libsecret-1-0) to run them."
fi

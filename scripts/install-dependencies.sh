#!/usr/bin/env bash
# Installs what Martlet's tests and tools need beside a Swift toolchain, or says precisely what to install.
#
#   libsqlite3-dev   the reference backend keeps its data in SQLite (Linux; part of macOS)
#   werkzeug, python-multipart
#                    multipart parsers that the tests hold ours against (Python, in .venv)
#   libjpeg-turbo and others
#                    the codecs of the trait ImageCodecs (Linux); libheif1 for the tests that read HEIC
#   gnome-keyring    a keyring that the tests save secrets in, on a bus of their own (Linux; with dbus and libsecret)
#
# usage: scripts/install-dependencies.sh [tools|all]     tools: only what the backend and the command need
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

what=${1:-all}

fail() {
    printf 'install-dependencies: %s\n' "$@" >&2
    exit 1
}

command -v swift >/dev/null ||
    fail "There is no Swift toolchain on the PATH. Install Swift 6.2 or newer: https://www.swift.org/install"

[[ "$(uname -s)" == Linux ]] || exit 0

has_sqlite_headers() {
    local folder
    for folder in /usr/include /usr/local/include; do
        [[ -e "$folder/sqlite3.h" ]] && return 0
    done
    return 1
}

# Runs as root: directly, or with sudo, which asks for a password only where somebody can type one.
as_root() {
    if [[ "$(id -u)" == 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null && [[ -t 0 ]]; then
        sudo "$@"
    elif command -v sudo >/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

apt_install() {
    command -v apt-get >/dev/null || return 1
    echo "Installing $* with apt-get."
    as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

if ! has_sqlite_headers; then
    apt_install libsqlite3-dev || true
    has_sqlite_headers || fail "The headers of SQLite are missing. Install the package that has sqlite3.h:" \
        "  Debian, Ubuntu:  sudo apt-get install libsqlite3-dev" \
        "  Fedora, RHEL:    sudo dnf install sqlite-devel" \
        "  Alpine:          sudo apk add sqlite-dev"
fi

[[ "$what" == all ]] || exit 0

has_codecs() {
    local header folder found
    for header in jpeglib.h png.h webp/encode.h lcms2.h; do
        found=
        for folder in /usr/include /usr/local/include; do
            [[ -e "$folder/$header" ]] && found=yes
        done
        [[ -n "$found" ]] || return 1
    done
}

if ! has_codecs; then
    apt_install libjpeg-dev libpng-dev libwebp-dev liblcms2-dev || true
    has_codecs || fail "The headers of image codecs are missing, which the trait ImageCodecs builds with. Install:" \
        "  Debian, Ubuntu:  sudo apt-get install libjpeg-dev libpng-dev libwebp-dev liblcms2-dev libheif1" \
        "  Fedora, RHEL:    sudo dnf install libjpeg-turbo-devel libpng-devel libwebp-devel lcms2-devel libheif" \
        "  Alpine:          sudo apk add libjpeg-turbo-dev libpng-dev libwebp-dev lcms2-dev libheif"
fi

has_heif() {
    local file
    for file in /usr/lib*/libheif.so.1 /usr/lib/*/libheif.so.1 /usr/local/lib*/libheif.so.1; do
        [[ -e "$file" ]] && return 0
    done
    return 1
}

if ! has_heif; then
    apt_install libheif1 || true
    # Later systems have the decoder of HEVC as a package of its own.
    apt_install libheif-plugin-libde265 2>/dev/null || true
    has_heif || echo "install-dependencies: there is no libheif; the tests that read HEIC are skipped, or fail where CI is" \
        "set. Install libheif1 (Debian, Ubuntu) or libheif (Fedora, Alpine) to run them." >&2
fi

has_parsers() {
    "$1" -c 'import werkzeug.sansio.multipart, python_multipart.multipart' >/dev/null 2>&1
}

if ! command -v python3 >/dev/null; then
    apt_install python3 || true
    command -v python3 >/dev/null || fail "The checks need python3: install it with your system's package manager."
fi
if ! has_parsers python3 && ! has_parsers .venv/bin/python3; then
    # Debian and Ubuntu ship python3 without the part that makes virtual environments.
    python3 -c 'import ensurepip' >/dev/null 2>&1 || apt_install python3-venv || true
    echo "Installing werkzeug and python-multipart into .venv."
    if ! { python3 -m venv .venv && .venv/bin/python3 -m pip install --quiet --disable-pip-version-check \
        werkzeug python-multipart; }; then
        echo "install-dependencies: werkzeug and python-multipart could not be installed into .venv (apt: python3-venv);" \
            "the tests that compare with them are skipped." >&2
    fi
fi

has_keyring() {
    command -v gnome-keyring-daemon >/dev/null && command -v dbus-daemon >/dev/null &&
        command -v dbus-send >/dev/null && python3 -c 'import ctypes; ctypes.CDLL("libsecret-1.so.0")' 2>/dev/null
}

if ! has_keyring; then
    apt_install gnome-keyring dbus libsecret-1-0 || true
    has_keyring || echo "install-dependencies: there is no keyring to test with; the tests that need one are skipped." \
        "Install gnome-keyring, dbus and libsecret (apt: gnome-keyring dbus libsecret-1-0) to run them." >&2
fi

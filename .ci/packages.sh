#!/usr/bin/env bash
# Installs the Debian packages that a task needs and that are missing; says which and why first.
#
#   .ci/packages.sh build          what building and using infc needs (.ci/packages-build.txt)
#   .ci/packages.sh build test     and what tests and checks need (.ci/packages-test.txt)
#   .ci/packages.sh examples       what the scripts of examples/ need besides (.ci/packages-examples.txt)
#   .ci/packages.sh --check ...    only say what is missing; exit 1 when something is
#
# A complete system: says nothing, installs nothing, needs no root.
# INFC_SKIP_PACKAGES=1: takes the packages for granted.
. "$(dirname "$0")/check.sh"
[ -z "${INFC_SKIP_PACKAGES:-}" ] || exit 0

check_only=no
lists=()
for word in "$@"; do
    case $word in
        --check) check_only=yes ;;
        *)
            [ -f ".ci/packages-$word.txt" ] || die "no package list \"$word\"; there are: build, test, examples"
            lists+=(".ci/packages-$word.txt")
            ;;
    esac
done
[ ${#lists[@]} -gt 0 ] || die "which list? build, test, examples"

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This script installs Debian packages, and there is no apt here. The equivalents of these are needed:" >&2
    sed -n 's/^\([a-z0-9][^ ]*\)  *\(.*\)/  \1: \2/p' "${lists[@]}" >&2
    echo "With them in place, skip this step: INFC_SKIP_PACKAGES=1" >&2
    exit 4
fi

missing=()
for list in "${lists[@]}"; do
    while read -r package reason; do
        case $package in '' | '#'*) continue ;; esac
        state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=absent
        [ "$state" = installed ] && continue
        [ ${#missing[@]} -gt 0 ] || echo "missing Debian packages:"
        printf '  %-24s %s\n' "$package" "$reason"
        missing+=("$package")
    done <"$list"
done
[ ${#missing[@]} -gt 0 ] || exit 0
[ $check_only = no ] || exit 1

install="apt-get install -y --no-install-recommends ${missing[*]}"
as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        die "installing needs root, and there is no sudo. Run this as root, then start again:"$'\n'"  $install"
    fi
    as_root=(sudo)
    if [ ! -t 0 ]; then # nobody can type a password
        as_root=(sudo -n)
        sudo -n true 2>/dev/null ||
            die "installing needs root, and sudo asks for a password. Run this, then start again:"$'\n'"  sudo $install"
    fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1; }
update() {
    echo "apt-get update"
    apt -o APT::Update::Error-Mode=any -q update && return
    tail -n 5 "$log" >&2
    die "apt-get update failed: is the machine offline, or a mirror down? Packages still missing: ${missing[*]}"
}
known() { # every missing package has a version that apt could fetch
    local package
    for package in "${missing[@]}"; do
        apt-cache show "$package" >/dev/null 2>&1 || { unknown=$package && return 1; }
    done
}
try_install() { apt install -y --no-install-recommends -q "${missing[@]}"; }

known || update
if ! known; then
    . /etc/os-release 2>/dev/null || PRETTY_NAME="this system"
    die "apt knows no package \"$unknown\" on $PRETTY_NAME. infc is built on Debian 12 with its security updates enabled"
fi
echo "${as_root:+${as_root[*]} }apt-get install -y --no-install-recommends (${#missing[@]} packages and what they depend on; a few minutes)"
if ! try_install; then
    update # the lists may be older than the mirror
    try_install || {
        tail -n 15 "$log" >&2
        die "apt-get install failed; the last lines of its output are above"
    }
fi
echo "installed: ${missing[*]}"

# Sourced first by the scripts of .ci/, tests/ and examples/: strict mode, the top folder, --help, files.
# --help prints the comment at the top of the script.
set -euo pipefail
export LC_ALL=C.UTF-8
script=$(realpath "$0")
top=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
cd "$top"

die() {
    echo "$(basename "$script"): $*" >&2
    exit 4
}
# A mistake on the command line.
misused() {
    echo "$(basename "$script"): $*; see --help" >&2
    exit 2
}

for word in "$@"; do
    case $word in
        -h | --help)
            sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"
            exit 0
            ;;
    esac
done

# The repository's files below the given folders or matching the given patterns, new ones included, as
# `git ls-files` takes them; a copy without .git is searched with find.
files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -c core.quotePath=off ls-files -co --exclude-standard -- "$@" | sort -u | while read -r f; do
            [ ! -f "$f" ] || echo "$f"
        done
    else
        local pattern
        for pattern in "$@"; do
            case $pattern in
                \**) find . -name "$pattern" -type f ;;
                *) find "./$pattern" -type f 2>/dev/null ;;
            esac
        done | sed 's|^\./||' | grep -v '^build/' | sort -u
    fi
}

# Says how long the script took, whatever its end.
timed() {
    SECONDS=0
    trap 'status=$?; echo "$(basename "$script"): $([ $status = 0 ] && echo passed || echo FAILED) in ${SECONDS} s" >&2' EXIT
}

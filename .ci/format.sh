#!/usr/bin/env bash
# Checks that C files are formatted as .ci/clang-format says and keep to 120 columns.
#
#   .ci/format.sh               all C files, new ones included
#   .ci/format.sh --changed     those that differ from the last commit
#   .ci/format.sh --fix ...     reformats them (or the files named) in place
#
# Kernel templates (.c.in) and tables (.def) are aligned by hand; tables may be wider.
. "$(dirname "$0")/check.sh"
timed

fix=no changed=no named=()
for word in "$@"; do
    case $word in
        --fix) fix=yes ;;
        --changed) changed=yes ;;
        -*) misused "unknown option $word" ;;
        *) named+=("$word") ;;
    esac
done

list() {
    if [ ${#named[@]} -gt 0 ]; then
        printf '%s\n' "${named[@]}"
    elif [ $changed = yes ]; then
        { git diff --name-only --diff-filter=d HEAD && git ls-files -o --exclude-standard; } | sort -u
    else
        files '*.c' '*.h' '*.def' '*.c.in'
    fi
}
mapfile -t sources < <(list | grep -E '\.[ch]$' || true)
mapfile -t all < <(list | grep -E '\.([ch]|def|c\.in)$' || true)
formatter=$(command -v clang-format-22) || die "clang-format-22 is missing: .ci/packages.sh test"

status=0
if [ $fix = yes ] && [ ${#sources[@]} -gt 0 ]; then
    "$formatter" -i --style=file:.ci/clang-format "${sources[@]}"
fi
for source in "${sources[@]}"; do # one line each: the formatter's own report has three per place
    places=$("$formatter" --style=file:.ci/clang-format "$source" | diff "$source" - | grep -c '^[0-9]' || true)
    [ "$places" = 0 ] && continue
    echo "$source: $places places to format"
    status=1
done
[ $status = 0 ] || echo "apply with: .ci/format.sh --fix"
if [ ${#all[@]} -gt 0 ]; then
    awk 'length($0) > 120 && FILENAME !~ /\.def$/ { printf "%s:%d: %d columns, at most 120\n", FILENAME, FNR, length($0); bad = 1 }
         /\t/ { printf "%s:%d: tab\n", FILENAME, FNR; bad = 1 }
         / $/ { printf "%s:%d: space at the end of the line\n", FILENAME, FNR; bad = 1 }
         END { exit bad }' "${all[@]}" || status=1
fi
echo "${#sources[@]} C files formatted, ${#all[@]} files for width and blanks"
exit $status

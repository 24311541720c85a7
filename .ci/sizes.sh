#!/usr/bin/env bash
# Checks sizes: files of at most 500 lines, headers 250, functions 60.
#
#   .ci/sizes.sh              all sources
#   .ci/sizes.sh FILE...      these
#   .ci/sizes.sh --self-test  that the counter counts right
#
# Exceptions stand in .ci/size-allow.txt, each with its reason; one that is no longer needed fails too.
# A function is what .ci/format.sh makes of it: its first line starts in column 0, and "}" alone there ends it.
. "$(dirname "$0")/check.sh"

# Prints "lines what" for every file and function over its limit.
count() {
    awk '
    FNR == 1 { finish(); file = FILENAME; n = 0; head = 0; inside = 0 }
    { n = FNR }
    file !~ /\.[ch](\.in)?$/ { next }
    inside {
        if (/^}/) { if (FNR - head + 1 > 60) print FNR - head + 1, file ":" name "()"; inside = head = 0 }
        next
    }
    /^[A-Za-z_]/ { if (!head) { head = FNR; text = "" } }
    head {
        text = text " " $0
        if (/;[ \t]*(\/[*\/].*)?$/ || /^#/ || /}[ \t]*$/) head = 0
        else if (/\{[ \t]*(\/[*\/].*)?$/) {
            if (text ~ /=[ \t]*(\([^()]*\))?[ \t]*\{/ || text ~ /^ *(typedef|struct|enum|union|extern "C")[^(]*\{/) head = 0
            else {
                name = text
                sub(/^ *((static|inline|const|extern|void|INFC_[A-Z]+|__attribute__\(\([^()]*(\([^()]*\))?\)\)) +)*/, "", name)
                sub(/ *\(.*/, "", name); sub(/.*[ *]/, "", name)
                inside = 1
            }
        }
    }
    END { finish() }
    function finish() {
        if (file == "") return
        if (file ~ /\.h$/ && n > 250) print n, file
        else if (n > 500) print n, file
    }' "$@"
}

self_test() {
    local sample=tests/sizes/long_function.c got
    got=$(count "$sample")
    [ "$got" = "61 $sample:over_by_one()
61 $sample:split_head()" ] || { echo "self-test: got" && echo "$got" && exit 1; }
    echo "self-test passed"
}

timed
if [ "${1:-}" = --self-test ]; then
    self_test
    exit
fi
self_test
if [ $# -gt 0 ]; then
    sources=("$@")
else
    mapfile -t sources < <(files '*.c' '*.h' '*.c.in' '*.def' '*.py' '*.sh' '*.cmake' 'CMakeLists.txt' '*/CMakeLists.txt' |
        grep -v '^tests/sizes/')
fi

declare -A allowed=() used=()
while read -r what reason; do
    case $what in '' | '#'*) continue ;; esac
    [ -n "$reason" ] || die ".ci/size-allow.txt: $what has no reason"
    allowed[$what]=$reason
done <.ci/size-allow.txt

status=0
while read -r lines what; do
    [ -n "$what" ] || continue
    if [ -n "${allowed[$what]:-}" ]; then
        used[$what]=1
        continue
    fi
    case $what in
        *'()') limit="a function has at most 60" ;;
        *.h) limit="a header has at most 250" ;;
        *) limit="a file has at most 500" ;;
    esac
    echo "$what: $lines lines; $limit. Split it, or explain it in .ci/size-allow.txt"
    status=1
done < <(count "${sources[@]}")
if [ $# = 0 ]; then
    for what in "${!allowed[@]}"; do
        [ -n "${used[$what]:-}" ] || { echo ".ci/size-allow.txt: $what needs no exception (any more)" && status=1; }
    done
fi
echo "${#sources[@]} files, ${#used[@]} exceptions"
exit $status

#!/usr/bin/env bash
# Runs one case file against infc. Usage: run.sh INFC SOURCE_DIR WORK_DIR CASE
#
# A case is lines; commands run in an empty folder of their own with `infc` on PATH and $SRC, the repository:
#   $ command          runs it in bash; `> more` continues it on the next line
#   exit N             its exit code (default 0)
#   out|err GLOB       some line of stdout|stderr matches *GLOB*; out|err ! GLOB: none does
#   out|err empty      nothing was printed there
#   json out|err       it is one JSON document
#   has PATH  no PATH  something of that name (a glob) is there, or is not
#   needs PROGRAM      the case is skipped (exit 77) without it; also `needs numpy`, `onnx`, `root`, `tmpfs` (to mount)
#   # label: fast|full the label of the ctest, on the first line; other # lines are comments
set -uo pipefail
export LC_ALL=C.UTF-8
infc=$(realpath "$1") SRC=$(realpath "$2") work=$3/$(basename "$4" .case) file=$(realpath "$4")
export SRC INFC_CACHE=$(realpath -m "$3")/cache PATH=$(dirname "$infc"):$PATH
unset CC AR TMPDIR
rm -rf "$work"
mkdir -p "$work/run"
cd "$work/run" || exit 4

failures=0 line_no=0 command='' at=0 got=0 wanted=0 pending=no checks=()

fail() {
    echo "$file:$1: $2"
    failures=$((failures + 1))
}
stream() { cat "../$1"; }
matches() { # stream, glob
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        # shellcheck disable=SC2053
        [[ $line == *$2* ]] && return 0
    done < <(stream "$1")
    return 1
}
any() { compgen -G "$1" >/dev/null; }

check() { # line number, words of the check
    local at=$1 kind=$2 rest=${3-}
    case $kind in
        out | err)
            case $rest in
                empty) [ ! -s "../$kind" ] || fail "$at" "std$kind is not empty" ;;
                '! '*) ! matches "$kind" "${rest#! }" || fail "$at" "std$kind has ${rest#! }" ;;
                *) matches "$kind" "$rest" || fail "$at" "std$kind has no line like $rest" ;;
            esac
            ;;
        json) "${INFC_PYTHON:-python3}" -c 'import json,sys; json.load(sys.stdin)' <"../$rest" 2>/dev/null || fail "$at" "std$rest is not JSON" ;;
        has) any "$rest" || fail "$at" "$rest is not there" ;;
        no) ! any "$rest" || fail "$at" "$rest is there: $(compgen -G "$rest" | head -n 3 | tr '\n' ' ')" ;;
        *) fail "$at" "unknown check: $kind" ;;
    esac
}

finish() { # runs the command that was read, then its checks
    [ $pending = yes ] || return 0
    local before=$failures c
    { bash -c "$command" >../out 2>../err </dev/null; } 2>/dev/null # the shell's word about killed ones
    got=$?
    [ "$got" = "$wanted" ] || fail "$at" "exit $got, expected $wanted: $command"
    for c in "${checks[@]}"; do check "${c%%:*}" "$(cut -d: -f2 <<<"$c")" "$(cut -d: -f3- <<<"$c")"; done
    if [ "$failures" != "$before" ]; then
        echo "--- $command"
        sed 's/^/stdout: /' ../out | head -n 40
        sed 's/^/stderr: /' ../err | head -n 40
    fi
    pending=no wanted=0 checks=()
}

mapfile -t lines <"$file"
for line in "${lines[@]}"; do
    line_no=$((line_no + 1))
    case $line in
        '' | '#'*) ;;
        '$ '*)
            finish
            command=${line#'$ '} at=$line_no pending=yes
            ;;
        '> '*) command+=$'\n'${line#> } ;;
        'exit '*) wanted=${line#exit } ;;
        'needs numpy' | 'needs onnx') "${INFC_PYTHON:-python3}" -c "import ${line#needs }" 2>/dev/null || exit 77 ;;
        'needs tmpfs')
            d=$(mktemp -d) && mount -t tmpfs tmpfs "$d" 2>/dev/null && umount "$d" && rmdir "$d" || exit 77
            ;;
        'needs root') [ "$(id -u)" = 0 ] || exit 77 ;;
        'needs '*) command -v "${line#needs }" >/dev/null || exit 77 ;;
        *) checks+=("$line_no:${line%% *}:${line#* }") ;;
    esac
done
finish
[ $failures = 0 ] && cd / && rm -rf "$work"
[ $failures = 0 ]

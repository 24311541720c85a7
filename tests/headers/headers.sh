#!/bin/sh
# Compiles each header that users include, alone and twice, as C11 and C++17, with every compiler that is here.
#   headers.sh INFC SOURCE_DIR WORK_DIR
set -eu
infc=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
"$infc" compile "$source/examples/digits/spec.yaml" --stop-after emit -o "$work/digits"

warnings='-pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror'
count=0 failed=0
compile() { # HEADER INCLUDE_DIR COMPILER FLAGS...
    header=$1 dir=$2
    shift 2
    command -v "$1" >/dev/null 2>&1 || return 0
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$work/alone.c"
    count=$((count + 1))
    "$@" $warnings -I "$dir" -c "$work/alone.c" -o "$work/alone.o" || {
        echo "FAILED: $header with $*"
        failed=$((failed + 1))
    }
}
all() { # HEADER INCLUDE_DIR
    for cc in gcc clang-22; do compile "$1" "$2" $cc -std=c11 -Wmissing-prototypes; done
    for cxx in g++ clang++-22; do compile "$1" "$2" $cxx -x c++ -std=c++17; done
}
all digits.h "$work/digits"
all infc_abi.h "$work/digits"
for header in infc_abi.h infrt.h infrt_app.h; do all "$header" "$source/runtime/include"; done
[ "$count" -gt 0 ] || { echo "no compiler found" && exit 1; }
echo "$((count - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]

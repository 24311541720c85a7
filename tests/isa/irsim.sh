#!/usr/bin/env bash
# Compiles C with AVX-512 intrinsics to an object that runs on AVX2: clang's IR for the real instruction set, with the
# target taken off, so that the back end splits the vectors. The few intrinsics that stay x86's own get bodies from
# sim512.c; any other is an error here, named.
#
#   irsim.sh OUT.o "COMPILER FLAGS WITH -march" SOURCE.c...
#
# Needs clang and llvm-link, version 22 (CLANG, LLVM_LINK).
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
out=$1 flags=$2
shift 2
clang=${CLANG:-clang-22} link=${LLVM_LINK:-llvm-link-22}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

i=0
for source in "$@" "$(dirname "$0")/sim512.c"; do
    i=$((i + 1))
    # Vectors of 256 bits are preferred, so that no loop of the C is itself vectorised to 512.
    # shellcheck disable=SC2086
    "$clang" -mprefer-vector-width=256 $flags -Wno-psabi -S -emit-llvm "$source" -o "$dir/$i.ll"
    sed -E -i 's/"target-(features|cpu)"="[^"]*"//g; s/"tune-cpu"="[^"]*"//g
        s/@llvm\.x86\.avx512\.(mask\.)?(max|min|rndscale|scalef)\.ps\.512/@sim_\2_ps_512/g
        s/@llvm\.x86\.avx512\.(pmaddw|pmaddubs|psllv)\.([dw])\.512/@sim_\1_\2_512/g
        s/@llvm\.fma\.v32f16/@sim_fma_ph_512/g
        s/@llvm\.x86\.avx512bf16\.(dpbf16ps|cvtne2ps2bf16)\.512/@sim_\1_512/g
        s/@llvm\.x86\.avx512\.(mask\.)?(vpdpbusd|vpdpwssd|cvttps2dq|vcvtps2ph)\.512/@sim_\2_512/g' "$dir/$i.ll"
done
if grep -hoE '@llvm\.x86\.avx512[a-z0-9.]+' "$dir"/*.ll | sort -u >"$dir/left"; then
    echo "irsim.sh: no body in sim512.c for:" >&2
    cat "$dir/left" >&2
    exit 1
fi
"$link" -S "$dir"/*.ll -o "$dir/all.ll"
"$clang" -O1 -march=x86-64-v3 -Wno-override-module -c "$dir/all.ll" -o "$out"

#!/usr/bin/env bash
# From a fresh Debian 12 to a compiled model: installs what is missing (and says what and why), builds infc,
# compiles examples/digits into a binary and a static library, and runs the binary on a picture of a 7.
#
#   examples/quickstart.sh              all of it; again later: a few seconds
#   examples/quickstart.sh --dry-run    only say what would be installed
#
# Needs root or sudo when packages are missing, and about 1.5 GB of disk for them. All else stays in build/.
# CC chooses the compiler (default clang-22), JOBS how many run at a time (default: cores).
. "$(dirname "$0")/../.ci/check.sh"

say() { printf '\n== %s\n' "$*"; }

case ${1:-} in
    '') ;;
    --dry-run)
        if .ci/packages.sh --check build; then
            echo "nothing is missing"
        else
            echo "would be installed with apt-get; then infc is built in build/"
        fi
        exit
        ;;
    *) misused "unknown argument $1" ;;
esac

say "packages"
.ci/packages.sh build
echo "all there"

say "building infc in build/"
mkdir -p build
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="${CC:-clang-22}" -DINFC_TESTS=OFF >build/cmake.log 2>&1 || {
    tail -n 20 build/cmake.log >&2
    die "cmake failed; the whole output is in build/cmake.log"
}
ninja -C build -j "${JOBS:-$(nproc)}" infc

say "compiling the model: infc compile examples/digits/spec.yaml -o build/digits"
build/infc compile examples/digits/spec.yaml -o build/digits

say "running it: build/digits/digits run --input image=examples/digits/7.png"
build/digits/digits run --input image=examples/digits/7.png

say "sizes"
printf '%-34s %9d bytes, weights and runtime included\n' build/digits/digits "$(stat -c %s build/digits/digits)"
size -A build/digits/libdigits.a | awk '
    $1 ~ /^\.text/ { code += $2 }
    $1 ~ /^\.rodata/ { constants += $2 }
    $1 ~ /weights/ { weights += $2 }
    END { printf "%-34s %9d bytes of code, %d of constants, %d of weights\n", "build/digits/libdigits.a", code, constants, weights }'

say "next"
cat <<'END'
export PATH="$PWD/build:$PATH"                  then it is infc, as the pages call it
build/digits/digits bench                       how fast it is here
build/infc verify examples/digits/spec.yaml     every kernel against the reference, layer by layer
build/infc inspect examples/digits/digits.onnx  what is in a model, and whether infc supports it
build/infc init MODEL.onnx -o spec.yaml         a commented spec for a model of your own
examples/digits/README.md                       the library from C and C++
END

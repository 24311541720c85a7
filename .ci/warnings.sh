#!/usr/bin/env bash
# Builds infc with gcc as examples/quickstart.sh does: warnings are errors, and gcc finds values that may be used
# unset only where it optimises, most at -O3. Half a minute on four cores.
#
#   .ci/warnings.sh
. "$(dirname "$0")/check.sh"
timed

gcc=$(command -v gcc) || die "gcc is missing: .ci/packages.sh build"
mkdir -p build/warnings
cmake -S . -B build/warnings -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$gcc" >build/warnings/cmake.log 2>&1 ||
    { cat build/warnings/cmake.log >&2 && exit 1; }
ninja -C build/warnings -j "${JOBS:-$(nproc)}" --quiet infc
echo "no warnings"

#!/usr/bin/env bash
# Builds with sanitizers and runs the fast tests: address and undefined behaviour for all, thread for the
# runtime; then every fuzz target for a while over its corpus.
#
#   .ci/sanitize.sh                       all three
#   .ci/sanitize.sh address|thread|fuzz   these
#
# FUZZ_SECONDS: how long each target runs (default 30), as many at a time as there are cores. A crashing input
# is kept in build/fuzz/found/.
. "$(dirname "$0")/check.sh"
timed

steps=(address thread fuzz)
[ $# = 0 ] || steps=("$@")
.ci/packages.sh build test
.ci/venv.sh
jobs=${JOBS:-$(nproc)}
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-22 || true)
export ASAN_SYMBOLIZER_PATH

build() { # DIR TARGETS OPTION...; TARGETS: all, or names
    local dir=$1 targets=$2
    shift 2
    mkdir -p "$dir"
    cmake -S . -B "$dir" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang-22 -DINFC_PYTHON="$top/build/venv/bin/python" \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g" "$@" >"$dir/cmake.log" 2>&1 || {
        cat "$dir/cmake.log" >&2
        return 1
    }
    # shellcheck disable=SC2086
    ninja -C "$dir" -j "$jobs" --quiet $targets
}
run_address() {
    build build/asan all -DINFC_SANITIZE=address,undefined &&
        ctest --test-dir build/asan --output-on-failure --no-tests=error -j "$jobs" -L '^fast'
}
run_thread() {
    local tests=(tests/unit/test_infrt*.c)
    tests=("${tests[@]##*/}")
    build build/tsan "${tests[*]%.c}" -DINFC_SANITIZE=thread &&
        ctest --test-dir build/tsan --output-on-failure --no-tests=error -j "$jobs" -R '^test_infrt'
}
fuzz_one() { # TARGET
    local name=${1##*/} status=0 seeds=()
    local log=build/fuzz/$name.log corpus=build/fuzz/corpus/$name # what earlier runs found is kept and tried again
    mkdir -p "$corpus"
    [ ! -d "tests/fuzz/corpus/${name#fuzz_}" ] || seeds=("tests/fuzz/corpus/${name#fuzz_}")
    "$1" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="build/fuzz/found/$name-" "$corpus" "${seeds[@]}" >"$log" 2>&1 || {
        tail -n 40 "$log"
        status=1
    }
    echo "-- $name, ${FUZZ_SECONDS:-30} s"
    sed -n 's/^stat::\(number_of_executed_units\|new_units_added\): */   \1 /p' "$log"
    return $status
}
run_fuzz() {
    build build/fuzz fuzz_targets -DINFC_SANITIZE=address,undefined -DINFC_FUZZ=ON || return 1
    mkdir -p build/fuzz/found
    local targets=() target
    for target in build/fuzz/tests/fuzz/fuzz_*; do
        [ ! -f "$target" ] || [ ! -x "$target" ] || targets+=("$target")
    done
    [ ${#targets[@]} -gt 0 ] || { echo "no fuzz target was built" && return 1; }
    export -f fuzz_one
    printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I {} bash -c 'fuzz_one {}'
}

failed=()
for step in "${steps[@]}"; do
    case $step in address | thread | fuzz) ;; *) misused "unknown step $step" ;; esac
    echo "-- $step"
    "run_$step" || failed+=("$step")
done
echo "$((${#steps[@]} - ${#failed[@]})) of ${#steps[@]} steps passed${failed:+; failed: ${failed[*]}}"
[ ${#failed[@]} = 0 ]

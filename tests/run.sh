#!/usr/bin/env bash
# Installs what the tests need, builds infc with assertions, runs the tests.
#
#   tests/run.sh                       all tests
#   tests/run.sh fast                  those under a minute, for before each commit
#   tests/run.sh full|qemu|bench ...   those with one of these labels
#   tests/run.sh sanitize              the fast tests under sanitizers, and the fuzz targets (.ci/sanitize.sh)
#   tests/run.sh -R REGEX ...          anything else goes to ctest
#
# CC chooses the compiler (default clang-22), JOBS how many run at a time (default: cores). All it makes is
# in build/test and build/venv; the Debian packages are listed in .ci/packages-*.txt.
. "$(dirname "$0")/../.ci/check.sh"
timed

labels='' sanitize=no others=()
while [ $# -gt 0 ]; do
    case $1 in
        fast | full | qemu | bench) labels+="${labels:+|}^$1" ;;
        sanitize) sanitize=yes ;;
        -*)
            others+=("$@")
            break
            ;;
        *) misused "unknown label $1" ;;
    esac
    shift
done
if [ $sanitize = yes ]; then
    .ci/sanitize.sh
    [ -n "$labels${others[*]}" ] || exit 0
fi

.ci/packages.sh build test
.ci/venv.sh

build=build/test
jobs=${JOBS:-$(nproc)}
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER="${CC:-clang-22}" \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g" -DINFC_TESTS=ON -DINFC_PYTHON="$top/build/venv/bin/python" >$build.log 2>&1 || {
    cat $build.log >&2
    die "cmake failed; its output is above"
}
ninja -C $build -j "$jobs"
built=$SECONDS

log=$build/tests.log
select=()
[ -z "$labels" ] || select=(-L "$labels")
status=0
# Benchmarks run alone and last, so that their times mean something.
if [ -z "$labels${others[*]}" ]; then
    ctest --test-dir $build --output-on-failure --no-tests=error -j "$jobs" -LE '^bench' 2>&1 | tee $log || status=$?
    ctest --test-dir $build --output-on-failure -L '^bench' 2>&1 | tee -a $log || status=$?
else
    ctest --test-dir $build --output-on-failure --no-tests=error -j "$jobs" "${select[@]}" "${others[@]}" 2>&1 | tee $log || status=$?
fi

echo
echo "build ${built} s, tests $((SECONDS - built)) s"
failed=$(sed -n '/(Skipped)/!s/^[[:space:]]*[0-9]* - \(.*\) (\(.*\))[^()]*$/  \1 (\2)/p' $log | sort -u)
passed=$(grep -cE 'Test +#[0-9]+: .* Passed ' $log || true)
skipped=$(grep -cE 'Test +#[0-9]+: .*\*\*\*(Skipped|Not Run)' $log || true)
echo "$passed passed, $(echo -n "${failed:+$failed$'\n'}" | grep -c . || true) failed, $skipped skipped"
[ -z "$failed" ] || echo "$failed"
exit $status

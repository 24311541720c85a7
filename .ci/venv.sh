#!/usr/bin/env bash
# Makes build/venv: the Python packages of the tests, as pinned in tests/requirements.txt. Quick when it is there.
. "$(dirname "$0")/check.sh"

venv=build/venv
wanted=$(sha256sum tests/requirements.txt)
[ "$(cat $venv/made-from 2>/dev/null || true)" = "$wanted" ] && $venv/bin/python -c '' && exit 0
echo "python packages of the tests, into $venv"
rm -rf $venv
mkdir -p build
python3 -m venv $venv || die "python3 -m venv failed: .ci/packages.sh test"
$venv/bin/python -m pip install -q --disable-pip-version-check -r tests/requirements.txt ||
    die "pip could not install tests/requirements.txt: is the machine offline? Nothing else in tests/run.sh needs the network"
echo "$wanted" >$venv/made-from

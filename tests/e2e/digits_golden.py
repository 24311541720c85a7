#!/usr/bin/env python3
"""Every stage of digits as text, compared with tests/e2e/golden/. To accept a change: --update.

usage: digits_golden.py INFC SOURCE_DIR WORK_DIR [--update]
"""
import difflib
import pathlib
import shutil
import subprocess
import sys


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    update = "--update" in sys.argv
    golden = source / "tests/e2e/golden"
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "--target", "x86-64-v3", "--dump", "all",
                    "--dump-to", work / "dump", "--stop-after", "emit", "-o", work / "out"], check=True)
    made = {p.name: p.read_text() for p in sorted((work / "dump").iterdir())}
    if update:
        shutil.rmtree(golden, ignore_errors=True)
        golden.mkdir()
        for name, text in made.items():
            (golden / name).write_text(text)
    kept = {p.name: p.read_text() for p in sorted(golden.iterdir())}
    failures = 0
    for name in sorted(made.keys() | kept.keys()):
        same = made.get(name) == kept.get(name)
        failures += not same
        print(("ok      " if same else "FAILED  ") + name)
        if not same:
            sys.stdout.writelines(difflib.unified_diff(kept.get(name, "").splitlines(True),
                                                       made.get(name, "").splitlines(True), "golden", "now"))
    print(f"{len(made | kept) - failures} passed, {failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

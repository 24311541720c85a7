#!/usr/bin/env python3
"""Every stage of digits before the C as text, compared with tests/e2e/golden/; and the stages before the target is known are the
same text for another target. To accept a change: --update.

usage: digits_golden.py INFC SOURCE_DIR WORK_DIR [--update]
"""
import difflib
import pathlib
import shutil
import subprocess
import sys


def stages(infc, source, work, target):
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "--target", target, "--dump", "all",
                    "--dump-to", work / target, "--stop-after", "emit", "-o", work / "out"], check=True)
    # The C is compared for a plan small enough to review, in tests/emit.
    return {p.name: p.read_text() for p in sorted((work / target).iterdir()) if p.suffix != ".c"}


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    update = "--update" in sys.argv
    golden = source / "tests/e2e/golden"
    shutil.rmtree(work, ignore_errors=True)
    made, other = (stages(infc, source, work, target) for target in ("x86-64-v3", "riscv64"))
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
    early = [name for name in made if name < "09"]  # the spec names its target
    same = [name for name in early if made[name] == other.get(name)]
    failures += len(early) - len(same)
    print(f"{'ok      ' if early == same else 'FAILED  '}{len(same)} of {len(early)} stages before layout do not depend on the target")
    print(f"{len(made | kept) + len(early) - failures} passed, {failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

"""A compile into a folder of an earlier one, ended at every step of its commit.

killed_commit.py INFC SHIM DIGITS.onnx WORK [CASE]... [--all]

Killed: the folder is the old or the new one, or says that it is unfinished; the next compile, of the same name or a third
one, leaves exactly its own tree. A full disk leaves the old one; SIGTERM the new one. What a user put or changed there is
never lost. Without --all every 60th step is taken, and the first and last three."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

INFC, SHIM, MODEL, WORK = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:5])
ALL = "--all" in sys.argv[5:]
NOTES = {"notes": b"notes\n", "src/notes": b"notes in src\n", "x86-64/notes": b"notes of a target\n"}
EDIT = b"/* edited by hand */\n"

# old and new: name, targets; `edited`: files of the old one that a user changed
CASES = {
    "name": (("one", []), ("two", []), ["src/one.c", "src/infrt/app.h"]),
    "kinds": (("one", []), ("two", ["x86-64", "aarch64"]), ["one.h"]),
    "fewer": (("one", ["x86-64", "aarch64"]), ("two", []), ["aarch64/src/one.c"]),
    "others": (("one", ["x86-64", "aarch64"]), ("two", ["x86-64", "riscv64"]), ["x86-64/src/infrt/app.h"]),
}


def infc(*args, **steps):
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", **{k: str(v) for k, v in steps.items()})
    if steps:
        env["LD_PRELOAD"] = SHIM
    return subprocess.run([INFC, *args], env=env, capture_output=True, text=True)


def compile_into(folder, name, targets, **steps):
    args = ["compile", MODEL, "-o", folder, "--set", f"name={name}", "--stop-after", "emit"]
    for target in targets:
        args += ["--target", target]
    return infc(*args, **steps)


def tree(folder):
    """Files and empty folders, but not the stage of a killed process."""
    found = {}
    for path in pathlib.Path(folder).rglob("*"):
        name = str(path.relative_to(folder))
        if name.startswith(".infc-stage-"):
            continue
        if path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[name + "/"] = None
    return found


def fresh(name, targets):
    folder = f"{WORK}/fresh-{name}-{'-'.join(targets) or 'host'}"
    if not os.path.isdir(folder):
        done = compile_into(folder, name, targets)
        assert done.returncode == 0, done.stderr
    return tree(folder)


def expect(holds, what, *more):
    if not holds:
        print("FAILED:", what, *more)
        sys.exit(1)


def check_users(found, edited, where):
    for name, content in NOTES.items():
        expect(found.get(name) == content, where, "lost", name)
    for name, content in edited.items():
        expect(content in (found.get(name), found.get(name + ".changed")), where, "lost the edited", name)


def check_whole(found, wanted, edited, where):
    """Exactly the wanted tree, and what the user had."""
    check_users(found, edited, where)
    rest = {k: v for k, v in found.items() if k not in NOTES}
    for name, content in edited.items():
        kept = name + ".changed" if name + ".changed" in rest else name
        if rest.get(kept) == content:
            del rest[kept]
    names = sorted(set(rest) ^ set(wanted))
    expect(rest == wanted, where, names or [n for n in rest if rest[n] != wanted[n]])
    expect(not any(n.startswith(".infc") for n in os.listdir(f"{WORK}/g")), where, "a stage is left")


def check_killed(new, targets, old_tree, edited, at, where):
    """The folder after a kill: what it is, and what the next compiles make of it."""
    now = tree(f"{WORK}/g")
    check_users(now, edited, where)
    unfinished = json.loads(now["manifest.json"]).get("unfinished", False)
    expect(unfinished or now == old_tree or now["manifest.json"] == fresh(new, targets)["manifest.json"], where, "mixed")
    verify = infc("verify", f"{WORK}/g")
    expect(verify.returncode == (3 if unfinished else 2), where, verify.returncode, verify.stderr)
    expect(not unfinished or "did not come to its end" in verify.stderr, where, verify.stderr)
    shutil.copytree(f"{WORK}/g", f"{WORK}/killed")
    nexts = ((new, targets), ("three", []), ("three", ["x86-64", "aarch64"]))
    for name, chosen in nexts if ALL else nexts[at % 3 : at % 3 + 1]:
        shutil.rmtree(f"{WORK}/g")
        shutil.copytree(f"{WORK}/killed", f"{WORK}/g")
        done = compile_into(f"{WORK}/g", name, chosen)
        expect(done.returncode == 0, where, name, chosen, done.stderr)
        check_whole(tree(f"{WORK}/g"), fresh(name, chosen), edited, (where, "then", name, chosen))
    shutil.rmtree(f"{WORK}/killed")


def begin(base):
    shutil.rmtree(f"{WORK}/g", ignore_errors=True)
    shutil.copytree(base, f"{WORK}/g")


def run_case(case):
    (old, old_targets), (new, targets), edits = CASES[case]
    base = f"{WORK}/base-{case}"
    done = compile_into(base, old, old_targets)
    expect(done.returncode == 0, done.stderr)
    edited = {}
    for name, content in NOTES.items():
        path = pathlib.Path(base, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    for name in edits:
        path = pathlib.Path(base, name)
        edited[name] = path.read_bytes() + EDIT
        path.write_bytes(edited[name])
    old_tree = tree(base)
    begin(base)
    done = compile_into(f"{WORK}/g", new, targets, STEP_COUNT=f"{WORK}/count")
    expect(done.returncode == 0, case, done.stderr)
    check_whole(tree(f"{WORK}/g"), fresh(new, targets), edited, case)
    n = int(pathlib.Path(WORK, "count").read_text())
    for at in range(1, n + 1):
        if not ALL and 3 < at < n - 2 and at % 60:
            continue
        for does in ("KILL", "TERM", "FULL", "FULL-ON") if ALL or at in (2, 60, n - 2) else ("KILL",):
            where = (case, does, f"step {at} of {n}")
            begin(base)
            done = compile_into(f"{WORK}/g", new, targets, STEP_AT=at, STEP_DOES=does)
            if does == "KILL":
                expect(done.returncode == -signal.SIGKILL, where, done.returncode)
                check_killed(new, targets, old_tree, edited, at, where)
            elif does == "TERM":
                expect(done.returncode == 143, where, done.returncode, done.stderr)
                check_whole(tree(f"{WORK}/g"), fresh(new, targets), edited, where)
            elif done.returncode == 4 and "as it was" in done.stderr:
                expect(tree(f"{WORK}/g") == old_tree, where, "not as it was")
            elif done.returncode == 4:
                expect("is incomplete: compile again" in done.stderr and does == "FULL-ON", where, done.stderr)
                check_killed(new, targets, old_tree, edited, at, where)
            else:
                expect(done.returncode == 0, where, done.returncode, done.stderr)
                check_whole(tree(f"{WORK}/g"), fresh(new, targets), edited, where)
    print(f"RESULT killed_commit_{case} {n} steps", flush=True)


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
for one in [name for name in sys.argv[5:] if name != "--all"] or CASES:
    run_case(one)
shutil.rmtree(WORK)

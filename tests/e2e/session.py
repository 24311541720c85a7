#!/usr/bin/env python3
"""`run --session`: what a run computed is not computed again by the next, with the same bits; files that are damaged or of
another model are refused, and one that could not be written is as it was.

usage: session.py INFC SOURCE_DIR WORK_DIR
"""
import json
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import time

from serving import compile_tiny, expect, finish

VERSE = "In the beginning God created the heaven and the earth, and the evening and the morning were the first day. " * 2


def run(program, prompt, *flags, **how):
    words = [program, "run", "--prompt", prompt, "--max-tokens", "40", "--ignore-eos", "--logprobs", "3", "--json", *flags]
    return subprocess.run(words, capture_output=True, text=True, **how)


def told(done):
    expect(done.returncode == 0, f"{done.args}: {done.stderr}")
    made = json.loads(done.stdout)
    return [made[k] for k in ("text", "tokens", "logprobs", "top_logprobs")], made["reused_tokens"]


def check_goes_on(program, file):
    first, reused = told(run(program, VERSE, "--session", file))
    expect(reused == 0 and file.stat().st_mode & 0o777 == 0o600, "made")
    longer = VERSE + first[0] + " And the LORD said unto Moses,"
    again, reused = told(run(program, VERSE, "--session", file))
    expect(again == first and reused >= 32, f"the same bits: {reused} tokens were there")
    whole, _ = told(run(program, longer))
    restored, reused = told(run(program, longer, "--session", file))
    expect(restored == whole and reused >= 64, f"the conversation goes on: {reused} tokens were there")
    other, reused = told(run(program, "Jesus wept.", "--session", file))
    expect(other == told(run(program, "Jesus wept."))[0] and reused == 0, "of another text nothing is used")


def check_refused(program, other, file):
    told(run(program, VERSE, "--session", file))
    good = file.read_bytes()
    cases = {"cut": good[:-1], "longer": good + b"x", "empty": b"", "foreign": b"GGUF" + good[4:],
             "flipped": good[:-7] + bytes([good[-7] ^ 1]) + good[-6:], "header": good[:40] + bytes([good[40] ^ 1]) + good[41:]}
    for what, data in cases.items():
        file.write_bytes(data)
        done = run(program, VERSE, "--session", file)
        expect(done.returncode == 3 and str(file) in done.stderr, f"{what}: {done.returncode} {done.stderr}")
        expect(file.read_bytes() == data, f"{what}: and it is left alone")
    file.write_bytes(good)
    done = run(other, VERSE, "--session", file)
    expect(done.returncode == 3 and "another model" in done.stderr, f"of another model: {done.stderr}")
    done = run(program, VERSE, "--session", file.parent)
    expect(done.returncode in (2, 4), f"a folder: {done.stderr}")
    done = run(program, VERSE, "--session", file.parent / "none/a.session")
    expect(done.returncode == 4 and "into its folder" in done.stderr and not done.stdout, f"known before it answers: {done}")
    return good


def check_kept(program, file, good):
    """Killed at any time, or with no room for the file: the old one is there, or the new one as a whole."""
    done = run(program, VERSE, "--session", file, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    expect(done.returncode == 4 and "cannot write" in done.stderr and file.read_bytes() == good, f"no room: {done.stderr}")
    told(run(program, "Jesus wept. " * 20, "--session", file))
    both, begin = {good, file.read_bytes()}, time.monotonic()
    told(run(program, VERSE, "--session", file))
    seconds, at = time.monotonic() - begin, random.Random(1)
    for i in range(30):
        with subprocess.Popen([program, "run", "--prompt", (VERSE, "Jesus wept. " * 20)[i % 2], "--max-tokens", "40", "--ignore-eos",
                               "--session", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(seconds * at.uniform(0.5, 1))
            process.kill()
        expect(file.read_bytes() in both, f"killed, time {i}")


def check_adapters(program, folder, file):
    """A session is of one adapter, by what it is, not by its name; or of none."""
    shout = ("--adapter", f"one={folder / 'shout'}")
    first, _ = told(run(program, VERSE, *shout, "--session", file))
    again, reused = told(run(program, VERSE, "--adapter", f"two={folder / 'shout'}", "--session", file))
    expect(again == first == told(run(program, VERSE, *shout))[0] and reused >= 32, f"under another name: {reused} tokens were there")
    kept = file.read_bytes()
    for name, flags in (('the adapter "two", not without one', ()), ('the adapter "two", not with "one"', ("--adapter", f"one={folder / 'verse'}")),
                        ('the adapter "two", not with "one"', ("--adapter", f"one=0.5*{folder / 'shout'}")),
                        ('other weights of the adapter "two"', ("--adapter", f"two={folder / 'verse'}"))):
        done = run(program, VERSE, *flags, "--session", file)
        said = json.loads(done.stderr)["diagnostics"][0]["text"]
        expect(done.returncode == 3 and name in said and file.read_bytes() == kept, f"{flags}: {said}")


def check_short(program, file):
    """What fills no block replaces nothing."""
    told(run(program, VERSE, "--session", file))
    kept = file.read_bytes()
    words = [program, "run", "--prompt", "Jesus wept.", "--max-tokens", "2", "--ignore-eos", "--session", file]
    done = subprocess.run(words, capture_output=True, text=True)
    expect(done.returncode == 0 and "left as it is" in done.stderr and "32 tokens" in done.stderr, f"a short run: {done.stderr}")
    expect(file.read_bytes() == kept, "a short run: the file stays")
    words[-1] = file.with_name("short.session")
    done = subprocess.run(words, capture_output=True, text=True)
    expect(done.returncode == 0 and words[-1].exists() and "left" not in done.stderr, f"a short run, no file yet: {done.stderr}")


def chat(program, text, *flags, **how):
    return subprocess.run([program, "chat", *map(str, flags)], input=text, capture_output=True, text=True, **how)


def check_chat(program, other, file):
    """`chat --session`: two chats that share a file say what one does; `run` does not touch their file."""
    lines = ["In the beginning God created the heaven\n", "And the evening\n", "Jesus wept.\n"]
    flags = ("--max-tokens", 24, "--system", "Answer.")
    whole = chat(program, "".join(lines), *flags)
    first = chat(program, "".join(lines[:2]), *flags, "--session", file)
    second = chat(program, lines[2], *flags[:2], "--session", file)
    expect(whole.returncode == first.returncode == second.returncode == 0, f"chats: {whole.stderr} {first.stderr} {second.stderr}")
    expect(first.stdout + second.stdout == whole.stdout, f"{first.stdout!r} {second.stdout!r} are not {whole.stdout!r}")
    expect("goes on: 4 messages" in second.stderr and "goes on" not in first.stderr, f"told: {second.stderr}")
    kept = file.read_bytes()
    expect(b"Answer.\0" in kept and b"Jesus wept.\0" in kept and file.stat().st_mode & 0o777 == 0o600, "messages are in the file")
    done = chat(program, "", "--session", file, "--system", "Do not answer.")
    expect(done.returncode == 2 and "another system message" in done.stderr, f"another --system: {done.stderr}")
    expect(chat(program, "", "--session", file).returncode == 0 and file.read_bytes() == kept, "nothing said: nothing changes")
    for json_too in ((), ("--json",)):
        done = subprocess.run([program, "run", "--prompt", VERSE, "--max-tokens", "40", "--session", file, *json_too],
                              capture_output=True, text=True)
        expect(done.returncode == 2 and f"chat --session {file}" in done.stderr and not done.stdout, f"run: {done.stderr}")
        expect(file.read_bytes() == kept, "run leaves a conversation alone")
    for what, model, code in (("of another model", other, 3), ("damaged", program, 3)):
        if what == "damaged":
            file.write_bytes(kept[:-3] + b"x" + kept[-2:])
        done = chat(model, lines[2], "--session", file)
        expect(done.returncode == code and str(file) in done.stderr and not done.stdout, f"{what}: {done.stderr}")
    expect(subprocess.run([program, "run", "--prompt", VERSE, "--max-tokens", "40", "--session", f"{file}.run"],
                          capture_output=True).returncode == 0, "a session of run")
    ran = open(f"{file}.run", "rb").read()
    done = chat(program, lines[0], "--session", f"{file}.run")
    right = done.returncode == 2 and "what `run` computed" in done.stderr and open(f"{file}.run", "rb").read() == ran
    expect(right, f"chat leaves a session of run alone: {done.returncode} {done.stderr}")
    file.write_bytes(kept)
    done = chat(program, "/reset\nJesus wept.\n", *flags[:2], "--session", file)
    expect(done.returncode == 0 and done.stdout == chat(program, "Jesus wept.\n", *flags).stdout, f"/reset: {done.stdout}")
    expect(b"In the beginning" not in file.read_bytes().split(b"system\0")[1], "and the file has forgotten it")
    done = chat(program, "/reset\n", "--session", file)
    expect(done.returncode == 0 and b"Jesus" not in file.read_bytes(), f"/reset at the end: {done.stderr}")


def check_chat_kept(program, file):
    """Saved after each answer: a chat that is killed goes on after its last one. A file that cannot be written is told, the
    conversation goes on, and the exit code says so."""
    with subprocess.Popen([program, "chat", "--max-tokens", "24", "--session", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        process.stdin.write("In the beginning\n")
        process.stdin.flush()
        end = time.monotonic() + 20
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
    expect("goes on: 2 messages" in chat(program, "", "--session", file).stderr, "killed: what was answered is there")
    kept = file.read_bytes()
    done = chat(program, "Jesus wept.\nAnd\n", "--max-tokens", 24, "--session", file,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    expect(done.returncode == 4 and done.stderr.count("not saved") == 2 and file.read_bytes() == kept, f"no room: {done.stderr}")
    expect(len(done.stdout) > 20, "and it goes on")
    done = chat(program, "", "--session", program)
    expect(done.returncode == 2 and "--session" in done.stderr, f"over the program itself: {done.stderr}")


def main():
    infc, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    program = compile_tiny(infc, source, work / "lm")
    other = compile_tiny(infc, source, work / "other", "--set", "precision.kv=f16")
    check_goes_on(program, work / "a.session")
    check_kept(program, work / "a.session", check_refused(program, other, work / "a.session"))
    check_short(program, work / "c.session")
    check_chat(program, other, work / "chat.session")
    check_chat_kept(program, work / "kept.session")
    adapted = compile_tiny(infc, source, work / "adapted", "--set", "adapters.max_loaded=2")
    check_adapters(adapted, source.resolve() / "examples/tiny-lm/adapters", work / "b.session")
    finish("session")


if __name__ == "__main__":
    main()

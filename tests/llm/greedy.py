"""Greedy answers of a compiled language model, and its logits, against those of a reference in float."""
import dataclasses
import pathlib
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def build(infc, model, out, *settings):
    """Compiles `model` with weights as f32 and a cache of f16, and greedy.c with it. -> the program"""
    words = [w for s in ("name=lm", "precision.weights=f32", "precision.kv=f16", *settings) for w in ("--set", s)]
    command = [infc, "compile", model, "-o", out, "--set", "output.kinds=static-library", *words]
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    sources = [HERE / "greedy.c", *sorted((out / "src/infrt").glob("*.c")), out / "liblm.a"]
    subprocess.run(["cc", "-O2", '-DMODEL_HEADER="lm.h"', "-DMODEL=lm", f"-I{out}", f"-I{out}/src/infrt", *sources,
                    "-pthread", "-lm", "-o", out / "greedy"], check=True)
    return out / "greedy"


@dataclasses.dataclass
class Answer:
    ids: list  # prompt and answer
    n_prompt: int
    logits: np.ndarray  # f32 [answer, vocabulary]: those each token was chosen by


def answers(program, prompts, n_tokens, workers=1):
    """Answers of n_tokens each, one by one: the logits of all may be more than memory."""
    text = "".join(" ".join(map(str, ids)) + "\n" for ids in prompts)
    with subprocess.Popen([program, str(workers), str(n_tokens)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        run.stdin.write(text.encode())
        run.stdin.close()
        for prompt in prompts:
            n, vocabulary = np.frombuffer(run.stdout.read(8), "<u4")
            ids = np.frombuffer(run.stdout.read(4 * int(n)), "<i4").tolist()
            rows = int(n) - len(prompt)
            data = run.stdout.read(4 * rows * int(vocabulary))
            yield Answer(ids, len(prompt), np.frombuffer(data, "<f4").reshape(rows, vocabulary))
    assert run.returncode == 0, run.returncode


@dataclasses.dataclass
class Agreement:
    worst: float  # difference of a logit, as a part of the largest of the text
    equal: int  # tokens up to the first that the reference would not have taken, or to the end
    lead: float | None  # by how much the reference prefers its own token there, as a part of the largest; None: nowhere

    def holds(self, most):
        return self.worst <= most and (self.lead is None or self.lead <= most)


def compare(answer, reference):
    """`reference`: its logits [answer, vocabulary] on the same ids, which are its own answer up to where they part."""
    largest = np.abs(reference).max()
    chosen = np.array(answer.ids[answer.n_prompt :])
    lead = reference.max(-1) - reference[np.arange(len(chosen)), chosen]
    parted = np.flatnonzero(lead > 0)
    worst = float(np.abs(answer.logits - reference).max() / largest)
    if not len(parted):
        return Agreement(worst, len(chosen), None)
    return Agreement(worst, int(parted[0]), float(lead[parted[0]] / largest))

#!/usr/bin/env python3
"""precision.float: fast. What it gives up is the target alone: its answers are near those of exact, and the same bits for
any batch, worker and cut of the prompt. Which bits, the reference of each target's instruction says (infc verify).

usage: fast.py INFC SOURCE_DIR WORK_DIR

A language model made on the spot, examples/tiny-lm and examples/digits, for each target with instructions for pairs of
bf16: natively, or under qemu. digits also as code retargeted to AVX2, tiles in memory, as digits_targets.py does it.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import digits_targets
import language
from language import FAILED, Compiled, check_bits, expect, last_rows, prefill, sequence, write_hf, weights_of

ROUNDING = 2.0**-8  # of a number to bf16, which has eight bits of fraction, relative: at most


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, **more)


def ways_of(infc):
    """-> {target: (how to compile a program that calls the library, how to run one)} for those that run here, and all"""
    listed = json.loads(run(infc, "targets", "--json", check=True).stdout)["targets"]
    fast = {t["name"]: t for t in listed if "bf16" in t["name"] or "fp16" in t["name"]}
    ways = {}
    for name, t in fast.items():
        if t["runs_here"]:
            ways[name] = (None, [])
        elif t.get("emulator") and t["compiler"] and t["emulator_found"] and shutil.which("clang-22"):
            arch = name.split("+")[0]
            ways[name] = (["clang-22", f"--target={arch}-linux-gnu", "-fuse-ld=lld-22", "-static"], t["emulator"].split())
    return fast, ways


def weights_for(target):
    return "f16" if "fp16" in target else "bf16"


def off(got, exact):
    return np.sqrt(np.mean((got.astype(np.float64) - exact) ** 2) / np.mean(exact.astype(np.float64) ** 2))


def reference_of(source, folder):
    """The forward pass in f64, all exact but the rows that matrices of bf16 read, and the cache of f16"""
    sys.path.insert(0, str(source / "tests/llm"))
    import llama

    class Rounded(llama.Llama):
        def linear(self, x, name):
            y = super().linear(language.rounded(x, "bf16").astype(np.float64), name)
            return y.astype(np.float16).astype(y.dtype) if "v_proj" in name else y

        def rotated(self, x, positions):
            y = super().rotated(x, positions)
            return y.astype(np.float16).astype(y.dtype) if x.shape[1] == language.KV_HEADS else y

    return Rounded(folder, np.float64)


def check_language(infc, source, work, ways):
    """Rounding a number to bf16 is off by less than 2^-8 of it, by 0.42 of that in the root mean square (even over all
    fractions); so is a sum of products with weights, whose errors add up as its terms do. Along a path of `products` such
    sums, with residuals around them, errors of about that size are added: sqrt(products) times, four times that for what
    norms, attention and weights that make values larger do to them. A forward pass that rounds in the same places is
    nearer: what f32's rounding moves to another bf16 is 2^-8 off too, but few values are at first."""
    write_hf(work / "lm", weights_of(12, False), False, bf16=True)
    ids = sequence(1, 300)
    most = 4 * 0.42 * ROUNDING * np.sqrt(4 * language.LAYERS + 1)
    exact = {}
    for target, (cc, runner) in ways.items():
        weights = weights_for(target)
        sets = (f"precision.weights={weights}", "precision.kv=f16")
        if weights not in exact:
            model = Compiled(infc, source, work / "lm", work / f"lm_{weights}", *sets, target="x86-64-v3")
            exact[weights] = last_rows(model.run(prefill(ids, [300])))
        model = Compiled(infc, source, work / "lm", work / f"lm_{target}", *sets, "precision.float=fast", target=target, cc=cc,
                         runner=runner)
        got = check_bits(model, f"fast, {target}")
        error = off(got, exact[weights])
        expect(0 < error < most, f"{target}: logits {error:.1e} from those of exact, below {most:.1e}")
        if weights == "bf16":
            wanted = reference_of(source, work / "lm").forward(ids)[-4:]
            near, far = off(got, wanted), off(exact[weights], wanted)
            expect(near < far / 2, f"{target}: logits {near:.1e} from those of rows rounded in f64, where exact is {far:.1e}")
    for target in [t for t in ways if t.startswith("x86-64")][:1]:
        for sets_of, why in ((("precision.weights=int8",), "no bf16"), (("precision.weights=f32",), "no bf16")):
            plain = Compiled(infc, source, work / "lm", work / "lm_plain", *sets_of, target=target)
            wanted = last_rows(plain.run(prefill(ids, [300])))
            same = Compiled(infc, source, work / "lm", work / "lm_same", *sets_of, "precision.float=fast", target=target)
            expect(np.array_equal(last_rows(same.run(prefill(ids, [300]))), wanted), f"{sets_of[0]}: {why}, the bits of exact")
    older = Compiled(infc, source, work / "lm", work / "lm_v3", "precision.weights=bf16", "precision.kv=f16",
                     "precision.float=fast", target="x86-64-v3")
    expect(np.array_equal(last_rows(older.run(prefill(ids, [300]))), exact["bf16"]), "x86-64-v3 has no such instructions: the bits of exact")


def check_tiny(infc, source, work, ways):
    """examples/tiny-lm: what its program says of itself, and what it says"""
    tiny = source / "examples/tiny-lm"
    for target, (_, runner) in ways.items():
        out = work / f"tiny_{target}"
        made = run(infc, "compile", tiny, "-o", out, "--target", target, "--set", f"precision.weights={weights_for(target)}",
                   "--set", "precision.float=fast", "--set", "context=64", "--set", "output.kinds=binary")
        said = [run(*runner, out / "tiny_lm", "verify", "--threads", n) for n in (1, 2)]
        good = made.returncode == 0 and all(s.returncode == 0 for s in said)
        answers = {line.rsplit(maxsplit=1)[-1] for s in said for line in s.stdout.splitlines() if "answer hashes" in line}
        expect(good and len(answers) == 1, f"{target}: tiny-lm, one answer for any workers, chunks and batch {made.stderr}".strip())


def check_product(source, out, how, target, program):
    """The one matrix product of digits, on the input that it had: sums are off by the rounding of both factors of each
    product (2^-8 each), and by that of each sum to 24 bits or odd (2^-23)."""
    model = onnx.load(source / "examples/digits/digits.onnx")
    weights = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in model.graph.initializer}
    done = run(*how, program, "run", "--inputs", out / "in.npz", "--dump-tensor", "all", "--dump-to", out / "all.npz")
    seen = np.load(out / "all.npz")
    node = next(n for n in model.graph.node if n.op_type == "Gemm")
    x = seen[node.input[0] if node.input[0] in seen else "/gap/GlobalAveragePool_output_0"].reshape(-1).astype(np.float64)
    w, b = weights[node.input[1]].T, weights[node.input[2]]
    got = seen[node.output[0]].reshape(-1)
    most = np.abs(x) @ np.abs(w) * (2.01 * ROUNDING + len(x) * 2.0**-23) + np.abs(b) * 2.0**-22
    wrong = np.abs(got - (x @ w + b))
    expect(done.returncode == 0 and (wrong <= most).all() and wrong.max() > 0, f"{target}: sums within {(wrong / most).max():.2f} of their bound")


def check_digits(infc, source, work, fast, ways):
    vectors = np.load(source / "examples/digits/vectors.npz")
    spec = source / "examples/digits/spec.yaml"
    answers = {}
    for target in [t for t in fast if weights_for(t) == "bf16"]:  # as matrices of an ONNX model are
        out = work / f"digits_{target}"
        made = run(infc, "compile", spec, "--target", target, "--set", "precision.float=fast", "-o", out)
        expect(made.returncode == 0, f"{target}: digits compiles {made.stderr}".strip())
        if target.startswith("x86-64") and shutil.which("clang-22") and shutil.which("llvm-link-22"):
            answers[target] = digits_targets.simulate(source, out, fast[target], vectors["image"])
            expect(answers[target] is not None, f"{target}: digits, retargeted to AVX2")
        if target not in ways:
            continue
        seen = run(infc, "verify", spec, "--target", target, "--set", "precision.float=fast")
        expect(seen.returncode == 0, f"{target}: digits has the bits of the instruction's reference {seen.stderr}".strip())
        got = []
        for image in vectors["image"]:
            np.savez(out / "in.npz", image=image.reshape(1, 1, 8, 8))
            run(*ways[target][1], out / "digits", "run", "--inputs", out / "in.npz", "--outputs", out / "out.npz", check=True)
            got.append(np.load(out / "out.npz")["probabilities"].reshape(-1))
        got = np.stack(got)
        check_product(source, out, ways[target][1], target, out / "digits")
        expect(answers.get(target) is None or np.array_equal(got, answers[target]), f"{target}: the bits of the retargeted code")
        answers[target] = got
    made = run(infc, "compile", spec, "--target", "x86-64-v3", "-o", work / "digits_exact")
    for target, got in answers.items():
        wrong = np.abs(got - vectors["probabilities"].reshape(got.shape)).max()
        # One product of 64 values of at most some tens ends in a softmax, which changes by at most half of what a logit does.
        expect(0 < wrong < 0.05, f"{target}: probabilities within {wrong:.1e} of those in floats")
    expect(made.returncode == 0 and len({a.tobytes() for a in answers.values()}) > 1, "targets differ: bits are theirs")


def check_told(infc, spec, work):
    """The matrix of digits becomes bf16 for every target, and where no instruction multiplies such floats that is said: half its
    bytes, other probabilities. With f32 nothing is rounded, and a target without any such instruction has the bits of exact."""
    got, told = {}, {}
    vectors = np.load(spec.parent / "vectors.npz")
    np.savez(work / "told.npz", image=vectors["image"][0].reshape(1, 1, 8, 8))
    for name, sets in (("exact", ()), ("fast", ("precision.float=fast",)), ("f32", ("precision.float=fast", "precision.weights=f32"))):
        out = work / f"told_{name}"
        words = [w for s in sets for w in ("--set", s)]
        told[name] = run(infc, "compile", spec, "--target", "x86-64-v3", "-o", out, *words).stderr
        run(out / "digits", "run", "--inputs", work / "told.npz", "--outputs", out / "out.npz", check=True)
        got[name] = np.load(out / "out.npz")["probabilities"]
    rounded, exact = "weights that are rounded to bf16 (matrices: 1)", "they are exact"
    expect(rounded in told["fast"] and "precision.weights: f32" in told["fast"], f"x86-64-v3: {told['fast'].strip()}")
    expect(exact in told["f32"] and "rounded" not in told["f32"] and not told["exact"], f"x86-64-v3, f32: {told['f32'].strip()}")
    expect(np.array_equal(got["f32"], got["exact"]) and not np.array_equal(got["fast"], got["exact"]), "weights are rounded where that is said")
    for sets, why in (((), "products of bf16; they are exact, but of " + rounded), (("--set", "precision.weights=f32"), "makes no difference")):
        done = run(infc, "compile", spec, "--target", "x86-64-v4+fp16", "--set", "precision.float=fast", "--stop-after", "plan", *sets)
        expect(done.returncode == 0 and why in done.stderr, f"x86-64-v4+fp16: {done.stderr.strip()}")


def check_refused(infc, source, work):
    spec = source / "examples/digits/spec.yaml"
    for value, target, wanted in (("unfused", "x86-64-v3", "exact"), ("fast", "x86-64:v3,v4+bf16", "two targets")):
        done = run(infc, "compile", spec, "--target", target, "--set", f"precision.float={value}", "-o", work / "refused")
        expect(done.returncode == 2 and wanted in done.stderr, f"{value} for {target} is refused: {done.stderr.strip()}")
    check_told(infc, spec, work)
    done = run(infc, "compile", spec, "--target", "x86-64:v3,v4", "--set", "precision.float=fast", "-o", work / "levels")
    expect(done.returncode == 0 and "has no instructions for products of half floats" in done.stderr, f"levels without: {done.stderr.strip()}")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    fast, ways = ways_of(infc)
    check_refused(infc, source, work)
    check_digits(infc, source, work, fast, ways)
    check_tiny(infc, source, work, ways)
    check_language(infc, source, work, ways)
    print(f"{len(FAILED)} failed")
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()

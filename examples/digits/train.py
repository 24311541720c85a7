#!/usr/bin/env python3
"""Trains the digits example and writes everything that this folder commits.

    python3 -m venv venv && venv/bin/pip install -r train-requirements.txt
    venv/bin/python train.py            # half a minute on two cores

Data: the 1797 handwritten 8x8 digits that scikit-learn ships. A quarter (450, stratified, fixed seed)
is held out and never seen in training; the accuracy printed and stored in the model is over those.

Writes, beside this script:
    digits.onnx      the network; BatchNormalization is kept, so that infc has something to fold
    digits-qdq.onnx  the same in int8, by quantize.py
    vectors.npz      image [20,1,8,8], probabilities [20,10] as ONNX Runtime computes them, labels [20]
    3.png 5.png 7.png, 3.raw   held-out digits; the .raw is f32 [1,1,8,8], the input itself

The same seed gives the same files on the same machine and package versions; elsewhere the weights can
differ in their last bits, and so can the accuracy.
"""
import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

import quantize

CONVS = [("conv1", 1, 16), ("conv2", 16, 32), ("conv3", 32, 32)]  # all 3x3, pad 1, stride 1
POOL_AFTER = "conv2"
BN_EPSILON, BN_MOMENTUM = 1e-5, 0.9
EPOCHS, BATCH, PEAK_RATE, WEIGHT_DECAY = 80, 64, 3e-3, 1e-2
SEED = quantize.SEED
WANTED_ACCURACY = 0.98


def init(rng):
    """-> trained parameters, running statistics of the normalisations"""
    params, stats = {}, {}
    for name, c_in, c_out in CONVS:
        params[f"{name}.weight"] = rng.normal(0, (2 / (9 * c_in)) ** 0.5, (c_out, c_in, 3, 3))
        bn = name.replace("conv", "bn")
        params[f"{bn}.weight"], params[f"{bn}.bias"] = np.ones(c_out), np.zeros(c_out)
        stats[f"{bn}.running_mean"], stats[f"{bn}.running_var"] = np.zeros(c_out), np.ones(c_out)
    c = CONVS[-1][2]
    params["head.weight"], params["head.bias"] = rng.normal(0, c**-0.5, (10, c)), np.zeros(10)
    as_f32 = lambda tree: {k: jnp.asarray(v, jnp.float32) for k, v in tree.items()}
    return as_f32(params), as_f32(stats)


def forward(params, stats, x, training):
    """x [n,1,8,8] -> logits [n,10], statistics after this batch"""
    new_stats = {}
    for name, _, _ in CONVS:
        x = jax.lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        bn = name.replace("conv", "bn")
        if training:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
            for k, batch in (("running_mean", mean), ("running_var", var)):
                new_stats[f"{bn}.{k}"] = BN_MOMENTUM * stats[f"{bn}.{k}"] + (1 - BN_MOMENTUM) * batch
        else:
            mean, var = stats[f"{bn}.running_mean"], stats[f"{bn}.running_var"]
        scale = params[f"{bn}.weight"] / jnp.sqrt(var + BN_EPSILON)
        x = (x - mean[:, None, None]) * scale[:, None, None] + params[f"{bn}.bias"][:, None, None]
        x = jax.nn.relu(x)
        if name == POOL_AFTER:
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return x.mean((2, 3)) @ params["head.weight"].T + params["head.bias"], new_stats


@jax.jit
def train_step(params, stats, moments, t, rate, x, y):
    """One AdamW step. moments: name -> (first, second); t counts from 1."""

    def loss(p):
        logits, new_stats = forward(p, stats, x, True)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean(), new_stats

    grads, new_stats = jax.grad(loss, has_aux=True)(params)
    new_params, new_moments = {}, {}
    for k, g in grads.items():
        m, v = moments[k]
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        step = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        decay = WEIGHT_DECAY if params[k].ndim > 1 else 0.0
        new_params[k], new_moments[k] = params[k] - rate * (step + decay * params[k]), (m, v)
    return new_params, new_stats, new_moments


def shifted(rng, images):
    """Moves every image by up to one pixel each way: more data for nothing."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.integers(0, 3, (len(images), 2))
    return np.stack([p[:, i : i + 8, j : j + 8] for p, (i, j) in zip(padded, moves)])


def train(images, labels):
    rng = np.random.default_rng(SEED)
    params, stats = init(rng)
    moments = {k: (jnp.zeros_like(v), jnp.zeros_like(v)) for k, v in params.items()}
    steps, t = EPOCHS * (len(images) // BATCH), 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        for i in range(len(images) // BATCH):
            pick, t = order[i * BATCH : (i + 1) * BATCH], t + 1
            rate = PEAK_RATE * min(1, 10 * t / steps) * (1 - t / (steps + 1))
            x, y = shifted(rng, images[pick]), labels[pick]
            params, stats, moments = train_step(params, stats, moments, t, rate, x, y)
        if (epoch + 1) % 20 == 0:
            hits = (np.asarray(forward(params, stats, images, False)[0]).argmax(1) == labels).mean()
            print(f"epoch {epoch + 1}: {100 * hits:.2f} % of the training part")
    return {k: np.asarray(v) for k, v in {**params, **stats}.items()}


def to_onnx(weights, accuracy, n_held_out):
    """The network as exporters write it: one node per layer, names by path."""
    nodes, x = [], "image"

    def node(op, path, inputs, output=None, **attributes):
        nonlocal x
        x = output or f"/{path}/{op}_output_0"
        nodes.append(helper.make_node(op, inputs, [x], name=f"/{path}/{op}", **attributes))

    for name, _, _ in CONVS:
        bn = name.replace("conv", "bn")
        node("Conv", name, [x, f"{name}.weight"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        parts = ("weight", "bias", "running_mean", "running_var")
        node("BatchNormalization", bn, [x] + [f"{bn}.{p}" for p in parts], epsilon=BN_EPSILON)
        node("Relu", name.replace("conv", "relu"), [x])
        if name == POOL_AFTER:
            node("MaxPool", "pool", [x], kernel_shape=[2, 2], strides=[2, 2])
    node("GlobalAveragePool", "gap", [x])
    node("Flatten", "flatten", [x], axis=1)
    node("Gemm", "head", [x, "head.weight", "head.bias"], transB=1)
    node("Softmax", "softmax", [x], output="probabilities", axis=-1)

    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(w, name) for name, w in weights.items()],
        doc_string="Handwritten 8x8 digits. image: gray, 0..1 (pixel / 16). probabilities: of 0 to 9.",
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
        producer_name="examples/digits/train.py", producer_version="1",
    )
    helper.set_model_props(model, {
        "license": "MIT",
        "data": "scikit-learn load_digits",
        "seed": str(SEED),
        "held_out_accuracy": f"{accuracy:.4f} of {n_held_out}",
    })
    onnx.checker.check_model(model, full_check=True)
    return model


def run_onnx(model, images):
    """ONNX Runtime's own answer, one image at a time as the model's shape says, nothing fused."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return np.concatenate([session.run(None, {"image": x[None]})[0] for x in images])


def write_samples(folder, images, labels, probabilities):
    """20 vectors, two of each digit, and PNGs: of each of three digits the first that the model gets right."""
    chosen = np.concatenate([np.flatnonzero(labels == digit)[:2] for digit in range(10)])
    np.savez(
        folder / "vectors.npz", image=images[chosen], probabilities=probabilities[chosen],
        labels=labels[chosen].astype(np.int64),
    )
    for digit in (3, 5, 7):
        right = np.flatnonzero((labels == digit) & (probabilities.argmax(1) == digit))[0]
        pixels = np.rint(images[right, 0] * 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{digit}.png")
        if digit == 3:
            images[right].astype("<f4").tofile(folder / f"{digit}.raw")


def main():
    parser = argparse.ArgumentParser(description="trains the digits example and writes its files")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder = parser.parse_args().out
    (images, labels), (test_images, test_labels) = quantize.load_data()
    weights = train(images, labels)
    params = {k: jnp.asarray(v) for k, v in weights.items()}
    in_training = np.asarray(forward(params, params, test_images, False)[0]).argmax(1)
    accuracy = float((in_training == test_labels).mean())

    model = to_onnx(weights, accuracy, len(test_labels))
    probabilities = run_onnx(model, test_images)
    exported = float((probabilities.argmax(1) == test_labels).mean())
    print(f"held-out accuracy: {100 * exported:.2f} % of {len(test_labels)} digits")
    if min(accuracy, exported) < WANTED_ACCURACY:
        raise SystemExit(f"below the wanted {100 * WANTED_ACCURACY:.0f} %; nothing was written")
    onnx.save(model, folder / "digits.onnx")
    write_samples(folder, test_images, test_labels, probabilities)
    quantize.write(folder)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Quantises digits.onnx to int8 with ONNX Runtime's static quantiser; train.py calls it at its end.

    venv/bin/python quantize.py         # needs no JAX: the network is read from digits.onnx

Scales are those of 400 training digits, per channel for weights; QuantizeLinear and DequantizeLinear stand around
every convolution and product (QDQ). Weights and biases are stored as integers. Writes digits-qdq.onnx.
"""
import argparse
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 7  # of the split
N_CALIBRATION = 400
WANTED_ACCURACY = 0.975


def load_data():
    """-> (train images [n,1,8,8] in 0..1, labels), (held-out images, labels)"""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    a, b, c, d = train_test_split(
        images, digits.target.astype(np.int32), test_size=0.25, stratify=digits.target, random_state=SEED
    )
    return (a, c), (b, d)


class Images(CalibrationDataReader):
    def __init__(self, images):
        self.rest = iter(images)

    def get_next(self):
        image = next(self.rest, None)
        return None if image is None else {"image": image[None]}


def quantize(model, images):
    """-> the QDQ model, its normalisations folded first: the quantiser has no integers for them"""
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        onnx.save(model, folder / "in.onnx")
        quant_pre_process(folder / "in.onnx", folder / "folded.onnx", skip_symbolic_shape=True)
        quantize_static(
            folder / "folded.onnx", folder / "out.onnx", Images(images[:N_CALIBRATION]),
            quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        )
        quantized = onnx.load(folder / "out.onnx")
    del quantized.metadata_props[:]
    onnx.helper.set_model_props(quantized, {"license": "MIT", "data": "scikit-learn load_digits"})
    quantized.producer_name, quantized.producer_version = "examples/digits/quantize.py", "1"
    onnx.checker.check_model(quantized, full_check=True)
    return quantized


def accuracy(model, images, labels):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    answers = np.concatenate([session.run(None, {"image": x[None]})[0] for x in images])
    return float((answers.argmax(1) == labels).mean())


def write(folder):
    (images, _), (test_images, test_labels) = load_data()
    model = quantize(onnx.load(folder / "digits.onnx"), images)
    right = accuracy(model, test_images, test_labels)
    print(f"int8, held-out accuracy: {100 * right:.2f} % of {len(test_labels)} digits")
    if right < WANTED_ACCURACY:
        raise SystemExit(f"below the wanted {100 * WANTED_ACCURACY:.1f} %; digits-qdq.onnx was not written")
    onnx.save(model, folder / "digits-qdq.onnx")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="quantises the digits example")
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    write(parser.parse_args().out)

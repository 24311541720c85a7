"""Recurrent layers, compared with ONNX Runtime: python onnx_recurrent.py ONNX_EVAL FOLDER [CASE]"""
import sys

import numpy as np

import onnx_cases as oc
from onnx_cases import f32
from onnx_compare import Table

CASES = Table()
case, graph = CASES.case, CASES.graph
RECURRENT = {"LSTM": (4, 3, 3), "GRU": (3, 2, 2), "RNN": (1, 1, 2)}  # gates, activations, outputs


def recurrent(name, op, t=4, b=2, i=5, h=7, x=None, only=None, **attrs):
    """A layer over x [t, b, i], or [b, t, i] with layout 1; `only`: the optional inputs given, of bias, lens, h, c, peep."""
    gates, _, n_out = RECURRENT[op]
    only = (["bias", "h"] + (["c"] if op == "LSTM" else [])) if only is None else only
    d = 2 if attrs.get("direction") == "bidirectional" else 1
    state = (lambda *s: (b, d, h) if attrs.get("layout") else (d, b, h))()
    optional = {"bias": f32([d, 2 * gates * h]), "lens": np.array([max(1, t - 2 * k) for k in range(b)], np.int32),
                "h": f32(state, "h"), "c": f32(state, "c"), "peep": f32([d, 3 * h], "p")}
    order = ["bias", "lens", "h"] + (["c", "peep"] if op == "LSTM" else [])
    consts = [f32([d, gates * h, i]), f32([d, gates * h, h], "r")] + [optional[o] if o in only else None for o in order]
    while consts[-1] is None:
        consts.pop()
    case(name, op, [[b, t, i] if attrs.get("layout") else [t, b, i]], consts, n_out=n_out, all_out=True, hidden_size=h,
         **attrs)


for op in RECURRENT:
    low = op.lower()
    recurrent(low, op)
    recurrent(low + "_plain", op, only=[])
    recurrent(low + "_reverse", op, direction="reverse")
    recurrent(low + "_both", op, direction="bidirectional", h=18)
    recurrent(low + "_forward", op, direction="forward", t=1, b=1, h=16, i=33)
    recurrent(low + "_wide", op, t=3, b=1, h=67)
    recurrent(low + "_lens", op, only=["bias", "lens"], t=6, b=3, direction="bidirectional")
    recurrent(low + "_lens_reverse", op, only=["lens", "h"], t=6, b=3, direction="reverse")
    recurrent(low + "_clip", op, clip=0.3)
    recurrent(low + "_opset7", op, opset=7)
    recurrent(low + "_opset22", op, opset=22)
    for names in [["Affine", "LeakyRelu", "ScaledTanh"], ["ThresholdedRelu", "HardSigmoid", "Elu"],
                  ["Softsign", "Softplus", "Relu"], ["Sigmoid", "Tanh", "Sigmoid"]]:
        names = names[:RECURRENT[op][1]]
        floats = {"Affine": (0.7, 0.1), "LeakyRelu": (0.2,), "ScaledTanh": (0.9, 1.1), "ThresholdedRelu": (0.1,),
                  "HardSigmoid": (0.3, 0.4), "Elu": (0.8,)}
        alphas, betas = [floats[n][0] for n in names if n in floats], [floats[n][1] for n in names if len(floats.get(n, ())) > 1]
        extra = ({"activation_alpha": alphas} if alphas else {}) | ({"activation_beta": betas} if betas else {})
        recurrent(f"{low}_{names[0].lower()}", op, activations=names, **extra)
    names = ["Sigmoid", "Tanh", "Tanh"][-RECURRENT[op][1]:] + ["HardSigmoid", "Relu", "Softsign"][-RECURRENT[op][1]:]
    recurrent(low + "_mixed", op, direction="bidirectional", activations=names)
recurrent("lstm_peepholes", "LSTM", only=["bias", "h", "c", "peep"], h=18)
recurrent("lstm_peepholes_both", "LSTM", only=["peep"], direction="bidirectional", clip=0.5)
recurrent("lstm_coupled", "LSTM", input_forget=1)
recurrent("gru_linear", "GRU", linear_before_reset=1)
recurrent("gru_linear_plain", "GRU", linear_before_reset=1, only=[])
recurrent("gru_linear_both", "GRU", linear_before_reset=1, direction="bidirectional", h=33)
recurrent("lstm_batch_first", "LSTM", layout=1)
recurrent("gru_batch_first", "GRU", layout=1)
recurrent("rnn_batch_first", "RNN", layout=1)
graph("lstm_computed_weights", ["Mul x1,x1 -> w", "Neg x2 -> r", ("LSTM x0,w,r -> y,yh,yc", {"hidden_size": 5})],
      [[3, 2, 4], [1, 20, 4], [1, 20, 5]])
graph("gru_computed_lengths", [("Cast x1 -> l", {"to": 6}), ("GRU x0,c0,c1,,l -> y,yh", {"hidden_size": 3})],
      [[5, 2, 4], np.array([2, 5], np.int64)], [f32([1, 9, 4]), f32([1, 9, 3])])


if __name__ == "__main__":
    sys.exit(oc.main(CASES.runs))

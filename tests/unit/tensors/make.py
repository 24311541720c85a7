#!/usr/bin/env python3
"""Makes the files beside it with numpy, onnx and Pillow: what the runtime's readers are tested against.

python3 make.py    rewrites them; the same versions give the same bytes. Each is under 2 KB.
"""
import io
import pathlib
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

here = pathlib.Path(__file__).parent
x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 4


def save(name, data):
    assert len(data) < 2048, name
    (here / name).write_bytes(data)


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


save("f32.npy", npy(x))
save("f32_v2.npy", npy(x, version=(2, 0)))
save("scalar_i64.npy", npy(np.array(-7)))
save("u8.npy", npy(np.arange(5, dtype=np.uint8)))
save("bool.npy", npy(np.array([True, False, True])))
save("f16.npy", npy(np.array([0.0, 1.5, -2.0, 65504.0, 6e-8], dtype=np.float16)))
save("fortran.npy", npy(np.asfortranarray(x)))
save("big_endian.npy", npy(x.astype(">f4")))
save("complex.npy", npy(np.zeros(2, dtype=np.complex64)))

for name, write in (("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)):
    out = io.BytesIO()
    write(out, x=x, **{"/mid:0": np.arange(300, dtype=np.int32) // 100})
    save(name, out.getvalue())
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
    archive.writestr("x.npy", npy(x))
save("bzip2.npz", out.getvalue())

save("raw.pb", numpy_helper.from_array(x, "x").SerializeToString())
save("typed.pb", helper.make_tensor("x", TensorProto.FLOAT, [2, 3, 4], x.ravel().tolist()).SerializeToString())
save("typed_i8.pb", helper.make_tensor("q", TensorProto.INT8, [3], [-128, 0, 127]).SerializeToString())
save("typed_i64.pb", helper.make_tensor("n", TensorProto.INT64, [2], [-1, 1 << 40]).SerializeToString())
save("typed_f64.pb", helper.make_tensor("d", TensorProto.DOUBLE, [2], [0.1, -2.5]).SerializeToString())
save("strings.pb", helper.make_tensor("s", TensorProto.STRING, [1], [b"no"]).SerializeToString())
external = numpy_helper.from_array(x, "x")
external.ClearField("raw_data")
external.data_location = TensorProto.EXTERNAL
entry = external.external_data.add()
entry.key, entry.value = "location", "../elsewhere"
save("external.pb", external.SerializeToString())

# Images: 7 x 5, each channel another ramp; and what Pillow makes of them at other sizes.
rgb = np.zeros((5, 7, 3), dtype=np.uint8)
for row in range(5):
    for column in range(7):
        rgb[row, column] = (row * 50, column * 40, (row * 7 + column) * 97 % 256)
picture = Image.fromarray(rgb)
alpha = np.dstack([rgb, np.full((5, 7), 128, dtype=np.uint8)])


def image(name, picture, **options):
    out = io.BytesIO()
    picture.save(out, format=name.rsplit(".")[-1].upper(), **options)
    save(name, out.getvalue())


image("rgb.png", picture)
image("gray.png", picture.convert("L"))
image("alpha.png", Image.fromarray(alpha))
image("palette.png", picture.quantize(4))
image("rgb.bmp", picture)
image("flat.jpeg", Image.new("RGB", (16, 16), (200, 100, 50)), quality=95)
save("rgb.raw", rgb.tobytes())
save("gray.raw", np.asarray(picture.convert("L")).tobytes())
save("palette.raw", np.asarray(picture.quantize(4).convert("RGB")).tobytes())
save("rgb_3x2.raw", np.asarray(picture.resize((3, 2), Image.BILINEAR)).tobytes())
save("rgb_12x9.raw", np.asarray(picture.resize((12, 9), Image.BILINEAR)).tobytes())
save("gray_7x3.raw", np.asarray(picture.convert("L").resize((7, 3), Image.BILINEAR)).tobytes())

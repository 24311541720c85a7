#!/usr/bin/env python3
"""What the documents show works as written: shell commands, the spec, the C and its compiler lines.

usage: doc_examples.py INFC SOURCE_DIR WORK_DIR

Left out are the commands that set a machine up or fetch packages; other tests and CI run those.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import onnx

PAGES = ["README.md", "examples/digits/README.md", "docs/architecture.md", "docs/compare.md"]
SETS_UP = re.compile(r"quickstart\.sh|tests/run\.sh|-m venv|build/venv")


def blocks(page, language):
    """Each fenced block of the language, with the text up to the next one."""
    parts = re.split(rf"^```{language}\n", page.read_text(), flags=re.M)[1:]
    return [part.split("\n```\n", 1) for part in parts]


class Checker:
    def __init__(self, place):
        self.place, self.passed, self.failed = place, 0, 0
        # the pages' python3 is one with numpy
        self.env = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}

    def run(self, what, command):
        done = subprocess.run(["bash", "-e", "-c", command], cwd=self.place, capture_output=True, text=True, env=self.env)
        if done.returncode == 0:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: exit {done.returncode}\n{command}\n{done.stdout}{done.stderr}")


def check_shell(check, source):
    for name in PAGES:
        for text, _ in blocks(source / name, "sh"):
            if not SETS_UP.search(text):
                check.run(name, text)


def check_spec(check, source):
    [(text, _)] = blocks(source / "docs/spec.md", "yaml")
    shutil.copy(source / "examples/digits/digits.onnx", check.place)
    (check.place / "all.yaml").write_text(text)
    check.run("docs/spec.md", "build/infc compile all.yaml -o build/all && ls build/all/*/digits")


def compile_encoder(check):
    """The model with a range of sizes that docs/abi.md speaks of."""
    port = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["tokens", 32]) for n in ("x", "y")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", port[:1], port[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), check.place / "encoder.onnx")
    check.run("docs/abi.md", "build/infc compile encoder.onnx --set 'shapes={tokens: 1..128}' -o build/encoder")


def check_c(check, source):
    """Whole files by the `cc` line that follows them (without its linking, for want of a main); statements inside a function."""
    compile_encoder(check)
    flags = "-std=c11"
    for number, (text, after) in enumerate(blocks(source / "docs/abi.md", "c")):
        if "#include" in text:
            flags = re.search(r"^    cc (.*?) \w+\.c ", after, re.M)[1]
        else:
            model = re.search(r"(\w+)_(inputs|weights)\b", text)[1]
            head = f"void example(const void *bytes, size_t size, const {model}_weights *weights, void *arena, const float *x, float *y)"
            text = f"#include \"{model}.h\"\n{head};\n{head} {{ {{\n{text}\n}} }}"
        file = check.place / f"abi{number}.c"
        file.write_text(text + "\n")
        check.run("docs/abi.md", f"cc {flags} -Wall -Wextra -Wno-unused-parameter -Werror -c {file.name} -I build/digits -I build/encoder -o {file.stem}.o")


def main():
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    (work / "build").mkdir(parents=True)
    (work / "examples").symlink_to(source / "examples")
    (work / "build/infc").symlink_to(infc)
    check = Checker(work)
    check_shell(check, source)
    check_spec(check, source)
    check_c(check, source)
    print(f"{check.passed} passed, {check.failed} failed")
    return check.failed > 0


if __name__ == "__main__":
    sys.exit(main())

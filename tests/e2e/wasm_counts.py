#!/usr/bin/env python3
"""templates/emulator/count_wasm.mjs counts what is executed: a module whose operators are counted by hand, and the
digits with vectors, where wasmtime's fuel is the same number if both charge alike.

usage: wasm_counts.py INFC SOURCE FOLDER
"""
import json
import pathlib
import shutil
import subprocess
import sys

FUEL_FREE = [0x00, 0x01, 0x02, 0x03, 0x05, 0x0B, 0x0F, 0x1A]  # and one more for each call
SCRIPT = """
import { instrument } from "%s";
import { readFileSync } from "node:fs";
const [path, prefixes, costs, calls] = process.argv.slice(2);
const { bytes, names } = instrument(readFileSync(path), JSON.parse(prefixes), JSON.parse(costs));
const { exports } = (await WebAssembly.instantiate(bytes, {})).instance;
const results = JSON.parse(calls).map(([name, ...args]) => exports[name](...args));
console.log(JSON.stringify({ results, counts: Object.fromEntries(names.map((n) => [n, Number(exports["count." + n].value)])) }));
"""
MAIN = """
#include "digits.h"
static _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES(1)];
static float image[64], answer[10];
void *memcpy(void *a, const void *b, unsigned long n) { return __builtin_memcpy(a, b, n); }
void *memset(void *a, int b, unsigned long n) { return __builtin_memset(a, b, n); }
__attribute__((export_name("go"))) int go(int n) {
    digits_inputs in = {image};
    digits_outputs out = {answer};
    for (int i = 0; i < 64; i++) image[i] = (float)(i % 17) * 0.25f;
    for (int i = 0; i < n; i++) image[i] = 0;
    return digits_run(digits_weights_embedded(), arena, &in, &out);
}
"""


def section(kind, items):
    body = bytes([len(items)]) + b"".join(items)
    return bytes([kind, len(body)]) + body


def text(name):
    return bytes([len(name)]) + name.encode()


def by_hand():
    """m_loop(n): n times 3, by adding. m_if(x): 3 either way. m_table(x): one of two blocks left; m_data: a constant of
    sixteen bytes, which look like operators. other(x) calls m_if and has another name."""
    bodies = [
        bytes.fromhex("01017f 0340 2001 4103 6a 2101 2000 4101 6b 2200 0d00 0b 2001 0b"),
        bytes.fromhex("00 2000 047f 4101 4102 6a 05 4103 0b 0b"),
        bytes.fromhex("00 0240 0240 2000 0e010001 0b 4107 0f 0b 4108 0b"),
        bytes.fromhex("00 fd0c 0b0b0b0b0f0f0f0f0505050500000000 fd1b00 0b"),
        bytes.fromhex("00 2000 1001 0b"),
    ]
    names = ["m_loop", "m_if", "m_table", "m_data", "other"]
    assert len(bodies) == len(names)
    types = [bytes.fromhex("60017f017f"), bytes.fromhex("6000017f")]
    of = [0, 0, 0, 1, 0]
    named = bytes([len(names)]) + b"".join(bytes([i]) + text(n) for i, n in enumerate(names))
    named = text("name") + bytes([1, len(named)]) + named
    return (b"\0asm\1\0\0\0" + section(1, types) + section(3, [bytes([t]) for t in of])
            + section(7, [text(n) + bytes([0, i]) for i, n in enumerate(names)])
            + section(10, [bytes([len(b)]) + b for b in bodies]) + bytes([0, len(named)]) + named)


def count(folder, path, prefixes, costs, calls):
    done = subprocess.run(["node", "--no-warnings", folder / "count.mjs", path, json.dumps(prefixes), json.dumps(costs),
                           json.dumps(calls)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def check_by_hand(folder):
    path = folder / "hand.wasm"
    path.write_bytes(by_hand())
    calls = [["m_loop", 7], ["m_if", 1], ["m_if", 0], ["m_table", 0], ["m_table", 1], ["m_data"], ["other", 1]]
    found = count(folder, path, ["m_"], {}, calls)
    assert found["results"] == [21, 3, 3, 7, 8, 0x0B0B0B0B, 3], found
    # A round of m_loop: const, add, const, sub, br_if. m_if: if, then const, const, add or const. m_table: br_table,
    # const. m_data: const, extract.
    assert found["counts"] == {"m_loop": 7 * 5, "m_if": 4 + 2 + 4, "m_table": 2 + 2, "m_data": 2}, found
    both = count(folder, path, ["other", "m_if"], {}, calls)
    assert both["counts"] == {"m_if": 10, "other": 1}, both


def fuel(path, argument):
    import wasmtime
    config = wasmtime.Config()
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    store, most = wasmtime.Store(engine), 1 << 60
    store.set_fuel(most)
    instance = wasmtime.Instance(store, wasmtime.Module(engine, path.read_bytes()), [])
    assert instance.exports(store)["go"](store, argument) == 0
    return most - store.get_fuel()


def check_against_fuel(infc, source, folder):
    subprocess.run([infc, "compile", source / "examples/digits/spec.yaml", "--target", "wasm32+simd128", "--set",
                    "output.kinds=[static-library]", "-o", folder / "lib"], check=True, capture_output=True)
    (folder / "main.c").write_text(MAIN)
    path = folder / "go.wasm"
    subprocess.run(["clang-22", "--target=wasm32", "-msimd128", "-O1", "-ffreestanding", "-nostdlib", "-Wl,--no-entry",
                    "-I", folder / "lib", folder / "main.c", folder / "lib/libdigits.a", "-o", path], check=True)
    for argument in (0, 32):
        found = count(folder, path, [""], {"free": FUEL_FREE, "entry": 1}, [["go", argument]])
        assert found["results"] == [0] and len(found["counts"]) > 5, found
        total, burnt = sum(found["counts"].values()), fuel(path, argument)
        print(f"go({argument}): counted {total:,}, wasmtime's fuel {burnt:,}")
        assert total == burnt


def main():
    infc, source, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "count.mjs").write_text(SCRIPT % (source / "templates/emulator/count_wasm.mjs"))
    check_by_hand(folder)
    try:
        import wasmtime  # noqa: F401
    except ImportError:
        print("not compared with wasmtime: pip install wasmtime")
        return 0
    check_against_fuel(infc, source, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

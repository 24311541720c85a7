// check_wasm.mjs - node check_wasm.mjs MODULE: runs it in the working folder, with in.bin and out.bin.
// SPDX-License-Identifier: MIT
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

const input = openSync("in.bin", "r"), output = openSync("out.bin", "w");
const bytes = (from, n) => new Uint8Array(instance.exports.memory.buffer, from, n);
const check = {
  read: (to, n) => readSync(input, bytes(to, n)),
  write: (from, n) => void writeSync(output, bytes(from, n)),
};
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), { check });
process.exitCode = instance.exports.run();
closeSync(output);

// check_wasm.mjs - node check_wasm.mjs MODULE [COUNTS PREFIX..]: runs it in the working folder, with in.bin and out.bin.
// COUNTS: the file to write what each function whose name begins with a PREFIX executed (count_wasm.mjs).
// SPDX-License-Identifier: MIT
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";

const [path, counts, ...prefixes] = process.argv.slice(2);
const input = openSync("in.bin", "r"), output = openSync("out.bin", "w");
const bytes = (from, n) => new Uint8Array(instance.exports.memory.buffer, from, n);
const check = {
  read: (to, n) => readSync(input, bytes(to, n)),
  write: (from, n) => void writeSync(output, bytes(from, n)),
};
const counter = counts && (await import("./count_wasm.mjs"));
const counted = counter?.instrument(readFileSync(path), prefixes);
const { instance } = await WebAssembly.instantiate(counted?.bytes ?? readFileSync(path), { check });
process.exitCode = instance.exports.run();
closeSync(output);
if (counter) writeFileSync(counts, counter.counts_text(counted.names, instance.exports));

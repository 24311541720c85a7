// count_wasm.mjs - counts what a WebAssembly module executes: each basic block of the functions whose names begin with
// one of some prefixes adds its operators to a counter of the function, an exported global. Operators that only give a value a
// name, or blocks a form, are no instructions of a machine and do not count. Rewriting the module is exact, the same
// in every engine, and needs nothing but this file.
// SPDX-License-Identifier: MIT

// nop, block, loop, else, end, unreachable, return and drop; local.get, local.set, local.tee.
export const FREE = [0x00, 0x01, 0x02, 0x03, 0x05, 0x0b, 0x0f, 0x1a, 0x20, 0x21, 0x22];
const SECTION = { CUSTOM: 0, IMPORT: 2, GLOBAL: 6, EXPORT: 7, CODE: 10 };
const GLOBAL_KIND = 3, FUNCTION_KIND = 0, I64 = 0x7e, I64_ADD = 0x7c, I64_CONST = 0x42, GET = 0x23, SET = 0x24, END = 0x0b;

class Reader {
  constructor(bytes, at = 0) { this.bytes = bytes; this.at = at; }
  byte() {
    if (this.at >= this.bytes.length) throw new Error("the module ends in the middle of something");
    return this.bytes[this.at++];
  }
  number() { // LEB128; only those are looked at that are unsigned and of 32 bits
    let value = 0, scale = 1, byte;
    do {
      byte = this.byte();
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }
  skip(n) { this.at += n; }
  name() { const n = this.number(); this.skip(n); return new TextDecoder().decode(this.bytes.subarray(this.at - n, this.at)); }
  limits() { const flags = this.byte(); this.number(); if (flags & 1) this.number(); }
}

function unsigned(value, out = []) {
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  out.push(value);
  return out;
}

function signed(value, out = []) { // of a count: not negative
  for (; value > 63; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  out.push(value);
  return out;
}

function read_sections(bytes) {
  const reader = new Reader(bytes, 8), sections = [];
  while (reader.at < bytes.length) {
    const id = reader.byte(), size = reader.number();
    sections.push({ id, body: bytes.subarray(reader.at, reader.at + size) });
    reader.skip(size);
  }
  return sections;
}

// How many functions and globals are imported: they come first in their index spaces.
function imported(section) {
  const counts = { [FUNCTION_KIND]: 0, [GLOBAL_KIND]: 0 };
  if (!section) return counts;
  const reader = new Reader(section.body);
  for (let n = reader.number(); n > 0; n--) {
    reader.name();
    reader.name();
    const kind = reader.byte();
    if (kind === 0) reader.number();
    else if (kind === 1) { reader.byte(); reader.limits(); }
    else if (kind === 2) reader.limits();
    else if (kind === 3) reader.skip(2);
    else throw new Error(`import of kind ${kind}`);
    if (kind in counts) counts[kind]++;
  }
  return counts;
}

// Names by index, of the section "name" which the linker leaves.
function function_names(sections) {
  const names = new Map();
  for (const section of sections.filter((s) => s.id === SECTION.CUSTOM)) {
    const reader = new Reader(section.body);
    if (reader.name() !== "name") continue;
    while (reader.at < section.body.length) {
      const kind = reader.byte(), size = reader.number(), end = reader.at + size;
      if (kind === 1)
        for (let n = reader.number(); n > 0; n--) {
          const index = reader.number();
          names.set(index, reader.name());
        }
      reader.at = end;
    }
  }
  return names;
}

function skip_vector(reader) { // of the prefix 0xfd
  const op = reader.number();
  if (op === 12 || op === 13) return reader.skip(16); // a constant, a shuffle
  const memory = op <= 11 || (op >= 84 && op <= 93);
  if (memory) memory_operand(reader);
  if ((op >= 21 && op <= 34) || (op >= 84 && op <= 91)) reader.skip(1); // a lane
}

function skip_other(reader) { // of the prefix 0xfc
  const op = reader.number(), operands = [2, 1, 2, 1, 2, 1, 2, 1, 1, 1][op - 8];
  if (op > 17) throw new Error(`operator 0xfc ${op}`);
  for (let n = op < 8 ? 0 : operands; n > 0; n--) reader.number();
}

function memory_operand(reader) {
  const alignment = reader.number();
  if (alignment & 64) reader.number();
  reader.number();
}

// Over the operands of `op`.
function skip_operands(reader, op) {
  if (op >= 0x28 && op <= 0x3e) memory_operand(reader);
  else if (op === 0x43) reader.skip(4);
  else if (op === 0x44) reader.skip(8);
  else if (op === 0x0e) for (let n = reader.number() + 1; n > 0; n--) reader.number();
  else if (op === 0x1c) reader.skip(reader.number());
  else if (op === 0x11 || op === 0x13) { reader.number(); reader.number(); }
  else if (op === 0xfc) skip_other(reader);
  else if (op === 0xfd) skip_vector(reader);
  else if ([2, 3, 4, 0x0c, 0x0d, 0x10, 0x12, 0xd0, 0xd2].includes(op) || (op >= 0x20 && op <= 0x26) || (op >= 0x3f && op <= 0x42))
    reader.number();
  else if (!(op <= 1 || op === 5 || op === 0x0b || op === 0x0f || op === 0x1a || op === 0x1b || (op >= 0x45 && op <= 0xc4) || op === 0xd1))
    throw new Error(`operator 0x${op.toString(16)}`);
}

// Whether what follows it may begin a basic block: loop, if, else, end, branches, return, unreachable.
const ends_block = (op) => op === 0 || (op >= 3 && op <= 5) || (op >= 0x0b && op <= 0x0f) || op === 0x12 || op === 0x13;

// The body of a function, with its blocks counted in `global`; `entry` is added once for each call.
function count_body(body, global, free, entry) {
  const reader = new Reader(body), out = [];
  for (let n = reader.number(); n > 0; n--) { reader.number(); reader.byte(); }
  let begin = reader.at, count = entry;
  for (const byte of body.subarray(0, begin)) out.push(byte);
  while (reader.at < body.length) {
    const op = reader.byte();
    skip_operands(reader, op);
    if (!free.includes(op)) count++;
    if (!ends_block(op) && reader.at < body.length) continue;
    if (count > 0) {
      out.push(GET, ...unsigned(global), I64_CONST, ...signed(count), I64_ADD, SET, ...unsigned(global));
    }
    for (const byte of body.subarray(begin, reader.at)) out.push(byte);
    begin = reader.at;
    count = 0;
  }
  return out;
}

function append(section, n, entries) {
  const reader = new Reader(section.body), before = reader.number();
  section.body = Uint8Array.from([...unsigned(before + n), ...section.body.subarray(reader.at), ...entries]);
  return before;
}

// The section of this kind, made at its place where there is none.
function section_of(sections, id) {
  let at = sections.findIndex((s) => s.id === id);
  if (at >= 0) return sections[at];
  at = sections.findIndex((s) => s.id > id);
  sections.splice(at < 0 ? sections.length : at, 0, { id, body: Uint8Array.from([0]) });
  return section_of(sections, id);
}

// { bytes, names }: the module, whose exported globals "count.NAME" count, and the names that are counted.
export function instrument(bytes, prefixes, { free = FREE, entry = 0 } = {}) {
  let sections = read_sections(bytes);
  const names = function_names(sections), before = imported(sections.find((s) => s.id === SECTION.IMPORT));
  sections = sections.filter((s) => s.id !== SECTION.CUSTOM); // some speak of offsets in the code
  const globals = section_of(sections, SECTION.GLOBAL), exports = section_of(sections, SECTION.EXPORT);
  let global = before[GLOBAL_KIND] + new Reader(globals.body).number();
  const code = section_of(sections, SECTION.CODE), reader = new Reader(code.body), bodies = [], counted = [];
  const n = reader.number(), entries = { globals: [], exports: [] };
  for (let i = 0; i < n; i++) {
    const size = reader.number(), name = names.get(before[FUNCTION_KIND] + i);
    let body = code.body.subarray(reader.at, reader.at + size);
    reader.skip(size);
    if (prefixes.some((prefix) => name?.startsWith(prefix))) {
      body = count_body(body, global, free, entry);
      counted.push(name);
      const exported = new TextEncoder().encode(`count.${name}`);
      entries.globals.push(I64, 1, I64_CONST, 0, END);
      entries.exports.push(...unsigned(exported.length), ...exported, GLOBAL_KIND, ...unsigned(global++));
    }
    bodies.push(Uint8Array.from(unsigned(body.length)), Uint8Array.from(body));
  }
  append(globals, counted.length, entries.globals);
  append(exports, counted.length, entries.exports);
  code.body = Buffer.concat([Uint8Array.from(unsigned(n)), ...bodies]);
  const parts = sections.flatMap((s) => [Uint8Array.from([s.id, ...unsigned(s.body.length)]), s.body]);
  return { bytes: Buffer.concat([bytes.subarray(0, 8), ...parts]), names: counted };
}

// Lines "count name", then "end", as the plugin of qemu writes them.
export const counts_text = (names, exports) =>
  [...names.map((name) => `${exports[`count.${name}`].value} ${name}\n`), "end\n"].join("");

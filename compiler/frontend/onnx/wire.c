#include "wire.h"
#include <string.h>

infc_wire infc_wire_open(infc_bytes message) {
    return (infc_wire){.at = message.ptr, .end = message.ptr + message.len};
}

static bool fail(infc_wire *wire, const char *why) {
    if (!wire->error) wire->error = why;
    return false;
}

bool infc_wire_varint(infc_wire *wire, uint64_t *out_value) {
    uint64_t value = 0;
    const uint8_t *p = wire->at;
    if (wire->error || p == wire->end) return false;
    for (int shift = 0; shift < 70; shift += 7) {
        if (p == wire->end) return fail(wire, "a number is cut off");
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1) return fail(wire, "a number has more than 64 bits");
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80) continue;
        wire->at = p;
        *out_value = value;
        return true;
    }
    return fail(wire, "a number has more than 64 bits");
}

static bool read_fixed(infc_wire *wire, size_t bytes, uint64_t *out_value) {
    if ((size_t)(wire->end - wire->at) < bytes) return fail(wire, "a number is cut off");
    *out_value = 0;
    memcpy(out_value, wire->at, bytes); /* little-endian, as the hosts are */
    wire->at += bytes;
    return true;
}

static bool read_bytes(infc_wire *wire, infc_bytes *out_bytes) {
    uint64_t length;
    if (!infc_wire_varint(wire, &length)) return fail(wire, "a length is cut off");
    if (length > (size_t)(wire->end - wire->at))
        return fail(wire, "a field is longer than what holds it");
    *out_bytes = (infc_bytes){wire->at, (size_t)length};
    wire->at += length;
    return true;
}

bool infc_wire_next(infc_wire *wire, infc_wire_field *out_field) {
    uint64_t key;
    *out_field = (infc_wire_field){0};
    if (!infc_wire_varint(wire, &key)) return false;
    if (key >> 3 == 0 || key >> 3 >= 1u << 29) return fail(wire, "a field number is out of range");
    out_field->number = (uint32_t)(key >> 3);
    out_field->type = (infc_wire_type)(key & 7);
    switch (key & 7) {
    case INFC_WIRE_VARINT:
        return infc_wire_varint(wire, &out_field->value) || fail(wire, "a number is cut off");
    case INFC_WIRE_FIXED64: return read_fixed(wire, 8, &out_field->value);
    case INFC_WIRE_FIXED32: return read_fixed(wire, 4, &out_field->value);
    case INFC_WIRE_BYTES: return read_bytes(wire, &out_field->bytes);
    default: return fail(wire, "a field is a group or of no known wire type");
    }
}

bool infc_wire_count(const infc_wire_field *field, infc_wire_type type, size_t *count) {
    if (field->type == type) {
        *count += 1;
        return true;
    }
    if (field->type != INFC_WIRE_BYTES) return false;
    size_t n = 0, width = type == INFC_WIRE_FIXED32 ? 4 : 8;
    if (type == INFC_WIRE_VARINT) {
        infc_wire packed = infc_wire_open(field->bytes);
        for (uint64_t value; infc_wire_varint(&packed, &value);) n++;
        if (packed.error) return false;
    } else {
        if (field->bytes.len % width) return false;
        n = field->bytes.len / width;
    }
    *count += n;
    return true;
}

void infc_wire_append(const infc_wire_field *field, infc_wire_type type, int64_t *values, size_t *n) {
    if (field->type == type) {
        values[(*n)++] = (int64_t)field->value;
        return;
    }
    infc_wire packed = infc_wire_open(field->bytes);
    uint64_t value;
    size_t width = type == INFC_WIRE_FIXED32 ? 4 : 8;
    if (type == INFC_WIRE_VARINT) {
        while (infc_wire_varint(&packed, &value)) values[(*n)++] = (int64_t)value;
    } else {
        while (packed.at < packed.end && read_fixed(&packed, width, &value))
            values[(*n)++] = (int64_t)value;
    }
}

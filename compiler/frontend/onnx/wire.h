/* wire.h - reading the protobuf wire format in place: fields one by one, strings and bytes borrowed. Messages
 * are opened by their reader's caller, so nothing here recurses. */
#ifndef INFC_ONNX_WIRE_H
#define INFC_ONNX_WIRE_H
#include "../../base/buf.h"
#include <stdbool.h>

typedef enum infc_wire_type {
    INFC_WIRE_VARINT = 0,
    INFC_WIRE_FIXED64 = 1,
    INFC_WIRE_BYTES = 2,
    INFC_WIRE_FIXED32 = 5,
} infc_wire_type;

typedef struct infc_wire_field {
    uint32_t number; /* 1 .. 2^29 - 1 */
    infc_wire_type type;
    uint64_t value;   /* varint, fixed64, fixed32 */
    infc_bytes bytes; /* length-delimited; borrowed */
} infc_wire_field;

typedef struct infc_wire {
    const uint8_t *at, *end;
    const char *error; /* null, or what is wrong at `at`; nothing is read after an error */
} infc_wire;

infc_wire infc_wire_open(infc_bytes message);
/* The next field; false at the end and on an error. */
bool infc_wire_next(infc_wire *wire, infc_wire_field *out_field);
/* A bare varint, for packed fields; false at the end and on an error. */
bool infc_wire_varint(infc_wire *wire, uint64_t *out_value);

/* A repeated scalar may come packed, one by one, or both. Adds how many elements `field` holds; false when it
 * cannot hold `type`. */
bool infc_wire_count(const infc_wire_field *field, infc_wire_type type, size_t *count);
/* Appends the elements of a field that was counted: varints are stored as int64, fixed ones as their bits in the
 * low part of an int64. */
void infc_wire_append(const infc_wire_field *field, infc_wire_type type, int64_t *values, size_t *n);

#endif

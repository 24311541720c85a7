/* tensor_pb.c - ONNX's TensorProto. The elements are in raw_data, or in the typed list for their dtype. */
#include "tensor_io.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum {
    DIMS = 1,
    DATA_TYPE = 2,
    SEGMENT = 3,
    FLOAT_DATA = 4,
    INT32_DATA = 5,
    STRING_DATA = 6,
    INT64_DATA = 7,
    RAW_DATA = 9,
    DOUBLE_DATA = 10,
    UINT64_DATA = 11,
    EXTERNAL_DATA = 13,
    DATA_LOCATION = 14,
};

static const struct {
    uint32_t onnx, dtype, list; /* TensorProto.DataType; ours; the field of its typed list */
} pb_dtypes[] = {
    {1, INFC_DTYPE_f32, FLOAT_DATA},   {2, INFC_DTYPE_u8, INT32_DATA},
    {3, INFC_DTYPE_i8, INT32_DATA},    {4, INFC_DTYPE_u16, INT32_DATA},
    {5, INFC_DTYPE_i16, INT32_DATA},   {6, INFC_DTYPE_i32, INT32_DATA},
    {7, INFC_DTYPE_i64, INT64_DATA},   {9, INFC_DTYPE_bool, INT32_DATA},
    {10, INFC_DTYPE_f16, INT32_DATA},  {11, INFC_DTYPE_f64, DOUBLE_DATA},
    {12, INFC_DTYPE_u32, UINT64_DATA}, {13, INFC_DTYPE_u64, UINT64_DATA},
    {16, INFC_DTYPE_bf16, INT32_DATA},
};

static bool varint(infrt_bytes *in, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && in->n > 0; shift += 7) {
        unsigned char byte = *in->data++;
        in->n--;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

typedef struct field {
    uint64_t number, wire, value; /* value: of a varint */
    infrt_bytes bytes;            /* of the others */
} field;

static bool field_next(infrt_bytes *in, field *out) {
    uint64_t tag, n;
    if (!varint(in, &tag)) return false;
    *out = (field){.number = tag >> 3, .wire = tag & 7};
    switch (out->wire) {
    case WIRE_VARINT: return varint(in, &out->value);
    case WIRE_64: n = 8; break;
    case WIRE_32: n = 4; break;
    case WIRE_BYTES:
        if (!varint(in, &n)) return false;
        break;
    default: return false;
    }
    if (n > in->n) return false;
    out->bytes = (infrt_bytes){in->data, (size_t)n};
    in->data += n;
    in->n -= (size_t)n;
    return true;
}

typedef struct message {
    infrt_tensor tensor;
    uint32_t onnx_type;
    bool have_raw, truncated, many_dims;
    infrt_bytes raw;
    const char *refused; /* what it has that is not supported */
} message;

static void dim_add(message *m, uint64_t value) {
    if (m->tensor.rank == INFC_MAX_RANK) m->many_dims = true;
    else m->tensor.dims[m->tensor.rank++] = (int64_t)value;
}

static void message_parse(infrt_bytes in, message *m) {
    field f;
    while (in.n > 0) {
        if (!field_next(&in, &f)) {
            m->truncated = true;
            return;
        }
        switch (f.number) {
        case DIMS:
            if (f.wire == WIRE_VARINT) dim_add(m, f.value);
            for (uint64_t d; f.bytes.n > 0;) {
                if (!varint(&f.bytes, &d)) {
                    m->truncated = true;
                    return;
                }
                dim_add(m, d);
            }
            break;
        case DATA_TYPE: m->onnx_type = f.value > UINT32_MAX ? 0 : (uint32_t)f.value; break;
        case RAW_DATA:
            m->have_raw = f.wire == WIRE_BYTES;
            m->raw = f.bytes;
            break;
        case SEGMENT: m->refused = "a segment of a larger tensor"; break;
        case STRING_DATA: m->refused = "strings"; break;
        case EXTERNAL_DATA: m->refused = "data in another file"; break;
        case DATA_LOCATION:
            if (f.value != 0) m->refused = "data in another file";
            break;
        default: break;
        }
    }
}

/* Element i of the typed list: stored in the low bytes of its wire form, as little-endian bytes have it. */
static bool element_store(infrt_tensor *t, uint64_t *i, uint64_t value) {
    size_t size = infrt_dtype_bytes(t->dtype);
    if (*i >= t->bytes / size) return false;
    memcpy((char *)t->owned + *i * size, &value, size);
    ++*i;
    return true;
}

/* The typed list comes packed or one field per element. Without `store`, only counts. */
static bool list_read(infrt_bytes in, uint32_t list, infrt_tensor *t, bool store, uint64_t *count) {
    field f;
    *count = 0;
    while (in.n > 0 && field_next(&in, &f)) {
        if (f.number != list) continue;
        uint64_t value = f.value;
        size_t fixed = list == FLOAT_DATA ? 4 : list == DOUBLE_DATA ? 8 : 0;
        if (f.wire == WIRE_VARINT) {
            if (fixed || (store && !element_store(t, count, value))) return false;
            if (!store) ++*count;
            continue;
        }
        if (f.wire != WIRE_BYTES && f.bytes.n != fixed) return false;
        while (f.bytes.n > 0) {
            value = 0;
            if (fixed) {
                if (f.bytes.n < fixed) return false;
                memcpy(&value, f.bytes.data, fixed);
                f.bytes.data += fixed;
                f.bytes.n -= fixed;
            } else if (!varint(&f.bytes, &value)) {
                return false;
            }
            if (store ? !element_store(t, count, value) : ++*count == 0) return false;
        }
    }
    return true;
}

static infrt_status elements_read(infrt_bytes file, const char *where, uint32_t list, message *m,
                                  infrt_error *error) {
    infrt_tensor *t = &m->tensor;
    size_t size = infrt_dtype_bytes(t->dtype);
    uint64_t count = 0, want = t->bytes / size;
    char shown[INFRT_SHAPE_TEXT];
    infrt_shape_text(t->dtype, t->rank, t->dims, shown);
    if (m->have_raw) {
        if (m->raw.n != t->bytes)
            return infrt_fail(error, INFRT_ERR_DATA, "%s: %s takes %" PRIu64 " bytes, %zu are there",
                              where, shown, t->bytes, m->raw.n);
        t->data = m->raw.data;
        return INFRT_OK;
    }
    /* Counted before anything is allocated: a small file cannot ask for much. */
    if (!list_read(file, list, t, false, &count) || count != want)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %s takes %" PRIu64 " elements, %" PRIu64 " are there",
                          where, shown, want, count);
    t->owned = malloc(t->bytes ? (size_t)t->bytes : 1);
    if (!t->owned)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory for %s", where, shown);
    t->data = t->owned;
    if (!list_read(file, list, t, true, &count))
        return infrt_fail(error, INFRT_ERR_INTERNAL,
                          "%s: counted %" PRIu64 " elements, then found others", where, want);
    return INFRT_OK;
}

/* All but the elements; *list is the field of the typed list they may be in. */
static infrt_status header_read(infrt_bytes file, const char *where, message *m, uint32_t *list,
                                infrt_error *error) {
    *m = (message){0};
    *list = 0;
    message_parse(file, m);
    if (m->truncated || file.n == 0)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: not an ONNX TensorProto, or truncated", where);
    if (m->refused)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: holds %s, which is not supported", where, m->refused);
    if (m->many_dims)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: more than %d dimensions", where, INFC_MAX_RANK);
    for (size_t i = 0; i < sizeof pb_dtypes / sizeof *pb_dtypes; i++)
        if (pb_dtypes[i].onnx == m->onnx_type) {
            m->tensor.dtype = pb_dtypes[i].dtype;
            *list = pb_dtypes[i].list;
        }
    if (*list == 0)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: TensorProto data type %u is not supported",
                          where, m->onnx_type);
    if (infrt_shape_bytes(m->tensor.dtype, m->tensor.rank, m->tensor.dims, &m->tensor.bytes))
        return INFRT_OK;
    char shown[INFRT_SHAPE_TEXT];
    return infrt_fail(error, INFRT_ERR_DATA, "%s: impossible shape %s", where,
                      infrt_shape_text(m->tensor.dtype, m->tensor.rank, m->tensor.dims, shown));
}

infrt_status infrt_pb_look(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error) {
    message m;
    uint32_t list;
    infrt_status status = header_read(file, where, &m, &list, error);
    if (status == INFRT_OK) *out = m.tensor;
    return status;
}

infrt_status infrt_pb_read(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error) {
    message m;
    uint32_t list;
    infrt_status status = header_read(file, where, &m, &list, error);
    if (status == INFRT_OK) status = elements_read(file, where, list, &m, error);
    if (status == INFRT_OK) *out = m.tensor;
    else infrt_tensor_free(&m.tensor);
    return status;
}

/* Messages below the graph: tensors, attributes, value infos. */
#include "../../ir/dim.h"
#include "onnx_parse.h"
#include <string.h>

static infc_status parse_dims(infc_onnx_parse *parse, const infc_wire_field *field,
                              const uint8_t *at, infc_onnx_tensor *out) {
    size_t n = 0, done = 0;
    if (!infc_wire_count(field, INFC_WIRE_VARINT, &n))
        return infc_onnx_bad(parse, at, "TensorProto.dims", "not a list of numbers");
    if (out->rank + n <= INFC_MAX_RANK) {
        done = out->rank;
        infc_wire_append(field, INFC_WIRE_VARINT, out->dims, &done);
        for (size_t i = out->rank; i < done; i++) out->dims[i] = infc_dim_number(out->dims[i]);
    }
    out->rank += n;
    return INFC_OK;
}

/* StringStringEntryProto: location, offset, length and checksum are the keys that matter. */
static infc_status parse_external(infc_onnx_parse *parse, infc_bytes body, infc_onnx_tensor *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    const char *key = "", *value = "";
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == 1)
            INFC_TRY(infc_onnx_text(parse, &field, at, "external_data.key", &key));
        if (field.number == 2)
            INFC_TRY(infc_onnx_text(parse, &field, at, "external_data.value", &value));
    }
    if (wire.error) return infc_onnx_bad(parse, wire.at, "external_data", wire.error);
    if (strcmp(key, "location") == 0) out->location = value;
    if (strcmp(key, "offset") == 0) out->offset = value;
    if (strcmp(key, "length") == 0) out->length = value;
    if (strcmp(key, "checksum") == 0) out->checksum = value;
    return INFC_OK;
}

static infc_status tensor_field(infc_onnx_parse *parse, const infc_wire_field *field,
                                const uint8_t *at, infc_onnx_tensor *out) {
    int64_t number = 0;
    infc_bytes body = {0};
    switch (field->number) {
    case 1: return parse_dims(parse, field, at, out);
    case 2:
        INFC_TRY(infc_onnx_integer(parse, field, at, "TensorProto.data_type", &number));
        out->data_type = number < 0 || number > 1000 ? -1 : (int32_t)number;
        return INFC_OK;
    case 3: out->segmented = true; return INFC_OK;
    case 8: return infc_onnx_text(parse, field, at, "TensorProto.name", &out->name);
    case 9:
        out->has_raw = true;
        return infc_onnx_borrow(parse, field, at, "TensorProto.raw_data", &out->raw);
    case 13:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "TensorProto.external_data", &body));
        return parse_external(parse, body, out);
    case 14:
        INFC_TRY(infc_onnx_integer(parse, field, at, "TensorProto.data_location", &number));
        out->external = number == 1;
        return INFC_OK;
    default: return INFC_OK;
    }
}

infc_status infc_onnx_parse_tensor(infc_onnx_parse *parse, infc_bytes body, infc_onnx_tensor *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    *out = (infc_onnx_tensor){.name = "", .body = body};
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        INFC_TRY(tensor_field(parse, &field, at, out));
    return wire.error ? infc_onnx_bad(parse, wire.at, "TensorProto", wire.error) : INFC_OK;
}

/* The repeated numbers of field `number`, as int64 or float. */
static infc_status attribute_list(infc_onnx_parse *parse, infc_bytes body, uint32_t number,
                                  infc_wire_type type, int64_t **out_values, size_t *out_n) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    size_t count = 0, n = 0;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == number && !infc_wire_count(&field, type, &count))
            return infc_onnx_bad(parse, at, "AttributeProto", "not a list of numbers");
    }
    *out_values = INFC_NEW(parse->cx->arena, int64_t, count ? count : 1);
    for (wire = infc_wire_open(body); infc_wire_next(&wire, &field);)
        if (field.number == number) infc_wire_append(&field, type, *out_values, &n);
    for (size_t i = 0; i < n; i++) (*out_values)[i] = infc_dim_number((*out_values)[i]);
    *out_n = n;
    return INFC_OK;
}

static float float_of_bits(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static infc_status attribute_strings(infc_onnx_parse *parse, infc_bytes body, size_t n, infc_onnx_attribute *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    out->strings = INFC_NEW(parse->cx->arena, infc_bytes, n + 1);
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        if (field.number == 9)
            INFC_TRY(infc_onnx_borrow(parse, &field, at, "AttributeProto.strings",
                                      &out->strings[out->n_strings++]));
    return INFC_OK;
}

static infc_status attribute_lists(infc_onnx_parse *parse, infc_bytes body, infc_onnx_attribute *out) {
    if (out->type == INFC_ONNX_INTS)
        return attribute_list(parse, body, 8, INFC_WIRE_VARINT, &out->ints, &out->n_ints);
    if (out->type != INFC_ONNX_FLOATS) return INFC_OK;
    int64_t *bits;
    INFC_TRY(attribute_list(parse, body, 7, INFC_WIRE_FIXED32, &bits, &out->n_floats));
    out->floats = INFC_NEW(parse->cx->arena, float, out->n_floats + 1);
    for (size_t i = 0; i < out->n_floats; i++) out->floats[i] = float_of_bits((uint64_t)bits[i]);
    return INFC_OK;
}

static infc_status attribute_field(infc_onnx_parse *parse, const infc_wire_field *field,
                                   const uint8_t *at, infc_onnx_attribute *out) {
    int64_t number = 0;
    infc_bytes body = {0};
    switch (field->number) {
    case 1: return infc_onnx_text(parse, field, at, "AttributeProto.name", &out->name);
    case 2:
        if (field->type != INFC_WIRE_FIXED32)
            return infc_onnx_bad(parse, at, "AttributeProto.f", "not a float");
        out->f = float_of_bits(field->value);
        return INFC_OK;
    case 3: return infc_onnx_integer(parse, field, at, "AttributeProto.i", &out->i);
    case 4: return infc_onnx_borrow(parse, field, at, "AttributeProto.s", &out->s);
    case 5:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "AttributeProto.t", &body));
        out->tensor = INFC_NEW(parse->cx->arena, infc_onnx_tensor, 1);
        return infc_onnx_parse_tensor(parse, body, out->tensor);
    case 6:
        INFC_TRY(infc_onnx_borrow(parse, field, at, "AttributeProto.g", &body));
        out->graph = INFC_NEW(parse->cx->arena, infc_onnx_graph, 1);
        return infc_onnx_parse_graph(parse, body, out->graph);
    case 20:
        INFC_TRY(infc_onnx_integer(parse, field, at, "AttributeProto.type", &number));
        out->type = number < 0 || number > 1000 ? -1 : (int32_t)number;
        return INFC_OK;
    case 21:
        return infc_onnx_text(parse, field, at, "AttributeProto.ref_attr_name", &out->ref_name);
    default: return INFC_OK;
    }
}

infc_status infc_onnx_parse_attribute(infc_onnx_parse *parse, infc_bytes body, infc_onnx_attribute *out) {
    size_t counts[INFC_ONNX_MAX_FIELD] = {0};
    INFC_TRY(infc_onnx_count(parse, body, "AttributeProto", counts));
    if (counts[5] > 1 || counts[6] > 1)
        return infc_onnx_bad(parse, body.ptr, "AttributeProto", "more than one tensor or graph");
    *out = (infc_onnx_attribute){.name = ""};
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at)
        INFC_TRY(attribute_field(parse, &field, at, out));
    if (out->type == INFC_ONNX_STRINGS) return attribute_strings(parse, body, counts[9], out);
    return attribute_lists(parse, body, out);
}

static infc_status parse_dimension(infc_onnx_parse *parse, infc_bytes body, infc_onnx_dim *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == 1) {
            INFC_TRY(infc_onnx_integer(parse, &field, at, "Dimension.dim_value", &out->value));
            *out = (infc_onnx_dim){.value = out->value, .has_value = true};
        } else if (field.number == 2) {
            *out = (infc_onnx_dim){0};
            INFC_TRY(infc_onnx_text(parse, &field, at, "Dimension.dim_param", &out->param));
            if (!*out->param) out->param = NULL;
        }
    }
    return wire.error ? infc_onnx_bad(parse, wire.at, "Dimension", wire.error) : INFC_OK;
}

static infc_status parse_shape(infc_onnx_parse *parse, infc_bytes body, infc_onnx_value_info *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    out->has_shape = true;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number != 1) continue;
        infc_bytes dim;
        infc_onnx_dim ignored = {0};
        INFC_TRY(infc_onnx_borrow(parse, &field, at, "TensorShapeProto.dim", &dim));
        INFC_TRY(parse_dimension(parse, dim, out->rank < INFC_MAX_RANK ? &out->dims[out->rank] : &ignored));
        out->rank++;
    }
    return wire.error ? infc_onnx_bad(parse, wire.at, "TensorShapeProto", wire.error) : INFC_OK;
}

static infc_status parse_tensor_type(infc_onnx_parse *parse, infc_bytes body, infc_onnx_value_info *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == 1) {
            int64_t number;
            INFC_TRY(infc_onnx_integer(parse, &field, at, "TypeProto.elem_type", &number));
            out->elem_type = number < 0 || number > 1000 ? -1 : (int32_t)number;
        } else if (field.number == 2) {
            infc_bytes shape;
            INFC_TRY(infc_onnx_borrow(parse, &field, at, "TypeProto.shape", &shape));
            out->rank = 0;
            INFC_TRY(parse_shape(parse, shape, out));
        }
    }
    return wire.error ? infc_onnx_bad(parse, wire.at, "TypeProto.Tensor", wire.error) : INFC_OK;
}

/* Field 1 of a TypeProto is a tensor; sequences, maps, optionals and the like are only noted as none. */
static infc_status parse_type(infc_onnx_parse *parse, infc_bytes body, infc_onnx_value_info *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == 6) continue; /* denotation */
        out->has_type = true;
        out->is_tensor = field.number == 1;
        if (field.number != 1) continue;
        infc_bytes tensor;
        INFC_TRY(infc_onnx_borrow(parse, &field, at, "TypeProto.tensor_type", &tensor));
        INFC_TRY(parse_tensor_type(parse, tensor, out));
    }
    return wire.error ? infc_onnx_bad(parse, wire.at, "TypeProto", wire.error) : INFC_OK;
}

infc_status infc_onnx_parse_value_info(infc_onnx_parse *parse, infc_bytes body, infc_onnx_value_info *out) {
    infc_wire wire = infc_wire_open(body);
    infc_wire_field field;
    *out = (infc_onnx_value_info){.name = ""};
    for (const uint8_t *at = wire.at; infc_wire_next(&wire, &field); at = wire.at) {
        if (field.number == 1) {
            INFC_TRY(infc_onnx_text(parse, &field, at, "ValueInfoProto.name", &out->name));
        } else if (field.number == 2) {
            infc_bytes type;
            INFC_TRY(infc_onnx_borrow(parse, &field, at, "ValueInfoProto.type", &type));
            INFC_TRY(parse_type(parse, type, out));
        }
    }
    return wire.error ? infc_onnx_bad(parse, wire.at, "ValueInfoProto", wire.error) : INFC_OK;
}

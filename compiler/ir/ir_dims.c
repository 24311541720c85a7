/* ir_dims.c - open dims and sizes between MLIR and plain values: as texts, in the encoding of types and in
 * attributes. */
#include "ir_mlir.h"
#include <stdio.h>

enum { UNKNOWN_LAYOUT = 99, MAX_TEXTS = INFC_MAX_RANK + 1 };

infc_layout infc_ir_layout_of(MlirStringRef text) {
    for (infc_layout layout = INFC_LAYOUT_plain; layout <= INFC_LAYOUT_qpanel; layout++)
        if (mlirStringRefEqual(text, infc_mlir_str(infc_layout_name(layout)))) return layout;
    return (infc_layout)UNKNOWN_LAYOUT;
}

static MlirAttribute text_attr(MlirContext ctx, const char *text) {
    return mlirStringAttrGet(ctx, infc_mlir_str(text));
}

/* The open ones of `dims` as texts, after `n` that are there. */
static int add_texts(MlirContext ctx, const int64_t *dims, int n_dims, MlirAttribute *texts, int n) {
    for (int i = 0; i < n_dims; i++) {
        if (!infc_dim_open(dims[i])) continue;
        infc_arena *scratch = infc_arena_create();
        if (scratch) texts[n++] = text_attr(ctx, infc_dim_text(scratch, dims[i]));
        infc_arena_destroy(&scratch);
    }
    return n;
}

MlirAttribute infc_ir_encoding(MlirContext ctx, const infc_type *type) {
    MlirAttribute texts[MAX_TEXTS];
    int n = 0;
    if (type->layout != INFC_LAYOUT_plain)
        texts[n++] = text_attr(ctx, infc_layout_name(type->layout));
    if (!infc_type_open(type)) return n ? texts[0] : mlirAttributeGetNull();
    n = add_texts(ctx, type->dims, type->rank, texts, n);
    return mlirArrayAttrGet(ctx, n, texts);
}

/* The texts of `list` from `first` on, for the unknown numbers of `dims` in order. */
static void read_texts(struct infc_ir_kinds *kinds, MlirAttribute list, intptr_t first, int64_t *dims, int n_dims) {
    for (int i = 0; i < n_dims; i++) {
        if (dims[i] != INT64_MIN || first >= mlirArrayAttrGetNumElements(list)) continue;
        MlirAttribute text = mlirArrayAttrGetElement(list, first++);
        int64_t dim;
        if (!mlirAttributeIsAString(text)) continue;
        if (infc_dim_parse(kinds->sizes, infc_ir_string(kinds, text.ptr, mlirStringAttrGetValue(text)), &dim))
            dims[i] = dim;
    }
}

static void read_encoding(struct infc_ir_kinds *kinds, MlirAttribute encoding, infc_type *type) {
    intptr_t unknown = 0;
    int rank = type->rank < INFC_MAX_RANK ? type->rank : INFC_MAX_RANK;
    type->layout = (infc_layout)UNKNOWN_LAYOUT;
    if (mlirAttributeIsAString(encoding))
        type->layout = infc_ir_layout_of(mlirStringAttrGetValue(encoding));
    if (!mlirAttributeIsAArray(encoding)) return;
    for (int i = 0; i < rank; i++) unknown += type->dims[i] == INT64_MIN;
    intptr_t n = mlirArrayAttrGetNumElements(encoding), first = n - unknown;
    if (first == 0) type->layout = INFC_LAYOUT_plain;
    if (first == 1) {
        MlirAttribute layout = mlirArrayAttrGetElement(encoding, 0);
        if (mlirAttributeIsAString(layout))
            type->layout = infc_ir_layout_of(mlirStringAttrGetValue(layout));
    }
    if (first == 0 || first == 1) read_texts(kinds, encoding, first, type->dims, rank);
}

void infc_ir_encoding_read(struct infc_ir_kinds *kinds, MlirType from, infc_type *type) {
    MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(from);
    if (!mlirAttributeIsAArray(encoding)) {
        read_encoding(kinds, encoding, type);
        return;
    }
    void **known = infc_ptr_map_at(&kinds->open_types, from.ptr);
    if (!*known) {
        infc_type *kept = INFC_NEW(kinds->cx->arena, infc_type, 1);
        read_encoding(kinds, encoding, type);
        *kept = *type;
        *known = kept;
    }
    *type = *(const infc_type *)*known;
}

/* ---- lists of numbers ------------------------------------------------------------------------------- */

infc_ir_open_name infc_ir_open_ints_name(const char *name) {
    infc_ir_open_name made;
    snprintf(made.text, sizeof made.text, "%s_dims", name);
    return made;
}

MlirAttribute infc_ir_open_ints(MlirContext ctx, const infc_attr *attr) {
    MlirAttribute texts[INFC_MAX_INTS];
    int n = attr->kind == INFC_ATTR_I64S ? add_texts(ctx, attr->ints, attr->n_ints, texts, 0) : 0;
    return n ? mlirArrayAttrGet(ctx, n, texts) : mlirAttributeGetNull();
}

void infc_ir_open_ints_read(struct infc_ir_kinds *kinds, MlirOperation op, const char *name, infc_attr *attr) {
    bool unknown = false;
    int n = attr->n_ints < INFC_MAX_INTS ? attr->n_ints : INFC_MAX_INTS;
    for (int i = 0; i < n; i++) unknown |= attr->ints[i] == INT64_MIN;
    if (!unknown) return;
    MlirAttribute list = infc_mlir_attr(op, infc_ir_open_ints_name(name).text);
    if (!mlirAttributeIsNull(list) && mlirAttributeIsAArray(list))
        read_texts(kinds, list, 0, attr->ints, n);
}

/* ---- sizes ------------------------------------------------------------------------------------------- */

static const char sizes_attr[] = "infc.sizes";

void infc_ir_sizes_write(const infc_ir *ir) {
    MlirAttribute texts[INFC_MAX_SIZES];
    int n = infc_sizes_count(ir->kinds->sizes);
    for (int i = 0; i < n; i++)
        texts[i] = text_attr(ir->ctx, infc_size_text(ir->cx->arena, infc_sizes_at(ir->kinds->sizes, i)));
    if (n)
        mlirOperationSetAttributeByName(ir->main, infc_mlir_str(sizes_attr),
                                        mlirArrayAttrGet(ir->ctx, n, texts));
}

infc_status infc_ir_sizes_read(infc_ir *ir) {
    MlirAttribute list = infc_mlir_attr(ir->main, sizes_attr);
    infc_loc loc = {.file = ir->source};
    if (mlirAttributeIsNull(list)) return INFC_OK;
    bool is_list = mlirAttributeIsAArray(list);
    if (!is_list || mlirArrayAttrGetNumElements(list) > INFC_MAX_SIZES)
        return infc_fail(ir->cx, INFC_ERR_MODEL, loc, "%s must be a list of at most %d texts",
                         sizes_attr, INFC_MAX_SIZES);
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(list); i++) {
        const char *text = infc_ir_attr_string(ir, mlirArrayAttrGetElement(list, i));
        infc_size size;
        if (!text || !infc_size_parse(ir->cx->arena, text, &size) ||
            infc_sizes_find(ir->kinds->sizes, size.name) >= 0)
            return infc_fail(ir->cx, INFC_ERR_MODEL, loc,
                             "%s: entry %d is not a new `name: low..high`", sizes_attr, (int)i);
        infc_sizes_add(ir->kinds->sizes, size);
    }
    return INFC_OK;
}

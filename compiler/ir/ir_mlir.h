/* ir_mlir.h - what the files of ir/ share about MLIR; nothing outside ir/ includes it. */
#ifndef INFC_IR_MLIR_H
#define INFC_IR_MLIR_H
#include "ir.h"
#include "../base/map.h"
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum { INFC_IR_KIND_SLOTS = 256 }; /* a power of two, above twice the number of kinds */

/* Per context, shared by clones. */
struct infc_ir_kinds {
    infc_sizes *sizes;
    infc_cx *cx;
    MlirContext ctx;
    const char *source;      /* what "-", the file name in parsed text, stands for */
    infc_status diag_status; /* of what MLIR reports now */
    const char *diag_prefix; /* put before it; may be null */
    struct {
        const void *key; /* identifier of an op name */
        infc_op_kind kind;
    } slots[INFC_IR_KIND_SLOTS];
    /* By MLIR's unique storage: C strings of strings and locations; infc_types of tensor types with open dims. */
    infc_ptr_map strings, open_types;
};

/* Per module. Functions are added by infc_ir_outline and by parsing, and never removed. */
struct infc_ir_symbols {
    infc_map funcs; /* name -> address of the func.func */
    infc_map tries; /* name -> suffixes tried to make it unique */
};

static inline MlirStringRef infc_mlir_str(const char *text) {
    return mlirStringRefCreate(text, strlen(text));
}
static inline MlirAttribute infc_mlir_attr(MlirOperation op, const char *name) {
    return mlirOperationGetAttributeByName(op, infc_mlir_str(name));
}
MlirNamedAttribute infc_mlir_named(MlirContext ctx, const char *name, MlirAttribute attr);

/* The text behind `key` as a C string that lives as long as the context; made on the first call. */
const char *infc_ir_string(struct infc_ir_kinds *kinds, const void *key, MlirStringRef text);
/* Of a string attribute; null when it is null or of another kind. */
const char *infc_ir_attr_string(const infc_ir *ir, MlirAttribute attr);

MlirType infc_ir_mlir_type(MlirContext ctx, const infc_type *type);
infc_type infc_ir_type_of(struct infc_ir_kinds *kinds, MlirType type); /* of a tensor; of others none */
MlirAttribute infc_ir_mlir_attr(MlirContext ctx, const infc_attr *attr);
/* ir_dims.c: open dims stand in the encoding of a type, `tensor<?x4xf32, ["2*tokens"]>`, one text for each `?`, and
 * before them the layout if there is one. Null when there is nothing to say. */
MlirAttribute infc_ir_encoding(MlirContext ctx, const infc_type *type);
/* Fills the open dims of a type (INT64_MIN) and its layout. Those that cannot be read stay. */
void infc_ir_encoding_read(struct infc_ir_kinds *kinds, MlirType from, infc_type *type);
infc_layout infc_ir_layout_of(MlirStringRef text);
/* Open numbers of a list stand in the attribute `<name>_dims`, one text for each INT64_MIN of the list itself. Null
 * when it has none. */
typedef struct infc_ir_open_name {
    char text[40];
} infc_ir_open_name;
infc_ir_open_name infc_ir_open_ints_name(const char *name);
MlirAttribute infc_ir_open_ints(MlirContext ctx, const infc_attr *attr);
void infc_ir_open_ints_read(struct infc_ir_kinds *kinds, MlirOperation op, const char *name, infc_attr *attr);
/* The sizes stand at @main, as a list of texts. Reading fails on what is not one. */
void infc_ir_sizes_write(const infc_ir *ir);
infc_status infc_ir_sizes_read(infc_ir *ir);
/* An op appended to `at`, or detached when its block is null. */
MlirOperation infc_ir_op(infc_ir_at at, const char *name, MlirLocation location,
                         const MlirValue *in, intptr_t n_in, const MlirType *out, intptr_t n_out,
                         const MlirNamedAttribute *attrs, intptr_t n_attrs);
/* A detached func.func with one block; `is_private` functions are not entries. */
MlirOperation infc_ir_func(infc_ir *ir, const char *name, bool is_private, MlirLocation location,
                           const MlirType *in, intptr_t n_in, const MlirType *out, intptr_t n_out,
                           MlirBlock *entry);
/* A new context with the dialects loaded, destroyed with cx->arena. */
infc_status infc_ir_context_create(infc_cx *cx, struct infc_ir_kinds **out);
/* An empty place for a module, destroyed with cx->arena. Taken before the module is made, since taking it may run
 * out of memory. */
MlirModule *infc_ir_module_place(infc_cx *cx);
/* Fills `out` but for the module's contents. */
void infc_ir_adopt(struct infc_ir_kinds *kinds, MlirModule module, const char *source, infc_ir *out);
MlirOperation infc_ir_find_main(const infc_ir *ir);
/* Appends a func.func to the module under `name` or `name`_0, `name`_1, ..; its symbol is returned. */
const char *infc_ir_add_func(infc_ir *ir, MlirOperation func, const char *name);
infc_loc infc_ir_loc_of(struct infc_ir_kinds *kinds, MlirLocation location);

#endif

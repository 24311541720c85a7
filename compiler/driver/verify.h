/* verify.h - parts of `infc verify`, one file each. */
#ifndef INFC_VERIFY_H
#define INFC_VERIFY_H
#include "built_folder.h"
#include "compile.h"
#include "npz.h"

typedef struct infc_verify_options {
    bool json;
    infc_texts targets, sets;
    const char *inputs, *expect; /* .npz files, or null */
    double tolerance;            /* 0: the default */
    bool against_onnx;
} infc_verify_options;

/* Where compiled code and reference part for the first time. */
typedef struct infc_divergence {
    const char *tensor; /* null: they do not */
    const char *node;
    int64_t element, n_elements, n_different;
    double reference, compiled;
    uint64_t ulp; /* floats: representable numbers between them; UINT64_MAX when one is not a number */
} infc_divergence;

typedef struct infc_verified {
    const char *target, *how; /* "natively" */
    size_t n_tensors;         /* compared bit for bit, outputs included */
    size_t n_fused;           /* named in the model, but kept by no step */
    infc_divergence first;
    bool own_ok; /* the binary's own `verify` */
    const char *own_text;
    double worst; /* --expect: the largest error over the largest expected value; -1: not asked for */
    const char *worst_output;
    double tolerance;
    bool ok;
} infc_verified;

/* verify_inputs.c: the inputs of the model from the file, or made up when `path` is null: floats in [-1, 1), small
 * integers. */
infc_status infc_verify_inputs(infc_cx *cx, const infc_plan *plan, const char *path,
                               infc_tensor *inputs, const char **names);

/* verify_compare.c: runs the reference on what is before the targets and compares with what the binary dumped. */
infc_status infc_verify_compare(infc_cx *cx, infc_ir *ir, const infc_tensor *inputs, size_t n_outputs,
                                const infc_npz *dumps, const infc_npz *outputs, infc_verified *result);
/* Outputs against expected ones of the same name. Fails when no name is in both, or types or shapes differ. */
infc_status infc_verify_expect(infc_cx *cx, const infc_npz *outputs, const char *path,
                               double tolerance, infc_verified *result);

/* verify_binary.c: the binary's outputs, and its intermediates when `dumps` is not null; its own check. */
infc_status infc_verify_run(infc_cx *cx, const infc_target *target, const char *binary,
                            const char *inputs, const char *temp, infc_npz *outputs, infc_npz *dumps);
infc_status infc_verify_own(infc_cx *cx, const infc_target *target, const char *binary, infc_verified *result);

/* verify_folder.c: every file of the manifest has the hash it states, weights also that of their header; the header
 * and the bill of materials are among them. Records what differs. */
infc_status infc_verify_manifest(infc_cx *cx, const infc_built_folder *built, size_t *out_n_files);

#endif

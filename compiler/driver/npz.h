/* npz.h - named tensors in a file as numpy.savez writes it: how `verify` talks to a built binary. Reads entries
 * that are stored as they are; compressed ones (numpy.savez_compressed) are refused. */
#ifndef INFC_NPZ_H
#define INFC_NPZ_H
#include "../ir/eval.h"

typedef struct infc_npz_entry {
    const char *name; /* without .npy */
    infc_type type;
    infc_bytes data; /* row-major; borrowed from the mapped file, not aligned */
} infc_npz_entry;

typedef struct infc_npz {
    const char *path;
    infc_npz_entry *items;
    size_t n;
} infc_npz;

infc_status infc_npz_read(infc_cx *cx, const char *path, infc_npz *out);
const infc_npz_entry *infc_npz_find(const infc_npz *npz, const char *name); /* null when absent */
/* Tensors in plain layout; less than 4 GiB. */
infc_status infc_npz_write(infc_cx *cx, const char *path, const char *const *names,
                           const infc_tensor *tensors, size_t n);

/* npy.c: one array. */
infc_status infc_npy_read(infc_cx *cx, infc_loc loc, infc_bytes bytes, infc_type *type, infc_bytes *data);
void infc_npy_header(const infc_type *type, infc_buf *out);

#endif

/* npz.h - named tensors in a file as numpy.savez or savez_compressed writes it: how `verify` talks to a built binary,
 * and what a user gives it. Reads and writes with the runtime's own code, so that both take the same files. */
#ifndef INFC_NPZ_H
#define INFC_NPZ_H
#include "../ir/eval.h"

typedef struct infc_npz_entry {
    const char *name; /* without .npy */
    infc_type type;
    infc_bytes data; /* row-major; borrowed from the mapped file or the arena of cx, not aligned */
} infc_npz_entry;

typedef struct infc_npz {
    const char *path;
    infc_bytes file;
    const char **names; /* of its arrays */
    size_t n, cap;
} infc_npz;

/* Reads the directory; arrays are read when they are asked for, so that what nobody uses may be of any kind. */
infc_status infc_npz_open(infc_cx *cx, const char *path, infc_npz *out);
bool infc_npz_has(const infc_npz *npz, const char *name);
/* Its type, from its header: to compare before it is unpacked. */
infc_status infc_npz_type(infc_cx *cx, const infc_npz *npz, const char *name, infc_type *out);
/* The array `name`, unpacked and checked. Fails when it is not there, twice there, damaged or of no known type. */
infc_status infc_npz_read(infc_cx *cx, const infc_npz *npz, const char *name, infc_npz_entry *out);
/* Tensors in plain layout; less than 4 GiB. */
infc_status infc_npz_write(infc_cx *cx, const char *path, const char *const *names,
                           const infc_tensor *tensors, size_t n);

#endif

/* tensor_io.h - tensors in files: .npy .npz .pb (ONNX TensorProto) .raw, and images.
 *
 * Readers take the bytes of a whole file, which are hostile input: they check before they use or allocate,
 * and record a failure that starts with `where` (what the user called the file). Little-endian hosts only. */
#ifndef INFRT_TENSOR_IO_H
#define INFRT_TENSOR_IO_H
#include "infrt.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the application reads and writes little-endian tensors in place; use the static library on this target"
#endif

/* The bytes of a file; borrowed. */
typedef struct infrt_bytes {
    const unsigned char *data;
    size_t n;
} infrt_bytes;

/* A dense row-major tensor as read. Start from {0}, end with infrt_tensor_free. */
typedef struct infrt_tensor {
    uint32_t dtype, rank; /* infc_dtype */
    int64_t dims[INFC_MAX_RANK];
    uint64_t bytes;
    const void *data; /* may be unaligned; lies in the file's bytes or in `owned` */
    void *owned;
} infrt_tensor;

void infrt_tensor_free(infrt_tensor *tensor); /* leaves {0} */

/* ---- shapes ------------------------------------------------------------------------------------- */

const char *infrt_dtype_name(uint32_t dtype); /* "f32"; "?" when unknown */
size_t infrt_dtype_bytes(uint32_t dtype);     /* of one element; 0 when unknown */
/* Checked product of dims and element size; false on overflow, a negative dim or an unknown dtype. */
bool infrt_shape_bytes(uint32_t dtype, uint32_t rank, const int64_t *dims, uint64_t *out);
/* "f32[1,3,224,224]" */
enum { INFRT_SHAPE_TEXT = 192 };
const char *infrt_shape_text(uint32_t dtype, uint32_t rank, const int64_t *dims, char out[INFRT_SHAPE_TEXT]);
/* Element i as a double, of any dtype; `data` may be unaligned. */
double infrt_element(uint32_t dtype, const void *data, size_t i);
/* Copies [N,C,spatial...] out of channel blocks of 16 (INFC_LAYOUT_c16) into row-major order. */
void infrt_unblock_c16(const void *blocked, void *out, uint32_t rank, const int64_t *dims, size_t element_bytes);

/* ---- reading: `out` is set on success only ------------------------------------------------------- */

/* NumPy format 1, 2, 3; C order, little-endian, no pickles. */
infrt_status infrt_npy_read(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error);
/* Its dtype, shape and bytes, without data; `start`: the first bytes of the `file_bytes`, with all of the header. */
infrt_status infrt_npy_look(infrt_bytes start, uint64_t file_bytes, const char *where,
                            infrt_tensor *out, infrt_error *error);
/* The array `name` of an archive; name null: its only one. Stored or deflated entries. */
infrt_status infrt_npz_read(infrt_bytes file, const char *where, const char *name,
                            infrt_tensor *out, infrt_error *error);
/* Refuses an array of another dtype or shape than `info`, unless that is null, before it unpacks anything. */
infrt_status infrt_npz_read_as(infrt_bytes file, const char *where, const char *name,
                               const infc_tensor_info *info, infrt_tensor *out, infrt_error *error);
/* Its dtype, shape and bytes from its header, without data. */
infrt_status infrt_npz_look(infrt_bytes file, const char *where, const char *name,
                            infrt_tensor *out, infrt_error *error);
/* `name`, or null when the archive has no such array but a single other. */
const char *infrt_npz_pick(infrt_bytes file, const char *where, const char *name);
/* Calls visit(self, name, bytes of name) for each array. */
infrt_status infrt_npz_names(infrt_bytes file, const char *where,
                             void (*visit)(void *self, const char *name, size_t name_bytes),
                             void *self, infrt_error *error);
/* An ONNX TensorProto with its data inside. */
infrt_status infrt_pb_read(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error);
infrt_status infrt_pb_look(infrt_bytes file, const char *where, infrt_tensor *out, infrt_error *error);
/* The bytes of exactly one tensor `info`, nothing else. */
infrt_status infrt_raw_read(infrt_bytes file, const char *where, const infc_tensor_info *info,
                            infrt_tensor *out, infrt_error *error);
/* A .png, .jpg or .bmp as the input `info`. `image` says how; null: f32 [1,C,H,W], value = pixel / 255. Of
 * another size than H x W: resized. `note` gets what was done that the user did not ask for, or "". */
infrt_status infrt_image_read(infrt_bytes file, const char *where, const infc_tensor_info *info,
                              const infc_image_info *image, infrt_tensor *out, char note[256],
                              infrt_error *error);
#define INFRT_INPUT_FORMATS ".npy .npz .pb .raw .bin .png .jpg .jpeg .bmp .wav"
bool infrt_tensor_ending(const char *path); /* whether it ends in one of them */
/* By the ending of `path` (.npy .npz .pb .raw .bin .png .jpg .jpeg .bmp), else by its first bytes; then checks
 * dtype and shape against `info`. The other arguments as above. */
infrt_status infrt_tensor_read(infrt_bytes file, const char *path, const infc_tensor_info *info,
                               const infc_image_info *image, infrt_tensor *out, char note[256],
                               infrt_error *error);
/* What the file says it holds, without data: dtype and shape; of a .raw only `bytes`; of an image nothing. */
infrt_status infrt_tensor_look(infrt_bytes file, const char *path, const infc_tensor_info *info,
                               infrt_tensor *out, infrt_error *error);
/* INFRT_ERR_DATA, naming both shapes, unless `tensor` has the dtype and shape of `info`. */
infrt_status infrt_tensor_match(const infrt_tensor *tensor, const infc_tensor_info *info,
                                const char *where, infrt_error *error);

/* ---- writing: all of it or nothing --------------------------------------------------------------- */

/* data[i]: row-major, of infos[i]'s dtype and dims; of infos only name, dtype, rank and dims are used.
 * An .npz archive without compression and without dates: the same tensors give the same bytes. */
infrt_status infrt_npz_write(const char *path, const infc_tensor_info *const *infos,
                             const void *const *data, size_t n, infrt_error *error);
/* One .npy per tensor in the folder `path`, which is made if it does not exist. File names are the tensors'
 * with anything but letters, digits, '-', '_' and '.' as '_', and made unique. */
infrt_status infrt_npy_write_all(const char *path, const infc_tensor_info *const *infos,
                                 const void *const *data, size_t n, infrt_error *error);
/* Where write_all puts the i-th; the caller frees it. Null: no memory. */
char *infrt_npy_path(const char *folder, const infc_tensor_info *const *infos, size_t i);
infrt_status infrt_npy_write(const char *path, const infc_tensor_info *info, const void *data, infrt_error *error);
/* The header of an .npy for such a tensor, a multiple of 64 bytes. Returns its length. */
enum { INFRT_NPY_HEADER = 512 };
size_t infrt_npy_header(uint32_t dtype, uint32_t rank, const int64_t *dims, char out[INFRT_NPY_HEADER]);

#endif

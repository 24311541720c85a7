/* onnx_load.h - a model's external data: files beneath the model's folder, mapped once each and borrowed. */
#ifndef INFC_ONNX_LOAD_H
#define INFC_ONNX_LOAD_H
#include "../../base/map.h"
#include "onnx_model.h"

typedef struct infc_onnx_files {
    infc_cx *cx;
    const char *dir; /* of the model; null: the model came from memory and has no folder */
    infc_map names;  /* location -> index of maps */
    struct infc_onnx_file {
        infc_bytes bytes;
        const char *sha1; /* null: not needed yet */
    } *maps;
    size_t n, cap;
} infc_onnx_files;

infc_onnx_files infc_onnx_files_open(infc_cx *cx, const char *model_path);
/* The `bytes` bytes of an external tensor. Refused: locations that are absolute, leave the folder or pass
 * through a symbolic link, anything but a regular file, ranges beyond its end, files of another SHA-1 than the tensor's
 * checksum. */
infc_status infc_onnx_external(infc_onnx_files *files, infc_loc loc, const infc_onnx_tensor *tensor,
                               uint64_t bytes, infc_bytes *out);

#endif

/* weights_map.c - finds, checks and maps the payload of weights. */
#include "infrt_hash.h"
#include "infrt_os.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char weights_magic[] = INFC_WEIGHTS_MAGIC, footer_magic[] = INFC_PAYLOAD_MAGIC;

/* Checks a header against the model and against the `room` that its payload has. */
static infrt_status header_check(const infc_model *model, const infc_weights_header *header,
                                 uint64_t room, const char *where, infrt_error *error) {
    if (memcmp(header->magic, weights_magic, sizeof header->magic) != 0)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: no weights there (the payload does not start with \"%s\")",
                          where, weights_magic);
    for (size_t i = 0; i < sizeof header->reserved / sizeof *header->reserved; i++)
        if (header->reserved[i] != 0)
            return infrt_fail(
                error, INFRT_ERR_DATA,
                "%s: the header of the weights is damaged (bytes 32 to 63 are reserved and"
                " must be zero); copy it again",
                where);
    if (header->layout_hash != model->layout_hash)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: weights of another layout: %016" PRIx64 ", but %s needs %016" PRIx64
                          " (of the same structure, precision and infc version)",
                          where, header->layout_hash, model->name, model->layout_hash);
    if (header->bytes != model->weights_bytes)
        return infrt_fail(error, INFRT_ERR_DATA, "%s: %" PRIu64 " bytes of weights, %s has %" PRIu64,
                          where, header->bytes, model->name, model->weights_bytes);
    if (header->bytes > room)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: truncated: %" PRIu64 " bytes of weights stated, %" PRIu64
                          " there; copy it again",
                          where, header->bytes, room);
    return INFRT_OK;
}

/* Where in the file the payload lies: all of a weights file, else where the footer of a binary says. */
static infrt_status payload_find(const infc_model *model, const infrt_os_file *file, const char *where,
                                 uint64_t *offset, uint64_t *bytes, infrt_error *error) {
    char magic[8];
    infc_payload_footer footer;
    *offset = 0;
    *bytes = file->bytes;
    if (file->bytes < sizeof(infc_weights_header) || !infrt_os_file_read(file, 0, magic, sizeof magic))
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: %" PRIu64 " bytes are too few to hold weights", where, file->bytes);
    if (memcmp(magic, weights_magic, sizeof magic) == 0) return INFRT_OK;

    uint64_t end = file->bytes - sizeof footer;
    if (!infrt_os_file_read(file, end, &footer, sizeof footer))
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot read: %s", where, strerror(errno));
    if (memcmp(footer.magic, footer_magic, sizeof footer.magic) != 0)
        return infrt_fail(
            error, INFRT_ERR_DATA,
            "%s: no weights at its end: not a weights file, or truncated, or stripped (strip"
            " removes them); put %s.weights beside the program, or give --weights FILE",
            where, model->name);
    if (footer.offset > end || footer.bytes > end - footer.offset ||
        footer.bytes < sizeof(infc_weights_header) || footer.offset % INFC_ALIGN)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "%s: its footer places %" PRIu64 " bytes of weights at %" PRIu64
                          ", which a file of %" PRIu64 " bytes cannot hold; copy it again",
                          where, footer.bytes, footer.offset, file->bytes);
    *offset = footer.offset;
    *bytes = footer.bytes;
    return INFRT_OK;
}

static infrt_status file_open_weights(const infc_model *model, const infrt_os_file *file,
                                      const char *where, infrt_weights *out, infrt_error *error) {
    uint64_t offset, room;
    infc_weights_header header;
    infrt_status status = payload_find(model, file, where, &offset, &room, error);
    if (status != INFRT_OK) return status;
    if (!infrt_os_file_read(file, offset, &header, sizeof header))
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot read: %s", where, strerror(errno));
    status = header_check(model, &header, room, where, error);
    if (status != INFRT_OK) return status;
    out->data = infrt_os_file_map(file, offset, header.bytes, &out->map, &out->map_bytes);
    if (!out->data)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot map %" PRIu64 " bytes of weights: %s",
                          where, header.bytes, strerror(errno));
    out->bytes = header.bytes;
    out->hash = header.hash;
    return INFRT_OK;
}

static infrt_status embedded_open(const infc_model *model, infrt_weights *out, infrt_error *error) {
    const infc_weights_header *header = model->weights_embedded();
    if (!header || (uintptr_t)header % INFC_ALIGN)
        return infrt_fail(error, INFRT_ERR_INTERNAL, "%s: embedded weights at %p", model->name,
                          (const void *)header);
    infrt_status status = header_check(model, header, UINT64_MAX, "embedded weights", error);
    if (status != INFRT_OK) return status;
    *out = (infrt_weights){.data = header, .bytes = header->bytes, .hash = header->hash};
    return INFRT_OK;
}

static infrt_status path_open_weights(const infc_model *model, const char *path, const char *where,
                                      infrt_weights *out, infrt_error *error) {
    infrt_os_file file;
    infrt_status status = infrt_os_file_open(path, &file, error);
    if (status != INFRT_OK) return status;
    status = file_open_weights(model, &file, where, out, error);
    infrt_os_file_close(&file);
    return status;
}

/* NAME.weights in the program's folder: where `output.weights: file` of the spec puts them. */
static bool beside_program(const infc_model *model, char *path, size_t room) {
    infrt_os_file file;
    if (!infrt_os_program_path(path, room)) return false;
    size_t folder = (size_t)(strrchr(path, '/') + 1 - path);
    int n = snprintf(path + folder, room - folder, "%s.weights", model->name);
    if (n < 0 || (size_t)n >= room - folder || infrt_os_file_open(path, &file, NULL) != INFRT_OK)
        return false;
    infrt_os_file_close(&file);
    return true;
}

infrt_status infrt_weights_open(const infc_model *model, const char *path, infrt_weights *out,
                                infrt_error *error) {
    char beside[4096];
    *out = (infrt_weights){0};
    if (model->weights_bytes == 0) {
        if (path)
            return infrt_fail(error, INFRT_ERR_DATA, "%s: %s has no weights to replace", path, model->name);
        return INFRT_OK;
    }
    if (model->weights_bytes < sizeof(infc_weights_header))
        return infrt_fail(error, INFRT_ERR_INTERNAL, "%s: weights_bytes is %" PRIu64 ", less than its header",
                          model->name, model->weights_bytes);
    if (path) return path_open_weights(model, path, path, out, error);
    if (model->weights_embedded) return embedded_open(model, out, error);
    infrt_error own = {0};
    if (path_open_weights(model, NULL, "this program", out, &own) == INFRT_OK) return INFRT_OK;
    if (beside_program(model, beside, sizeof beside))
        return path_open_weights(model, beside, beside, out, error);
    return infrt_fail(error, own.status, "%s", own.text);
}

infrt_status infrt_weights_check_hash(const infrt_weights *weights, infrt_error *error) {
    if (!weights->data) return INFRT_OK;
    const infc_weights_header *header = weights->data;
    uint64_t hash = infrt_hash64(header + 1, (size_t)(weights->bytes - sizeof *header));
    if (hash != header->hash)
        return infrt_fail(error, INFRT_ERR_DATA,
                          "the weights are damaged: their XXH64 is %016" PRIx64
                          ", their header says %016" PRIx64,
                          hash, header->hash);
    return INFRT_OK;
}

void infrt_weights_close(infrt_weights *weights) {
    infrt_os_file_unmap(weights->map, weights->map_bytes);
    *weights = (infrt_weights){0};
}

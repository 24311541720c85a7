/* emit_pack.h - the weights of a plan as an .infw file (docs/infw.md). */
#ifndef INFC_EMIT_PACK_H
#define INFC_EMIT_PACK_H
#include "../plan/plan.h"

typedef struct infc_emit_packed {
    uint64_t file_bytes, packed_bytes;
    size_t n_packed;
} infc_emit_packed;

/* Writes `path`, not atomically: packed weights, then the pieces, borrowed. `metadata`: members of a JSON object,
 * beside which the version and the checksum stand. */
infc_status infc_emit_pack(infc_cx *cx, const infc_plan *plan, const char *version,
                           const char *metadata, const infc_pack_entry *pieces, size_t n_pieces,
                           const char *path, infc_emit_packed *out);

#endif

/* emit_prepare.h - functions that make inputs of images, sound and text: in NAME.h, NAME_prepare.c, NAME_model.c. */
#ifndef INFC_EMIT_PREPARE_H
#define INFC_EMIT_PREPARE_H
#include "emit_unit.h"

struct infc_emit_prepare {
    infc_buf code, header; /* empty when the spec has no such inputs */
    infc_buf image_infos, audio_infos, text_infos;
};

/* Whether there may be such functions: targets without an operating system get none, since they compute in
 * doubles and are as large as the kernels of a small model. */
bool infc_emit_prepares(const infc_emit_unit *u);
/* emit_prepare.c: checks that the spec's inputs fit the model, and makes u->prepare. */
infc_status infc_emit_prepare_begin(infc_emit_unit *u);
/* src/NAME_prepare.c, one of the baseline sources, if there is anything to it. */
infc_status infc_emit_prepare_write(infc_emit_unit *u);

/* What an axis of an input may be; false when it is computed from others. */
bool infc_emit_axis_sizes(const infc_emit_unit *u, int input, int axis, int64_t *min, int64_t *max,
                          int64_t *step);
/* emit_image.c, emit_audio.c, emit_text.c: append what these kinds need. */
infc_status infc_emit_image(infc_emit_unit *u, infc_emit_prepare *out);
infc_status infc_emit_audio(infc_emit_unit *u, infc_emit_prepare *out);
infc_status infc_emit_text(infc_emit_unit *u, infc_emit_prepare *out);

#endif

/* emit_prepare.h - the functions that make inputs of sound and text: in NAME.h, NAME_prepare.c, NAME_model.c. */
#ifndef INFC_EMIT_PREPARE_H
#define INFC_EMIT_PREPARE_H
#include "emit_unit.h"

struct infc_emit_prepare {
    infc_buf code, header; /* empty when the spec has no such inputs */
    infc_buf audio_infos;
};

/* emit_prepare.c: checks that the spec's inputs fit the model, and makes u->prepare. */
infc_status infc_emit_prepare_begin(infc_emit_unit *u);
/* src/NAME_prepare.c, one of the baseline sources, if there is anything to it. */
infc_status infc_emit_prepare_write(infc_emit_unit *u);

/* emit_audio.c: appends what kind audio needs. */
infc_status infc_emit_audio(infc_emit_unit *u, infc_emit_prepare *out);

#endif

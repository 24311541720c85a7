/* stayed_float.h - which products and convolutions of a quantised model are computed in f32, and why: as `report.json`
 * and `inspect` show them. */
#ifndef INFC_STAYED_FLOAT_H
#define INFC_STAYED_FLOAT_H
#include "../ir/ir.h"
#include "json.h"

/* The array "stayed_float"; notes may be null. */
void infc_stayed_float_json(infc_json *json, const infc_ir_notes *notes);
/* A line for each, after an empty one and a heading; nothing when there are none. */
void infc_stayed_float_text(infc_arena *arena, const infc_ir_notes *notes, infc_buf *out);

#endif

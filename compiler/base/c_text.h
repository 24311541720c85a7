/* c_text.h - C as its compiler reads it. */
#ifndef INFC_C_TEXT_H
#define INFC_C_TEXT_H
#include "buf.h"

/* The text with a space for each comment; the lines keep their numbers. Trigraphs are not known, and a backslash at a
 * line's end joins lines within // comments only. */
infc_bytes infc_c_without_comments(infc_arena *arena, infc_bytes text);

#endif

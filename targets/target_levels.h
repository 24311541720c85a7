/* target_levels.h - several levels of one architecture, as one target. */
#ifndef INFC_TARGET_LEVELS_H
#define INFC_TARGET_LEVELS_H
#include "target.h"

/* ARCH:LEVEL,LEVEL,..: each is the name of a target of the architecture, or what comes after ARCH and a sign in it
 * ("v3" of x86-64-v3, "dotprod" of aarch64+dotprod), "base" for ARCH itself; oldest first. One level is that target. */
infc_status infc_target_parse_levels(infc_cx *cx, infc_loc loc, const char *text, infc_target *out);

/* How target's programs run: itself, or each of its levels by itself, named "TARGET at LEVEL". */
size_t infc_target_run_count(const infc_target *target);
infc_target infc_target_run_at(infc_arena *arena, const infc_target *target, size_t i);

#endif

/* app_identity.h - what `info` tells about every model: where it comes from, what it needs. */
#ifndef INFRT_APP_IDENTITY_H
#define INFRT_APP_IDENTITY_H
#include "app_json.h"
#include "infrt.h"

/* Name, target, versions, source, license; what the CPU lacks. */
void infrt_identity_text(const infc_model *model);
void infrt_identity_json(infrt_json *json, const infc_model *model);
/* Arena, weights, steps, glibc. */
void infrt_memory_text(const infc_model *model);
void infrt_memory_json(infrt_json *json, const infc_model *model);

/* app_glibc.c: the newest glibc symbol version that this program needs, e.g. "2.34"; null: linked statically. */
const char *infrt_glibc_needed(char out[32]);

#endif

/* cache.h - content-addressed files in cx->cache_dir. Losing the cache loses only time: every failure
 * to read or write it is a miss. */
#ifndef INFC_CACHE_H
#define INFC_CACHE_H
#include "cx.h"

/* $INFC_CACHE, else $XDG_CACHE_HOME/infc, else $HOME/.cache/infc; null when none is set. */
const char *infc_cache_default_dir(infc_arena *arena);
/* Copies the entry `key` (hex) to `path`. False on a miss. */
bool infc_cache_fetch(infc_cx *cx, const char *key, const char *path);
/* Stores a copy of the file `path` as `key`. */
void infc_cache_store(infc_cx *cx, const char *key, const char *path);
/* The same of bytes; what is found is on the arena. */
bool infc_cache_get(infc_cx *cx, const char *key, infc_bytes *out);
/* The same, mapped until the arena goes: for what is too large to hold. */
bool infc_cache_map(infc_cx *cx, const char *key, infc_bytes *out);
void infc_cache_put(infc_cx *cx, const char *key, infc_bytes content);

#endif

/* arena.h - memory by phase: allocate freely, free all at once. */
#ifndef INFC_ARENA_H
#define INFC_ARENA_H
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct infc_arena infc_arena;

infc_arena *infc_arena_create(void); /* null when memory is gone */
/* With `parent`'s handler for when memory is gone; never null. Ends with `parent`, or its reset, at the latest. */
infc_arena *infc_arena_create_scratch(infc_arena *parent);
void infc_arena_destroy(infc_arena **arena); /* accepts null; runs deferred calls, newest first */
void infc_arena_reset(infc_arena *arena);    /* as destroy, but the arena stays usable */

/* Zeroed memory, aligned to `align` (a power of two). Never null: when memory is gone the handler
 * below is called, and it does not return. */
void *infc_arena_alloc(infc_arena *arena, size_t bytes, size_t align);
void infc_arena_on_no_memory(infc_arena *arena, void (*handler)(void *user), void *user);
/* Tests: the n-th allocation from now behaves as if memory were gone (0 = never). */
void infc_arena_fail_at(infc_arena *arena, size_t n);

/* Calls fn(handle) when the arena goes: the one place where OS handles are closed. */
void infc_arena_defer(infc_arena *arena, void (*fn)(void *handle), void *handle);

char *infc_arena_copy_string(infc_arena *arena, const char *text, size_t length); /* NUL added */
char *infc_arena_printf(infc_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
char *infc_arena_vprintf(infc_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), nonnull(2)));

/* `count` zeroed objects of `type`; count * size is checked for overflow. */
#define INFC_NEW(arena, type, count) \
    ((type *)infc_arena_alloc_array((arena), (count), sizeof(type), _Alignof(type)))
void *infc_arena_alloc_array(infc_arena *arena, size_t count, size_t size, size_t align);

/* Makes room for one more element in a growing array: `*items` may move; amortised constant. */
#define INFC_GROW(arena, items, n, cap) \
    ((items) = infc_arena_grow((arena), (items), (n), &(cap), sizeof *(items)))
void *infc_arena_grow(infc_arena *arena, void *items, size_t n, size_t *cap, size_t size);

#endif

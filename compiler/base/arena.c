/* A list of chunks, the newest first; allocation bumps a cursor in the newest. Objects larger than a
 * quarter chunk get a chunk of their own behind it. Under AddressSanitizer every object does, so that
 * an overrun hits a redzone instead of a neighbour. */
#include "arena.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_CHUNK ((size_t)0)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_CHUNK ((size_t)0)
#endif
#endif
#ifndef ARENA_CHUNK
#define ARENA_CHUNK ((size_t)256 << 10)
#endif

typedef struct chunk {
    struct chunk *next;
    size_t used, bytes; /* of what follows the header */
} chunk;

typedef struct deferred {
    struct deferred *next;
    void (*fn)(void *handle);
    void *handle;
} deferred;

struct infc_arena {
    chunk *chunks;
    deferred *calls; /* newest first */
    void (*no_memory)(void *user);
    void *no_memory_user;
    size_t fail_at;                /* 0: never; else counts down to 1 */
    infc_arena *parent, *children; /* scratch arenas: they end with their parent at the latest */
    infc_arena *next, **link;      /* the next child of the same parent; what points to this one */
};

infc_arena *infc_arena_create(void) { return calloc(1, sizeof(infc_arena)); }

static void unlink_child(infc_arena *arena) {
    *arena->link = arena->next;
    if (arena->next) arena->next->link = arena->link;
}

void infc_arena_reset(infc_arena *arena) {
    while (arena->children) { /* left by a jump out of their user when memory was gone */
        infc_arena *child = arena->children;
        infc_arena_destroy(&child);
    }
    while (arena->calls) {
        deferred *call = arena->calls;
        arena->calls = call->next; /* first, so that a call may itself defer */
        call->fn(call->handle);
    }
    while (arena->chunks) {
        chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

void infc_arena_destroy(infc_arena **arena) {
    if (!arena || !*arena) return;
    infc_arena_reset(*arena);
    if ((*arena)->parent) unlink_child(*arena);
    free(*arena);
    *arena = NULL;
}

void infc_arena_on_no_memory(infc_arena *arena, void (*handler)(void *user), void *user) {
    arena->no_memory = handler;
    arena->no_memory_user = user;
}

void infc_arena_fail_at(infc_arena *arena, size_t n) { arena->fail_at = n; }

static _Noreturn void no_memory(infc_arena *arena) {
    if (arena->no_memory) arena->no_memory(arena->no_memory_user);
    abort();
}

infc_arena *infc_arena_create_scratch(infc_arena *parent) {
    infc_arena *arena = infc_arena_create();
    if (!arena) no_memory(parent);
    arena->no_memory = parent->no_memory;
    arena->no_memory_user = parent->no_memory_user;
    arena->parent = parent;
    arena->next = parent->children;
    arena->link = &parent->children;
    if (arena->next) arena->next->link = &arena->next;
    parent->children = arena;
    return arena;
}

static char *chunk_take(chunk *c, size_t bytes, size_t align) {
    uintptr_t base = (uintptr_t)(c + 1);
    size_t at = ((base + c->used + align - 1) & ~(uintptr_t)(align - 1)) - base;
    if (at > c->bytes || bytes > c->bytes - at) return NULL;
    c->used = at + bytes;
    return (char *)(c + 1) + at;
}

/* A chunk for `bytes` more; the newest chunk stays in front when it still has room worth keeping. */
static chunk *chunk_add(infc_arena *arena, size_t bytes, size_t align) {
    bool own = bytes + align > ARENA_CHUNK / 4;
    size_t room = own ? bytes + align - 1 : ARENA_CHUNK;
    chunk *c = calloc(1, sizeof *c + room);
    if (!c) no_memory(arena);
    c->bytes = room;
    if (own && arena->chunks) {
        c->next = arena->chunks->next;
        arena->chunks->next = c;
    } else {
        c->next = arena->chunks;
        arena->chunks = c;
    }
    return c;
}

void *infc_arena_alloc(infc_arena *arena, size_t bytes, size_t align) {
    if (arena->fail_at && --arena->fail_at == 0) no_memory(arena);
    if (bytes > PTRDIFF_MAX / 2 || align > PTRDIFF_MAX / 4) no_memory(arena);
    char *at = arena->chunks ? chunk_take(arena->chunks, bytes, align) : NULL;
    if (!at) at = chunk_take(chunk_add(arena, bytes, align), bytes, align);
    return at;
}

void *infc_arena_alloc_array(infc_arena *arena, size_t count, size_t size, size_t align) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) no_memory(arena);
    return infc_arena_alloc(arena, bytes, align);
}

void *infc_arena_grow(infc_arena *arena, void *items, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return items;
    size_t grown = *cap ? *cap + *cap : 8;
    if (grown < *cap) no_memory(arena);
    void *moved = infc_arena_alloc_array(arena, grown, size, _Alignof(max_align_t));
    if (n) memcpy(moved, items, n * size);
    *cap = grown;
    return moved;
}

void infc_arena_defer(infc_arena *arena, void (*fn)(void *handle), void *handle) {
    deferred *call = INFC_NEW(arena, deferred, 1);
    *call = (deferred){.next = arena->calls, .fn = fn, .handle = handle};
    arena->calls = call;
}

char *infc_arena_copy_string(infc_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX) no_memory(arena);
    char *copy = infc_arena_alloc(arena, length + 1, 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *infc_arena_vprintf(infc_arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = infc_arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1, 1);
    if (length > 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *infc_arena_printf(infc_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = infc_arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

#include "pieces.h"
#include "digest.h"
#include "file.h"
#include "hash.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PART = 1 << 20 };

void infc_pieces_add_bytes(infc_pieces *pieces, infc_bytes bytes) {
    INFC_GROW(pieces->arena, pieces->items, pieces->n, pieces->cap);
    pieces->items[pieces->n++] = (infc_piece){.bytes = bytes};
}

void infc_pieces_add_file(infc_pieces *pieces, const char *path) {
    INFC_GROW(pieces->arena, pieces->items, pieces->n, pieces->cap);
    pieces->items[pieces->n++] = (infc_piece){.path = path};
}

/* ---- the thread ---------------------------------------------------------------------------------------- */

struct infc_digesting {
    pthread_t thread;
    bool runs, whole; /* whole: nothing was missing */
    atomic_bool stop;
    infc_bytes secret;
    const infc_piece *pieces;
    size_t n, piece; /* the one that is read */
    size_t done;     /* of a piece of bytes */
    int fd;          /* of a piece that is a file; -1: not open */
    uint64_t bytes;
    uint8_t name[16], digest[32];
    uint8_t part[PART];
};

/* The next bytes of the piece, as many as fit; 0 at its end, -1 on errors. */
static ssize_t read_piece(infc_digesting *d, uint8_t *to, size_t n) {
    const infc_piece *piece = &d->pieces[d->piece];
    if (!piece->path) {
        const size_t left = piece->bytes.len - d->done, here = left < n ? left : n;
        if (here) memcpy(to, piece->bytes.ptr + d->done, here);
        d->done += here;
        return (ssize_t)here;
    }
    if (d->fd < 0) d->fd = open(piece->path, O_RDONLY | O_CLOEXEC);
    if (d->fd < 0) return -1;
    ssize_t got;
    do got = read(d->fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static void next_piece(infc_digesting *d) {
    if (d->fd >= 0) close(d->fd);
    d->fd = -1;
    d->done = 0;
    d->piece++;
}

/* Whole parts but for the last one; none when it is to stop. */
static infc_bytes next_part(void *user) {
    infc_digesting *d = user;
    size_t n = 0;
    while (n < PART && d->piece < d->n) {
        const ssize_t got = atomic_load(&d->stop) ? -1 : read_piece(d, d->part + n, PART - n);
        if (got < 0) {
            d->whole = false;
            n = 0;
            d->piece = d->n;
        } else if (got == 0) next_piece(d);
        else n += (size_t)got;
    }
    d->bytes += n;
    return (infc_bytes){d->part, n};
}

static void *work(void *user) {
    infc_digesting *d = user;
    infc_hash_parts(next_part, d, d->secret, d->name, d->digest);
    if (d->fd >= 0) close(d->fd);
    return NULL;
}

static void join(infc_digesting *d, bool stop) {
    if (!d->runs) return;
    atomic_store(&d->stop, stop);
    pthread_join(d->thread, NULL);
    d->runs = false;
}

/* When the compile fails meanwhile. */
static void discard(void *handle) { join(handle, true); }

static infc_digesting *begin(infc_cx *cx, const infc_pieces *pieces) {
    infc_bytes secret;
    if (!infc_digest_secret(cx, &secret)) return NULL;
    infc_digesting *d = INFC_NEW(cx->arena, infc_digesting, 1);
    infc_arena_defer(cx->arena, discard, d);
    d->whole = true;
    d->fd = -1;
    d->secret = secret;
    d->pieces = pieces->items;
    d->n = pieces->n;
    d->runs = pthread_create(&d->thread, NULL, work, d) == 0;
    return d;
}

/* ---- pieces.h ---------------------------------------------------------------------------------------------- */

infc_status infc_pieces_write(infc_cx *cx, const infc_pieces *pieces, const char *path,
                              const char *like, unsigned mode, infc_digesting **out_digesting) {
    infc_file_writer file;
    *out_digesting = NULL;
    INFC_TRY(infc_file_writer_open(cx, path, like, mode, &file));
    infc_digesting *digesting = begin(cx, pieces);
    for (size_t i = 0; i < pieces->n; i++) {
        const infc_piece *piece = &pieces->items[i];
        if (piece->path) infc_file_writer_copy(&file, piece->path);
        else infc_file_writer_put(&file, piece->bytes.ptr, piece->bytes.len);
    }
    const infc_status status = infc_file_writer_close(&file);
    if (digesting && file.shared) join(digesting, true); /* the earlier compile digested it */
    else *out_digesting = digesting;
    return status;
}

void infc_digesting_end(infc_cx *cx, infc_digesting *digesting) {
    if (!digesting || !digesting->runs) return;
    join(digesting, false);
    if (digesting->whole)
        infc_digest_keep(cx, digesting->name, digesting->bytes, digesting->digest);
}

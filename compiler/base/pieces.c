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

typedef struct lane { /* one of the files */
    const infc_pieces *pieces;
    bool whole; /* nothing was missing */
    atomic_bool stop;
    size_t piece; /* the one that is read */
    size_t done;  /* of a piece of bytes */
    int fd;       /* of a piece that is a file; -1: not open */
    uint64_t bytes;
    infc_message message;
    uint8_t part[PART];
} lane;

typedef struct digesting {
    pthread_t thread;
    bool runs;
    infc_bytes secret;
    lane *lanes;
    size_t n;
} digesting;

/* The next bytes of the piece, as many as fit; 0 at its end, -1 on errors. */
static ssize_t read_piece(lane *l, uint8_t *to, size_t n) {
    const infc_piece *piece = &l->pieces->items[l->piece];
    if (!piece->path) {
        const size_t left = piece->bytes.len - l->done, here = left < n ? left : n;
        if (here) memcpy(to, piece->bytes.ptr + l->done, here);
        l->done += here;
        return (ssize_t)here;
    }
    if (l->fd < 0) l->fd = open(piece->path, O_RDONLY | O_CLOEXEC);
    if (l->fd < 0) return -1;
    ssize_t got;
    do got = read(l->fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static void next_piece(lane *l) {
    if (l->fd >= 0) close(l->fd);
    l->fd = -1;
    l->done = 0;
    l->piece++;
}

/* Whole parts but for the last one; none when it is to stop. */
static infc_bytes next_part(void *user) {
    lane *l = user;
    size_t n = 0;
    while (n < PART && l->piece < l->pieces->n) {
        const ssize_t got = atomic_load(&l->stop) ? -1 : read_piece(l, l->part + n, PART - n);
        if (got < 0) {
            l->whole = false;
            n = 0;
            next_piece(l);
            l->piece = l->pieces->n;
        } else if (got == 0) next_piece(l);
        else n += (size_t)got;
    }
    l->bytes += n;
    return (infc_bytes){l->part, n};
}

static void *work(void *user) {
    digesting *d = user;
    infc_message messages[INFC_MESSAGES];
    for (size_t at = 0; at < d->n; at += INFC_MESSAGES) {
        const size_t n = d->n - at < INFC_MESSAGES ? d->n - at : INFC_MESSAGES;
        for (size_t i = 0; i < n; i++)
            messages[i] = (infc_message){.next = next_part, .user = &d->lanes[at + i]};
        infc_hash_messages(messages, n, d->secret);
        for (size_t i = 0; i < n; i++) d->lanes[at + i].message = messages[i];
    }
    return NULL;
}

static void begin(infc_cx *cx, const infc_pieces_file *files, size_t n, digesting *d) {
    *d = (digesting){.n = n};
    if (n == 0 || !infc_digest_secret(cx, &d->secret)) return;
    d->lanes = INFC_NEW(cx->arena, lane, n);
    for (size_t i = 0; i < n; i++) {
        d->lanes[i].pieces = &files[i].pieces;
        d->lanes[i].whole = true;
        d->lanes[i].fd = -1;
    }
    d->runs = pthread_create(&d->thread, NULL, work, d) == 0;
}

static void end(infc_cx *cx, const infc_pieces_file *files, digesting *d) {
    if (!d->runs) return;
    pthread_join(d->thread, NULL);
    for (size_t i = 0; i < d->n; i++) {
        const lane *l = &d->lanes[i];
        if (!l->whole) continue;
        infc_digest_keep(cx, l->message.keyed, l->bytes, l->message.sha256);
        infc_digest_note(cx, files[i].path, l->bytes, infc_to_hex(cx->arena, l->message.sha256, 32));
    }
}

/* ---- pieces.h ---------------------------------------------------------------------------------------------- */

static infc_status write_one(infc_cx *cx, const infc_pieces_file *f, bool *out_shared) {
    infc_file_writer file;
    *out_shared = false;
    INFC_TRY(infc_file_writer_open(cx, f->path, f->like, f->mode, &file));
    for (size_t i = 0; i < f->pieces.n; i++) {
        const infc_piece *piece = &f->pieces.items[i];
        if (piece->path) infc_file_writer_copy(&file, piece->path);
        else infc_file_writer_put(&file, piece->bytes.ptr, piece->bytes.len);
    }
    const infc_status status = infc_file_writer_close(&file);
    *out_shared = file.shared;
    return status;
}

infc_status infc_pieces_write(infc_cx *cx, const infc_pieces_file *files, size_t n) {
    digesting d;
    infc_status status = INFC_OK;
    begin(cx, files, n, &d);
    for (size_t i = 0; i < n; i++) {
        bool shared = false;
        if (status == INFC_OK) status = write_one(cx, &files[i], &shared);
        if (d.runs && (shared || status != INFC_OK)) /* shared: the earlier compile digested it */
            atomic_store(&d.lanes[i].stop, true);
    }
    end(cx, files, &d);
    return status;
}

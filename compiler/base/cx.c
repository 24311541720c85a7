#include "cx.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

infc_status infc_cx_init(infc_cx *cx) {
    *cx = (infc_cx){.arena = infc_arena_create()};
    return cx->arena ? INFC_OK : INFC_ERR_NO_MEMORY;
}

void infc_cx_deinit(infc_cx *cx) {
    infc_arena_destroy(&cx->arena);
    *cx = (infc_cx){0};
}

static const char *keep(infc_cx *cx, const char *text) {
    return text ? infc_arena_copy_string(cx->arena, text, strlen(text)) : NULL;
}

/* How many bytes the character takes that stands there, 0 where it is none in UTF-8. */
static size_t character(const char *text, size_t left) {
    for (size_t n = 1; n <= 4 && n <= left; n++)
        if (infc_text_is_utf8(text, n)) return n;
    return 0;
}

/* What files hold may be in messages: bytes that are not UTF-8 are shown as \xNN. */
static const char *shown(infc_cx *cx, const char *text) {
    const size_t length = text ? strlen(text) : 0;
    if (!text || infc_text_is_utf8(text, length)) return text;
    infc_buf out = {.arena = cx->arena};
    for (size_t at = 0, n; at < length; at += n ? n : 1) {
        n = character(text + at, length - at);
        if (n) infc_buf_put(&out, text + at, n);
        else infc_buf_printf(&out, "\\x%02x", (unsigned char)text[at]);
    }
    return infc_buf_str(&out);
}

static void record(infc_cx *cx, infc_diag diag) {
    diag.loc.file = keep(cx, diag.loc.file); /* the caller's may live in a scratch arena */
    diag.loc.node = shown(cx, keep(cx, diag.loc.node));
    diag.text = shown(cx, diag.text);
    INFC_GROW(cx->arena, cx->diags, cx->n_diags, cx->cap_diags);
    cx->diags[cx->n_diags++] = diag;
    if (diag.severity == INFC_ERROR) cx->n_errors++;
}

static void say(infc_cx *cx, infc_diag diag, const char *format, va_list args) {
    diag.text = infc_arena_vprintf(cx->arena, format, args);
    record(cx, diag);
}

infc_status infc_fail(infc_cx *cx, infc_status status, infc_loc loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(cx, (infc_diag){INFC_ERROR, status, loc, NULL}, format, args);
    va_end(args);
    return status;
}

void infc_warn(infc_cx *cx, infc_loc loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(cx, (infc_diag){INFC_WARNING, INFC_OK, loc, NULL}, format, args);
    va_end(args);
}

void infc_note(infc_cx *cx, infc_loc loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(cx, (infc_diag){INFC_NOTE, INFC_OK, loc, NULL}, format, args);
    va_end(args);
}

infc_status infc_diags_status(const infc_cx *cx, size_t mark) {
    for (size_t i = mark; i < cx->n_diags; i++) {
        if (cx->diags[i].severity == INFC_ERROR) return cx->diags[i].status;
    }
    return INFC_OK;
}

void infc_diags_repeat(infc_cx *cx, const infc_cx *from) {
    for (size_t i = 0; i < from->n_diags; i++) {
        infc_diag diag = from->diags[i];
        diag.text = keep(cx, diag.text);
        record(cx, diag);
    }
}

static void put_file(const infc_loc *loc, infc_buf *out) {
    if (!loc->file) return;
    infc_buf_puts(out, loc->file);
    if (loc->line > 0) infc_buf_printf(out, ":%d", loc->line);
    if (loc->line > 0 && loc->col > 0) infc_buf_printf(out, ":%d", loc->col);
    infc_buf_puts(out, ": ");
}

const char *infc_diags_take(infc_cx *cx, size_t mark) {
    infc_buf first = {.arena = cx->arena};
    size_t kept = mark;
    for (size_t i = mark; i < cx->n_diags; i++) {
        const infc_diag d = cx->diags[i];
        if (d.severity != INFC_ERROR) {
            cx->diags[kept++] = d;
            continue;
        }
        cx->n_errors--;
        if (first.len) continue;
        put_file(&d.loc, &first);
        if (d.loc.node) infc_buf_printf(&first, "%s: ", d.loc.node);
        infc_buf_puts(&first, d.text);
    }
    cx->n_diags = kept;
    return infc_buf_str(&first);
}

void infc_diags_place(infc_cx *cx, size_t mark, infc_loc loc) {
    for (size_t i = mark; i < cx->n_diags; i++) {
        infc_diag *d = &cx->diags[i];
        if (d->severity != INFC_ERROR || d->loc.file || d->loc.node) continue;
        d->loc = loc;
        d->loc.file = keep(cx, loc.file);
        d->loc.node = shown(cx, keep(cx, loc.node));
    }
}

void infc_diags_excuse(infc_cx *cx, size_t mark, const char *why) {
    for (size_t i = mark; i < cx->n_diags; i++) {
        infc_diag *d = &cx->diags[i];
        if (d->severity != INFC_ERROR) continue;
        *d = (infc_diag){INFC_WARNING, INFC_OK, d->loc, infc_arena_printf(cx->arena, "%s: %s", why, d->text)};
        cx->n_errors--;
    }
}

static const char *severity_name(infc_severity severity) {
    return severity == INFC_ERROR ? "error" : severity == INFC_WARNING ? "warning" : "note";
}

void infc_diags_text(const infc_cx *cx, infc_buf *out) {
    for (size_t i = 0; i < cx->n_diags; i++) {
        const infc_diag *d = &cx->diags[i];
        put_file(&d->loc, out);
        infc_buf_printf(out, "%s: ", severity_name(d->severity));
        if (d->loc.node) infc_buf_printf(out, "%s: ", d->loc.node);
        infc_buf_printf(out, "%s\n", d->text);
    }
}

static void json_field(infc_buf *out, const char *name, const char *value) {
    if (!value) return;
    infc_buf_printf(out, ", \"%s\": ", name);
    infc_buf_json_string(out, value);
}

void infc_diags_json(const infc_cx *cx, infc_buf *out) {
    infc_buf_puts(out, "[");
    for (size_t i = 0; i < cx->n_diags; i++) {
        const infc_diag *d = &cx->diags[i];
        infc_buf_printf(out, "%s\n  {\"severity\": \"%s\"", i ? "," : "", severity_name(d->severity));
        json_field(out, "file", d->loc.file);
        if (d->loc.line > 0) infc_buf_printf(out, ", \"line\": %d", d->loc.line);
        if (d->loc.line > 0 && d->loc.col > 0) infc_buf_printf(out, ", \"column\": %d", d->loc.col);
        json_field(out, "node", d->loc.node);
        json_field(out, "text", d->text);
        infc_buf_puts(out, "}");
    }
    infc_buf_puts(out, cx->n_diags ? "\n]" : "]");
}

void infc_progress(infc_cx *cx, const char *format, ...) {
    if (!cx->progress) return;
    char text[256]; /* one terminal line; not kept, so not on the arena */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cx->progress(cx->progress_user, text);
}

void infc_milestone(infc_cx *cx, const char *format, ...) {
    if (!cx->milestone) return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cx->milestone(cx->progress_user, text);
}

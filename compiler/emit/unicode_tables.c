#include "unicode_tables.h"
#include "../../runtime/prepare/wordpiece.h"
#include <utf8proc.h>

enum { LAST_CODE_POINT = 0x10ffff, MOST_DECOMPOSED = 8 };

static utf8proc_category_t category(uint32_t c) { return utf8proc_category((utf8proc_int32_t)c); }

static bool is_control(uint32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return false;
    const utf8proc_category_t k = category(c);
    return c == 0xfffd || k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO;
}

static bool is_space(uint32_t c) {
    const utf8proc_category_t k = category(c);
    return (c >= 9 && c <= 13) || c == 0x85 || k == UTF8PROC_CATEGORY_ZS ||
           k == UTF8PROC_CATEGORY_ZL || k == UTF8PROC_CATEGORY_ZP;
}

static bool is_punctuation(uint32_t c) {
    const utf8proc_category_t k = category(c);
    const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                       (c >= 123 && c <= 126);
    return ascii || (k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO);
}

static uint32_t class_of(const infc_wordpiece *w, uint32_t c) {
    if (w->clean && is_control(c)) return INFRT_CHAR_DROPPED;
    if (is_space(c)) return INFRT_CHAR_SPACE;
    if (w->strip_accents && category(c) == UTF8PROC_CATEGORY_MN) return INFRT_CHAR_DROPPED;
    return is_punctuation(c) ? INFRT_CHAR_PUNCTUATION : 0;
}

/* What c becomes; returns how many. */
static size_t mapped(const infc_wordpiece *w, uint32_t c, uint32_t out[MOST_DECOMPOSED]) {
    utf8proc_int32_t parts[MOST_DECOMPOSED] = {(utf8proc_int32_t)c};
    utf8proc_ssize_t n = 1;
    size_t kept = 0;
    int boundary = 0;
    if (w->lowercase && !w->strip_accents && c == 0x130) { /* the one that becomes two in lower case */
        out[0] = 'i', out[1] = 0x307;
        return 2;
    }
    if (w->strip_accents)
        n = utf8proc_decompose_char((utf8proc_int32_t)c, parts, MOST_DECOMPOSED, UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t i = 0; i < n && i < MOST_DECOMPOSED; i++) {
        if (w->strip_accents && category((uint32_t)parts[i]) == UTF8PROC_CATEGORY_MN) continue;
        out[kept++] = (uint32_t)(w->lowercase ? utf8proc_tolower(parts[i]) : parts[i]);
    }
    return kept;
}

static void add_class(infc_unicode_tables *t, uint32_t c, uint32_t class) {
    if (class == 0) return;
    if (t->n_ranges && t->last[t->n_ranges - 1] + 1 == c && t->classes[t->n_ranges - 1] == class) {
        t->last[t->n_ranges - 1] = c;
        return;
    }
    t->first[t->n_ranges] = t->last[t->n_ranges] = c;
    t->classes[t->n_ranges++] = class;
}

infc_unicode_tables infc_unicode_tables_make(infc_arena *arena, const infc_wordpiece *w) {
    enum { ROOM = 1 << 14 }; /* Unicode 15: about 700 ranges, 3,500 maps */
    infc_unicode_tables t = {.first = INFC_NEW(arena, uint32_t, ROOM),
                             .last = INFC_NEW(arena, uint32_t, ROOM),
                             .classes = INFC_NEW(arena, uint32_t, ROOM),
                             .from = INFC_NEW(arena, uint32_t, ROOM),
                             .maps = INFC_NEW(arena, uint32_t, ROOM + 1),
                             .to = INFC_NEW(arena, uint32_t, ROOM *MOST_DECOMPOSED)};
    for (uint32_t c = 0; c <= LAST_CODE_POINT && t.n_ranges < ROOM && t.n_maps < ROOM; c++) {
        if ((c >= 0xd800 && c < 0xe000) || (c >= 0xac00 && c < 0xac00 + 11172)) continue;
        uint32_t out[MOST_DECOMPOSED];
        const uint32_t class = class_of(w, c);
        add_class(&t, c, class);
        if (class & INFRT_CHAR_DROPPED) continue;
        const size_t n = mapped(w, c, out);
        if (n == 1 && out[0] == c) continue;
        t.from[t.n_maps] = c;
        t.maps[t.n_maps++] = (uint32_t)t.n_to;
        for (size_t i = 0; i < n; i++) t.to[t.n_to++] = out[i];
        t.maps[t.n_maps] = (uint32_t)t.n_to;
    }
    return t;
}

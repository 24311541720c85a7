#include "bpe_parts.h"
#include <string.h>
#include <utf8proc.h>

static unsigned class_of(uint32_t c) {
    const utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    const bool separator = k >= UTF8PROC_CATEGORY_ZS && k <= UTF8PROC_CATEGORY_ZP;
    if (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) return INFRT_CLASS_LETTER;
    if (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO) return INFRT_CLASS_NUMBER;
    return separator || (c >= 9 && c <= 13) || c == 0x85 ? INFRT_CLASS_SPACE : INFRT_CLASS_OTHER;
}

void infc_bpe_classes(infc_arena *arena, infrt_tokenizer *t) {
    enum { PAGES = 0x1100, PAGE = 64 };
    unsigned char *pages = INFC_NEW(arena, unsigned char, PAGES),
                  *classes = INFC_NEW(arena, unsigned char, PAGE * 256);
    unsigned n = 0; /* Unicode 15 has about 170 different pages */
    for (uint32_t page = 0; page < PAGES; page++) {
        unsigned char made[PAGE] = {0};
        unsigned same = 0;
        for (uint32_t i = 0; i < 256; i++)
            made[i / 4] |= (unsigned char)(class_of(256 * page + i) << (2 * (i % 4)));
        while (same < n && memcmp(classes + PAGE * same, made, PAGE) != 0) same++;
        if (same == 256) same = 0; /* no more room: as the first */
        else if (same == n) memcpy(classes + PAGE * n++, made, PAGE);
        pages[page] = (unsigned char)same;
    }
    t->pages = pages, t->classes = classes;
}

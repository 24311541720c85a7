/* adapter_base.c - whether an adapter says that it was made for another model. Shapes that match say nothing: models of
 * one family share them. Names are compared without what is around them ("owner/name", "name-Q4_K_M.gguf"), by their
 * letters and digits. */
#include "adapters.h"
#include <string.h>

enum { ROOM = 256, SHORTEST = 3 /* what a shorter name is part of means nothing */ };

/* Letters and digits of the last part of a path, in lower case. */
static void plain(const char *path, char out[ROOM]) {
    size_t n = strlen(path), from, used = 0;
    while (n > 0 && (path[n - 1] == '/' || path[n - 1] == '\\')) n--;
    for (from = n; from > 0 && path[from - 1] != '/' && path[from - 1] != '\\';) from--;
    for (; from < n && used + 1 < ROOM; from++) {
        const char c = path[from];
        if (c >= 'A' && c <= 'Z') out[used++] = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out[used++] = c;
    }
    out[used] = 0;
}

static bool alike(const char *base, const char *own) {
    char name[ROOM];
    plain(own, name);
    return strstr(name, base) || (strlen(name) >= SHORTEST && strstr(base, name));
}

bool infrt_adapter_base_is_foreign(const infc_model *model, const char *base) {
    char name[ROOM];
    plain(base, name);
    if (strlen(name) < SHORTEST) return false;
    return !alike(name, model->name) && !(model->source && alike(name, model->source));
}

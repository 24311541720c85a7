/* compare_junit.c - a test case per target, in the XML that build servers read. */
#include "compare.h"
#include <string.h>

void infc_compare_escape(infc_buf *out, const char *text) {
    for (; *text; text++) {
        const char *entity = *text == '&'   ? "&amp;"
                             : *text == '<' ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity) infc_buf_puts(out, entity);
        else if ((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t')
            infc_buf_put(out, text, 1);
    }
}

static void put_element(infc_buf *out, const char *name, const char *text) {
    infc_buf_printf(out, "    <%s message=\"", name);
    infc_compare_escape(out, text);
    infc_buf_puts(out, "\"/>\n");
}

/* Faults are of the target that they begin with; its name may have a colon in it, before a level. */
static bool is_of(const char *fault, const char *target) {
    const size_t n = strlen(target);
    return strncmp(fault, target, n) == 0 && fault[n] == ':' && fault[n + 1] == ' ';
}

void infc_compare_junit(const infc_comparison *c, infc_buf *out) {
    const char **faults;
    const size_t n = infc_compare_faults(c, &faults);
    size_t failed = 0, skipped = 0;
    infc_buf cases = {.arena = c->cx->arena};
    for (size_t i = 0; i < c->n; i++) {
        const infc_compared *r = &c->results[i];
        bool wrong = false;
        infc_buf_puts(&cases, "  <testcase classname=\"");
        infc_compare_escape(&cases, c->model);
        infc_buf_puts(&cases, "\" name=\"");
        infc_compare_escape(&cases, r->target.name);
        infc_buf_puts(&cases, "\">\n");
        for (size_t k = 0; k < n; k++) {
            if (!is_of(faults[k], r->target.name)) continue;
            put_element(&cases, "failure", faults[k]);
            wrong = true;
        }
        if (!wrong && r->agreement == INFC_NOT_RUN) put_element(&cases, "skipped", r->why);
        skipped += !wrong && r->agreement == INFC_NOT_RUN;
        failed += wrong;
        infc_buf_puts(&cases, "  </testcase>\n");
    }
    for (size_t k = 0; k < n; k++) { /* of targets that are required and not there */
        bool shown = false;
        for (size_t i = 0; i < c->n; i++) shown |= is_of(faults[k], c->results[i].target.name);
        if (shown) continue;
        infc_buf_puts(&cases, "  <testcase classname=\"compare\" name=\"required\">\n");
        put_element(&cases, "failure", faults[k]);
        infc_buf_puts(&cases, "  </testcase>\n");
        failed++;
    }
    infc_buf_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"infc compare %s\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n",
        c->model, c->n, failed, skipped);
    infc_buf_puts(out, infc_buf_str(&cases));
    infc_buf_puts(out, "</testsuite>\n");
}

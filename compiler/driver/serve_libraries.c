#include "serve_libraries.h"
#include "../base/file.h"
#include "../base/subprocess.h"
#include "../emit/emit.h"
#include <string.h>

/* In the order that a linker needs them; the first N_TLS for serve.tls alone. */
enum { N_TLS = 3 };
static const char *const names[INFC_SERVE_LIBRARIES] = {"libevent_openssl.a", "libssl.a",
                                                        "libcrypto.a", "libevent_core.a", "libmd.a"};

/* What the compiler would link for the name, or null. */
static infc_status library_find(infc_cx *cx, const infc_toolchain *tools, const char *name, const char **out) {
    infc_words words = infc_toolchain_words(cx, tools);
    infc_words_add(&words, infc_arena_printf(cx->arena, "-print-file-name=%s", name));
    infc_job job = {.argv = infc_words_argv(&words)};
    *out = NULL;
    INFC_TRY(infc_jobs_run(cx, &job, 1, 1));
    const char *path = infc_arena_copy_string(cx->arena, job.output, strcspn(job.output, "\r\n"));
    if (job.exit_code == 0 && *path == '/' && infc_file_exists(path)) *out = path;
    return INFC_OK;
}

infc_status infc_serve_libraries_find(infc_cx *cx, const infc_spec *spec, const infc_target *target,
                                      const infc_toolchain *tools, infc_serve_libraries *out) {
    *out = (infc_serve_libraries){0};
    if (tools->cross && spec->serve.asked)
        return infc_fail(cx, INFC_ERR_UNSUPPORTED, spec->serve.loc,
                         "serve: %s is of another architecture than this machine, and binaries for "
                         "those have no server; "
                         "remove the key, or compile it there",
                         target->name);
    if ((spec->serve.tls_cert || spec->serve.tls_key) && !spec->serve.tls)
        return infc_fail(cx, INFC_ERR_SPEC, spec->serve.loc,
                         "serve: tls_cert and tls_key need a binary with TLS: add tls: true");
    const size_t first = spec->serve.tls ? 0 : N_TLS, most = INFC_SERVE_LIBRARIES - first;
    for (size_t i = 0; i < most && !tools->cross && out->n == i; i++) {
        const char *name = names[first + i];
        INFC_TRY(library_find(cx, tools, name, &out->paths[i]));
        out->n += out->paths[i] != NULL;
        if (!out->paths[i] && spec->serve.asked)
            return infc_fail(cx, INFC_ERR_TOOLCHAIN, spec->serve.loc,
                             "serve: %s does not find %s; apt-get install -y %s", tools->cc.label,
                             name, spec->serve.tls ? INFC_TLS_PACKAGES : INFC_SERVE_PACKAGES);
    }
    if (out->n < most) out->n = 0;
    return INFC_OK;
}

/* app_checks.c - reports of checks; those of CPU and weights, which every model has. */
#include "app_checks.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void infrt_checks_begin(infrt_checks *checks, const infc_model *model, bool as_json) {
    *checks = (infrt_checks){.json = {.out = stdout}, .as_json = as_json, .all_ok = true};
    if (!as_json) return;
    infrt_json_open(&checks->json, NULL, '{');
    infrt_json_string(&checks->json, "model", model->name);
    infrt_json_open(&checks->json, "checks", '[');
}

void infrt_check_report(infrt_checks *checks, bool ok, const char *name, const char *format, ...) {
    char detail[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    checks->all_ok = checks->all_ok && ok;
    if (!checks->as_json) {
        printf("%-4s %-12s %s\n", ok ? "ok" : "FAIL", name, detail);
        return;
    }
    infrt_json_open(&checks->json, NULL, '{');
    infrt_json_string(&checks->json, "name", name);
    infrt_json_bool(&checks->json, "ok", ok);
    infrt_json_string(&checks->json, "detail", detail);
    infrt_json_close(&checks->json, '}');
}

infrt_status infrt_checks_end(infrt_checks *checks) {
    if (checks->as_json) {
        infrt_json_close(&checks->json, ']');
        infrt_json_bool(&checks->json, "ok", checks->all_ok);
        infrt_json_close(&checks->json, '}');
    }
    return checks->all_ok ? INFRT_OK : INFRT_ERR_CHECK;
}

bool infrt_check_cpu(infrt_checks *checks, const infc_model *model) {
    infrt_error error = {0};
    bool ok = infrt_model_check(model, &error) == INFRT_OK;
    if (ok) infrt_check_report(checks, true, "cpu", "has what %s needs", model->target);
    else infrt_check_report(checks, false, "cpu", "%.400s", error.text);
    return ok;
}

bool infrt_check_weights(infrt_checks *checks, const infc_model *model, const char *path, infrt_weights *out) {
    infrt_error error = {0};
    bool ok = infrt_weights_open(model, path, out, &error) == INFRT_OK &&
              infrt_weights_check_hash(out, &error) == INFRT_OK;
    if (!ok) infrt_check_report(checks, false, "weights", "%.400s", error.text);
    else if (!path && out->hash != model->weights_hash)
        infrt_check_report(checks, ok = false, "weights",
                           "xxh64 %016" PRIx64 ", but the code was compiled with %016" PRIx64,
                           out->hash, model->weights_hash);
    else
        infrt_check_report(checks, true, "weights", "%" PRIu64 " bytes, xxh64 %016" PRIx64,
                           out->bytes, out->hash);
    return ok;
}

infrt_status infrt_weights_readable(const char *path, infrt_error *error) {
    FILE *file = path ? fopen(path, "r") : NULL;
    if (path && !file)
        return infrt_fail(error, INFRT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (file) fclose(file);
    return INFRT_OK;
}

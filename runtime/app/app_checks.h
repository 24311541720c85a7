/* app_checks.h - what `verify` reports: one line, or one object, for each check. */
#ifndef INFRT_APP_CHECKS_H
#define INFRT_APP_CHECKS_H
#include "app_json.h"
#include "infrt.h"

typedef struct infrt_checks {
    infrt_json json;
    bool as_json, all_ok;
} infrt_checks;

void infrt_checks_begin(infrt_checks *checks, const infc_model *model, bool as_json);
void infrt_check_report(infrt_checks *checks, bool ok, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* INFRT_ERR_CHECK unless all were fine. */
infrt_status infrt_checks_end(infrt_checks *checks);

/* Whether this CPU has what the model needs. */
bool infrt_check_cpu(infrt_checks *checks, const infc_model *model);
/* Opens the weights, of `path` if that is not null, and reads them all. `out` is to be closed in any case. */
bool infrt_check_weights(infrt_checks *checks, const infc_model *model, const char *path, infrt_weights *out);
/* Weights that are not there are no weights that do not hold: INFRT_ERR_IO. Null is fine. */
infrt_status infrt_weights_readable(const char *path, infrt_error *error);

#endif

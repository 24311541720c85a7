/* serve_refusal.c - see serve_refusal.h. */
#include "serve_refusal.h"
#include <stdarg.h>
#include <stdio.h>

bool infrt_refuse(infrt_refusal *refusal, int status, const char *param, const char *format, ...) {
    va_list args;
    if (refusal->status) return false;
    refusal->status = status;
    snprintf(refusal->param, sizeof refusal->param, "%s", param ? param : "");
    va_start(args, format);
    vsnprintf(refusal->text, sizeof refusal->text, format, args);
    va_end(args);
    return false;
}

/* infrt_status.c - failures: recording the first one, and the exit code for each. */
#include "infrt.h"
#include <stdarg.h>
#include <stdio.h>

infrt_status infrt_fail(infrt_error *error, infrt_status status, const char *format, ...) {
    if (error && error->status == INFRT_OK) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

int infrt_exit_code(infrt_status status) {
    switch (status) {
    case INFRT_OK: return 0;
    case INFRT_ERR_CHECK: return 1;
    case INFRT_ERR_USAGE: return 2;
    case INFRT_ERR_DATA: return 3;
    case INFRT_ERR_IO:
    case INFRT_ERR_NO_MEMORY:
    case INFRT_ERR_BUSY:
    case INFRT_ERR_CPU: return 4;
    case INFRT_ERR_INTERNAL: break;
    }
    return 70;
}

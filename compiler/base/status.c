#include "status.h"

infc_status infc_status_of_exit_code(int code) {
    switch (code) {
    case 0: return INFC_OK;
    case 1: return INFC_ERR_CHECK;
    case 2: return INFC_ERR_SPEC;
    case 3: return INFC_ERR_MODEL;
    case 4: return INFC_ERR_IO;
    default: return INFC_ERR_INTERNAL;
    }
}

int infc_status_exit_code(infc_status status) {
    switch (status) {
    case INFC_OK: return 0;
    case INFC_ERR_CHECK: return 1;
    case INFC_ERR_SPEC: return 2;
    case INFC_ERR_MODEL:
    case INFC_ERR_UNSUPPORTED: return 3;
    case INFC_ERR_TOOLCHAIN:
    case INFC_ERR_IO:
    case INFC_ERR_NO_MEMORY: return 4;
    case INFC_ERR_INTERNAL: break;
    }
    return 70;
}

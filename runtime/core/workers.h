/* workers.h - what sessions ask of teams of workers, beside infrt.h. */
#ifndef INFRT_CORE_WORKERS_H
#define INFRT_CORE_WORKERS_H
#include "infrt.h"

/* infrt_workers_create for an n that is within infrt_workers_available: it is not asked again. */
infrt_status infrt_workers_create_fitting(uint32_t n, infrt_workers **out, infrt_error *error);

#endif

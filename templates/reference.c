#include "reference.h"
#include <string.h>

infk_entry *infk_reference_find(const infk_kernel *kernel) {
    for (size_t i = 0; i < infk_reference_n; i++)
        if (strcmp(infk_reference_rows[i].name, kernel->name) == 0)
            return infk_reference_rows[i].entry;
    return NULL;
}

/* sample_base.h - base includes nobody above it. */
#include "../ir/sample_ir.h"
#include <stdlib.h>

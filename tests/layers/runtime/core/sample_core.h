/* sample_core.h - the runtime includes nothing of the compiler. */
#include "compiler/base/sample_base.h"

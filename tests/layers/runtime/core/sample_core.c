#include "sample_core.h"
void sample_core(void) { printf("the runtime core is silent\n"); }

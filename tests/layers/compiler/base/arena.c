#include <stdlib.h>

void sample_arena(void *p) { free(p); } /* allowed: this is the one place */

#include "sample_base.h"

void *sample_base(size_t n) { return malloc(n); /* only in arena.c */ }

#include "sample_import.h"
void sample_command(void) { exit(1); }

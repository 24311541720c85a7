#include "../compiler/emit/sample_text.h"
void sample_pass(char *s) { s = strdup(s); }
void sample_pass_end(char *s) { free(s); }

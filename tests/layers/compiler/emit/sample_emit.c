#include "../ir/sample_ir.h"

/* printf("in a comment is fine");
 * and abort() too */
static const char text[] = "printf(\"%d\") in a string is fine";
void sample_emit(const char *s) { sample_free(s, text); }
void sample_report(void) { fprintf(stderr, "%s", text); }

/* scalar.c - the functions of scalar.def, compiled from the same expressions that generated code gets. */
#include "../../templates/simd/scalar.h"
#include "type.h"
#include <string.h>

#define P(x) s_##x
#define INFC_SCALAR(name, arity, expression, words)        \
    static float apply_##name(float a, float b, float c) { \
        (void)a, (void)b, (void)c;                         \
        return expression;                                 \
    }
#include "../../templates/scalar.def"
#undef INFC_SCALAR
#undef P

static const struct {
    const char *name;
    int arity;
    const char *text;
    float (*apply)(float a, float b, float c);
} scalars[] = {
#define INFC_SCALAR(name, arity, expression, words) {#name, arity, #expression, apply_##name},
#include "../../templates/scalar.def"
#undef INFC_SCALAR
};
enum { N_SCALARS = sizeof scalars / sizeof *scalars };

int infc_scalar_find(const char *name) {
    for (int i = 0; i < N_SCALARS; i++)
        if (strcmp(scalars[i].name, name) == 0) return i;
    return -1;
}

const char *infc_scalar_name(int fn) { return scalars[fn].name; }
int infc_scalar_arity(int fn) { return scalars[fn].arity; }
const char *infc_scalar_text(int fn) { return scalars[fn].text; }
float infc_scalar_apply(int fn, float a, float b, float c) { return scalars[fn].apply(a, b, c); }

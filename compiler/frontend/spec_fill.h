/* spec_fill.h - a checked tree as the plain struct. */
#ifndef INFC_SPEC_FILL_H
#define INFC_SPEC_FILL_H
#include "spec.h"
#include "spec_check.h"

/* Leaves out what is marked bad, so that problems between keys are found in spite of other problems. */
void infc_spec_fill(infc_spec_check *check, const infc_yaml *root, infc_spec *out);

#endif

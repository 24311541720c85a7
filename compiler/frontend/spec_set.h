/* spec_set.h - assignments from the command line, applied to a spec's tree before it is checked. */
#ifndef INFC_SPEC_SET_H
#define INFC_SPEC_SET_H
#include "spec.h"
#include "spec_yaml.h"

/* Puts the value of one `key.path=value` into the tree; records what is wrong with it. */
void infc_spec_set_apply(infc_cx *cx, infc_yaml *root, const char *assignment);

#endif

/* in_the_way.h - what a compile may replace: only what an earlier compile made and its manifest lists. */
#ifndef INFC_IN_THE_WAY_H
#define INFC_IN_THE_WAY_H
#include "../base/file.h"

/* Fails, naming the first, when something of the stage would take the place of a file that is not listed in the
 * manifest.json beside it: a user's own. Nothing has been touched then. */
infc_status infc_in_the_way_check(infc_stage *stage);

#endif

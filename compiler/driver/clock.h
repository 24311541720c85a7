/* clock.h - time for people: progress and the times of stages. Nothing that is emitted may depend on it. */
#ifndef INFC_CLOCK_H
#define INFC_CLOCK_H

double infc_seconds(void); /* monotonic */

#endif

/* step_time.h - how many rows of prompts fit into a step beside those of answers, so that it takes about as long as it
 * may. Learned from the steps before: one with answers only costs a base, each row of a prompt something on top. */
#ifndef INFRT_STEP_TIME_H
#define INFRT_STEP_TIME_H
#include <stdint.h>

enum { INFRT_STEP_ROWS_LEAST = 8 }; /* of prompts, so that they go on at any target */

typedef struct infrt_step_time {
    double base_ns, row_ns; /* 0: not known yet */
} infrt_step_time;

/* A step took `ns`; it had these rows. */
void infrt_step_time_learn(infrt_step_time *time, uint32_t answers, uint32_t prompts, uint64_t ns);
/* Rows of prompts beside answers in a step of `target_ns`: at least INFRT_STEP_ROWS_LEAST, at most `most`. */
uint32_t infrt_step_time_rows(const infrt_step_time *time, uint64_t target_ns, uint32_t most);

#endif

/* infrt_app.h - the command line of a built binary: run, bench, info, verify.
 * SPDX-License-Identifier: MIT */
#ifndef INFRT_APP_H
#define INFRT_APP_H
#include "infc_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the command that argv names and returns the exit code of the process: 0 fine, 1 the check asked for
 * did not hold, 2 usage, 3 bad data, 4 I/O or a missing CPU feature, 70 our own bug. The result goes to
 * stdout, everything else to stderr. All a binary's main has to call. */
int infrt_app_main(const infc_model *model, int argc, char **argv);
/* The same for a language model: run, chat, bench, tokenize, info, verify. 128 + N: ended by signal N. */
int infrt_llm_main(const infc_model *model, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif

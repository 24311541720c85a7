/* app_options.c - commands and flags of a built binary. */
#include "app_options.h"
#include "tensor_io.h"
#include <stddef.h>

enum {
    RUN = INFRT_COMMAND_RUN,
    BENCH = INFRT_COMMAND_BENCH,
    INFO = INFRT_COMMAND_INFO,
    VERIFY = INFRT_COMMAND_VERIFY
};

static const infrt_flag flags[] = {
#define INFRT_OPTION(field, name, value, kind, least, most, commands, help) \
    {name, value, help, INFRT_FLAG_##kind, least, most, commands, offsetof(infrt_options, field)},
#include "app_options.def"
#undef INFRT_OPTION
};

static const infrt_command_info commands[] = {
    {"run", "run the model on given inputs and show the outputs", RUN, NULL},
    {"bench", "measure: latency percentiles, time per step, GFLOP/s", BENCH, NULL},
    {"info", "what this binary is: inputs, outputs, sizes, versions, provenance", INFO, NULL},
    {"verify", "check weights, CPU and results with every number of workers", VERIFY, NULL},
};

const infrt_command_line infrt_app_commands = {commands, flags, sizeof commands / sizeof *commands,
                                               sizeof flags / sizeof *flags};

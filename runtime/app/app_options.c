/* app_options.c - commands and flags of a built binary. */
#include "app_options.h"
#include "tensor_io.h"
#include <stddef.h>

enum {
    RUN = INFRT_COMMAND_RUN,
    BENCH = INFRT_COMMAND_BENCH,
    INFO = INFRT_COMMAND_INFO,
    VERIFY = INFRT_COMMAND_VERIFY,
    SERVE = INFRT_COMMAND_SERVE
};

static const infrt_flag flags[] = {
#define INFRT_OPTION(field, name, value, kind, least, most, commands, help) \
    {name, value, help, INFRT_FLAG_##kind, least, most, commands, offsetof(infrt_options, field)},
#include "app_options.def"
#undef INFRT_OPTION
};

static const char serve_more[] =
    "It speaks the Open Inference Protocol, version 2 (/v2/models/NAME/infer), and makes vectors "
    "of texts at\n"
    "/v1/embeddings where it was compiled for texts. One line of JSON on stderr for each request.\n"
    "  serve --port 8080\n"
    "  serve --host 0.0.0.0 --api-keys env:KEYS\n";

static const infrt_command_info commands[] = {
    {"run", "run the model on given inputs and show the outputs", RUN, NULL},
    {"bench", "measure: latency percentiles, time per step, GFLOP/s", BENCH, NULL},
    {"info", "what this binary is: inputs, outputs, sizes, versions, provenance", INFO, NULL},
    {"verify", "check weights, CPU and results with every number of workers", VERIFY, NULL},
    {"serve", "answer requests over HTTP until SIGTERM", SERVE, serve_more},
};

const infrt_command_line infrt_app_commands = {commands, flags, sizeof commands / sizeof *commands,
                                               sizeof flags / sizeof *flags};
_Static_assert(sizeof flags / sizeof *flags <= INFRT_FLAGS_MOST, "a bit for each");

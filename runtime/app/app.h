/* app.h - what the commands of a built binary share. */
#ifndef INFRT_APP_INTERNAL_H
#define INFRT_APP_INTERNAL_H
#include "app_options.h"
#include "app_shell.h"
#include "app_times.h"
#include "tensor_io.h"

/* Inputs and outputs of one run, in the model's order, INFC_ALIGN aligned, with a guard after each. */
typedef struct infrt_buffers {
    const infc_model *model;
    void **inputs, **outputs;
    void *block;
    size_t block_bytes;
} infrt_buffers;

infrt_status infrt_buffers_create(const infc_model *model, infrt_buffers *out, infrt_error *error);
void infrt_buffers_destroy(infrt_buffers *buffers);
/* Whether nothing was written past an input or output since create. */
bool infrt_buffers_intact(const infrt_buffers *buffers);
/* Fills the inputs from `seed` as the self-check defines it for f32; other dtypes get small values. */
void infrt_buffers_synthesize(const infrt_buffers *buffers, uint64_t seed);

enum { INFRT_APP_SIZES = 16 };

/* One command under way; freed by infrt_app_main. */
typedef struct infrt_app {
    const infc_model *model;
    infrt_shell shell;
    uint64_t begin_ns; /* when infrt_app_main was entered */
    infrt_options options;
    infrt_weights weights;
    infrt_session *session;
    infrt_buffers buffers;
    infrt_error error;
    infc_model level; /* the model with the level of code that runs: what `model` points to then */
    infc_model sized; /* the model for `sizes`: what `model` points to then */
    int64_t sizes[INFRT_APP_SIZES];
} infrt_app;

/* Weights up to this size are hashed at every start (under 50 us, where a start takes 100); larger ones by `verify`,
 * `serve` and --weights. */
#define INFRT_APP_HASH_BYTES ((uint64_t)512 << 10)

/* Checks ABI and CPU, opens the weights, allocates buffers and a session of `workers`. */
infrt_status infrt_app_open(infrt_app *app, uint32_t workers);
/* --threads, or what the model is worth. */
uint32_t infrt_app_workers(const infrt_app *app);
/* One run on app->buffers. */
infrt_status infrt_app_once(infrt_app *app, const infrt_watch *watch);

/* app_sizes.c: when sizes are known only at run time, chooses them: of the given inputs, of the self-check for
 * `verify`, else the largest; and makes app->model the model for them. Does nothing for other models. */
infrt_status infrt_app_sizes(infrt_app *app);
typedef void infrt_input_seen(void *self, uint32_t input, const infrt_tensor *tensor);
/* Calls seen(self, input, tensor) for the inputs that are given, without their data; see infrt_tensor_look. */
infrt_status infrt_inputs_look(infrt_app *app, infrt_input_seen *seen, void *self);
/* Which input `text`, NAME=FILE or FILE, means; *path is the FILE. */
infrt_status infrt_input_argument(infrt_app *app, const char *text, uint32_t *input, const char **path);
/* Fills the inputs from --input and --inputs; says on stderr what was guessed. */
infrt_status infrt_inputs_read(infrt_app *app);

/* The commands. They write their result to stdout. */
infrt_status infrt_app_run(infrt_app *app);
infrt_status infrt_app_bench(infrt_app *app);
infrt_status infrt_app_info(infrt_app *app);
infrt_status infrt_app_verify(infrt_app *app);
infrt_status infrt_app_serve(infrt_app *app);

/* How long the runs took; `run` only. */
typedef struct infrt_run_times {
    uint64_t startup_ns; /* from main to the first run */
    uint64_t *ns;        /* of each run, ascending */
    uint32_t n;
} infrt_run_times;
/* Warns of outputs that hold NaN, or classes whose confidence is not known. */
void infrt_result_notes(infrt_app *app);
/* Shows the outputs: classes where the model has labels, else shape, range and first values. */
void infrt_result_text(const infrt_app *app, FILE *out);
void infrt_result_json(const infrt_app *app, const infrt_run_times *times, FILE *out);

#endif

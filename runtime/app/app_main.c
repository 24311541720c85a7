/* app_main.c - from argv to a command to an exit code. */
#define _GNU_SOURCE 1
#include "app.h"
#include "infrt_app.h"
#include "infrt_os.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static infrt_status version_print(const infc_model *model, bool as_json) {
    if (as_json) {
        infrt_json json = {.out = stdout};
        infrt_json_open(&json, NULL, '{');
        infrt_json_string(&json, "model", model->name);
        infrt_json_string(&json, "target", model->target);
        infrt_json_string(&json, "infc_version", model->infc_version);
        infrt_json_uint(&json, "abi", model->abi);
        infrt_json_close(&json, '}');
        return INFRT_OK;
    }
    printf("%s for %s, compiled by infc %s, ABI %u\n", model->name, model->target,
           model->infc_version, model->abi);
    return INFRT_OK;
}

static infrt_status help_print(infrt_app *app) {
    const infrt_options *o = &app->options;
    infrt_json json = {.out = stdout};
    char *text = NULL;
    size_t n;
    FILE *out = o->json ? open_memstream(&text, &n) : stdout;
    if (!out) return infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory");
    infrt_options_help(o->command, app->program, app->model->name, out);
    if (!o->json) return INFRT_OK;
    bool made = fclose(out) == 0;
    if (made) {
        infrt_json_open(&json, NULL, '{');
        infrt_json_string(&json, "help", text);
        infrt_json_close(&json, '}');
    }
    free(text);
    return made ? INFRT_OK : infrt_fail(&app->error, INFRT_ERR_NO_MEMORY, "no memory");
}

static infrt_status dispatch(infrt_app *app) {
    infrt_options *o = &app->options;
    infrt_status status = infrt_options_parse(app->argc, app->argv, o, &app->error);
    if (status != INFRT_OK) return status;
    if (o->version) return version_print(app->model, o->json);
    if (o->help) return help_print(app);
    switch (o->command) {
    case INFRT_COMMAND_RUN: return infrt_app_run(app);
    case INFRT_COMMAND_BENCH: return infrt_app_bench(app);
    case INFRT_COMMAND_INFO: return infrt_app_info(app);
    case INFRT_COMMAND_VERIFY: return infrt_app_verify(app);
    case INFRT_COMMAND_NONE: break;
    }
    return infrt_fail(&app->error, INFRT_ERR_INTERNAL, "a command without code");
}

int infrt_app_main(const infc_model *model, int argc, char **argv) {
    infrt_app app = {.model = model, .begin_ns = infrt_os_now_ns(), .argc = argc, .argv = argv};
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    signal(SIGXFSZ, SIG_IGN); /* beyond `ulimit -f` a write fails, and what it was for is told and removed */
    app.program = slash ? slash + 1 : argc > 0 ? argv[0] : model->name;
    infrt_status status = dispatch(&app);
    infrt_session_destroy(&app.session);
    infrt_buffers_destroy(&app.buffers);
    infrt_weights_close(&app.weights);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == INFRT_OK)
        status = infrt_fail(&app.error, INFRT_ERR_IO, "standard output: cannot write: %s", strerror(errno));
    infrt_app_messages_end(&app, status);
    infrt_options_free(&app.options);
    return infrt_exit_code(status);
}

/* app_main.c - from argv to a command to an exit code. */
#include "app.h"
#include "infrt_app.h"
#include "infrt_os.h"

static infrt_status dispatch(infrt_app *app) {
    const infrt_status chosen = infrt_model_level(app->model, app->options.level, &app->level, &app->error);
    if (chosen != INFRT_OK) return chosen;
    app->model = &app->level;
    switch (app->options.parsed.command) {
    case INFRT_COMMAND_RUN: return infrt_app_run(app);
    case INFRT_COMMAND_BENCH: return infrt_app_bench(app);
    case INFRT_COMMAND_INFO: return infrt_app_info(app);
    case INFRT_COMMAND_VERIFY: return infrt_app_verify(app);
    case INFRT_COMMAND_SERVE: return infrt_app_serve(app);
    }
    return infrt_fail(&app->error, INFRT_ERR_INTERNAL, "a command without code");
}

int infrt_app_main(const infc_model *model, int argc, char **argv) {
    infrt_app app = {.model = model, .begin_ns = infrt_os_now_ns()};
    bool done;
    app.shell = (infrt_shell){
        .model = model, .line = &infrt_app_commands, .parsed = &app.options.parsed, .error = &app.error};
    infrt_status status = infrt_shell_begin(&app.shell, argc, argv, &done);
    if (!done) status = dispatch(&app);
    infrt_session_destroy(&app.session);
    infrt_buffers_destroy(&app.buffers);
    infrt_weights_close(&app.weights);
    return infrt_shell_end(&app.shell, status);
}

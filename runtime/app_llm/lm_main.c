/* lm_main.c - from argv to a command to an exit code. */
#define _GNU_SOURCE 1
#include "infrt_app.h"
#include "infrt_os.h"
#include "lm_app.h"
#include <signal.h>

static infrt_status dispatch(infrt_lm_app *app) {
    const infrt_status chosen = infrt_model_level(app->model, app->options.level, &app->level, &app->error);
    if (chosen != INFRT_OK) return chosen;
    app->model = &app->level;
    switch (app->options.parsed.command) {
    case INFRT_LM_RUN: return infrt_lm_run(app);
    case INFRT_LM_CHAT: return infrt_lm_chat(app);
    case INFRT_LM_BENCH: return infrt_lm_bench(app);
    case INFRT_LM_TOKENIZE: return infrt_lm_tokenize(app);
    case INFRT_LM_INFO: return infrt_lm_info(app);
    case INFRT_LM_VERIFY: return infrt_lm_verify(app);
    case INFRT_LM_EVAL: return infrt_lm_eval(app);
    case INFRT_LM_SERVE: return infrt_lm_serve(app);
    }
    return infrt_fail(&app->error, INFRT_ERR_INTERNAL, "a command without code");
}

int infrt_llm_main(const infc_model *model, int argc, char **argv) {
    infrt_lm_app app = {.model = model, .begin_ns = infrt_os_now_ns()};
    bool done;
    app.shell = (infrt_shell){
        .model = model, .line = &infrt_lm_commands, .parsed = &app.options.parsed, .error = &app.error};
    infrt_status status = infrt_shell_begin(&app.shell, argc, argv, &done);
    if (!done && !model->llm)
        status = infrt_fail(&app.error, INFRT_ERR_INTERNAL, "%s is not a language model", model->name);
    else if (!done) status = dispatch(&app);
    infrt_llm_close(&app.llm);
    int code = infrt_shell_end(&app.shell, status), number = infrt_lm_interrupted();
    if (number == 0) return code;
    signal(number, SIG_DFL); /* so that who started it sees why it ended */
    raise(number);
    return 128 + number;
}

/* lm_app.h - what the commands of a language model's program share. */
#ifndef INFRT_LM_APP_H
#define INFRT_LM_APP_H
#include "app_json.h"
#include "app_shell.h"
#include "lm_options.h"

/* One command under way; freed by infrt_llm_main. */
typedef struct infrt_lm_app {
    const infc_model *model;
    infrt_shell shell;
    uint64_t begin_ns; /* when infrt_llm_main was entered */
    infrt_lm_options options;
    infrt_llm *llm;
    infrt_llm_facts facts;
    infrt_error error;
    infrt_llm_bias bias[INFRT_LLM_BIASES];
} infrt_lm_app;

infrt_status infrt_lm_run(infrt_lm_app *app);
infrt_status infrt_lm_chat(infrt_lm_app *app);
infrt_status infrt_lm_bench(infrt_lm_app *app);
infrt_status infrt_lm_tokenize(infrt_lm_app *app);
infrt_status infrt_lm_info(infrt_lm_app *app);
infrt_status infrt_lm_verify(infrt_lm_app *app);
infrt_status infrt_lm_eval(infrt_lm_app *app);

/* Opens app->llm as the flags say; `config` may hold what the command decides. */
infrt_status infrt_lm_open(infrt_lm_app *app, infrt_llm_config config);

/* lm_prompt.c: the prompt that the flags give, as part of a request. */
typedef struct infrt_lm_prompt {
    infrt_llm_message messages[2];
    char *text;
    int32_t *ids;
} infrt_lm_prompt;
infrt_status infrt_lm_prompt_read(infrt_lm_app *app, infrt_lm_prompt *out, infrt_llm_request *request);
void infrt_lm_prompt_free(infrt_lm_prompt *prompt);
/* All of a file or, for null, of standard input, with a NUL; the caller frees it. */
infrt_status infrt_lm_text_read(const char *path, char **out, infrt_error *error);

/* lm_interrupt.c: while an answer is made, SIGINT and SIGTERM cancel it instead of ending the program. */
void infrt_lm_interruptible(infrt_llm *llm, infrt_llm_id id); /* id 0: no answer; signals are only noted */
int infrt_lm_interrupted(void); /* the signal that came since the last call, or 0 */

#endif

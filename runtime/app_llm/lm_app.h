/* lm_app.h - what the commands of a language model's program share. */
#ifndef INFRT_LM_APP_H
#define INFRT_LM_APP_H
#include "app_json.h"
#include "app_shell.h"
#include "lm_options.h"

enum { INFRT_LM_ADAPTERS = 64 }; /* on a command line */

/* One command under way; freed by infrt_llm_main. */
typedef struct infrt_lm_app {
    const infc_model *model;
    infc_model level; /* the same with the level of code that runs: what `model` points to then */
    infrt_shell shell;
    uint64_t begin_ns; /* when infrt_llm_main was entered */
    infrt_lm_options options;
    infrt_llm *llm;
    infrt_llm_facts facts;
    infrt_error error;
    infrt_llm_bias bias[INFRT_LLM_BIASES];
    char adapters[INFRT_LM_ADAPTERS][INFRT_LLM_ADAPTER_NAME + 1]; /* names of those that --adapter gives */
} infrt_lm_app;

infrt_status infrt_lm_run(infrt_lm_app *app);
infrt_status infrt_lm_chat(infrt_lm_app *app);
infrt_status infrt_lm_bench(infrt_lm_app *app);
infrt_status infrt_lm_tokenize(infrt_lm_app *app);
infrt_status infrt_lm_info(infrt_lm_app *app);
infrt_status infrt_lm_verify(infrt_lm_app *app);
infrt_status infrt_lm_eval(infrt_lm_app *app);
infrt_status infrt_lm_serve(infrt_lm_app *app);

/* lm_files.c, before anything is computed: INFRT_ERR_USAGE when a file that the flags say to write is one that is read,
 * or its ending is not that of what would be in it. */
infrt_status infrt_lm_files_check(infrt_lm_app *app);

/* Opens app->llm as the flags say; `config` may hold what the command decides. */
infrt_status infrt_lm_open(infrt_lm_app *app, infrt_llm_config config);

/* lm_adapters.c: infrt_lm_open adds the adapters that the flags give; the name of number i, which goes round, or null
 * when there are none. */
infrt_status infrt_lm_adapters_load(infrt_lm_app *app);
const char *infrt_lm_adapter(const infrt_lm_app *app, uint32_t i);

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

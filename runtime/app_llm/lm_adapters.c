/* lm_adapters.c - adapters that the command line names: --adapter NAME=DIR, or DIR, whose last part is the name, or
 * NAME=0.7*DIR,0.3*DIR, the weighted sum of several; or the NAME of one that is preloaded. */
#include "lm_app.h"
#include "adapters.h"
#include <string.h>

/* Of "NAME=DIR" or "DIR": the folder; the name is written. */
static const char *split(const char *word, char *name, size_t room) {
    const char *equals = strchr(word, '='), *folder = equals ? equals + 1 : word, *from = word;
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    if (!equals) {
        while (n > 1 && word[n - 1] == '/') n--;
        for (size_t i = 0; i < n; i++)
            if (word[i] == '/') from = word + i + 1;
        n -= (size_t)(from - word);
    }
    if (n >= room) n = room - 1; /* then it is refused as too long */
    memcpy(name, from, n);
    name[n] = 0;
    return folder;
}

/* Whether a word is the name of one that the model has from the start. */
static bool preloaded(const infc_adapter_info *places, const char *word) {
    for (uint64_t i = 0; places && i < places->n_preload; i++)
        if (strcmp(places->preload[i].name, word) == 0) return true;
    return false;
}

/* Those that say they were made for another model: shapes alone do not tell. */
static void foreign_tell(infrt_lm_app *app) {
    infrt_llm_adapter_facts facts[INFRT_LM_ADAPTERS];
    const uint32_t there = infrt_llm_adapters(app->llm, facts, INFRT_LM_ADAPTERS),
                   n = there < INFRT_LM_ADAPTERS ? there : INFRT_LM_ADAPTERS;
    for (uint32_t i = 0; i < n; i++)
        if (facts[i].base)
            infrt_shell_note(&app->shell, "the adapter \"%s\" says that it was made for %s; this is %s",
                             facts[i].name, facts[i].base, app->model->source);
}

infrt_status infrt_lm_adapters_load(infrt_lm_app *app) {
    const infrt_words *words = &app->options.adapter;
    const uint32_t most =
        app->options.parsed.command & (INFRT_LM_BENCH | INFRT_LM_SERVE) ? INFRT_LM_ADAPTERS : 1;
    const infc_adapter_info *places = app->model->llm->adapters;
    infrt_status status = INFRT_OK;
    if (words->n > most)
        return infrt_fail(&app->error, INFRT_ERR_USAGE, "--adapter: at most %u here", most);
    uint64_t n_loaded = places ? places->n_preload : 0;
    for (uint32_t i = 0; i < words->n; i++) n_loaded += !preloaded(places, words->at[i]);
    if (places && n_loaded > places->max_loaded)
        return infrt_fail(
            &app->error, INFRT_ERR_USAGE,
            "--adapter: %llu are given or preloaded, and the model was compiled for %u at a time "
            "(adapters.max_loaded)",
            (unsigned long long)n_loaded, places->max_loaded);
    for (uint32_t i = 0; i < words->n && status == INFRT_OK; i++) {
        const char *folder = split(words->at[i], app->adapters[i], sizeof app->adapters[i]);
        if (!*folder)
            return infrt_fail(&app->error, INFRT_ERR_USAGE,
                              "--adapter %s: a folder is missing; give NAME=DIR or DIR", words->at[i]);
        for (uint32_t k = 0; k < i && status == INFRT_OK; k++)
            if (strcmp(app->adapters[k], app->adapters[i]) == 0)
                status = infrt_fail(&app->error, INFRT_ERR_USAGE,
                                    "--adapter: \"%s\" is there twice; give NAME=DIR", app->adapters[i]);
        if (status == INFRT_OK && !preloaded(places, words->at[i]))
            status = infrt_llm_adapter_load_text(app->llm, app->adapters[i], folder, &app->error);
        infrt_adapter_pin(app->llm, app->adapters[i]);
    }
    if (status == INFRT_OK) foreign_tell(app);
    return status;
}

const char *infrt_lm_adapter(const infrt_lm_app *app, uint32_t i) {
    return app->options.adapter.n ? app->adapters[i % app->options.adapter.n] : NULL;
}

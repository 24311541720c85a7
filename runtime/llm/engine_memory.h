/* engine_memory.h - all that an engine allocates, once. */
#ifndef INFRT_ENGINE_MEMORY_H
#define INFRT_ENGINE_MEMORY_H
#include "engine.h"

/* How many blocks the cache has, and the context that fits into it: facts.kv_* and facts.context. */
infrt_status infrt_kv_size(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error);
/* Everything but the session, for llm->facts. */
infrt_status infrt_engine_memory(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error);
void infrt_engine_memory_free(infrt_llm *llm);
/* Once there is a session: workers to their CPUs, memory locked, as `config` says. */
infrt_status infrt_engine_place(infrt_llm *llm, const infrt_llm_config *config, infrt_error *error);

#endif

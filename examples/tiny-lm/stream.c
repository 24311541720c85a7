/* stream.c - streams an answer. docs/language-models.md shows how to build it. */
#include "tiny_lm.h"
#include "infrt_llm.h"
#include <stdio.h>

int main(int argc, char **argv) {
    infrt_error error = {0};
    infrt_llm *llm = NULL;
    infrt_llm_id id;
    infrt_llm_event event = {0};
    infrt_llm_request request = {.text = argc > 1 ? argv[1] : "In the beginning", .max_tokens = 64};
    if (infrt_llm_open(tiny_lm_model(), NULL, &llm, &error) == INFRT_OK &&
        infrt_llm_submit(llm, &request, &id, &error) == INFRT_OK)
        while (!event.finish && infrt_llm_step(llm, NULL, &error) == INFRT_OK)
            while (infrt_llm_poll(llm, id, &event)) {
                fwrite(event.text, 1, event.text_bytes, stdout);
                fflush(stdout);
            }
    putchar('\n');
    infrt_llm_close(&llm);
    if (error.status) fprintf(stderr, "%s\n", error.text);
    return infrt_exit_code(error.status);
}

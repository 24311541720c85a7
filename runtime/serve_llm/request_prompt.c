/* request_prompt.c - what a request is answered from: messages, texts, ids. */
#include "request_values.h"
#include <stdlib.h>
#include <string.h>

/* ---- messages ----------------------------------------------------------------------------------- */

typedef struct part {
    infrt_reading *r;
    bool is_text;
    const char *text;
} part;

static bool part_key_take(void *self, infrt_json_reader *json, const char *key) {
    part *p = self;
    infrt_reading *r = p->r;
    const bool type = strcmp(key, "type") == 0;
    if (!type && strcmp(key, "text") != 0) return infrt_json_skip(json);
    const size_t n = infrt_path_key(r, key);
    if (type ? p->is_text : p->text != NULL) return infrt_take_twice(r);
    const char *text = infrt_take_text(r, "a text");
    if (!text) return false;
    if (type && strcmp(text, "text") != 0)
        return infrt_refuse(r->refusal, 400, r->path,
                            "%s: parts of another kind than \"text\" are not supported", r->path);
    if (type) p->is_text = true;
    else p->text = text;
    r->path[n] = 0;
    return true;
}

/* Parts are one text: what comes next is put after what is there. */
static bool part_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    infrt_ask *a = r->ask;
    part p = {.r = r};
    char *into = a->texts + a->texts_used;
    (void)key;
    const size_t n = infrt_path_index(r, (uint32_t)r->parts);
    if (r->parts++ == INFRT_ASK_PARTS)
        return infrt_refuse(r->refusal, 400, r->path, "%s: at most %d parts", r->path, INFRT_ASK_PARTS);
    if (infrt_json_next(json) != '{') return infrt_take_wrong(r, "an object");
    if (!infrt_json_object(json, part_key_take, &p)) return false;
    if (!p.is_text || !p.text)
        return infrt_refuse(r->refusal, 400, r->path,
                            "%s: \"type\": \"text\" and a \"text\" are needed", r->path);
    const size_t bytes = strlen(p.text);
    if (!r->content) r->content = into;
    else into--; /* over the NUL of the part before */
    memmove(into, p.text, bytes + 1);
    a->texts_used = (size_t)(into + bytes + 1 - a->texts);
    r->path[n] = 0;
    return true;
}

static bool content_take(infrt_reading *r) {
    const char next = infrt_json_next(&r->json);
    if (next == '"') return (r->content = infrt_take_text(r, "a text")) != NULL;
    if (next != '[') return infrt_take_wrong(r, "a text or a list of parts");
    r->parts = 0;
    r->content = NULL;
    if (!infrt_json_array(&r->json, part_take, r)) return false;
    if (!r->content)
        return infrt_refuse(r->refusal, 400, r->path, "%s: at least one part is needed", r->path);
    return true;
}

static bool role_take(infrt_reading *r) {
    static const char *const known[] = {"system", "user", "assistant", NULL};
    r->role = infrt_take_text(r, "a text");
    if (!r->role) return false;
    if (strcmp(r->role, "developer") == 0) r->role = "system"; /* its newer name */
    for (int i = 0; known[i]; i++)
        if (strcmp(r->role, known[i]) == 0) return true;
    return infrt_refuse(r->refusal, 400, r->path,
                        "%s: \"system\", \"developer\", \"user\" and \"assistant\" are supported", r->path);
}

static bool message_key_take(void *self, infrt_json_reader *json, const char *key) {
    static const char *const refused[] = {"tool_calls", "tool_call_id", "function_call", "audio", NULL};
    infrt_reading *r = self;
    const bool role = strcmp(key, "role") == 0, content = strcmp(key, "content") == 0;
    const size_t n = infrt_path_key(r, key);
    bool taken;
    for (int i = 0; refused[i]; i++)
        if (strcmp(key, refused[i]) == 0 && infrt_json_next(json) != 'n')
            return infrt_refuse(r->refusal, 400, r->path,
                                "%s is not supported by this server; leave it out", r->path);
    if ((role && r->role) || (content && r->content)) return infrt_take_twice(r);
    if (role) taken = role_take(r);
    else if (content) taken = content_take(r);
    else taken = infrt_json_skip(json);
    if (taken) r->path[n] = 0;
    return taken;
}

static bool message_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    infrt_ask *a = r->ask;
    (void)key;
    const size_t n = infrt_path_index(r, a->n_messages);
    if (a->n_messages == INFRT_ASK_MESSAGES)
        return infrt_refuse(r->refusal, 400, "messages", "messages: at most %d", INFRT_ASK_MESSAGES);
    if (a->n_messages == a->messages_room) {
        const uint32_t room = a->messages_room ? 2 * a->messages_room : 8;
        void *grown = realloc(a->messages, room * sizeof *a->messages);
        if (!grown) return infrt_refuse_memory(r->refusal);
        a->messages = grown;
        a->messages_room = room;
    }
    r->role = r->content = NULL;
    if (infrt_json_next(json) != '{') return infrt_take_wrong(r, "an object");
    if (!infrt_json_object(json, message_key_take, r)) return false;
    if (!r->role || !r->content)
        return infrt_refuse(r->refusal, 400, r->path, "%s: role and content are needed", r->path);
    a->messages[a->n_messages++] = (infrt_llm_message){r->role, r->content};
    r->path[n] = 0;
    return true;
}

bool infrt_take_MESSAGES(infrt_reading *r, void *out, double least, double most) {
    (void)out;
    (void)least;
    (void)most;
    if (infrt_json_next(&r->json) != '[') return infrt_take_wrong(r, "a list of messages");
    return infrt_json_array(&r->json, message_take, r);
}

/* ---- prompts ------------------------------------------------------------------------------------ */

static infrt_prompt *prompt_add(infrt_reading *r) {
    infrt_ask *a = r->ask;
    if (a->n_prompts < INFRT_ASK_PROMPTS) return &a->prompts[a->n_prompts++];
    infrt_refuse(r->refusal, 400, "prompt", "prompt: at most %d at a time", INFRT_ASK_PROMPTS);
    return NULL;
}

static bool id_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    infrt_prompt *p = &r->ask->prompts[r->ask->n_prompts - 1];
    uint64_t id;
    (void)key;
    if (p->n_ids == r->most_ids) {
        r->refusal->code = "context_length_exceeded";
        return infrt_refuse(r->refusal, 400, r->path, "%s: more than the %u tokens of the context",
                            r->path, r->most_ids);
    }
    if ((p->n_ids & (p->n_ids - 1)) == 0) { /* room doubles at powers of two */
        void *grown = realloc(p->ids, (p->n_ids ? 2 * (size_t)p->n_ids : 1) * sizeof *p->ids);
        if (!grown) return infrt_refuse_memory(r->refusal);
        p->ids = grown;
    }
    const infrt_json_reader before = *json;
    if (infrt_json_next(json) != '0' || !infrt_json_count(json, &id) || id >= r->n_vocab) {
        *json = before;
        return infrt_refuse(r->refusal, 400, r->path,
                            "%s: element %u of a list of token ids is no whole number below %u",
                            r->path, p->n_ids, r->n_vocab);
    }
    p->ids[p->n_ids++] = (int32_t)id;
    return true;
}

/* In a list of texts, or of lists of ids. */
static bool prompt_take(void *self, infrt_json_reader *json, const char *key) {
    infrt_reading *r = self;
    (void)key;
    const size_t n = infrt_path_index(r, r->ask->n_prompts);
    infrt_prompt *p = prompt_add(r);
    if (!p) return false;
    if (infrt_json_next(json) == '[') {
        if (!infrt_json_array(json, id_take, r)) return false;
    } else {
        p->text = infrt_take_text(r, "a text, as the others, or a list of token ids");
        if (!p->text) return false;
    }
    r->path[n] = 0;
    return true;
}

bool infrt_take_PROMPT(infrt_reading *r, void *out, double least, double most) {
    infrt_json_reader ahead = r->json;
    (void)out;
    (void)least;
    (void)most;
    if (infrt_json_next(&r->json) == '"') {
        infrt_prompt *p = prompt_add(r);
        return p && (p->text = infrt_take_text(r, "a text")) != NULL;
    }
    if (infrt_json_next(&ahead) != '[')
        return infrt_take_wrong(r, "a text, a list of texts, or token ids");
    ahead.at++;
    if (infrt_json_next(&ahead) != '0') return infrt_json_array(&r->json, prompt_take, r);
    return prompt_add(r) && infrt_json_array(&r->json, id_take, r);
}

bool infrt_take_IDS(infrt_reading *r, void *out, double least, double most) {
    (void)out;
    (void)least;
    (void)most;
    if (infrt_json_next(&r->json) != '[') return infrt_take_wrong(r, "a list of token ids");
    return prompt_add(r) && infrt_json_array(&r->json, id_take, r);
}

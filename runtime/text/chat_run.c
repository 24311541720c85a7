/* chat_run.c - statements of templates, and the text that they make.
 * SPDX-License-Identifier: MIT */
#include "chat_state.h"
#include <string.h>

enum { MOST_STEPS = 1 << 24 };

int infrt_chat_step(infrt_chat_state *s) {
    if (s->status == INFRT_CHAT_OK && ++s->steps > MOST_STEPS) s->status = INFRT_CHAT_TOO_MANY;
    return s->status == INFRT_CHAT_OK;
}

/* ---- text and its parts ---------------------------------------------------------------------------------------- */

static void put_part(infrt_chat_state *s, size_t bytes, uint32_t control) {
    infrt_chat_text *out = s->out;
    infrt_text_part *last = out->n_parts ? &out->parts[out->n_parts - 1] : NULL;
    if (last && last->control == control) last->bytes += bytes;
    else if (out->n_parts < out->parts_room)
        out->parts[out->n_parts++] = (infrt_text_part){bytes, control};
    else s->status = INFRT_CHAT_NO_ROOM;
}

static void put(infrt_chat_state *s, const infrt_value *text) {
    infrt_chat_text *out = s->out;
    if (s->status || text->n == 0) return;
    if (text->n > out->room - out->bytes) {
        s->status = INFRT_CHAT_NO_ROOM;
        return;
    }
    memcpy(out->text + out->bytes, text->text, text->n);
    out->bytes += text->n;
    for (size_t at = 0, end; at < text->n && !s->status; at = end) {
        const uint32_t mark = text->marks ? text->marks[at] : text->mark;
        for (end = at + 1; end < text->n && (!text->marks || text->marks[end] == mark); end++) {}
        put_part(s, end - at, mark);
    }
}

/* Takes back what was written from `begin` on, as a value. */
static infrt_value take(infrt_chat_state *s, size_t begin) {
    infrt_chat_text *out = s->out;
    const size_t n = out->bytes - begin;
    char *text = infrt_chat_alloc(s, 2 * n);
    infrt_value value = infrt_value_text("", 0, 1);
    if (!text) return value;
    value.text = text, value.n = n, value.marks = (unsigned char *)text + n;
    memcpy(text, out->text + begin, n);
    while (out->bytes > begin) {
        infrt_text_part *last = &out->parts[out->n_parts - 1];
        const size_t left = out->bytes - begin, taken = last->bytes < left ? last->bytes : left;
        memset(text + n + left - taken, (int)last->control, taken);
        out->bytes -= taken;
        if ((last->bytes -= taken) == 0) out->n_parts--;
    }
    return value;
}

/* ---- variables ------------------------------------------------------------------------------------------------- */

static void push(infrt_chat_state *s, uint32_t id, const infrt_value *value) {
    if (s->n_variables == INFRT_CODE_NAMES) s->status = INFRT_CHAT_NO_ROOM;
    else s->variables[s->n_variables++] = (infrt_chat_variable){id, *value};
}

/* A loop's block has its own: one of the same name outside stays as it is. */
void infrt_chat_set(infrt_chat_state *s, uint32_t id, const infrt_value *value) {
    for (uint32_t i = s->frame; i < s->n_variables; i++) {
        if (s->variables[i].id != id) continue;
        s->variables[i].value = *value;
        return;
    }
    push(s, id, value);
}

/* ---- statements ------------------------------------------------------------------------------------------------ */

static void run(infrt_chat_state *s, uint32_t node);

/* What a condition or a print needed on the way is not needed after it. */
static int is_true(infrt_chat_state *s, uint32_t node) {
    const size_t used = s->used;
    const infrt_value value = infrt_chat_eval(s, node);
    const int yes = infrt_value_true(&value);
    if (!s->status) s->used = used;
    return yes && !s->status;
}

static void print(infrt_chat_state *s, uint32_t node) {
    const size_t used = s->used;
    const infrt_value value = infrt_chat_eval(s, node);
    const infrt_value text = infrt_value_string(s, &value);
    put(s, &text);
    if (!s->status) s->used = used;
}

static void branch(infrt_chat_state *s, const uint32_t *code) {
    for (uint32_t i = 0; i < code[1]; i++) {
        if (is_true(s, code[2 + 2 * i])) {
            run(s, code[3 + 2 * i]);
            return;
        }
        if (s->status) return;
    }
    if (code[2 + 2 * code[1]]) run(s, code[2 + 2 * code[1]]);
}

static void push_item(infrt_chat_state *s, const uint32_t *code, const infrt_value *item) {
    if (code[2] == INFRT_OP_NO_NAME) {
        push(s, code[1], item);
    } else if (item->type == INFRT_VALUE_LIST && item->n == 2) {
        push(s, code[1], &item->items[0]);
        push(s, code[2], &item->items[1]);
    } else (void)infrt_chat_wrong(s, "a loop over pairs meets something else");
}

/* Those items for which the loop's condition holds. */
static infrt_value filtered(infrt_chat_state *s, const uint32_t *code, const infrt_value *items) {
    const uint32_t n_variables = s->n_variables;
    infrt_value kept = infrt_value_list(s, items->n);
    size_t n = 0;
    for (size_t i = 0; i < kept.n && !s->status; i++) {
        push_item(s, code, &items->items[i]);
        if (is_true(s, code[4])) kept.items[n++] = items->items[i];
        s->n_variables = n_variables;
    }
    kept.n = n;
    return kept;
}

/* What a loop set is gone with it, but for what a namespace holds. */
static void forget(infrt_chat_state *s, size_t used) {
    if (!s->status) s->used = used > s->floor ? used : s->floor;
}

/* Jinja runs the block of `else` unless some turn came to its end: `break` and `continue` count as none. */
static void loop(infrt_chat_state *s, const uint32_t *code) {
    int ended = 0;
    const size_t before = s->used;
    const uint32_t n_variables = s->n_variables, frame = s->frame;
    const infrt_value list = infrt_chat_eval(s, code[3]);
    infrt_value items = infrt_value_items(s, &list);
    if (code[4]) items = filtered(s, code, &items);
    const size_t used = s->used;
    s->frame = n_variables;
    for (size_t i = 0; i < items.n && s->jump != INFRT_OP_BREAK && infrt_chat_step(s); i++) {
        const infrt_value self = {
            .type = INFRT_VALUE_LOOP, .items = items.items, .n = items.n, .number = (int64_t)i};
        s->jump = 0;
        push(s, 0, &self);
        push_item(s, code, &items.items[i]);
        run(s, code[5]);
        ended |= s->jump == 0;
        s->n_variables = n_variables;
        forget(s, used);
    }
    s->frame = frame;
    s->jump = 0;
    forget(s, before);
    if (!ended && code[6] && !s->status) run(s, code[6]);
}

static void set_attribute(infrt_chat_state *s, const uint32_t *code) {
    const infrt_value space = infrt_chat_eval(s, code[2]), value = infrt_chat_eval(s, code[3]);
    if (s->status) return;
    s->floor = s->used;
    if (space.type == INFRT_VALUE_SPACE && code[1] < space.n) space.items[code[1]] = value;
    else (void)infrt_chat_wrong(s, "an attribute is set of a value that is no namespace");
}

static void capture(infrt_chat_state *s, const uint32_t *code) {
    const size_t begin = s->out->bytes;
    run(s, code[2]);
    if (s->status) return;
    const infrt_value value = take(s, begin);
    if (!s->status) infrt_chat_set(s, code[1], &value);
}

static void run(infrt_chat_state *s, uint32_t node) {
    const uint32_t *code = s->chat->code + node;
    infrt_value value;
    if (!infrt_chat_step(s)) return;
    switch (code[0]) {
    case INFRT_OP_BLOCK:
        for (uint32_t i = 0; i < code[1] && !s->status && !s->jump; i++) run(s, code[2 + i]);
        break;
    case INFRT_OP_PUT:
        value = infrt_value_text(s->chat->texts + code[1], code[2], 1);
        put(s, &value);
        break;
    case INFRT_OP_PRINT: print(s, code[1]); break;
    case INFRT_OP_IF: branch(s, code); break;
    case INFRT_OP_FOR: loop(s, code); break;
    case INFRT_OP_SET:
        value = infrt_chat_eval(s, code[2]);
        if (!s->status) infrt_chat_set(s, code[1], &value);
        break;
    case INFRT_OP_SET_ATTR: set_attribute(s, code); break;
    case INFRT_OP_CAPTURE: capture(s, code); break;
    default: s->jump = (int)code[0];
    }
}

static void begin(infrt_chat_state *s, const infrt_chat_message *messages, size_t n) {
    s->variables = infrt_chat_alloc(s, INFRT_CODE_NAMES * sizeof *s->variables);
    s->messages = infrt_value_list(s, n);
    for (size_t i = 0; i < s->messages.n; i++)
        s->messages.items[i] = (infrt_value){.type = INFRT_VALUE_MESSAGE, .message = &messages[i]};
}

int infrt_chat_render(const infrt_chat *chat, const infrt_chat_message *messages, size_t n_messages,
                      int answer, infrt_chat_text *out) {
    infrt_chat_state s = {.chat = chat, .answer = answer, .out = out};
    out->bytes = out->n_parts = out->said_bytes = 0;
    out->said = "";
    if (!chat || chat->why_not || !chat->code) return INFRT_CHAT_NONE;
    begin(&s, messages, n_messages);
    if (!s.status) run(&s, chat->code[INFRT_CODE_ROOT]);
    return s.status;
}

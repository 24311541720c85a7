/* adapter_log.c - what became of adapters, in the log: a line for each that was asked for and for each that gave way.
 * Absolute paths are told here alone, to whoever runs the server, and not to clients. */
#define _GNU_SOURCE 1
#include "infrt_os.h"
#include "serve_llm.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void member_put(infrt_out *out, const char *key, const char *text) {
    infrt_out_format(out, ",\"%s\":", key);
    infrt_out_string(out, text, strlen(text));
}

/* Where an open folder is now; nothing where that is not known. */
static void folder_put(infrt_out *out, const char *key, int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return;
    path[n] = 0;
    member_put(out, key, path);
}

static void line_put(infrt_llm_server *s, infrt_out *line) {
    infrt_out_text(line, "}\n");
    infrt_log_put(&s->base.log, line);
    infrt_out_free(line);
}

static void refusal_put(const infrt_llm_server *s, const infrt_refusal *why, infrt_out *line) {
    infrt_out_format(line, ",\"status\":%d", why->status);
    if (why->code) member_put(line, "code", why->code);
    member_put(line, "error", why->text);
    if (s->root_fd >= 0) folder_put(line, "adapter_root", s->root_fd);
}

void infrt_change_log(infrt_llm_server *s, const infrt_adapter_change *change, const infrt_refusal *why) {
    infrt_out line = {0};
    infrt_out_format(&line, "{\"event\":\"%s\"", change->removes ? "adapter_unload" : "adapter_load");
    member_put(&line, "request_id", change->request_id);
    member_put(&line, "name", change->name);
    if (!change->removes) {
        infrt_out_text(&line, ",\"source\":\"");
        infrt_out_add(&line, change->source.at, change->source.n);
        infrt_out_text(&line, "\"");
    }
    member_put(&line, "result", why->status ? "refused" : change->result);
    if (change->bytes) infrt_out_format(&line, ",\"bytes\":%" PRIu64, change->bytes);
    infrt_out_format(&line, ",\"ms\":%.3f", (double)(infrt_os_now_ns() - change->begin_ns) / 1e6);
    if (why->status) refusal_put(s, why, &line);
    line_put(s, &line);
    if (!change->evicted[0]) return;
    infrt_out_text(&line, "{\"event\":\"adapter_evict\"");
    member_put(&line, "name", change->evicted);
    infrt_out_format(&line, ",\"bytes\":%" PRIu64, change->evicted_bytes);
    member_put(&line, "for", change->name);
    line_put(s, &line);
}

void infrt_folders_log(infrt_llm_server *s) {
    const struct {
        const char *event;
        int fd;
    } folders[] = {{"adapter_root", s->root_fd}, {"session_root", s->session_root}};
    for (int i = 0; i < 2; i++) {
        infrt_out line = {0};
        if (folders[i].fd < 0) continue;
        infrt_out_format(&line, "{\"event\":\"%s\"", folders[i].event);
        folder_put(&line, "path", folders[i].fd);
        line_put(s, &line);
    }
}

void infrt_adapters_log(infrt_llm_server *s, const infrt_llm_adapter_facts *facts, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        infrt_out line = {0};
        infrt_out_text(&line, "{\"event\":\"adapter_load\"");
        member_put(&line, "name", facts[i].name);
        infrt_out_format(&line, ",\"result\":\"at the start\",\"bytes\":%" PRIu64, facts[i].bytes);
        line_put(s, &line);
    }
}

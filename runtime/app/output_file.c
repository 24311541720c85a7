/* output_file.c - writing files under their name only when complete. */
#define _GNU_SOURCE 1
#include "output_file.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is not complete, for when a signal ends the program; the newest first. The handler sees the list between any
 * two steps of the thread that writes: an entry is whole before it is linked, and is taken out by one store. */
typedef struct unfinished {
    struct unfinished *volatile next;
    bool folder;
    char path[];
} unfinished;
static unfinished *volatile all_unfinished;

static void on_signal(int number) {
    for (const unfinished *u = all_unfinished; u; u = u->next) {
        if (u->folder) (void)rmdir(u->path);
        else (void)unlink(u->path);
    }
    raise(number); /* as without a handler: SA_RESETHAND */
}

static void handle_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        bool unset = sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL;
        if (unset) sigaction(numbers[i], &action, NULL); /* what the parent ignores stays ignored */
    }
}

/* Null: no memory. */
static char *unfinished_add(const char *path, const char *suffix, bool folder) {
    unfinished *u = malloc(sizeof *u + strlen(path) + strlen(suffix) + 1);
    if (!u) return NULL;
    u->folder = folder;
    strcpy(stpcpy(u->path, path), suffix);
    u->next = all_unfinished;
    handle_signals();
    all_unfinished = u;
    return u->path;
}

static void unfinished_free(const char *path) {
    unfinished *volatile *at = &all_unfinished;
    while (*at && (*at)->path != path) at = &(*at)->next;
    unfinished *u = *at;
    if (!u) return;
    *at = u->next;
    free(u);
}

static void file_free(infrt_output_file *file) {
    free(file->path);
    unfinished_free(file->partial);
    *file = (infrt_output_file){0};
}

infrt_status infrt_output_open(const char *path, infrt_output_file *out, infrt_error *error) {
    struct stat info;
    *out = (infrt_output_file){.path = strdup(path)};
    bool direct = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".part-%ld", (long)getpid());
    if (!direct) out->partial = unfinished_add(path, suffix, false);
    if (!out->path || (!direct && !out->partial)) {
        file_free(out);
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "%s: no memory", path);
    }
    out->stream = fopen(direct ? path : out->partial, "we");
    if (out->stream) return INFRT_OK;
    int reason = errno;
    file_free(out);
    return infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", path, strerror(reason));
}

infrt_status infrt_output_seal(infrt_output_file *file, infrt_status status, infrt_error *error) {
    if (!file->stream) return status;
    int reason = ferror(file->stream) ? EIO : 0; /* of an earlier write: what it was is not kept */
    if (fclose(file->stream) != 0) reason = errno;
    file->stream = NULL;
    if (status == INFRT_OK && reason)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", file->path, strerror(reason));
    if (status != INFRT_OK && file->partial) unlink(file->partial);
    return status;
}

infrt_status infrt_output_close(infrt_output_file *file, infrt_status status, infrt_error *error) {
    status = infrt_output_seal(file, status, error);
    if (status == INFRT_OK && file->partial && rename(file->partial, file->path) != 0)
        status = infrt_fail(error, INFRT_ERR_IO, "%s: cannot write: %s", file->path, strerror(errno));
    if (status != INFRT_OK && file->partial) unlink(file->partial);
    file_free(file);
    return status;
}

infrt_status infrt_output_folder(const char *path, infrt_error *error) {
    struct stat info;
    if (mkdir(path, 0777) == 0) {
        unfinished_add(path, "", true); /* goes with what is in it, for good: a folder with complete files stays */
        return INFRT_OK;
    }
    int reason = errno;
    if (reason == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return INFRT_OK;
    return infrt_fail(error, INFRT_ERR_IO, "%s: cannot make this folder: %s", path, strerror(reason));
}

/* Runs a fuzz target over files and the files of folders: how its corpus is a test without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/base/file.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path) {
    infc_bytes bytes;
    if (infc_file_try_map(path, &bytes) != 0) return 0;
    uint8_t *copy = malloc(bytes.len ? bytes.len : 1); /* so that a sanitizer sees a read past the end */
    if (!copy) abort();
    memcpy(copy, bytes.ptr, bytes.len);
    LLVMFuzzerTestOneInput(copy, bytes.len);
    free(copy);
    infc_file_unmap(bytes);
    return 1;
}

static int replay_all(const char *path) {
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort), n_files = 0;
    if (n < 0) return replay(path);
    infc_arena *arena = infc_arena_create();
    for (int i = 0; i < n; i++) {
        n_files += replay(infc_path_join(arena, path, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    infc_arena_destroy(&arena);
    return n_files;
}

int main(int argc, char **argv) {
    int n_files = 0;
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) n_files += replay_all(argv[i]);
    printf("%d inputs\n", n_files);
    return n_files > 0 ? 0 : 1;
}

/* check_wasm.c - WebAssembly: check_wasm.mjs lends it files.
 * SPDX-License-Identifier: MIT */
#include "check_os.h"

__attribute__((import_module("check"), import_name("read"))) size_t check_lent_read(void *to, size_t bytes);
__attribute__((import_module("check"), import_name("write"))) void check_lent_write(const void *from, size_t bytes);

size_t check_os_read(void *to, size_t bytes) { return check_lent_read(to, bytes); }
void check_os_write(const void *from, size_t bytes) { check_lent_write(from, bytes); }

__attribute__((export_name("run"))) int check_exported_run(void);
int check_exported_run(void) { return check_run(); }

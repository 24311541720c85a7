/* keep_decode.c - the reference kernels for weights of GGUF files, for tests/kernels/keep_gguf.py.
 *
 *   keep_decode FORMAT N K M < rows and x > results
 *
 * FORMAT: number of the type in GGUF; rows: N as they are stored, packed here with pack_keep; x: M rows of K f32.
 * Results: the rows as f32 (embed_keep), then y[M][N] of linear_keep over x through quantize_groups. */
#include "templates/reference.h"
#include <stdio.h>
#include <stdlib.h>

static void call(infk_kind kind, const void *dims, const void *const *in, void *out) {
    for (size_t i = 0; i < infk_kernel_count(); i++) /* the first of a kind is its reference */
        if (infk_kernel_at(i)->kind == kind) {
            infk_reference_find(infk_kernel_at(i))(dims, in, out, 0, infk_units(kind, dims));
            return;
        }
}

static void *room(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p) exit(1);
    return p;
}

static void *from_input(size_t bytes) {
    void *p = room(bytes);
    if (fread(p, 1, bytes, stdin) != bytes) {
        fprintf(stderr, "keep_decode: input ends early\n");
        exit(1);
    }
    return p;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    const ptrdiff_t format = atol(argv[1]), n = atol(argv[2]), k = atol(argv[3]), m = atol(argv[4]);
    const ptrdiff_t row = format < 9 ? k / 32 *
                                           (format == 2   ? 18
                                            : format == 3 ? 20
                                            : format == 6 ? 22
                                                          : 34)
                                     : k / 256 * (format == 12 ? 144 : 210);
    const ptrdiff_t record = infk_groups_record(k), packed_bytes = infk_keep_bytes(format, n, k, 1);
    if (packed_bytes == 0) return 2;
    void *rows = from_input((size_t)(n * row)), *x = from_input((size_t)(m * k) * 4);
    void *packed = room((size_t)packed_bytes), *records = room((size_t)(m * record));
    int32_t *ids = room((size_t)n * 4);
    float *weights = room((size_t)(n * k) * 4), *y = room((size_t)(m * n) * 4);
    for (ptrdiff_t i = 0; i < n; i++) ids[i] = (int32_t)i;
    const infk_keep_dims pack = {m, n, k, format, record, n, 1}, embed = {n, n, k, format, 0, k, 1};
    const infk_groups_dims groups = {m, k, record, 0};
    call(INFK_pack_keep, &pack, (const void *const[]){rows}, packed);
    call(INFK_embed_keep, &embed, (const void *const[]){ids, packed}, weights);
    call(INFK_quantize_groups, &groups, (const void *const[]){x}, records);
    call(INFK_linear_keep, &pack, (const void *const[]){records, packed}, y);
    fwrite(weights, 4, (size_t)(n * k), stdout);
    return fwrite(y, 4, (size_t)(m * n), stdout) == (size_t)(m * n) ? 0 : 1;
}

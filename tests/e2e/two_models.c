/* Two libraries in one program, each run by several threads at once, whole and split over two workers. */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include "digits.h"
#include "other.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 200 };

static float image[64], expected[10];

static void *run_alone(void *failed) {
    static _Thread_local _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES(1)];
    static _Thread_local _Alignas(OTHER_ARENA_ALIGN) unsigned char other_arena[OTHER_ARENA_BYTES(1)];
    for (int round = 0; round < ROUNDS; round++) {
        float a[10], b[10];
        digits_inputs in = {image};
        digits_outputs out = {a};
        other_inputs other_in = {image};
        other_outputs other_out = {b};
        int status = digits_run(digits_weights_embedded(), arena, &in, &out) +
                     other_run(other_weights_embedded(), other_arena, &other_in, &other_out);
        if (status != 0 || memcmp(a, expected, sizeof a) != 0 || memcmp(b, expected, sizeof b) != 0)
            *(int *)failed = 1;
    }
    return NULL;
}

typedef struct meeting {
    pthread_barrier_t barrier;
} meeting;
static void meet(void *self, uint32_t worker) {
    (void)worker;
    pthread_barrier_wait(&((meeting *)self)->barrier);
}

typedef struct part {
    void *arena;
    float *answer;
    const infc_barrier *barrier;
    uint32_t worker;
} part;
static void *run_part(void *argument) {
    const part *p = argument;
    digits_inputs in = {image};
    digits_outputs out = {p->answer};
    digits_run_part(digits_weights_embedded(), p->arena, &in, &out, p->worker, 2, p->barrier);
    return NULL;
}

static int split_differs(void) {
    static _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES(2)];
    float answer[10];
    meeting m;
    infc_barrier barrier = {meet, &m};
    pthread_barrier_init(&m.barrier, NULL, 2);
    part parts[2] = {{arena, answer, &barrier, 0}, {arena, answer, &barrier, 1}};
    pthread_t thread;
    pthread_create(&thread, NULL, run_part, &parts[1]);
    run_part(&parts[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&m.barrier);
    return memcmp(answer, expected, sizeof answer) != 0;
}

int main(void) {
    static _Alignas(DIGITS_ARENA_ALIGN) unsigned char arena[DIGITS_ARENA_BYTES(1)];
    digits_inputs in = {image};
    digits_outputs out = {expected};
    int failed[THREADS] = {0}, any = 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < 64; i++) image[i] = (float)(i % 17) / 16.0f;
    if (digits_run(digits_weights_embedded(), arena, &in, &out) != 0) return 1;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run_alone, &failed[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        any |= failed[i];
    }
    any |= split_differs();
    puts(any ? "results differ" : "all the same");
    return any;
}

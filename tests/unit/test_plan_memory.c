/* Offsets and barriers on random plans, checked byte by byte against their definitions. */
#include "compiler/plan/plan.h"
#include "cx_fixture.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_BUFFERS = 24, MAX_STEPS = 20 };

typedef struct fixture {
    infc_plan plan;
    infc_plan_buffer buffers[MAX_BUFFERS];
    infc_plan_step steps[MAX_STEPS];
    infc_plan_store stores[MAX_STEPS];
    infc_plan_extra extras[MAX_STEPS];
    infc_plan_guard guards[MAX_STEPS];
} fixture;

static uint64_t seed = 1;
static int random_below(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

/* A chain: step s writes buffer s and reads two earlier ones, one as an operand and one as an extra; a third of them
 * depend on a condition in one more. */
static void random_plan(fixture *f) {
    memset(f, 0, sizeof *f);
    int n = 2 + random_below(MAX_STEPS - 2);
    f->plan.buffers = f->buffers, f->plan.n_buffers = n;
    f->plan.steps = f->steps, f->plan.n_steps = n;
    f->plan.stores = f->stores, f->plan.n_stores = n;
    f->plan.extras = f->extras, f->plan.n_extras = n;
    f->plan.guards = f->guards, f->plan.n_guards = n;
    for (int s = 0; s < n; s++) {
        f->buffers[s] = (infc_plan_buffer){.place = INFC_PLACE_ARENA,
                                           .bytes = (uint64_t)(4 + 4 * random_below(400)),
                                           .first = s,
                                           .last = s,
                                           .alias_of = -1};
        f->stores[s].buffer = s;
        f->steps[s] = (infc_plan_step){
            .scratch = -1, .first_store = s, .n_stores = 1, .first_extra = s, .units = random_below(3) ? 8 : 1};
        if (s == 0) continue;
        f->steps[s].operands[0] = random_below(s), f->steps[s].n_operands = 1;
        f->extras[s].buffer = random_below(s), f->steps[s].n_extras = 1;
        f->buffers[f->steps[s].operands[0]].last = s;
        f->buffers[f->extras[s].buffer].last = s;
        if (random_below(3)) continue;
        f->guards[s].buffer = random_below(s), f->steps[s].guard = s;
        f->buffers[f->guards[s].buffer].last = s;
    }
}

static void lives_do_not_collide(void **state) {
    (void)state;
    for (int round = 0; round < 500; round++) {
        fixture f;
        random_plan(&f);
        infc_plan_place(&cx, &f.plan);
        assert_true(f.plan.arena_bytes >= f.plan.arena_lower_bound);
        for (int a = 0; a < f.plan.n_buffers; a++) {
            assert_int_equal(f.buffers[a].offset % INFC_ALIGN, 0);
            assert_true(f.buffers[a].offset + f.buffers[a].bytes + INFC_OVER_READ <= f.plan.arena_bytes);
            for (int b = 0; b < a; b++) {
                bool live = f.buffers[a].first <= f.buffers[b].last &&
                            f.buffers[b].first <= f.buffers[a].last;
                bool apart = f.buffers[a].offset >= f.buffers[b].offset + f.buffers[b].bytes ||
                             f.buffers[b].offset >= f.buffers[a].offset + f.buffers[a].bytes;
                assert_true(!live || apart);
            }
        }
    }
}

/* Two buffers of 64 bytes live together, then a third alone: by hand, 2 * (64 + 64) bytes. */
static void memory_is_reused(void **state) {
    (void)state;
    fixture f = {0};
    for (int s = 0; s < 4; s++)
        f.buffers[s] = (infc_plan_buffer){
            .place = INFC_PLACE_ARENA, .bytes = 64, .first = s, .last = s + 1, .alias_of = -1};
    f.plan.buffers = f.buffers, f.plan.n_buffers = 4, f.plan.n_steps = 5;
    infc_plan_place(&cx, &f.plan);
    assert_int_equal(f.plan.arena_bytes, 256);
    assert_int_equal(f.plan.arena_lower_bound, 256);
}

typedef struct touch {  /* of one byte since the last barrier */
    int writer, reader; /* step + 1 */
    bool by_all;        /* every worker reads it, whatever its part */
} touch;

static bool separate(const fixture *f, int a, int b) {
    return a == b || (f->steps[a].units == 1 && f->steps[b].units == 1);
}

/* Runs the steps over a map of bytes; true when no byte is shared by workers between two barriers. */
static bool race_free(const fixture *f, touch *bytes) {
    bool clean = true;
    memset(bytes, 0, f->plan.arena_bytes * sizeof *bytes);
    for (int s = 0; s < f->plan.n_steps; s++) {
        if (f->steps[s].barrier) memset(bytes, 0, f->plan.arena_bytes * sizeof *bytes);
        int reads[2] = {f->steps[s].n_operands ? f->steps[s].operands[0] : -1,
                        f->steps[s].n_extras ? f->extras[s].buffer : -1};
        for (int r = 0; r < 2; r++)
            for (uint64_t i = 0; reads[r] >= 0 && i < f->buffers[reads[r]].bytes; i++) {
                touch *t = &bytes[f->buffers[reads[r]].offset + i];
                if (t->writer && !separate(f, t->writer - 1, s)) clean = false;
                t->reader = t->reader && f->steps[t->reader - 1].units != 1 ? t->reader : s + 1;
            }
        const infc_plan_buffer *condition = &f->buffers[f->guards[s].buffer];
        for (uint64_t i = 0; f->steps[s].guard && i < condition->bytes; i++) {
            touch *t = &bytes[condition->offset + i];
            if (t->writer) clean = false;
            t->by_all = true;
        }
        for (uint64_t i = 0; i < f->buffers[s].bytes; i++) {
            touch *t = &bytes[f->buffers[s].offset + i];
            if (t->by_all) clean = false;
            if (t->writer && !separate(f, t->writer - 1, s)) clean = false;
            if (t->reader && !separate(f, t->reader - 1, s)) clean = false;
            t->writer = t->writer && f->steps[t->writer - 1].units != 1 ? t->writer : s + 1;
        }
    }
    return clean;
}

static void barriers_are_enough_and_needed(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        fixture f;
        random_plan(&f);
        infc_plan_place(&cx, &f.plan);
        touch *bytes = malloc(f.plan.arena_bytes * sizeof *bytes);
        infc_plan_barriers(&f.plan);
        assert_true(race_free(&f, bytes));
        for (int s = 0; s < f.plan.n_steps; s++) {
            if (!f.steps[s].barrier) continue;
            f.steps[s].barrier = 0;
            assert_false(race_free(&f, bytes));
            f.steps[s].barrier = 1;
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CX_TEST(lives_do_not_collide),
        CX_TEST(memory_is_reused),
        CX_TEST(barriers_are_enough_and_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

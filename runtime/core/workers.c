/* workers.c - a team of persistent threads that run one function together.
 *
 * Everything waits at gates. A gate is a counter that somebody advances; to wait is to spin a little, then to
 * say "I sleep" and sleep on the counter (a futex). The one who advances it wakes only if somebody sleeps:
 * both sides write their own word before they read the other's, in one total order, so either the sleeper
 * sees the new count or the other sees the sleeper.
 * A run: worker 0 publishes the task and opens `start`; all run it; all meet at the barrier.
 *
 * On a busy machine two workers may sit on the same CPU, and spinning only keeps the other one waiting. So a
 * worker whose last few spins at a gate were in vain sleeps at once there, but for a try now and then. */
#define _GNU_SOURCE 1
#include "infrt_os.h"
#include "workers.h"
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <string.h>

enum { SPIN_NS = 100000, SPIN_BATCH = 32, VAIN_SPINS = 3, SPIN_AGAIN = 16 };

typedef struct gate {
    alignas(INFC_ALIGN) _Atomic uint32_t count; /* a cache line of its own */
    _Atomic uint32_t sleepers;
} gate;

/* What one worker has seen of spinning at one gate. */
typedef struct patience {
    uint32_t vain, waits; /* spins in vain in a row; waits since */
} patience;

typedef struct member {
    alignas(INFC_ALIGN) infrt_workers *team;
    pthread_t thread;
    patience start, met;
} member;

struct infrt_workers {
    gate start, met;
    alignas(INFC_ALIGN) _Atomic uint32_t arrived;
    alignas(INFC_ALIGN) void (*task)(void *self, uint32_t worker); /* null: stop */
    void *task_self;
    uint32_t n, n_started; /* n_started counts worker 0 */
    uint64_t spin_ns;
    size_t block_bytes;
    infc_barrier barrier;
    member members[];
};

static void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory"); /* waits longer than yield, which most cores ignore */
#elif defined(__riscv)
    __asm__ __volatile__(".4byte 0x0100000f" ::
                             : "memory"); /* pause; a fence where it is not known */
#endif
}

/* Whether the gate opened within `spin_ns`. */
static bool gate_spin(gate *g, uint32_t old, uint64_t spin_ns) {
    uint64_t end = infrt_os_now_ns() + spin_ns;
    do {
        for (int i = 0; i < SPIN_BATCH; i++) {
            if (atomic_load_explicit(&g->count, memory_order_acquire) != old) return true;
            cpu_relax();
        }
    } while (infrt_os_now_ns() < end);
    return false;
}

static void gate_wait(gate *g, uint32_t old, uint64_t spin_ns, patience *p) {
    if (atomic_load_explicit(&g->count, memory_order_acquire) != old) return;
    if (spin_ns && (p->vain < VAIN_SPINS || ++p->waits % SPIN_AGAIN == 0)) {
        bool opened = gate_spin(g, old, spin_ns);
        p->vain = opened ? 0 : p->vain + 1;
        if (opened) return;
    }
    atomic_fetch_add(&g->sleepers, 1);
    while (atomic_load(&g->count) == old) infrt_os_sleep(&g->count, old);
    atomic_fetch_sub(&g->sleepers, 1);
}

static void gate_open(gate *g) {
    atomic_fetch_add(&g->count, 1);
    if (atomic_load(&g->sleepers) > 0) infrt_os_wake(&g->count);
}

static void barrier_wait(void *self, uint32_t worker) {
    infrt_workers *team = self;
    uint32_t old = atomic_load_explicit(&team->met.count, memory_order_relaxed); /* cannot advance without us */
    if (atomic_fetch_add_explicit(&team->arrived, 1, memory_order_acq_rel) + 1 == team->n) {
        atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
        gate_open(&team->met);
    } else {
        gate_wait(&team->met, old, team->spin_ns, &team->members[worker].met);
    }
}

static void *member_main(void *argument) {
    member *self = argument;
    infrt_workers *team = self->team;
    uint32_t worker = (uint32_t)(self - team->members);
    for (uint32_t runs = 0;; runs++) {
        gate_wait(&team->start, runs, team->spin_ns, &self->start);
        if (!team->task) return NULL;
        team->task(team->task_self, worker);
        barrier_wait(team, worker);
    }
}

static void stop(infrt_workers *team) {
    team->task = NULL;
    gate_open(&team->start);
    for (uint32_t i = 1; i < team->n_started; i++) pthread_join(team->members[i].thread, NULL);
}

/* Threads take no signals: a handler of the program runs on the program's threads. */
static int start(infrt_workers *team) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = 0;
    for (uint32_t i = 1; i < team->n && !failed; i++) {
        team->members[i].team = team;
        failed = pthread_create(&team->members[i].thread, NULL, member_main, &team->members[i]);
        if (!failed) team->n_started = i + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static infrt_status create(uint32_t n, bool fitting, infrt_workers **out, infrt_error *error) {
    *out = NULL;
    if (n < 1 || n > INFRT_MAX_WORKERS)
        return infrt_fail(error, INFRT_ERR_USAGE, "%u workers: give 1 to %u", n, INFRT_MAX_WORKERS);
    size_t bytes = sizeof(infrt_workers) + n * sizeof(member);
    infrt_workers *team = infrt_os_block_create(bytes);
    if (!team)
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "no memory for a team of %u workers", n);
    team->n = n;
    team->n_started = 1;
    team->block_bytes = bytes;
    team->barrier = (infc_barrier){barrier_wait, team};
    team->spin_ns = n > 1 && (fitting || n <= infrt_workers_available()) ? SPIN_NS : 0;
    int failed = start(team);
    if (failed) {
        uint32_t got = team->n_started;
        infrt_workers_destroy(&team);
        return infrt_fail(error, INFRT_ERR_NO_MEMORY, "started %u of %u workers: %s; use fewer",
                          got, n, strerror(failed));
    }
    *out = team;
    return INFRT_OK;
}

infrt_status infrt_workers_create(uint32_t n, infrt_workers **out, infrt_error *error) {
    return create(n, false, out, error);
}

infrt_status infrt_workers_create_fitting(uint32_t n, infrt_workers **out, infrt_error *error) {
    return create(n, true, out, error);
}

void infrt_workers_run(infrt_workers *team, void (*task)(void *self, uint32_t worker), void *self) {
    if (team->n == 1) {
        task(self, 0);
        return;
    }
    team->task = task;
    team->task_self = self;
    gate_open(&team->start);
    task(self, 0);
    barrier_wait(team, 0);
}

const infc_barrier *infrt_workers_barrier(const infrt_workers *team) {
    return team->n > 1 ? &team->barrier : NULL;
}

uint32_t infrt_workers_count(const infrt_workers *team) { return team->n; }

void infrt_workers_destroy(infrt_workers **team) {
    if (!team || !*team) return;
    stop(*team);
    infrt_os_block_destroy(*team, (*team)->block_bytes);
    *team = NULL;
}

uint32_t infrt_workers_available(void) {
    uint32_t cpus = infrt_os_affinity(), quota = cpus > 1 ? infrt_os_cpu_quota("") : cpus; /* one is the least */
    uint32_t n = cpus < quota ? cpus : quota;
    return n < INFRT_MAX_WORKERS ? n : INFRT_MAX_WORKERS;
}

uint32_t infrt_workers_default(const infc_model *model) {
    uint64_t worth = infrt_model_flops(model) / 10000000;
    if (worth < 2) return 1;
    uint32_t available = infrt_workers_available();
    return worth < available ? (uint32_t)worth : available;
}

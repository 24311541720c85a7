/* One loop over poll(2) feeds all running jobs: it reads what they print, so that no pipe fills up
 * and blocks, and learns of their end through a pidfd, or by asking every few milliseconds where the
 * kernel has none. Each job is a process group of its own, so that ending it ends its children. */
#include "subprocess.h"
#include "interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_PARALLEL = 256,
    MAX_OUTPUT = 16 << 20,
    ASK_MS = 5,       /* between two looks at a child where there is no pidfd */
    GRACE_SECONDS = 2 /* between SIGTERM and SIGKILL */
};

typedef struct running {
    infc_job *job; /* null: free slot */
    pid_t pid;
    int pipe_fd, pid_fd; /* -1: closed; -1: none */
    infc_buf output;
    double start;
} running;

static double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void child_say(const char *text) {
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

/* Between fork and exec: async-signal-safe calls only. */
static _Noreturn void child_exec(const infc_job *job, const char *program,
                                 const char *const *environment, int out, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); /* it died before the line above */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0) dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (job->cwd && chdir(job->cwd) < 0) {
        child_say("cannot enter the folder ");
        child_say(job->cwd);
        child_say("\n");
        _exit(127);
    }
    execve(program, (char *const *)(uintptr_t)job->argv, (char *const *)(uintptr_t)environment);
    child_say("cannot run ");
    child_say(program);
    child_say("\n");
    _exit(127);
}

/* Ours, with the job's folder for temporary files. */
static const char *const *environment_of(infc_arena *arena, const infc_job *job) {
    size_t n = 0, kept = 0;
    if (!job->temp) return (const char *const *)(uintptr_t)environ;
    while (environ[n]) n++;
    const char **out = INFC_NEW(arena, const char *, n + 2);
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], "TMPDIR=", strlen("TMPDIR=")) != 0) out[kept++] = environ[i];
    }
    out[kept] = infc_arena_printf(arena, "TMPDIR=%s", job->temp);
    return out;
}

static infc_status start(infc_cx *cx, running *slot, infc_job *job) {
    job->exit_code = 127;
    job->seconds = 0;
    job->late = false;
    const char *program = infc_program_find(cx->arena, job->argv[0]);
    if (!program) {
        job->output = infc_arena_printf(cx->arena, "%s: not found on PATH\n", job->argv[0]);
        return INFC_OK;
    }
    if (job->cwd && *program != '/') {
        char *full = realpath(program, NULL);
        if (full) program = infc_arena_copy_string(cx->arena, full, strlen(full));
        free(full);
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return infc_fail(cx, INFC_ERR_IO, INFC_NO_LOC, "cannot make a pipe: %s", strerror(errno));
    }
    *slot = (running){.job = job, .pipe_fd = ends[0], .pid_fd = -1, .output = {.arena = cx->arena}};
    slot->start = now_seconds();
    const char *const *environment = environment_of(cx->arena, job);
    pid_t parent = getpid();
    slot->pid = fork();
    if (slot->pid == 0) child_exec(job, program, environment, ends[1], parent);
    int error = errno;
    close(ends[1]);
    if (slot->pid < 0) {
        close(ends[0]);
        slot->job = NULL;
        return infc_fail(cx, INFC_ERR_IO, INFC_NO_LOC, "cannot start %s: %s", program, strerror(error));
    }
    setpgid(slot->pid, slot->pid); /* both sides, so that neither has to wait for the other */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    slot->pid_fd = (int)syscall(SYS_pidfd_open, slot->pid, 0);
    return INFC_OK;
}

/* Reads what is there now; closes the pipe at its end. */
static void drain(running *slot) {
    char chunk[1 << 14];
    while (slot->pipe_fd >= 0) {
        ssize_t n = read(slot->pipe_fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            close(slot->pipe_fd);
            slot->pipe_fd = -1;
        } else if (slot->output.len < MAX_OUTPUT) {
            infc_buf_put(&slot->output, chunk, (size_t)n);
            if (slot->output.len >= MAX_OUTPUT)
                infc_buf_puts(&slot->output, "\n[the rest is cut off]\n");
        }
    }
}

/* Takes the result of a child that has ended. What its own children still print is not waited for. */
static bool finish(running *slot) {
    int status;
    pid_t pid = waitpid(slot->pid, &status, WNOHANG);
    if (pid == 0 || (pid < 0 && errno == EINTR)) return false;
    slot->job->seconds = now_seconds() - slot->start;
    drain(slot);
    if (slot->pipe_fd >= 0) close(slot->pipe_fd);
    if (slot->pid_fd >= 0) close(slot->pid_fd);
    slot->job->exit_code = pid < 0               ? 127
                           : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                                 : WEXITSTATUS(status);
    slot->job->output = infc_buf_str(&slot->output);
    slot->job = NULL;
    return true;
}

static void stop_late(running *slot) {
    infc_job *job = slot->job;
    if (job->limit <= 0 || job->late || now_seconds() - slot->start < job->limit) return;
    job->late = true;
    kill(-slot->pid, SIGKILL);
}

/* Waits until something happens, reads all output; returns how many jobs ended. */
static size_t pump(running *slots, int n_slots) {
    struct pollfd fds[2 * MAX_PARALLEL];
    nfds_t n = 0;
    int timeout = 100; /* an interrupt may arrive just before poll */
    for (int i = 0; i < n_slots; i++) {
        if (!slots[i].job) continue;
        if (slots[i].pipe_fd >= 0)
            fds[n++] = (struct pollfd){.fd = slots[i].pipe_fd, .events = POLLIN};
        if (slots[i].pid_fd >= 0)
            fds[n++] = (struct pollfd){.fd = slots[i].pid_fd, .events = POLLIN};
        else timeout = ASK_MS;
    }
    poll(fds, n, timeout);
    size_t ended = 0;
    for (int i = 0; i < n_slots; i++) {
        if (!slots[i].job) continue;
        drain(&slots[i]);
        stop_late(&slots[i]);
        ended += finish(&slots[i]);
    }
    return ended;
}

static void signal_all(const running *slots, int n_slots, int number) {
    for (int i = 0; i < n_slots; i++) {
        if (slots[i].job) kill(-slots[i].pid, number);
    }
}

/* Ends and reaps everything that still runs. */
static void stop_all(running *slots, int n_slots, size_t n_running) {
    double deadline = now_seconds() + (double)GRACE_SECONDS;
    signal_all(slots, n_slots, SIGTERM);
    while (n_running > 0) {
        n_running -= pump(slots, n_slots);
        if (n_running > 0 && now_seconds() > deadline) signal_all(slots, n_slots, SIGKILL);
    }
}

infc_status infc_jobs_run(infc_cx *cx, infc_job *jobs, size_t n, int parallel) {
    int n_slots = parallel > 0 ? parallel : infc_core_count();
    if (n_slots > MAX_PARALLEL) n_slots = MAX_PARALLEL;
    running *slots = INFC_NEW(cx->arena, running, (size_t)n_slots);
    size_t next = 0, n_running = 0;
    infc_status status = INFC_OK;
    while (status == INFC_OK && (next < n || n_running > 0)) {
        for (int i = 0; i < n_slots && next < n && status == INFC_OK; i++) {
            if (slots[i].job) continue;
            status = start(cx, &slots[i], &jobs[next++]);
            n_running += slots[i].job != NULL;
        }
        if (n_running > 0) n_running -= pump(slots, n_slots);
        if (status == INFC_OK) status = infc_interrupt_check(cx);
    }
    stop_all(slots, n_slots, n_running);
    return status;
}

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

const char *infc_program_find(infc_arena *arena, const char *program) {
    if (strchr(program, '/')) return is_program(program) ? program : NULL;
    const char *path = getenv("PATH");
    if (!path || !*program) return NULL;
    for (const char *dir = path;; dir++) {
        size_t length = strcspn(dir, ":");
        const char *full = length ? infc_arena_printf(arena, "%.*s/%s", (int)length, dir, program)
                                  : infc_arena_printf(arena, "./%s", program);
        if (is_program(full)) return full;
        dir += length;
        if (!*dir) return NULL;
    }
}

int infc_core_count(void) {
    cpu_set_t set[8]; /* 8192 processors */
    if (sched_getaffinity(0, sizeof set, set) < 0) return 1;
    int count = CPU_COUNT_S(sizeof set, set);
    return count > 0 ? count : 1;
}

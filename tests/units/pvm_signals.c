/* Tests compiled code in a process with signals of its own: handlers that were installed before,
 * signals that are sent, interrupts of machines that do not run, and a stress test in which threads
 * start and end while all of these happen.
 *
 *     pvm_signals_test [ROUNDS [SEED]]      rounds of the stress test, 60 by default */
#include "support.h"
#include "penta/pvm.h"
#include "pvm/jit/jit.h"
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
/* This sanitizer delays signals that are no faults. It calls handlers of faults and traps at
 * once, and deadlocks when they interrupt its own code. So none are sent to machines that are
 * often in C code, and none in the stress test. */
#define DELAYED_SIGNALS 1
#endif
#endif

/* The alternate stacks of the sanitizer are turned off, because those of the library are tested. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "use_sigaltstack=0"; }

enum {
    LIMIT = 120,      /* the seconds that one scenario may take */
    BLOCK = 64 << 10, /* the size of an alternate stack in bytes */
    TRAP_FLAG = 0x100
};

static const char source[] =
    "%stack_size = 4096\n"
    "pub @round:\n a0 = a0 + 1\n a1 = a0 /u a2\n i32 a3 = a3 + 1\n u64 [sp - 8] = a0\n jump "
    "@round\n"
    "pub @once:\n a0 = a0 + 1\n u64 [sp - 8] = a0\n a0 = u64 [sp - 8]\n ret\n"
    "pub @fault:\n a0 = u64 [0x10]\n ret\n"
    "pub @asks:\n ecalli 0\n jump @asks\n";

static penta_module *module;
static uint32_t round_pc, once_pc, fault_pc, asks_pc;

static void open_module(void)
{
    penta_option isa = {"isa", "latest64"};
    module = assembled_with("pvm", source, &isa, 1);
    CHECK(penta_pvm_export(module, "round", &round_pc) &&
          penta_pvm_export(module, "once", &once_pc));
    CHECK(penta_pvm_export(module, "fault", &fault_pc) &&
          penta_pvm_export(module, "asks", &asks_pc));
}

#define CALL                                                                                       \
    {                                                                                              \
        "call", "once"                                                                             \
    }
#define GAS                                                                                        \
    {                                                                                              \
        "gas", "9000000000000000000"                                                               \
    }
static const struct way {
    const char *engine;
    penta_option options[3];
    size_t count;
} ways[] = {{"jit", {CALL}, 1},
            {"jit", {CALL, GAS}, 2},
            {"jit", {CALL, GAS, {"gas-mode", "async"}}, 3},
            {"jit", {CALL, {"poll", "1"}}, 2},
            {"both", {CALL}, 1},
            {"interp", {CALL}, 1}};
enum { WAYS = sizeof ways / sizeof *ways, COMPILED = 4 };
#ifdef DELAYED_SIGNALS
enum { FIRST = 3 }; /* From this count on interrupts need no signal. */
#else
enum { FIRST = 0 };
#endif

static penta_vm *pvm_signals_machine(const struct way *way)
{
    penta_error err = {0};
    penta_vm *vm = penta_vm_new(module, way->engine, way->options, way->count, NULL, &err);
    CHECK(vm && !strcmp(vm->engine->name, way->engine));
    if (!vm) exit(1);
    return vm;
}

static int thread_number(void) { return (int)syscall(SYS_gettid); }
static void send_to(int thread, int sig) { syscall(SYS_tgkill, getpid(), thread, sig); }

static unsigned long failed_before; /* how many checks had failed before the scenario in this
                                     * child */

static int in_child(void (*scenario)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        alarm(LIMIT);
        failed_before = checks_failed();
        scenario();
        fflush(stdout);
        _exit(checks_failed() > failed_before);
    }
    waitpid(child, &status, 0);
    return status;
}

static bool pvm_signals_well(int status) { return WIFEXITED(status) && !WEXITSTATUS(status); }
static bool pvm_signals_killed(int status, int sig)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

static atomic_int seen;
static volatile bool had_own, had_other;
static volatile int nest;

static void note_mask(int sig, siginfo_t *info, void *context)
{
    sigset_t mask;
    (void)info, (void)context;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    had_own = sigismember(&mask, sig);
    had_other = sigismember(&mask, SIGUSR2);
    seen++;
    if (nest && nest--) raise(sig);
}

static void set_handler(int sig, void (*handler)(int, siginfo_t *, void *), int pvm_signals_flags,
                        int masked)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | pvm_signals_flags};
    sigemptyset(&action.sa_mask);
    if (masked) sigaddset(&action.sa_mask, masked);
    sigaction(sig, &action, NULL);
}

static bool pvm_signals_blocked(int sig)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, sig);
}

static void pvm_signals_masks(void)
{
    set_handler(SIGSEGV, note_mask, 0, SIGUSR2);
    set_handler(SIGBUS, note_mask, SA_NODEFER, 0);
    penta_vm_free(pvm_signals_machine(&ways[0]));
    raise(SIGSEGV);
    CHECK(seen == 1 && had_own && had_other);
    CHECK(!pvm_signals_blocked(SIGSEGV) && !pvm_signals_blocked(SIGUSR2));
    nest = 2;
    raise(SIGBUS);
    CHECK(seen == 4 && !had_own && !had_other && !nest);
    CHECK(!pvm_signals_blocked(SIGBUS));
}

static void called_once(void)
{
    set_handler(SIGSEGV, note_mask, (int)SA_RESETHAND, 0);
    penta_vm_free(pvm_signals_machine(&ways[0]));
    raise(SIGSEGV);
    /* The signal ends the process. */
    if (seen == 1 && checks_failed() == failed_before) raise(SIGSEGV);
}

static void pvm_signals_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    penta_vm_free(pvm_signals_machine(&ways[0]));
    raise(SIGSEGV);
    kill(getpid(), SIGSEGV);
}

static void pvm_signals_breakpoint(void)
{
    signal(SIGTRAP, SIG_DFL);
    penta_vm_free(pvm_signals_machine(&ways[0]));
    __asm__ volatile("int3");
}

static void pvm_signals_flags(void)
{
    penta_vm_free(pvm_signals_machine(&ways[0]));
    static const int ours[] = {SIGSEGV, SIGBUS, SIGTRAP};
    for (int i = 0; i < 3; i++) {
        struct sigaction now;
        sigaction(ours[i], NULL, &now);
        CHECK(now.sa_flags & SA_RESTART && now.sa_flags & SA_ONSTACK);
    }
}

struct runner {
    penta_vm *vm;
    penta_stop stop;
    atomic_int thread;
    pthread_t handle;
};

static void *run_on(void *user)
{
    struct runner *r = user;
    r->thread = thread_number();
    penta_vm_run(r->vm, UINT64_MAX, &r->stop);
    return NULL;
}

static void start_round(penta_vm *vm)
{
    penta_pvm_call(vm, round_pc, NULL, 0);
    penta_pvm_register_set(vm, PENTA_PVM_A2, 7);
}

static void start_running(struct runner *r)
{
    start_round(r->vm);
    pthread_create(&r->handle, NULL, run_on, r);
    while (!atomic_load(&pvm_vm(r->vm)->runner)) usleep(100);
    usleep(10000);
}

/* Checks that the state is one between two instructions: after the rest of the round, the sums
 * must be right. */
static void check_round(penta_vm *vm, penta_stop *stop)
{
    while (stop->pc != round_pc) {
        penta_vm_run(vm, 1, stop);
        if (stop->kind != PENTA_STOP_FUEL && stop->kind != PENTA_STOP_INTERRUPT) break;
    }
    uint64_t a0 = penta_pvm_register_get(vm, PENTA_PVM_A0), stored = 0;
    CHECK(penta_vm_peek(vm, penta_pvm_register_get(vm, PENTA_PVM_SP) - 8, &stored, 8));
    CHECK(!a0 || stored == a0); /* When a0 is 0, no round has ended, and memory has what an
                                 * earlier call stored. */
    CHECK(penta_pvm_register_get(vm, PENTA_PVM_A1) == a0 / 7);
    CHECK(penta_pvm_register_get(vm, PENTA_PVM_A3) == (uint64_t)(int64_t)(int32_t)(uint32_t)a0);
}

static void stop_running(struct runner *r)
{
    penta_vm_interrupt(r->vm);
    pthread_join(r->handle, NULL);
    CHECK(r->stop.kind == PENTA_STOP_INTERRUPT);
    check_round(r->vm, &r->stop);
    penta_vm_free(r->vm);
}

static void killed_while_running(void)
{
    signal(SIGSEGV, SIG_DFL);
    struct runner r = {.vm = pvm_signals_machine(&ways[0])};
    start_running(&r);
    send_to(r.thread, SIGSEGV);
    pthread_join(r.handle, NULL);
}

static void seen_while_running(void)
{
    static const int sent[] = {SIGSEGV, SIGBUS, SIGTRAP};
    for (int i = 0; i < 3; i++) set_handler(sent[i], note_mask, 0, 0);
    for (int w = 0; w < COMPILED; w++) {
        struct runner r = {.vm = pvm_signals_machine(&ways[w])};
        start_running(&r);
        for (int i = 0; i < 60; i++) {
            int before = seen;
            send_to(r.thread, sent[i % 3]);
            for (int wait = 0; seen == before && wait < 5000; wait++) usleep(1000);
            CHECK(seen == before + 1);
        }
        stop_running(&r);
    }
}

#ifndef DELAYED_SIGNALS
/* Interrupts the entry to compiled code at every machine instruction. The thread takes single
 * steps, which the library passes on to this handler, and is interrupted at one of them. */
static struct {
    penta_vm *vm;
    unsigned wanted, at; /* the instruction of the entry to interrupt at, and the next one */
    bool done;
} entry;

static void interrupt_in_entry(int sig, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const struct pvm_native *n = pvm_vm(entry.vm)->cells->native;
    uintptr_t at = (uintptr_t)regs[REG_RIP] - (uintptr_t)n->code;
    (void)sig, (void)info;
    if (at >= n->enter_check && at < n->enter_end && entry.at++ == entry.wanted) {
        entry.done = true;
        penta_vm_interrupt(entry.vm); /* The signal of the interrupt arrives when this handler
                                       * returns. */
    } else if (at >= n->body && at < n->used) {
        regs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
}

static void run_by_steps(penta_vm *vm, penta_stop *stop)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t" /* The bytes below the stack pointer belong to
                                                   * this function. */
                     "pushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp" ::"i"(TRAP_FLAG)
                     : "cc", "memory");
    penta_vm_run(vm, UINT64_MAX, stop);
}

static void interrupted_in_entry(void)
{
    set_handler(SIGTRAP, interrupt_in_entry, 0, 0);
    entry.vm = pvm_signals_machine(&ways[0]);
    for (;; entry.wanted++) {
        uint64_t argument = entry.wanted;
        penta_stop stop;
        penta_pvm_call(entry.vm, once_pc, &argument, 1);
        entry.at = 0;
        entry.done = false;
        run_by_steps(entry.vm, &stop);
        if (entry.done) {
            CHECK(stop.kind == PENTA_STOP_INTERRUPT && stop.pc == once_pc);
            penta_vm_run(entry.vm, UINT64_MAX, &stop);
        }
        CHECK(stop.kind == PENTA_STOP_HALT);
        CHECK(penta_pvm_register_get(entry.vm, PENTA_PVM_A0) == argument + 1);
        if (!entry.done) break;
    }
    CHECK(entry.wanted > 4); /* The entry has at least the test, the registers and a jump. */
    penta_vm_free(entry.vm);
}

/* Tests an interrupt that arrives while a handler of the host interrupts compiled code. */
static atomic_bool in_handler, may_return;

static void stay_in_handler(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    in_handler = true;
    while (!may_return) continue;
}

static void interrupted_in_handler(void)
{
    set_handler(SIGUSR1, stay_in_handler, SA_ONSTACK, 0);
    for (int i = 0; i < 20; i++) {
        struct runner r = {.vm = pvm_signals_machine(&ways[0])};
        in_handler = may_return = false;
        start_running(&r);
        send_to(r.thread, SIGUSR1);
        while (!in_handler) usleep(100);
        penta_vm_interrupt(r.vm);
        usleep(1000);
        may_return = true;
        pthread_join(r.handle, NULL);
        CHECK(r.stop.kind == PENTA_STOP_INTERRUPT);
        check_round(r.vm, &r.stop);
        penta_vm_free(r.vm);
    }
}
#endif

struct waiting {
    penta_vm *vm;
    int pipe[2];
    atomic_int thread;
    int polled;
    ssize_t got;
    bool trapped; /* SIGTRAP was left blocked. */
    penta_stop first, kept, after;
};

/* Runs once, waits in system calls, and runs again. */
static void *run_wait_run(void *user)
{
    struct waiting *w = user;
    struct pollfd fd = {.fd = w->pipe[0], .events = POLLIN};
    uint64_t one = 1;
    char byte;
    penta_pvm_call(w->vm, once_pc, &one, 1);
    penta_vm_run(w->vm, UINT64_MAX, &w->first);
    penta_pvm_call(w->vm, once_pc, &one, 1);
    w->thread = thread_number();
    w->polled = poll(&fd, 1, -1); /* SA_RESTART would not restart this call. */
    w->got = read(w->pipe[0], &byte, 1);
    w->got += read(w->pipe[0], &byte, 1);
    penta_vm_run(w->vm, UINT64_MAX, &w->kept);
    w->trapped = pvm_signals_blocked(SIGTRAP);
    penta_vm_run(w->vm, UINT64_MAX, &w->after);
    return NULL;
}

static void kept_until_run(void)
{
    for (int i = 0; i < WAYS; i++) {
        struct waiting w = {.vm = pvm_signals_machine(&ways[i])};
        pthread_t thread;
        CHECK(!pipe(w.pipe));
        pthread_create(&thread, NULL, run_wait_run, &w);
        while (!w.thread) usleep(100);
        usleep(5000);
        for (int k = 0; k < 50; k++) penta_vm_interrupt(w.vm);
        usleep(5000);
        CHECK(write(w.pipe[1], "x", 1) == 1);
        usleep(5000);
        for (int k = 0; k < 50; k++) penta_vm_interrupt(w.vm);
        CHECK(write(w.pipe[1], "x", 1) == 1);
        pthread_join(thread, NULL);
        CHECK(w.first.kind == PENTA_STOP_HALT && w.polled == 1 && w.got == 2 && !w.trapped);
        CHECK(w.kept.kind == PENTA_STOP_INTERRUPT && w.kept.pc == once_pc);
        CHECK(w.after.kind == PENTA_STOP_HALT && penta_pvm_register_get(w.vm, PENTA_PVM_A0) == 2);
        close(w.pipe[0]);
        close(w.pipe[1]);
        penta_vm_free(w.vm);
    }
}

/* Interrupts a machine around the end of a run. The signal must arrive before the end, or never. */
struct interrupter {
    penta_vm *vm;
    atomic_bool over;
};

static void *keep_interrupting(void *user)
{
    struct interrupter *n = user;
    while (!n->over) {
        penta_vm_interrupt(n->vm);
        usleep(1);
    }
    return NULL;
}

/* Counts system calls that a signal has cut short. Half of the runs last until they are
 * interrupted, half are about to end by themselves. */
static unsigned cut_sleeps(penta_vm *vm, int runs)
{
    struct timespec moment = {0, 1};
    penta_stop stop;
    unsigned cut = 0;
    for (int i = 0; i < runs; i++) {
        if (i % 2)
            start_round(vm);
        else
            penta_pvm_call(vm, asks_pc, NULL, 0);
        penta_vm_run(vm, UINT64_MAX, &stop);
        cut += nanosleep(&moment, NULL) != 0;
        CHECK(stop.kind == PENTA_STOP_INTERRUPT || (stop.kind == PENTA_STOP_HOST && i % 2 == 0));
    }
    return cut;
}

static void none_after_the_end(void)
{
    for (int i = FIRST; i < COMPILED; i++) {
        struct interrupter n = {.vm = pvm_signals_machine(&ways[i])};
        pthread_t thread;
        pthread_create(&thread, NULL, keep_interrupting, &n);
        CHECK(!cut_sleeps(n.vm, 300) && !pvm_signals_blocked(SIGTRAP));
        n.over = true;
        pthread_join(thread, NULL);
        penta_vm_free(n.vm);
    }
}

/* Checks that system calls of the host are restarted after a signal that was passed to its
 * handler. */
static void *read_byte(void *user)
{
    struct waiting *w = user;
    char byte;
    penta_vm_run(w->vm, UINT64_MAX, &w->first);
    w->thread = thread_number();
    w->got = read(w->pipe[0], &byte, 1);
    return NULL;
}

static void pvm_signals_restarted(void)
{
    set_handler(SIGSEGV, note_mask, SA_RESTART, 0);
    struct waiting w = {.vm = pvm_signals_machine(&ways[0])};
    pthread_t thread;
    CHECK(!pipe(w.pipe));
    penta_pvm_call(w.vm, once_pc, NULL, 0);
    pthread_create(&thread, NULL, read_byte, &w);
    while (!w.thread) usleep(100);
    usleep(5000);
    for (int i = 0; i < 10; i++) {
        send_to(w.thread, SIGSEGV);
        usleep(1000);
    }
    CHECK(write(w.pipe[1], "x", 1) == 1);
    pthread_join(thread, NULL);
    CHECK(w.got == 1 && seen > 0);
    penta_vm_free(w.vm);
}

#ifndef DELAYED_SIGNALS
/* Checks that a machine that is interrupted in the parent works in the child of a fork. */
static void pvm_signals_forked(void)
{
    struct interrupter n = {.vm = pvm_signals_machine(&ways[0])};
    pthread_t thread;
    pthread_create(&thread, NULL, keep_interrupting, &n);
    for (int i = 0; i < 20; i++) {
        int status = 0;
        pid_t child = fork();
        if (!child) {
            penta_stop stop = {0};
            alarm(LIMIT / 4);
            penta_pvm_call(n.vm, once_pc, NULL, 0);
            for (int k = 0; k < 10 && stop.kind != PENTA_STOP_HALT; k++)
                penta_vm_run(n.vm, UINT64_MAX, &stop);
            _exit(stop.kind != PENTA_STOP_HALT);
        }
        waitpid(child, &status, 0);
        CHECK(pvm_signals_well(status));
    }
    n.over = true;
    pthread_join(thread, NULL);
    penta_vm_free(n.vm);
}
#endif

static void touch_stack(int sig, siginfo_t *info, void *context)
{
    volatile uint8_t frame[2048];
    (void)sig, (void)info, (void)context;
    for (size_t i = 0; i < sizeof frame; i++) frame[i] = 0xa5;
    seen++;
}

/* Runs at the end of a thread, before or after the library's own destructor. The memory of an
 * alternate stack that was freed may belong to the application by now, so signals must not write
 * to it. */
static void check_memory_at_end(void *user)
{
    atomic_uint *bad = user;
    uint8_t *block = malloc(BLOCK);
    if (!block) return;
    memset(block, 0x11, BLOCK);
    for (int i = 0; i < 3; i++) raise(SIGUSR1);
    for (size_t i = 0; i < BLOCK; i++) *bad += block[i] != 0x11;
    free(block);
}

static void *run_once(void *user)
{
    struct waiting *w = user;
    penta_vm_run(w->vm, UINT64_MAX, &w->first);
    return NULL;
}

static pthread_key_t late_key;
static atomic_uint overwritten, still_there;

static void look_at_stack(void *user)
{
    stack_t now;
    check_memory_at_end(user);
    if (!sigaltstack(NULL, &now) && !(now.ss_flags & SS_DISABLE)) still_there++;
}

static void *run_once_and_end(void *user)
{
    pthread_setspecific(late_key, &overwritten);
    return run_once(user);
}

static void stack_dropped(void)
{
    set_handler(SIGUSR1, touch_stack, SA_ONSTACK, 0);
    struct waiting w = {.vm = pvm_signals_machine(&ways[0])};
    pthread_key_create(&late_key, look_at_stack); /* This key is made after the library's, so its
                                                   * destructor is called after the library's. */
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        penta_pvm_call(w.vm, once_pc, NULL, 0);
        pthread_create(&thread, NULL, run_once_and_end, &w);
        pthread_join(thread, NULL);
        CHECK(w.first.kind == PENTA_STOP_HALT);
    }
    CHECK(!overwritten && !still_there && seen == 60);
    penta_vm_free(w.vm);
}

enum { WORKERS = 4 };

static struct stress {
    pthread_mutex_t lock; /* guards `vms`, so that no machine is freed while it is being
                           * interrupted */
    penta_vm *vms[WORKERS];
    atomic_int threads[WORKERS];
    atomic_bool over;
    _Atomic uint64_t seed;
} stress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *send_signals(void *user)
{
#ifdef DELAYED_SIGNALS
    static const int kinds[] = {SIGUSR1};
#else
    static const int kinds[] = {SIGUSR1, SIGUSR1, SIGSEGV, SIGBUS, SIGTRAP};
#endif
    enum { KINDS = sizeof kinds / sizeof *kinds };
    uint64_t random = stress.seed;
    (void)user;
    while (!stress.over) {
        int thread = stress.threads[random_below(&random, WORKERS)];
        if (thread) send_to(thread, kinds[random_below(&random, KINDS)]);
        if (!random_below(&random, 4)) usleep(random_below(&random, 40));
    }
    return NULL;
}

static void *send_interrupts(void *user)
{
    uint64_t random = stress.seed + 1;
    (void)user;
    while (!stress.over) {
        pthread_mutex_lock(&stress.lock);
        penta_vm *vm = stress.vms[random_below(&random, WORKERS)];
        if (vm) penta_vm_interrupt(vm);
        pthread_mutex_unlock(&stress.lock);
        usleep(random_below(&random, 60));
    }
    return NULL;
}

static void pvm_signals_publish(uint32_t slot, penta_vm *vm)
{
    pthread_mutex_lock(&stress.lock);
    stress.vms[slot] = vm;
    pthread_mutex_unlock(&stress.lock);
}

/* Makes a call and runs it to its end, through all interrupts. */
static void call_until(penta_vm *vm, uint32_t pc, penta_stop_kind kind, uint64_t argument)
{
    penta_stop stop;
    penta_pvm_call(vm, pc, &argument, 1);
    do penta_vm_run(vm, UINT64_MAX, &stop);
    while (stop.kind == PENTA_STOP_INTERRUPT);
    CHECK(stop.kind == kind);
    if (kind == PENTA_STOP_HALT) CHECK(penta_pvm_register_get(vm, PENTA_PVM_A0) == argument + 1);
}

static void ask_for_a_while(penta_vm *vm)
{
    penta_stop stop;
    penta_error err;
    uint64_t answer = 0;
    penta_pvm_call(vm, asks_pc, NULL, 0);
    for (int i = 0; i < 50; i++) {
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_HOST || stop.kind == PENTA_STOP_INTERRUPT);
        if (stop.kind == PENTA_STOP_HOST) CHECK(penta_vm_answer(vm, &answer, 1, &err));
    }
}

static void round_for_a_while(penta_vm *vm, uint32_t times)
{
    penta_stop stop;
    start_round(vm);
    for (uint32_t i = 0; i < times; i++) {
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_INTERRUPT);
        check_round(vm, &stop);
    }
}

static pthread_key_t early_key;

static void *pvm_signals_work(void *user)
{
    uint32_t slot = (uint32_t)(uintptr_t)user;
    uint64_t random = stress.seed + 10 + slot;
    pthread_setspecific(early_key, &overwritten);
    pthread_setspecific(late_key, &overwritten);
    stress.threads[slot] = thread_number();
    penta_vm *vm = pvm_signals_machine(&ways[FIRST + random_below(&random, WAYS - FIRST)]);
    pvm_signals_publish(slot, vm);
    for (int i = 0; i < 3; i++) {
        switch (random_below(&random, 4)) {
        case 0: call_until(vm, once_pc, PENTA_STOP_HALT, random_below(&random, 1000)); break;
        case 1: call_until(vm, fault_pc, PENTA_STOP_TRAP, 0); break;
        case 2: ask_for_a_while(vm); break;
        default: round_for_a_while(vm, 1 + random_below(&random, 4)); break;
        }
    }
    pvm_signals_publish(slot, NULL);
    penta_vm_free(vm);
    return NULL;
}

static void stress_test(uint32_t rounds, uint64_t seed)
{
    static const int kinds[] = {SIGUSR1, SIGSEGV, SIGBUS, SIGTRAP};
    for (int i = 0; i < 4; i++) set_handler(kinds[i], touch_stack, SA_ONSTACK | SA_RESTART, 0);
    stress.seed = seed;
    pthread_key_create(&early_key, check_memory_at_end);
    penta_vm_free(
        pvm_signals_machine(&ways[0])); /* The library makes its key between the two keys of this
                                       * test. */
    pthread_key_create(&late_key, look_at_stack);
    pthread_t signals, interrupts, workers[WORKERS];
    pthread_create(&signals, NULL, send_signals, NULL);
    pthread_create(&interrupts, NULL, send_interrupts, NULL);
    for (uint32_t i = 0; i < rounds; i++) {
        stress.seed += 100;
        for (uintptr_t k = 0; k < WORKERS; k++)
            pthread_create(&workers[k], NULL, pvm_signals_work, (void *)k);
        for (int k = 0; k < WORKERS; k++) pthread_join(workers[k], NULL);
    }
    stress.over = true;
    pthread_join(signals, NULL);
    pthread_join(interrupts, NULL);
    CHECK(!overwritten && !still_there);
    printf("stress: %u rounds from seed %llu, %d signals seen\n", rounds, (unsigned long long)seed,
           atomic_load(&seen));
}

int main(int argc, char **argv)
{
    uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 60;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    if (!pvm_jit_usable()) {
        printf("no compiled code on this host\n");
        return 77;
    }
    open_module();
    CHECK(pvm_signals_well(in_child(pvm_signals_flags)));
    CHECK(pvm_signals_well(in_child(pvm_signals_masks)));
    CHECK(pvm_signals_killed(in_child(called_once), SIGSEGV));
    CHECK(pvm_signals_well(in_child(pvm_signals_ignored)));
    CHECK(pvm_signals_killed(in_child(pvm_signals_breakpoint), SIGTRAP));
    CHECK(pvm_signals_killed(in_child(killed_while_running), SIGSEGV));
    CHECK(pvm_signals_well(in_child(seen_while_running)));
#ifndef DELAYED_SIGNALS
    CHECK(pvm_signals_well(in_child(interrupted_in_handler)));
    CHECK(pvm_signals_well(in_child(interrupted_in_entry)));
    CHECK(pvm_signals_well(in_child(pvm_signals_forked)));
#endif
    CHECK(pvm_signals_well(in_child(kept_until_run)));
    CHECK(pvm_signals_well(in_child(none_after_the_end)));
    CHECK(pvm_signals_well(in_child(pvm_signals_restarted)));
    CHECK(pvm_signals_well(in_child(stack_dropped)));
    stress_test(rounds, seed);
    penta_close(module);
    return checks_end();
}

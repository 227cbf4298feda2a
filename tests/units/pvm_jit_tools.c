/* Tests what surrounds the compiler: the report of two engines that disagree, files for perf, hosts
 * without executable memory or fsgsbase, and how soon an interrupt arrives.
 *
 *     pvm_jit_tools_test PENTA          the tool, for what a refused mprotect leads to */
#include "support.h"
#include "cli/native/native_listing.h"
#include "penta/pvm.h"
#include "pvm/jit/jit.h"
#include "pvm/jit/tools.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

static penta_module *module_of(const char *text)
{
    penta_option isa = {"isa", "latest64"};
    return assembled_with("pvm", text, &isa, 1);
}

/* Gives the machine the native code of another program of the same shape. */
static void replace_native(struct pvm_vm *vm, const penta_module *by)
{
    const struct pvm_program *p = &pvm_module(by)->program;
    struct pvm_config config = {.profile = pvm_default_profile(p), .metered = true};
    penta_error err = {0};
    struct pvm_cells *cells = pvm_cells_new(&p->code, config.profile, PVM_GAS_NAIVE, true, &err);
    CHECK(cells);
    pvm_native_free(vm->cells->native);
    vm->cells->native = pvm_native_compile(cells, &config);
    CHECK(vm->cells->native);
    pvm_cells_free(cells);
}

static void pvm_jit_tools_differences(void)
{
    static const char good[] = "pub @f:\n a1 = 7\n fallthrough\n a0 = a0 + 1\n a2 = a1\n ret\n";
    static const char bad[] = "pub @f:\n a1 = 7\n fallthrough\n a0 = a0 + 2\n a2 = a1\n ret\n";
    penta_module *module = module_of(good), *other = module_of(bad);
    penta_option option = {"call", "f"};
    penta_error err = {0};
    penta_stop stop;
    struct pvm_difference d;
    struct writer text = {0}, document = {0};
    struct json json = {.out = &document};
    penta_vm *vm = penta_vm_new(module, "both", &option, 1, NULL, &err);
    CHECK(vm && !strcmp(vm->engine->name, "both") && !pvm_both_difference(vm, &d));
    replace_native(pvm_vm(vm), other);
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_DISAGREE);
    CHECK(pvm_both_difference(vm, &d) && !strcmp(d.what, "a0: jit 0x2, interp 0x1"));
    CHECK(d.entered == d.from && d.from > 0 && d.to > d.from);
    native_listing_difference(vm, &text, NULL);
    writer_char(&text, 0);
    const char *report = (const char *)text.out.data;
    char block[64];
    snprintf(block, sizeof block, "after the block at %u, entered at %u:", d.from, d.entered);
    CHECK(strstr(report, "a0: jit 0x2, interp 0x1") && strstr(report, block));
    CHECK(strstr(report, "a0 = a0 + 0x1") && strstr(report, "a2 = a1") && strstr(report, "ret"));
    CHECK(!strstr(report, "a1 = 0x7"));
    /* This is the native code of the block, byte by byte. The code of a2 = a1 is in it
     * somewhere. */
    char hex[8];
    const struct pvm_native *n = d.native;
    snprintf(hex, sizeof hex, "%02x%02x", n->code[pvm_native_offset(n, d.from)],
             n->code[pvm_native_offset(n, d.from) + 1]);
    CHECK(strstr(report, hex));
    json_object(&json, NULL);
    native_listing_difference(vm, NULL, &json);
    json_end(&json);
    writer_char(&document, 0);
    report = (const char *)document.out.data;
    CHECK(strstr(report, "\"difference\"") && strstr(report, "\"instructions\"") &&
          strstr(report, "\"native\"") && strstr(report, "\"bytes\""));
    penta_buffer state = {0};
    CHECK(penta_vm_describe_json(vm, &state, &err));
    CHECK(memmem(state.data, state.size, "\"interp\"", 8) &&
          memmem(state.data, state.size, "\"before\"", 8));
    penta_buffer_free(&state);
    writer_free(&text);
    writer_free(&document);
    penta_vm_free(vm);
    penta_close(module);
    penta_close(other);
}

static const char with_lines[] = /* the program of tests/cases/pvm/dis_source_lines.test */
    "%export \"main\" = @main\n"
    "%export \"helper\" = @helper\n"
    "%debug_strings = 00 04 64 65 6d 6f 04 6d 61 69 6e 06 73 72 63 2f 61 2e\n"
    "%debug_lines = 01 0a 01 02 05 01 06 06 07 0b 08 2a 0f 05 0b 0e 00\n"
    "%debug_ranges = 00 00 00 00 06 00 00 00 01 00 00 00\n"
    "@main:\n a0 = a0 + 0x1\n a1 = a0\n ret\n"
    "@helper:\n a0 = 3\n ret\n";

struct loads {
    unsigned main, helper, lines, others;
    uint64_t next_index;
};

/* Checks one record and returns its size, or 0 when it is not valid. */
static uint32_t parse_record(const uint8_t *r, size_t left, struct loads *seen)
{
    if (left < 16) return 0;
    uint32_t kind = bytes_get32(r), size = bytes_get32(r + 4);
    if (size < 32 || size > left || !bytes_get64(r + 8)) return 0;
    if (kind == 2) {
        const uint8_t *at = r + 32;
        for (uint64_t i = 0; i < bytes_get64(r + 24); i++) {
            CHECK(bytes_get64(at) >= bytes_get64(r + 16) && bytes_get32(at + 8) >= 42);
            CHECK(!strcmp((const char *)at + 16, "src/a."));
            at += 16 + strlen((const char *)at + 16) + 1;
            seen->lines++;
        }
        CHECK(at == r + size);
        return size;
    }
    CHECK(kind == 0 && size > 56 && bytes_get32(r + 16) == (uint32_t)getpid());
    const char *name = (const char *)r + 56;
    uint64_t address = bytes_get64(r + 32), bytes = bytes_get64(r + 40);
    CHECK(bytes_get64(r + 24) == address && bytes_get64(r + 48) == seen->next_index++);
    CHECK(56 + strlen(name) + 1 + bytes == size);
    CHECK(!memcmp((const void *)(uintptr_t)address, name + strlen(name) + 1, bytes));
    if (!strcmp(name, "guest demo::main"))
        seen->main++;
    else if (!strcmp(name, "guest helper"))
        seen->helper++;
    else
        seen->others++;
    return size;
}

static bool pvm_jit_tools_mapped(const char *path)
{
    char line[1024];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, path) && strstr(line, " r-xp ");
    if (maps) fclose(maps);
    return found;
}

/* Checks names that somebody has guessed. A symbolic or hard link has the name of the library's
 * file for perf, and the file to which it leads must not change. Without a standard input, the
 * library's file may get its number, 0. */
static void guessed_names(penta_module *module)
{
    char folder[] = "/tmp/pvm_jit_XXXXXX", victim[64], map[64], dump[64];
    CHECK(mkdtemp(folder));
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
    snprintf(dump, sizeof dump, "%s/jit-%d.dump", folder, (int)getpid());
    penta_option options[] = {{"call", "main"}, {"perf-dump", folder}, {"perf-map", "1"}};
    penta_error err = {0};
    int input = dup(0);
    for (int i = 0; i < 4; i++) {
        struct stat st;
        bool hard = i & 1;
        FILE *f = fopen(victim, "w");
        CHECK(f && fputs("precious", f) > 0 && !fclose(f));
        CHECK(hard ? !link(victim, map) && !link(victim, dump)
                   : !symlink(victim, map) && !symlink(victim, dump));
        if (i > 1) close(0);
        penta_vm *vm = penta_vm_new(module, "jit", options, 3, NULL, &err);
        CHECK(vm && !stat(victim, &st) && st.st_size == 8);
        penta_vm_free(vm);
        if (input >= 0) dup2(input, 0);
        unlink(map);
        unlink(dump);
        unlink(victim);
    }
    if (input >= 0) close(input);
    rmdir(folder);
}

static void pvm_jit_tools_dumps(void)
{
    static uint8_t file[1 << 20];
    char folder[] = "/tmp/pvm_jit_XXXXXX", path[128];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid());
    penta_module *module = module_of(with_lines);
    penta_option options[] = {{"call", "main"}, {"perf-dump", folder}, {"perf-map", "1"}};
    penta_error err = {0};
    penta_vm *vms[2];
    for (int i = 0; i < 2; i++) vms[i] = penta_vm_new(module, "jit", options, 3, NULL, &err);
    CHECK(vms[0] && vms[1] && pvm_jit_tools_mapped(path));
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(file, 1, sizeof file, f) : 0, at = 40;
    if (f) fclose(f);
    CHECK(size > 40 && bytes_get32(file) == 0x4a695444 && bytes_get32(file + 4) == 1 &&
          bytes_get32(file + 8) == 40);
    CHECK(bytes_get32(file + 12) == 62 && bytes_get32(file + 20) == (uint32_t)getpid());
    struct loads seen = {0};
    while (at < size) {
        uint32_t record = parse_record(file + at, size - at, &seen);
        CHECK(record);
        if (!record) break;
        at += record;
    }
    CHECK(at == size && seen.main == 2 && seen.helper == 2 && seen.lines == 4 && seen.others >= 2);
    for (int i = 0; i < 2; i++) penta_vm_free(vms[i]);
    unlink(path);
    rmdir(folder);
    /* The map has both names, in lines of three fields. */
    char line[256];
    unsigned names = 0;
    unsigned long long main_end = 0;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned long long start;
        unsigned bytes;
        CHECK(sscanf(line, "%llx %x guest ", &start, &bytes) == 2 && bytes);
        CHECK(!strstr(line, " guest helper\n") || start == main_end);
        if (strstr(line, " guest demo::main\n")) main_end = start + bytes;
        names += strstr(line, " guest demo::main\n") || strstr(line, " guest helper\n");
    }
    CHECK(f && names == 4);
    if (f) fclose(f);
    unlink(path);
    guessed_names(module);
    penta_option nowhere[] = {{"call", "main"}, {"perf-dump", "/nowhere/at/all"}};
    CHECK(!penta_vm_new(module, "jit", nowhere, 2, NULL, &err) && strstr(err.message, "/nowhere"));
    penta_close(module);
}

/* Runs two machines alternately, so that gs changes at every entry. */
static void gs_through_kernel(void)
{
    penta_module *module = module_of("%stack_size = 4096\npub @f:\n u64 [sp - 8] = a0\n ecalli 0\n"
                                     " a1 = u64 [sp - 8]\n a0 = a0 + a1\n ret\n");
    penta_error err = {0};
    penta_stop stop;
    pvm_gs_by_kernel = true;
    penta_pvm_pool *pool = penta_pvm_pool_new(module, "jit", NULL, 0, &err);
    penta_vm *vms[2];
    for (int i = 0; i < 2; i++) vms[i] = penta_pvm_pool_take(pool, &err);
    for (uint64_t round = 0; round < 1000; round++) {
        for (uint64_t i = 0; i < 2; i++) {
            uint64_t arg = 10 * round + i;
            CHECK(!strcmp(vms[i]->engine->name, "jit"));
            penta_pvm_call(vms[i], 0, &arg, 1);
            penta_vm_run(vms[i], UINT64_MAX, &stop);
            CHECK(stop.kind == PENTA_STOP_HOST);
        }
        for (uint64_t i = 0; i < 2; i++) {
            uint64_t answer = 5;
            penta_vm_answer(vms[i], &answer, 1, &err);
            penta_vm_run(vms[i], UINT64_MAX, &stop);
            CHECK(stop.kind == PENTA_STOP_HALT);
            CHECK(penta_pvm_register_get(vms[i], PENTA_PVM_A0) == 10 * round + i + 5);
        }
    }
    for (int i = 0; i < 2; i++) penta_vm_free(vms[i]);
    penta_pvm_pool_free(pool);
    penta_close(module);
    pvm_gs_by_kernel = false;
    pvm_jit_usable(); /* The decision is made again. */
}

/* Makes mprotect, and mmap of anything but a private file, refuse PROT_EXEC from now on. */
static bool refuse_executable(void)
{
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
    struct sock_filter filter[] = {LOAD(arch),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 9),
                                   LOAD(nr),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 4, 0),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 6),
                                   LOAD(args[3]),
                                   BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_PRIVATE | MAP_ANONYMOUS),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_PRIVATE, 3, 0),
                                   LOAD(args[2]),
                                   BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 13),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static size_t read_end(int from, char *text, size_t capacity)
{
    size_t size = 0;
    ssize_t some;
    while (size < capacity - 1 && (some = read(from, text + size, capacity - 1 - size)) > 0)
        size += (size_t)some;
    text[size] = 0;
    return size;
}

static void pvm_jit_tools_refused(const char *tool)
{
    char path[] = "/tmp/pvm_jit_XXXXXX", text[8192];
    penta_module *module = module_of("pub @f:\n a0 = a0 + 0x29\n ret\n");
    penta_buffer bytes = {0};
    penta_error err = {0};
    int file = mkstemp(path), out[2], status = 0;
    CHECK(file >= 0 && penta_encode(module, &bytes, &err) && !pipe(out));
    CHECK(write(file, bytes.data, bytes.size) == (ssize_t)bytes.size);
    close(file);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        if (!refuse_executable()) _exit(77);
        execl(tool, tool, "run", path, "--engine", "jit", "--call", "f", "--arg", "1",
              (char *)NULL);
        _exit(78);
    }
    close(out[1]);
    read_end(out[0], text, sizeof text);
    close(out[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("no seccomp here: the refusal of executable memory was not tested\n");
    } else {
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(strstr(text, "note: engine jit cannot run this program here; interp runs instead"));
        CHECK(strstr(text, "0x2a"));
    }
    unlink(path);
    penta_buffer_free(&bytes);
    penta_close(module);
}

enum { INTERRUPTS = 1000 };

struct runner {
    penta_vm *vm;
    atomic_int stops;
    double at;
};

static void *keep_running(void *user)
{
    struct runner *r = user;
    penta_stop stop;
    for (int i = 1; i <= INTERRUPTS; i++) {
        penta_vm_run(r->vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_INTERRUPT);
        r->at = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        atomic_store(&r->stops, i);
    }
    return NULL;
}

static int pvm_jit_tools_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Checks that half of the interrupts arrive within a millisecond of processor time of the
 * machine's thread, and 99 in 100 within fifty. How long the thread waits for a processor does
 * not count. */
static void pvm_jit_tools_judge(const char *name, double *times)
{
    qsort(times, INTERRUPTS, sizeof *times, pvm_jit_tools_order);
    double half = times[INTERRUPTS / 2], most = times[INTERRUPTS * 99 / 100];
    printf("interrupt, %-32s median %6.1f, 99 in 100 below %7.1f, worst %8.1f us\n", name,
           half * 1e6, most * 1e6, times[INTERRUPTS - 1] * 1e6);
    CHECK(half < 1e-3 && most < 50e-3);
}

static void from_a_thread(penta_vm *vm, const char *name)
{
    static double times[INTERRUPTS];
    struct runner r = {.vm = vm};
    pthread_t thread;
    clockid_t clock;
    pthread_create(&thread, NULL, keep_running, &r);
    pthread_getcpuclockid(thread, &clock);
    for (int i = 0; i < INTERRUPTS; i++) {
        usleep(50 + (unsigned)i % 97);
        double start = clock_seconds(clock);
        penta_vm_interrupt(vm);
        while (atomic_load(&r.stops) <= i) usleep(5);
        times[i] = r.at - start;
    }
    pthread_join(thread, NULL);
    pvm_jit_tools_judge(name, times);
}

static penta_vm *volatile to_interrupt;
static volatile double handler_at;

static void on_alarm(int number)
{
    (void)number;
    handler_at = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    penta_vm_interrupt(to_interrupt);
}

static void from_a_handler(penta_vm *vm, const char *name)
{
    static double times[INTERRUPTS];
    struct sigaction action = {.sa_handler = on_alarm}, before;
    penta_stop stop;
    to_interrupt = vm;
    sigaction(SIGALRM, &action, &before);
    for (int i = 0; i < INTERRUPTS; i++) {
        struct itimerval once = {.it_value = {0, 100 + i % 97}};
        setitimer(ITIMER_REAL, &once, NULL);
        penta_vm_run(vm, UINT64_MAX, &stop);
        times[i] = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - handler_at;
        CHECK(stop.kind == PENTA_STOP_INTERRUPT);
    }
    sigaction(SIGALRM, &before, NULL);
    pvm_jit_tools_judge(name, times);
}

static void pvm_jit_tools_latency(void)
{
    static const struct {
        const char *name;
        penta_option options[3];
        size_t count;
    } ways[] = {
        {"no gas", {{"call", "loop"}}, 1},
        {"sync gas", {{"call", "loop"}, {"gas", "9000000000000000000"}}, 2},
        {"async gas", {{"call", "loop"}, {"gas", "9000000000000000000"}, {"gas-mode", "async"}}, 3},
        {"polling", {{"call", "loop"}, {"poll", "1"}}, 2}};
    penta_module *module = module_of("%stack_size = 4096\npub @loop:\n a0 = a0 + 1\n"
                                     " u64 [sp - 8] = a0\n a1 = a1 ^ a0\n jump @loop\n");
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        char name[64];
        penta_error err = {0};
        penta_vm *vm = penta_vm_new(module, "jit", ways[i].options, ways[i].count, NULL, &err);
        CHECK(vm);
        if (!vm) continue;
        snprintf(name, sizeof name, "%s, another thread", ways[i].name);
        from_a_thread(vm, name);
        snprintf(name, sizeof name, "%s, a signal handler", ways[i].name);
        from_a_handler(vm, name);
        penta_vm_free(vm);
    }
    penta_close(module);
}

int main(int argc, char **argv)
{
    if (!pvm_jit_usable()) checks_skip("no compiled code on this host");
    pvm_jit_tools_differences();
    pvm_jit_tools_dumps();
    gs_through_kernel();
    if (argc > 1) pvm_jit_tools_refused(argv[1]);
    pvm_jit_tools_latency();
    return checks_end();
}

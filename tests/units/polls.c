/* Tests long instructions. Each must count its work, in pieces after which an interrupt is seen,
 * and give the same result when it was interrupted anywhere, also with a snapshot in between.
 * The test goes by counted work (core/poll.h), without a clock.
 *
 * The machine of cvbc has no instruction whose work grows with its operands; its host has one,
 * PRINTF. */
#include <stdio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core/engine.h"
#include "crypto/hash.h"
#include "penta/session.h"
#include "penta/train.h"
#include "support.h"
#include "tvmr/vm/ops.h"

struct sample { /* A program whose last instruction but one is the tested one. */
    const char *format, *engine, *line;
    const char *text;
    uint64_t units;
    const penta_option *options;
    size_t option_count;
};

static bool polls_test_check(bool ok, const struct sample *s, const char *what, uint64_t a,
                             uint64_t b)
{
    return CHECK(ok, "%s %s, %s: %s (%llu, %llu)", s->format, s->engine ? s->engine : "", s->line,
                 what, (unsigned long long)a, (unsigned long long)b);
}

static penta_vm *open_machine(const struct sample *s, const penta_module *module)
{
    return machine_of(module, s->engine, s->options, s->option_count);
}

static bool polls_test_save(const struct sample *s, penta_vm *vm, penta_buffer *out)
{
    penta_error err;
    *out = (penta_buffer){0};
    return polls_test_check(penta_vm_save(vm, out, &err), s, "it saves", 0, 0);
}

/* Runs to the end. Host calls are answered with nothing. */
static void run_to_end(penta_vm *vm, penta_stop *stop)
{
    penta_error err;
    uint64_t steps = 0;
    do {
        penta_vm_run(vm, UINT64_MAX, stop);
        steps += stop->steps;
    } while (stop->kind == PENTA_STOP_HOST && penta_vm_answer(vm, NULL, 0, &err));
    stop->steps = steps;
}

/* Interrupts the instruction that comes after `before` steps `often` times, `gap` units after it
 * began each time. After each interrupt, another machine continues from a snapshot. */
static void polls_test_interrupted(const struct sample *s, const penta_module *module,
                                   uint64_t before, uint64_t gap, unsigned often, penta_buffer end)
{
    penta_stop stop;
    penta_error err;
    penta_vm *vm = open_machine(s, module);
    penta_vm_run(vm, before, &stop);
    uint64_t pc = stop.pc;
    bool jit = s->engine && strcmp(s->engine, "interp");
    unsigned seen = 0;
    for (unsigned i = 0; i < often; i++) {
        vm->poll.trip = poll_total(&vm->poll) + 1 + gap;
        penta_vm_run(vm, jit ? UINT64_MAX : 1, &stop); /* Compiled code counts no steps. */
        if (stop.kind != PENTA_STOP_INTERRUPT) break;
        seen++;
        polls_test_check(stop.pc == pc && (jit || !stop.steps), s,
                         "the instruction is still to be done", stop.pc, pc);
        penta_buffer middle;
        penta_vm *other = open_machine(s, module);
        if (!polls_test_save(s, vm, &middle)) return;
        polls_test_check(penta_vm_load(other, view_of(&middle), &err), s, "the snapshot loads", i,
                         gap);
        penta_buffer_free(&middle);
        penta_vm_free(vm);
        vm = other;
    }
    polls_test_check(seen, s, "an interrupt takes effect inside", gap, 0);
    vm->poll.trip = 0;
    run_to_end(vm, &stop);
    polls_test_check(stop.kind == PENTA_STOP_HALT, s, "it halts", stop.kind, stop.detail);
    penta_buffer got;
    if (polls_test_save(s, vm, &got))
        polls_test_check(same_buffer(&got, &end), s, "the same as without interrupts", gap, often);
    penta_buffer_free(&got);
    penta_vm_free(vm);
}

static uint64_t steps_of(const struct sample *s, const penta_module *module)
{
    struct sample plain = *s;
    if (!strcmp(s->format, "pvm")) plain.engine = "interp"; /* The interpreter counts steps. */
    penta_stop stop = {0};
    penta_vm *vm = open_machine(&plain, module);
    run_to_end(vm, &stop);
    polls_test_check(stop.kind == PENTA_STOP_HALT, s, "it halts", stop.kind, stop.detail);
    penta_vm_free(vm);
    return stop.kind == PENTA_STOP_HALT ? stop.steps : 0;
}

static void try_sample(const struct sample *s)
{
    penta_stop stop;
    penta_module *module = assembled(s->format, s->text);
    uint64_t steps = steps_of(s, module);
    penta_vm *vm = steps ? open_machine(s, module) : NULL;
    if (vm) {
        penta_vm_run(vm, steps - 2, &stop);
        uint64_t from = poll_total(&vm->poll);
        run_to_end(vm, &stop);
        uint64_t units = poll_total(&vm->poll) - from;
        polls_test_check(units >= s->units, s, "units are counted", units, s->units);
        polls_test_check(vm->poll.largest <= POLL_UNITS, s, "pieces are small", vm->poll.largest,
                         POLL_UNITS);
        penta_buffer end;
        if (polls_test_save(s, vm, &end)) {
            polls_test_interrupted(s, module, steps - 2, 0, 1, end);
            polls_test_interrupted(s, module, steps - 2, s->units / 5, 3, end);
        }
        penta_buffer_free(&end);
    }
    penta_vm_free(vm);
    penta_close(module);
}

enum { HANDLERS = 300 };
static struct {
    tvmr_handler *list[HANDLERS];
    size_t count;
} tried;

static bool was_tried(tvmr_handler *handler)
{
    for (size_t i = 0; i < tried.count; i++)
        if (tried.list[i] == handler) return true;
    return false;
}

static char *polls_test_numbers(size_t count)
{
    char *text = malloc(8 * count + 1), *at = text;
    for (size_t i = 0; i < count; i++) at += sprintf(at, i ? ",%u" : "%u", (unsigned)(i % 251));
    return text;
}

static void try_tvmr(const char *registers, const char *before, const char *line, uint64_t units)
{
    static const char form[] =
        ".requires\n tensor\n ternary\n learning\n neuro\n arch\n sampling\n activation\n test\n"
        ".registers\n%s.program\n%s%s\nend:\nhalt\n";
    static char *input;
    if (!input) input = polls_test_numbers(1048576);
    bool buffers = strstr(line, "load_") || strstr(before, "load_");
    const penta_option options[] = {{"babble", "100"},
                                    {"seed-chem", "210,128,128,128"},
                                    {"input", buffers ? input : "1"},
                                    {"target", buffers ? input : "1"}};
    char text[4000];
    snprintf(text, sizeof text, form, registers, before, line);
    struct sample s = {"tvmr", NULL, line, text, units, options, 4};
    try_sample(&s);
    /* This finds which handler ran. */
    penta_module *module = assembled("tvmr", text);
    penta_vm *vm = open_machine(&s, module);
    const struct tvmr_vm *machine = tvmr_vm(vm);
    if (tried.count < HANDLERS) tried.list[tried.count++] = machine->code[machine->count - 2].plain;
    penta_vm_free(vm);
    penta_close(module);
}

/* The handlers whose work does not depend on registers: a few elements at most. */
static tvmr_handler *const brief[] = {
    op_nop,
    op_halt,
    op_reset,
    op_set_const,
    op_loop,
    op_end_loop,
    op_loop_break,
    op_call,
    op_ret,
    op_jump,
    op_free_tensor,
    op_reduce_avg,
    op_slice,
    op_decay_babble,
    op_chl_free_start,
    op_chl_clamp_start,
    op_compute_rpe,
    op_gate_error,
    op_rollback_weights,
    op_set_activation,
    op_kv_clear,
    op_model_input,
    op_model_output,
    op_model_unload,
    op_model_status,
    op_model_chain,
    op_test_begin,
    op_test_end,
    op_expect_chem,
};

static void every_instruction_was_tried(void)
{
    const struct tvmr_extension *e;
    for (size_t x = 0; (e = tvmr_extension_at(x)); x++)
        for (size_t i = 0; i < e->count; i++) {
            const struct tvmr_op *op = &e->ops[i];
            bool known = !op->run || op->domain || was_tried(op->run);
            for (size_t k = 0; k < sizeof brief / sizeof *brief; k++) known |= brief[k] == op->run;
            struct sample s = {"tvmr", NULL, op->name, "", 0, NULL, 0};
            polls_test_check(known, &s, "no row of polls.def tries it", e->id, op->opcode);
        }
}

static void try_memory(void)
{
    static const penta_option grid[] = {{"map", "0x10000:16777216"}, {"threads", "2"}};
    static const penta_option map = {"map", "0x10000:16777216"},
                              region = {"map", "0x20000:16777216"};
    static const char memset_text[] = "%isa = latest64\npub @main:\na0 = 0x20000\na1 = 7\na2 = "
                                      "16777216\n[a0..a0 + a2] = u8 a1\nret\n";
    struct sample samples[] = {
        {"kblob", NULL, "MEMSET", "MEMSET 0x10000, 16777216\nHALT\n", 262144, &map, 1},
        {"kblob", NULL, "MEMSET of a grid", "MEMSET 0x10000, 16777216\nMOV r0, 1\n", 262144, grid,
         2},
        {"pvm", "interp", "memset", memset_text, 262144, &region, 1},
        {"pvm", "jit", "memset", memset_text, 262144, &region, 1},
        {"pvm", "both", "memset", memset_text, 262144, &region, 1},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) try_sample(&samples[i]);
}

static bool run_contract(const struct sample *s, const penta_module *module, uint64_t trip,
                         penta_buffer *output, unsigned *interrupts, uint64_t *units)
{
    penta_stop stop;
    penta_error err;
    penta_session *session =
        penta_session_new(module, s->engine, s->options, s->option_count, NULL, &err);
    if (!polls_test_check(session, s, "a session opens", 0, 0)) return false;
    penta_vm *vm = penta_session_vm(session);
    vm->poll.trip = trip;
    do {
        penta_session_run(session, UINT64_MAX, &stop);
        *interrupts += stop.kind == PENTA_STOP_INTERRUPT;
    } while (stop.kind == PENTA_STOP_INTERRUPT);
    *units = poll_total(&vm->poll);
    polls_test_check(vm->poll.largest <= POLL_UNITS, s, "pieces are small", vm->poll.largest,
                     POLL_UNITS);
    bool ok =
        polls_test_check(stop.kind == PENTA_STOP_HALT, s, "it halts", stop.kind, stop.detail) &&
        penta_session_output(session, output, NULL, &err);
    penta_session_free(session);
    return ok;
}

static void try_contract(const char *engine)
{
    static const char text[] =
        "%isa = revive_v1\n%import \"hash_keccak_256\"\n%import \"seal_return\"\n"
        "pub @main:\na0 = 0x20000\na1 = 8388608\na2 = 0x20100\necalli 0\n"
        "a0 = 0\na1 = 0x20100\na2 = 32\necalli 1\ntrap\n";
    const penta_option options[] = {{"host", "revive"}, {"map", "0x20000:16777216"}};
    struct sample s = {"pvm", engine, "hash_keccak_256", text, 1000000, options, 2};
    penta_module *module = assembled("pvm", text);
    penta_buffer whole = {0}, again = {0};
    unsigned none = 0, some = 0;
    uint64_t units = 0, ignored = 0;
    if (run_contract(&s, module, 0, &whole, &none, &units) &&
        run_contract(&s, module, units / 2, &again, &some, &ignored)) {
        polls_test_check(units >= s.units, &s, "units are counted", units, s.units);
        polls_test_check(!none && some == 1, &s, "one interrupt takes effect", none, some);
        polls_test_check(whole.size && same_buffer(&whole, &again), &s, "the same as without",
                         whole.size, again.size);
    }
    penta_buffer_free(&whole);
    penta_buffer_free(&again);
    penta_close(module);
}

struct counted_work {
    uint64_t units, largest, end; /* `end` is the number of units after which the instruction is
                                   * over. */
};

static bool counted_over(void *user, uint64_t units)
{
    struct counted_work *c = user;
    c->units += units;
    if (units > c->largest) c->largest = units;
    return c->units > c->end;
}

static void try_digests(void)
{
    enum { SIZE = 4000000 };
    typedef void digest_work(penta_bytes bytes, uint8_t out[HASH_BYTES], struct long_work * work);
    static digest_work *const digests[] = {hash_sha256_work, hash_blake2b256_work};
    struct sample s = {"crypto", NULL, "digest", "", 0, NULL, 0};
    uint8_t *bytes = calloc(SIZE, 1), whole[HASH_BYTES], again[HASH_BYTES];
    for (size_t i = 0; bytes && i < 2; i++) {
        struct counted_work all = {.end = UINT64_MAX}, half = {.end = SIZE / 32};
        struct long_work work = {counted_over, &all, false}, ended = {counted_over, &half, false};
        digests[i]((penta_bytes){bytes, SIZE}, whole, NULL);
        digests[i]((penta_bytes){bytes, SIZE}, again, &work);
        digests[i]((penta_bytes){bytes, SIZE}, whole, &ended);
        polls_test_check(all.units >= SIZE / 16 && !work.ended, &s, "units are counted", all.units,
                         i);
        polls_test_check(all.largest <= POLL_UNITS, &s, "pieces are small", all.largest, i);
        polls_test_check(ended.ended && half.units < SIZE / 16, &s, "it ends", half.units, i);
        digests[i]((penta_bytes){bytes, SIZE}, whole, NULL);
        polls_test_check(!memcmp(whole, again, HASH_BYTES), &s, "the same digest", i, 0);
    }
    free(bytes);
}

static void try_session(const struct sample *s)
{
    penta_error err;
    penta_module *module = assembled(s->format, s->text);
    penta_buffer whole = {0}, whole_log = {0};
    uint64_t total = 0;
    for (uint64_t k = 0; k < 5; k++) {
        penta_stop stop;
        penta_session *session =
            penta_session_new(module, NULL, s->options, s->option_count, NULL, &err);
        if (!polls_test_check(session, s, "a session opens", 0, 0)) break;
        penta_session_keep_log(session, 1000, false);
        penta_vm *vm = penta_session_vm(session);
        uint64_t trip = total - s->units * k / 5 + 1;
        vm->poll.trip = k ? trip : 0;
        unsigned interrupts = 0;
        for (;; interrupts++) {
            penta_session_run(session, UINT64_MAX, &stop);
            if (stop.kind != PENTA_STOP_INTERRUPT) break;
        }
        if (!k) total = poll_total(&vm->poll);
        polls_test_check(total >= s->units, s, "units are counted", total, s->units);
        polls_test_check(vm->poll.largest <= POLL_UNITS, s, "pieces are small", vm->poll.largest,
                         POLL_UNITS);
        polls_test_check(stop.kind == PENTA_STOP_HALT && interrupts == !!k, s, "interrupts", k,
                         interrupts);
        penta_buffer end = {0}, log = {0};
        if (polls_test_save(s, vm, &end) && penta_session_log(session, &log, &err)) {
            polls_test_check(!k || same_buffer(&end, &whole), s, "the same machine as without", k,
                             0);
            polls_test_check(!k || same_buffer(&log, &whole_log), s, "the same calls as without", k,
                             0);
        }
        penta_buffer_free(k ? &end : &whole);
        penta_buffer_free(k ? &log : &whole_log);
        if (!k) whole = end, whole_log = log;
        penta_session_free(session);
    }
    penta_buffer_free(&whole);
    penta_buffer_free(&whole_log);
    penta_close(module);
}

/* Prints 255 bytes of a text of 5 MB. */
static void try_board(void)
{
    enum { SIZE = 5000000 };
    char *text = malloc(SIZE + 100);
    size_t n = (size_t)sprintf(text, ".string \"%%d ");
    memset(text + n, 'x', SIZE);
    sprintf(text + n + SIZE, " %%%%\"\n    PUSH 7\n    PUSH 1\n    PRINTF 0\n    HALT\n");
    struct sample s = {"cvbc", NULL, "PRINTF", text, SIZE / 64 - POLL_UNITS / 2, NULL, 0};
    try_session(&s);
    free(text);
}

/* Asks a bank with twenty vectors of 50,000 elements. */
static void try_bank(void)
{
    static const char text[] =
        ".requires\n tensor\n learning\n bank\n.registers\nH0: i32[50000]\n.program\n"
        "add_babble H0, 0\nloop 20\nbank.bank_write H1, H0, 2\nend_loop\n"
        "bank.bank_query H2, H0, 2, 5\nhalt\n";
    const penta_option options[] = {{"babble", "100"}, {"seed-chem", "210,128,128,128"}};
    struct sample s = {"tvmr", NULL, "bank_query", text, 20 * 3 * 50000 / 32, options, 2};
    try_session(&s);
}

static void try_train(void)
{
    enum { ROWS = 400, COLUMNS = 256 };
    static const char text[] =
        ".requires\n tensor\n ternary\n learning\n arch\n.registers\nC0: ternary[2, 256] \"w\"\n"
        ".program\nload_input H0\nternary_matmul H1, C0, H0\nstore_output H1\n"
        "load_target H2\nif_zero H2, end\nmastery_update C0, H0, H1, 3\nmastery_commit C0, 1\n"
        "end:\nhalt\n";
    static int32_t numbers[ROWS * COLUMNS], classes[ROWS];
    for (int i = 0; i < ROWS; i++) classes[i] = i % 2;
    for (int i = 0; i < ROWS * COLUMNS; i++) numbers[i] = (i * 7 + i / COLUMNS) % 251;
    penta_error err;
    penta_table *data = penta_table_new(numbers, ROWS, COLUMNS, &err),
                *targets = penta_table_new(classes, ROWS, 1, &err);
    const penta_tvmr_samples samples = {data, targets, NULL, NULL};
    const penta_option options[] = {{"epochs", "3"}};
    struct sample s = {"tvmr", NULL, "train", text, 0, NULL, 0};
    penta_module *module = assembled("tvmr", text);
    uint64_t total = 0;
    for (uint64_t k = 0; k < 8; k++) {
        penta_tvmr_trained out;
        penta_vm *vm = open_machine(&s, module);
        vm->poll.trip = k ? 1 + total * (k - 1) / 8 : 0;
        bool ok = penta_tvmr_train(vm, &samples, options, 1, &out, NULL, NULL, &err);
        if (polls_test_check(ok, &s, err.message, k, 0)) {
            const char *want = k ? "stopped" : "epochs";
            polls_test_check(!strcmp(out.ended, want), &s, out.ended, k, out.epochs);
            polls_test_check(out.judged.rows == (out.epochs ? ROWS : 0), &s, "rows", k,
                             out.judged.rows);
        }
        if (!k) total = poll_total(&vm->poll);
        polls_test_check(total > 8 * POLL_UNITS, &s, "units are counted", total, k);
        polls_test_check(vm->poll.largest <= POLL_UNITS, &s, "pieces are small", vm->poll.largest,
                         POLL_UNITS);
        if (ok) penta_tvmr_trained_free(&out);
        penta_vm_free(vm);
    }
    penta_close(module);
    penta_table_free(data);
    penta_table_free(targets);
}

struct pest {
    penta_vm *vm;
    atomic_bool over;
};

static void *polls_test_pester(void *user)
{
    struct pest *p = user;
    while (!atomic_load(&p->over)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        penta_vm_interrupt(p->vm);
    }
    return NULL;
}

/* Runs with interrupts again and again, unless `often` is 0. The log has results and gas. */
static bool run_inside(const struct sample *s, const penta_module *module, unsigned often,
                       penta_buffer *log)
{
    penta_stop stop;
    penta_error err;
    unsigned seen = 0;
    penta_session *session =
        penta_session_new(module, s->engine, s->options, s->option_count, NULL, &err);
    if (!polls_test_check(session, s, session ? "" : err.message, 0, 0)) return false;
    penta_session_keep_log(session, 100, false);
    struct pest pest = {penta_session_vm(session), false};
    pthread_t thread;
    bool started = often && !pthread_create(&thread, NULL, polls_test_pester, &pest);
    do {
        penta_session_run(session, UINT64_MAX, &stop);
        if (stop.kind == PENTA_STOP_INTERRUPT && ++seen == often) {
            atomic_store(&pest.over, true);
            pthread_join(thread, NULL);
            started = false;
        }
    } while (stop.kind == PENTA_STOP_INTERRUPT && (!s->units || seen < often));
    if (started) {
        atomic_store(&pest.over, true);
        pthread_join(thread, NULL);
    }
    bool endless = s->units; /* The run ends only by interrupts. */
    polls_test_check(stop.kind == (endless ? PENTA_STOP_INTERRUPT : PENTA_STOP_HALT), s, "its end",
                     stop.kind, stop.detail);
    bool ok = penta_session_log(session, log, &err);
    penta_session_free(session);
    return ok;
}

static void try_inside(const char *engine, const char *gas, bool endless)
{
    char text[2000];
    snprintf(
        text, sizeof text,
        "%%dialect = jam\n%%isa = latest64\n%%stack_size = 4096\n%%rw_data = 0000012801%0600d\n"
        "jump @refine %%size 5\njump @none %%size 5\n@refine:\na0 = 0x20000\na1 = 5\na2 = 0\n"
        "ecalli 8\na5 = %s\nu64 [0x20100] = a5\na0 = 0\na1 = 0x20100\necalli 12\n"
        "ecalli 0\n@none:\na0 = 0\na1 = 0\nret\n",
        0, gas);
    const penta_option options[] = {{"host", "jam"},
                                    {"state", "tests/cases/pvm/jam_state.json"},
                                    {"package", "tests/cases/pvm/jam_package.json"},
                                    {"entry", "refine"}};
    const penta_option dialect[] = {{"dialect", "jam"}, {"isa", "latest64"}};
    struct sample s = {"pvm", engine, "invoke", text, endless, options, 4};
    penta_error err;
    penta_buffer whole = {0}, again = {0};
    penta_module *source = assembled("pvm", text);
    penta_bytes file;
    file.data = penta_module_bytes(source, &file.size);
    penta_module *module = penta_open(file, "pvm", dialect, 2, &err);
    if (polls_test_check(module, &s, "it assembles", 0, 0) && endless) {
        run_inside(&s, module, 5, &again);
    } else if (module && run_inside(&s, module, 0, &whole) &&
               run_inside(&s, module, 1000, &again)) {
        polls_test_check(whole.size && same_buffer(&whole, &again), &s, "the same as without",
                         whole.size, again.size);
    }
    penta_buffer_free(&whole);
    penta_buffer_free(&again);
    penta_close(module);
    penta_close(source);
}

/* s0 is the address of 5 MiB of writable memory. */
#define JAM_MACHINE                                                                                \
    "u32 [s0] = 0x000f0000\nu8 [s0] = 0\nu8 [s0 + 1] = 0\nu8 [s0 + 2] = 1\nu8 [s0 + 3] = 0\n"      \
    "u8 [s0 + 4] = 1\na0 = s0\na1 = 5\na2 = 0\necalli 8\n"
#define JAM_PAGES "a0 = 0\na1 = 16\na2 = 1024\na3 = 2\necalli 11\n"
#define JAM_WRITE "a0 = s0\na1 = 8\na2 = s0\na3 = 0x400000\necalli 4\n"
enum { JAM_MEGABYTES = 4194304 / 64, JAM_DIGEST = 4194304 / 16 };

static const struct jam_row {
    const char *call, *entry, *text;
    uint64_t units;
} jam_rows[] = {
    {"write", "accumulate", JAM_WRITE, JAM_MEGABYTES},
    {"write", "accumulate", "a0 = s0\na1 = 0x400000\na2 = s0\na3 = 1\necalli 4\n",
     JAM_DIGEST + JAM_MEGABYTES},
    {"read", "accumulate",
     JAM_WRITE "a0 = 0xffffffffffffffff\na1 = s0\na2 = 8\na3 = s0 + 64\na4 = 0\na5 = 0x400000\n"
               "ecalli 3\n",
     2 * JAM_MEGABYTES},
    {"read", "accumulate", "a0 = 0xffffffffffffffff\na1 = s0\na2 = 0x400000\necalli 3\n",
     JAM_DIGEST},
    {"provide", "accumulate", "a0 = 0xffffffffffffffff\na1 = s0\na2 = 0x400000\necalli 26\n",
     JAM_DIGEST + JAM_MEGABYTES},
    {"poke", "refine",
     JAM_MACHINE JAM_PAGES "a0 = 0\na1 = s0\na2 = 0x10000\na3 = 0x400000\necalli 10\n",
     JAM_MEGABYTES},
    {"peek", "refine",
     JAM_MACHINE JAM_PAGES "a0 = 0\na1 = s0\na2 = 0x10000\na3 = 0x400000\necalli 9\n",
     JAM_MEGABYTES},
    {"machine", "refine",
     /* The program has no jump table, 0x380000 bytes of code, and its mask. */
     "u8 [s0 + 2] = 0xe0\nu8 [s0 + 5] = 0x38\na0 = s0\na1 = 4128774\na2 = 0\necalli 8\n",
     JAM_MEGABYTES - 1100},
    /* A machine that runs inside another one is interrupted itself (run_inside). */
    {"invoke", NULL, NULL, 0},
    /* These calls write their result by the same function as `read`. */
    {"fetch", NULL, NULL, 0},
    {"lookup", NULL, NULL, 0},
    {"historical_lookup", NULL, NULL, 0},
};

/* The calls whose work does not depend on sizes that a program chooses, or on at most 64 KiB of
 * them. */
static const char *const jam_brief[] = {
    "gas",    "grow_heap", "info",       "export", "pages",   "expunge",
    "assign", "designate", "checkpoint", "new",    "upgrade", "transfer",
    "eject",  "query",     "solicit",    "forget", "yield",   "log",
};

/* The calls that work in one piece: bless sorts the services that it is given (JAM 9.5). */
static const char *const jam_whole[] = {"bless"};

static void every_jam_call_was_tried(void)
{
    static const char *const names[] = {
#define CALL(id, name, ...) name,
#include "pvm/host/jam_calls/calls.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof jam_rows / sizeof *jam_rows; k++)
            known |= !strcmp(names[i], jam_rows[k].call);
        for (size_t k = 0; k < sizeof jam_brief / sizeof *jam_brief; k++)
            known |= !strcmp(names[i], jam_brief[k]);
        for (size_t k = 0; k < sizeof jam_whole / sizeof *jam_whole; k++)
            known |= !strcmp(names[i], jam_whole[k]);
        struct sample s = {"pvm", "jam", names[i], "", 0, NULL, 0};
        polls_test_check(known, &s, "no row tries this host call", i, 0);
    }
}

static bool run_jam(const struct sample *s, const penta_module *module, uint64_t trip,
                    penta_buffer *log, unsigned *interrupts, uint64_t *units)
{
    penta_stop stop;
    penta_error err;
    penta_session *session =
        penta_session_new(module, s->engine, s->options, s->option_count, NULL, &err);
    if (!polls_test_check(session, s, session ? "" : err.message, 0, 0)) return false;
    penta_session_keep_log(session, 100, false);
    penta_vm *vm = penta_session_vm(session);
    vm->poll.trip = trip;
    do {
        penta_session_run(session, UINT64_MAX, &stop);
        *interrupts += stop.kind == PENTA_STOP_INTERRUPT;
    } while (stop.kind == PENTA_STOP_INTERRUPT);
    *units = poll_total(&vm->poll);
    polls_test_check(vm->poll.largest <= POLL_UNITS, s, "pieces are small", vm->poll.largest,
                     POLL_UNITS);
    bool ok =
        polls_test_check(stop.kind == PENTA_STOP_HALT, s, "it halts", stop.kind, stop.detail) &&
        penta_session_log(session, log, &err);
    penta_session_free(session);
    return ok;
}

static void try_jam_call(const struct jam_row *row, const char *engine)
{
    char text[2000];
    snprintf(text, sizeof text,
             "%%dialect = jam\n%%isa = latest64\n%%stack_size = 4096\n%%rw_data = 00\n"
             "jump @refine %%size 5\njump @accumulate %%size 5\n@refine:\n@accumulate:\n"
             "a0 = 0x500000\na0 = sbrk a0\ns0 = a0\n%sa0 = 0\na1 = 0\nret\n",
             row->text);
    const penta_option options[] = {{"host", "jam"},
                                    {"state", "tests/cases/pvm/jam_rich_state.json"},
                                    {"package", "tests/cases/pvm/jam_package.json"},
                                    {"entry", "refine"}};
    const penta_option accumulate[] = {{"host", "jam"},
                                       {"state", "tests/cases/pvm/jam_rich_state.json"},
                                       {"service", "7"},
                                       {"slot", "50"}};
    bool refine = !strcmp(row->entry, "refine");
    const penta_option dialect[] = {{"dialect", "jam"}, {"isa", "latest64"}};
    struct sample s = {"pvm", engine, row->call, text, row->units, refine ? options : accumulate,
                       4};
    penta_error err;
    penta_module *source = assembled("pvm", text);
    penta_bytes file;
    file.data = penta_module_bytes(source, &file.size);
    penta_module *module = penta_open(file, "pvm", dialect, 2, &err);
    penta_buffer whole = {0};
    unsigned none = 0;
    uint64_t units = 0, ignored;
    if (polls_test_check(module, &s, "it assembles", 0, 0) &&
        run_jam(&s, module, 0, &whole, &none, &units)) {
        polls_test_check(units >= s.units && !none, &s, "units are counted", units, s.units);
        polls_test_check(!strstr((const char *)whole.data, "HUH"), &s, "the call succeeds", 0, 0);
        for (unsigned k = 0; k < 5; k++) {
            penta_buffer again = {0};
            unsigned some = 0;
            if (run_jam(&s, module, 1 + units * k / 5, &again, &some, &ignored))
                polls_test_check((some == 1 || units * k / 5 + POLL_UNITS >= units) &&
                                     same_buffer(&whole, &again),
                                 &s, "an interrupt, and the same", some, k);
            penta_buffer_free(&again);
        }
    }
    penta_buffer_free(&whole);
    penta_close(module);
    penta_close(source);
}

static void try_jam(void)
{
    every_jam_call_was_tried();
    for (size_t i = 0; i < sizeof jam_rows / sizeof *jam_rows; i++) {
        if (!jam_rows[i].entry) continue;
        try_jam_call(&jam_rows[i], "interp");
        try_jam_call(&jam_rows[i], "jit");
    }
}

int main(void)
{
#define TVMR(registers, before, line, units) try_tvmr(registers, before, line, units);
#include "polls.def"
    every_instruction_was_tried();
    try_memory();
    try_contract("interp");
    try_contract("jit");
    try_jam();
    try_digests();
    try_board();
    try_bank();
    try_train();
    for (unsigned i = 0; i < 2; i++) {
        try_inside(i ? "jit" : "interp", "20000000", false);
        try_inside(i ? "jit" : "interp", "0x3fffffffffffffff", true);
    }
    return checks_end();
}

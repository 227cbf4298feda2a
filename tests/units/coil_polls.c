/* Tests every COIL instruction that works for long (COIL 7.20). It must count its work, look at
 * the interrupt flag after at most POLL_UNITS of it, and stop there when the flag is set. After
 * each of those stops the machine, or another one from a snapshot, continues to the same end.
 * Nothing here measures time. */
#include "coil/vm/vm.h"
#include "core/snapshot.h"
#include "support.h"
#include <stdio.h>

static unsigned tried, stops_seen;

#define LANES 65535
struct row {
    uint8_t opcode;
    const char *vars, *code;
    uint64_t units; /* the least units of work that must be counted */
};

#define F64                                                                                        \
    " VAR %a, vec<f64,65535>\n VAR %b, vec<f64,65535>\n VAR %d, vec<f64,65535>\n MOV %a, f64 7\n " \
    "MOV %b, f64 3\n"
#define I32                                                                                        \
    " VAR %a, vec<i32,65535>\n VAR %b, vec<i32,65535>\n VAR %d, vec<i32,65535>\n MOV %a, 7\n MOV " \
    "%b, 3\n"
#define BIG                                                                                        \
    " VAR %a, mat<i32,1000,1000>\n VAR %b, mat<i32,1000,1000>\n"                                   \
    " VAR %za, u64\n LEA %za, %a\n MEMSET %za, 7, 4000000\n VAR %zb, u64\n LEA %zb, %b\n MEMSET "  \
    "%zb, 3, 4000000\n"
#define ALLOCS                                                                                     \
    " VAR %p, u64\n VAR %q, u64\n ALLOC %p, 16777216\n MOV %q, %p\n ADD %q, u64 4096\n MEMSET "    \
    "%p, 5, 1000000\n"
#define BYTES_16M (UINT64_C(16777216) / 64)
#define BYTES_BIG (UINT64_C(4000000) / 64)

static const struct row rows[] = {
#define THREE(name, vars) {COIL_OP_##name, vars, " " #name " %d, %a, %b\n", LANES},
#define COUNT(name) {COIL_OP_##name, I32, " " #name " %d, %a, 3\n", LANES},
#define ONE(name, vars) {COIL_OP_##name, vars, " " #name " %a\n", LANES},
    /* clang-format off */
    THREE(ADD, F64) THREE(SUB, F64) THREE(MUL, F64) THREE(DIV, F64) THREE(MOD, F64) THREE(MIN, F64)
    THREE(MAX, F64) THREE(ADDC, I32) THREE(SUBB, I32) THREE(AND, I32)
    THREE(OR, I32) THREE(XOR, I32) COUNT(SHL) COUNT(SHR) COUNT(SAL) COUNT(SAR)
    COUNT(ROL) COUNT(ROR) COUNT(BITSET) COUNT(BITCLR) COUNT(BITTGL)
    COUNT(BITCHK)
    ONE(INC, I32) ONE(DEC, I32) ONE(NEG, F64) ONE(ABS, F64) ONE(SQRT, F64) ONE(CEIL, F64)
    ONE(FLOR, F64) ONE(ROND, F64) ONE(NOT, I32) ONE(BSWAP, I32)
    /* clang-format on */
    {COIL_OP_POPCNT, I32, " POPCNT %d, %a\n", LANES},
    {COIL_OP_CLAMP, F64, " CLAMP %d, %a, f64 1, %b\n", LANES},
    {COIL_OP_FMA, F64, " FMA %d, %a, %b, %a\n", LANES},
    {COIL_OP_DIVMOD, I32, " DIVMOD %d, %d, %a, %b\n", LANES},
    {COIL_OP_CMP, I32, " CMP %a, %b\n BR GT, @.x\n INC %a\n.x:\n", LANES},
    {COIL_OP_MUL, " VAR %a, mat<f64,70,70>\n VAR %za, u64\n LEA %za, %a\n MEMSET %za, 3, 39200\n",
     " MUL %a, %a, %a\n", 70 * 70 * 70},
    {COIL_OP_DOT, F64 " VAR %e, f64\n", " DOT %e, %a, %b\n", LANES},
    {COIL_OP_LEN, F64 " VAR %e, f64\n", " LEN %e, %a\n", LANES / 2},
    {COIL_OP_NORM, F64, " NORM %a\n", LANES / 2},
    {COIL_OP_SHUF, I32, " SHUF %a, %a, %b\n", LANES},
    {COIL_OP_EXTRACT, I32, " EXTRACT %d, %a, 0, 65535\n", LANES / 2},
    {COIL_OP_INSERT, I32, " INSERT %d, %a, 0, 65535\n", LANES / 2},
    {COIL_OP_TRANS, BIG, " TRANS %a\n", 1000 * 1000 + BYTES_BIG},
    {COIL_OP_INV,
     " VAR %a, sqmat<f64,128>\n VAR %za, u64\n LEA %za, %a\n MEMSET %za, 3, 131072\n VAR %i, i64, "
     "0\n.l:\n SETE %a, %i, f64 5\n ADD %i, 129\n CMP %i, 16384\n BR LT, @.l\n",
     " INV %a\n", 128 * 128 * 128 / 16},
    {COIL_OP_INV,
     " VAR %a, sqmat<i64,32>\n VAR %za, u64\n LEA %za, %a\n MEMSET %za, 3, 8192\n VAR %i, i64, "
     "0\n.l:\n SETE %a, %i, 4\n ADD %i, 33\n CMP %i, 1024\n BR LT, @.l\n",
     " INV %a\n", 32 * 32 * 64 * 64},
    {COIL_OP_DET,
     " VAR %a, sqmat<f64,256>\n VAR %za, u64\n LEA %za, %a\n MEMSET %za, 3, 524288\n VAR %i, i64, "
     "0\n.l:\n SETE %a, %i, f64 5\n ADD %i, 257\n CMP %i, 65536\n BR LT, @.l\n VAR %e, f64\n",
     " DET %e, %a\n", 256 * 256 * 256 / 48},
    {COIL_OP_DET,
     " VAR %a, sqmat<i64,256>\n VAR %za, u64\n LEA %za, %a\n MEMSET %za, 3, 524288\n VAR %i, i64, "
     "0\n.l:\n SETE %a, %i, 4\n ADD %i, 257\n CMP %i, 65536\n BR LT, @.l\n VAR %e, i64\n",
     " DET %e, %a\n", 256 * 256 * 256 / 48},
    {COIL_OP_ROW, " VAR %m, mat<i32,2,65535>\n VAR %v, vec<i32,65535>\n",
     " ROW %v, %m, 1\n ROW %m, 0, %v\n", LANES / 2},
    {COIL_OP_COL, " VAR %m, mat<i32,65535,2>\n VAR %v, vec<i32,65535>\n",
     " COL %v, %m, 1\n COL %m, 0, %v\n", LANES / 2},
    {COIL_OP_DIAG, " VAR %m, mat<i32,1000,1000>\n VAR %v, vec<i32,1000>\n", " DIAG %v, %m, 0\n",
     500},
    {COIL_OP_MOV, BIG, " MOV %a, %b\n", BYTES_BIG},
    {COIL_OP_MOV, F64, " MOV %d, f64 77\n", LANES * 8 / 64},
    {COIL_OP_MOV, I32 " VAR %c, vec<f64,65535>\n", " MOV %c, %a\n", LANES},
    {COIL_OP_CAST, I32 " VAR %c, vec<f64,65535>\n", " CAST %c, %a\n", LANES},
    {COIL_OP_VAR, BIG, " VAR %c, mat<i32,1000,1000>\n", BYTES_BIG},
    {COIL_OP_VAR, BIG, " VAR %c, mat<i32,1000,1000>, %b\n", 2 * BYTES_BIG},
    {COIL_OP_XCHG, BIG, " XCHG %a, %b\n", 3 * BYTES_BIG},
    {COIL_OP_XCHG, ALLOCS, " XCHG mat<i32,1000,1000> [%p], mat<i32,1000,1000> [%q]\n",
     3 * BYTES_BIG},
    {COIL_OP_PUSH, BIG, " PUSH %b\n", BYTES_BIG},
    {COIL_OP_POP, BIG, " PUSH %b\n POP %a\n", 2 * BYTES_BIG},
    {COIL_OP_LOADALIGN, BIG ALLOCS, " LOADALIGN %a, %p, 8\n", BYTES_BIG},
    {COIL_OP_STOREALIGN, BIG ALLOCS, " STOREALIGN %p, %a, 8\n", BYTES_BIG},
    {COIL_OP_MEMGET, " VAR %s, struct{1:i32,2:mat<i32,1000,1000>}\n" BIG, " MEMGET %a, %s, 2\n",
     BYTES_BIG},
    {COIL_OP_MEMPUT, " VAR %s, struct{1:i32,2:mat<i32,1000,1000>}\n" BIG, " MEMPUT %s, 2, %a\n",
     BYTES_BIG},
    {COIL_OP_MEMSET, ALLOCS, " MEMSET %p, 9, 16777216\n", BYTES_16M},
    {COIL_OP_MEMZERO, ALLOCS, " MEMZERO %p, 16777216\n", BYTES_16M},
    {COIL_OP_MEMCPY, ALLOCS, " MEMCPY %p, %q, 16773120\n", BYTES_16M},
    {COIL_OP_MEMCPY, ALLOCS, " MEMCPY %q, %p, 16773120\n", BYTES_16M},
    {COIL_OP_ALLOC, ALLOCS,
     " ALLOC %q, 16777216\n MEMSET %q, 1, 16777216\n FREE %q\n ALLOC %q, 16777216\n",
     3 * BYTES_16M},
    {COIL_OP_FREE,
     " VAR %p, u64\n VAR %q, u64\n VAR %i, i64, 0\n ALLOC %p, 16\n.l:\n ALLOC %q, 16\n INC %i\n "
     "CMP %i, 100000\n BR LT, @.l\n"
     " SUB %q, u64 16\n VAR %k, u64\n MOV %k, %p\n ADD %k, u64 16\n.m:\n FREE %k\n ADD %k, u64 "
     "16\n CMP %k, %q\n BR LTE, @.m\n",
     " FREE %k\n FREE %p\n", 100000},
    {COIL_OP_CALL, "", " CALL @large\n CALL @large\n", 2 * BYTES_BIG},
    {COIL_OP_JMP, BIG, " CALL @tail\n", BYTES_BIG},
};
static const char end[] =
    " RET\n.endfunc\n.func large\n VAR %a, mat<i32,1000,1000>\n INC %a\n RET\n.endfunc\n"
    ".func tail\n VAR %a, mat<i32,1000,1000>\n VAR %f, u64\n JMP @large\n.endfunc\n";

/* The opcodes that never work for long, in groups whose instructions may. */
static const uint8_t short_ones[] = {COIL_OP_LEA,   COIL_OP_CAS,     COIL_OP_GETE, COIL_OP_SETE,
                                     COIL_OP_CROSS, COIL_OP_MEMADDR, COIL_OP_MULH, COIL_OP_TEST};

static void every_instruction_is_here(void)
{
    for (unsigned op = 0; op < 256; op++) {
        uint8_t group = coil_ops[op].group;
        bool may = group == COIL_G_MOVE || group == COIL_G_ARITH || group == COIL_G_BITS ||
                   group == COIL_G_COMPARE || group == COIL_G_STACK || group == COIL_G_MEMORY ||
                   group == COIL_G_VECTOR || group == COIL_G_MEMBER;
        bool found = !may || !coil_ops[op].name;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) found |= rows[i].opcode == op;
        for (size_t i = 0; i < sizeof short_ones; i++) found |= short_ones[i] == op;
        CHECK(found, "%s is neither long nor known to be short", coil_ops[op].name);
    }
}

static penta_module *program_of(const struct row *r)
{
    static char text[4096];
    snprintf(text, sizeof text, ".global main\n.func main\n%s%s%s", r->vars, r->code, end);
    return assembled("coil", text);
}

static penta_vm *coil_polls_opened(const penta_module *m, const char *engine)
{
    static const penta_option options[] = {{"stack", "9000000"}, {"frames", "100000000"}};
    return machine_of(m, engine, options, 2);
}

/* Compares memory and registers. Slots are left out, because compiled code keeps only those that
 * are read. */
static bool same_end(const penta_vm *x, const penta_vm *y)
{
    const struct coil_vm *a = (const struct coil_vm *)x, *b = (const struct coil_vm *)y;
    if (a->halted != b->halted || a->trap != b->trap || a->pc != b->pc || a->sp != b->sp ||
        a->heap_top != b->heap_top || a->block_count != b->block_count ||
        memcmp(a->v, b->v, sizeof a->v))
        return false;
    for (size_t i = 0; i < a->region_count; i++) {
        uint64_t size = &a->regions[i] == a->heap ? a->heap_top : a->regions[i].size;
        /* Frames of functions that have returned do not matter. */
        if (&a->regions[i] == a->frame_memory) size = a->program.functions[a->function].bytes;
        if (&a->regions[i] == a->stack) continue;
        if (size && memcmp(a->regions[i].bytes, b->regions[i].bytes, (size_t)size)) return false;
    }
    return true;
}

static bool to_the_end(penta_vm *vm, penta_stop *stop)
{
    penta_vm_run(vm, UINT64_MAX, stop);
    return stop->kind == PENTA_STOP_HALT;
}

/* Stops the instruction once. The machine then continues, and so does a machine of the
 * interpreter from a snapshot. */
static void coil_polls_stopped(const struct row *r, const penta_module *m, const char *engine,
                               const penta_vm *whole, uint64_t trip)
{
    struct writer saved = {0};
    penta_error err = {0};
    penta_stop stop;
    penta_vm *vm = coil_polls_opened(m, engine), *other = coil_polls_opened(m, "interp");
    vm->poll.trip = trip;
    penta_vm_run(vm, UINT64_MAX, &stop);
    if (stop.kind != PENTA_STOP_INTERRUPT) {
        CHECK(poll_total(&vm->poll) <= trip + POLL_UNITS, "%s, %s: is not interrupted", r->code,
              engine);
    } else {
        stops_seen++;
        bool loaded = snapshot_save(vm, &saved) && snapshot_load(other, writer_view(&saved), &err);
        CHECK(loaded, "%s, %s: %s", r->code, engine, err.message);
        CHECK(loaded && to_the_end(other, &stop) && same_end(other, whole),
              "%s, %s: the snapshot leads to another end", r->code, engine);
        CHECK(to_the_end(vm, &stop) && same_end(vm, whole), "%s, %s: going on leads to another end",
              r->code, engine);
    }
    writer_free(&saved);
    penta_vm_free(vm);
    penta_vm_free(other);
}

static void row_try(const struct row *r, const penta_module *m, const char *engine)
{
    enum { STOPS = 6 };
    penta_stop stop;
    penta_vm *vm = coil_polls_opened(m, engine);
    if (CHECK(to_the_end(vm, &stop), "%s, %s: %s %s", r->code, engine, penta_stop_name(stop.kind),
              stop.kind == PENTA_STOP_TRAP ? coil_trap_name(stop.detail) : "")) {
        uint64_t total = poll_total(&vm->poll);
        /* Compiled code has its own instructions for many of these. They look at the flag
         * between pieces. */
        CHECK(strcmp(engine, "interp") || total >= r->units,
              "%s: counts %llu units of work, not %llu", r->code, (unsigned long long)total,
              (unsigned long long)r->units);
        CHECK(vm->poll.largest <= POLL_UNITS, "%s, %s: works too long without a look", r->code,
              engine);
        for (uint64_t k = 0; k < STOPS; k++)
            coil_polls_stopped(r, m, engine, vm, 1 + total * k / STOPS);
        tried++;
    }
    penta_vm_free(vm);
}

int main(void)
{
    static const char *const engines[] = {"interp", "jit", "both"};
    every_instruction_is_here();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        penta_module *m = program_of(&rows[i]);
        for (unsigned k = 0; k < 3; k++)
            if (penta_engine_name("coil", k)) row_try(&rows[i], m, engines[k]);
        penta_close(m);
    }
    printf("%u runs of %zu programs, %u interrupts\n", tried, sizeof rows / sizeof *rows,
           stops_seen);
    return checks_end();
}

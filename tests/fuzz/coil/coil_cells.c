/* Runs programs made from the input on two machines: one with specialised cells (the fast path),
 * one with the general form of every instruction. Both must stop in the same state wherever the
 * fuel ends. */
#include "fuzz.h"
#include "base/writer.h"

struct source {
    const uint8_t *data;
    size_t size, at;
};

static unsigned coil_cells_pick(struct source *s, unsigned below)
{
    return s->at < s->size ? s->data[s->at++] % below : 0;
}

static const char *const types[] = {"i8",  "u8",  "i16", "u16", "i32",    "u32",    "i64",
                                    "u64", "f32", "f64", "bit", "sat i8", "sat u16"};
static const char *const lanes[] = {"i8", "i16", "u32", "f32", "f64"};
enum {
    TYPES = sizeof types / sizeof *types,
    LANES = sizeof lanes / sizeof *lanes,
    VARIABLES = 2 * TYPES,
    BIT = 10,
    INSTRUCTIONS = 48
};

/* Declares two variables of each type from %1 on, vectors from %50 on, and the address of the
 * buffer in %100. */
static void coil_cells_declare(struct writer *w)
{
    writer_text(w, ".global main\n.func main\n    VAR %100, u64\n    LEA %100, u8 @buffer\n");
    for (unsigned i = 0; i < VARIABLES; i++)
        writer_print(w, "    VAR %%%u, %s, %u\n", i + 1, types[i % TYPES],
                     i * 37 % 100 % (i % TYPES == BIT ? 2 : 100));
    for (unsigned i = 0; i < LANES; i++)
        writer_print(w, "    VAR %%%u, v128<%s>, %u\n", 50 + i, lanes[i], i + 1);
}

static void coil_cells_location(struct source *s, struct writer *w)
{
    unsigned variable = coil_cells_pick(s, VARIABLES);
    switch (coil_cells_pick(s, 8)) {
    case 0: writer_print(w, "v%u", coil_cells_pick(s, 4)); break;
    case 1: writer_print(w, "%s @buffer", types[coil_cells_pick(s, TYPES)]); break;
    case 2:
        writer_print(w, "%s [u64 %%100 + i64 %%7*%u + %u]", types[coil_cells_pick(s, TYPES)],
                     1u << coil_cells_pick(s, 4), coil_cells_pick(s, 256));
        break;
    case 3:
        writer_print(w, "%s [u64 %%100 + %u]", types[coil_cells_pick(s, 10)],
                     coil_cells_pick(s, 80));
        break;
    case 4: /* An integer is used as the integer type of the same width and the other signedness. */
        writer_print(w, "%s %%%u", types[variable % TYPES ^ (variable % TYPES < 8)], variable + 1);
        break;
    case 5: writer_print(w, "%%%u", 50 + coil_cells_pick(s, LANES)); break;
    default: writer_print(w, "%%%u", variable + 1);
    }
}

static void coil_cells_value(struct source *s, struct writer *w)
{
    unsigned kind = coil_cells_pick(s, 4), type = coil_cells_pick(s, 10);
    if (kind > 1) {
        coil_cells_location(s, w);
        return;
    }
    static const char *const edges[] = {"0", "1", "-1", "2", "7", "-128", "127", "100"};
    bool is_unsigned = type < 8 && type % 2;
    const char *edge = edges[coil_cells_pick(s, 8)];
    writer_print(w, "%s %s", types[type], is_unsigned && *edge == '-' ? "255" : edge);
}

static void coil_cells_instruction(struct source *s, struct writer *w)
{
    static const char *const binary[] = {
        "ADD", "SUB", "MUL", "DIV", "MOD",  "AND",    "OR",     "XOR",    "SHL",  "SHR", "SAR",
        "ROL", "ROR", "MIN", "MAX", "MULH", "BITSET", "BITCLR", "BITTGL", "ADDC", "SUBB"};
    static const char *const unary[] = {"INC", "DEC", "NEG", "ABS", "NOT", "BSWAP", "SQRT", "CEIL"};
    static const char *const conditions[] = {"EQ", "NEQ", "GT", "GTE", "LT", "LTE", "O",
                                             "NO", "S",   "NS", "Z",   "NZ", "C",   "NC",
                                             "D",  "ND",  "N",  "NN",  "P",  "NP"};
    unsigned kind = coil_cells_pick(s, 16);
    const char *name = binary[coil_cells_pick(s, sizeof binary / sizeof *binary)];
    writer_text(w, "    ");
    if (kind < 3) {
        writer_print(w, "BR %s, @.l%u\n", conditions[coil_cells_pick(s, 20)],
                     coil_cells_pick(s, INSTRUCTIONS));
        return;
    }
    if (kind == 3) {
        writer_print(w, "%s ", unary[coil_cells_pick(s, 8)]);
        coil_cells_location(s, w);
    } else if (kind < 6) {
        writer_text(w, kind == 4 ? "CMP " : "TEST ");
        coil_cells_value(s, w);
        writer_text(w, ", ");
        coil_cells_value(s, w);
    } else if (kind < 9) {
        writer_text(w, kind == 6 ? "CAST " : "MOV ");
        coil_cells_location(s, w);
        writer_text(w, ", ");
        coil_cells_value(s, w);
    } else {
        writer_print(w, "%s ", name);
        coil_cells_location(s, w);
        writer_text(w, ", ");
        coil_cells_value(s, w);
        if (coil_cells_pick(s, 2)) {
            writer_text(w, ", ");
            coil_cells_value(s, w);
        }
    }
    writer_text(w, "\n");
}

/* The instructions that do not assemble, found by the offsets of the assembler's findings. The
 * next round leaves them out. */
struct lines {
    uint8_t wrong[INSTRUCTIONS];
    uint64_t starts[INSTRUCTIONS + 1];
};

static void coil_cells_note(void *user, const penta_error *e)
{
    struct lines *l = user;
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        if (e->offset >= l->starts[i] && e->offset < l->starts[i + 1]) l->wrong[i] = 1;
}

static penta_module *coil_cells_make(const uint8_t *data, size_t size)
{
    struct lines l = {{0}, {0}};
    penta_module *m = NULL;
    for (int round = 0; round < 3 && !m; round++) {
        struct source s = {data, size, 0};
        struct writer w = {0}, skipped = {0};
        if (coil_cells_pick(&s, 8) == 1) writer_text(&w, ".endian big\n");
        coil_cells_declare(&w);
        for (unsigned i = 0; i < INSTRUCTIONS; i++) {
            writer_print(&w, ".l%u:\n", i);
            uint8_t wrong = l.wrong[i];
            l.starts[i] = w.out.size;
            coil_cells_instruction(&s, wrong ? &skipped : &w);
        }
        l.starts[INSTRUCTIONS] = w.out.size;
        writer_text(&w, "    RET\n.endfunc\n.data\n.align 16\nbuffer:\n    .zero 2400\n");
        m = penta_assemble(writer_view(&w), "coil", NULL, 0, coil_cells_note, &l);
        writer_free(&w);
        writer_free(&skipped);
    }
    return m;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static const penta_option options[] = {
        {"stack", "4096"}, {"heap", "4096"}, {"frames", "4096"}, {"depth", "16"}, {"plain", "1"}};
    penta_error err = {0};
    penta_module *m = coil_cells_make(data, size);
    if (!m) check_failed("wrong lines are left out, yet it does not assemble", 0, 0);
    penta_vm *fast = m ? penta_vm_new(m, NULL, options, 4, NULL, &err) : NULL,
             *plain = m ? penta_vm_new(m, NULL, options, 5, NULL, &err) : NULL;
    if (m && (!fast || !plain)) check_failed(err.message, err.code, 0);
    penta_stop one, two;
    for (uint64_t round = 0; m && round < 24; round++) {
        uint64_t fuel = round < 20 ? round % 7 + 1 : 300;
        penta_vm_run(fast, fuel, &one);
        penta_vm_run(plain, fuel, &two);
        if (one.kind != two.kind || one.pc != two.pc || one.steps != two.steps)
            check_failed("another stop", one.pc, two.pc);
        check_same_state(fast, plain, "the machines differ");
        if (one.kind != PENTA_STOP_FUEL) break;
    }
    penta_vm_free(fast);
    penta_vm_free(plain);
    penta_close(m);
}

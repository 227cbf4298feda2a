#include "coil_maker.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const types[] = {"i8",  "u8",  "i16", "u16", "i32", "u32",
                                    "i64", "u64", "f32", "f64", "bit", "sat i16"};
enum {
    TYPES = 12,
    INTS = 8,
    REAL32 = 8,
    REAL64 = 9,
    VARIABLES = 2 * TYPES,
    FUNCTIONS = 4,
    SMALL = 3
};
static const char *const conditions[] = {"EQ", "NEQ", "GT", "GTE", "LT", "LTE", "O",
                                         "NO", "S",   "NS", "Z",   "NZ", "C",   "NC",
                                         "D",  "ND",  "N",  "NN",  "P",  "NP"};

unsigned pick(struct maker *m, unsigned below)
{
    struct coil_choices *c = m->c;
    if (c->at < c->size) return c->data[c->at++] % below;
    c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(c->state >> 33) % below;
}

void line(struct maker *m, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    writer_print(m->w, "    %s\n", text);
}

static unsigned int_variable(struct maker *m) { return 1 + pick(m, INTS) + TYPES * pick(m, 2); }
static unsigned any_variable(struct maker *m) { return 1 + pick(m, VARIABLES); }
static unsigned type_of(unsigned variable) { return (variable - 1) % TYPES; }

static long long coil_programs_number(struct maker *m)
{
    static const long long special[] = {0,
                                        1,
                                        -1,
                                        2,
                                        7,
                                        8,
                                        63,
                                        64,
                                        127,
                                        128,
                                        255,
                                        32767,
                                        65535,
                                        2147483647,
                                        -2147483648LL,
                                        4294967295LL,
                                        1000};
    return pick(m, 3) ? (long long)pick(m, 20) - 4 : special[pick(m, 17)];
}

/* Writes a constant that fits the type. */
static void coil_programs_constant(struct maker *m, char *out, size_t room, unsigned type)
{
    long long v = coil_programs_number(m);
    static const long long mask[] = {0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff};
    if (type == REAL32 || type == REAL64) {
        static const char *const reals[] = {"0.0", "1.5", "-2.25", "1e30",
                                            "inf", "nan", "-0.0",  "3.0"};
        snprintf(out, room, "%s %s", types[type], reals[pick(m, 8)]);
    } else if (type == 10) {
        snprintf(out, room, "bit %d", (int)(v & 1));
    } else {
        if (type < 6) v &= mask[type];
        if (type < 6 && type % 2 == 0 && !pick(m, 3)) v = -v - 1;
        if (type == 7) v &= INT64_MAX;
        if (type == 11) v &= 0x7fff;
        snprintf(out, room, "%s %lld", type == 11 ? "i16" : types[type], v);
    }
}

void memory_of(struct maker *m, char *out, size_t room, const char *name)
{
    static const char *const symbols[] = {"@data", "@data", "@data", "@words", "@only"};
    unsigned scale = 1u << pick(m, 4);
    switch (pick(m, 7)) {
    case 0: snprintf(out, room, "%s %s", name, symbols[pick(m, 5)]); break;
    case 1: snprintf(out, room, "%s [@data + %u]", name, pick(m, pick(m, 40) ? 120 : 300)); break;
    case 2:
        snprintf(out, room, "%s [u64 %%100 + %u]", name, pick(m, pick(m, 40) ? 120 : 300));
        break;
    case 3: snprintf(out, room, "%s [u64 %%100 + u8 %%2*%u]", name, pick(m, 8) ? 1 : scale); break;
    case 4: snprintf(out, room, "%s [@data + i64 %%90*%u + %u]", name, scale, pick(m, 60)); break;
    case 5: snprintf(out, room, "%s [u64 %%101 + i64 %%90*%u]", name, scale); break;
    default:
        if (pick(m, 12))
            snprintf(out, room, "%s [u64 %%100 + i64 %%90*%u + %u]", name, scale, pick(m, 60));
        else
            snprintf(out, room, "%s [u64 %%8 + 4096]", name);
    }
}

static void coil_programs_memory(struct maker *m, char *out, size_t room, unsigned type)
{
    memory_of(m, out, room, type == 11 ? "i16" : types[type]);
}

static void coil_programs_source(struct maker *m, char *out, size_t room, unsigned type)
{
    unsigned v;
    switch (pick(m, 8)) {
    case 0:
    case 1: coil_programs_constant(m, out, room, type); break;
    case 2: coil_programs_memory(m, out, room, type); break;
    case 3: snprintf(out, room, "v%u", pick(m, 8)); break;
    default:
        v = pick(m, 3) ? type + 1 + TYPES * pick(m, 2) : any_variable(m);
        snprintf(out, room, "%%%u", v);
    }
}

static void coil_programs_target(struct maker *m, char *out, size_t room, unsigned type)
{
    switch (pick(m, 8)) {
    case 0: coil_programs_memory(m, out, room, type); break;
    case 1: snprintf(out, room, "v%u", pick(m, 8)); break;
    default: snprintf(out, room, "%%%u", type + 1 + TYPES * pick(m, 2));
    }
}

static void coil_programs_arithmetic(struct maker *m)
{
    static const char *const all[] = {"ADD", "SUB", "MUL", "DIV", "MOD", "MIN", "MAX"};
    static const char *const ints[] = {"AND", "OR", "XOR"};
    static const char *const shifts[] = {"SHL", "SHR",    "SAR",    "SAL",   "ROL",
                                         "ROR", "BITSET", "BITCLR", "BITTGL"};
    static const char *const unary[] = {"INC", "DEC",   "NEG",  "ABS",  "SQRT",
                                        "NOT", "BSWAP", "FLOR", "CEIL", "ROND"};
    unsigned type = pick(m, TYPES);
    char a[80], b[80], d[80];
    coil_programs_target(m, d, sizeof d, type);
    coil_programs_source(m, a, sizeof a, type);
    coil_programs_source(m, b, sizeof b, type);
    bool real = type == REAL32 || type == REAL64;
    switch (pick(m, 6)) {
    case 0:
    case 1: {
        unsigned which = pick(m, 7);
        if (which < 5 && pick(m, 2))
            line(m, "%s %%%u, %s", all[which], type + 1, b);
        else
            line(m, "%s %s, %s, %s", all[which], d, a, b);
        break;
    }
    case 2:
        if (real)
            line(m, "FMA %%%u, %%%u, %%%u, %%%u", type + 1, type + 1, type + 13, type + 1);
        else
            line(m, "%s %%%u, %%%u, %%%u", ints[pick(m, 3)], int_variable(m), int_variable(m),
                 int_variable(m));
        break;
    case 3:
        line(m, "%s %%%u, %%%u, %s%u", shifts[pick(m, 9)], int_variable(m), int_variable(m),
             pick(m, 2) ? "" : "%", 1 + pick(m, 8));
        break;
    case 4: {
        unsigned which = pick(m, 10), v = which == 5 || which == 6 ? int_variable(m) : 1 + type;
        line(m, "%s %%%u", unary[which], v);
        break;
    }
    default:
        switch (pick(m, 9)) {
        case 5:
            line(m, "SUBB %%%u, %%%u, %%%u", int_variable(m), int_variable(m), int_variable(m));
            break;
        case 6: line(m, "BITCHK %%%u, %%%u", int_variable(m), int_variable(m)); break;
        case 7:
            line(m, "BITCHK %%%u, %%%u, %u", any_variable(m), int_variable(m), pick(m, 70));
            break;
        case 8:
            line(m, "FMA %%%u, %%%u, %%%u, %%%u", int_variable(m), int_variable(m), int_variable(m),
                 int_variable(m));
            break;
        case 0: line(m, "POPCNT %%%u, %%%u", int_variable(m), int_variable(m)); break;
        case 1:
            line(m, "MULH %%%u, %%%u, %%%u", int_variable(m), int_variable(m), int_variable(m));
            break;
        case 2:
            line(m, "DIVMOD %%%u, %%%u, %%%u, %%%u", int_variable(m), int_variable(m),
                 int_variable(m), int_variable(m));
            break;
        case 3:
            line(m, "ADDC %%%u, %%%u, %%%u", int_variable(m), int_variable(m), int_variable(m));
            break;
        default:
            line(m, "CLAMP %%%u, %%%u, %%%u, %%%u", int_variable(m), int_variable(m),
                 int_variable(m), int_variable(m));
        }
    }
}

static void coil_programs_move(struct maker *m)
{
    unsigned type = pick(m, TYPES);
    char a[80], d[80];
    coil_programs_target(m, d, sizeof d, pick(m, 3) ? type : pick(m, TYPES));
    coil_programs_source(m, a, sizeof a, type);
    line(m, "MOV %s, %s", d, a);
}

static void coil_programs_rare(struct maker *m)
{
    switch (pick(m, 14)) {
    case 0: line(m, "PUSH %%%u", any_variable(m)); break;
    case 1: line(m, "POP %%%u", int_variable(m)); break;
    case 2: line(m, "OUTPORT 2, %%%u", any_variable(m)); break;
    case 3: line(m, "INPORT %%%u, 1", 5 + TYPES * pick(m, 2)); break;
    case 4: {
        char place[80];
        coil_programs_memory(m, place, sizeof place, 6);
        line(m, "XCHG %s, %%19", pick(m, 2) ? "%7" : place);
        break;
    }
    case 5: line(m, "ADD %%50, %%50, %%51"); break;
    case 6: line(m, "SETE %%50, %u, %%5", pick(m, 5)); break;
    case 7: line(m, "GETE %%17, %%51, %u", pick(m, 4)); break;
    case 8: line(m, "ALLOC %%101, %u", 16 + 8 * pick(m, 10)); break;
    case 9: line(m, "LEA %%101, %%60"); break;
    case 10: line(m, "MEMSET %%100, %%2, %u", pick(m, 32)); break;
    case 11: line(m, "CAS i64 @data, %%7, %%19"); break;
    case 12: line(m, "CAST %%%u, %%%u", any_variable(m), any_variable(m)); break;
    default: line(m, "VAR %%%u, i64, %%7", 300 + m->labels++); break;
    }
}

static void coil_programs_statements(struct maker *m, unsigned count);

static void coil_programs_compare(struct maker *m)
{
    unsigned type = pick(m, 10);
    char a[80], b[80];
    coil_programs_source(m, a, sizeof a, type);
    coil_programs_source(m, b, sizeof b, type);
    if (!strncmp(a, "v", 1)) snprintf(a, sizeof a, "%%%u", type + 1);
    if (pick(m, 3))
        line(m, "CMP %s, %s", a, b);
    else if (!pick(m, 3))
        line(m, "TEST %%%u, %%%u", int_variable(m), int_variable(m));
    else
        coil_programs_arithmetic(m);
}

static const char *coil_programs_condition(struct maker *m)
{
    return conditions[pick(m, pick(m, 4) ? 6 : 20)];
}

static void coil_programs_branch(struct maker *m)
{
    unsigned label = m->labels++;
    coil_programs_compare(m);
    line(m, "BR %s, @.l%u", coil_programs_condition(m), label);
    coil_programs_statements(m, pick(m, 5));
    if (pick(m, 2)) {
        unsigned end = m->labels++;
        line(m, "BR @.l%u", end);
        writer_print(m->w, ".l%u:\n", label);
        coil_programs_statements(m, pick(m, 5));
        writer_print(m->w, ".l%u:\n", end);
    } else {
        writer_print(m->w, ".l%u:\n", label);
    }
}

/* Writes blocks in another order: the block that runs first is written last. */
static void coil_programs_detour(struct maker *m)
{
    unsigned first = m->labels++, second = m->labels++, end = m->labels++;
    line(m, "BR @.l%u", first);
    writer_print(m->w, ".l%u:\n", second);
    coil_programs_statements(m, 1 + pick(m, 4));
    line(m, "BR @.l%u", end);
    writer_print(m->w, ".l%u:\n", first);
    coil_programs_statements(m, 1 + pick(m, 4));
    line(m, "BR @.l%u", second);
    writer_print(m->w, ".l%u:\n", end);
}

static void coil_programs_loop(struct maker *m)
{
    unsigned top = m->labels++, end = m->labels++, counter = 200 + m->loops++;
    bool tests_first = pick(m, 2);
    line(m, "VAR %%%u, i64, 0", counter);
    line(m, "MOV %%90, 0");
    writer_print(m->w, ".l%u:\n", top);
    if (tests_first) {
        line(m, "CMP %%%u, %u", counter, 1 + pick(m, 9));
        line(m, "BR GTE, @.l%u", end);
    }
    coil_programs_statements(m, 1 + pick(m, 5));
    line(m, "INC %%%u", counter);
    line(m, "MOV %%90, %%%u", counter);
    if (tests_first) {
        line(m, "BR @.l%u", top);
    } else {
        line(m, "CMP %%%u, %u", counter, 1 + pick(m, 9));
        line(m, "BR LT, @.l%u", top);
    }
    writer_print(m->w, ".l%u:\n", end);
}

/* Writes a loop over memory by a counter, and another one after it. Some run out of bounds, some
 * leave early. */
static void coil_programs_sweep(struct maker *m)
{
    static const char *const kinds[] = {"i64", "i64", "u64", "i32", "u32", "i16"};
    static const char *const ends[] = {"LT", "LT", "LTE", "NEQ"};
    unsigned top = m->labels++, end = m->labels++, counter = 200 + m->loops++,
             other = 200 + m->loops++, bound = 200 + m->loops++,
             step = 1 + pick(m, 3) / 2 * pick(m, 9), scale = 1u << pick(m, 4);
    const char *kind = kinds[pick(m, 6)], *ending = ends[step == 1 ? pick(m, 4) : pick(m, 3)];
    bool tests_first = pick(m, 2);
    /* The counter starts below the bound. */
    line(m, "VAR %%%u, %s, %u", counter, kind, pick(m, 3) * pick(m, 6));
    line(m, "VAR %%%u, i64, %d", other, (int)pick(m, 40) - (pick(m, 8) ? 0 : 20));
    line(m, "VAR %%%u, %s, %u", bound, kind,
         12 * step + (pick(m, 6) ? pick(m, 100) : pick(m, 900)));
    if (!pick(m, 4)) {
        line(m, "MOV %%%u, %%%u", bound, int_variable(m));
        line(m, "AND %%%u, %u", bound, pick(m, 3) ? 127 : 1023);
        line(m, "OR %%%u, 32", bound);
        if (ending[0] == 'N') ending = "LT";
    }
    writer_print(m->w, ".l%u:\n", top);
    if (tests_first) {
        line(m, "CMP %%%u, %%%u", counter, bound);
        line(m, "BR GTE, @.l%u", end);
    }
    for (unsigned i = 1 + pick(m, 3); i--;) {
        unsigned type = pick(m, 10), by = pick(m, 3) ? counter : other;
        char where[60];
        snprintf(where, sizeof where, "%s [u64 %%10%u + %s %%%u*%u + %u]", types[type],
                 pick(m, 6) == 0, by == counter ? kind : "i64", by, pick(m, 2) ? 1 : scale,
                 pick(m, 20));
        if (pick(m, 2))
            line(m, "ADD %%%u, %s", type + 1, where);
        else
            line(m, "MOV %s, %%%u", where, type + 1);
    }
    if (!pick(m, 3)) {
        line(m, "CMP %%%u, %lld", int_variable(m), coil_programs_number(m) & 127);
        line(m, "BR EQ, @.l%u", end);
    }
    line(m, "ADD %%%u, %u", other, pick(m, 4));
    line(m, "ADD %%%u, %u", counter, step);
    if (tests_first) {
        line(m, "BR @.l%u", top);
    } else {
        line(m, "CMP %%%u, %%%u", counter, bound);
        line(m, "BR %s, @.l%u", ending, top);
    }
    writer_print(m->w, ".l%u:\n", end);
    line(m, "MOV %%%u, %%%u", int_variable(m), other);
}

/* Sets all flags. After a call and at the start of a function flags are unspecified. */
static void set_flags(struct maker *m)
{
    line(m, "DIV %%19, %%19, 3");
    line(m, "CMP %%7, %%19");
}

static void coil_programs_call(struct maker *m)
{
    for (unsigned i = pick(m, 3); i--;) line(m, "MOV v%u, %%%u", pick(m, 7), any_variable(m));
    unsigned to = pick(m, 4) ? m->function + 1 : m->function;
    if (!pick(m, 2)) {
        line(m, "CALL @s%u", pick(m, SMALL));
        set_flags(m);
        line(m, "MOV %%%u, v%u", any_variable(m), pick(m, 4));
        return;
    }
    if (to >= FUNCTIONS) to = FUNCTIONS - 1;
    if (!pick(m, 4)) { /* The call is by address, or from a table, by an index that may be
                        * outside of it. */
        unsigned v = 300 + m->labels++;
        line(m, "VAR %%%u, u64", v);
        if (pick(m, 2))
            line(m, "MOV %%%u, u64 [@calls + i64 %%90*8]", v);
        else
            line(m, "MOV %%%u, @%c%u", v, pick(m, 2) ? 's' : 'f', to < SMALL ? to : 0);
        line(m, "CALL %%%u", v);
    } else if (pick(m, 6)) {
        line(m, "CALL @f%u", to);
    } else {
        coil_programs_compare(m);
        line(m, "CALL %s, @f%u", coil_programs_condition(m), to);
    }
    set_flags(m);
    line(m, "MOV %%%u, v%u", any_variable(m), pick(m, 7));
}

static void coil_programs_choose(struct maker *m)
{
    unsigned a = m->labels++, b = m->labels++, c = m->labels++, end = m->labels++;
    line(m, "SWITCH %%2, @table%u_%u", m->function, a);
    unsigned labels[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        writer_print(m->w, ".l%u:\n", labels[i]);
        coil_programs_statements(m, 1 + pick(m, 2));
        line(m, "BR @.l%u", end);
    }
    writer_print(m->w, ".l%u:\n", end);
    writer_print(&m->tables,
                 ".align 8\ntable%u_%u:\n    .u64 2\n    .addr @f%u.l%u, @f%u.l%u, @f%u.l%u\n",
                 m->function, a, m->function, c, m->function, a, m->function, b);
}

static void coil_programs_statements(struct maker *m, unsigned count)
{
    m->depth++;
    while (count--) {
        unsigned what = pick(m, 24);
        if (m->vectors && pick(m, 3) < m->vectors)
            vector_statement(m);
        else if (what < 8)
            coil_programs_arithmetic(m);
        else if (what < 14)
            coil_programs_move(m);
        else if (what < 17)
            coil_programs_rare(m);
        else if (m->depth > 3)
            coil_programs_move(m);
        else if (what < 20)
            pick(m, 4) ? coil_programs_branch(m) : coil_programs_detour(m);
        else if (what < 22)
            pick(m, 3) ? coil_programs_loop(m) : coil_programs_sweep(m);
        else if (what < 23)
            coil_programs_call(m);
        else if (pick(m, 3))
            coil_programs_compare(m), line(m, "RET %s", coil_programs_condition(m));
        else if (pick(m, 8))
            coil_programs_choose(m);
        else
            line(m, pick(m, 2) ? "TRAP 7" : "HALT");
    }
    m->depth--;
}

static void coil_programs_function(struct maker *m, unsigned number)
{
    m->function = number;
    m->loops = 0;
    writer_print(m->w, ".func f%u\n", number);
    for (unsigned i = 1; i <= VARIABLES; i++) {
        char value[40];
        coil_programs_constant(m, value, sizeof value, type_of(i));
        line(m, "VAR %%%u, %s, %s", i, types[type_of(i)], value);
    }
    line(m, "VAR %%90, i64");
    line(m, "VAR %%100, u64");
    line(m, "VAR %%101, u64");
    line(m, "VAR %%50, v128<i32>, 3");
    line(m, "VAR %%51, v128<i32>, 5");
    line(m, "VAR %%60, i64, 9");
    m->vectors = pick(m, 3);
    if (m->vectors) vector_variables(m);
    line(m, "LEA %%100, u8 @data");
    line(m, pick(m, 2) ? "MOV %%101, %%100" : "LEA %%101, %%60");
    set_flags(m);
    line(m, "SUB i64 @fuel, 1");
    line(m, "CMP i64 @fuel, 0");
    line(m, "RET LT");
    for (unsigned i = 0; i < 3; i++) line(m, "MOV %%%u, v%u", any_variable(m), pick(m, 7));
    coil_programs_statements(m, 3 + pick(m, 8));
    for (unsigned i = 1; i <= VARIABLES; i++)
        line(m, "MOV %s [@dump + %u], %%%u", type_of(i) == 11 ? "i16" : types[type_of(i)], i * 8,
             i);
    if (m->vectors) vector_dump(m);
    line(m, "MOV v%u, %%%u", pick(m, 7), any_variable(m));
    line(m, "RET");
    writer_text(m->w, ".endfunc\n");
}

/* Writes a small function, which a compiler inlines. These functions call each other, and trap. */
static void small_function(struct maker *m, unsigned number)
{
    writer_print(m->w, ".func s%u\n", number);
    line(m, "VAR %%1, i64");
    line(m, "VAR %%2, u8, %u", pick(m, 200));
    line(m, "MOV %%1, v%u", pick(m, 3));
    line(m, "SUB i64 @fuel, 1");
    line(m, "CMP i64 @fuel, 0");
    line(m, "RET LT");
    for (unsigned i = pick(m, 4); i--;) {
        unsigned label = m->labels++;
        switch (pick(m, 9)) {
        case 0: line(m, "ADD %%1, v%u", pick(m, 4)); break;
        case 1: line(m, "MOV i64 [@data + u8 %%2*1], %%1"); break;
        case 2: line(m, "OUTPORT 2, %%1"); break;
        case 3: line(m, "MOV v%u, %%1", pick(m, 7)); break;
        case 4: line(m, "ADD %%2, v%u", pick(m, 2)); break;
        case 5: line(m, pick(m, 6) ? "MOV %%1, u8 [@data + u8 %%2*1]" : "TRAP 9"); break;
        case 6:
            line(m, "CMP %%1, %u", pick(m, 50));
            line(m, "BR %s, @.l%u", conditions[pick(m, 6)], label);
            line(m, "XOR %%1, 5");
            writer_print(m->w, ".l%u:\n", label);
            break;
        default: line(m, "CALL @s%u", pick(m, SMALL));
        }
    }
    line(m, "MOV v%u, %%1", pick(m, 3));
    line(m, "MOV v%u, %%2", pick(m, 3));
    line(m, "RET");
    writer_text(m->w, ".endfunc\n");
}

void coil_program_write(struct coil_choices *c, struct writer *w)
{
    struct maker m = {.c = c, .w = w};
    if (pick(&m, 2)) {
        bounds_program(&m);
        return;
    }
    writer_text(w, ".global f0\n.entry f0\n");
    for (unsigned i = 0; i < FUNCTIONS; i++) coil_programs_function(&m, i);
    for (unsigned i = 0; i < SMALL; i++) small_function(&m, i);
    writer_text(
        w, ".data\n.align 8\nfuel: .i64 30\ndata:\n"
           "    .u64 9218868437227405313, 18428729677200177153, 4611686018427387904, 255, 65535\n"
           "    .u64 9223372036854775808, 1065353216, 9223372036854775807\n    .zero 67\n.align "
           "8\nwords: .i64 1, 2, 3\n"
           "calls: .addr @s0, @s1, @s2, @f3, @s1\n"
           "dump: .zero 256\n.align 8\nvectors: .zero 1200\n.rodata\nonly: .i64 77\n");
    writer_bytes(w, m.tables.out.data, m.tables.out.size);
    writer_free(&m.tables);
}

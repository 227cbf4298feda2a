/* Writes vectors and matrices into random programs: operations lane by lane, moves, elements,
 * products. */
#include "coil_maker.h"
#include <stdio.h>

static const struct kind {
    const char *shape; /* the text of the type, where %s is the type of lanes */
    unsigned lanes;    /* number of lanes; 0 for as many as fit */
    bool matrix;
} shapes[] = {
    {"v128<%s>", 0, false},     {"v256<%s>", 0, false},     {"v512<%s>", 0, false},
    {"sat v128<%s>", 0, false}, {"sat v256<%s>", 0, false}, {"vec<%s,3>", 3, false},
    {"vec<%s,8>", 8, false},    {"sqmat<%s,2>", 4, true},   {"sqmat<%s,3>", 9, true},
    {"sqmat<%s,4>", 16, true},  {"mat<%s,4,4>", 16, true},  {"vec<%s,17>", 17, false},
};
static const char *const lanes[] = {"i8",  "u8",  "i16", "u16", "i32",
                                    "u32", "i64", "u64", "f32", "f64"};
enum { SHAPES = sizeof shapes / sizeof *shapes, LANES = 10, FIRST_REAL = 8, FIRST = 400 };

/* A kind of vector has a shape and a type of lanes. */
static const struct kind *shape_of(unsigned kind) { return &shapes[kind / LANES]; }
static bool is_real(unsigned kind) { return kind % LANES >= FIRST_REAL; }

static void type_name(char *out, size_t room, unsigned kind)
{
    const char *lane = lanes[kind % LANES], *shape = shape_of(kind)->shape;
    const char *hole = shape;
    while (*hole != '%') hole++;
    snprintf(out, room, "%.*s%s%s", (int)(hole - shape), shape, lane, hole + 2);
}

static void coil_vectors_scalar(struct maker *m, char *out, size_t room, unsigned kind)
{
    static const char *const reals[] = {"0.0", "1.5", "-2.25", "1e30", "inf", "nan", "-0.0"};
    if (is_real(kind))
        snprintf(out, room, "%s %s", lanes[kind % LANES], reals[pick(m, 7)]);
    else
        snprintf(out, room, "%s %u", lanes[kind % LANES],
                 pick(m, pick(m, 2)         ? 8
                         : kind % LANES % 2 ? 256
                                            : 128)); /* Such numbers fit every unsigned, or every
                                                      * signed, type. */
}

static unsigned coil_vectors_variable(struct maker *m, unsigned which)
{
    return FIRST + which * VECTORS_OF_KIND + pick(m, VECTORS_OF_KIND);
}

void vector_variables(struct maker *m)
{
    char type[40], value[40];
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        m->kinds[k] = pick(m, SHAPES) * LANES + pick(m, LANES);
        type_name(type, sizeof type, m->kinds[k]);
        for (unsigned i = 0; i < VECTORS_OF_KIND; i++) {
            unsigned number = FIRST + k * VECTORS_OF_KIND + i;
            /* A scalar cannot become a matrix. */
            bool filled = i && !shape_of(m->kinds[k])->matrix;
            coil_vectors_scalar(m, value, sizeof value, m->kinds[k]);
            line(m, "VAR %%%u, %s%s%s", number, type, filled ? ", " : "", filled ? value : "");
            for (unsigned e = 0; i && !filled && e < 4; e++) {
                coil_vectors_scalar(m, value, sizeof value, m->kinds[k]);
                line(m, "SETE %%%u, %u, %s", number, e, value);
            }
        }
    }
    line(m, "VAR %%399, u8, %u", pick(m, 5));
}

static void coil_vectors_operand(struct maker *m, char *out, size_t room, unsigned which)
{
    char type[40];
    unsigned kind = m->kinds[which];
    type_name(type, sizeof type, kind);
    switch (pick(m, 8)) {
    case 0: memory_of(m, out, room, type[0] == 's' && type[1] == 'a' ? type + 4 : type); break;
    case 1: coil_vectors_scalar(m, out, room, kind); break;
    case 2: /* The scalar is a variable. Operations on bits have no floats. */
        snprintf(out, room, "%%%u", 1 + pick(m, is_real(kind) ? 10 : 8));
        break;
    default: snprintf(out, room, "%%%u", coil_vectors_variable(m, which));
    }
}

static void lane_by_lane(struct maker *m, unsigned which)
{
    static const char *const all[] = {"ADD", "SUB", "ADD", "SUB", "MUL", "MIN", "MAX", "DIV"};
    static const char *const ints[] = {"AND", "OR", "XOR"};
    static const char *const unary[] = {"NEG", "INC",  "ABS",
                                        "DEC", "SQRT", "NOT"}; /* INC and DEC have one operand. */
    static const char *const shifts[] = {"SHL", "SHR", "SAR", "SAL", "ROL"};
    char a[80], b[80];
    unsigned kind = m->kinds[which], to = coil_vectors_variable(m, which);
    bool bits = !is_real(kind) && !shape_of(kind)->matrix;
    coil_vectors_operand(m, a, sizeof a, which);
    coil_vectors_operand(m, b, sizeof b, which);
    switch (pick(m, 6)) {
    case 0:
    case 1:
    case 2: line(m, "%s %%%u, %s, %s", all[pick(m, 8)], to, a, b); break;
    case 3:
        if (!bits)
            line(m, "%s %%%u, %%%u", unary[pick(m, 3) * 2 % 5], to,
                 coil_vectors_variable(m, which));
        else
            line(m, "%s %%%u, %s, %s", ints[pick(m, 3)], to, a, b);
        break;
    case 4:
        if (pick(m, 4) == 0)
            line(m, "CLAMP %%%u, %s, %s, %%%u", to, a, b, coil_vectors_variable(m, which));
        else if (!bits)
            line(m, "ADD %%%u, %s", to, a);
        else
            line(m, "%s %%%u, %%%u, %u", shifts[pick(m, 5)], to, coil_vectors_variable(m, which),
                 pick(m, 40));
        break;
    default: {
        unsigned what = pick(m, 6);
        if (what == 5 && !bits) what = 0;
        if ((what == 0 || what == 2 || what == 5) && pick(m, 2))
            line(m, "%s %%%u, %%%u", unary[what], to, coil_vectors_variable(m, which));
        else
            line(m, "%s %%%u", unary[what], to);
    }
    }
}

static void coil_vectors_move(struct maker *m, unsigned which)
{
    char a[80], type[40];
    coil_vectors_operand(m, a, sizeof a, which);
    if (shape_of(m->kinds[which])->matrix)
        snprintf(a, sizeof a, "%%%u", coil_vectors_variable(m, which));
    if (pick(m, 3)) {
        line(m, "MOV %%%u, %s", coil_vectors_variable(m, which), a);
    } else if (pick(m, 3)) {
        type_name(type, sizeof type, m->kinds[which]);
        memory_of(m, a, sizeof a, type[0] == 's' && type[1] == 'a' ? type + 4 : type);
        line(m, "MOV %s, %%%u", a, coil_vectors_variable(m, which));
    } else if (pick(m, 20) == 0) { /* Most of these conversions trap. */
        line(m, "MOV %%%u, %%%u", coil_vectors_variable(m, which),
             coil_vectors_variable(m, pick(m, VECTOR_KINDS)));
    }
}

static void coil_vectors_element(struct maker *m, unsigned which)
{
    char index[20];
    if (pick(m, 3))
        snprintf(index, sizeof index, "%u", pick(m, pick(m, 8) ? 3 : 20));
    else
        snprintf(index, sizeof index, "%%399");
    if (pick(m, 2))
        line(m, "GETE %%%u, %%%u, %s", 1 + pick(m, 10), coil_vectors_variable(m, which), index);
    else
        line(m, "SETE %%%u, %s, %%%u", coil_vectors_variable(m, which), index, 1 + pick(m, 10));
}

static void coil_vectors_compare(struct maker *m, unsigned which)
{
    char b[80];
    unsigned label = m->labels++;
    coil_vectors_operand(m, b, sizeof b, which);
    line(m, "CMP %%%u, %s", coil_vectors_variable(m, which), b);
    line(m, "BR %s, @.l%u", pick(m, 2) ? "EQ" : pick(m, 6) ? "NEQ" : "S", label);
    line(m, "INC %%399");
    writer_print(m->w, ".l%u:\n", label);
}

void vector_statement(struct maker *m)
{
    unsigned which = pick(m, VECTOR_KINDS);
    switch (pick(m, 10)) {
    case 0:
    case 1: coil_vectors_move(m, which); break;
    case 2:
    case 3: coil_vectors_element(m, which); break;
    case 4: coil_vectors_compare(m, which); break;
    case 5:
        if (shape_of(m->kinds[which])->matrix)
            line(m, "MUL %%%u, %%%u, %%%u", coil_vectors_variable(m, which),
                 coil_vectors_variable(m, which), coil_vectors_variable(m, which));
        else
            line(m, "DOT %%%u, %%%u, %%%u", 1 + m->kinds[which] % LANES,
                 coil_vectors_variable(m, which), coil_vectors_variable(m, which));
        break;
    default: lane_by_lane(m, which);
    }
}

void vector_dump(struct maker *m)
{
    char type[40];
    enum { BYTES = 64 };
    for (unsigned k = 0; k < VECTOR_KINDS; k++)
        for (unsigned i = 0; i < VECTORS_OF_KIND; i++) {
            type_name(type, sizeof type, m->kinds[k]);
            const char *name = type[0] == 's' && type[1] == 'a' ? type + 4 : type;
            line(m, "MOV %s [@vectors + %u], %%%u", name, (k * VECTORS_OF_KIND + i) * BYTES,
                 FIRST + k * VECTORS_OF_KIND + i);
        }
}

/* Makes programs about the bounds of memory, small enough to run many of them. They have loops
 * that end at the last byte of a region, or one step before or after it, in all the shapes that
 * the compiler hoists checks out of and in some that it must not. They have several accesses by
 * one index, which differ in offset, size and direction, and regions that meet. */
#include "coil_maker.h"
#include <stdio.h>
#include <string.h>

enum { SCALARS = 10, VALUES = 8, ARRAYS = 4, FUEL = 300 };
static const char *const scalars[SCALARS] = {"i8",  "u8",  "i16", "u16", "i32",
                                             "u32", "i64", "u64", "f32", "f64"};

/* An array, and how many bytes there are from its start to the end of its region. */
struct array {
    const char *name;
    unsigned left;
};
struct index { /* A variable that is used as an index, with its type. */
    const char *type;
    unsigned variable;
};
struct bounds {
    struct maker *m;
    struct array arrays[ARRAYS];
    unsigned next; /* the number of the next variable */
    bool constant; /* The base is memory that the program must not write. */
};

static unsigned coil_bounds_variable(struct bounds *b, const char *type)
{
    line(b->m, "VAR %%%u, %s", b->next, type);
    return b->next++;
}

/* Makes a number that the compiler does not know, from the words of a table. */
static unsigned coil_bounds_unknown(struct bounds *b, const char *type)
{
    unsigned v = coil_bounds_variable(b, type);
    line(b->m, "MOV %%%u, i64 [@values + %u]", v, 8 * pick(b->m, VALUES));
    return v;
}

/* Copies a number so that the compiler does not know it any more. */
static void coil_bounds_hide(struct bounds *b, unsigned value)
{
    line(b->m, "MOV i64 [@hidden], %%%u", value);
    line(b->m, "CALL @nothing");
    line(b->m, "MOV %%%u, i64 [@hidden]", value);
}

/* The last width is that of a vector. */
static const unsigned char widths[SCALARS + 1] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 16};

/* Writes an access. The type SCALARS is a vector. When by.variable is 0, no index is used. */
static void coil_bounds_access(struct bounds *b, const char *base, struct index by, unsigned scale,
                               unsigned type, unsigned offset)
{
    struct maker *m = b->m;
    char where[100];
    const char *name = type == SCALARS ? "v128<i32>" : scalars[type];
    unsigned value = type == SCALARS ? 50 : type + 1;
    if (by.variable)
        snprintf(where, sizeof where, "%s [%s + %s %%%u*%u + %u]", name, base, by.type, by.variable,
                 scale, offset);
    else
        snprintf(where, sizeof where, "%s [%s + %u]", name, base, offset);
    switch (b->constant && pick(m, 8) ? 4 : pick(m, 5)) {
    case 0:
    case 1: line(m, "MOV %s, %%%u", where, value); break;
    case 2: line(m, "ADD %s, %%%u", where, value); break;
    default: line(m, "MOV %%%u, %s", value, where);
    }
}

/* Chooses a base: the name of an array, a variable that the compiler knows, or one that it does
 * not know. */
static unsigned base_of(struct bounds *b, char *out, size_t room)
{
    struct maker *m = b->m;
    unsigned which = pick(m, ARRAYS + 1);
    b->constant = which == ARRAYS - 1;
    if (which == ARRAYS) { /* The base is the end of the heap. */
        snprintf(out, room, "u64 %%103");
        return 64;
    }
    unsigned v;
    switch (pick(m, 4)) {
    case 0: snprintf(out, room, "@%s", b->arrays[which].name); break;
    case 1:
        v = coil_bounds_variable(b, "u64");
        line(m, "MOV %%%u, u64 [@pointers + %u]", v, 8 * which);
        snprintf(out, room, "u64 %%%u", v);
        break;
    default:
        v = coil_bounds_variable(b, "u64");
        line(m, "LEA %%%u, u8 @%s", v, b->arrays[which].name);
        snprintf(out, room, "u64 %%%u", v);
    }
    return b->arrays[which].left;
}

/* Writes several accesses by one index. */
static void coil_bounds_group(struct bounds *b)
{
    static const char *const kinds[] = {"i64", "i64", "u64", "i32", "u8"};
    struct maker *m = b->m;
    char base[40];
    const char *kind = kinds[pick(m, 5)];
    unsigned left = base_of(b, base, sizeof base), scale = 1u << pick(m, 4);
    struct index by = {kind, pick(m, 6) ? coil_bounds_unknown(b, kind) : 0};
    unsigned same = pick(m, 2) ? 16 + pick(m, 8) : 0; /* All accesses of the group end at this
                                                       * offset. */
    for (unsigned n = 2 + pick(m, 4); n--;) {
        unsigned type = pick(m, SCALARS + 1), width = widths[type];
        unsigned end = same ? same : pick(m, 3) ? left / 2 : left + pick(m, 3) - 1;
        coil_bounds_access(b, base, by, pick(m, 4) ? scale : 1, type,
                           !same && pick(m, 2) ? pick(m, 12) : end - width);
    }
}

struct loop {
    const char *kind;     /* the type of the counter */
    unsigned scale, step; /* the bytes of an element, and the elements of a round */
    bool down;            /* The loop goes from the end to the start. */
    long long first;      /* the first value of the counter; the base is lower by as much */
    unsigned left;        /* the bytes that are left in the region */
    unsigned sums; /* 0: only the counter is an index; 1: sums that stay below the end are, too */
    unsigned type, offset; /* type and offset of the access that the bound is for */
    unsigned counter, other, by, bound, fuel;
    const char *other_kind;
    unsigned low; /* a base for the other counter, if that begins with a large number */
    char base[40];
};

static long long coil_bounds_far(struct maker *m, const char *kind)
{
    static const long long narrow[] = {0x3FFFFFF0, 0x7FFFFFF0, -16, 0x40000000},
                           wide[] = {0x3FFFFFFFFFFFFFF0, 0x7FFFFFFFFFFFFFF0, -16, 0xFFFFFFF0};
    if (!strcmp(kind, "u8")) return 200;
    if (!strcmp(kind, "i16")) return 32767 - 40;
    return kind[1] == '3' ? narrow[pick(m, 4)] : wide[pick(m, 4)];
}

/* Declares the variables of a loop and sets their first values. */
static void loop_begin(struct bounds *b, struct loop *o)
{
    static const char *const kinds[] = {"i64", "i64", "u64", "i32", "i32", "u32", "i16", "u8"};
    struct maker *m = b->m;
    bool near = pick(m, 6);
    o->kind = kinds[pick(m, 8)];
    o->scale = 1u << pick(m, pick(m, 2) ? 1 : 4);
    o->sums = near ? pick(m, 4) : 0;
    o->step = pick(m, 4) ? 1 : 1 + pick(m, 9);
    o->down = !pick(m, 8);
    o->left = base_of(b, o->base, sizeof o->base);
    o->first = near ? (pick(m, 3) ? 0 : pick(m, 6)) : coil_bounds_far(m, o->kind);
    o->fuel = coil_bounds_variable(b, "i64");
    line(m, "MOV %%%u, %u", o->fuel, FUEL);
    if (!near || o->base[0] == '@') {
        unsigned low = coil_bounds_variable(b, "u64");
        if (o->base[0] == '@')
            line(m, "LEA %%%u, u8 %s", low, o->base);
        else
            line(m, "MOV %%%u, %s", low, strchr(o->base, '%'));
        if (!near)
            line(m, "SUB %%%u, i64 %lld", low,
                 (long long)((unsigned long long)o->first * o->scale));
        snprintf(o->base, sizeof o->base, "u64 %%%u", low);
    }
    o->type = pick(m, SCALARS + 1);
    if (pick(m, 2)) /* The elements follow one after the other. */
        o->type = 2 * (unsigned)__builtin_ctz(o->scale) + pick(m, 2);
    o->offset = pick(m, 9);
    unsigned elements = (o->left - o->offset - widths[o->type]) / o->scale + 1;
    if (o->sums == 1)
        elements /= 2; /* The loop ends near half, so that twice the
                                                  * counter fits. */
    if (!pick(m, 2))
        elements += pick(m, 3) - 1; /* The loop has one element less, the same, or
                                                  * one more. */
    if (!elements) elements = 1;
    if (near && elements > 120 && o->kind[1] == '8') elements = 120;
    unsigned long long from = (unsigned long long)o->first, after = from + elements;
    long long start = (long long)(o->down ? after - 1 : from),
              end = (long long)(o->down ? from : after);
    o->counter = coil_bounds_variable(b, o->kind);
    o->bound = coil_bounds_variable(b, o->kind);
    line(m, "MOV %%%u, i64 %lld", o->counter, start);
    line(m, "MOV %%%u, i64 %lld", o->bound, end);
    if (!pick(m, 3)) coil_bounds_hide(b, o->bound);
    o->other_kind = pick(m, 2) ? "i64" : "i32";
    o->other = coil_bounds_variable(b, o->other_kind);
    o->by = pick(m, 8) ? 0 : coil_bounds_unknown(b, "i64");
    if (o->sums > 1 && !pick(m, 3)) { /* The sum wraps, or comes near that. */
        static const unsigned firsts[] = {0x3FFFFFF8, 0x7FFFFFF0, 0x7FFFFFA0};
        unsigned first = firsts[pick(m, 3)];
        o->low = coil_bounds_variable(b, "u64");
        line(m, "MOV %%%u, %s", o->low, strchr(o->base, '%'));
        line(m, "SUB %%%u, %u", o->low, first);
        line(m, "MOV %%%u, i64 %u", o->other, first);
        return;
    }
    line(m, "MOV %%%u, i64 %d", o->other,
         (int)pick(m, 2) * (int)pick(m, 8) - (pick(m, 8) ? 0 : 20));
}

/* Chooses something to use as an index: a counter, or a sum of counters. */
static struct index index_of(struct bounds *b, const struct loop *o, const struct loop *outer)
{
    struct maker *m = b->m;
    struct index own = {o->kind, o->counter};
    unsigned what = o->sums ? pick(m, 10) : 0, t;
    if (what < 5) return own;
    if (what == 5) return (struct index){o->other_kind, o->other};
    t = coil_bounds_variable(b, what == 6 ? "i32" : "i64");
    if (what == 6)
        line(m, "ADD %%%u, %%%u, %u", t, o->counter, pick(m, 5));
    else if (what == 7)
        line(m, "SHL %%%u, %%%u, %u", t, pick(m, 2) ? o->other : o->counter,
             1 + pick(m, pick(m, 2) ? 1 : 3));
    else
        line(m, "ADD %%%u, %%%u, %%%u", t, o->counter,
             outer && pick(m, 2) ? outer->counter : o->other);
    return (struct index){what == 6 ? "i32" : "i64", t};
}

static void coil_bounds_body(struct bounds *b, const struct loop *o, const struct loop *outer)
{
    struct maker *m = b->m;
    for (unsigned n = 1 + pick(m, 2) * pick(m, 3); n--;) {
        struct index by = index_of(b, o, outer), other = {o->other_kind, o->other};
        char low[20];
        snprintf(low, sizeof low, "u64 %%%u", o->low);
        unsigned skip = pick(m, 5) ? 0 : m->labels++;
        if (skip) {
            line(m, "CMP %%%u, %u", o->counter, pick(m, 30));
            line(m, "BR %s, @.l%u", pick(m, 2) ? "LT" : "GTE", skip);
        }
        unsigned scale = by.variable == o->counter || !pick(m, 4) ? o->scale : 1;
        if (o->low && pick(m, 4))
            coil_bounds_access(b, low, other, 1, o->type, pick(m, 3));
        else if (pick(m, 3))
            coil_bounds_access(b, o->base, by, scale, o->type, o->offset);
        else
            coil_bounds_access(b, o->base, by, scale,
                               pick(m, 2) ? pick(m, 2) : pick(m, SCALARS + 1), pick(m, 3));
        if (skip) writer_print(m->w, ".l%u:\n", skip);
    }
}

static void coil_bounds_next(struct bounds *b, const struct loop *o)
{
    struct maker *m = b->m;
    if (o->sums && o->by) /* Without sums, a loop of one store may become one that fills memory. */
        line(m, "ADD %%%u, %%%u", o->other, o->by);
    else if (o->sums)
        line(m, "ADD %%%u, %u", o->other, pick(m, 2));
    line(m, "%s %%%u, %u", o->down ? "SUB" : "ADD", o->counter, o->step);
}

static void goes_on(struct bounds *b, const struct loop *o, unsigned value, unsigned top)
{
    static const char *const up[] = {"LT", "LT", "LTE", "NEQ"}, *const down[] = {"GTE", "GTE", "GT",
                                                                                 "NEQ"};
    unsigned which = pick(b->m, o->step == 1 ? 4 : 3);
    line(b->m, "CMP %%%u, %%%u", value, o->bound);
    line(b->m, "BR %s, @.l%u", o->down ? down[which] : up[which], top);
}

/* Uses fuel, which ends loops that the bound does not. It is left out where the loop is known to
 * end, since another way out changes what the compiler makes of a loop. */
static void coil_bounds_burn(struct bounds *b, const struct loop *o, unsigned end)
{
    if (o->first < 100 && o->first >= 0 && !o->down && o->step == 1 && pick(b->m, 4)) return;
    line(b->m, "SUB %%%u, 1", o->fuel);
    line(b->m, "BR S, @.l%u", end);
}

static void coil_bounds_sweep(struct bounds *b, const struct loop *outer)
{
    struct maker *m = b->m;
    struct loop o = {0};
    unsigned top = m->labels++, middle = m->labels++, end = m->labels++, form = pick(m, 8),
             before = 0;
    loop_begin(b, &o);
    if (form == 3) before = coil_bounds_variable(b, o.kind);
    if (form == 7) { /* The loop has a second way into it. */
        line(m, "CMP %%%u, 3", coil_bounds_unknown(b, "i64"));
        line(m, "BR GT, @.l%u", middle);
    }
    writer_print(m->w, ".l%u:\n", top);
    if (form == 4 || form == 5) coil_bounds_body(b, &o, outer);
    if (form >= 4) {
        line(m, "CMP %%%u, %%%u", o.counter, o.bound);
        line(m, "BR %s, @.l%u", o.down ? "LT" : pick(m, 4) ? "GTE" : "GT", end);
    }
    if (form != 4) coil_bounds_body(b, &o, outer);
    writer_print(m->w, ".l%u:\n", middle);
    if (form == 7)
        line(m, "SUB %%%u, 1", o.fuel), line(m, "BR S, @.l%u", end);
    else
        coil_bounds_burn(b, &o, end);
    if (!outer && !pick(m, 4)) coil_bounds_sweep(b, &o);
    if (before) line(m, "MOV %%%u, %%%u", before, o.counter);
    coil_bounds_next(b, &o);
    if (form >= 4)
        line(m, "BR @.l%u", top);
    else
        goes_on(b, &o, before ? before : o.counter, top);
    writer_print(m->w, ".l%u:\n", end);
    line(m, "MOV i64 [@hidden], %%%u", o.sums ? o.other : o.counter);
}

/* Writes a loop of one store, which fills from nothing to a few elements more than there are. */
static void coil_bounds_fill(struct bounds *b)
{
    struct maker *m = b->m;
    const char *kind = pick(m, 2) ? "i64" : "u64";
    char base[40];
    unsigned left = base_of(b, base, sizeof base), bits = pick(m, 3), first = pick(m, 5);
    unsigned counter = coil_bounds_variable(b, kind), bound = coil_bounds_variable(b, kind),
             form = pick(m, 3);
    unsigned top = m->labels++, end = m->labels++, type = 2 * bits + pick(m, 2);
    line(m, "MOV %%%u, %u", counter, first);
    line(m, "MOV %%%u, %u", bound, first + pick(m, (left >> bits) + 2));
    if (pick(m, 2)) coil_bounds_hide(b, bound);
    writer_print(m->w, ".l%u:\n", top);
    if (form == 0) {
        line(m, "CMP %%%u, %%%u", counter, bound);
        line(m, "BR %s, @.l%u", pick(m, 2) ? "GTE" : "GT", end);
    }
    line(m, "MOV %s [%s + %s %%%u*%u + %u], %%%u", scalars[type], base, kind, counter, 1u << bits,
         pick(m, 3), pick(m, 2) ? type + 1 : 7);
    line(m, "ADD %%%u, 1", counter);
    if (form == 0) {
        line(m, "BR @.l%u", top);
    } else {
        line(m, "CMP %%%u, %%%u", counter, bound);
        line(m, "BR %s, @.l%u", form == 1 ? "LT" : "LTE", top);
    }
    writer_print(m->w, ".l%u:\n", end);
    line(m, "MOV i64 [@hidden], %%%u", counter);
}

static void main_function(struct bounds *b)
{
    struct maker *m = b->m;
    writer_text(m->w, ".global main\n.entry main\n.func main\n");
    for (unsigned i = 0; i < SCALARS; i++)
        line(m, "VAR %%%u, %s, %s %u%s", i + 1, scalars[i], scalars[i], 3 + 7 * i,
             i > 7 ? ".5" : "");
    line(m, "VAR %%50, v128<i32>, 3");
    line(m, "VAR %%103, u64");
    line(m, "ALLOC %%103, 64");
    line(m, "ADD %%103, %u", 65536 - 64);
    for (unsigned n = 1 + pick(m, 3); n--;) {
        unsigned what = pick(m, 6);
        what < 3   ? coil_bounds_sweep(b, NULL)
        : what < 5 ? coil_bounds_group(b)
                   : coil_bounds_fill(b);
    }
    line(m, "MOV u64 [@hidden], %%8");
    line(m, "RET");
    writer_text(m->w, ".endfunc\n.func nothing\n    VAR %1, u8, 1\n    RET\n.endfunc\n");
}

void bounds_program(struct maker *m)
{
    struct bounds b = {.m = m, .next = 200};
    unsigned a = 32 + pick(m, 100), c = 32 + pick(m, 60), z = 32 + pick(m, 90),
             r = 32 + pick(m, 60);
    unsigned used = 8 * (VALUES + 1 + ARRAYS), most = 4096 - used - a;
    if (pick(m, 2)) c = most;  /* The data end with their page. */
    if (!pick(m, 3)) r = 4096; /* The constants end with their page. */
    b.arrays[0] = (struct array){"first", a + c};
    b.arrays[1] = (struct array){"second", c};
    b.arrays[2] = (struct array){"zeros", z};
    b.arrays[3] = (struct array){"only", r};
    if (c == most) b.arrays[0].left = a + 8, b.arrays[1].left = 64; /* Long loops are avoided. */
    if (r == 4096) b.arrays[3].left = 64;
    main_function(&b);
    writer_text(m->w, ".data\n.align 8\nvalues: .i64 ");
    for (unsigned i = 0; i < VALUES; i++) {
        static const int odd[] = {-1, -8, -15, -4096, 4096, 1 << 20, (1 << 20) + 1, INT32_MAX};
        int value = (int)pick(m, pick(m, 2) ? 30 : 140) - 20;
        if (!pick(m, 4)) value = odd[pick(m, 8)];
        writer_print(m->w, "%s%d", i ? ", " : "", value);
    }
    writer_print(m->w, "\nhidden: .i64 0\npointers: .addr @first, @second, @zeros, @only\n");
    writer_print(m->w, "first: .zero %u\nsecond: .zero %u\n.bss\nzeros: .zero %u\n", a, c, z);
    writer_print(m->w, ".rodata\nonly: .zero %u\n", r);
}

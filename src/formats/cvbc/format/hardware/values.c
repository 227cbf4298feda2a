/* Follows the values of a program's words from its entry. At the targets of jumps, it has a
 * range for each word of the stack and each variable; ranges are joined until nothing changes.
 * Functions are followed once for all their calls: their parameters, results and the variables
 * that they change are joined over all calls. Comparisons narrow the range of the variable or
 * parameter that they compare. It relies on the depths that verify_program.c computes. */
#include "cvbc/format/hardware/values.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cvbc/format/hardware/hardware.h"

enum {
    PARAMS = 16, /* number of words of the caller that a function can reach */
    /* After this many changes a range is extended to all numbers on the side that changed. */
    PATIENCE = 24,
    WORDS_MAX = 1 << 20, /* most words at all targets of jumps together */
    /* Each instruction of the program allows this much work: instructions, and words that are
     * joined. */
    STEPS_EACH = 200,
    STEPS_MORE = 1000000,
    POLL_STEPS = 1 << 12,
};

typedef struct cvbc_range range;

static range range_of(int64_t low, int64_t high)
{
    range r = {low, high, 0};
    if (low < INT32_MIN || high > INT32_MAX) r = (range){INT32_MIN, INT32_MAX, 0};
    if (cvbc_range_small(&r))
        r.bits = (high - low == 63 ? UINT64_MAX : (UINT64_C(1) << (high - low + 1)) - 1) << low;
    return r;
}

static range range_any(void) { return range_of(INT32_MIN, INT32_MAX); }
static range range_none(void) { return (range){1, 0, 0}; }
static range range_one(int64_t v) { return range_of(v, v); }
static bool range_empty(const range *r) { return r->low > r->high; }
static bool range_single(const range *r) { return r->low == r->high; }

/* Returns the range of the numbers in a set, which must not be empty. */
static range range_set(uint64_t bits)
{
    range r = {0, 63, bits};
    while (!(bits >> r.low & 1)) r.low++;
    while (!(bits >> r.high & 1)) r.high--;
    return r;
}

static range range_join(range a, range b)
{
    if (range_empty(&a)) return b;
    if (range_empty(&b)) return a;
    if (cvbc_range_small(&a) && cvbc_range_small(&b)) return range_set(a.bits | b.bits);
    return range_of(a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high);
}

static range range_between(range r, int64_t low, int64_t high)
{
    int64_t from = r.low > low ? r.low : low, to = r.high < high ? r.high : high;
    if (from > to) return range_none();
    range cut = range_of(from, to);
    if (!cvbc_range_small(&r)) return cut;
    cut.bits &= r.bits;
    return cut.bits ? range_set(cut.bits) : range_none();
}

/* Joins a range into *to. `times` counts how often that changed *to. Returns true if it changed. */
static bool range_into(range *to, range from, uint8_t *times)
{
    range r = range_join(*to, from);
    if (r.low == to->low && r.high == to->high && r.bits == to->bits) return false;
    if (!range_empty(to) && ++*times > PATIENCE) {
        r = range_of(r.low < to->low ? INT32_MIN : r.low, r.high > to->high ? INT32_MAX : r.high);
        *times = PATIENCE;
    }
    *to = r;
    return true;
}

static int64_t values_calculate(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case CVBC_OP_ADD: return a + b;
    case CVBC_OP_SUB: return a - b;
    case CVBC_OP_MUL: return a * b;
    case CVBC_OP_DIV: return b ? a / b : INT64_MAX;
    case CVBC_OP_MOD: return b ? a % b : INT64_MAX;
    case CVBC_OP_BITWISE_AND: return a & b;
    case CVBC_OP_BITWISE_OR: return a | b;
    case CVBC_OP_BITWISE_XOR: return a ^ b;
    case CVBC_OP_SHIFT_LEFT: return b >= 0 && b < 32 ? (int32_t)((uint32_t)a << b) : INT64_MAX;
    case CVBC_OP_SHIFT_RIGHT: return b >= 0 && b < 32 ? a >> b : INT64_MAX;
    default: return INT64_MAX;
    }
}

/* Computes the exact result if one operand is a single number and the other a small set. */
static bool values_exact(uint8_t op, range a, range b, range *out)
{
    bool left = cvbc_range_small(&a), right = cvbc_range_small(&b);
    if (!(left && range_single(&b)) && !(right && range_single(&a)) &&
        !(range_single(&a) && range_single(&b)))
        return false;
    range r = range_none();
    for (int64_t x = a.low; x <= a.high; x++)
        for (int64_t y = b.low; y <= b.high; y++) {
            if ((left && !(a.bits >> x & 1)) || (right && !(b.bits >> y & 1))) continue;
            int64_t v = values_calculate(op, x, y);
            if (v < INT32_MIN || v > INT32_MAX) return false;
            r = range_join(r, range_one(v));
        }
    *out = r;
    return true;
}

static range values_binary(uint8_t op, range a, range b)
{
    range exact;
    if (range_empty(&a) || range_empty(&b)) return range_any();
    if (values_exact(op, a, b, &exact)) return exact;
    bool positive = a.low >= 0, single = range_single(&b);
    int64_t n = b.low;
    switch (op) {
    case CVBC_OP_ADD: return range_of(a.low + b.low, a.high + b.high);
    case CVBC_OP_SUB: return range_of(a.low - b.high, a.high - b.low);
    case CVBC_OP_MUL: return single && n >= 0 ? range_of(a.low * n, a.high * n) : range_any();
    case CVBC_OP_DIV: return single && n > 0 ? range_of(a.low / n, a.high / n) : range_any();
    case CVBC_OP_MOD:
        if (n <= 0) return range_any();
        if (positive && a.high < n) return a;
        return range_of(positive ? 0 : 1 - b.high, b.high - 1);
    case CVBC_OP_BITWISE_AND:
        if (single && n >= 0) { /* A mask of ones leaves the numbers that fit it unchanged. */
            if (positive && a.high <= n && !(n & (n + 1))) return a;
            return range_of(0, n);
        }
        if (range_single(&a) && a.low >= 0) return range_of(0, a.low);
        return range_any();
    case CVBC_OP_SHIFT_RIGHT:
        return single && n >= 0 && n < 32 ? range_of(a.low >> n, a.high >> n) : range_any();
    case CVBC_OP_AND:
    case CVBC_OP_OR: return range_of(0, 1);
    default: return range_any();
    }
}

/* These values tell what is known about a word besides its range: it may be a copy of a
 * variable, or the result of a test of one. */
enum word_is { PLAIN, OF_LOCAL, OF_GLOBAL, OF_PARAM, TESTS_LOCAL, TESTS_GLOBAL, TESTS_PARAM };
/* This is the distance from a copy of a variable to a test of it in enum word_is. */
enum { TESTS = TESTS_LOCAL - OF_LOCAL };
enum test { EQUAL, UNEQUAL, BELOW, ABOVE, AT_MOST, AT_LEAST };

struct value {
    range r;
    uint8_t is, test;
    uint32_t of; /* the place in the frame, the slot, or the parameter */
    range with;  /* the range with which it was compared */
};

struct values_function {
    range params[PARAMS], results[PARAMS];
    uint8_t times[2 * PARAMS];
    uint16_t writes; /* the words of the caller that it writes, as bits; these are its results */
    bool returns;    /* true if a path through the function was found */
};

struct head { /* the target of a jump, or the entry of a function */
    /* These are ranges of the frame, the variables and the parameters; NULL until it is reached. */
    range *words;
    uint8_t *times;
    bool queued;
};

struct follow {
    const struct cvbc_program *p;
    struct long_work *work;
    int32_t *depths;
    uint32_t *owners;
    struct head *heads;
    bool *is_head, *reached;
    uint32_t *queue;
    size_t queued;
    struct values_function *functions;
    uint32_t globals;
    /* `entry` has the ranges at calls, and `stored` the ranges that functions store. */
    range entry[CVBC_GLOBALS], stored[CVBC_GLOBALS];
    uint8_t times[2 * CVBC_GLOBALS];
    struct {
        range stored, size;
        uint8_t times;
        uint64_t covered; /* the elements that the start of the program stores, as bits */
    } arrays[CVBC_ARRAYS];
    uint32_t prefix; /* the first instruction after the start that is always executed */
    uint32_t *call_of;
    struct cvbc_calls *calls;
    uint64_t steps, limit, unpolled;
    size_t words;
    bool again, lost, failed;
    struct value stack[CVBC_STACK_MAX + 1]; /* the state at the instruction that is followed */
    struct value variables[CVBC_GLOBALS], params[PARAMS];
    uint32_t sp, owner;
};

static struct value word_plain(range r) { return (struct value){.r = r}; }

static void values_push(struct follow *a, struct value v)
{
    if (a->sp < CVBC_STACK_MAX)
        a->stack[a->sp++] = v;
    else
        a->lost = true;
}

static struct value values_pop(struct follow *a)
{
    if (a->sp) return a->stack[--a->sp];
    a->lost = true;
    return word_plain(range_any());
}

/* Records that a variable has a new value. Words that were copies or tests of the old value are
 * not any more. */
static void values_forget(struct follow *a, enum word_is copy, uint32_t of)
{
    for (uint32_t i = 0; i < a->sp; i++) {
        struct value *v = &a->stack[i];
        if ((v->is == copy || v->is == copy + TESTS) && v->of == of) v->is = PLAIN;
    }
}

/* Counts work. Returns false, and the analysis ends, if the limit is reached. */
static bool values_work(struct follow *a, size_t units)
{
    a->steps += units;
    a->unpolled += units;
    if (a->steps > a->limit) a->lost = true;
    if (a->unpolled >= POLL_STEPS) {
        if (long_work_over(a->work, a->unpolled)) a->failed = true;
        a->unpolled = 0;
    }
    return !a->lost && !a->failed;
}

static void values_queue(struct follow *a, uint32_t at)
{
    if (a->heads[at].queued) return;
    a->heads[at].queued = true;
    a->queue[a->queued++] = at;
}

/* Returns a word of the state, in the order of the words of a head. */
static struct value *values_word(struct follow *a, size_t i)
{
    if (i < a->sp) return &a->stack[i];
    i -= a->sp;
    return i < a->globals ? &a->variables[i] : &a->params[i - a->globals];
}

static size_t values_count(const struct follow *a) { return a->sp + a->globals + PARAMS; }

/* Joins the current state into the state at a target. */
static void values_reach(struct follow *a, uint32_t to)
{
    if (to >= a->p->count) return;
    struct head *h = &a->heads[to];
    if (a->depths[to] < 0 || (uint32_t)a->depths[to] != a->sp || !a->is_head[to]) {
        a->lost = true;
        return;
    }
    size_t count = values_count(a);
    bool first = !h->words, changed = first;
    if (!values_work(a, count)) return;
    if (first) {
        a->words += count;
        if (a->words > WORDS_MAX) {
            a->lost = true;
            return;
        }
        h->words = calloc(count, sizeof *h->words);
        h->times = calloc(count, 1);
        if (!h->words || !h->times) {
            a->failed = true;
            return;
        }
        for (size_t i = 0; i < count; i++) h->words[i] = range_none();
    }
    for (size_t i = 0; i < count; i++)
        changed |= range_into(&h->words[i], values_word(a, i)->r, &h->times[i]);
    if (changed) values_queue(a, to);
}

static uint8_t test_opposite(uint8_t t)
{
    static const uint8_t of[] = {UNEQUAL, EQUAL, AT_LEAST, AT_MOST, ABOVE, BELOW};
    return of[t];
}

static uint8_t test_swapped(uint8_t t)
{
    static const uint8_t of[] = {EQUAL, UNEQUAL, ABOVE, BELOW, AT_LEAST, AT_MOST};
    return of[t];
}

/* Returns the test that an instruction makes, or -1. The operands of an unsigned test must not
 * be negative. */
static int test_of(struct cvbc_inst in, const range *a, const range *b)
{
    bool ordered = in.flags & CVBC_S || (a->low >= 0 && b->low >= 0);
    switch (in.opcode) {
    case CVBC_OP_EQ:
    case CVBC_OP_EQ_S: return EQUAL;
    case CVBC_OP_NE:
    case CVBC_OP_NE_S: return UNEQUAL;
    case CVBC_OP_LT:
    case CVBC_OP_LT_S: return BELOW;
    case CVBC_OP_GT:
    case CVBC_OP_GT_S: return ABOVE;
    case CVBC_OP_LE: return ordered ? AT_MOST : -1;
    case CVBC_OP_GE: return ordered ? AT_LEAST : -1;
    case CVBC_OP_LE_S: return AT_MOST;
    case CVBC_OP_GE_S: return AT_LEAST;
    default: return -1;
    }
}

static bool values_compares(uint8_t op) { return op >= CVBC_OP_EQ && op <= CVBC_OP_GE_S; }

static bool values_copies(const struct value *v) { return v->is != PLAIN && v->is < TESTS_LOCAL; }

static struct value values_compare(struct cvbc_inst in, struct value a, struct value b)
{
    struct value v = word_plain(range_of(0, 1));
    int test = test_of(in, &a.r, &b.r);
    if (a.is >= TESTS_LOCAL && b.r.low == 0 && b.r.high == 0 && test <= UNEQUAL && test >= 0) {
        v = a; /* A test is compared with 0. */
        if (test == EQUAL) v.test = test_opposite(v.test);
        return v;
    }
    if (test < 0) return v;
    bool swap = !values_copies(&a);
    const struct value *variable = swap ? &b : &a, *other = swap ? &a : &b;
    if (!values_copies(variable)) return v;
    v.is = (uint8_t)(variable->is + TESTS);
    v.test = swap ? test_swapped((uint8_t)test) : (uint8_t)test;
    v.of = variable->of;
    v.with = other->r;
    return v;
}

static range values_narrow(range r, uint8_t test, range with)
{
    switch (test) {
    case EQUAL: return range_between(r, with.low, with.high);
    case BELOW: return range_between(r, INT32_MIN, with.high - 1);
    case AT_MOST: return range_between(r, INT32_MIN, with.high);
    case ABOVE: return range_between(r, with.low + 1, INT32_MAX);
    case AT_LEAST: return range_between(r, with.low, INT32_MAX);
    default:
        if (!range_single(&with)) return r;
        if (cvbc_range_small(&r) && with.low >= 0 && with.low < 64) {
            uint64_t left = r.bits & ~(UINT64_C(1) << with.low);
            return left ? range_set(left) : range_none();
        }
        if (r.low == with.low) return range_between(r, with.low + 1, INT32_MAX);
        if (r.high == with.low) return range_between(r, INT32_MIN, with.low - 1);
        return r;
    }
}

static struct value *values_tested(struct follow *a, const struct value *v)
{
    if (v->is == TESTS_LOCAL) return v->of < a->sp ? &a->stack[v->of] : NULL;
    if (v->is == TESTS_GLOBAL) return &a->variables[v->of];
    return v->is == TESTS_PARAM ? &a->params[v->of] : NULL;
}

/* Follows both branches of a conditional jump, with what each of them says about the variable.
 * Returns false if the jump is always taken. */
static bool values_branch(struct follow *a, struct cvbc_inst in)
{
    struct value v = values_pop(a), *variable = values_tested(a, &v);
    range before = variable ? variable->r : range_any();
    bool on_true = in.opcode == CVBC_OP_JMP_TRUE, falls = false;
    /* The first round is for the jump, the second for the next instruction. */
    for (int way = 0; way < 2; way++) {
        bool truth = on_true == !way, possible = true;
        if (range_single(&v.r)) possible = (v.r.low != 0) == truth;
        if (variable) {
            variable->r = values_narrow(before, truth ? v.test : test_opposite(v.test), v.with);
            possible = possible && !range_empty(&variable->r);
        }
        if (possible && !way) values_reach(a, in.immediate);
        if (way) falls = possible;
    }
    return falls;
}

/* Follows a call of a function. Returns false while it is not known that the function returns. */
static bool values_call(struct follow *a, uint32_t to)
{
    if (to >= a->p->count || a->depths[to] < 0) {
        a->lost = true;
        return false;
    }
    struct values_function *f = &a->functions[a->owners[to]];
    for (uint32_t k = 0; k < PARAMS && k < a->sp; k++)
        a->again |= range_into(&f->params[k], a->stack[a->sp - 1 - k].r, &f->times[k]);
    for (uint32_t g = 0; g < a->globals; g++)
        a->again |= range_into(&a->entry[g], a->variables[g].r, &a->times[g]);
    uint32_t sp = a->sp;
    struct value saved[CVBC_GLOBALS], params[PARAMS], lowest = a->stack[0];
    memcpy(saved, a->variables, sizeof saved);
    memcpy(params, a->params, sizeof params);
    for (uint32_t g = 0; g < a->globals; g++) a->variables[g] = word_plain(a->entry[g]);
    for (uint32_t k = 0; k < PARAMS; k++)
        a->params[k] = word_plain(k < sp ? f->params[k] : range_any());
    a->stack[0] = word_plain(range_any()); /* This word is the return index. */
    a->sp = 1;
    values_reach(a, to);
    a->sp = sp;
    a->stack[0] = lowest;
    memcpy(a->variables, saved, sizeof saved);
    memcpy(a->params, params, sizeof params);
    for (uint32_t g = 0; g < a->globals; g++) {
        a->variables[g].r = range_join(a->variables[g].r, a->stored[g]);
        values_forget(a, OF_GLOBAL, g);
    }
    for (uint32_t k = 0; k < PARAMS && k < sp; k++) {
        if (!(f->writes >> k & 1)) continue;
        a->stack[sp - 1 - k] = word_plain(f->results[k]);
        values_forget(a, OF_LOCAL, sp - 1 - k);
    }
    uint32_t frame = a->owner ? sp - 1 : sp; /* The return index is not counted. */
    /* The function writes words of another frame than its caller's. */
    if (frame < PARAMS && f->writes >> frame) a->lost = true;
    return f->returns;
}

static void values_return(struct follow *a)
{
    struct values_function *f = &a->functions[a->owner];
    for (uint32_t k = 0; k < PARAMS; k++)
        if (f->writes >> k & 1)
            a->again |= range_into(&f->results[k], a->params[k].r, &f->times[PARAMS + k]);
    a->again |= !f->returns;
    f->returns = true;
}

static void values_local(struct follow *a, struct cvbc_inst in)
{
    bool store = in.opcode == CVBC_OP_STORE_LOCAL;
    struct value v = store ? values_pop(a) : word_plain(range_any());
    int64_t place = (int64_t)a->sp - 1 - in.immediate;
    struct values_function *f = &a->functions[a->owner];
    if (place >= 0 && store) {
        a->stack[place] = word_plain(v.r);
        values_forget(a, OF_LOCAL, (uint32_t)place);
        if (a->owner && !place) a->lost = true; /* This word is the return index. */
    } else if (place >= 0) {
        struct value copy = word_plain(a->stack[place].r);
        copy.is = OF_LOCAL;
        copy.of = (uint32_t)place;
        values_push(a, copy);
    } else if (-place > PARAMS || !a->owner) {
        a->lost |= store;
        if (!store) values_push(a, v);
    } else if (store) {
        uint32_t k = (uint32_t)(-place - 1);
        if (!(f->writes >> k & 1)) { /* The paths through the function must be followed again. */
            f->writes |= (uint16_t)(1u << k);
            f->returns = false;
            a->again = true;
        }
        a->params[k] = word_plain(v.r);
        values_forget(a, OF_PARAM, k);
    } else {
        uint32_t k = (uint32_t)(-place - 1);
        struct value copy = word_plain(a->params[k].r);
        copy.is = OF_PARAM;
        copy.of = k;
        values_push(a, copy);
    }
}

static void values_variable(struct follow *a, struct cvbc_inst in)
{
    uint32_t g = in.immediate;
    if (in.opcode == CVBC_OP_LOAD_GLOBAL) {
        struct value copy = word_plain(g < a->globals ? a->variables[g].r : range_any());
        copy.is = g < a->globals ? OF_GLOBAL : PLAIN;
        copy.of = g;
        values_push(a, copy);
        return;
    }
    struct value v = values_pop(a);
    if (g >= a->globals) return;
    a->variables[g] = word_plain(v.r);
    values_forget(a, OF_GLOBAL, g);
    if (a->owner) a->again |= range_into(&a->stored[g], v.r, &a->times[CVBC_GLOBALS + g]);
}

static void values_array(struct follow *a, uint32_t at, struct cvbc_inst in)
{
    uint32_t id = in.immediate < CVBC_ARRAYS ? in.immediate : 0;
    struct value v = values_pop(a);
    if (in.opcode == CVBC_OP_CREATE_ARRAY) {
        a->arrays[id].size = range_join(a->arrays[id].size, v.r);
        return;
    }
    if (in.opcode == CVBC_OP_LOAD_ARRAY) {
        range r = a->arrays[id].stored, size = a->arrays[id].size;
        uint64_t all = range_single(&size) && size.low > 0 && size.low <= 64
                           ? UINT64_MAX >> (64 - size.low)
                           : UINT64_MAX;
        if (range_empty(&size) || (a->arrays[id].covered & all) != all)
            r = range_join(r, range_one(0));
        values_push(a, word_plain(r));
        return;
    }
    struct value index = v, value = values_pop(a);
    if (in.flags & CVBC_V) {
        index = value;
        value = v;
    }
    if (at < a->prefix && cvbc_range_small(&index.r) && range_single(&index.r))
        a->arrays[id].covered |= UINT64_C(1) << index.r.low;
    a->again |= range_into(&a->arrays[id].stored, value.r, &a->arrays[id].times);
}

static void values_note_call(struct follow *a, uint32_t at, unsigned pops)
{
    struct cvbc_call *c = &a->calls->list[a->call_of[at] - 1];
    for (unsigned i = 0; i < CVBC_CALL_ARGS && i < pops && pops <= a->sp; i++)
        c->args[i] = range_join(c->args[i], a->stack[a->sp - pops + i].r);
}

static range values_read(uint8_t op)
{
    if (op == CVBC_OP_DIGITAL_READ || op == CVBC_OP_NOT) return range_of(0, 1);
    return op == CVBC_OP_ANALOG_READ ? range_of(0, UINT16_MAX) : range_any();
}

static void values_push_number(struct follow *a, struct cvbc_inst in)
{
    int64_t v = in.flags & CVBC_S ? (int16_t)in.immediate : in.immediate;
    if (in.flags & CVBC_W) {
        range low = values_pop(a).r;
        uint32_t both = (uint32_t)in.immediate << 16 | ((uint32_t)low.low & 0xffff);
        values_push(a, word_plain(range_single(&low) ? range_one((int32_t)both) : range_any()));
        return;
    }
    values_push(a, word_plain(range_one(v)));
}

/* Follows one instruction. Returns false if the path ends here. */
static bool values_step(struct follow *a, uint32_t at)
{
    struct cvbc_inst in = cvbc_inst_at(a->p, at);
    const struct cvbc_op_info *op = &cvbc_ops[in.opcode];
    if (!cvbc_op_known(a->p, in.opcode)) return false;
    if (a->call_of[at]) values_note_call(a, at, op->pops);
    switch (in.opcode) {
    case CVBC_OP_PUSH: values_push_number(a, in); return true;
    case CVBC_OP_JMP: values_reach(a, in.immediate); return false;
    case CVBC_OP_JMP_TRUE:
    case CVBC_OP_JMP_FALSE: return values_branch(a, in);
    case CVBC_OP_HALT: return false;
    case CVBC_OP_RET: values_return(a); return false;
    case CVBC_OP_CALL: return values_call(a, in.immediate);
    case CVBC_OP_LOAD_GLOBAL:
    case CVBC_OP_STORE_GLOBAL: values_variable(a, in); return true;
    case CVBC_OP_LOAD_LOCAL:
    case CVBC_OP_STORE_LOCAL: values_local(a, in); return true;
    case CVBC_OP_LOAD_ARRAY:
    case CVBC_OP_STORE_ARRAY:
    case CVBC_OP_CREATE_ARRAY: values_array(a, at, in); return true;
    case CVBC_OP_PRINTF: /* The number of words that it takes follows from the depth after it. */
        if (at + 1 < a->p->count && a->depths[at + 1] >= 0 && (uint32_t)a->depths[at + 1] <= a->sp)
            a->sp = (uint32_t)a->depths[at + 1];
        return true;
    default: break;
    }
    if (op->operand == CVBC_OPERAND_TARGET) values_call(a, in.immediate);
    struct value b = op->pops > 0 ? values_pop(a) : word_plain(range_any());
    struct value first = op->pops > 1 ? values_pop(a) : b;
    for (unsigned i = 2; i < op->pops; i++) values_pop(a);
    if (in.opcode == CVBC_OP_NOT && b.is >= TESTS_LOCAL) {
        b.test = test_opposite(b.test);
        values_push(a, b);
    } else if (values_compares(in.opcode)) {
        values_push(a, values_compare(in, first, b));
    } else {
        range r = op->pops == 2 ? values_binary(in.opcode, first.r, b.r) : values_read(in.opcode);
        for (unsigned i = 0; i < op->pushes; i++) values_push(a, word_plain(r));
    }
    return true;
}

/* Follows the program from a target until the path ends or meets another target. */
static void values_run(struct follow *a, uint32_t from)
{
    const struct head *h = &a->heads[from];
    a->sp = (uint32_t)a->depths[from];
    a->owner = a->owners[from];
    for (uint32_t i = 0; i < a->sp; i++) a->stack[i] = word_plain(h->words[i]);
    for (size_t i = a->sp; i < values_count(a); i++) *values_word(a, i) = word_plain(h->words[i]);
    for (uint32_t at = from; at < a->p->count && !a->lost && !a->failed; at++) {
        if (at != from && a->is_head[at]) {
            values_reach(a, at);
            return;
        }
        if (a->depths[at] < 0 || (uint32_t)a->depths[at] != a->sp) a->lost = true;
        if (!values_work(a, 1)) return;
        if (!values_step(a, at)) return;
    }
}

/* The functions below analyse the whole program. */

static bool values_goes_on(uint8_t op)
{
    return op != CVBC_OP_JMP && op != CVBC_OP_HALT && op != CVBC_OP_RET;
}

/* Finds the instructions that may be executed, and the targets of jumps. */
static void values_shape(struct follow *a)
{
    const struct cvbc_program *p = a->p;
    uint32_t entry = p->head.entry_point_offset;
    size_t count = 0;
    a->queue[count++] = entry;
    a->reached[entry] = a->is_head[entry] = true;
    while (count) {
        uint32_t at = a->queue[--count], next[2] = {at + 1, UINT32_MAX};
        struct cvbc_inst in = cvbc_inst_at(p, at);
        if (!cvbc_op_known(p, in.opcode)) continue;
        if (!values_goes_on(in.opcode)) next[0] = UINT32_MAX;
        if (cvbc_ops[in.opcode].operand == CVBC_OPERAND_TARGET) next[1] = in.immediate;
        if (next[1] < p->count) a->is_head[next[1]] = true;
        for (int i = 0; i < 2; i++)
            if (next[i] < p->count && !a->reached[next[i]]) {
                a->reached[next[i]] = true;
                a->queue[count++] = next[i];
            }
    }
    for (a->prefix = entry; a->prefix < p->count; a->prefix++) {
        struct cvbc_inst in = cvbc_inst_at(p, a->prefix);
        if (a->prefix != entry && a->is_head[a->prefix]) break;
        if (!values_goes_on(in.opcode) || cvbc_ops[in.opcode].operand == CVBC_OPERAND_TARGET) break;
    }
    if (a->is_head[entry]) /* A jump back to the entry may not skip anything. */
        for (uint32_t i = 0; i < p->count; i++) {
            struct cvbc_inst in = cvbc_inst_at(p, i);
            if (cvbc_ops[in.opcode].operand == CVBC_OPERAND_TARGET && in.immediate == entry)
                a->prefix = entry;
        }
}

static bool values_list_calls(struct follow *a)
{
    size_t count = 0;
    for (uint32_t i = 0; i < a->p->count; i++)
        if (a->reached[i] && cvbc_op_known(a->p, a->p->code[4 * i]) &&
            cvbc_use_of(a->p->code[4 * i]))
            a->call_of[i] = (uint32_t)++count;
    a->calls->list = calloc(count + 1, sizeof *a->calls->list);
    if (!a->calls->list) return false;
    for (uint32_t i = 0; i < a->p->count; i++)
        if (a->call_of[i]) {
            struct cvbc_call *c = &a->calls->list[a->call_of[i] - 1];
            c->at = i;
            for (int k = 0; k < CVBC_CALL_ARGS; k++) c->args[k] = range_none();
        }
    a->calls->count = count;
    return true;
}

static void values_follow(struct follow *a, size_t functions)
{
    uint32_t entry = a->p->head.entry_point_offset;
    for (uint32_t g = 0; g < CVBC_GLOBALS; g++) {
        a->entry[g] = a->stored[g] = range_none();
        a->variables[g] = word_plain(range_one(0));
    }
    for (int k = 0; k < PARAMS; k++) a->params[k] = word_plain(range_any());
    for (int i = 0; i < CVBC_ARRAYS; i++) a->arrays[i].stored = a->arrays[i].size = range_none();
    for (size_t i = 0; i < functions; i++)
        for (int k = 0; k < PARAMS; k++)
            a->functions[i].params[k] = a->functions[i].results[k] = range_none();
    values_reach(a, entry);
    for (;;) {
        while (a->queued && !a->lost && !a->failed) {
            uint32_t at = a->queue[--a->queued];
            a->heads[at].queued = false;
            values_run(a, at);
        }
        if (a->lost || a->failed || !a->again) return;
        a->again = false;
        for (uint32_t i = 0; i < a->p->count; i++)
            if (a->heads[i].words) values_queue(a, i);
    }
}

static void values_free(struct follow *a)
{
    for (size_t i = 0; a->heads && i < a->p->count; i++) {
        free(a->heads[i].words);
        free(a->heads[i].times);
    }
    free(a->heads);
    free(a->depths);
    free(a->owners);
    free(a->is_head);
    free(a->reached);
    free(a->queue);
    free(a->functions);
    free(a->call_of);
    free(a);
}

bool cvbc_calls_find(const struct cvbc_program *p, struct long_work *work, struct cvbc_calls *out)
{
    *out = (struct cvbc_calls){0};
    struct follow *a = calloc(1, sizeof *a);
    if (!a) return false;
    *a = (struct follow){
        .p = p, .work = work, .calls = out, .limit = STEPS_EACH * (uint64_t)p->count + STEPS_MORE};
    a->heads = calloc(p->count, sizeof *a->heads);
    a->is_head = calloc(p->count, 1);
    a->reached = calloc(p->count, 1);
    a->queue = calloc(p->count + 1, sizeof *a->queue);
    a->call_of = calloc(p->count, sizeof *a->call_of);
    bool ok = a->heads && a->is_head && a->reached && a->queue && a->call_of &&
              cvbc_stack_depths(p, &a->depths, &a->owners);
    size_t functions = 0;
    for (size_t i = 0; ok && i < p->count; i++) {
        if (a->owners[i] > functions) functions = a->owners[i];
        uint8_t opcode = p->code[4 * i];
        uint32_t slot = bytes_get16(p->code + 4 * i + 2);
        if (cvbc_ops[opcode].operand == CVBC_OPERAND_GLOBAL && slot < CVBC_GLOBALS &&
            slot >= a->globals)
            a->globals = slot + 1;
    }
    a->functions = ok ? calloc(functions + 1, sizeof *a->functions) : NULL;
    ok = a->functions != NULL;
    if (ok) {
        values_shape(a);
        ok = values_list_calls(a);
    }
    if (ok) values_follow(a, functions + 1);
    ok = ok && !a->failed;
    /* A call that no path reached is one that cannot be followed, or is never made. */
    for (size_t i = 0; ok && a->lost && i < out->count; i++)
        for (int k = 0; k < CVBC_CALL_ARGS; k++) out->list[i].args[k] = range_any();
    values_free(a);
    if (ok) return true;
    free(out->list);
    *out = (struct cvbc_calls){0};
    return false;
}

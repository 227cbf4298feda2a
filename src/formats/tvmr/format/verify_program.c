/* Checks a program (TVMR 12): extensions, control flow, keys, registers, operands, order, shapes
 * and plausibility. A program may have millions of instructions, and nearly all of them are
 * right. The function unusual_from recognises these quickly. */
#include "base/long_work.h"
#include "tvmr/format/verify.h"
#include <stdio.h>
#include <stdlib.h>

enum neuro_op {
#define OP(code, name, ...) NEURO_##name = code,
#define YIELD(code, name, ...) NEURO_##name = code,
#include "tvmr/extensions/neuro.def"
#undef OP
#undef YIELD
};
_Static_assert(NEURO_CHEM_READ == 0 && NEURO_CHEM_SET == 1 && NEURO_CHEM_INJECT == 2,
               "the instructions with a chemical in B come first");

/* The effects of instructions that checks of later instructions need. */
enum effect { COMPUTES = 1, LOADS = 2, STORES = 4, LEARNS = 8, JUMPS = 16, HALTS = 32 };

struct program {
    struct pass *p;
    struct found { /* a cache of what the tables say about an instruction; the key is its first
                    * four bytes */
        uint32_t key;
        bool is;
        bool looked_at;    /* The instruction needs all checks every time, whatever its operands
                            * are. */
        uint8_t registers; /* a bit for each operand that is a register */
        uint8_t effects;
        uint32_t zeros; /* the bits that should be 0, of the operands read as one number */
        const struct tvmr_op *op;
    } found[256];
    uint64_t usual[1024];       /* a hash table of instructions that are known to be right */
    uint8_t undeclared[4][256]; /* undeclared[k][r] is 1 << k unless register r is declared */
    uint8_t used[8192], known_missing[8192]; /* a bit for each extension */
    size_t depth;
    unsigned effects;
    bool calls, returns;
};

static bool test_and_set(uint8_t *bits, uint16_t i)
{
    bool was = bits[i / 8] >> (i & 7) & 1;
    bits[i / 8] |= (uint8_t)(1u << (i & 7));
    return was;
}

static uint8_t effects_of(const struct tvmr_words *w)
{
    unsigned group = TVMR_GROUP(w->opcode);
    if (w->ext || group == TVMR_GROUP_COMPUTE || group == TVMR_GROUP_TERNARY) return COMPUTES;
    switch (w->opcode) {
    case TVMR_OP_HALT: return HALTS;
    case TVMR_OP_LOAD_INPUT: return LOADS;
    case TVMR_OP_STORE_OUTPUT: return STORES;
    case TVMR_OP_MASTERY_UPDATE:
    case TVMR_OP_MASTERY_COMMIT: return LEARNS;
    case TVMR_OP_JUMP: return JUMPS;
    default: return 0;
    }
}

static uint32_t zeros_of(const struct tvmr_op *op)
{
    unsigned used = tvmr_patterns[op->pattern].used;
    return used < 4 ? UINT32_MAX << 8 * used : 0;
}

static struct found *found_at(struct program *g, uint32_t key)
{
    return &g->found[(key * 2654435761u) >> 24];
}

/* Tells whether the core has an instruction. The profile ternsig only reserves MATMUL. */
static bool has_core_op(const struct tvmr_module *m, const struct tvmr_op *op)
{
    return op && !tvmr_op_reserved(op) &&
           (m->profile == TVMR_PROFILE_PENTA || op->opcode != TVMR_OP_MATMUL);
}

/* Fills the cache entry of an instruction, and checks its extension once. */
static void instruction_look_up(struct program *g, size_t i, const struct tvmr_words *w,
                                struct found *f)
{
    struct pass *p = g->p;
    f->op = tvmr_op_find(w->ext, w->opcode);
    f->effects = effects_of(w);
    for (unsigned k = 0; f->op && k < 4; k++)
        if (strchr("dsm", f->op->bytes[k])) f->registers |= (uint8_t)(1u << k);
    if (!w->ext) {
        f->looked_at = TVMR_GROUP(w->opcode) == TVMR_GROUP_FLOW || f->effects & (LEARNS | HALTS) ||
                       !has_core_op(p->m, f->op);
        return;
    }
    test_and_set(g->used, w->ext);
    bool missing = !f->op && !tvmr_extension_find(w->ext);
    if (missing && !test_and_set(g->known_missing, w->ext))
        INSN(TVMR_EXT_UNKNOWN, i, "extension 0x%04x is not registered", w->ext);
    f->looked_at = (!f->op && !missing) || w->ext == TVMR_ID_NEURO ||
                   w->ext == TVMR_ID_ORCHESTRATION || w->ext == TVMR_ID_BANK;
    if (f->op) f->zeros = zeros_of(f->op);
}

static void no_memory(struct pass *p)
{
    findings_add(p->f, BASE_MEMORY, 0, NULL, "no memory to check the program");
}

/* Marks the instructions that labels name. With `jumps` it also marks the targets of JUMP and
 * CALL. */
static uint8_t *named_targets(const struct tvmr_module *m, bool jumps)
{
    uint8_t *bits = calloc(1, m->count / 8 + 1);
    if (!bits) return NULL;
    for (size_t i = 0; i < m->meta.label_count; i++)
        if (m->meta.labels[i].index < m->count)
            bits[m->meta.labels[i].index / 8] |= (uint8_t)(1u << (m->meta.labels[i].index & 7));
    for (size_t i = 0; jumps && i < m->count; i++) {
        struct tvmr_words w = tvmr_word(m->code.data + i * TVMR_INSN);
        if (w.ext || (w.opcode != TVMR_OP_CALL && w.opcode != TVMR_OP_JUMP)) continue;
        uint32_t to = tvmr_operands(&w);
        if (to < m->count) bits[to / 8] |= (uint8_t)(1u << (to & 7));
    }
    return bits;
}

static void check_flow(struct program *g, size_t i, const struct tvmr_words *w)
{
    struct pass *p = g->p;
    size_t count = p->m->count;
    switch (w->opcode) {
    case TVMR_OP_LOOP: g->depth++; break;
    case TVMR_OP_END_LOOP:
        if (g->depth)
            g->depth--;
        else
            INSN(TVMR_END_LOOP, i, "END_LOOP without LOOP");
        break;
    case TVMR_OP_BREAK:
        if (!g->depth) INSN(TVMR_BREAK_OUTSIDE, i, "BREAK outside a loop");
        break;
    case TVMR_OP_CALL:
    case TVMR_OP_JUMP:
        if (tvmr_operands(w) >= count)
            INSN(TVMR_TARGET, i, "%s target %u, of %zu instructions",
                 w->opcode == TVMR_OP_CALL ? "CALL" : "JUMP", (unsigned)tvmr_operands(w), count);
        g->calls |= w->opcode == TVMR_OP_CALL;
        break;
    case TVMR_OP_RETURN: g->returns = true; break;
    case TVMR_OP_SKIP:
        if (i + 1 + w->a[0] > count)
            INSN(TVMR_SKIP, i, "SKIP %u at instruction %zu of %zu", w->a[0], i, count);
        break;
    default: break;
    }
}

static void check_order(struct program *g, size_t i, unsigned effects)
{
    struct pass *p = g->p;
    if (effects & COMPUTES && !(g->effects & (COMPUTES | LOADS)))
        INSN(TVMR_COMPUTE_EARLY, i, "an instruction computes before LOAD_INPUT");
    if (effects & LEARNS && !(g->effects & STORES))
        INSN(TVMR_MASTERY_EARLY, i, "a mastery instruction before any STORE_OUTPUT");
    if (i + 1 == p->m->count)
        effects &= ~(unsigned)HALTS; /* No instruction comes after it, so
                                                            * what HALT skips need not be
                                                            * checked. */
    g->effects |= effects;
}

static void check_registers(struct program *g, size_t i, const struct tvmr_words *w,
                            unsigned registers)
{
    struct pass *p = g->p;
    for (unsigned k = 0; k < 4; k++) {
        char name[8];
        if (!(registers & g->undeclared[k][w->a[k]])) continue;
        tvmr_register_name(w->a[k], name);
        INSN(TVMR_UNDECLARED, i, "%s is used but not declared", name);
    }
}

static void check_pattern(struct program *g, size_t i, const struct tvmr_words *w,
                          const struct tvmr_op *op)
{
    struct pass *p = g->p;
    if (op->pattern == TVMR_PATTERN_NONE) {
        uint32_t all = tvmr_operands(w);
        if (all && all != 0xffff0000)
            INSN(TVMR_OPERANDS_NONE, i, "%s takes no operands, these are 0x%08x", op->name,
                 (unsigned)all);
    } else {
        for (unsigned k = tvmr_patterns[op->pattern].used; k < 4; k++)
            if (w->a[k]) {
                INSN(TVMR_PADDING, i, "%s has 0x%02x in an unused operand", op->name, w->a[k]);
                break;
            }
    }
}

static void check_ids(struct program *g, size_t i, const struct tvmr_words *w)
{
    struct pass *p = g->p;
    if (w->ext == TVMR_ID_NEURO && w->opcode <= NEURO_CHEM_INJECT && w->a[1] > 7)
        INSN(TVMR_CHEM_ID, i, "chemical %u, they are 0 to 7", w->a[1]);
    if (w->ext == TVMR_ID_ORCHESTRATION && w->a[1] > 63)
        INSN(TVMR_REGION_ID, i, "region or slot %u", w->a[1]);
    if (w->ext == TVMR_ID_BANK && w->a[2] > 31 && w->a[2] != 0xff)
        INSN(TVMR_BANK_SLOT, i, "bank slot %u", w->a[2]);
}

static void check_insn(struct program *g, size_t i)
{
    struct pass *p = g->p;
    const uint8_t *at = p->m->code.data + i * TVMR_INSN;
    struct tvmr_words w = tvmr_word(at);
    struct found *found = found_at(g, bytes_get32(at));
    if (!found->is || found->key != bytes_get32(at)) {
        *found = (struct found){.key = bytes_get32(at), .is = true};
        instruction_look_up(g, i, &w, found);
    }
    if (w.ext) {
        if (found->op)
            check_pattern(g, i, &w, found->op);
        else if (found->looked_at)
            INSN(TVMR_OPCODE_UNKNOWN, i, "extension 0x%04x has no opcode 0x%04x", w.ext, w.opcode);
        check_ids(g, i, &w);
    } else {
        if (!has_core_op(p->m, found->op))
            INSN(p->m->profile == TVMR_PROFILE_PENTA ? TVMR_OPCODE_CORE : TVMR_OPCODE_UNKNOWN, i,
                 "the core has no opcode 0x%04x%s%s", w.opcode, found->op ? ", reserved: " : "",
                 found->op ? found->op->name : "");
        if (TVMR_GROUP(w.opcode) == TVMR_GROUP_FLOW) check_flow(g, i, &w);
    }
    check_order(g, i, found->effects);
    check_registers(g, i, &w, found->registers);
}

static uint64_t *usual_word_at(struct program *g, uint64_t word)
{
    return &g->usual[(word * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
}

/* Returns the first instruction from i on that needs all checks. An instruction needs none when
 * the tables know it, its registers are declared, its unused operands are zero, and its effects
 * have occurred before. Equal instructions later need no checks, either. */
static size_t unusual_from(struct program *g, size_t i)
{
    const uint8_t *code = g->p->m->code.data;
    uint8_t(*undeclared)[256] = g->undeclared;
    size_t count = g->p->m->count;
    unsigned effects = g->effects;
    for (; i < count; i++) {
        uint64_t word = bytes_get64(code + i * TVMR_INSN), operands = word >> 32;
        uint64_t *usual = usual_word_at(g, word);
        if (*usual == word) continue;
        const struct found *f = found_at(g, (uint32_t)word);
        unsigned registers = undeclared[0][operands & 255] | undeclared[1][operands >> 8 & 255] |
                             undeclared[2][operands >> 16 & 255] | undeclared[3][operands >> 24];
        if (!f->is || f->looked_at || f->key != (uint32_t)word || (registers & f->registers) ||
            (operands & f->zeros) || (f->effects & ~effects))
            break;
        *usual = word;
    }
    return i;
}

static void check_insns(struct program *g)
{
    size_t i = unusual_from(g, 0);
    for (; i < g->p->m->count && !long_work_over(g->p->f->work, 1); i = unusual_from(g, i + 1))
        check_insn(g, i);
}

/* Reports findings that depend on the whole program, such as instructions that are never
 * reached. */
static void check_end(struct program *g)
{
    struct pass *p = g->p;
    const struct tvmr_module *m = p->m;
    if (g->depth)
        INSN(TVMR_LOOP_OPEN, m->count, "%zu LOOP%s never closed", g->depth,
             g->depth == 1 ? " is" : "s are");
    if (g->returns && !g->calls) INSN(TVMR_RETURN_ALONE, m->count, "RETURN without any CALL");
    if (m->count) {
        struct tvmr_words w = tvmr_word(m->code.data + (m->count - 1) * TVMR_INSN);
        if (!w.ext && w.opcode != TVMR_OP_HALT)
            INSN(TVMR_NO_HALT, m->count - 1, "the program does not end with HALT");
    }
    if (g->effects & LEARNS && g->effects & STORES) INSN(TVMR_LEARNS, 0, "this program learns");
    if (!(g->effects & (JUMPS | HALTS))) return;
    uint8_t *labels = named_targets(m, false), *all = named_targets(m, true);
    if (!labels || !all) no_memory(p);
    for (size_t i = 1; labels && all && i < m->count; i++) {
        struct tvmr_words w = tvmr_word(m->code.data + (i - 1) * TVMR_INSN);
        if (w.ext) continue;
        if (w.opcode == TVMR_OP_JUMP && !(labels[i / 8] >> (i & 7) & 1))
            INSN(TVMR_AFTER_JUMP, i, "no label names the instruction after a JUMP");
        if (w.opcode == TVMR_OP_HALT && !(all[i / 8] >> (i & 7) & 1))
            INSN(TVMR_AFTER_HALT, i, "nothing leads to the instruction after HALT");
    }
    free(labels);
    free(all);
}

static void check_requirements(struct program *g)
{
    struct pass *p = g->p;
    const struct tvmr_module *m = p->m;
    for (size_t i = 0; i < m->ext_count; i++) {
        const struct tvmr_extension_entry *need = &m->exts[i];
        const struct tvmr_extension *e = need->id ? tvmr_extension_find(need->id) : NULL;
        if (e && (need->major != e->major || need->minor > e->minor ||
                  (need->minor == e->minor && need->patch > e->patch)))
            AT(TVMR_EXT_VERSION, tvmr_header_bytes + 8 * i + 2,
               "%s %u.%u.%u is required, there is %u.%u.%u", e->name, need->major, need->minor,
               need->patch, e->major, e->minor, e->patch);
        if (need->id < 0xffff) g->used[need->id / 8] &= (uint8_t) ~(1u << (need->id & 7));
    }
    for (unsigned id = 1; id < 0xffff; id++)
        if (!g->used[id / 8])
            id |= 7; /* The loop skips the other ids of this byte. */
        else if (g->used[id / 8] >> (id & 7) & 1)
            AT(TVMR_EXT_UNDECLARED, m->legacy ? 0 : tvmr_header_bytes,
               "extension 0x%04x is used but not required", id);
}

static void check_keys(struct pass *p)
{
    const struct tvmr_module *m = p->m;
    enum { BUCKETS = 1024 };
    uint32_t *next = calloc(m->reg_count + 1, sizeof *next),
             *heads = calloc(BUCKETS, sizeof *heads);
    if (!next || !heads) no_memory(p);
    for (size_t i = 0; next && heads && i < m->reg_count; i++) {
        penta_bytes key = m->regs[i].key;
        uint32_t hash = 2166136261u, steps = 0;
        if (!key.size) continue;
        for (size_t k = 0; k < key.size; k++) hash = (hash ^ key.data[k]) * 16777619u;
        uint32_t *head = &heads[hash % BUCKETS];
        for (uint32_t j = *head; j && steps < 4096; j = next[j], steps++) {
            penta_bytes other = m->regs[j - 1].key;
            if (other.size != key.size || memcmp(other.data, key.data, key.size)) continue;
            char name[8];
            tvmr_register_name(m->regs[i].reg, name);
            AT(TVMR_KEY_TWICE, m->regs[i].offset, "the key of %s is taken by another register",
               name);
            break;
        }
        next[i + 1] = *head;
        *head = (uint32_t)i + 1;
    }
    free(next);
    free(heads);
}

enum { RANK_MAX = 8 };
struct known {
    bool is;
    uint8_t rank;
    uint32_t dims[RANK_MAX];
};

static void shape_text(const struct known *k, char *text, size_t size)
{
    size_t n = 0;
    for (unsigned i = 0; i < k->rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%u", i ? ", " : "", (unsigned)k->dims[i]);
    if (!k->rank) *text = 0;
}

static bool verify_program_broadcastable(const struct known *a, const struct known *b)
{
    if (a->rank != b->rank) return false;
    for (unsigned i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i] && a->dims[i] != 1 && b->dims[i] != 1) return false;
    return true;
}

/* Computes the shape of a product of matrices and vectors. Returns false when the product does
 * not exist. */
static bool product_shape(const struct known *x, const struct known *y, struct known *out)
{
    *out = (struct known){.is = true};
    if (x->rank < 1 || x->rank > 2 || y->rank < 1 || y->rank > 2 ||
        x->dims[x->rank - 1] != y->dims[0])
        return false;
    if (x->rank == 2) out->dims[out->rank++] = x->dims[0];
    if (y->rank == 2) out->dims[out->rank++] = y->dims[1];
    if (!out->rank) out->dims[out->rank++] = 1;
    return true;
}

/* Checks MATMUL and the instructions that change shapes. They change shapes only under the
 * profile penta. */
static void check_matrices(struct pass *p, struct known *known, size_t i,
                           const struct tvmr_words *w)
{
    const struct known *x = &known[w->a[1]], *y = &known[w->a[2]];
    struct known product = {0};
    char first[48], second[48];
    if (p->m->profile != TVMR_PROFILE_PENTA) return;
    if (w->opcode == TVMR_OP_MATMUL && x->is && y->is && !product_shape(x, y, &product)) {
        shape_text(x, first, sizeof first);
        shape_text(y, second, sizeof second);
        INSN(TVMR_SHAPE, i, "MATMUL of [%s] and [%s]", first, second);
        product.is = false;
    }
    known[w->a[0]] = product;
}

static void check_shape(struct pass *p, struct known *known, size_t i)
{
    struct tvmr_words w = tvmr_word(p->m->code.data + i * TVMR_INSN);
    const struct known *x = &known[w.a[1]], *y = &known[w.a[2]];
    char first[48], second[48];
    if (w.ext) return;
    shape_text(x, first, sizeof first);
    shape_text(y, second, sizeof second);
    switch (w.opcode) {
    case TVMR_OP_TERNARY_MATMUL:
        if (!x->is || !y->is || x->rank != 2 || y->rank != 1) return;
        if (x->dims[1] != y->dims[0]) {
            INSN(TVMR_SHAPE, i, "TERNARY_MATMUL of weights [%s] and input [%s]", first, second);
            return;
        }
        known[w.a[0]] = (struct known){true, 1, {x->dims[0]}};
        return;
    case TVMR_OP_ADD:
    case TVMR_OP_SUB:
        if (!x->is || !y->is) return;
        if (!verify_program_broadcastable(x, y))
            INSN(TVMR_SHAPE, i, "%s of [%s] and [%s]", w.opcode == TVMR_OP_ADD ? "ADD" : "SUB",
                 first, second);
        known[w.a[0]] = *x;
        return;
    case TVMR_OP_RELU:
    case TVMR_OP_SIGMOID:
    case TVMR_OP_TANH:
    case TVMR_OP_GELU:
        if (x->is) known[w.a[0]] = *x;
        return;
    case TVMR_OP_MATMUL:
    case TVMR_OP_SQUEEZE:
    case TVMR_OP_UNSQUEEZE:
    case TVMR_OP_TRANSPOSE: check_matrices(p, known, i, &w); return;
    default: return;
    }
}

static void check_shapes(struct pass *p)
{
    const struct tvmr_module *m = p->m;
    struct known *known = calloc(256, sizeof *known);
    if (!known) no_memory(p);
    for (size_t i = 0; known && i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        if (r->ndims > RANK_MAX) continue;
        known[r->reg] = (struct known){.is = true, .rank = r->ndims};
        for (unsigned k = 0; k < r->ndims; k++) known[r->reg].dims[k] = tvmr_dim(r, k);
    }
    for (size_t i = 0; known && i < m->count && !long_work_over(p->f->work, 1); i++)
        check_shape(p, known, i);
    free(known);
}

void verify_program(struct pass *p)
{
    struct program *g = calloc(1, sizeof *g);
    if (!g) {
        no_memory(p);
        return;
    }
    g->p = p;
    for (unsigned k = 0; k < 4; k++) {
        memset(g->undeclared[k], 1 << k, TVMR_NULL);
        for (size_t i = 0; i < p->m->reg_count; i++) g->undeclared[k][p->m->regs[i].reg] = 0;
    }
    *usual_word_at(g, 0) =
        UINT64_MAX; /* The value 0 marks empty entries, and the instruction 0 must not match
                     * them. */
    check_insns(g);
    check_end(g);
    check_requirements(g);
    check_keys(p);
    if (p->m->shapes) check_shapes(p);
    free(g);
}

/* Prints functions in SSA form as text, which parse.c reads. It relies on the tables of form.c for
 * the names of operations, comparisons and types. */
#include "ssa/ssa.h"

/* One line is one instruction:
 *
 *     b1: b0, b2                                  a block and its predecessors
 *         v5 = phi (v1, v9)
 *         v6 = load.u8 [v2 + v5*4 + 8]
 *         limit v5 #64 exit 0 17 {3: v5}          kind, position, state by key
 *         branch.lt.w v5, v6 -> b1, b3
 *
 * The name of an operation is followed by the comparison, by `w` if it works on 32 bits, and by the
 * type of the memory or of a float. */

static void print_address(const struct ssa_insn *in, struct writer *out)
{
    writer_text(out, " [");
    if (in->arg[0]) writer_print(out, "v%u", in->arg[0]);
    if (in->arg[1])
        writer_print(out, "%sv%u*%u", in->arg[0] ? " + " : "", in->arg[1], 1u << in->scale);
    bool any = in->arg[0] || in->arg[1];
    if (in->imm < 0)
        writer_print(out, "%s%lld", any ? " - " : "-", -(long long)in->imm);
    else if (in->imm || !any)
        writer_print(out, "%s%lld", any ? " + " : "", (long long)in->imm);
    writer_char(out, ']');
}

static void print_list(const struct ssa_function *f, const struct ssa_insn *in, struct writer *out)
{
    writer_text(out, " (");
    for (uint32_t i = 0; i < in->count; i++)
        writer_print(out, "%s%c%u", i ? ", " : "", in->op == SSA_SWITCH ? 'b' : 'v',
                     f->pool[in->list + i]);
    writer_char(out, ')');
}

static void print_exit(const struct ssa_function *f, const struct ssa_insn *in, struct writer *out)
{
    const struct ssa_exit *e = &f->exits[in->exit - 1];
    writer_print(out, " exit %u %u {", e->kind, e->position);
    for (uint32_t i = 0; i < e->count; i++)
        writer_print(out, "%s%u: v%u", i ? ", " : "", f->states[e->first + i].key,
                     f->states[e->first + i].value);
    writer_char(out, '}');
}

static void print_insn(const struct ssa_function *f, uint32_t value, struct writer *out)
{
    const struct ssa_insn *in = &f->insns[value];
    bool address = ssa_has(in->op, 'a');
    writer_text(out, "    ");
    if (in->type != SSA_VOID) writer_print(out, "v%u = ", value);
    writer_text(out, ssa_ops[in->op].text);
    if (ssa_has(in->op, 'k')) writer_print(out, ".%s", ssa_cond_names[in->cond]);
    if (in->narrow) writer_text(out, ".w");
    if (address && in->op != SSA_ADDRESS) writer_print(out, ".%s", ssa_mem_names[in->mem]);
    if (in->op == SSA_WINDOW && in->cond) writer_text(out, ".write");
    if (in->op == SSA_FOREIGN) writer_print(out, ".%s", ssa_mem_names[in->mem]);
    if (in->op == SSA_FOREIGN && in->cond) writer_text(out, ".more");
    if (in->op == SSA_SYMBOL && in->cond) writer_text(out, ".far");
    bool lanes = in->op == SSA_LANE1 || in->op == SSA_LANE2;
    if (lanes) writer_print(out, ".%s", x64_vectors[in->imm & 255].text);
    if (in->type >= SSA_F32 && in->op != SSA_LOAD)
        writer_print(out, ".%s", ssa_type_names[in->type]);
    if (address) print_address(in, out);
    for (unsigned i = address ? 2 : 0; i < ssa_ops[in->op].args; i++)
        if (in->arg[i] && in->op != SSA_RESULT)
            writer_print(out, "%sv%u", i ? ", " : " ", in->arg[i]);
    if (ssa_has(in->op, 'n')) writer_print(out, " #%lld", (long long)in->imm);
    if (in->op == SSA_WINDOW) writer_print(out, " #%u", in->list);
    if (lanes && in->imm >> 8) writer_print(out, " #%lld", (long long)in->imm >> 8);
    if (ssa_has(in->op, 'l')) print_list(f, in, out);
    const struct ssa_block *b = &f->blocks[in->block];
    if (in->op == SSA_JUMP) writer_print(out, " -> b%u", b->to[0]);
    if (in->op == SSA_BRANCH || in->op == SSA_FBRANCH)
        writer_print(out, " -> b%u, b%u", b->to[0], b->to[1]);
    if (in->exit) print_exit(f, in, out);
    writer_char(out, '\n');
}

void ssa_print(const struct ssa_function *f, struct writer *out)
{
    for (uint32_t b = 0; b < f->block_count; b++) {
        if (!f->blocks[b].last) continue;
        writer_print(out, "b%u:", b);
        for (uint32_t i = 0; i < f->blocks[b].pred_count; i++)
            writer_print(out, "%s b%u", i ? "," : "", f->blocks[b].preds[i]);
        writer_char(out, '\n');
        for (uint32_t i = f->blocks[b].first; i; i = f->insns[i].next) print_insn(f, i, out);
    }
}

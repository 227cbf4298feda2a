/* Checks the rules of a program (CVBC 12): operands in range, and the depth of the stack at each
 * instruction.
 *
 *  Depths are counted for each function: from 0 at the entry of the program, and from 1, for the
 * return index, at the entry of a function. A call does not change the depth. The program is
 * proved if all depths are known, every RET has its own return index on top, and no instruction
 * overwrites a return index. The machine then needs no stack checks. */
#include <stdio.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "cvbc/format/hardware/board.h"
#include "cvbc/format/hardware/hardware.h"

struct function {
    uint32_t entry;
    int32_t deepest;       /* most words of its own, including the return index */
    int32_t reads, writes; /* number of words of the caller that it reads or changes */
    int32_t absolute;      /* 1 + the deepest stack at which it is called; -1 while unknown */
    uint8_t state;         /* state of the search for cycles */
};

struct analysis {
    const struct cvbc_program *p;
    struct findings *f;
    uint64_t origin;
    bool decoded, proved;
    int32_t *depth;  /* per instruction: its depth, or -1 if it is not reached */
    uint32_t *owner; /* per instruction: the function that reached it */
    uint32_t *work;
    bool *is_target; /* per instruction: true if it is the target of a jump */
    struct function *functions;
    uint32_t *function_of; /* per entry: 1 + the index of its function */
    size_t function_count;
    bool warned_join, warned_frame;
};

static void verify_program_report(struct analysis *a, uint32_t code, size_t i, unsigned byte,
                                  const char *text, unsigned x, unsigned y)
{
    penta_error e = {.code = code,
                     .offset = a->origin + cvbc_bytecode_bytes + 4 * i + byte,
                     .decoded = a->decoded};
    const penta_rule *rule = rule_find(cvbc_rules, code);
    e.severity = rule->severity;
    char format[120];
    snprintf(format, sizeof format, "instruction %zu: %s", i, text);
    snprintf(e.message, sizeof e.message, format, x, y);
    findings_pass(a->f, &e);
}

static void check_operand(struct analysis *a, size_t i, struct cvbc_inst in)
{
    const struct cvbc_program *p = a->p;
    unsigned imm = in.immediate, variables = p->head.local_variable_count;
    switch (cvbc_ops[in.opcode].operand) {
    case CVBC_OPERAND_NONE:
        if (imm)
            verify_program_report(a, CVBC_UNUSED_IMMEDIATE, i, 2, "immediate %u is not used", imm,
                                  0);
        break;
    case CVBC_OPERAND_TARGET:
        if (imm >= p->count)
            verify_program_report(a, CVBC_JUMP_TARGET, i, 2, "target %u, of %u instructions", imm,
                                  (unsigned)p->count);
        break;
    case CVBC_OPERAND_GLOBAL:
        if (imm >= CVBC_GLOBALS || (variables && imm >= variables))
            verify_program_report(a, CVBC_GLOBAL_RANGE, i, 2, "variable slot %u, of %u", imm,
                                  variables ? variables : CVBC_GLOBALS);
        break;
    case CVBC_OPERAND_ARRAY:
        if (imm >= CVBC_ARRAYS)
            verify_program_report(a, CVBC_ARRAY_RANGE, i, 2, "array %u, of %u", imm, CVBC_ARRAYS);
        break;
    case CVBC_OPERAND_STRING:
        if (imm >= p->string_count)
            verify_program_report(a, CVBC_STRING_RANGE, i, 2, "string %u, of %u", imm,
                                  (unsigned)p->string_count);
        break;
    default: break;
    }
}

static void check_instructions(struct analysis *a, struct cvbc_flow *flow)
{
    for (size_t i = 0; i < a->p->count; i++) {
        struct cvbc_inst in = cvbc_inst_at(a->p, i);
        const struct cvbc_op_info *op = &cvbc_ops[in.opcode];
        if (!cvbc_op_known(a->p, in.opcode)) {
            verify_program_report(a, CVBC_UNKNOWN_OPCODE, i, 0,
                                  op->mnemonic ? "opcode 0x%02x, which needs minor version %u"
                                               : "opcode 0x%02x",
                                  in.opcode, op->minor);
            continue;
        }
        if (in.flags & ~op->flags || in.flags == (CVBC_S | CVBC_W))
            verify_program_report(a, CVBC_UNKNOWN_FLAGS, i, 1, "flags 0x%02x", in.flags, 0);
        check_operand(a, i, in);
        if (op->operand == CVBC_OPERAND_TARGET && in.immediate < a->p->count)
            a->is_target[in.immediate] = true;
        if (op->operand == CVBC_OPERAND_GLOBAL && in.immediate < CVBC_GLOBALS &&
            in.immediate >= flow->globals)
            flow->globals = in.immediate + 1u;
    }
}

static struct function *function_at(struct analysis *a, uint32_t entry)
{
    if (!a->function_of[entry]) {
        a->functions[a->function_count] = (struct function){.entry = entry, .absolute = -1};
        a->function_of[entry] = (uint32_t)++a->function_count;
    }
    return &a->functions[a->function_of[entry] - 1];
}

/* Records that execution may continue at `to` with this depth. */
static void verify_program_reach(struct analysis *a, size_t *work, uint32_t to, int32_t depth,
                                 uint32_t owner)
{
    if (to >= a->p->count) return;
    if (a->depth[to] < 0) {
        a->depth[to] = depth;
        a->owner[to] = owner;
        a->work[(*work)++] = to;
    } else if (a->depth[to] != depth || a->owner[to] != owner) {
        a->proved = false;
        if (a->owner[to] != owner)
            return; /* Code that several functions share counts only for the first one. */
        if (!a->warned_join)
            verify_program_report(a, CVBC_STACK_JOIN, to, 0, "the stack holds %u or %u words here",
                                  (unsigned)a->depth[to], (unsigned)depth);
        a->warned_join = true;
    }
}

/* Returns how many words a PRINTF pops (CVBC 12.2): the number that the PUSH before it gives.
 * Without such a PUSH, or if a jump leads between the two, the number is unknown. */
static int32_t printf_pops(const struct analysis *a, size_t i)
{
    if (!i) return -1;
    struct cvbc_inst before = cvbc_inst_at(a->p, i - 1);
    bool known = !a->is_target[i] && before.opcode == CVBC_OP_PUSH && !before.flags &&
                 before.immediate <= 8 && a->depth[i - 1] >= 0 &&
                 a->depth[i - 1] + 1 == a->depth[i];
    return known ? 1 + before.immediate : -1;
}

static bool verify_program_ends(uint8_t opcode)
{
    return opcode == CVBC_OP_HALT || opcode == CVBC_OP_RET || opcode == CVBC_OP_JMP;
}

static void verify_program_locals(struct analysis *a, struct function *fn, size_t i,
                                  struct cvbc_inst in, int32_t depth)
{
    /* `depth` is the number of words in the frame. The operand counts words from the top of the
     * frame down; the lowest word is the return index. */
    bool main = fn == a->functions, store = in.opcode == CVBC_OP_STORE_LOCAL;
    /* This number is above 0 for a word in the frame of the caller. */
    int32_t below = (int32_t)in.immediate - depth + 1;
    if (below > 0 && main) {
        verify_program_report(a, CVBC_STACK_UNDERFLOW, i, 2, "depth %u, the stack holds %u words",
                              in.immediate, (unsigned)(depth < 0 ? 0 : depth));
        a->proved = false;
    } else if (!main && store && below == 0) {
        a->proved = false; /* The instruction writes the return index itself. */
    } else if (store ? below > fn->writes : below > fn->reads) {
        *(store ? &fn->writes : &fn->reads) = below;
    }
}

static void verify_program_step(struct analysis *a, size_t *work, uint32_t i)
{
    struct cvbc_inst in = cvbc_inst_at(a->p, i);
    const struct cvbc_op_info *op = &cvbc_ops[in.opcode];
    struct function *fn = &a->functions[a->owner[i]];
    bool main = a->owner[i] == 0;
    int32_t depth = a->depth[i], pops = op->pops, pushes = op->pushes;
    if (!cvbc_op_known(a->p, in.opcode)) {
        a->proved = false;
        return;
    }
    if (in.opcode == CVBC_OP_PUSH && in.flags & CVBC_W) pops = 1;
    if (in.opcode == CVBC_OP_PRINTF) {
        pops = printf_pops(a, i);
        if (pops < 0) {
            a->proved = false;
            return; /* After this nothing is known for certain. */
        }
    }
    if (in.opcode == CVBC_OP_RET) {
        if (main ? depth > 0 : depth != 1) a->proved = false;
        if (!main && depth != 1 && !a->warned_frame) {
            verify_program_report(
                a, CVBC_FRAME, i, 0,
                "returns with %u words on its stack, the return index is the first",
                (unsigned)(depth < 0 ? 0 : depth), 0);
            a->warned_frame = true;
        }
        return;
    }
    if (depth < pops || (!main && depth - pops < 1)) {
        a->proved = false;
        if (depth < pops && main) {
            verify_program_report(a, CVBC_STACK_UNDERFLOW, i, 0,
                                  "takes %u words, the stack holds %u", (unsigned)pops,
                                  (unsigned)depth);
            return;
        }
        if (!main && !a->warned_frame)
            verify_program_report(a, CVBC_FRAME, i, 0, "takes %u words of a frame of %u",
                                  (unsigned)pops, (unsigned)(depth < 0 ? 0 : depth));
        a->warned_frame |= !main;
        if (depth < pops) return;
    }
    if (in.opcode == CVBC_OP_LOAD_LOCAL) verify_program_locals(a, fn, i, in, depth);
    if (in.opcode == CVBC_OP_STORE_LOCAL) verify_program_locals(a, fn, i, in, depth - 1);
    int32_t after = depth - pops + pushes;
    if (after > fn->deepest) fn->deepest = after;
    if (main && after > CVBC_STACK_MAX) {
        verify_program_report(a, CVBC_STACK_OVERFLOW, i, 0, "%u words on the stack, at most %u",
                              (unsigned)after, CVBC_STACK_MAX);
        a->proved = false;
        return;
    }
    if (op->operand == CVBC_OPERAND_TARGET && in.immediate >= a->p->count) {
        a->proved = false;
        if (in.opcode != CVBC_OP_JMP_TRUE && in.opcode != CVBC_OP_JMP_FALSE) return;
    } else if (in.opcode == CVBC_OP_CALL) {
        struct function *callee = function_at(a, in.immediate);
        verify_program_reach(a, work, in.immediate, 1, (uint32_t)(callee - a->functions));
        after = depth;
    } else if (op->operand == CVBC_OPERAND_TARGET) {
        verify_program_reach(a, work, in.immediate, after, a->owner[i]);
    }
    if (verify_program_ends(in.opcode)) return;
    if (i + 1 == a->p->count)
        verify_program_report(a, CVBC_FALLS_OFF, i, 0, "the program ends here without a HALT", 0,
                              0);
    verify_program_reach(a, work, i + 1, after, a->owner[i]);
}

/* The functions below follow calls. */

/* Finds the longest paths through the call graph by repeated passes. Without recursion, a chain
 * of calls is at most as long as the number of functions. */
static bool settle_calls(struct analysis *a)
{
    enum { PASSES = 64 }; /* Programs with longer chains keep the checks at run time. */
    a->functions[0].absolute = 0;
    bool changed = true;
    for (int pass = 0; changed; pass++) {
        if (pass > PASSES) return false;
        changed = false;
        for (uint32_t i = 0; i < a->p->count; i++) {
            struct cvbc_inst in = cvbc_inst_at(a->p, i);
            if (in.opcode != CVBC_OP_CALL || a->depth[i] < 0 || in.immediate >= a->p->count)
                continue;
            const struct function *caller = &a->functions[a->owner[i]];
            struct function *callee = &a->functions[a->function_of[in.immediate] - 1];
            if (caller->absolute < 0) continue;
            /* This is the number of words below the return index. */
            int32_t at = caller->absolute + a->depth[i];
            /* The search through recursive calls ends here, too. */
            if (at > CVBC_STACK_MAX) return false;
            if (at > callee->absolute) {
                callee->absolute = at;
                changed = true;
            }
            /* The words that the called function reads or changes must belong to the caller and
             * be above the caller's return index. */
            int32_t own = a->depth[i] - (caller == a->functions ? 0 : 1);
            if (callee->reads > own || callee->writes > own) return false;
        }
    }
    return true;
}

static void verify_program_settle(struct analysis *a, struct cvbc_flow *flow)
{
    if (!settle_calls(a)) {
        a->proved = false;
        return;
    }
    for (size_t i = 0; i < a->function_count; i++) {
        int64_t deepest = (int64_t)a->functions[i].absolute + a->functions[i].deepest;
        if (a->functions[i].absolute >= 0 && deepest > flow->stack) flow->stack = (uint32_t)deepest;
    }
    if (flow->stack > CVBC_STACK_MAX) a->proved = false;
}

static void verify_program_follow(struct analysis *a, struct cvbc_flow *flow)
{
    size_t count = a->p->count, work = 0;
    for (size_t i = 0; i < count; i++) a->depth[i] = -1;
    uint32_t entry = a->p->head.entry_point_offset;
    a->functions[0] = (struct function){.entry = entry, .absolute = -1};
    /* The first function is the program itself; a CALL of its entry makes another function. */
    a->function_count = 1;
    verify_program_reach(a, &work, entry, 0, 0);
    while (work) verify_program_step(a, &work, a->work[--work]);
    for (size_t i = 0; i < a->function_count; i++)
        if (i && a->functions[i].deepest < 1) a->functions[i].deepest = 1;
    verify_program_settle(a, flow);
}

/* Analyses a program. Depths and owners are stored if the caller wants them. */
static bool verify_program_analyse(const struct cvbc_program *p, struct findings *f,
                                   uint64_t origin, bool decoded, struct cvbc_flow *flow,
                                   int32_t **depths, uint32_t **owners)
{
    *flow = (struct cvbc_flow){0};
    size_t count = p->count;
    struct analysis a = {.p = p, .f = f, .origin = origin, .decoded = decoded, .proved = true};
    a.depth = calloc(count, sizeof *a.depth);
    a.owner = calloc(count, sizeof *a.owner);
    a.work = calloc(count, sizeof *a.work);
    a.is_target = calloc(count, sizeof *a.is_target);
    a.functions = calloc(count + 1, sizeof *a.functions);
    a.function_of = calloc(count, sizeof *a.function_of);
    bool ok = a.depth && a.owner && a.work && a.is_target && a.functions && a.function_of;
    if (ok) {
        a.is_target[p->head.entry_point_offset] = true;
        check_instructions(&a, flow);
        verify_program_follow(&a, flow);
        flow->proved = a.proved;
    }
    if (ok && depths) {
        *depths = a.depth;
        *owners = a.owner;
        a.depth = NULL;
        a.owner = NULL;
    }
    free(a.depth);
    free(a.owner);
    free(a.work);
    free(a.is_target);
    free(a.functions);
    free(a.function_of);
    return ok;
}

bool cvbc_verify_program(const struct cvbc_program *p, struct findings *f, uint64_t origin,
                         bool decoded, struct cvbc_flow *flow)
{
    return verify_program_analyse(p, f, origin, decoded, flow, NULL, NULL);
}

bool cvbc_stack_depths(const struct cvbc_program *p, int32_t **depths, uint32_t **functions)
{
    struct cvbc_flow flow;
    struct findings ignored = {.rules = cvbc_rules};
    return verify_program_analyse(p, &ignored, 0, false, &flow, depths, functions);
}

/* The function below is the driver's check of container, protection and program. */

void cvbc_verify(const penta_module *module, struct findings *f)
{
    const struct cvbc_module *m = cvbc_module(module);
    size_t before = f->errors;
    cvbc_check_full(m, f);
    if (f->errors > before) return;
    const struct cvbc_opened *o = cvbc_open(m);
    if (o->failure.code) {
        findings_pass(f, &o->failure);
        return;
    }
    if (o->trust == CVBC_TRUST_EMBEDDED)
        findings_add(f, CVBC_UNTRUSTED_KEY, cvbc_offset(m, m->public_key.data), NULL,
                     "the signature is good, but the key comes with the file");
    struct cvbc_flow flow;
    uint64_t origin = cvbc_plain(m) ? cvbc_offset(m, m->stored.data) : 0;
    penta_error err = {0};
    if (!cvbc_verify_program(&o->program, f, origin, !cvbc_plain(m), &flow)) {
        error_at(&err, BASE_MEMORY, 0, "no memory to follow the program");
        findings_pass(f, &err);
    }
    if (!cvbc_declarations_check(m, f) && !(f->work && f->work->ended)) {
        error_at(&err, BASE_MEMORY, 0, "no memory to follow the program");
        findings_pass(f, &err);
    }
    cvbc_programs_verify(m, f);
    if (m->policy.board) cvbc_programs_fit(m, m->policy.board, f);
}

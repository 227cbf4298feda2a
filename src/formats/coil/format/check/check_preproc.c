/* Executes the preprocessor's instructions (COIL 7.12) while the code is checked: definitions,
 * conditions, the target. It also decides which instructions the conditions remove. */
#include "coil/format/check/check_state.h"
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "coil/format/target.h"

static struct coil_value *find_value(const struct coil_check *c, uint64_t id, bool text)
{
    size_t i = coil_scopes_first(&c->value_index, coil_hash_id(id));
    while (i != COIL_SCOPES_END && (c->values[i].id != id || c->values[i].text != text))
        i = coil_scopes_next(&c->value_index, i);
    return i != COIL_SCOPES_END ? &c->values[i] : NULL;
}

bool coil_check_definition(const struct coil_check *c, const struct coil_operand *o, uint64_t *bits)
{
    const struct coil_value *v = find_value(c, o->value, false);
    if (!v || !v->live || !v->has_value || !coil_is_scalar(o->op)) return false;
    *bits = coil_convert_bits(v->bits, v->op, o->op, false);
    return true;
}

static void check_preproc_define(struct coil_check *c, const struct coil_insn *insn)
{
    const struct coil_operand *name = &insn->operands[0],
                              *value = insn->count > 1 ? &insn->operands[1] : NULL;
    bool text = name->form == COIL_STRING;
    if (!text && name->form != COIL_DEFID) {
        REPORT(c, COIL_OPERAND_KIND, name->at, "PPDEF defines a DEFID or a STRING");
        return;
    }
    struct coil_value *v = find_value(c, name->value, text);
    if (!v) {
        if (!ARRAY_RESERVE(c->values, c->value_capacity, c->value_count + 1) ||
            !coil_scopes_push(&c->value_index, coil_hash_id(name->value))) {
            coil_check_no_memory(c, name->at);
            return;
        }
        v = &c->values[c->value_count++];
    }
    *v = (struct coil_value){.id = name->value, .text = text, .live = true};
    if (value && value->form == COIL_IMM && coil_is_scalar(value->op)) {
        v->has_value = true;
        v->op = value->op;
        v->bits = value->value;
    }
}

/* Executes PPTARG unit [, architecture [, mode]]. */
static void take_target(struct coil_check *c, const struct coil_insn *insn)
{
    static const char *const parts[] = {"unit", "architecture", "mode"};
    struct coil_header target = c->target;
    bool sets = false;
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_operand *o = &insn->operands[i];
        struct coil_header before = target;
        if (o->form != COIL_PARAM || o->op != COIL_T_PARAM0 - i) {
            REPORT(c, COIL_OPERAND_KIND, o->at, "the %s of PPTARG is a PARAM%u", parts[i], i);
            return;
        }
        if (!coil_target_meet(&target, i, (uint32_t)o->value)) {
            REPORT(c, COIL_TARGET_DIFFERS, o->at, "%s 0x%x, the target's is 0x%x", parts[i],
                   (unsigned)o->value,
                   (unsigned)(i == 0   ? target.target_pu
                              : i == 1 ? target.target_arch
                                       : target.target_mode));
            return;
        }
        sets |= memcmp(&before, &target, sizeof target) != 0;
    }
    if (!coil_target_exists(&target)) {
        REPORT(c, COIL_TARGET_DIFFERS, insn->at,
               "there is no unit %u with architecture %u, mode 0x%x", (unsigned)target.target_pu,
               (unsigned)target.target_arch, (unsigned)target.target_mode);
        return;
    }
    if (sets) c->target_at = c->origin + insn->at;
    c->target = target;
}

static bool compute_condition(struct coil_check *c, const struct coil_insn *insn)
{
    enum {
        CAPABILITIES = 0x117,
        FEATURES = 0
    }; /* These are atomics, vectors, matrices, floats and protection. */
    const struct coil_operand *kind = &insn->operands[0], *value = &insn->operands[1];
    const struct coil_header *h = c->m ? &c->target : NULL;
    const struct coil_value *v = find_value(c, value->value, value->form == COIL_STRING);
    switch (kind->op == COIL_T_PARAM0 ? kind->value : 255) {
    case 0: return v && v->live;
    case 1: return !v || !v->live;
    case 8: return (value->value & CAPABILITIES) == value->value;
    case 9: return (value->value & FEATURES) == value->value;
    case 10: return h && h->target_pu == value->value;
    case 11: return h && h->target_arch == value->value;
    case 12: return h && h->target_mode == value->value;
    default:
        REPORT(c, COIL_OPERAND_KIND, kind->at, "PPCOND has no kind %u", (unsigned)kind->value);
        return false;
    }
}

static bool if_operand(struct coil_check *c, const struct coil_operand *o)
{
    uint64_t bits = 0;
    if (o->op == COIL_T_VOID) return c->last_condition;
    if (o->form == COIL_IMM && coil_is_int(o->op)) return o->value != 0;
    if (o->form == COIL_DEF || o->form == COIL_DEFID) {
        const struct coil_value *v = find_value(c, o->value, false);
        if (v && v->live) return !v->has_value || v->bits != 0;
        if (o->form == COIL_DEF && !coil_check_definition(c, o, &bits))
            REPORT(c, COIL_DEF_UNDEFINED, o->at, "definition %llu has no value",
                   (unsigned long long)o->value);
        return false;
    }
    REPORT(c, COIL_OPERAND_KIND, o->at, "PPIF takes a BIT, an integer, a definition or VOID");
    return false;
}

static bool cut_out(const struct coil_check *c)
{
    for (unsigned i = 0; i < c->nesting; i++)
        if (!c->conditions[i]) return true;
    return false;
}

bool coil_check_preprocess(struct coil_check *c, const struct coil_insn *insn)
{
    bool ours = coil_ops[insn->opcode].group == COIL_G_PREPROC &&
                !(c->m && c->m->abi && coil_unit_op(COIL_UNIT_ABI, insn->opcode));
    bool cut = cut_out(c);
    unsigned least, most;
    if (!ours) return cut;
    coil_op_counts(insn->opcode, &least, &most);
    if (insn->count < least || insn->count > most) {
        REPORT(c, COIL_OPERAND_COUNT, insn->at, "%s with %u operands", coil_ops[insn->opcode].name,
               insn->count);
        return true;
    }
    switch (insn->opcode) {
    case COIL_OP_PPIF:
        if (c->nesting == 64) {
            REPORT(c, COIL_PP_BALANCE, insn->at, "more than 64 levels of PPIF");
            return true;
        }
        c->conditions[c->nesting] = !cut && if_operand(c, &insn->operands[0]);
        c->taken[c->nesting++] = false;
        return true;
    case COIL_OP_PPELSE:
        if (!c->nesting || c->taken[c->nesting - 1])
            REPORT(c, COIL_PP_BALANCE, insn->at, "PPELSE without PPIF");
        else {
            c->conditions[c->nesting - 1] ^= true;
            c->taken[c->nesting - 1] = true;
        }
        return true;
    case COIL_OP_PPENDIF:
        if (!c->nesting)
            REPORT(c, COIL_PP_BALANCE, insn->at, "PPENDIF without PPIF");
        else
            c->nesting--;
        return true;
    default: break;
    }
    if (cut) return true;
    switch (insn->opcode) {
    case COIL_OP_PPDEF: check_preproc_define(c, insn); break;
    case COIL_OP_PPUNDEF: {
        struct coil_value *v =
            find_value(c, insn->operands[0].value, insn->operands[0].form == COIL_STRING);
        if (v) v->live = false;
        break;
    }
    case COIL_OP_PPCOND: c->last_condition = compute_condition(c, insn); break;
    case COIL_OP_PPTARG: take_target(c, insn); break;
    default:
        REPORT(c, COIL_UNSUPPORTED, insn->at, "%s has no meaning in this version",
               coil_ops[insn->opcode].name);
    }
    return true;
}

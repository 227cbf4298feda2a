/* Checks one instruction after the other (check.h): the number of operands, then what the
 * instruction changes (scopes, variables, type ids), then the rules in the other files of this
 * folder. The verifier and the loader of the machine call it. */
#include "coil/format/check/check_state.h"
#include <stdlib.h>
#include "base/array.h"
#include "coil/format/target.h"

void coil_check_init(struct coil_check *c, const struct coil_module *m, struct findings *f)
{
    *c = (struct coil_check){.m = m, .findings = f};
    if (m) c->target = m->header;
}

void coil_check_fini(struct coil_check *c)
{
    coil_type_ids_free(&c->ids);
    arena_free(&c->arena);
    free(c->variables);
    free(c->values);
    coil_scopes_free(&c->scopes);
    coil_scopes_free(&c->value_index);
    *c = (struct coil_check){0};
}

void coil_check_function(struct coil_check *c)
{
    c->variable_count = 0;
    coil_scopes_clear(&c->scopes);
    c->depth = 0;
    c->serials = 0;
    c->after_call = false;
    arena_free(&c->arena);
}

void coil_check_function_end(struct coil_check *c, uint64_t at)
{
    if (c->depth)
        REPORT(c, COIL_SCOPE_OPEN, at, "%u scope%s still open at the end of the function", c->depth,
               c->depth > 1 ? "s" : "");
    c->depth = 0;
}

void coil_check_section_end(struct coil_check *c, uint64_t at)
{
    if (c->nesting) REPORT(c, COIL_PP_BALANCE, at, "PPIF without PPENDIF");
    c->nesting = 0;
}

const struct coil_variable *coil_check_variable(const struct coil_check *c, uint64_t id)
{
    size_t i = coil_scopes_first(&c->scopes, coil_hash_id(id));
    while (i != COIL_SCOPES_END && c->variables[i].id != id) i = coil_scopes_next(&c->scopes, i);
    return i != COIL_SCOPES_END ? &c->variables[i] : NULL;
}

static void check_declare(struct coil_check *c, const struct coil_insn *insn)
{
    penta_error err = {0};
    const struct coil_operand *id = &insn->operands[0], *type = &insn->operands[1];
    if (insn->count < 2 || id->form != COIL_VARID || type->form != COIL_TYPE_ONLY || !type->type)
        return;
    const struct coil_variable *known = coil_check_variable(c, id->value);
    if (known && known->depth == c->depth)
        REPORT(c, COIL_VAR_DUP, id->at, "variable %llu is declared already in this scope",
               (unsigned long long)id->value);
    const struct coil_type *closed = coil_type_close(&c->ids, type->type, &c->arena, &err);
    if (!closed) {
        if (err.code == BASE_MEMORY) coil_check_no_memory(c, id->at);
        return;
    }
    if (!ARRAY_RESERVE(c->variables, c->variable_capacity, c->variable_count + 1) ||
        !coil_scopes_push(&c->scopes, coil_hash_id(id->value))) {
        coil_check_no_memory(c, id->at);
        return;
    }
    c->variables[c->variable_count++] =
        (struct coil_variable){id->value, closed, type->ext, c->depth, c->serials++};
}

static void define_type(struct coil_check *c, const struct coil_insn *insn)
{
    penta_error err = {0};
    const struct coil_operand *o = insn->operands;
    struct coil_type t = {.op = insn->opcode == COIL_OP_UNIDEF ? COIL_T_UNION : COIL_T_STRUCT};
    struct coil_member members[COIL_OPERANDS_MAX];
    bool made = insn->opcode == COIL_OP_STRDEF || insn->opcode == COIL_OP_UNIDEF;
    for (unsigned i = 1; i < insn->count; i++) {
        if (!o[i].type || o[i].form != COIL_TYPE_ONLY) return;
        members[i - 1] = (struct coil_member){(uint16_t)i, 0, o[i].type};
    }
    t.members = members;
    t.member_count = insn->count - 1u;
    if (!made || coil_type_finish(&t, insn->at, &err))
        coil_type_bind(&c->ids, o[0].value, made ? &t : o[1].type, &err);
    if (err.code == BASE_MEMORY) coil_check_no_memory(c, insn->at);
}

static void check_track(struct coil_check *c, const struct coil_insn *insn)
{
    switch (insn->opcode) {
    case COIL_OP_SCOPE: c->depth++; break;
    case COIL_OP_SCOPL:
        if (!c->depth) {
            REPORT(c, COIL_SCOPE_UNDERFLOW, insn->at, "SCOPL without SCOPE");
            break;
        }
        c->depth--;
        for (; c->variable_count && c->variables[c->variable_count - 1].depth > c->depth;
             c->variable_count--)
            coil_scopes_pop(&c->scopes);
        break;
    case COIL_OP_VAR: check_declare(c, insn); break;
    case COIL_OP_TYPE:
    case COIL_OP_TYPEAL:
    case COIL_OP_STRDEF:
    case COIL_OP_UNIDEF:
        if (insn->count >= 2) define_type(c, insn);
        break;
    case COIL_OP_DTYPE:
        if (insn->count) coil_type_unbind(&c->ids, insn->operands[0].value);
        break;
    default: break;
    }
}

bool coil_check_runs(const struct coil_check *c, penta_error *err)
{
    penta_error why = {0};
    if (coil_target_runs(&c->target, &why)) return true;
    if (c->target_at) why.offset = c->target_at;
    *err = why;
    return false;
}

static void check_counts(struct coil_check *c, const struct coil_insn *insn)
{
    unsigned unit = c->m ? c->target.target_pu : COIL_UNIT_CPU, least, most;
    uint8_t op = insn->opcode;
    const struct coil_unit_op *special = NULL;
    if (op == COIL_OP_VENDOR) return;
    if (op >= 0xA0 && op <= 0xDF) {
        special = coil_unit_op(unit, op);
        if (unit != COIL_UNIT_CPU) return;
    } else if (c->m && c->m->abi) {
        special = coil_unit_op(COIL_UNIT_ABI, op);
    }
    if (!special && !coil_ops[op].name) {
        REPORT(c, COIL_OPCODE, insn->at, "opcode 0x%02x is not assigned", op);
        return;
    }
    if (special)
        least = special->least, most = special->most;
    else
        coil_op_counts(op, &least, &most);
    if (insn->count < least || insn->count > most) {
        char wanted[32];
        coil_count_text(least, most, wanted, sizeof wanted);
        REPORT(c, COIL_OPERAND_COUNT, insn->at + 1, "%s takes %s, not %u",
               special ? special->name : coil_ops[op].name, wanted, insn->count);
    }
}

static bool check_conditional(const struct coil_insn *insn)
{
    return insn->count && insn->operands[0].form == COIL_PARAM &&
           (insn->opcode == COIL_OP_BR || insn->opcode == COIL_OP_RET ||
            insn->opcode == COIL_OP_CALL);
}

/* Reports types that no machine computes with, in a declaration or in an operand that contains
 * such a type itself. A use of a variable is not reported again. */
static void check_bare(struct coil_check *c, const struct coil_insn *insn,
                       const struct coil_operand *o, const struct coil_type *type)
{
    bool measured = insn->opcode == COIL_OP_SIZEOF || insn->opcode == COIL_OP_ALIGNOF ||
                    o->form == COIL_MEASURE;
    const struct coil_type *t = type ? type : o->type;
    if (measured || o->form == COIL_VAR || !t || !t->bare) return;
    REPORT(c, COIL_TYPE_UNSUPPORTED, o->at, "no machine computes with this %s",
           coil_types[t->op].name);
}

bool coil_check_insn(struct coil_check *c, const struct coil_insn *insn)
{
    struct seen s;
    c->errors = 0;
    c->first = 0;
    c->removed = coil_check_preprocess(c, insn);
    if (c->removed) return !c->errors;
    const char *form = coil_check_form(insn);
    if (!form || coil_ops[insn->opcode].group == COIL_G_PREPROC) {
        check_counts(c, insn);
        form = NULL;
    }
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_operand *o = &insn->operands[i];
        s.type[i] = coil_check_type(c, o, &s.qualifiers[i]);
        s.reg[i] = o->form == COIL_REGISTER;
        coil_check_operand(c, o, s.type[i]);
        check_bare(c, insn, o, s.type[i]);
        if (o->form == COIL_VAR && !c->m && coil_types[o->op].data == COIL_D_ELEM) s.type[i] = NULL;
    }
    if (form && !c->errors) {
        for (unsigned i = 0, k = 0; i < insn->count; i++) {
            if (form[k] == '*') k--;
            coil_check_class(c, insn, &insn->operands[i], &s, form[k++]);
        }
        if (!c->errors) coil_check_together(c, insn, &s, form);
    }
    if (c->m) check_track(c, insn);
    if (check_conditional(insn) && c->after_call)
        coil_check_warn(c, COIL_FLAGS_AFTER_CALL, insn->at, "the flags are unspecified after CALL");
    if (coil_ops[insn->opcode].flags && *coil_ops[insn->opcode].flags) c->after_call = false;
    if (insn->opcode == COIL_OP_CALL) c->after_call = true;
    return !c->errors;
}

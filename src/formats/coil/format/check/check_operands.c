/* Checks operands one by one: their types, the form that the instruction has, and the class of
 * each operand, which is a letter of isa.def. */
#include "coil/format/check/check_state.h"

const struct coil_type *coil_check_type(struct coil_check *c, const struct coil_operand *o,
                                        uint8_t *qualifiers)
{
    *qualifiers = o->form == COIL_PARAM ? 0 : o->ext & COIL_QUALIFIERS;
    if (o->form == COIL_IMM && coil_is_scalar(o->op)) return o->type;
    switch ((enum coil_form)o->form) {
    case COIL_ADDR:
    case COIL_MEASURE: return coil_scalar(COIL_T_UNT64);
    case COIL_TYPE_ONLY:
    case COIL_IMM:
    case COIL_DEF:
    case COIL_SYM:
    case COIL_MEM: break;
    case COIL_VAR: {
        const struct coil_variable *v = coil_check_variable(c, o->value);
        if (v) *qualifiers |= v->ext & COIL_QUALIFIERS;
        if (v && coil_types[o->op].data == COIL_D_ELEM) return v->type;
        break;
    }
    default: return NULL;
    }
    if (!o->type || o->type->op != COIL_T_ALIAS) {
        if (!o->type || !o->type->open) return o->type;
    }
    penta_error err = {0};
    return o->type->open ? coil_type_close(&c->ids, o->type, &c->arena, &err)
                         : coil_type_resolve(&c->ids, o->type);
}

static size_t form_length(const char *form)
{
    size_t n = 0;
    while (form[n] && form[n] != '|') n++;
    return n;
}

const char *coil_check_form(const struct coil_insn *insn)
{
    const char *forms = coil_ops[insn->opcode].forms, *found = NULL;
    if (!forms) return NULL;
    bool last_param = insn->count && insn->operands[insn->count - 1].form == COIL_PARAM;
    for (const char *f = forms;; f++) {
        size_t n = form_length(f);
        bool star = n && f[n - 1] == '*';
        if (star ? insn->count + 1u >= n : n == insn->count) {
            bool order = n && f[n - 1] == 'O';
            bool matrix_first =
                insn->count && coil_types[insn->operands[0].op].family == COIL_F_MATRIX;
            bool sets = f[0] == 'm';
            if (!found)
                found = f;
            else if (strchr(forms, 'O') ? order == last_param : sets == matrix_first)
                found = f;
        }
        f += n;
        if (!*f) return found;
    }
}

static bool writable_form(const struct coil_operand *o)
{
    return o->form == COIL_VAR || o->form == COIL_SYM || o->form == COIL_MEM ||
           o->form == COIL_REGISTER;
}

static bool readable_form(const struct coil_operand *o)
{
    return writable_form(o) || o->form == COIL_IMM || o->form == COIL_DEF || o->form == COIL_ADDR ||
           o->form == COIL_MEASURE;
}

static bool check_operands_writable(struct coil_check *c, const struct coil_operand *o,
                                    uint8_t qualifiers)
{
    if (!writable_form(o) || (o->form != COIL_REGISTER && qualifiers & COIL_CONST)) return false;
    if (o->form != COIL_SYM || !c->m || o->value >= c->m->symbol_count) return true;
    uint32_t section = c->m->symbols[o->value].section_idx;
    return !section || section > c->m->section_count ||
           c->m->sections[section - 1].flags & COIL_WRITE;
}

static bool order_allowed(uint8_t opcode, uint64_t order)
{
    bool loads = opcode == COIL_OP_ATOMLD || opcode == COIL_OP_ATOMWAIT;
    switch (order) {
    case COIL_ORDER_ACQUIRE: return opcode != COIL_OP_ATOMST;
    case COIL_ORDER_RELEASE: return !loads;
    case COIL_ORDER_ACQ_REL: return !loads && opcode != COIL_OP_ATOMST;
    default: return order < COIL_ORDERS;
    }
}

bool coil_check_class(struct coil_check *c, const struct coil_insn *insn,
                      const struct coil_operand *o, const struct seen *s, char letter)
{
    const char *name = coil_ops[insn->opcode].name;
    unsigned n = (unsigned)(o - insn->operands) + 1;
    uint8_t qualifiers = s->qualifiers[n - 1];
    const struct coil_type *t = s->type[n - 1];
    bool reg = o->form == COIL_REGISTER, kind = true, type = true;
    bool word =
        reg || o->form == COIL_ADDR || (t && (t->op == COIL_T_INT64 || t->op == COIL_T_UNT64));
    switch (letter) {
    case 'K':
        if (o->op != COIL_T_PARAM0) {
            REPORT(c, COIL_COND_OPERAND, o->at, "the condition of %s is not a PARAM0", name);
            return false;
        }
        if (o->value >= COIL_CONDITIONS)
            REPORT(c, COIL_COND_VALUE, o->at + 1, "condition 0x%02x, at most 0x%02x",
                   (unsigned)o->value, COIL_CONDITIONS - 1);
        return o->value < COIL_CONDITIONS;
    case 'O':
        if (o->op != COIL_T_PARAM0)
            kind = false;
        else if (!order_allowed(insn->opcode, o->value)) {
            REPORT(c, COIL_ORDER, o->at + 1, "memory order %u is not for %s", (unsigned)o->value,
                   name);
            return false;
        }
        break;
    case 'T':
        kind = o->form == COIL_TYPE_ONLY;
        type = !kind || o->op != COIL_T_VOID;
        break;
    case 'I': kind = o->form == COIL_VARID; break;
    case 'U':
    case 'N':
        kind = o->form == COIL_IMM;
        type = o->op == (letter == 'U' ? COIL_T_UNT64 : COIL_T_UNT16);
        break;
    case '#': return true;
    case 'E': kind = o->form == COIL_MEM || o->form == COIL_SYM || o->form == COIL_VAR; break;
    case 'L':
        kind = o->form == COIL_MEM || o->form == COIL_SYM || o->form == COIL_VAR;
        type = !t || coil_is_scalar(t->op);
        if (kind && insn->opcode != COIL_OP_ATOMLD && insn->opcode != COIL_OP_ATOMWAIT &&
            insn->opcode != COIL_OP_ATOMNOTIFY && !check_operands_writable(c, o, qualifiers)) {
            REPORT(c, COIL_NOT_WRITABLE, o->at, "operand %u of %s cannot be written", n, name);
            return false;
        }
        break;
    case 'G':
        kind = o->form == COIL_MEM || o->form == COIL_SYM || o->form == COIL_VAR; /* fall through */
    case 'g': type = !t || coil_types[t->op].family == COIL_F_AGGREGATE; break;
    case 'A':
    case 'C':
        kind = readable_form(o);
        type = word;
        break;
    case 'X':
    case 'S':
        kind = readable_form(o);
        type = reg || o->form == COIL_ADDR || !t || coil_is_int(t->op) ||
               (letter == 'X' && coil_ops[insn->opcode].group == COIL_G_BITS && int_lanes(t)) ||
               (letter == 'X' && coil_is_wide(t) &&
                (insn->opcode == COIL_OP_TEST || insn->opcode == COIL_OP_MULH));
        break;
    case 'V': kind = readable_form(o); /* fall through */
    case 'v': type = !reg && (!t || is_vector(t)); break;
    case 'Y': kind = readable_form(o); /* fall through */
    case 'y': type = !reg && (!t || is_array(t)); break;
    case 'M': kind = readable_form(o); /* fall through */
    case 'm': type = !reg && (!t || is_matrix(t)); break;
    /* These are the letters R, B and W. W is checked further below. */
    default: kind = readable_form(o);
    }
    if (letter == 'W' || letter == 'v' || letter == 'y' || letter == 'm' || letter == 'g') {
        if (!check_operands_writable(c, o, qualifiers)) {
            REPORT(c, COIL_NOT_WRITABLE, o->at, "operand %u of %s cannot be written", n, name);
            return false;
        }
        kind = true;
    }
    if (!kind)
        REPORT(c, COIL_OPERAND_KIND, o->at, "operand %u of %s has the wrong form", n, name);
    else if (!type)
        REPORT(c, COIL_OPERAND_TYPE, o->at, "operand %u of %s has the wrong type", n, name);
    return kind && type;
}

static bool variable_fits(const struct coil_variable *v, const struct coil_operand *o,
                          const struct coil_type *used)
{
    if (coil_types[o->op].data == COIL_D_ELEM) return v->type->op == o->op;
    if (!used) return false;
    if (coil_is_int(used->op) && coil_is_int(v->type->op)) return used->size == v->type->size;
    return coil_type_equal(used, v->type);
}

void coil_check_operand(struct coil_check *c, const struct coil_operand *o,
                        const struct coil_type *type)
{
    uint8_t qualifiers;
    uint64_t bits;
    switch ((enum coil_form)o->form) {
    case COIL_IMM:
        if (o->op == COIL_T_BIT && o->value > 1)
            REPORT(c, COIL_IMM_RANGE, o->at + 2, "a BIT cannot be %u", (unsigned)o->value);
        break;
    case COIL_REGISTER: {
        const struct coil_header *h = c->m ? &c->target : NULL;
        bool machine = h && h->target_arch && h->target_mode && h->target_mode < 0x80;
        if (o->value >= COIL_REGISTERS && !machine)
            REPORT(c, COIL_REG, o->at + 2, "register %u, of 16", (unsigned)o->value);
        if (o->ext & COIL_VALUE_BITS)
            coil_check_warn(c, COIL_EXT_ODD, o->at + 1, "REG usually has the extension byte 00");
        break;
    }
    case COIL_MEM:
        for (unsigned i = 0; i < o->parts_count; i++)
            coil_check_operand(c, &o->parts[i], coil_check_type(c, &o->parts[i], &qualifiers));
        if (o->parts_count > 2) {
            uint64_t scale = o->parts[2].value;
            if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
                coil_check_warn(c, COIL_SCALE, o->parts[2].at, "the scale is not 1, 2, 4 or 8");
        }
        break;
    default: break;
    }
    if (!c->m) return;
    if (o->type && o->type->open && !type && o->form != COIL_VAR)
        REPORT(c, COIL_TYPE_ID, o->at, "the type id is not bound");
    switch ((enum coil_form)o->form) {
    case COIL_SYM:
    case COIL_ADDR:
        if (!c->m->raw && o->value >= c->m->symbol_count)
            REPORT(c, COIL_SYM_INDEX, o->at + 2, "symbol %llu, of %zu",
                   (unsigned long long)o->value, c->m->symbol_count);
        if (o->form == COIL_ADDR && o->ext != COIL_SYMBOL)
            coil_check_warn(c, COIL_EXT_ODD, o->at + 1, "SYMBOL usually has the extension byte 80");
        break;
    case COIL_STRING:
        if (!c->m->raw && o->value >= c->m->strings.size)
            REPORT(c, COIL_STR_OFFSET, o->at + 2, "string offset %llu, of %zu bytes",
                   (unsigned long long)o->value, c->m->strings.size);
        if (o->ext)
            coil_check_warn(c, COIL_EXT_ODD, o->at + 1, "STRING usually has the extension byte 00");
        break;
    case COIL_DEFID:
        if (o->ext != COIL_DEFINITION)
            coil_check_warn(c, COIL_EXT_ODD, o->at + 1, "DEFID usually has the extension byte 20");
        break;
    case COIL_VARID:
        if (o->ext)
            coil_check_warn(c, COIL_EXT_ODD, o->at + 1, "VARID usually has the extension byte 00");
        break;
    case COIL_DEF:
        if (!coil_check_definition(c, o, &bits))
            REPORT(c, COIL_DEF_UNDEFINED, o->at, "definition %llu has no value",
                   (unsigned long long)o->value);
        break;
    case COIL_VAR: {
        const struct coil_variable *v = coil_check_variable(c, o->value);
        if (!v)
            REPORT(c, COIL_VAR_UNDECLARED, o->at, "variable %llu is not declared here",
                   (unsigned long long)o->value);
        else if (!variable_fits(v, o, type))
            REPORT(c, COIL_VAR_TYPE, o->at, "variable %llu is a %s, used as %s",
                   (unsigned long long)o->value, coil_types[v->type->op].name,
                   coil_types[o->op].name);
        break;
    }
    default: break;
    }
}

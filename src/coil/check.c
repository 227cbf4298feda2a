#include "coil/check.h"
#include "coil/ops.h"
#include <stdlib.h>

void coil_check_init(struct coil_check *c, const struct coil_module *m, struct findings *f)
{
    *c = (struct coil_check){.m = m, .findings = f};
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

#define REPORT(c, code, at, ...)                                                                   \
    do {                                                                                           \
        if (!(c)->errors++) (c)->first = code;                                                     \
        if ((c)->findings)                                                                         \
            findings_add((c)->findings, code, (c)->origin + (at), NULL, __VA_ARGS__);              \
    } while (0)

static void warn(struct coil_check *c, uint32_t code, uint64_t at, const char *text)
{
    if (c->findings && c->m) findings_add(c->findings, code, c->origin + at, NULL, "%s", text);
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
    while (i != COIL_SCOPES_END && c->variables[i].id != id)
        i = coil_scopes_next(&c->scopes, i);
    return i != COIL_SCOPES_END ? &c->variables[i] : NULL;
}

/* ---- preprocessor ---- */

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

static void define(struct coil_check *c, const struct coil_insn *insn)
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
        if (c->value_count == c->value_capacity) {
            size_t more = c->value_capacity ? c->value_capacity * 2 : 16;
            void *moved = realloc(c->values, more * sizeof *c->values);
            if (!moved) return;
            c->values = moved;
            c->value_capacity = more;
        }
        if (!coil_scopes_push(&c->value_index, coil_hash_id(name->value))) return;
        v = &c->values[c->value_count++];
    }
    *v = (struct coil_value){.id = name->value, .text = text, .live = true};
    if (value && value->form == COIL_IMM && coil_is_scalar(value->op)) {
        v->has_value = true;
        v->op = value->op;
        v->bits = value->value;
    }
}

static bool compute_condition(struct coil_check *c, const struct coil_insn *insn)
{
    enum {
        CAPABILITIES = 0x117,
        FEATURES = 0
    }; /* atomics, vectors, matrices, floats, protection */
    const struct coil_operand *kind = &insn->operands[0], *value = &insn->operands[1];
    const struct coil_header *h = c->m ? &c->m->header : NULL;
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

/* True: the instruction is the preprocessor's, or cut out by it. */
static bool preprocess(struct coil_check *c, const struct coil_insn *insn)
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
    case COIL_OP_PPDEF: define(c, insn); break;
    case COIL_OP_PPUNDEF: {
        struct coil_value *v =
            find_value(c, insn->operands[0].value, insn->operands[0].form == COIL_STRING);
        if (v) v->live = false;
        break;
    }
    case COIL_OP_PPCOND: c->last_condition = compute_condition(c, insn); break;
    case COIL_OP_PPTARG: break;
    default:
        REPORT(c, COIL_UNSUPPORTED, insn->at, "%s has no meaning in this version",
               coil_ops[insn->opcode].name);
    }
    return true;
}

/* ---- types of operands ---- */

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

static bool is_matrix(const struct coil_type *t)
{
    return t && coil_types[t->op].family == COIL_F_MATRIX;
}
static bool is_vector(const struct coil_type *t)
{
    return t && coil_types[t->op].family == COIL_F_VECTOR;
}
static bool is_array(const struct coil_type *t)
{
    return t && (is_vector(t) || is_matrix(t) || coil_types[t->op].family == COIL_F_TENSOR);
}
static bool int_lanes(const struct coil_type *t)
{
    return coil_is_int(t->op) ||
           (is_vector(t) && (!t->elem || coil_is_int(t->elem->op) || t->elem->op == COIL_T_VOID));
}

/* ---- forms ---- */

static size_t form_length(const char *form)
{
    size_t n = 0;
    while (form[n] && form[n] != '|')
        n++;
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

/* ---- operand classes ---- */

struct seen { /* what an instruction's operands are, looked up once */
    const struct coil_type *type[COIL_OPERANDS_MAX];
    uint8_t qualifiers[COIL_OPERANDS_MAX];
    bool reg[COIL_OPERANDS_MAX];
};

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

static bool writable(struct coil_check *c, const struct coil_operand *o, uint8_t qualifiers)
{
    if (!writable_form(o) || (o->form != COIL_REGISTER && qualifiers & COIL_CONST)) return false;
    if (o->form != COIL_SYM || !c->m || o->value >= c->m->symbol_count) return true;
    uint32_t section = c->m->symbols[o->value].section_idx;
    return !section || section > c->m->section_count ||
           c->m->sections[section - 1].flags & COIL_WRITE;
}

static bool order_allowed(uint8_t opcode, uint64_t order)
{
    if (order > 4) return false;
    if (opcode == COIL_OP_ATOMLD || opcode == COIL_OP_ATOMWAIT)
        return order == 0 || order == 1 || order == 4;
    if (opcode == COIL_OP_ATOMST) return order == 0 || order == 2 || order == 4;
    return true;
}

static bool sized(const struct coil_type *t)
{
    return t && t->op != COIL_T_VOID && t->size;
}

/* The class of one operand; false: reported. */
static bool check_class(struct coil_check *c, const struct coil_insn *insn,
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
        if (o->value > 0x13)
            REPORT(c, COIL_COND_VALUE, o->at + 1, "condition 0x%02x, at most 0x13",
                   (unsigned)o->value);
        return o->value <= 0x13;
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
            insn->opcode != COIL_OP_ATOMNOTIFY && !writable(c, o, qualifiers)) {
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
               (letter == 'X' && coil_ops[insn->opcode].group == COIL_G_BITS && int_lanes(t));
        break;
    case 'V': kind = readable_form(o); /* fall through */
    case 'v': type = !reg && (!t || is_vector(t)); break;
    case 'M': kind = readable_form(o); /* fall through */
    case 'm': type = !reg && (!t || is_matrix(t)); break;
    default: kind = readable_form(o); /* R, B; W below */
    }
    if (letter == 'W' || letter == 'v' || letter == 'm' || letter == 'g') {
        if (!writable(c, o, qualifiers)) {
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

/* ---- what a single operand must obey anywhere ---- */

static bool variable_fits(const struct coil_variable *v, const struct coil_operand *o,
                          const struct coil_type *used)
{
    if (coil_types[o->op].data == COIL_D_ELEM) return v->type->op == o->op;
    if (!used) return false;
    if (coil_is_int(used->op) && coil_is_int(v->type->op)) return used->size == v->type->size;
    return coil_type_equal(used, v->type);
}

static void check_operand(struct coil_check *c, const struct coil_operand *o,
                          const struct coil_type *type)
{
    uint8_t qualifiers;
    uint64_t bits;
    switch ((enum coil_form)o->form) {
    case COIL_IMM:
        if (o->op == COIL_T_BIT && o->value > 1)
            REPORT(c, COIL_IMM_RANGE, o->at + 2, "a BIT of %u", (unsigned)o->value);
        break;
    case COIL_REGISTER: {
        const struct coil_header *h = c->m ? &c->m->header : NULL;
        bool machine = h && h->target_arch && h->target_mode && h->target_mode < 0x80;
        if (o->value >= COIL_REGISTERS && !machine)
            REPORT(c, COIL_REG, o->at + 2, "register %u, of 16", (unsigned)o->value);
        break;
    }
    case COIL_MEM:
        for (unsigned i = 0; i < o->parts_count; i++)
            check_operand(c, &o->parts[i], coil_check_type(c, &o->parts[i], &qualifiers));
        if (o->parts_count > 2) {
            uint64_t scale = o->parts[2].value;
            if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
                warn(c, COIL_SCALE, o->parts[2].at, "the scale is not 1, 2, 4 or 8");
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
            warn(c, COIL_EXT_ODD, o->at + 1, "SYMBOL usually has the extension byte 80");
        break;
    case COIL_STRING:
        if (!c->m->raw && o->value >= c->m->strings.size)
            REPORT(c, COIL_STR_OFFSET, o->at + 2, "string offset %llu, of %zu bytes",
                   (unsigned long long)o->value, c->m->strings.size);
        if (o->ext) warn(c, COIL_EXT_ODD, o->at + 1, "STRING usually has the extension byte 00");
        break;
    case COIL_DEFID:
        if (o->ext != COIL_DEFINITION)
            warn(c, COIL_EXT_ODD, o->at + 1, "DEFID usually has the extension byte 20");
        break;
    case COIL_VARID:
        if (o->ext) warn(c, COIL_EXT_ODD, o->at + 1, "VARID usually has the extension byte 00");
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

/* ---- operands together ---- */

static uint64_t lanes_of(const struct coil_type *t)
{
    if (is_matrix(t) || (t && coil_types[t->op].family == COIL_F_TENSOR))
        return t->elem && t->elem->size ? t->size / t->elem->size : 0;
    return t ? coil_lanes(t) : 0;
}

/* Lane-wise work: counts agree, and somebody knows them. */
static void check_lanes(struct coil_check *c, const struct coil_insn *insn, const struct seen *s,
                        bool need_type)
{
    uint64_t lanes = 0, size = 0;
    bool vectors = false, untyped = false;
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_type *t = s->type[i];
        if (!is_array(t) || insn->operands[i].form == COIL_TYPE_ONLY) continue;
        uint64_t n = lanes_of(t);
        vectors = true;
        if (size && t->size != size && (!n || !lanes))
            REPORT(c, COIL_LANES, insn->operands[i].at, "vectors of %llu and %llu bytes",
                   (unsigned long long)size, (unsigned long long)t->size);
        size = t->size;
        untyped |= !n;
        if (n && lanes && n != lanes)
            REPORT(c, COIL_LANES, insn->operands[i].at, "%llu lanes against %llu",
                   (unsigned long long)n, (unsigned long long)lanes);
        if (n) lanes = n;
    }
    if (vectors && need_type && !lanes && untyped && c->m)
        REPORT(c, COIL_LANE_UNKNOWN, insn->at, "no operand says what the lanes are");
}

/* value -> destination, as MOV does it. */
static void check_conversion(struct coil_check *c, const struct coil_insn *insn,
                             const struct seen *s, unsigned to, unsigned from)
{
    const struct coil_type *d = s->type[to], *v = s->type[from];
    uint32_t at = insn->operands[from].at;
    if (s->reg[to] || s->reg[from]) {
        const struct coil_type *other = s->reg[to] ? v : d;
        if (other && !coil_is_scalar(other->op))
            REPORT(c, COIL_OPERAND_TYPE, at, "a %s does not fit a register",
                   coil_types[other->op].name);
        return;
    }
    if (!d || !v) return;
    if (coil_is_scalar(d->op) && coil_is_scalar(v->op)) return;
    if (is_vector(d) && coil_is_scalar(v->op)) {
        if (!lanes_of(d) && c->m)
            REPORT(c, COIL_LANE_UNKNOWN, at, "no operand says what the lanes are");
        return;
    }
    if (is_vector(d) && is_vector(v)) {
        check_lanes(c, insn, s, false);
        return;
    }
    if (!coil_type_equal(d, v))
        REPORT(c, COIL_OPERAND_TYPE, at, "a %s does not convert to %s", coil_types[v->op].name,
               coil_types[d->op].name);
}

static bool numeric(const struct coil_type *t)
{
    return !t || coil_is_scalar(t->op) ||
           (is_array(t) && (!t->elem || coil_is_scalar(t->elem->op) || t->elem->op == COIL_T_VOID));
}

static void check_arithmetic(struct coil_check *c, const struct coil_insn *insn,
                             const struct seen *s, const char *form)
{
    uint8_t group = coil_ops[insn->opcode].group;
    bool arrays = false;
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_type *t = s->type[i];
        if (!numeric(t))
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "%s cannot compute with %s",
                   coil_ops[insn->opcode].name, coil_types[t->op].name);
        else if (group == COIL_G_BITS && t && form[i] == 'W' && !int_lanes(t))
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "%s needs integers",
                   coil_ops[insn->opcode].name);
        arrays |= is_array(t) && form[i] != 'S';
    }
    if (c->errors) return;
    if (arrays) {
        bool registers = false, product = insn->opcode == COIL_OP_MUL;
        for (unsigned i = 0; i < insn->count; i++) {
            registers |= s->reg[i];
            product &= is_matrix(s->type[i]);
        }
        if (registers)
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "vectors do not fit a register");
        else if (s->type[0] && coil_is_scalar(s->type[0]->op) && group != COIL_G_COMPARE)
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[0].at, "the result is a vector");
        else if (!product)
            check_lanes(c, insn, s, group != COIL_G_BITS);
        else {
            unsigned r0, c0, r1, c1, rd, cd;
            const struct coil_type *left = s->type[insn->count - 2],
                                   *right = s->type[insn->count - 1];
            coil_matrix_shape(left, &r0, &c0);
            coil_matrix_shape(right, &r1, &c1);
            coil_matrix_shape(s->type[0], &rd, &cd);
            if (c0 != r1 || rd != r0 || cd != c1)
                REPORT(c, COIL_LANES, insn->at, "a product of %ux%u and %ux%u is not %ux%u", r0, c0,
                       r1, c1, rd, cd);
        }
    }
}

static void check_member(struct coil_check *c, const struct coil_insn *insn, struct seen *s)
{
    bool put = insn->opcode == COIL_OP_MEMPUT;
    unsigned aggregate = put ? 0 : 1;
    uint64_t id = insn->operands[put ? 1 : 2].value;
    const struct coil_type *t = s->type[aggregate];
    if (!t) return;
    const struct coil_member *member = coil_type_member(t, id);
    if (!member) {
        REPORT(c, COIL_MEMBER, insn->operands[put ? 1 : 2].at, "there is no member %llu",
               (unsigned long long)id);
        return;
    }
    if (insn->opcode == COIL_OP_MEMADDR) return;
    s->type[aggregate] = member->type;
    check_conversion(c, insn, s, put ? 0 : 0, put ? 2 : 1);
}

static void check_vector(struct coil_check *c, const struct coil_insn *insn, struct seen *s)
{
    const struct coil_type *t0 = s->type[0], *t1 = insn->count > 1 ? s->type[1] : NULL;
    switch (insn->opcode) {
    case COIL_OP_CROSS:
        check_lanes(c, insn, s, true);
        for (unsigned i = 0; i < 3; i++)
            if (s->type[i] && lanes_of(s->type[i]) && lanes_of(s->type[i]) != 3)
                REPORT(c, COIL_LANES, insn->operands[i].at, "CROSS has 3 lanes, not %llu",
                       (unsigned long long)lanes_of(s->type[i]));
        break;
    case COIL_OP_DOT:
    case COIL_OP_NORM:
    case COIL_OP_LEN:
    case COIL_OP_SHUF: check_lanes(c, insn, s, true); break;
    case COIL_OP_INV:
    case COIL_OP_DET: {
        unsigned rows, columns;
        const struct coil_type *m = insn->opcode == COIL_OP_DET ? t1 : t0;
        if (!m) break;
        coil_matrix_shape(m, &rows, &columns);
        if (rows != columns)
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "%s needs a square matrix",
                   coil_ops[insn->opcode].name);
        if (t1 && insn->opcode == COIL_OP_INV && t1->size != t0->size)
            REPORT(c, COIL_LANES, insn->at, "matrices of different sizes");
        break;
    }
    case COIL_OP_TRANS: {
        unsigned r0, c0, r1, c1;
        if (!t0) break;
        coil_matrix_shape(t0, &r0, &c0);
        coil_matrix_shape(t1 ? t1 : t0, &r1, &c1);
        if (r0 != c1 || c0 != r1)
            REPORT(c, COIL_LANES, insn->at, "a transposed %ux%u is not %ux%u", r1, c1, r0, c0);
        break;
    }
    default: break;
    }
    for (unsigned i = 0; i < insn->count; i++)
        if (!numeric(s->type[i]))
            REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "%s cannot compute with it",
                   coil_ops[insn->opcode].name);
}

static void check_together(struct coil_check *c, const struct coil_insn *insn, struct seen *s,
                           const char *form)
{
    switch ((enum coil_group)coil_ops[insn->opcode].group) {
    case COIL_G_MOVE:
        if (insn->opcode == COIL_OP_VAR) {
            if (insn->count == 3) check_conversion(c, insn, s, 1, 2);
        } else {
            check_conversion(c, insn, s, 0, insn->count - 1u);
        }
        break;
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: check_arithmetic(c, insn, s, form); break;
    case COIL_G_MEMBER: check_member(c, insn, s); break;
    case COIL_G_VECTOR: check_vector(c, insn, s); break;
    case COIL_G_ATOMIC:
        for (unsigned i = 0; i < insn->count; i++)
            if (s->type[i] && !coil_is_scalar(s->type[i]->op))
                REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "atomics work on scalars");
        break;
    case COIL_G_MEMORY:
        if (insn->opcode == COIL_OP_XCHG && s->type[0] && s->type[1] &&
            s->type[0]->size != s->type[1]->size)
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "XCHG of different sizes");
        if (insn->opcode == COIL_OP_CAS)
            for (unsigned i = 0; i < 3; i++)
                if (s->type[i] && !coil_is_scalar(s->type[i]->op))
                    REPORT(c, COIL_OPERAND_TYPE, insn->operands[i].at, "CAS works on scalars");
        break;
    case COIL_G_STACK:
        if (!s->reg[0] && s->type[0] && !sized(s->type[0]))
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "a value without a size");
        break;
    case COIL_G_PORT: {
        const struct coil_type *value = s->type[insn->opcode == COIL_OP_OUTPORT];
        if (value && !coil_is_scalar(value->op))
            REPORT(c, COIL_OPERAND_TYPE, insn->at, "ports carry scalars");
        break;
    }
    case COIL_G_NEVER:
        REPORT(c, COIL_UNSUPPORTED, insn->at, "%s has no meaning in this version",
               coil_ops[insn->opcode].name);
        break;
    default: break;
    }
}

/* ---- scopes, declarations, type ids ---- */

static void declare(struct coil_check *c, const struct coil_insn *insn)
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
    if (!closed) return;
    if (c->variable_count == c->variable_capacity) {
        size_t more = c->variable_capacity ? c->variable_capacity * 2 : 32;
        void *moved = realloc(c->variables, more * sizeof *c->variables);
        if (!moved) return;
        c->variables = moved;
        c->variable_capacity = more;
    }
    if (!coil_scopes_push(&c->scopes, coil_hash_id(id->value))) return;
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
    if (made && !coil_type_finish(&t, insn->at, &err)) return;
    coil_type_bind(&c->ids, o[0].value, made ? &t : o[1].type, &err);
}

static void track(struct coil_check *c, const struct coil_insn *insn)
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
    case COIL_OP_VAR: declare(c, insn); break;
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

/* ---- one instruction ---- */

static void check_counts(struct coil_check *c, const struct coil_insn *insn)
{
    unsigned unit = c->m ? c->m->header.target_pu : COIL_UNIT_CPU, least, most;
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

static bool conditional(const struct coil_insn *insn)
{
    return insn->count && insn->operands[0].form == COIL_PARAM &&
           (insn->opcode == COIL_OP_BR || insn->opcode == COIL_OP_RET ||
            insn->opcode == COIL_OP_CALL);
}

bool coil_check_insn(struct coil_check *c, const struct coil_insn *insn)
{
    struct seen s;
    c->errors = 0;
    c->first = 0;
    c->removed = preprocess(c, insn);
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
        check_operand(c, o, s.type[i]);
        if (o->form == COIL_VAR && !c->m && coil_types[o->op].data == COIL_D_ELEM) s.type[i] = NULL;
    }
    if (form && !c->errors) {
        for (unsigned i = 0, k = 0; i < insn->count; i++) {
            if (form[k] == '*') k--;
            check_class(c, insn, &insn->operands[i], &s, form[k++]);
        }
        if (!c->errors) check_together(c, insn, &s, form);
    }
    if (c->m) track(c, insn);
    if (conditional(insn) && c->after_call)
        warn(c, COIL_FLAGS_AFTER_CALL, insn->at, "the flags are unspecified after CALL");
    if (coil_ops[insn->opcode].flags && *coil_ops[insn->opcode].flags) c->after_call = false;
    if (insn->opcode == COIL_OP_CALL) c->after_call = true;
    return !c->errors;
}

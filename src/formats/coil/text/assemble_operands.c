/* Assembles the operands of the text form (COIL 10.1), and has the table of declared variables. */
#include "base/number.h"
#include "base/array.h"
#include "base/suggest.h"
#include "coil/text/assemble.h"
#include <stdlib.h>

static uint64_t variable_hash(penta_bytes name, uint64_t id)
{
    uint64_t hash = coil_hash_id(name.size ? 0 : id + 1);
    for (size_t i = 0; i < name.size; i++) hash = (hash ^ name.data[i]) * UINT64_C(0x100000001B3);
    return hash ^ hash >> 29;
}

const struct asm_variable *asm_find_variable(const struct coil_asm *a, penta_bytes name,
                                             uint64_t id, bool numeric)
{
    if (numeric) name = (penta_bytes){0};
    for (size_t i = coil_scopes_first(&a->scopes, variable_hash(name, id)); i != COIL_SCOPES_END;
         i = coil_scopes_next(&a->scopes, i)) {
        const struct asm_variable *v = &a->variables[i];
        if (numeric ? !v->name.size && v->id == id
                    : v->name.size == name.size && !memcmp(v->name.data, name.data, name.size))
            return v;
    }
    return NULL;
}

bool asm_push_variable(struct coil_asm *a, struct asm_variable v)
{
    if (!ARRAY_GROW(a->variables, a->variable_capacity, a->variable_count, a->s->err)) return false;
    if (!coil_scopes_push(&a->scopes, variable_hash(v.name, v.id)))
        return error_at(a->s->err, BASE_MEMORY, 0, "no memory for variables");
    a->variables[a->variable_count++] = v;
    return true;
}

void asm_pop_variables(struct coil_asm *a, uint32_t depth)
{
    for (; a->variable_count && a->variables[a->variable_count - 1].depth > depth;
         a->variable_count--)
        coil_scopes_pop(&a->scopes);
}

static void set_typed(struct coil_operand *o, const struct coil_type *type, uint8_t value_bits)
{
    o->op = type->op;
    o->ext = (uint8_t)(type->ext | value_bits);
    o->type = type;
}

/* Reads the name or number of a variable after %. `type` is the type written before it, or NULL. */
static bool assemble_operands_variable(struct coil_asm *a, struct asm_parsed *p,
                                       const struct coil_type *type)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    bool numeric = t.kind == TOKEN_INT;
    if (!numeric && t.kind != TOKEN_NAME) return source_unexpected(s, t, "the name of a variable");
    penta_bytes name = token_text(s, t);
    const struct asm_variable *v = asm_find_variable(a, name, t.as.u, numeric);
    if (!v && (!numeric || !type)) {
        error_at(s->err, COIL_VAR_UNDECLARED, t.offset, "%%%.*s is not declared here",
                 BYTES_ARG(name, 60));
        enum { OFFERS_MAX = 500 }; /* most names that are compared to find one suggestion */
        struct suggest near = {.word = name};
        for (size_t i = 0; !numeric && i < a->variable_count && i < OFFERS_MAX; i++) {
            penta_bytes other = a->variables[i].name;
            if (other.size && other.data[other.size] == 0)
                suggest_offer(&near, (const char *)other.data);
        }
        if (near.best) return error_note(s->err, "did you mean %%%.40s?", near.best);
        return error_note(s->err,
                          "declare it with VAR before its first use, in this or an outer scope");
    }
    p->lanes = v ? v->type : NULL;
    p->o->form = COIL_VAR;
    p->o->value = v ? v->id : t.as.u;
    /* The operand takes the type of the declaration if it has none. The qualifiers of the
     * declaration apply in any case. */
    if (!type) {
        set_typed(p->o, v->type, COIL_VARIABLE);
        p->o->ext = COIL_VARIABLE;
    } else {
        set_typed(p->o, type, COIL_VARIABLE);
    }
    p->typed = true;
    return true;
}

bool asm_symbol_operand(struct coil_asm *a, struct token t, uint64_t *index)
{
    struct source *s = a->s;
    penta_bytes name = token_text(s, t);
    if (name.size == 1) {
        if (!source_expect(s, '#')) return false;
        return asm_unsigned(a, UINT64_MAX, index);
    }
    name.data++;
    name.size--;
    name = asm_local_name(a, name);
    int64_t i = asm_symbol(a, name);
    *index = (uint64_t)i;
    return i >= 0;
}

static bool is_symbol(const struct source *s, struct token t)
{
    return t.kind == TOKEN_NAME && s->text.data[t.offset] == '@';
}

/* Reads the number of a register from a word such as v0 to v15 or reg0 to reg65535. */
static bool register_number(penta_bytes text, uint64_t *number)
{
    if (!text.size) return false;
    size_t skip = text.size > 3 && (text.data[0] | 32) == 'r' && (text.data[1] | 32) == 'e' &&
                          (text.data[2] | 32) == 'g'
                      ? 3
                      : 1;
    if (skip == 1 && (text.data[0] | 32) != 'v') return false;
    penta_bytes digits = bytes_slice(text, skip, text.size);
    if (!digits.size || digits.size > 5) return false;
    *number = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') return false;
        *number = *number * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return skip == 3 ? *number <= UINT16_MAX : *number < COIL_REGISTERS;
}

/* Reads a register such as v3, reg37 or reg 37, if one comes next. */
static bool take_register(struct coil_asm *a, uint64_t *number)
{
    struct source *s = a->s;
    struct token t = source_peek(s);
    if (t.kind != TOKEN_NAME) return false;
    if (register_number(token_text(s, t), number)) {
        source_next(s);
        return true;
    }
    if (!asm_word(s, t, "reg")) return false;
    source_next(s);
    return asm_unsigned(a, UINT16_MAX, number);
}

bool coil_is_register(penta_bytes word)
{
    uint64_t number;
    return register_number(word, &number) || (word.size > 1 && word.data[0] == '%');
}

void asm_plain(struct coil_operand *o, uint8_t op, uint8_t ext, uint8_t form, uint64_t value)
{
    *o = (struct coil_operand){.op = op, .ext = ext, .form = form, .value = value};
}

static struct coil_operand *new_part(struct coil_asm *a, struct coil_operand *o)
{
    struct coil_operand *p = &a->insn->parts[a->insn->parts_count++];
    *p = (struct coil_operand){0};
    if (!o->parts) o->parts = p;
    o->parts_count++;
    return p;
}

/* Reads the base or the index of a memory operand. */
static bool address_part(struct coil_asm *a, struct coil_operand *o, bool base)
{
    struct source *s = a->s;
    struct token t = source_peek(s);
    struct coil_operand *part = new_part(a, o);
    uint64_t number;
    const struct coil_type *type = NULL;
    if (take_register(a, &number)) {
        asm_plain(part, COIL_T_REG, 0, COIL_REGISTER, number);
        return true;
    }
    if (s->err->code) return false;
    if (asm_is_type(a, t)) {
        if (!(type = asm_type(a, 1))) return false;
        t = source_peek(s);
    }
    if (base && is_symbol(s, t)) {
        source_next(s);
        if (!asm_symbol_operand(a, t, &number)) return false;
        asm_plain(part, COIL_T_SYMBOL, COIL_SYMBOL, COIL_ADDR, number);
        if (type) {
            part->form = COIL_SYM;
            set_typed(part, type, COIL_SYMBOL);
        }
        return true;
    }
    if (base && !type && t.kind == TOKEN_INT) {
        source_next(s);
        asm_plain(part, COIL_T_UNT64, COIL_IMMEDIATE, COIL_IMM, t.as.u);
        part->type = coil_scalar(COIL_T_UNT64);
        return true;
    }
    if (!source_accept(s, '%'))
        return source_unexpected(
            s, t, base ? "a base: variable, symbol, register or number" : "an index");
    struct asm_parsed p = {.o = part};
    return assemble_operands_variable(a, &p, type);
}

static bool assemble_operands_memory(struct coil_asm *a, struct asm_parsed *p,
                                     const struct coil_type *type)
{
    struct source *s = a->s;
    struct coil_operand *o = p->o;
    asm_plain(o, COIL_T_MEM, type->ext, COIL_MEM, 0);
    if (type->ext) { /* Qualifiers belong to the access and not to the type. */
        struct coil_type *bare = arena_alloc(&a->arena, 1, sizeof *bare, s->err);
        if (!bare) return false;
        *bare = *type;
        bare->ext = 0;
        type = bare;
    }
    o->type = type;
    p->typed = true;
    if (!address_part(a, o, true)) return false;
    bool plus = source_accept(s, '+'), minus = !plus && source_accept(s, '-');
    struct token t = source_peek(s);
    if (plus && t.kind != TOKEN_INT) {
        if (!address_part(a, o, false)) return false;
        uint64_t scale = 1;
        if (source_accept(s, '*') && !asm_unsigned(a, 255, &scale)) return false;
        struct coil_operand *part = new_part(a, o);
        asm_plain(part, COIL_T_UNT8, COIL_IMMEDIATE, COIL_IMM, scale);
        part->type = coil_scalar(COIL_T_UNT8);
        plus = source_accept(s, '+');
        minus = !plus && source_accept(s, '-');
    }
    if (plus || minus) {
        uint64_t disp;
        if (!asm_unsigned(a, UINT64_MAX, &disp)) return false;
        struct coil_operand *part = new_part(a, o);
        asm_plain(part, COIL_T_INT64, COIL_IMMEDIATE, COIL_IMM, minus ? 0 - disp : disp);
        part->type = coil_scalar(COIL_T_INT64);
    }
    return source_expect(s, ']');
}

/* Reads { literal, ... }, with one value for each lane. */
static bool assemble_operands_lanes(struct coil_asm *a, struct coil_operand *o,
                                    const struct coil_type *type, uint64_t at)
{
    uint64_t count = coil_lanes(type), n = 0;
    penta_error *err = a->s->err;
    if (!count || !coil_is_scalar(type->elem->op))
        return error_at(err, COIL_LANE_UNKNOWN, at, "the type has no scalar lanes");
    struct writer image = {.big_endian = a->object.big_endian};
    bool ok = true;
    do {
        uint64_t bits = 0;
        ok = asm_number(a, type->elem->op, &bits);
        if (ok && n++ < count) writer_uint(&image, bits, (size_t)type->elem->size);
    } while (ok && source_accept(a->s, ','));
    ok = ok && source_expect(a->s, '}') && writer_ok(&image, err);
    if (ok && n != count)
        ok = error_at(err, COIL_LANES, at, "%llu values for %llu lanes", (unsigned long long)n,
                      (unsigned long long)count);
    if (ok) {
        const uint8_t *copy = arena_copy(&a->arena, writer_view(&image), err);
        o->image = (penta_bytes){copy, image.out.size};
        ok = copy != NULL;
    }
    writer_free(&image);
    return ok;
}

/* Reads hex:0011.. as the bytes that the value has in memory. */
static bool hex_image(struct coil_asm *a, struct coil_operand *o, const struct coil_type *type,
                      uint64_t at)
{
    struct source *s = a->s;
    size_t from = s->pos, end = from, size = 0;
    while (end < s->text.size && hex_digit(s->text.data[end]) >= 0) end++;
    s->pos = end;
    uint8_t *bytes = hex_parse(bytes_slice(s->text, from, end - from), &size, s->err);
    bool ok = bytes && size == type->size;
    if (!ok)
        error_at(s->err, COIL_IMM_RANGE, at, "%llu bytes of hex are needed",
                 (unsigned long long)type->size);
    if (ok && coil_is_scalar(type->op)) {
        o->value = bytes_uint(bytes, size, a->object.big_endian);
    } else if (ok) {
        const uint8_t *copy = arena_copy(&a->arena, (penta_bytes){bytes, size}, s->err);
        o->image = (penta_bytes){copy, size};
        ok = copy != NULL;
    }
    free(bytes);
    return ok;
}

static bool ends_operand(struct token t)
{
    return t.kind == TOKEN_LINE || t.kind == TOKEN_END ||
           (t.kind == TOKEN_PUNCT && t.as.punct == ',');
}

/* Reads an operand that begins with a type. */
static bool assemble_operands_typed(struct coil_asm *a, struct asm_parsed *p)
{
    struct source *s = a->s;
    struct coil_operand *o = p->o;
    const struct coil_type *type = asm_type(a, 1);
    if (!type) return false;
    struct token t = source_peek(s);
    p->typed = true;
    if (ends_operand(t)) {
        if (coil_types[type->op].data == COIL_D_ELEM && !type->elem)
            return error_at(s->err, COIL_LANE_UNKNOWN, p->at,
                            "%s needs its lane type here: %s<i32>", coil_types[type->op].text,
                            coil_types[type->op].text);
        o->form = COIL_TYPE_ONLY;
        set_typed(o, type, 0);
        return true;
    }
    if (source_accept(s, '%')) return assemble_operands_variable(a, p, type);
    if (source_accept(s, '[')) return assemble_operands_memory(a, p, type);
    if (is_symbol(s, t)) {
        source_next(s);
        o->form = COIL_SYM;
        set_typed(o, type, COIL_SYMBOL);
        return asm_symbol_operand(a, t, &o->value);
    }
    if (t.kind == TOKEN_NAME && s->text.data[t.offset] == '$') {
        source_next(s);
        penta_bytes digits = bytes_slice(token_text(s, t), 1, t.size);
        o->form = COIL_DEF;
        set_typed(o, type, COIL_DEFINITION);
        return number_parse_bytes(digits, &o->value) ||
               source_unexpected(s, t, "$ and a definition number");
    }
    o->form = COIL_IMM;
    set_typed(o, type, COIL_IMMEDIATE);
    if (type->open)
        return error_at(s->err, COIL_TYPE_ID_IMM, p->at, "an immediate of a type given by id");
    if (source_accept(s, '{')) return assemble_operands_lanes(a, o, type, t.offset);
    if (asm_word(s, t, "hex")) {
        source_next(s);
        return source_expect(s, ':') && hex_image(a, o, type, t.offset);
    }
    if (asm_is_literal(s, t) && coil_is_wide(type)) {
        struct asm_literal l;
        return asm_literal_parse(a, &l) && asm_wide_literal(a, &l, type, o);
    }
    if (asm_is_literal(s, t)) return asm_number(a, type->op, &o->value);
    return source_unexpected(s, t, "a value of the type");
}

static int name_in(const struct source *s, struct token t, const char *const *names, int count)
{
    for (int i = 0; t.kind == TOKEN_NAME && i < count; i++)
        if (token_is(s, t, names[i])) return i;
    return -1;
}

static bool id_operand(struct coil_asm *a, struct coil_operand *o, struct token t)
{
    static const struct {
        const char *word;
        uint8_t op, ext, form;
    } kinds[] = {{"varid", COIL_T_VARID, 0, COIL_VARID},
                 {"defid", COIL_T_DEFID, COIL_DEFINITION, COIL_DEFID},
                 {"str", COIL_T_STRING, 0, COIL_STRING}};
    for (int i = 0; i < 3; i++)
        if (asm_word(a->s, t, kinds[i].word)) {
            source_next(a->s);
            asm_plain(o, kinds[i].op, kinds[i].ext, kinds[i].form, 0);
            return asm_unsigned(a, UINT64_MAX, &o->value);
        }
    return false;
}

static bool param_operand(struct coil_asm *a, struct coil_operand *o, struct token t)
{
    if (t.kind != TOKEN_NAME || t.size != 6) return false;
    penta_bytes text = token_text(a->s, t);
    char head[7];
    memcpy(head, text.data, 6);
    head[5] = 0;
    struct token stem = t;
    stem.size = 5;
    if (!token_is(a->s, stem, "param") || text.data[5] < '0' || text.data[5] > '4') return false;
    source_next(a->s);
    uint64_t value;
    if (!asm_unsigned(a, 255, &value)) return false;
    asm_plain(o, (uint8_t)(COIL_T_PARAM0 - (text.data[5] - '0')), (uint8_t)value, COIL_PARAM,
              value);
    return true;
}

static bool assemble_operands_measure(struct coil_asm *a, struct asm_parsed *p, uint8_t op)
{
    source_next(a->s);
    asm_plain(p->o, op, 0, COIL_MEASURE, 0);
    if (!source_expect(a->s, '(') || !(p->o->type = asm_type(a, 1))) return false;
    return source_expect(a->s, ')');
}

static bool string_operand(struct coil_asm *a, struct coil_operand *o, struct token t)
{
    penta_bytes text;
    source_next(a->s);
    if (!token_string(a->s, t, &a->arena, &text)) return false;
    if (memchr(text.data, 0, text.size))
        return error_at(a->s->err, BASE_SYNTAX, t.offset, "a string operand cannot hold a zero");
    asm_plain(o, COIL_T_STRING, 0, COIL_STRING, 0);
    o->image = text; /* The offset is filled in when the string table is known. */
    return true;
}

/* Reports an unknown word, and suggests the type or condition with the nearest name. */
static bool unknown_operand(struct coil_asm *a, struct token t, bool conditional)
{
    struct suggest near = {.word = token_text(a->s, t)};
    source_unexpected(a->s, t, conditional ? "a condition or a target" : "an operand");
    if (t.kind != TOKEN_NAME) return false;
    for (int i = 0; conditional && i < COIL_CONDITIONS; i++)
        suggest_offer(&near, coil_conditions[i]);
    for (int op = 0; op < 256 && !conditional; op++)
        if (coil_types[op].text && coil_types[op].family != COIL_F_SPECIAL)
            suggest_offer(&near, coil_types[op].text);
    return near.best ? error_note(a->s->err, "did you mean %s?", near.best) : false;
}

bool asm_operand(struct coil_asm *a, struct asm_parsed *p, uint8_t opcode, unsigned i)
{
    struct source *s = a->s;
    struct token t = source_peek(s);
    struct coil_operand *o = p->o;
    p->at = t.offset;
    uint64_t number;
    int found;
    bool conditional =
        !i && (opcode == COIL_OP_BR || opcode == COIL_OP_CALL || opcode == COIL_OP_RET);
    if (conditional && (found = name_in(s, t, coil_conditions, COIL_CONDITIONS)) >= 0) {
        source_next(s);
        asm_plain(o, COIL_T_PARAM0, (uint8_t)found, COIL_PARAM, (uint64_t)found);
        return true;
    }
    bool atomic = coil_ops[opcode].group == COIL_G_ATOMIC;
    if (atomic && (found = name_in(s, t, coil_orders, COIL_ORDERS)) >= 0) {
        source_next(s);
        asm_plain(o, COIL_T_PARAM0, (uint8_t)found, COIL_PARAM, (uint64_t)found);
        return true;
    }
    if (take_register(a, &number)) {
        asm_plain(o, COIL_T_REG, 0, COIL_REGISTER, number);
        return true;
    }
    if (s->err->code) return false;
    if (t.kind == TOKEN_STRING) return string_operand(a, o, t);
    if (is_symbol(s, t)) {
        source_next(s);
        asm_plain(o, COIL_T_SYMBOL, COIL_SYMBOL, COIL_ADDR, 0);
        return asm_symbol_operand(a, t, &o->value);
    }
    if (asm_is_literal(s, t)) {
        o->form = ASM_PENDING;
        return asm_literal_parse(a, &p->literal);
    }
    if (asm_is_type(a, t)) return assemble_operands_typed(a, p);
    if (source_accept(s, '%')) return assemble_operands_variable(a, p, NULL);
    if (asm_word(s, t, "sizeof")) return assemble_operands_measure(a, p, COIL_T_SIZEOF);
    if (asm_word(s, t, "alignof")) return assemble_operands_measure(a, p, COIL_T_ALIGNOF);
    if (id_operand(a, o, t) || s->err->code) return !s->err->code;
    if (param_operand(a, o, t) || s->err->code) return !s->err->code;
    return unknown_operand(a, t, conditional);
}

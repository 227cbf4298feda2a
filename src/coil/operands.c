/* Types, operands and instructions of the text form. A number without a type waits until the whole
 * line is read: its type depends on the position, then on the first operand that has one. */
#include "base/number.h"
#include "base/suggest.h"
#include "coil/asm.h"
#include <math.h>
#include <stdlib.h>

/* ---- small pieces ---- */

bool asm_unsigned(struct coil_asm *a, uint64_t max, uint64_t *value)
{
    struct token t = source_next(a->s);
    *value = t.kind == TOKEN_INT ? t.as.u : 0;
    if (t.kind != TOKEN_INT) return source_unexpected(a->s, t, "a number");
    return t.as.u <= max || error_at(a->s->err, COIL_IMM_RANGE, t.offset, "%llu, at most %llu",
                                     (unsigned long long)t.as.u, (unsigned long long)max);
}

static bool word(const struct source *s, struct token t, const char *text)
{
    return t.kind == TOKEN_NAME && token_is(s, t, text);
}

/* ---- types ---- */

static int base_type(const struct source *s, struct token t)
{
    if (t.kind != TOKEN_NAME) return -1;
    char first = (char)(s->text.data[t.offset] | 32); /* both spellings of a type begin with it */
    for (int op = 0; op < 256; op++) {
        const struct coil_type_info *info = &coil_types[op];
        if (!info->text || info->text[0] != first || info->family == COIL_F_SPECIAL) continue;
        bool scalar = info->data == COIL_D_NONE;
        if (token_is(s, t, info->text) || (scalar && token_is(s, t, info->name))) return op;
    }
    return token_is(s, t, "typeid") ? COIL_T_ALIAS : -1;
}

static uint8_t qualifier(const struct source *s, struct token t)
{
    static const char *const names[] = {"const", "volatile", "atomic", "sat"};
    if (t.kind != TOKEN_NAME || !strchr("cvas", s->text.data[t.offset] | 32)) return 0;
    for (int i = 0; i < 4; i++)
        if (word(s, t, names[i])) return (uint8_t)(1 << i);
    return 0;
}

bool asm_is_type(struct coil_asm *a, struct token t)
{
    return qualifier(a->s, t) || base_type(a->s, t) >= 0;
}

static bool dimension(struct coil_asm *a, struct coil_type *t, unsigned i)
{
    uint64_t value;
    struct token at = source_peek(a->s);
    if (!asm_unsigned(a, UINT64_MAX, &value)) return false;
    if (value > UINT16_MAX)
        return error_at(a->s->err, COIL_IMM_RANGE, at.offset, "a dimension of %llu, at most 65535",
                        (unsigned long long)value);
    t->dims[i] = (uint16_t)value;
    if (i >= t->rank) t->rank = (uint8_t)(i + 1);
    return true;
}

static bool more_dimensions(struct coil_asm *a, struct coil_type *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!source_expect(a->s, ',') || !dimension(a, t, i)) return false;
    return true;
}

static bool tensor_dimensions(struct coil_asm *a, struct coil_type *t)
{
    if (!source_expect(a->s, ',') || !source_expect(a->s, '[')) return false;
    unsigned i = 0;
    do {
        if (i == 4)
            return error_at(a->s->err, COIL_TENSOR_RANK, source_peek(a->s).offset,
                            "a tensor of more than 4 dimensions");
        if (!dimension(a, t, i++)) return false;
    } while (source_accept(a->s, ','));
    return source_expect(a->s, ']');
}

static bool type_members(struct coil_asm *a, struct coil_type *t, unsigned level)
{
    size_t capacity = 0, count = 0;
    struct coil_member *members = NULL;
    bool ok = source_expect(a->s, '{');
    while (ok) {
        uint64_t id;
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 8;
            void *moved = realloc(members, capacity * sizeof *members);
            if (!moved) {
                ok = error_at(a->s->err, BASE_MEMORY, 0, "no memory for %zu members", capacity);
                break;
            }
            members = moved;
        }
        if (count == UINT16_MAX) {
            ok = error_at(a->s->err, COIL_TYPE_MEMBERS, source_peek(a->s).offset,
                          "more than 65535 members");
            break;
        }
        ok = asm_unsigned(a, UINT16_MAX, &id) && source_expect(a->s, ':');
        const struct coil_type *type = ok ? asm_type(a, level + 1) : NULL;
        ok = type != NULL;
        if (ok) members[count++] = (struct coil_member){(uint16_t)id, 0, type};
        if (!ok || !source_accept(a->s, ',')) break;
    }
    ok = ok && source_expect(a->s, '}');
    if (ok) {
        penta_bytes bytes = {(const uint8_t *)members, count * sizeof *members};
        t->members = arena_copy(&a->arena, bytes, a->s->err);
        t->member_count = (uint32_t)count;
        ok = t->members != NULL;
    }
    free(members);
    return ok;
}

static bool type_body(struct coil_asm *a, struct coil_type *t, struct token name, unsigned level)
{
    struct source *s = a->s;
    uint8_t data = coil_types[t->op].data;
    if (data == COIL_D_NONE) return true;
    if (data == COIL_D_MEMBERS) return type_members(a, t, level);
    if (data == COIL_D_ELEM && !source_accept(s, '<')) return true; /* v128 alone, in references */
    if (data != COIL_D_ELEM && !source_expect(s, '<')) return false;
    if (token_is(s, name, "typeid"))
        return asm_unsigned(a, UINT64_MAX, &t->id) && source_expect(s, '>');
    if (data != COIL_D_BITS && data != COIL_D_FLOAT && !(t->elem = asm_type(a, level + 1)))
        return false;
    bool ok = true;
    switch ((enum coil_data)data) {
    case COIL_D_BITS: ok = dimension(a, t, 0); break;
    case COIL_D_FLOAT:
        ok = dimension(a, t, 0) && source_expect(s, ',') && dimension(a, t, 1);
        break;
    case COIL_D_COUNT: ok = more_dimensions(a, t, 1); break;
    case COIL_D_ROWS:
    case COIL_D_ORDER: ok = more_dimensions(a, t, 2); break;
    case COIL_D_DIMS: ok = tensor_dimensions(a, t); break;
    default: break;
    }
    return ok && source_expect(s, '>');
}

const struct coil_type *asm_type(struct coil_asm *a, unsigned level)
{
    struct source *s = a->s;
    uint8_t ext = 0, bit;
    while ((bit = qualifier(s, source_peek(s)))) {
        ext |= bit;
        source_next(s);
    }
    struct token t = source_next(s);
    int op = base_type(s, t);
    if (op < 0) {
        source_unexpected(s, t, "a type");
        return NULL;
    }
    if (level > COIL_TYPE_LEVELS) {
        error_at(s->err, COIL_NEST_TYPE, t.offset, "more than %d levels of types",
                 COIL_TYPE_LEVELS);
        return NULL;
    }
    if (!ext && coil_types[op].data == COIL_D_NONE) return coil_scalar((uint8_t)op);
    struct coil_type *type = arena_alloc(&a->arena, 1, sizeof *type, s->err);
    if (!type) return NULL;
    type->op = (uint8_t)op;
    type->ext = ext;
    if (!type_body(a, type, t, level) || !coil_type_finish(type, t.offset, s->err)) return NULL;
    return level > 1 || coil_type_nesting(type, t.offset, s->err) ? type : NULL;
}

/* ---- literals ---- */

struct literal {
    bool negative, real;
    uint64_t magnitude;
    struct token token; /* of the number; a word for inf and nan */
    uint64_t at;
};

static bool is_literal(const struct source *s, struct token t)
{
    return t.kind == TOKEN_INT || t.kind == TOKEN_FLOAT ||
           (t.kind == TOKEN_PUNCT && t.as.punct == '-') || word(s, t, "inf") || word(s, t, "nan");
}

static bool parse_literal(struct coil_asm *a, struct literal *l)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    *l = (struct literal){.at = t.offset};
    if (t.kind == TOKEN_PUNCT && t.as.punct == '-') {
        l->negative = true;
        t = source_next(s);
    }
    l->token = t;
    if (s->err->code) return false;
    if (t.kind == TOKEN_INT) {
        l->magnitude = t.as.u;
        return true;
    }
    l->real = t.kind == TOKEN_FLOAT || word(s, t, "inf") || word(s, t, "nan");
    return l->real || source_unexpected(s, t, "a number");
}

static double literal_double(const struct coil_asm *a, const struct literal *l, bool single)
{
    double value;
    if (!l->real) {
        value = single ? (double)(float)l->magnitude : (double)l->magnitude;
    } else if (word(a->s, l->token, "inf")) {
        value = INFINITY;
    } else if (word(a->s, l->token, "nan")) {
        value = NAN;
    } else {
        char text[64];
        size_t n = l->token.size < sizeof text - 1 ? l->token.size : sizeof text - 1, k = 0;
        for (size_t i = 0; i < n; i++)
            if (a->s->text.data[l->token.offset + i] != '_')
                text[k++] = (char)a->s->text.data[l->token.offset + i];
        text[k] = 0;
        value = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    }
    return l->negative && !isnan(value) ? -value : value;
}

/* The bits of a literal in a scalar type. */
static bool literal_bits(struct coil_asm *a, const struct literal *l, uint8_t op, uint64_t *bits)
{
    penta_error *err = a->s->err;
    const struct coil_type_info *info = &coil_types[op];
    if (info->family == COIL_F_REAL) {
        double wide = literal_double(a, l, op == COIL_T_FP32);
        float single = (float)wide;
        uint32_t half;
        memcpy(&half, &single, 4);
        memcpy(bits, &wide, 8);
        if (op == COIL_T_FP32)
            *bits = isnan(wide) ? 0x7fc00000 : half;
        else if (isnan(wide))
            *bits = UINT64_C(0x7ff8000000000000);
        return true;
    }
    if (!coil_is_int(op))
        return error_at(err, COIL_IMM_TYPE, l->at, "a number cannot be a %s", info->name);
    if (l->real) {
        error_at(err, COIL_IMM_TYPE, l->at, "a float cannot stand for %s", info->text);
        return error_note(err, "write a whole number, or convert with CAST");
    }
    unsigned width = op == COIL_T_BIT ? 1 : 8u * info->bytes;
    uint64_t most = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint64_t least = op == COIL_T_BIT ? 0 : UINT64_C(1) << (width - 1);
    if (l->negative ? l->magnitude > least : l->magnitude > most) {
        error_at(err, COIL_IMM_RANGE, l->at, "%s%llu does not fit %s", l->negative ? "-" : "",
                 (unsigned long long)l->magnitude, info->text);
        return error_note(err, "%s holds -%llu to %llu", info->text, (unsigned long long)least,
                          (unsigned long long)most);
    }
    *bits = (l->negative ? 0 - l->magnitude : l->magnitude) & most;
    return true;
}

bool asm_number(struct coil_asm *a, uint8_t type, uint64_t *bits)
{
    struct literal l;
    return parse_literal(a, &l) && literal_bits(a, &l, type, bits);
}

/* ---- operands ---- */

enum { PENDING = 0x80 }; /* form of a literal that has no type yet */

struct parsed {
    struct coil_operand *o;
    struct literal literal;        /* PENDING */
    bool typed;                    /* says a type that other literals may take */
    const struct coil_type *lanes; /* the declared type of a vector variable */
    uint64_t at;                   /* in the source */
};

static const struct asm_variable *find_variable(const struct coil_asm *a, penta_bytes name,
                                                uint64_t id, bool numeric)
{
    for (size_t i = a->variable_count; i-- > 0;) {
        const struct asm_variable *v = &a->variables[i];
        if (numeric ? !v->name.size && v->id == id
                    : v->name.size == name.size && !memcmp(v->name.data, name.data, name.size))
            return v;
    }
    return NULL;
}

static void set_typed(struct coil_operand *o, const struct coil_type *type, uint8_t value_bits)
{
    o->op = type->op;
    o->ext = (uint8_t)(type->ext | value_bits);
    o->type = type;
}

/* % name or number, with the type said before it or NULL. */
static bool variable(struct coil_asm *a, struct parsed *p, const struct coil_type *type)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    bool numeric = t.kind == TOKEN_INT;
    if (!numeric && t.kind != TOKEN_NAME) return source_unexpected(s, t, "the name of a variable");
    penta_bytes name = token_text(s, t);
    const struct asm_variable *v = find_variable(a, name, t.as.u, numeric);
    if (!v && (!numeric || !type)) {
        error_at(s->err, COIL_VAR_UNDECLARED, t.offset, "%%%.*s is not declared here",
                 (int)(name.size > 60 ? 60 : name.size), (const char *)name.data);
        struct suggest near = {.word = name};
        for (size_t i = 0; !numeric && i < a->variable_count; i++) {
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
    if (!type) { /* the declared type; its qualifiers hold anyway */
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

/* v0 .. v15, reg0 .. reg65535 */
static bool register_number(const struct source *s, struct token t, uint64_t *number)
{
    if (t.kind != TOKEN_NAME) return false;
    penta_bytes text = token_text(s, t);
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

static void plain(struct coil_operand *o, uint8_t op, uint8_t ext, uint8_t form, uint64_t value)
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

/* base or index of a memory operand. */
static bool address_part(struct coil_asm *a, struct coil_operand *o, bool base)
{
    struct source *s = a->s;
    struct token t = source_peek(s);
    struct coil_operand *part = new_part(a, o);
    uint64_t number;
    const struct coil_type *type = NULL;
    if (register_number(s, t, &number)) {
        source_next(s);
        plain(part, COIL_T_REG, 0, COIL_REGISTER, number);
        return true;
    }
    if (asm_is_type(a, t)) {
        if (!(type = asm_type(a, 1))) return false;
        t = source_peek(s);
    }
    if (base && is_symbol(s, t)) {
        source_next(s);
        if (!asm_symbol_operand(a, t, &number)) return false;
        plain(part, COIL_T_SYMBOL, COIL_SYMBOL, COIL_ADDR, number);
        if (type) {
            part->form = COIL_SYM;
            set_typed(part, type, COIL_SYMBOL);
        }
        return true;
    }
    if (base && !type && t.kind == TOKEN_INT) {
        source_next(s);
        plain(part, COIL_T_UNT64, COIL_IMMEDIATE, COIL_IMM, t.as.u);
        part->type = coil_scalar(COIL_T_UNT64);
        return true;
    }
    if (!source_accept(s, '%'))
        return source_unexpected(
            s, t, base ? "a base: variable, symbol, register or number" : "an index");
    struct parsed p = {.o = part};
    return variable(a, &p, type);
}

static bool memory(struct coil_asm *a, struct parsed *p, const struct coil_type *type)
{
    struct source *s = a->s;
    struct coil_operand *o = p->o;
    plain(o, COIL_T_MEM, type->ext, COIL_MEM, 0);
    if (type->ext) { /* qualifiers belong to the access */
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
        plain(part, COIL_T_UNT8, COIL_IMMEDIATE, COIL_IMM, scale);
        part->type = coil_scalar(COIL_T_UNT8);
        plus = source_accept(s, '+');
        minus = !plus && source_accept(s, '-');
    }
    if (plus || minus) {
        uint64_t disp;
        if (!asm_unsigned(a, UINT64_MAX, &disp)) return false;
        struct coil_operand *part = new_part(a, o);
        plain(part, COIL_T_INT64, COIL_IMMEDIATE, COIL_IMM, minus ? 0 - disp : disp);
        part->type = coil_scalar(COIL_T_INT64);
    }
    return source_expect(s, ']');
}

/* { literal, ... }: one per lane. */
static bool lanes(struct coil_asm *a, struct coil_operand *o, const struct coil_type *type,
                  uint64_t at)
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
    ok = ok && source_expect(a->s, '}');
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

/* hex:0011.. the memory image of the value */
static bool hex_image(struct coil_asm *a, struct coil_operand *o, const struct coil_type *type,
                      uint64_t at)
{
    struct source *s = a->s;
    size_t from = s->pos, end = from, size = 0;
    while (end < s->text.size && hex_digit(s->text.data[end]) >= 0)
        end++;
    s->pos = end;
    uint8_t *bytes = hex_parse(bytes_slice(s->text, from, end - from), &size);
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

/* What may stand behind a type. */
static bool typed(struct coil_asm *a, struct parsed *p)
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
    if (source_accept(s, '%')) return variable(a, p, type);
    if (source_accept(s, '[')) return memory(a, p, type);
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
    if (source_accept(s, '{')) return lanes(a, o, type, t.offset);
    if (word(s, t, "hex")) {
        source_next(s);
        return source_expect(s, ':') && hex_image(a, o, type, t.offset);
    }
    if (is_literal(s, t)) return asm_number(a, type->op, &o->value);
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
        if (word(a->s, t, kinds[i].word)) {
            source_next(a->s);
            plain(o, kinds[i].op, kinds[i].ext, kinds[i].form, 0);
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
    plain(o, (uint8_t)(COIL_T_PARAM0 - (text.data[5] - '0')), (uint8_t)value, COIL_PARAM, value);
    return true;
}

static bool measure(struct coil_asm *a, struct parsed *p, uint8_t op)
{
    source_next(a->s);
    plain(p->o, op, 0, COIL_MEASURE, 0);
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
    plain(o, COIL_T_STRING, 0, COIL_STRING, 0);
    o->image = text; /* its offset is known when the string table is */
    return true;
}

static bool operand(struct coil_asm *a, struct parsed *p, uint8_t opcode, unsigned i)
{
    struct source *s = a->s;
    struct token t = source_peek(s);
    struct coil_operand *o = p->o;
    p->at = t.offset;
    uint64_t number;
    int found;
    bool conditional =
        !i && (opcode == COIL_OP_BR || opcode == COIL_OP_CALL || opcode == COIL_OP_RET);
    if (conditional && (found = name_in(s, t, coil_conditions, 20)) >= 0) {
        source_next(s);
        plain(o, COIL_T_PARAM0, (uint8_t)found, COIL_PARAM, (uint64_t)found);
        return true;
    }
    if (coil_ops[opcode].group == COIL_G_ATOMIC && (found = name_in(s, t, coil_orders, 5)) >= 0) {
        source_next(s);
        plain(o, COIL_T_PARAM0, (uint8_t)found, COIL_PARAM, (uint64_t)found);
        return true;
    }
    if (register_number(s, t, &number)) {
        source_next(s);
        plain(o, COIL_T_REG, 0, COIL_REGISTER, number);
        return true;
    }
    if (t.kind == TOKEN_STRING) return string_operand(a, o, t);
    if (is_symbol(s, t)) {
        source_next(s);
        plain(o, COIL_T_SYMBOL, COIL_SYMBOL, COIL_ADDR, 0);
        return asm_symbol_operand(a, t, &o->value);
    }
    if (is_literal(s, t)) {
        o->form = PENDING;
        return parse_literal(a, &p->literal);
    }
    if (asm_is_type(a, t)) return typed(a, p);
    if (source_accept(s, '%')) return variable(a, p, NULL);
    if (word(s, t, "sizeof")) return measure(a, p, COIL_T_SIZEOF);
    if (word(s, t, "alignof")) return measure(a, p, COIL_T_ALIGNOF);
    if (id_operand(a, o, t) || s->err->code) return !s->err->code;
    if (param_operand(a, o, t) || s->err->code) return !s->err->code;
    return source_unexpected(s, t, "an operand");
}

/* ---- types of untyped numbers ---- */

/* A type that the position alone decides, or -1. */
static int fixed_type(uint8_t opcode, unsigned i, unsigned count)
{
    const char *forms = coil_ops[opcode].forms;
    switch (opcode) {
    case COIL_OP_GETE: return i == 2 ? COIL_T_INT32 : -1;
    case COIL_OP_SETE: return i == 1 ? COIL_T_INT32 : -1;
    case COIL_OP_EXTRACT:
    case COIL_OP_INSERT: return i >= 2 ? COIL_T_INT32 : -1;
    case COIL_OP_ROW:
    case COIL_OP_COL:
    case COIL_OP_DIAG: return i >= 1 ? COIL_T_INT32 : -1;
    case COIL_OP_INPORT: return i == 1 ? COIL_T_UNT16 : -1;
    case COIL_OP_OUTPORT: return i == 0 ? COIL_T_UNT16 : -1;
    case COIL_OP_MEMGET:
    case COIL_OP_MEMADDR: return i == 2 ? COIL_T_UNT16 : -1;
    case COIL_OP_MEMPUT: return i == 1 ? COIL_T_UNT16 : -1;
    case COIL_OP_MEMSET: return i == 1 ? COIL_T_UNT8 : COIL_T_UNT64;
    case COIL_OP_MEMCPY:
    case COIL_OP_MEMZERO:
    case COIL_OP_FREE: return COIL_T_UNT64;
    case COIL_OP_ALLOC:
    case COIL_OP_LOADALIGN: return i >= 1 ? COIL_T_UNT64 : -1;
    case COIL_OP_STOREALIGN: return i != 1 ? COIL_T_UNT64 : -1;
    case COIL_OP_TRAP: return COIL_T_INT32;
    default: break;
    }
    if (!forms) return -1;
    if (*forms == 'U') return i == 0 ? COIL_T_UNT64 : -1;
    return strchr(forms, 'S') && i + 1 == count ? COIL_T_INT32 : -1;
}

/* The scalar or lane type that an operand says, or -1. */
static int said_type(const struct coil_asm *a, const struct parsed *p)
{
    const struct coil_type *t = p->typed ? p->o->type : NULL;
    if (t && coil_types[t->op].family == COIL_F_VECTOR && !t->elem) t = p->lanes;
    t = t ? coil_type_resolve(&a->ids, t) : NULL;
    if (t && coil_types[t->op].family == COIL_F_VECTOR && t->elem) t = t->elem;
    return t && coil_is_scalar(t->op) ? t->op : -1;
}

static bool settle(struct coil_asm *a, struct parsed *parsed, unsigned count, uint8_t opcode)
{
    int first = -1;
    for (unsigned i = 0; i < count && first < 0; i++)
        first = said_type(a, &parsed[i]);
    for (unsigned i = 0; i < count; i++) {
        struct coil_operand *o = parsed[i].o;
        if (o->form != PENDING) continue;
        int type = fixed_type(opcode, i, count);
        if (type < 0) type = first < 0 ? COIL_T_INT64 : first;
        plain(o, (uint8_t)type, COIL_IMMEDIATE, COIL_IMM, 0);
        o->type = coil_scalar((uint8_t)type);
        if (!literal_bits(a, &parsed[i].literal, (uint8_t)type, &o->value)) return false;
    }
    return true;
}

/* ---- declarations ---- */

static bool push_variable(struct coil_asm *a, struct asm_variable v)
{
    if (a->variable_count == a->variable_capacity) {
        size_t more = a->variable_capacity ? a->variable_capacity * 2 : 32;
        void *moved = realloc(a->variables, more * sizeof *a->variables);
        if (!moved) return error_at(a->s->err, BASE_MEMORY, 0, "no memory for %zu variables", more);
        a->variables = moved;
        a->variable_capacity = more;
    }
    a->variables[a->variable_count++] = v;
    return true;
}

/* The id of a VAR: a new one for every name. */
static bool declared_id(struct coil_asm *a, struct asm_variable *v, struct coil_operand *o)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    *v = (struct asm_variable){.depth = a->depth};
    plain(o, COIL_T_VARID, 0, COIL_VARID, t.as.u);
    if (t.kind == TOKEN_INT) {
        v->id = t.as.u;
        return true;
    }
    if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "the name of a variable");
    penta_bytes name = token_text(s, t);
    const struct asm_variable *known = find_variable(a, name, 0, false);
    if (known && known->depth == a->depth)
        return error_at(s->err, COIL_VAR_DUP, t.offset, "%%%.*s is declared already in this scope",
                        (int)(name.size > 60 ? 60 : name.size), (const char *)name.data);
    const uint8_t *copy = arena_copy(&a->arena, name, s->err);
    if (!copy) return false;
    v->name = (penta_bytes){copy, name.size};
    o->value = v->id = ++a->next_id;
    return true;
}

static bool track(struct coil_asm *a, const struct coil_insn *insn,
                  const struct asm_variable *declared)
{
    penta_error ignored = {0};
    const struct coil_operand *o = insn->operands;
    switch (insn->opcode) {
    case COIL_OP_SCOPE: a->depth++; break;
    case COIL_OP_SCOPL:
        if (a->depth) a->depth--;
        while (a->variable_count && a->variables[a->variable_count - 1].depth > a->depth)
            a->variable_count--;
        break;
    case COIL_OP_VAR:
        if (insn->count > 1 && o[1].type && declared) {
            struct asm_variable v = *declared;
            v.type = o[1].type;
            return push_variable(a, v);
        }
        break;
    case COIL_OP_TYPE:
    case COIL_OP_TYPEAL:
        if (insn->count == 2 && o[1].type) coil_type_bind(&a->ids, o[0].value, o[1].type, &ignored);
        break;
    default: break;
    }
    return true;
}

/* ---- instructions ---- */

static bool emit(struct coil_asm *a)
{
    struct coil_insn *insn = a->insn;
    struct coil_out_section *section = asm_section(a);
    penta_error *err = a->s->err;
    if (section->head.type == COIL_S_BSS)
        return error_at(err, COIL_DIRECTIVE, a->s->pos,
                        "an instruction in a section without bytes");
    uint64_t at = section->data.out.size;
    for (unsigned i = 0; i < insn->count; i++) {
        /* A literal's operand holds its text until here; all before it is written first. */
        if (insn->operands[i].form != COIL_STRING || !insn->operands[i].image.data) continue;
        struct writer before = {.big_endian = a->object.big_endian};
        uint8_t count = insn->count;
        insn->count = (uint8_t)i;
        coil_insn_write(&before, insn);
        insn->count = count;
        struct coil_literal literal = {a->section, at + before.out.size + 2, 8,
                                       insn->operands[i].image};
        writer_free(&before);
        if (!coil_object_literal(&a->object, literal, err)) return false;
    }
    coil_insn_write(&section->data, insn);
    return true;
}

static bool operands(struct coil_asm *a, uint8_t opcode, bool more, unsigned least, unsigned most,
                     uint64_t at, const char *name)
{
    struct source *s = a->s;
    struct coil_insn *insn = a->insn;
    struct parsed parsed[COIL_OPERANDS_MAX];
    struct asm_variable declared;
    bool declares = false;
    unsigned n = 0;
    insn->opcode = opcode;
    insn->parts_count = 0;
    insn->count = 0;
    while (more) {
        if (n == COIL_OPERANDS_MAX)
            return error_at(s->err, COIL_OPERAND_COUNT, s->pos, "more than 255 operands");
        struct coil_operand *o = &insn->operands[n];
        *o = (struct coil_operand){0};
        parsed[n] = (struct parsed){.o = o};
        if (opcode == COIL_OP_VAR && !n && source_accept(s, '%')) {
            declares = true;
            if (!declared_id(a, &declared, o)) return false;
        } else if (!operand(a, &parsed[n], opcode, n)) {
            return false;
        }
        n++;
        more = source_accept(s, ',');
    }
    struct token end = source_peek(s);
    if (end.kind != TOKEN_LINE && end.kind != TOKEN_END)
        return source_unexpected(s, end, "a comma or the end of the line");
    if (n < least || n > most) {
        error_at(s->err, COIL_OPERAND_COUNT, at, "%s takes %u%s operand%s, not %u", name, least,
                 most > least ? " or more" : "", least == 1 && most == 1 ? "" : "s", n);
        return error_note(s->err, "penta formats coil --instructions lists every form");
    }
    if (!settle(a, parsed, n, opcode)) return false;
    insn->count = (uint8_t)n;
    return emit(a) && track(a, insn, declares ? &declared : NULL);
}

bool asm_mnemonics(struct coil_asm *a, penta_error *err)
{
    char lower[24];
    for (unsigned op = 0; op < 256; op++) {
        const char *name = coil_ops[op].name;
        if (!name) continue;
        size_t n = 0;
        for (; name[n]; n++)
            lower[n] = (char)(name[n] | 32);
        if (!labels_define(&a->mnemonics, (penta_bytes){(const uint8_t *)lower, n}, op, 0, err))
            return false;
    }
    return true;
}

static bool unknown(struct coil_asm *a, struct token t)
{
    struct suggest near = {.word = token_text(a->s, t)};
    for (unsigned op = 0; op < 256; op++)
        if (coil_ops[op].name) suggest_offer(&near, coil_ops[op].name);
    error_at(a->s->err, BASE_MNEMONIC, t.offset, "unknown instruction '%.*s'",
             (int)(t.size > 40 ? 40 : t.size), (const char *)near.word.data);
    if (near.best) error_note(a->s->err, "did you mean %s?", near.best);
    return false;
}

static bool more_on_line(struct coil_asm *a)
{
    struct token t = source_peek(a->s);
    return t.kind != TOKEN_LINE && t.kind != TOKEN_END;
}

static bool vendor(struct coil_asm *a, struct token t)
{
    uint64_t extended;
    penta_bytes digits = bytes_slice(token_text(a->s, t), 7, t.size);
    if (!number_parse_bytes(digits, &extended) || extended > 255)
        return source_unexpected(a->s, t, "VENDOR.0x00 to VENDOR.0xff");
    a->insn->extended = (uint8_t)extended;
    return operands(a, COIL_OP_VENDOR, more_on_line(a), 0, 255, t.offset, "VENDOR");
}

bool coil_asm_instruction(struct coil_asm *a, struct token t)
{
    penta_bytes text = token_text(a->s, t);
    char lower[24];
    unsigned least, most;
    struct token stem = t;
    stem.size = 7;
    if (t.size > 7 && token_is(a->s, stem, "VENDOR.")) return vendor(a, t);
    if (text.size < sizeof lower) {
        for (size_t i = 0; i < text.size; i++) {
            uint8_t c = text.data[i];
            lower[i] = (char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
        }
        const struct label *found =
            labels_find(&a->mnemonics, (penta_bytes){(const uint8_t *)lower, text.size});
        if (found) {
            uint8_t opcode = (uint8_t)found->value;
            coil_op_counts(opcode, &least, &most);
            return operands(a, opcode, more_on_line(a), least, most, t.offset,
                            coil_ops[opcode].name);
        }
    }
    unsigned unit = a->object.header.target_pu ? a->object.header.target_pu : COIL_UNIT_CPU;
    for (const struct coil_unit_op *op = coil_unit_ops; op->name; op++)
        if ((op->unit == unit || op->unit == COIL_UNIT_ABI) && token_is(a->s, t, op->name))
            return operands(a, op->code, more_on_line(a), op->least, op->most, t.offset, op->name);
    return unknown(a, t);
}

bool asm_opcode(struct coil_asm *a)
{
    uint64_t opcode;
    struct token t = source_peek(a->s);
    if (!asm_unsigned(a, 255, &opcode)) return false;
    a->insn->extended = 0;
    return operands(a, (uint8_t)opcode, source_accept(a->s, ','), 0, 255, t.offset, ".opcode");
}

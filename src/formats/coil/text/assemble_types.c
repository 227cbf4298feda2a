/* Reads the types of the text form (COIL 10.1). It relies on types.def for their names, and on
 * type.c for their size and rules. */
#include "coil/text/assemble.h"
#include <stdlib.h>
#include "base/array.h"

bool asm_unsigned(struct coil_asm *a, uint64_t max, uint64_t *value)
{
    struct token t = source_next(a->s);
    *value = t.kind == TOKEN_INT ? t.as.u : 0;
    if (t.kind != TOKEN_INT) return source_unexpected(a->s, t, "a number");
    return t.as.u <= max || error_at(a->s->err, COIL_IMM_RANGE, t.offset, "%llu, at most %llu",
                                     (unsigned long long)t.as.u, (unsigned long long)max);
}

static int base_type(const struct source *s, struct token t)
{
    if (t.kind != TOKEN_NAME) return -1;
    /* Both names of a type begin with the same letter. */
    char first = (char)(s->text.data[t.offset] | 32);
    for (int op = 0; op < 256; op++) {
        const struct coil_type_info *info = &coil_types[op];
        if (!info->text || info->text[0] != first || info->family == COIL_F_SPECIAL) continue;
        bool scalar = info->data == COIL_D_NONE;
        if (token_is(s, t, info->text) || (scalar && token_is(s, t, info->name))) return op;
    }
    return token_is(s, t, "typeid") ? COIL_T_ALIAS : -1;
}

static uint8_t assemble_types_qualifier(const struct source *s, struct token t)
{
    if (t.kind != TOKEN_NAME || !strchr("cvas", s->text.data[t.offset] | 32)) return 0;
    for (int i = 0; i < 4; i++)
        if (asm_word(s, t, coil_qualifiers[i])) return (uint8_t)(1 << i);
    return 0;
}

bool asm_is_type(struct coil_asm *a, struct token t)
{
    return assemble_types_qualifier(a->s, t) || base_type(a->s, t) >= 0;
}

static bool assemble_types_dimension(struct coil_asm *a, struct coil_type *t, unsigned i)
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
        if (!source_expect(a->s, ',') || !assemble_types_dimension(a, t, i)) return false;
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
        if (!assemble_types_dimension(a, t, i++)) return false;
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
        ok = ARRAY_GROW(members, capacity, count, a->s->err);
        if (!ok) break;
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
    /* A vector type of fixed size without lanes, such as v128, is allowed when memory is
     * accessed. */
    if (data == COIL_D_ELEM && !source_accept(s, '<')) return true;
    if (data != COIL_D_ELEM && !source_expect(s, '<')) return false;
    if (token_is(s, name, "typeid"))
        return asm_unsigned(a, UINT64_MAX, &t->id) && source_expect(s, '>');
    if (data != COIL_D_BITS && data != COIL_D_FLOAT && !(t->elem = asm_type(a, level + 1)))
        return false;
    bool ok = true;
    switch ((enum coil_data)data) {
    case COIL_D_BITS: ok = assemble_types_dimension(a, t, 0); break;
    case COIL_D_FLOAT:
        ok = assemble_types_dimension(a, t, 0) && source_expect(s, ',') &&
             assemble_types_dimension(a, t, 1);
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
    while ((bit = assemble_types_qualifier(s, source_peek(s)))) {
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

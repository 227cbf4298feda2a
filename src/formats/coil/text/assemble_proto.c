/* Assembles .proto NAME, result(arguments[, ...]): the signature of a C function, or of a
 * function that C calls (COIL 8.9). Signatures are in a section of their own, which the first
 * .proto adds. */
#include "coil/format/proto.h"
#include "coil/text/assemble.h"

static bool assemble_proto_scalar(struct coil_asm *a, bool result, uint8_t *out)
{
    struct token t = source_peek(a->s);
    const struct coil_type *type = asm_type(a, 1);
    if (!type) return false;
    *out = type->op;
    bool fits = coil_proto_type(type->op) || (result && type->op == COIL_T_VOID);
    if (fits && !type->ext) return true;
    return error_at(a->s->err, COIL_PROTO, t.offset, "a prototype has plain scalars%s",
                    result ? ", or void" : "");
}

static bool assemble_proto_arguments(struct coil_asm *a, struct coil_proto *p)
{
    struct source *s = a->s;
    if (!source_expect(s, '(')) return false;
    if (source_accept(s, ')')) return true;
    do {
        struct token t = source_peek(s);
        if (t.kind == TOKEN_DIRECTIVE && token_is(s, t, "...")) {
            source_next(s);
            p->variadic = true;
            break;
        }
        if (p->count == COIL_PROTO_ARGS)
            return error_at(s->err, COIL_PROTO, t.offset, "more than %d arguments",
                            COIL_PROTO_ARGS);
        if (!assemble_proto_scalar(a, false, &p->types[p->count])) return false;
        p->count++;
    } while (source_accept(s, ','));
    return source_expect(s, ')');
}

static int64_t assemble_proto_section(struct coil_asm *a)
{
    for (size_t i = 0; i < a->object.section_count; i++)
        if (bytes_equal(a->object.sections[i].name, bytes_of(COIL_PROTO_NAME))) return (int64_t)i;
    struct coil_section head = {.type = COIL_S_COMMENT, .flags = COIL_INFO, .align = 4};
    return coil_object_section(&a->object, bytes_of(COIL_PROTO_NAME), head, a->s->err);
}

bool asm_proto(struct coil_asm *a)
{
    struct source *s = a->s;
    struct coil_proto p = {0};
    struct token t = source_next(s);
    if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "the name of a function");
    int64_t symbol = asm_symbol(a, token_text(s, t));
    if (symbol < 0 || !source_expect(s, ',') || !assemble_proto_scalar(a, true, &p.result) ||
        !assemble_proto_arguments(a, &p))
        return false;
    int64_t to = assemble_proto_section(a);
    if (to < 0) return false;
    p.symbol = (uint32_t)symbol;
    coil_proto_write(&a->object.sections[to].data, &p);
    return true;
}

/* Reads, writes, prints, describes and checks the rows of the section .coil.proto, which are
 * signatures of functions (COIL 8.9). */
#include "coil/format/proto.h"
#include "core/describe.h"

bool coil_is_proto(const struct coil_module *m, size_t section)
{
    return bytes_equal(coil_string(m, m->sections[section].name_idx), bytes_of(COIL_PROTO_NAME)) &&
           !coil_is_code(&m->sections[section]);
}

static bool proto_wrong(penta_error *err, const struct coil_module *m, size_t section, size_t at,
                        const char *what)
{
    return error_at(err, COIL_PROTO, m->sections[section].offset + at, "%s", what);
}

bool coil_proto_next(const struct coil_module *m, size_t section, size_t *at,
                     struct coil_proto *out, penta_error *err)
{
    penta_bytes rows = coil_contents(m, section);
    if (*at >= rows.size) return false;
    if (rows.size - *at < COIL_PROTO_HEAD)
        return proto_wrong(err, m, section, *at, "a prototype that is cut off");
    uint32_t head[4];
    for (unsigned i = 0; i < 4; i++)
        head[i] = (uint32_t)bytes_uint(rows.data + *at + 4 * i, 4, m->big_endian);
    *out = (struct coil_proto){
        .symbol = head[0], .result = (uint8_t)head[1], .variadic = head[2], .count = head[3]};
    if (out->symbol >= m->symbol_count)
        return proto_wrong(err, m, section, *at, "a prototype of a symbol that does not exist");
    if (head[1] > 0xff || (out->result != COIL_T_VOID && !coil_proto_type(out->result)))
        return proto_wrong(err, m, section, *at + 4, "a result that is neither a scalar nor void");
    if (head[2] > 1) return proto_wrong(err, m, section, *at + 8, "flags other than 1");
    if (out->count > COIL_PROTO_ARGS)
        return proto_wrong(err, m, section, *at + 12, "more than 32 arguments");
    if ((rows.size - *at - COIL_PROTO_HEAD) / 4 < out->count)
        return proto_wrong(err, m, section, *at + 12, "a prototype that is cut off");
    for (uint32_t i = 0; i < out->count; i++) {
        size_t place = *at + COIL_PROTO_HEAD + 4 * i;
        uint64_t type = bytes_uint(rows.data + place, 4, m->big_endian);
        if (type > 0xff || !coil_proto_type((uint8_t)type))
            return proto_wrong(err, m, section, place, "an argument that is no scalar");
        out->types[i] = (uint8_t)type;
    }
    *at += COIL_PROTO_HEAD + 4 * (size_t)out->count;
    return true;
}

/* Finds the first signature of a symbol. */
static bool proto_find(const struct coil_module *m, size_t symbol, struct coil_proto *out)
{
    for (size_t i = 0; i < m->section_count; i++) {
        penta_error err = {0};
        size_t at = 0;
        while (coil_is_proto(m, i) && coil_proto_next(m, i, &at, out, &err))
            if (out->symbol == symbol) return true;
    }
    return false;
}

static bool proto_equal(const struct coil_proto *a, const struct coil_proto *b)
{
    return a->result == b->result && a->variadic == b->variadic && a->count == b->count &&
           !memcmp(a->types, b->types, a->count);
}

void coil_proto_write(struct writer *out, const struct coil_proto *p)
{
    writer_uint(out, p->symbol, 4);
    writer_uint(out, p->result, 4);
    writer_uint(out, p->variadic, 4);
    writer_uint(out, p->count, 4);
    for (uint32_t i = 0; i < p->count; i++) writer_uint(out, p->types[i], 4);
}

void coil_proto_print(struct writer *out, const struct coil_proto *p)
{
    writer_print(out, "%s(", coil_types[p->result].text);
    for (uint32_t i = 0; i < p->count; i++)
        writer_print(out, "%s%s", i ? ", " : "", coil_types[p->types[i]].text);
    if (p->variadic) writer_text(out, p->count ? ", ..." : "...");
    writer_char(out, ')');
}

static void proto_word(const penta_visitor *v, const struct coil_module *m, const char *name,
                       uint64_t offset, const char *note)
{
    describe_field(v,
                   (penta_field){.name = name,
                                 .offset = offset,
                                 .size = 4,
                                 .kind = PENTA_UINT,
                                 .as.u = bytes_uint(m->base.file.data + offset, 4, m->big_endian),
                                 .note = note});
}

void coil_proto_describe(const struct coil_module *m, size_t section, const penta_visitor *v)
{
    struct coil_proto p;
    penta_error err = {0};
    uint64_t origin = m->sections[section].offset;
    size_t at = 0, from = 0;
    while (coil_proto_next(m, section, &at, &p, &err)) {
        penta_node node = {.name = "prototype", .offset = origin + from, .size = at - from};
        uint64_t place = origin + from;
        from = at;
        if (!describe_enter(v, node)) continue;
        struct writer text = {0};
        coil_proto_print(&text, &p);
        describe_field(v, (penta_field){.name = "name",
                                        .kind = PENTA_TEXT,
                                        .as.bytes = coil_symbol_name(m, p.symbol)});
        describe_written(v, (penta_field){.name = "signature", .kind = PENTA_TEXT}, &text);
        proto_word(v, m, "symbol", place, NULL);
        proto_word(v, m, "result", place + 4, coil_types[p.result].text);
        proto_word(v, m, "variadic", place + 8, NULL);
        proto_word(v, m, "count", place + 12, NULL);
        for (uint32_t i = 0; i < p.count; i++)
            proto_word(v, m, "argument", place + COIL_PROTO_HEAD + 4 * i,
                       coil_types[p.types[i]].text);
        describe_leave(v, node);
    }
    penta_bytes rows = coil_contents(m, section);
    if (from < rows.size)
        describe_raw(v, "rest", bytes_slice(rows, from, rows.size), origin + from, err.message);
}

/* If a symbol has several signatures, the first one is used, and the others must be equal to the
 * first. */
void coil_proto_verify(const struct coil_module *m, struct findings *f)
{
    for (size_t i = 0; i < m->section_count; i++) {
        struct coil_proto p, first;
        penta_error err = {0};
        size_t at = 0, from = 0;
        if (!coil_is_proto(m, i)) continue;
        for (size_t n = 0; coil_proto_next(m, i, &at, &p, &err); from = at, n++)
            if (n < 4096 && proto_find(m, p.symbol, &first) && !proto_equal(&p, &first))
                findings_add(f, COIL_PROTO, m->sections[i].offset + from, NULL,
                             "'%.*s' has two prototypes that differ",
                             BYTES_ARG(coil_symbol_name(m, p.symbol), 60));
        if (err.code) findings_pass(f, &err);
    }
}

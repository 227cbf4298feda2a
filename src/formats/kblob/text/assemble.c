/* The assembler (KBLOB 4).
 *
 *     ; one instruction per line
 *     .extern buf                  names an address given by the option define, buf=0x...
 *     .set    size, 8              a name for a number
 *     WRITE64 buf + size, 0x11223344
 *     HALT
 *
 * Directives for everything else, so that every blob can be written as text and back:
 *     .header version[, flags[, magic]]     also allows a blob without instructions
 *     .gap    "..." or hex         bytes between header and code
 *     .inst   opcode, flags, reserved, arg0, arg1
 *     .tail   hex                  bytes after the code
 *     .trailer [hex]               the checked trailer, with metadata; its CRC is computed */
#include <stdlib.h>
#include "base/codec/checksum.h"
#include "base/number.h"
#include "base/suggest.h"
#include "kblob/kblob.h"
#include "kblob/text/names.h"
#include "text/expr.h"

bool kblob_define_names(struct labels *names, const penta_option *options, size_t count,
                        penta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].key, "define")) continue;
        const char *text = options[i].value, *equals = strchr(text, '=');
        const char *colon = equals ? strchr(equals, ':') : NULL;
        uint64_t value = 0, size = 4096;
        penta_bytes name = bytes_slice(bytes_of(text), 0, equals ? (size_t)(equals - text) : 0);
        size_t digits = equals ? (colon ? (size_t)(colon - equals - 1) : strlen(equals + 1)) : 0;
        if (!name.size ||
            !number_parse_bytes((penta_bytes){(const uint8_t *)equals + 1, digits}, &value) ||
            (colon && !number_parse_size(colon + 1, &size)))
            return error_at(err, BASE_OPTION_VALUE, 0, "define '%.50s' is not NAME=ADDR[:LEN]",
                            text);
        if (!labels_define(names, name, value, 0, err)) return false;
        labels_find(names, name)->size = size;
    }
    return true;
}

struct assembly {
    struct source *s;
    struct labels names; /* .extern, .set and the option define */
    struct kblob_header header;
    struct writer gap, code, tail, metadata;
    uint32_t count;
    bool trailer, has_header;
};

static bool operand(struct assembly *a, unsigned bits, uint64_t *value)
{
    return expr_field(a->s, labels_value, &a->names, bits, value);
}

static bool comma_operand(struct assembly *a, unsigned bits, uint64_t *value)
{
    return source_expect(a->s, ',') && operand(a, bits, value);
}

static bool emit(struct assembly *a, const struct kblob_inst *in)
{
    kblob_inst_write(&a->code, in);
    a->count++;
    return true;
}

static bool instruction(struct assembly *a, unsigned opcode)
{
    uint64_t arg0 = 0, arg1 = 0;
    bool ok = true;
    switch (kblob_ops[opcode].shape) {
    case KBLOB_SHAPE_NONE: break;
    case KBLOB_SHAPE_TIME: ok = operand(a, 32, &arg1); break;
    case KBLOB_SHAPE_ADDRESS: ok = operand(a, 64, &arg0); break;
    case KBLOB_SHAPE_ADDRESS_VALUE:
    case KBLOB_SHAPE_ADDRESS_LENGTH: ok = operand(a, 64, &arg0) && comma_operand(a, 32, &arg1);
    }
    if (!ok) return false;
    struct kblob_inst in = {.opcode = (uint8_t)opcode, .arg0 = arg0, .arg1 = (uint32_t)arg1};
    return emit(a, &in);
}

/* A string, or hex digits up to the end of the line. */
static bool hex_line(struct assembly *a, struct writer *out)
{
    struct source *s = a->s;
    struct token t = source_peek(s);
    if (t.kind == TOKEN_STRING) {
        penta_bytes text;
        source_next(s);
        if (!token_string(s, t, &a->names.arena, &text)) return false;
        writer_bytes(out, text.data, text.size);
        return true;
    }
    s->pos = (size_t)t.offset;
    return source_hex(s, out);
}

static bool directive_header(struct assembly *a)
{
    uint64_t version = 0, flags = 0, magic = KBLOB_MAGIC;
    if (!operand(a, 16, &version)) return false;
    if (source_accept(a->s, ',') && !operand(a, 16, &flags)) return false;
    if (source_accept(a->s, ',') && !operand(a, 32, &magic)) return false;
    a->has_header = true;
    a->header.version = (uint16_t)version;
    a->header.flags = (uint16_t)flags;
    a->header.magic = (uint32_t)magic;
    return true;
}

static bool directive_inst(struct assembly *a)
{
    uint64_t v[5] = {0};
    static const unsigned bits[5] = {8, 8, 16, 64, 32};
    for (int i = 0; i < 5; i++)
        if (!(i ? comma_operand(a, bits[i], &v[i]) : operand(a, bits[i], &v[i]))) return false;
    struct kblob_inst in = {(uint8_t)v[0], (uint8_t)v[1], (uint16_t)v[2], v[3], (uint32_t)v[4]};
    return emit(a, &in);
}

static bool directive_name(struct assembly *a, bool set)
{
    struct token t = source_next(a->s);
    if (t.kind != TOKEN_NAME) return source_unexpected(a->s, t, "a name");
    penta_bytes name = token_text(a->s, t);
    if (set) {
        uint64_t value = 0;
        return comma_operand(a, 64, &value) &&
               labels_define(&a->names, name, value, t.offset, a->s->err);
    }
    const struct label *known = labels_find(&a->names, name);
    if (known && known->defined) return true;
    error_at(a->s->err, BASE_NAME_UNKNOWN, t.offset, "'%.*s' has no address", BYTES_ARG(name, 60));
    return error_note(a->s->err, "give one by the option define, %.*s=0x...", BYTES_ARG(name, 60));
}

static const char *const directives[] = {".header",  ".gap",    ".inst", ".tail",
                                         ".trailer", ".extern", ".set"};

static bool directive(struct assembly *a, struct token t)
{
    struct source *s = a->s;
    if (token_is(s, t, ".header")) return directive_header(a);
    if (token_is(s, t, ".gap")) return hex_line(a, &a->gap);
    if (token_is(s, t, ".inst")) return directive_inst(a);
    if (token_is(s, t, ".tail")) return hex_line(a, &a->tail);
    if (token_is(s, t, ".extern")) return directive_name(a, false);
    if (token_is(s, t, ".set")) return directive_name(a, true);
    if (token_is(s, t, ".trailer")) {
        a->trailer = true;
        enum token_kind next = source_peek(s).kind;
        return next == TOKEN_LINE || next == TOKEN_END || hex_line(a, &a->metadata);
    }
    return false;
}

static bool unknown_word(struct assembly *a, struct token t)
{
    struct suggest near = {.word = token_text(a->s, t)};
    for (unsigned code = 1; code < KBLOB_OP_DEFINED; code++)
        suggest_offer(&near, kblob_ops[code].mnemonic);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        suggest_offer(&near, directives[i]);
    error_at(a->s->err, BASE_MNEMONIC, t.offset, "unknown %s '%.*s'",
             t.kind == TOKEN_DIRECTIVE ? "directive" : "instruction", BYTES_ARG(near.word, 40));
    if (near.best) error_note(a->s->err, "did you mean '%s'?", near.best);
    return false;
}

static bool line(struct assembly *a)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    if (s->err->code || t.kind == TOKEN_LINE || t.kind == TOKEN_END) return !s->err->code;
    bool ok = false, known = false;
    if (t.kind == TOKEN_NAME) {
        for (unsigned code = 1; code < KBLOB_OP_DEFINED && !known; code++)
            if (token_is(s, t, kblob_ops[code].mnemonic)) {
                known = true;
                ok = instruction(a, code);
            }
    } else if (t.kind == TOKEN_DIRECTIVE) {
        ok = directive(a, t);
        known = ok || s->err->code;
    } else {
        return source_unexpected(s, t, "an instruction");
    }
    if (!known) return unknown_word(a, t);
    return ok && source_end_of_line(s);
}

static void finish(struct assembly *a, bool want_trailer, struct writer *out)
{
    a->header.entryOffset = (uint32_t)(kblob_header_bytes + a->gap.out.size);
    a->header.instCount = a->count;
    kblob_write(out, &a->header, writer_view(&a->gap), NULL, 0);
    writer_append(out, &a->code);
    writer_append(out, &a->tail);
    if (a->trailer || want_trailer) kblob_write_trailer(out, writer_view(&a->metadata));
    out->failed |= a->gap.failed || a->code.failed || a->tail.failed || a->metadata.failed;
}

bool kblob_assemble_source(struct source *s, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings)
{
    struct assembly a = {.s = s, .header = {.magic = KBLOB_MAGIC, .version = KBLOB_VERSION}};
    penta_error err = {0};
    s->err = &err;
    if (!kblob_define_names(&a.names, options, count, &err)) findings_pass(findings, &err);
    while (s->pos < s->text.size) {
        err = (penta_error){0};
        if (line(&a)) continue;
        findings_pass(findings, &err);
        source_skip_line(s);
    }
    if (!findings->errors && !a.count && !a.has_header)
        findings_add(findings, KBLOB_EMPTY, s->text.size, "write HALT for the shortest program",
                     "the text has no instruction");
    finish(&a, option_text(options, count, "trailer") != NULL, out);
    err = (penta_error){0};
    if (!writer_ok(out, &err)) findings_pass(findings, &err);
    writer_free(&a.gap);
    writer_free(&a.code);
    writer_free(&a.tail);
    writer_free(&a.metadata);
    labels_free(&a.names);
    return !findings->errors;
}

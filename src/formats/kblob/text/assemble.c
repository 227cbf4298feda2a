/* The assembler of kernel blobs reads this language (KBLOB 4).
 *
 *     ; one instruction per line
 *     .extern buf                  names an address given by the option define, buf=0x...
 *     .name   out, 0x20000, 64     names 64 bytes at an address
 *     .set    size, 8              a name for a number
 *     WRITE64 buf + size, 0x11223344
 *     start:                       names an instruction
 *     loop r1, 10                  version 2: blocks.c
 *     HALT
 *
 * It has directives for everything else, so that every blob can be written as text and back:
 *     .header version[, flags[, magic]]     also allows a blob without instructions
 *     .fuelled                     version 2 with header flag 1
 *     .gap    "..." or hex         bytes between header and code
 *     .inst   opcode, flags, reserved, arg0, arg1
 *     .tail   hex                  bytes after the code
 *     .trailer [hex]               the checked trailer, with metadata; its CRC is computed
 *     .symbols                     names and lines as its metadata, as by asm -g
 *     .file   "name"               of the source, for them
 *     .line   n                    of the next instructions, for them */
#include <stdlib.h>
#include "base/array.h"
#include "base/number.h"
#include "base/suggest.h"
#include "kblob/text/assembly.h"

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

static bool comma_number(struct assembly *a, unsigned bits, uint64_t *value)
{
    return source_expect(a->s, ',') && assembly_number(a, bits, value);
}

static bool note_line(struct assembly *a)
{
    struct kblob_symbol_list *l = &a->list;
    if (!a->has_line) { /* Lines are counted from the place that was counted last. */
        size_t to = a->s->pos ? a->s->pos - 1 : 0;
        if (!a->line) a->line = 1;
        for (; a->line_from < to; a->line_from++) a->line += a->s->text.data[a->line_from] == '\n';
    }
    if (l->line_count ? l->lines[l->line_count - 1].line == a->line : !a->line) return true;
    if (!ARRAY_GROW(l->lines, l->line_capacity, l->line_count, a->s->err)) return false;
    l->lines[l->line_count++] = (struct kblob_line){a->count, a->line};
    return true;
}

bool assembly_emit(struct assembly *a, const struct kblob_inst *in)
{
    if (a->symbols && !note_line(a)) return false;
    if (in->opcode >= KBLOB_FIRST_2 && !a->has_header) a->header.version = KBLOB_VERSION_2;
    kblob_inst_write(&a->code, in);
    a->count++;
    return true;
}

/* Reads a string, or hex digits up to the end of the line. */
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
    if (!assembly_number(a, 16, &version)) return false;
    if (source_accept(a->s, ',') && !assembly_number(a, 16, &flags)) return false;
    if (source_accept(a->s, ',') && !assembly_number(a, 32, &magic)) return false;
    a->has_header = true;
    a->header.version = (uint16_t)version;
    a->header.flags = (uint16_t)flags;
    a->header.magic = (uint32_t)magic;
    return true;
}

/* Emits an instruction that .inst gave. Such an instruction does not decide the version of the
 * program. */
static bool raw_emit(struct assembly *a, const struct kblob_inst *in)
{
    bool has_header = a->has_header;
    a->has_header = true;
    bool ok = assembly_emit(a, in);
    a->has_header = has_header;
    return ok;
}

static bool directive_inst(struct assembly *a)
{
    uint64_t v[5] = {0};
    static const unsigned bits[5] = {8, 8, 16, 64, 32};
    for (int i = 0; i < 5; i++)
        if (!(i ? comma_number(a, bits[i], &v[i]) : assembly_number(a, bits[i], &v[i])))
            return false;
    struct kblob_inst in = {(uint8_t)v[0], (uint8_t)v[1], (uint16_t)v[2], v[3], (uint32_t)v[4]};
    return raw_emit(a, &in);
}

static bool directive_name(struct assembly *a, bool set)
{
    struct token t = source_next(a->s);
    if (t.kind != TOKEN_NAME) return source_unexpected(a->s, t, "a name");
    penta_bytes name = token_text(a->s, t);
    if (set) {
        uint64_t value = 0;
        return comma_number(a, 64, &value) &&
               labels_define(&a->names, name, value, t.offset, a->s->err);
    }
    const struct label *known = labels_find(&a->names, name);
    if (known && known->defined) return true;
    error_at(a->s->err, BASE_NAME_UNKNOWN, t.offset, "'%.*s' has no address", BYTES_ARG(name, 60));
    return error_note(a->s->err, "option 'define' gives it one: %.*s=0x...", BYTES_ARG(name, 60));
}

static bool directive_range(struct assembly *a)
{
    struct token t = source_next(a->s);
    uint64_t value = 0, size = 1;
    if (t.kind != TOKEN_NAME) return source_unexpected(a->s, t, "a name");
    penta_bytes name = token_text(a->s, t);
    if (!comma_number(a, 64, &value)) return false;
    if (source_accept(a->s, ',') && !assembly_number(a, 64, &size)) return false;
    if (!labels_define(&a->names, name, value, t.offset, a->s->err)) return false;
    labels_find(&a->names, name)->size = size;
    return true;
}

static bool directive_trailer(struct assembly *a)
{
    a->trailer = true;
    enum token_kind next = source_peek(a->s).kind;
    return next == TOKEN_LINE || next == TOKEN_END || hex_line(a, &a->metadata);
}

static bool directive_fuelled(struct assembly *a)
{
    a->header.version = KBLOB_VERSION_2;
    a->header.flags |= KBLOB_FUELLED;
    a->fuelled = true;
    return true;
}

static bool directive_symbols(struct assembly *a)
{
    if (a->count)
        return error_at(a->s->err, BASE_STATE, a->s->pos, ".symbols comes before instructions");
    return a->symbols = true;
}

static bool directive_file(struct assembly *a)
{
    struct token t = source_next(a->s);
    penta_bytes text;
    if (t.kind != TOKEN_STRING) return source_unexpected(a->s, t, "a text in quotes");
    if (!token_string(a->s, t, &a->names.arena, &text)) return false;
    a->list.file = arena_copy(&a->names.arena, text, a->s->err);
    return a->list.file != NULL;
}

static bool directive_line(struct assembly *a)
{
    uint64_t line = 0;
    if (!assembly_number(a, 32, &line)) return false;
    a->line = (uint32_t)line;
    return a->has_line = true;
}

static bool directive_gap(struct assembly *a) { return hex_line(a, &a->gap); }
static bool directive_tail(struct assembly *a) { return hex_line(a, &a->tail); }
static bool directive_extern(struct assembly *a) { return directive_name(a, false); }
static bool directive_set(struct assembly *a) { return directive_name(a, true); }

static const struct directive {
    const char *name;
    bool (*read)(struct assembly *a);
    /* clang-format off */
} directives[] = {
    {".header", directive_header}, {".fuelled", directive_fuelled}, {".gap", directive_gap},
    {".inst", directive_inst},     {".tail", directive_tail},       {".trailer", directive_trailer},
    {".extern", directive_extern}, {".set", directive_set},         {".name", directive_range},
    {".symbols", directive_symbols}, {".file", directive_file},     {".line", directive_line},
};
static const struct word {
    const char *name;
    bool (*read)(struct assembly *a, uint64_t offset);
} words[] = {
    {"if", assembly_if}, {"else", assembly_else}, {"endif", assembly_endif},
    {"endloop", assembly_endloop},
};
/* clang-format on */
#define COUNT(table) (sizeof(table) / sizeof *(table))

static bool unknown_word(struct assembly *a, struct token t)
{
    struct suggest near = {.word = token_text(a->s, t)};
    for (unsigned code = 1; code < KBLOB_OP_DEFINED; code++)
        if (kblob_ops[code].mnemonic) suggest_offer(&near, kblob_ops[code].mnemonic);
    for (size_t i = 0; i < COUNT(directives); i++) suggest_offer(&near, directives[i].name);
    for (size_t i = 0; i < COUNT(words); i++) suggest_offer(&near, words[i].name);
    error_at(a->s->err, BASE_MNEMONIC, t.offset, "unknown %s '%.*s'",
             t.kind == TOKEN_DIRECTIVE ? "directive" : "instruction", BYTES_ARG(near.word, 40));
    if (near.best) error_note(a->s->err, "did you mean '%s'?", near.best);
    return false;
}

static bool kblob_assemble_instruction(struct assembly *a, struct token t)
{
    for (unsigned code = 1; code < KBLOB_OP_DEFINED; code++)
        if (kblob_ops[code].mnemonic && token_is(a->s, t, kblob_ops[code].mnemonic))
            return assembly_instruction(a, code);
    for (size_t i = 0; i < COUNT(words); i++)
        if (token_is(a->s, t, words[i].name)) return words[i].read(a, t.offset);
    return unknown_word(a, t);
}

static bool kblob_assemble_directive(struct assembly *a, struct token t)
{
    for (size_t i = 0; i < COUNT(directives); i++)
        if (token_is(a->s, t, directives[i].name)) return directives[i].read(a);
    return unknown_word(a, t);
}

static bool kblob_assemble_line(struct assembly *a)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    /* A line may begin with labels, after which a statement may follow. */
    while (t.kind == TOKEN_NAME && source_accept(s, ':')) {
        if (!assembly_label(a, t)) return false;
        t = source_next(s);
    }
    if (s->err->code || t.kind == TOKEN_LINE || t.kind == TOKEN_END) return !s->err->code;
    if (t.kind == TOKEN_NAME) return kblob_assemble_instruction(a, t) && source_end_of_line(s);
    if (t.kind == TOKEN_DIRECTIVE) return kblob_assemble_directive(a, t) && source_end_of_line(s);
    return source_unexpected(s, t, "an instruction");
}

static bool add_name(struct assembly *a, const struct label *l, bool is_address)
{
    struct kblob_symbol_list *list = &a->list;
    if (!ARRAY_GROW(list->names, list->name_capacity, list->name_count, a->s->err)) return false;
    list->names[list->name_count++] = (struct kblob_symbol){(const char *)l->name.data, l->value,
                                                            is_address ? l->size : 0, is_address};
    return true;
}

/* Tells whether a name can be a symbol. Local labels and variables of scripts cannot. */
static bool symbol_name(const struct label *l)
{
    return l->defined && l->name.data[0] != '$' && l->name.data[0] != '@';
}

/* Collects the names as symbols. A name that an instruction and an address have in common
 * becomes the name of the instruction. */
static bool kblob_assemble_gather(struct assembly *a)
{
    for (size_t i = 0; i < a->labels.count; i++)
        if (symbol_name(&a->labels.items[i]) && !add_name(a, &a->labels.items[i], false))
            return false;
    for (size_t i = 0; i < a->names.count; i++) {
        const struct label *l = &a->names.items[i], *code = labels_find(&a->labels, l->name);
        if (symbol_name(l) && l->size && !(code && code->defined) && !add_name(a, l, true))
            return false;
    }
    if (a->metadata.out.size)
        return error_at(a->s->err, BASE_STATE, 0, "symbols and other metadata in one trailer");
    if (!kblob_good_file(a->list.file)) a->list.file = "";
    kblob_symbols_write(&a->list, &a->metadata);
    return true;
}

static void kblob_assemble_finish(struct assembly *a, bool want_trailer, struct writer *out)
{
    a->header.entryOffset = (uint32_t)(kblob_header_bytes + a->gap.out.size);
    a->header.instCount = a->count;
    kblob_write(out, &a->header, writer_view(&a->gap), NULL, 0);
    writer_append(out, &a->code);
    writer_append(out, &a->tail);
    if (a->trailer || want_trailer) kblob_write_trailer(out, writer_view(&a->metadata));
    out->failed |= a->gap.failed || a->code.failed || a->tail.failed || a->metadata.failed;
}

static void assembly_free(struct assembly *a)
{
    writer_free(&a->gap);
    writer_free(&a->code);
    writer_free(&a->tail);
    writer_free(&a->metadata);
    labels_free(&a->names);
    labels_free(&a->labels);
    free(a->blocks);
    free(a->list.names);
    free(a->list.lines);
}

bool kblob_assemble_source(struct source *s, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings)
{
    struct assembly a = {.s = s, .header = {.magic = KBLOB_MAGIC, .version = KBLOB_VERSION}};
    penta_error err = {0};
    const char *name = option_text(options, count, "source-name");
    s->err = &err;
    a.symbols = option_text(options, count, "debug-lines") != NULL;
    a.list.file = name ? name : "";
    if (!kblob_define_names(&a.names, options, count, &err)) findings_pass(findings, &err);
    while (s->pos < s->text.size) {
        err = (penta_error){0};
        if (kblob_assemble_line(&a)) continue;
        findings_pass(findings, &err);
        source_skip_line(s);
    }
    if (!findings->errors && !a.count && !a.has_header && !a.fuelled)
        findings_add(findings, KBLOB_EMPTY, s->text.size, "write HALT for the shortest program",
                     "the text has no instruction");
    assembly_resolve(&a, findings);
    err = (penta_error){0};
    if (a.symbols && !kblob_assemble_gather(&a)) findings_pass(findings, &err);
    kblob_assemble_finish(&a, a.symbols || option_text(options, count, "trailer") != NULL, out);
    err = (penta_error){0};
    if (!writer_ok(out, &err)) findings_pass(findings, &err);
    assembly_free(&a);
    return !findings->errors;
}

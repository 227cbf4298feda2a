/* The disassembler prints the text form. The text has the order of the file's contents:
 *
 *     .header  field=value ...     what the assembler would not compute by itself
 *     .target  field=value ...     the core metadata
 *     .pin     C13 pin_function=gpio pin_mode=output ...
 *     .dependency .hint .custom    the rest of the metadata
 *     .security .integrity .key .signature
 *     .string  "text"              constant-pool strings, numbered from 0
 *     .entry   label
 *     label:   PUSH.S -5           instructions; 0x0a.0x01 7 is any opcode with any flags
 *     .symbol .line .variable      rows of the debug tables: debug_info.c
 *     .programs first_name="main"  with several programs; then each of the others:
 *     .program "blink"             the text of its container, up to the next .program
 *
 * A directive prints only the fields that differ from what assembling without them would give;
 * the stages of the builder compute that here. Contents that have no such form are printed as
 * hex: .metadata, .security_raw and .debug a whole section, .stored the bytecode section as it
 * is stored, .bytes what lies between and after the sections, .container a damaged container of
 * a program. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/codec/deflate.h"
#include "core/describe.h"
#include "crypto/hash.h"
#include "cvbc/format/build.h"
#include "text/hex.h"

static void print_hex(struct writer *out, const char *directive, penta_bytes bytes)
{
    char start[40];
    snprintf(start, sizeof start, "%s ", directive);
    hex_rows(out, start, start, bytes);
}

static void print_string(struct writer *out, penta_bytes text)
{
    writer_char(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '"' || c == '\\')
            writer_print(out, "\\%c", c);
        else if (c == '\n')
            writer_text(out, "\\n");
        else if (c < 32 || c > 126)
            writer_print(out, "\\x%02x", c);
        else
            writer_char(out, (char)c);
    }
    writer_char(out, '"');
}

static bool all_zero(const uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i]) return false;
    return true;
}

static void print_value(struct writer *out, const struct layout_field *field, const uint8_t *bytes)
{
    size_t text = strnlen((const char *)bytes, field->size);
    if (field->kind == PENTA_RAW && strstr(field->name, "_name") && text < field->size &&
        !bytes[field->size - 1] && all_zero(bytes + text, field->size - text)) {
        print_string(out, (penta_bytes){bytes, text});
        return;
    }
    if (field->kind == PENTA_RAW) {
        writer_text(out, "hex \"");
        writer_hex(out, (penta_bytes){bytes, field->size});
        writer_char(out, '"');
        return;
    }
    uint64_t value = bytes_uint(bytes, field->size, false);
    const char *name = cvbc_name(field->name, value);
    if (name)
        writer_text(out, name);
    else if (field->kind == PENTA_WORD)
        writer_0x(out, value);
    else
        writer_dec(out, value);
}

/* Prints the fields of a record that differ from the computed ones. If `open` is true, the line
 * has text already; then all fields are printed in this line, because another line would be
 * another record. */
static void print_fields(struct writer *out, const char *directive,
                         const struct layout_field *fields, const uint8_t *actual,
                         const uint8_t *computed, bool open)
{
    enum { WIDTH = 72 };
    bool one_line = open;
    size_t start = writer_total(out);
    for (; fields->name; actual += fields->size, computed += fields->size, fields++) {
        if (!memcmp(actual, computed, fields->size)) continue;
        if (open && !one_line && writer_total(out) - start > WIDTH) {
            writer_char(out, '\n');
            open = false;
        }
        if (!open) {
            start = writer_total(out);
            writer_text(out, directive);
        }
        open = true;
        writer_print(out, " %s=", fields->name);
        print_value(out, fields, actual);
    }
    if (open) writer_char(out, '\n');
}

struct names {
    penta_bytes *of; /* the name of each instruction; size 0 if it has none */
    bool *needed;
};

static bool print_usable(penta_bytes name)
{
    if (!name.size || name.size > 60 || isdigit(name.data[0])) return false;
    bool digits = name.data[0] == 'L' && name.size > 1;
    for (size_t i = 0; i < name.size; i++) {
        if (!isalnum(name.data[i]) && name.data[i] != '_') return false;
        if (i && !isdigit(name.data[i])) digits = false;
    }
    return !digits; /* Names such as L12 are made by the disassembler. */
}

static bool print_taken(const struct names *n, size_t count, penta_bytes name)
{
    for (size_t i = 0; i < count; i++)
        if (n->of[i].size == name.size && name.size && !memcmp(n->of[i].data, name.data, name.size))
            return true;
    return false;
}

static bool find_names(const struct cvbc_module *m, const struct cvbc_program *p, struct names *n)
{
    enum {
        SYMBOLS = 4096
    }; /* With more symbols names are made, because the search for duplicates takes quadratic
        * time. */
    n->of = calloc(p->count + 1, sizeof *n->of);
    n->needed = calloc(p->count + 1, sizeof *n->needed);
    if (!n->of || !n->needed) return false;
    for (size_t i = 0; i < p->count; i++) {
        struct cvbc_inst in = cvbc_inst_at(p, i);
        if (cvbc_ops[in.opcode].operand == CVBC_OPERAND_TARGET && in.immediate < p->count)
            n->needed[in.immediate] = true;
    }
    if (p->head.entry_point_offset) n->needed[p->head.entry_point_offset] = true;
    struct cvbc_debug_tables t = cvbc_debug_split(m->debug);
    struct cvbc_symbol s;
    penta_bytes name;
    size_t rows = 0;
    for (size_t pos = 0; rows < SYMBOLS && cvbc_symbol_next(t.symbols, &pos, &s, &name); rows++) {
        bool place = (s.kind == 1 || s.kind == 4) && s.value < p->count && !n->of[s.value].size;
        if (!place || !print_usable(name) || print_taken(n, p->count, name)) continue;
        n->of[s.value] = name;
        n->needed[s.value] = true;
    }
    return true;
}

static void free_names(struct names *n)
{
    free(n->of);
    free(n->needed);
}

static void print_name(struct writer *out, const struct names *n, size_t i)
{
    if (n && n->of[i].size)
        writer_bytes(out, n->of[i].data, n->of[i].size);
    else
        writer_print(out, "L%zu", i);
}

static const char *suffix_of(uint8_t flags)
{
    return flags == CVBC_S   ? ".S"
           : flags == CVBC_W ? ".W"
           : flags == CVBC_V ? ".V"
           : flags           ? NULL
                             : "";
}

/* Prints an instruction. If `names` is NULL, it prints plain numbers, for traces. */
static void print_inst(struct writer *out, const struct cvbc_program *p, size_t i,
                       const struct names *names)
{
    struct cvbc_inst in = cvbc_inst_at(p, i);
    const struct cvbc_op_info *op = &cvbc_ops[in.opcode];
    const char *suffix = suffix_of(in.flags);
    if (!op->mnemonic || !suffix || in.flags & ~op->flags ||
        (op->operand == CVBC_OPERAND_NONE && in.immediate)) {
        writer_print(out, "0x%02x", in.opcode);
        if (in.flags) writer_print(out, ".0x%02x", in.flags);
        if (in.immediate) writer_print(out, " %u", in.immediate);
        return;
    }
    writer_print(out, "%s%s", op->mnemonic, suffix);
    if (op->operand == CVBC_OPERAND_NONE) return;
    writer_char(out, ' ');
    if (op->operand == CVBC_OPERAND_TARGET && names && in.immediate < p->count)
        print_name(out, names, in.immediate);
    else if (in.flags == CVBC_S)
        writer_print(out, "%d", (int16_t)in.immediate);
    else
        writer_dec(out, in.immediate);
}

static void print_program(const struct cvbc_program *p, const struct names *n, struct writer *out)
{
    for (size_t i = 0; i < p->string_count; i++) {
        writer_text(out, ".string ");
        print_string(out, p->strings[i]);
        writer_char(out, '\n');
    }
    if (p->head.entry_point_offset) {
        writer_text(out, ".entry ");
        print_name(out, n, p->head.entry_point_offset);
        writer_char(out, '\n');
    }
    for (size_t i = 0; i < p->count; i++) {
        if (n->needed[i]) {
            print_name(out, n, i);
            writer_text(out, ":\n");
        }
        writer_text(out, "    ");
        print_inst(out, p, i, n);
        writer_char(out, '\n');
    }
}

/* Tells whether the metadata section can only be printed as hex. */
static bool print_raw_metadata(const struct cvbc_module *m)
{
    return !m->meta.whole || m->meta.rest.size || (m->meta.entries && !m->inner);
}

static void print_metadata(const struct cvbc_module *m, struct cvbc_build *b, struct writer *out)
{
    const struct cvbc_metadata *meta = &m->meta;
    if (print_raw_metadata(m)) {
        print_hex(out, ".metadata", m->metadata);
        if (!m->metadata.size) writer_text(out, ".metadata none\n");
        return;
    }
    for (size_t i = 0; i < meta->pin_count; i++) cvbc_build_pin(b, &meta->pins[i]);
    b->dependency_count = (uint16_t)meta->dependency_count;
    b->hint_count = (uint16_t)meta->hint_count;
    writer_bytes(&b->custom, meta->custom.data, meta->custom.size);
    uint8_t computed[cvbc_core_bytes], zeros[cvbc_dependency_bytes] = {0};
    cvbc_build_core(b, computed);
    print_fields(out, ".target", cvbc_core_fields, m->metadata.data, computed, false);
    const uint8_t *at = m->metadata.data + cvbc_core_bytes;
    for (size_t i = 0; i < meta->pin_count; i++, at += cvbc_pin_bytes) {
        uint8_t base[cvbc_pin_bytes] = {at[0], at[1]};
        if (at[1] < 26)
            writer_print(out, ".pin %c%u", 'A' + at[1], at[0]);
        else
            writer_print(out, ".pin pin_number=%u port_identifier=%u", at[0], at[1]);
        print_fields(out, ".pin", cvbc_pin_fields + 2, at + 2, base + 2, true);
    }
    for (size_t i = 0; i < meta->dependency_count; i++, at += cvbc_dependency_bytes) {
        writer_text(out, ".dependency");
        print_fields(out, ".dependency", cvbc_dependency_fields, at, zeros, true);
    }
    for (size_t i = 0; i < meta->hint_count; i++) {
        penta_bytes data = meta->hints[i].data;
        writer_print(out, ".hint %u, %u, ", meta->hints[i].head.hint_type,
                     meta->hints[i].head.priority);
        writer_hex(out, data);
        writer_char(out, '\n');
    }
    print_hex(out, ".custom", meta->custom);
    if (!m->inner) return;
    struct cvbc_build named = {.program_count = (uint16_t)meta->entry_count};
    uint8_t head[cvbc_directory_bytes];
    cvbc_build_directory(&named, head);
    print_fields(out, ".programs", cvbc_directory_fields, meta->directory.data, head, false);
}

/* Tells whether the section has its four parts and no other bytes. */
static bool print_apart(const struct cvbc_module *m)
{
    return m->has_protection &&
           m->security.size == CVBC_PROTECTION_BYTES + m->public_key.size + m->signature.size;
}

static void print_security(const struct cvbc_module *m, const struct cvbc_build *b,
                           penta_bytes image, struct writer *out)
{
    if (!m->security.size) {
        writer_text(out, ".security none\n");
        return;
    }
    if (!print_apart(m)) {
        print_hex(out, ".security_raw", m->security);
        return;
    }
    uint8_t head[cvbc_security_bytes], integrity[cvbc_integrity_bytes];
    cvbc_build_protection(b, m->header.flags, m->stored.size, m->public_key.size, m->signature.size,
                          head);
    print_fields(out, ".security", cvbc_security_fields, m->security.data, head, false);
    /* The short hash is computed from the others. */
    struct cvbc_build actual = {.secure_timestamp = 0};
    memcpy(actual.integrity_over.bytes, m->security.data + cvbc_security_bytes, 96);
    memset(actual.integrity_over.mask, 1, 96);
    cvbc_build_integrity(b, m->metadata, image, integrity);
    uint8_t followed[cvbc_integrity_bytes];
    actual.integrity_over.used = true;
    cvbc_build_integrity(&actual, m->metadata, image, followed);
    memcpy(integrity + 96, followed + 96, 12);
    print_fields(out, ".integrity", cvbc_integrity_fields, m->security.data + cvbc_security_bytes,
                 integrity, false);
    print_hex(out, ".key", m->public_key);
    print_hex(out, ".signature", m->signature);
}

/* Prints the stored section as hex if compressing the image would not give the same bytes. */
static void print_stored(const struct cvbc_module *m, bool listed, penta_bytes image,
                         struct writer *out)
{
    penta_buffer deflated = {0};
    bool same = listed && cvbc_plain(m);
    if (listed && (m->header.flags & (CVBC_ENCRYPTED | CVBC_COMPRESSED)) == CVBC_COMPRESSED) {
        out->failed |= !deflate_deflate(image, &deflated);
        same = bytes_equal((penta_bytes){deflated.data, deflated.size}, m->stored);
    }
    penta_buffer_free(&deflated);
    if (same) return;
    if (listed) { /* The section is used only with this listing. */
        uint8_t digest[HASH_BYTES];
        hash_sha256(image, digest);
        writer_text(out, ".stored of ");
        writer_hex(out, (penta_bytes){digest, sizeof digest});
        writer_char(out, '\n');
    }
    if (!m->stored.size) writer_text(out, ".stored none\n");
    print_hex(out, ".stored", m->stored);
}

static void print_header(const struct cvbc_module *m, struct writer *out)
{
    bool enforced = m->meta.enforced && !print_raw_metadata(m);
    struct cvbc_build none = {.minor = enforced   ? CVBC_MINOR_ENFORCED
                                       : m->inner ? CVBC_MINOR_PROGRAMS
                                                  : 0};
    struct cvbc_sizes sizes = {m->metadata.size, m->security.size, m->programs.size,
                               m->stored.size,   m->debug.size,    0};
    bool signature = m->signature.size && print_apart(m);
    uint8_t flags = (uint8_t)((signature ? CVBC_SIGNED : 0) | (m->debug.size ? CVBC_HAS_DEBUG : 0) |
                              (m->inner ? CVBC_HAS_PROGRAMS : 0));
    uint8_t computed[cvbc_header_bytes], *copy = NULL;
    cvbc_build_header(&none, flags, sizes, computed);
    penta_bytes file = m->base.file;
    copy = malloc(file.size);
    if (!copy) {
        out->failed = true;
        return;
    }
    bytes_copy(copy, file);
    cvbc_build_crcs(copy, file.size);
    memcpy(computed + 12, copy + 12, 4);
    memcpy(computed + 40, copy + 40, 4);
    free(copy);
    print_fields(out, ".header", cvbc_header_fields, file.data, computed, false);
}

static void print_gap(const struct cvbc_module *m, penta_bytes gap, size_t *folds,
                      struct writer *out)
{
    for (size_t at = 0; at < gap.size;) {
        writer_print(out, ".bytes 0x%" PRIx64 ", ", cvbc_offset(m, gap.data + at));
        at += hex_row(out, bytes_slice(gap, at, gap.size), folds);
        writer_char(out, '\n');
    }
}

/* Prints gaps. Zeros between sections need no text, unless they are many or at the end. */
static void print_gaps(const struct cvbc_module *m, struct writer *out)
{
    struct cvbc_piece pieces[CVBC_PIECES];
    size_t count = cvbc_pieces(m, pieces), folds = HEX_FOLDS;
    for (size_t i = 0; i < count; i++) {
        penta_bytes gap = pieces[i].bytes;
        bool zero = i + 1 < count && gap.size <= CVBC_GAP_MAX && all_zero(gap.data, gap.size);
        if (pieces[i].kind == CVBC_PIECE_GAP && !zero) print_gap(m, gap, &folds, out);
    }
    for (size_t i = 1; m->inner && i < m->meta.entry_count; i++) {
        penta_bytes before = m->inner[i - 1]->base.file, next = m->inner[i]->base.file;
        const uint8_t *end = before.data + before.size;
        penta_bytes gap = {end, (size_t)(next.data - end)};
        if (!all_zero(gap.data, gap.size)) print_gap(m, gap, &folds, out);
    }
}

static bool print_code(const struct cvbc_module *m, struct writer *out, penta_bytes *image,
                       bool *listed)
{
    const struct cvbc_opened *o = cvbc_open(m);
    const struct cvbc_program *p = &o->program;
    *listed = o->has_program && !p->flaw.code;
    *image = *listed ? p->image : (penta_bytes){0};
    if (!*listed) return true;
    struct cvbc_build b = {.entry = p->head.entry_point_offset,
                           .string_count = (uint32_t)p->string_count};
    penta_bytes pool = bytes_slice(p->image, cvbc_bytecode_bytes + 4 * p->count, p->image.size);
    writer_bytes(&b.code, p->code, 4 * p->count);
    writer_bytes(&b.strings, pool.data, pool.size);
    uint8_t head[cvbc_bytecode_bytes];
    struct names names = {0};
    bool ok = !cvbc_build_failed(&b) && cvbc_build_bytecode(&b, head) && find_names(m, p, &names);
    if (ok) {
        print_fields(out, ".bytecode", cvbc_bytecode_fields, p->image.data, head, false);
        print_program(p, &names, out);
    }
    free_names(&names);
    cvbc_build_fini(&b);
    return ok;
}

/* Prints everything except the other programs. */
static bool print_container(const struct cvbc_module *m, struct writer *out, penta_error *err)
{
    struct cvbc_build b = {0};
    struct writer code = {0};
    penta_bytes image = {0};
    bool listed = false;
    if (!print_code(m, &code, &image, &listed))
        error_at(err, BASE_MEMORY, 0, "no memory for a listing");
    print_header(m, out);
    print_metadata(m, &b, out);
    print_security(m, &b, image, out);
    writer_append(out, &code);
    print_stored(m, listed, image, out);
    if (!cvbc_debug_print(m->debug, out)) print_hex(out, ".debug", m->debug);
    print_gaps(m, out);
    out->failed |= cvbc_build_failed(&b);
    writer_free(&code);
    cvbc_build_fini(&b);
    return !err->code;
}

static bool print_programs(const struct cvbc_module *m, struct writer *out, penta_error *err)
{
    bool ok = true;
    for (size_t i = 0; m->inner && ok && i < m->meta.entry_count; i++) {
        const struct cvbc_module *inner = m->inner[i];
        const uint8_t *actual =
            m->meta.directory.data + cvbc_directory_bytes + i * cvbc_entry_bytes;
        const char *name = cvbc_program_name(m, i + 1);
        static const uint8_t no_name[CVBC_NAME_BYTES];
        uint8_t computed[cvbc_entry_bytes];
        cvbc_build_entry(name ? m->meta.entries[i].program_name : no_name, inner->base.file,
                         computed);
        writer_print(out, name ? "\n.program \"%s\"" : "\n.program", name);
        print_fields(out, ".program", cvbc_entry_fields, actual, computed, true);
        if (inner->base.damage.code)
            print_hex(out, ".container", inner->base.file);
        else
            ok = print_container(inner, out, err);
    }
    return ok;
}

/* Prints the first program as a file without the others. */
static bool print_first(const struct cvbc_module *m, struct writer *out, penta_error *err)
{
    struct cvbc_build b = {0};
    struct writer file = {0};
    penta_module *alone = NULL;
    if (cvbc_build_from(&b, m, err) && cvbc_build_write(&b, &file, err))
        alone = cvbc_parse(writer_view(&file), NULL, 0, err);
    bool ok = alone && print_container(cvbc_module(alone), out, err);
    if (alone) cvbc_close(alone);
    writer_free(&file);
    cvbc_build_fini(&b);
    return ok;
}

bool cvbc_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err)
{
    const struct cvbc_module *m = cvbc_module(module);
    const char *name = option_text(options, count, "program");
    const struct cvbc_module *only = name ? cvbc_program_named(m, name, err) : m;
    if (!only) return false;
    if (name && only == m) return print_first(m, out, err) && writer_ok(out, err);
    cvbc_open(m); /* Opening the file gives its policy to the other programs. */
    if (name) return print_container(only, out, err) && writer_ok(out, err);
    return print_container(m, out, err) && print_programs(m, out, err) && writer_ok(out, err);
}

bool cvbc_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct cvbc_module *m = cvbc_chosen(cvbc_module(module));
    const struct cvbc_opened *o = cvbc_open(m);
    if (!o->has_program || o->program.flaw.code || pc >= o->program.count) return false;
    print_inst(out, &o->program, (size_t)pc, NULL);
    penta_bytes file;
    uint32_t line;
    if (m->debug.size && cvbc_line_of(m, pc, &file, &line))
        writer_print(out, "  ; %.*s:%u", (int)(file.size > 60 ? 60 : file.size),
                     file.size ? (const char *)file.data : "", (unsigned)line);
    return true;
}

void cvbc_isa(const penta_visitor *v)
{
    static const char *const operands[] = {
        [CVBC_OPERAND_NONE] = "",         [CVBC_OPERAND_VALUE] = "VALUE",
        [CVBC_OPERAND_TARGET] = "TARGET", [CVBC_OPERAND_GLOBAL] = "SLOT",
        [CVBC_OPERAND_DEPTH] = "DEPTH",   [CVBC_OPERAND_ARRAY] = "ARRAY",
        [CVBC_OPERAND_STRING] = "STRING"};
    for (unsigned code = 0; code < 256; code++) {
        const struct cvbc_op_info *op = &cvbc_ops[code];
        penta_node node = {.name = "instruction"};
        if (!op->mnemonic || !describe_enter(v, node)) continue;
        describe_word(v, "opcode", code);
        describe_text(v, "mnemonic", op->mnemonic);
        describe_text(v, "operands", operands[op->operand]);
        describe_text(v, "stack", op->stack);
        char meaning[120];
        snprintf(meaning, sizeof meaning, "%s; only in files of minor version %u", op->meaning,
                 op->minor);
        describe_text(v, "meaning", op->minor ? meaning : op->meaning);
        describe_leave(v, node);
    }
}

/* Describes a module: every byte, a few facts about it, and how each byte is protected. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "core/describe.h"
#include "crypto/hash.h"
#include "cvbc/cvbc.h"
#include "cvbc/format/hardware/hardware.h"

static void describe_directory(const struct cvbc_metadata *meta, const penta_visitor *v,
                               uint64_t at)
{
    penta_node node = {.name = "directory", .offset = at, .size = meta->directory.size};
    if (!node.size || !describe_enter(v, node)) return;
    const uint8_t *p = meta->directory.data;
    layout_describe(v, "head", cvbc_directory_fields, p, at, false, NULL);
    at += cvbc_directory_bytes;
    p += cvbc_directory_bytes;
    penta_node entries = {.name = "entries",
                          .offset = at,
                          .size = meta->entry_count * cvbc_entry_bytes,
                          .list = true};
    if (meta->entry_count && describe_enter(v, entries)) {
        for (size_t i = 0; i < entries.size; i += cvbc_entry_bytes)
            layout_describe(v, "entry", cvbc_entry_fields, p + i, at + i, false, NULL);
        describe_leave(v, entries);
    }
    describe_leave(v, node);
}

static void describe_metadata(const struct cvbc_module *m, const penta_visitor *v)
{
    const struct cvbc_metadata *meta = &m->meta;
    const uint8_t *p = m->metadata.data;
    uint64_t at = cvbc_offset(m, p), end = at + m->metadata.size;
    penta_node node = {.name = "metadata", .offset = at, .size = m->metadata.size};
    if (!describe_enter(v, node)) return;
    if (!meta->whole) {
        if (m->metadata.size >= cvbc_core_bytes) {
            layout_describe(v, "core", cvbc_core_fields, p, at, false, cvbc_note);
            at += cvbc_core_bytes;
        }
        if (at < end)
            describe_raw(v, "damaged", bytes_slice(m->base.file, (size_t)at, (size_t)(end - at)),
                         at, "the counts do not fit");
        describe_leave(v, node);
        return;
    }
    const uint8_t *file = m->base.file.data;
    layout_describe(v, "core", cvbc_core_fields, p, at, false, cvbc_note);
    at += cvbc_core_bytes;
    penta_node pins = {
        .name = "pins", .offset = at, .size = meta->pin_count * cvbc_pin_bytes, .list = true};
    if (meta->pin_count && describe_enter(v, pins)) {
        for (size_t i = 0; i < meta->pin_count; i++)
            layout_describe(v, "pin", cvbc_pin_fields, file + at + i * cvbc_pin_bytes,
                            at + i * cvbc_pin_bytes, false, cvbc_note);
        describe_leave(v, pins);
    }
    at += pins.size;
    penta_node dependencies = {.name = "dependencies",
                               .offset = at,
                               .list = true,
                               .size = meta->dependency_count * cvbc_dependency_bytes};
    if (meta->dependency_count && describe_enter(v, dependencies)) {
        for (size_t i = 0; i < meta->dependency_count; i++)
            layout_describe(v, "dependency", cvbc_dependency_fields,
                            file + at + i * cvbc_dependency_bytes, at + i * cvbc_dependency_bytes,
                            false, cvbc_note);
        describe_leave(v, dependencies);
    }
    at += dependencies.size;
    penta_node hints = {.name = "hints", .offset = at, .list = true};
    for (size_t i = 0; i < meta->hint_count; i++)
        hints.size += cvbc_hint_bytes + meta->hints[i].data.size;
    if (meta->hint_count && describe_enter(v, hints)) {
        for (size_t i = 0; i < meta->hint_count; i++) {
            penta_bytes data = meta->hints[i].data;
            penta_node hint = {.name = "hint", .offset = at, .size = cvbc_hint_bytes + data.size};
            if (describe_enter(v, hint)) {
                layout_leaves(v, cvbc_hint_fields, file + at, at, false, cvbc_note);
                if (data.size) describe_raw(v, "data", data, at + cvbc_hint_bytes, NULL);
                describe_leave(v, hint);
            }
            at += hint.size;
        }
        describe_leave(v, hints);
    }
    at = hints.offset + hints.size;
    if (meta->custom.size) describe_raw(v, "custom", meta->custom, at, NULL);
    at += meta->custom.size;
    describe_directory(meta, v, at);
    if (meta->rest.size)
        describe_raw(v, "rest", meta->rest, at + meta->directory.size, "not known to this format");
    describe_leave(v, node);
}

static void describe_security(const struct cvbc_module *m, const penta_visitor *v)
{
    const uint8_t *p = m->security.data;
    uint64_t at = cvbc_offset(m, p);
    penta_node node = {.name = "security", .offset = at, .size = m->security.size};
    if (!describe_enter(v, node)) return;
    if (!m->has_protection) {
        describe_raw(v, "damaged", m->security, at, "shorter than its 128 fixed bytes");
    } else {
        layout_describe(v, "protection", cvbc_security_fields, p, at, false, cvbc_note);
        layout_describe(v, "integrity", cvbc_integrity_fields, p + cvbc_security_bytes,
                        at + cvbc_security_bytes, false, NULL);
        uint64_t next = at + CVBC_PROTECTION_BYTES;
        if (m->public_key.size) describe_raw(v, "public_key", m->public_key, next, NULL);
        next += m->public_key.size;
        if (m->signature.size) describe_raw(v, "signature", m->signature, next, NULL);
        next += m->signature.size;
        size_t used = (size_t)(next - at);
        if (used < m->security.size)
            describe_raw(v, "rest", bytes_slice(m->security, used, m->security.size), next,
                         "more than its parts");
    }
    describe_leave(v, node);
}

/* The nodes of the bytecode are the same for stored bytes and for the decoded image. */

static void describe_program(const struct cvbc_program *p, const penta_visitor *v, uint64_t at)
{
    const uint8_t *image = p->image.data;
    layout_describe(v, "head", cvbc_bytecode_fields, image, at, false, NULL);
    at += cvbc_bytecode_bytes;
    penta_node code = {.name = "code", .offset = at, .size = 4 * p->count, .list = true};
    if (describe_enter(v, code)) {
        for (size_t i = 0; i < p->count; i++)
            layout_describe(v, "insn", cvbc_inst_fields, p->code + 4 * i, at + 4 * i, false,
                            cvbc_note);
        describe_leave(v, code);
    }
    at += code.size;
    penta_node strings = {
        .name = "strings", .offset = at, .size = p->head.constant_pool_size, .list = true};
    if (!p->string_count || !describe_enter(v, strings)) return;
    for (size_t i = 0; i < p->string_count; i++) {
        penta_bytes text = p->strings[i];
        penta_node string = {.name = "string", .offset = at, .size = text.size + 5};
        if (describe_enter(v, string)) {
            describe_field(v, (penta_field){.name = "length",
                                            .offset = at,
                                            .size = 4,
                                            .kind = PENTA_UINT,
                                            .as.u = text.size + 1});
            describe_field(v, (penta_field){.name = "text",
                                            .offset = at + 4,
                                            .size = text.size + 1,
                                            .kind = PENTA_TEXT,
                                            .as.bytes = text});
            describe_leave(v, string);
        }
        at += string.size;
    }
    describe_leave(v, strings);
}

static void describe_bytecode(const struct cvbc_module *m, const penta_visitor *v)
{
    const struct cvbc_opened *o = cvbc_open(m);
    bool readable = o->has_program && !o->program.flaw.code;
    uint64_t at = cvbc_offset(m, m->stored.data);
    penta_node node = {.name = "bytecode", .offset = at, .size = m->stored.size};
    if (!describe_enter(v, node)) return;
    if (cvbc_plain(m)) {
        if (readable)
            describe_program(&o->program, v, at);
        else
            describe_raw(v, "malformed", m->stored, at, "not a well-formed bytecode section");
        describe_leave(v, node);
        return;
    }
    penta_bytes body = m->stored;
    if (m->header.flags & CVBC_ENCRYPTED && body.size >= CVBC_SEAL_BYTES) {
        describe_raw(v, "nonce", bytes_slice(body, 0, 12), at, NULL);
        body = bytes_slice(body, 12, body.size - CVBC_SEAL_BYTES);
        if (body.size) describe_raw(v, "ciphertext", body, at + 12, NULL);
        describe_raw(v, "tag", bytes_slice(m->stored, m->stored.size - 16, 16),
                     at + m->stored.size - 16, NULL);
    } else if (body.size) {
        describe_raw(v, "deflate", body, at, NULL);
    }
    penta_node decoded = {.name = "decoded", .size = o->program.image.size, .decoded = true};
    if (readable && describe_enter(v, decoded)) {
        describe_program(&o->program, v, 0);
        describe_leave(v, decoded);
    }
    describe_leave(v, node);
}

static void describe_symbols(const struct cvbc_module *m, const penta_visitor *v, penta_bytes table,
                             bool variables)
{
    size_t pos = 0, from = 0;
    struct cvbc_symbol symbol;
    struct cvbc_variable variable;
    penta_bytes name;
    penta_node list = {.name = variables ? "variables" : "symbols",
                       .offset = cvbc_offset(m, table.data),
                       .size = table.size,
                       .list = true};
    if (!describe_enter(v, list)) return;
    while (pos < table.size && (variables ? cvbc_variable_next(table, &pos, &variable, &name)
                                          : cvbc_symbol_next(table, &pos, &symbol, &name))) {
        uint64_t at = list.offset + from;
        penta_node row = {
            .name = variables ? "variable" : "symbol", .offset = at, .size = pos - from};
        if (describe_enter(v, row)) {
            layout_leaves(v, variables ? cvbc_variable_fields : cvbc_symbol_fields,
                          table.data + from, at, false, cvbc_note);
            if (name.size)
                describe_field(v, (penta_field){.name = "name",
                                                .offset = at + row.size - name.size,
                                                .size = name.size,
                                                .kind = PENTA_TEXT,
                                                .as.bytes = name});
            describe_leave(v, row);
        }
        from = pos;
    }
    if (from < table.size)
        describe_raw(v, "damaged", bytes_slice(table, from, table.size), list.offset + from, NULL);
    describe_leave(v, list);
}

static void describe_lines(const struct cvbc_module *m, const penta_visitor *v, penta_bytes table)
{
    uint64_t at = cvbc_offset(m, table.data);
    penta_node list = {.name = "lines", .offset = at, .size = table.size, .list = true};
    if (!describe_enter(v, list)) return;
    size_t pos = 0;
    for (; pos + cvbc_line_bytes <= table.size; pos += cvbc_line_bytes)
        layout_describe(v, "line", cvbc_line_fields, table.data + pos, at + pos, false, NULL);
    if (pos < table.size)
        describe_raw(v, "damaged", bytes_slice(table, pos, table.size), at + pos, NULL);
    describe_leave(v, list);
}

static void describe_debug(const struct cvbc_module *m, const penta_visitor *v)
{
    struct cvbc_debug_tables t = cvbc_debug_split(m->debug);
    uint64_t at = cvbc_offset(m, m->debug.data);
    penta_node node = {.name = "debug", .offset = at, .size = m->debug.size};
    if (!describe_enter(v, node)) return;
    size_t pos = 0;
    if (m->debug.size >= cvbc_debug_bytes) {
        layout_describe(v, "head", cvbc_debug_fields, m->debug.data, at, false, NULL);
        pos = cvbc_debug_bytes;
    }
    /* The tables are described in the order of the file. A table inside another one is not
     * repeated. */
    const penta_bytes tables[] = {t.symbols, t.lines, t.variables};
    for (; pos < m->debug.size;) {
        int next = -1;
        for (int i = 0; i < 3; i++)
            if (tables[i].size && tables[i].data >= m->debug.data + pos &&
                (next < 0 || tables[i].data < tables[next].data))
                next = i;
        size_t until = next < 0 ? m->debug.size : (size_t)(tables[next].data - m->debug.data);
        if (until > pos)
            describe_raw(v, "padding", bytes_slice(m->debug, pos, until - pos), at + pos, NULL);
        pos = until;
        if (next < 0) break;
        if (next == 1)
            describe_lines(m, v, tables[next]);
        else
            describe_symbols(m, v, tables[next], next == 2);
        pos += tables[next].size;
    }
    describe_leave(v, node);
}

void cvbc_describe(const penta_module *module, const penta_visitor *v)
{
    const struct cvbc_module *m = cvbc_module(module);
    penta_bytes file = module->file;
    if (m->header_size < cvbc_header_bytes) {
        if (file.size) describe_raw(v, "damaged", file, 0, module->damage.message);
        return;
    }
    layout_describe(v, "header", cvbc_header_fields, file.data, 0, false, cvbc_note);
    if (module->damage.code) {
        penta_bytes rest = bytes_slice(file, cvbc_header_bytes, file.size);
        if (rest.size) describe_raw(v, "damaged", rest, cvbc_header_bytes, module->damage.message);
        return;
    }
    struct cvbc_piece pieces[CVBC_PIECES];
    size_t count = cvbc_pieces(m, pieces);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = cvbc_offset(m, pieces[i].bytes.data);
        switch (pieces[i].kind) {
        case CVBC_PIECE_METADATA: describe_metadata(m, v); break;
        case CVBC_PIECE_SECURITY: describe_security(m, v); break;
        case CVBC_PIECE_PROGRAMS: cvbc_programs_describe(m, v); break;
        case CVBC_PIECE_BYTECODE: describe_bytecode(m, v); break;
        case CVBC_PIECE_DEBUG: describe_debug(m, v); break;
        case CVBC_PIECE_GAP:
            describe_raw(v, i + 1 == count ? "trailing" : "padding", pieces[i].bytes, at,
                         i + 1 == count ? "not known to format 1.0" : NULL);
        }
    }
}

static void info_target(const struct cvbc_core *c, const penta_visitor *v)
{
    penta_node target = {.name = "target"};
    if (!describe_enter(v, target)) return;
    const char *architecture = cvbc_name("target_architecture", c->target_architecture);
    const char *family = cvbc_name("target_family", c->target_family);
    describe_text(v, "architecture", architecture ? architecture : "any");
    describe_text(v, "family", family ? family : "any");
    describe_word(v, "variant", c->target_variant);
    char features[200] = "";
    for (unsigned bit = 0; bit < 32; bit++)
        if (c->target_features >> bit & 1 && cvbc_feature(bit) &&
            strlen(features) + strlen(cvbc_feature(bit)) + 2 < sizeof features) {
            if (*features) strcat(features, " ");
            strcat(features, cvbc_feature(bit));
        }
    describe_text(v, "features", features);
    describe_uint(v, "min_flash_kb", c->min_flash_kb);
    describe_uint(v, "min_ram_kb", c->min_ram_kb);
    describe_leave(v, target);
}

static void info_protection(const struct cvbc_module *m, const penta_visitor *v)
{
    penta_node node = {.name = "protection"};
    if (!describe_enter(v, node)) return;
    bool sealed = m->header.flags & CVBC_ENCRYPTED;
    const char *algorithm =
        m->has_protection ? cvbc_name("signature_algorithm", m->protection.signature_algorithm)
                          : "none";
    describe_text(v, "signature", algorithm ? algorithm : "unknown");
    struct public_key key;
    const char *why = NULL;
    if (m->has_protection && m->public_key.size &&
        key_public_raw((enum key_type)m->protection.signature_algorithm, m->public_key, &key,
                       &why)) {
        uint8_t print[HASH_BYTES];
        key_fingerprint(&key, print);
        describe_computed_bytes(v, "signer", (penta_bytes){print, sizeof print});
    }
    if (why == key_no_memory) describe_incomplete(v);
    const char *cipher = cvbc_name("encryption_algorithm", m->protection.encryption_algorithm);
    static const char *const methods[] = {"raw key", "hkdf", "pbkdf2"};
    describe_text(v, "encryption", sealed && cipher ? cipher : "none");
    unsigned method = m->protection.key_derivation_params & 255;
    if (sealed && method < 3) describe_text(v, "key_derivation", methods[method]);
    describe_bool(v, "compressed", m->header.flags & CVBC_COMPRESSED);
    describe_leave(v, node);
}

static void info_programs(const struct cvbc_module *m, const penta_visitor *v)
{
    penta_node list = {.name = "programs", .list = true};
    if (!m->inner) return;
    for (size_t i = 0; i <= m->meta.entry_count; i++)
        if (cvbc_chosen(m) == (i ? m->inner[i - 1] : m) && cvbc_program_name(m, i))
            describe_text(v, "program", cvbc_program_name(m, i));
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i <= m->meta.entry_count; i++)
        if (cvbc_program_name(m, i)) describe_text(v, "name", cvbc_program_name(m, i));
    describe_leave(v, list);
}

static const char *info_word(const char *field, uint64_t value)
{
    const char *name = cvbc_name(field, value);
    return name ? name : "unknown";
}

/* Describes what a file declares, and what is enforced (CVBC 14.5). */
static void info_declarations(const struct cvbc_module *m, const penta_visitor *v)
{
    penta_node node = {.name = "declarations"}, list = {.name = "pins", .list = true};
    penta_node row = {.name = "pin"};
    struct cvbc_declared d;
    if (!m->meta.enforced || !m->meta.whole || !describe_enter(v, node)) return;
    cvbc_declared_read(&m->meta, &d);
    describe_bool(v, "enforced", d.enforced);
    describe_bool(v, "any_pin", d.any_pin);
    describe_word(v, "uarts", d.busses[CVBC_BUS_UART]);
    describe_word(v, "i2cs", d.busses[CVBC_BUS_I2C]);
    describe_word(v, "spis", d.busses[CVBC_BUS_SPI]);
    describe_word(v, "adc_channels", d.channels);
    describe_uint(v, "stack_words", m->meta.core.max_stack_depth_words);
    describe_uint(v, "heap_bytes", m->meta.core.max_heap_bytes);
    if (describe_enter(v, list)) {
        for (unsigned i = 0; i < CVBC_LOGICAL_PINS; i++) {
            if (!d.pins[i].there || !describe_enter(v, row)) continue;
            char place[16];
            snprintf(place, sizeof place, "%c%u", 'A' + d.pins[i].port % 26, d.pins[i].number);
            describe_uint(v, "logical", i);
            if (d.pins[i].port < 26) describe_text(v, "place", place);
            describe_text(v, "function", info_word("pin_function", d.pins[i].function));
            describe_text(v, "mode", info_word("pin_mode", d.pins[i].mode));
            describe_leave(v, row);
        }
        describe_leave(v, list);
    }
    describe_leave(v, node);
}

void cvbc_info(const penta_module *module, const penta_visitor *v)
{
    const struct cvbc_module *m = cvbc_module(module);
    const struct cvbc_header *h = &m->header;
    char version[16];
    if (m->header_size < cvbc_header_bytes) return;
    snprintf(version, sizeof version, "%u.%u", h->format_version_major, h->format_version_minor);
    describe_text(v, "version", version);
    describe_uint(v, "timestamp", h->compilation_timestamp);
    describe_uint(v, "build_number", h->build_number);
    describe_bool(v, "deterministic", h->flags & CVBC_DETERMINISTIC);
    info_protection(m, v);
    info_programs(m, v);
    m = cvbc_chosen(m);
    if (m->metadata.size >= cvbc_core_bytes) info_target(&m->meta.core, v);
    info_declarations(m, v);
    describe_uint(v, "pins", m->meta.pin_count);
    describe_uint(v, "dependencies", m->meta.dependency_count);
    describe_uint(v, "metadata_bytes", m->metadata.size);
    describe_uint(v, "bytecode_bytes", m->stored.size);
    describe_uint(v, "debug_bytes", m->debug.size);
    if (!cvbc_plain(m)) return; /* The few facts need no decoding. */
    const struct cvbc_opened *o = cvbc_open(m);
    if (!o->has_program || o->program.flaw.code) return;
    describe_uint(v, "instructions", o->program.count);
    describe_uint(v, "entry", o->program.head.entry_point_offset);
    describe_uint(v, "strings", o->program.string_count);
    describe_uint(v, "stack_words", o->program.head.stack_size_required);
}

/* The functions below tell how a byte is protected. */

static bool is_signed(const struct cvbc_module *m)
{
    return m->header.flags & CVBC_SIGNED && m->signature.size;
}

bool cvbc_sealed_only(const struct cvbc_module *m, penta_error *warning)
{
    enum { MINOR_VERSION = 6 };
    if (!(m->header.flags & CVBC_ENCRYPTED) || is_signed(m)) return false;
    *warning = (penta_error){
        .code = CVBC_SEALED_UNSIGNED, .severity = PENTA_WARNING, .offset = MINOR_VERSION};
    snprintf(warning->message, sizeof warning->message,
             "sealed, not signed: these fields could have been changed");
    snprintf(warning->note, sizeof warning->note,
             "minor version, timestamps, build number, source digest, debug data (CVBC 8.9)");
    return true;
}

/* This is a range of a part. It ends at `end`, and has the protection in a signed file, in a
 * file that is only sealed, and in any other file. */
struct protected_range {
    unsigned end;
    const char *with_signature, *with_seal, *otherwise;
};

static const char *protection_in(const struct cvbc_module *m, const struct protected_range *ranges,
                                 uint64_t start, uint64_t offset, uint64_t *end)
{
    while (offset - start >= ranges->end) ranges++;
    *end = start + ranges->end;
    return is_signed(m)                       ? ranges->with_signature
           : m->header.flags & CVBC_ENCRYPTED ? ranges->with_seal
                                              : ranges->otherwise;
}

#define BARE_CRC "nothing: a CRC"
/* The offsets are those of layout.def. */
static const struct protected_range header_ranges[] = {
    {6, "signature, CRC", "CRC", "CRC"},
    {8, "signature, CRC", BARE_CRC, "CRC"}, /* This is the minor version. */
    {12, "signature, CRC", "CRC", "CRC"},
    {16, BARE_CRC, BARE_CRC, BARE_CRC}, /* These are the CRCs themselves. */
    {40, "signature", "nothing", "nothing"},
    {44, BARE_CRC, BARE_CRC, BARE_CRC},
    {cvbc_header_bytes, "signature", "nothing", "nothing"}};
static const struct protected_range security_ranges[] = {
    {3, "signature, CRC", "CRC", "CRC"},
    {4, "signature, CRC", "cipher, CRC", "CRC"}, /* This is encryption_algorithm. */
    {16, "signature, CRC", "CRC", "CRC"},
    {20, "signature, CRC", "cipher, CRC", "CRC"}, /* This is key_derivation_params. */
    {52, "signature, CRC", BARE_CRC, "CRC"},      /* This is source_sha256. */
    /* These are the digests of bytecode and metadata. */
    {116, "signature, CRC", "cipher, CRC", "CRC"},
    /* These are build_reproducible_hash and secure_timestamp. */
    {128, "signature, CRC", BARE_CRC, "CRC"},
    {UINT32_MAX, "signature, CRC", BARE_CRC, "CRC"}};

const char *cvbc_protection(const penta_module *module, uint64_t offset, uint64_t *end)
{
    const struct cvbc_module *m = cvbc_module(module);
    *end = module->file.size;
    if (module->damage.code) return "nothing";
    if (offset < cvbc_header_bytes) return protection_in(m, header_ranges, 0, offset, end);
    const uint8_t *at = module->file.data + offset;
    bool hashed = m->has_protection, encrypted = m->header.flags & CVBC_ENCRYPTED;
    struct cvbc_piece pieces[CVBC_PIECES];
    size_t count = cvbc_pieces(m, pieces), i = 0;
    while (i + 1 < count && at >= pieces[i].bytes.data + pieces[i].bytes.size) i++;
    uint64_t start = cvbc_offset(m, pieces[i].bytes.data), until = start + pieces[i].bytes.size;
    *end = until;
    if (pieces[i].kind == CVBC_PIECE_SECURITY) {
        uint64_t from = m->signature.size ? cvbc_offset(m, m->signature.data) : until;
        const char *by = protection_in(m, security_ranges, start, offset, end);
        if (offset >= from) *end = until, by = "CRC: the signature itself";
        if (offset<from && * end> from) *end = from;
        return by;
    }
    bool metadata = pieces[i].kind == CVBC_PIECE_METADATA;
    bool sealed = encrypted && pieces[i].kind == CVBC_PIECE_BYTECODE;
    bool digest = hashed && (metadata || pieces[i].kind == CVBC_PIECE_BYTECODE ||
                             pieces[i].kind == CVBC_PIECE_PROGRAMS);
    if (sealed || (encrypted && metadata))
        return is_signed(m) ? "cipher, hash, signature, CRC" : "cipher, hash, CRC";
    if (digest) return is_signed(m) ? "hash, signature, CRC" : "hash, CRC";
    return is_signed(m) ? "signature, CRC" : encrypted ? BARE_CRC : "CRC";
}

/* Describes a module in two ways: every byte as a tree, and one screen of facts. */
#include "core/describe.h"
#include "tvmr/tvmr.h"

static const char *header_note(const char *field, uint64_t value)
{
    static const char *const flags[] = {NULL,
                                        "compressed",
                                        "encrypted",
                                        "compressed, encrypted",
                                        "metadata",
                                        "compressed, metadata",
                                        "encrypted, metadata",
                                        "compressed, encrypted, metadata"};
    if (!strcmp(field, "magic") && value == TVMR_MAGIC) return "TVMR";
    if (!strcmp(field, "flags") && value < 8) return flags[value];
    return NULL;
}

static const char *extension_note(const char *field, uint64_t value)
{
    if (strcmp(field, "ext_id")) return NULL;
    const struct tvmr_extension *e = tvmr_extension_find((uint16_t)value);
    return e ? e->name : NULL;
}

static const char *type_note(const char *field, uint64_t value)
{
    (void)field;
    const struct tvmr_type *type = tvmr_type_find((uint16_t)value);
    return type ? type->name : NULL;
}

static const char *core_op_note(const char *field, uint64_t value)
{
    (void)field;
    const struct tvmr_op *op = tvmr_op_find(0, (uint16_t)value);
    return op ? op->name : NULL;
}

static void describe_byte(const penta_visitor *v, const char *name, uint64_t at, uint8_t value,
                          penta_kind kind, const char *note)
{
    describe_field(
        v, (penta_field){
               .name = name, .offset = at, .size = 1, .kind = kind, .as.u = value, .note = note});
}

static void describe_regdef(const struct tvmr_regdef *r, const penta_visitor *v)
{
    static const char *const flags[] = {NULL, "allocated", "frozen", "allocated, frozen"};
    char name[8];
    uint64_t at = r->offset;
    tvmr_register_name(r->reg, name);
    penta_node node = {.name = "definition", .offset = at, .size = r->size};
    if (!describe_enter(v, node)) return;
    describe_byte(v, "register", at, r->reg, PENTA_WORD, name);
    const struct tvmr_type *type = tvmr_type_find(r->type);
    describe_field(v, (penta_field){.name = "type",
                                    .offset = at + 1,
                                    .size = 2,
                                    .kind = PENTA_WORD,
                                    .as.u = r->type,
                                    .note = type ? type->name : NULL,
                                    .meaning = type_note});
    describe_byte(v, "flags", at + 3, r->flags, PENTA_WORD, flags[r->flags & 3]);
    describe_byte(v, "ndims", at + 4, r->ndims, PENTA_UINT, NULL);
    penta_node dims = {
        .name = "dims", .offset = at + 5, .size = 2 * (size_t)r->ndims, .list = true};
    if (r->ndims && describe_enter(v, dims)) {
        for (unsigned i = 0; i < r->ndims; i++)
            describe_field(v, (penta_field){.name = "dim",
                                            .offset = at + 5 + 2 * i,
                                            .size = 2,
                                            .kind = PENTA_UINT,
                                            .as.u = tvmr_dim(r, i)});
        describe_leave(v, dims);
    }
    at += 5 + 2 * (uint64_t)r->ndims;
    describe_byte(v, "key_len", at, (uint8_t)r->key.size, PENTA_UINT, NULL);
    if (r->key.size)
        describe_field(v, (penta_field){.name = "key",
                                        .offset = at + 1,
                                        .size = r->key.size,
                                        .kind = PENTA_TEXT,
                                        .as.bytes = r->key});
    describe_leave(v, node);
}

static void describe_insn(const struct tvmr_module *m, size_t i, const penta_visitor *v)
{
    const uint8_t *p = m->code.data + i * TVMR_INSN;
    uint64_t at = m->header.instr_offset + i * TVMR_INSN;
    struct tvmr_words w = tvmr_word(p);
    const struct tvmr_op *op = tvmr_op_find(w.ext, w.opcode);
    const struct tvmr_extension *e = w.ext ? tvmr_extension_find(w.ext) : NULL;
    penta_node node = {.name = "insn", .offset = at, .size = TVMR_INSN};
    if (!describe_enter(v, node)) return;
    describe_field(v, (penta_field){.name = "ext_id",
                                    .offset = at,
                                    .size = 2,
                                    .kind = PENTA_WORD,
                                    .as.u = w.ext,
                                    .note = e ? e->name : NULL,
                                    .encoding = PENTA_BIG,
                                    .meaning = extension_note});
    describe_field(v, (penta_field){.name = "opcode",
                                    .offset = at + 2,
                                    .size = 2,
                                    .kind = PENTA_WORD,
                                    .as.u = w.opcode,
                                    .note = op ? op->name : NULL,
                                    .encoding = PENTA_BIG,
                                    .meaning = w.ext ? NULL : core_op_note});
    static const char *const names[] = {"a", "b", "c", "d"};
    for (unsigned k = 0; k < 4; k++) {
        char text[8];
        bool is_register = op && strchr("dsm", op->bytes[k]) && w.a[k] != TVMR_NULL;
        tvmr_register_name(w.a[k], text);
        describe_byte(v, names[k], at + 4 + k, w.a[k], PENTA_WORD, is_register ? text : NULL);
    }
    describe_leave(v, node);
}

static void describe_metadata(const struct tvmr_module *m, uint64_t at, const penta_visitor *v)
{
    penta_bytes s = m->metadata;
    penta_node node = {.name = "metadata", .offset = at, .size = s.size};
    if (!s.size || !describe_enter(v, node)) return;
    describe_field(v, (penta_field){.name = "length",
                                    .offset = at,
                                    .size = 4,
                                    .kind = PENTA_UINT,
                                    .as.u = bytes_get32(s.data)});
    if (s.size > 12)
        describe_field(v, (penta_field){.name = "json",
                                        .offset = at + 4,
                                        .size = s.size - 12,
                                        .kind = PENTA_TEXT,
                                        .as.bytes = {s.data + 4, s.size - 12}});
    describe_field(v, (penta_field){.name = "hash",
                                    .offset = at + s.size - 8,
                                    .size = 8,
                                    .kind = PENTA_WORD,
                                    .as.u = bytes_get64(s.data + s.size - 8)});
    describe_leave(v, node);
}

/* Describes the sections after the header, as far as they are correct, and the bytes after them
 * as one leaf. */
static void describe_sections(const struct tvmr_module *m, const penta_visitor *v)
{
    const struct tvmr_header *h = &m->header;
    const uint8_t *bytes = m->image.data;
    uint64_t at = tvmr_header_bytes;
    if (m->exts) {
        penta_node list = {
            .name = "extensions", .offset = at, .size = m->ext_count * 8, .list = true};
        if (m->ext_count && describe_enter(v, list)) {
            for (size_t i = 0; i < m->ext_count; i++)
                layout_describe(v, "extension", tvmr_extension_record_fields, bytes + at + 8 * i,
                                at + 8 * i, false, extension_note);
            describe_leave(v, list);
        }
        at += m->ext_count * 8;
    }
    uint64_t defs_end =
        m->reg_count ? m->regs[m->reg_count - 1].offset + m->regs[m->reg_count - 1].size : at;
    penta_node list = {.name = "definitions", .offset = at, .size = defs_end - at, .list = true};
    if (m->reg_count && describe_enter(v, list)) {
        for (size_t i = 0; i < m->reg_count; i++) describe_regdef(&m->regs[i], v);
        describe_leave(v, list);
    }
    at = defs_end;
    bool whole = !m->base.damage.code;
    if (whole || m->base.damage.code == TVMR_METADATA) {
        penta_node code = {.name = "code", .offset = at, .size = m->code.size, .list = true};
        if (m->count && describe_enter(v, code)) {
            for (size_t i = 0; i < m->count; i++) describe_insn(m, i, v);
            describe_leave(v, code);
        }
        at = h->instr_offset + m->code.size;
    }
    if (!whole) {
        if (at < m->image.size)
            describe_raw(v, "damaged", bytes_slice(m->image, (size_t)at, m->image.size), at,
                         m->base.damage.message);
        return;
    }
    describe_metadata(m, at, v);
    at += m->metadata.size;
    if (m->trailing.size) describe_raw(v, "trailing", m->trailing, at, "ignored");
}

void tvmr_describe(const penta_module *module, const penta_visitor *v)
{
    const struct tvmr_module *m = tvmr_module(module);
    penta_bytes file = module->file;
    if (m->is_weights) {
        tvmr_weights_describe(m, v);
        return;
    }
    if (m->is_card) {
        tvmr_card_describe(m, v);
        return;
    }
    if (m->legacy) {
        tvmr_legacy_describe(m, v);
        return;
    }
    if (m->header_size < tvmr_header_bytes) {
        if (file.size) describe_raw(v, "damaged", file, 0, module->damage.message);
        return;
    }
    layout_describe(v, "header", tvmr_header_fields, file.data, 0, false, header_note);
    if (!(m->header.flags & (TVMR_COMPRESSED | TVMR_ENCRYPTED))) {
        describe_sections(m, v);
        return;
    }
    size_t head = tvmr_header_bytes + tvmr_envelope_head_bytes;
    if (!m->stored.data || file.size < head) {
        if (file.size > tvmr_header_bytes)
            describe_raw(v, "damaged", bytes_slice(file, tvmr_header_bytes, file.size),
                         tvmr_header_bytes, module->damage.message);
        return;
    }
    layout_describe(v, "envelope", tvmr_envelope_head_fields, file.data + tvmr_header_bytes,
                    tvmr_header_bytes, false, NULL);
    if (m->stored.size) describe_raw(v, "payload", m->stored, head, NULL);
    if (m->tail.size) describe_raw(v, "trailing", m->tail, head + m->stored.size, "ignored");
    penta_node inner = {.name = "expanded",
                        .offset = tvmr_header_bytes,
                        .size = m->image.size - tvmr_header_bytes,
                        .decoded = true};
    if (!tvmr_decoded(m) || !describe_enter(v, inner)) return;
    describe_sections(m, v);
    describe_leave(v, inner);
}

static void info_registers(const struct tvmr_module *m, const penta_visitor *v)
{
    penta_node node = {.name = "registers"};
    if (!m->reg_count || !describe_enter(v, node)) return;
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        struct writer text = {0};
        char name[8];
        tvmr_register_name(r->reg, name);
        const struct tvmr_type *type = tvmr_type_find(r->type);
        writer_text(&text, type ? type->name : "?");
        for (unsigned k = 0; k < r->ndims; k++)
            writer_print(&text, "%c%u", k ? ',' : '[', tvmr_dim(r, k));
        if (r->ndims) writer_char(&text, ']');
        if (r->key.size) {
            writer_text(&text, " key ");
            writer_bytes(&text, r->key.data, r->key.size);
        }
        describe_written(v, (penta_field){.name = name, .kind = PENTA_TEXT}, &text);
    }
    describe_leave(v, node);
}

void tvmr_info(const penta_module *module, const penta_visitor *v)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (m->is_weights) {
        tvmr_weights_info(m, v);
        return;
    }
    if (m->is_card) {
        describe_bool(v, "card", true);
        if (m->card.id) describe_text(v, "id", m->card.id);
        if (m->inner) tvmr_info(&m->inner->base, v);
        return;
    }
    describe_text(v, "kind", m->legacy ? "legacy TERN" : "TVMR");
    bool old = m->legacy && !module->damage.code; /* A legacy file has facts of its own. */
    describe_uint(v, "version", old ? bytes_get16(module->file.data + 4) : m->header.version);
    if (m->meta.name) describe_text(v, "name", m->meta.name);
    if (m->meta.domain) describe_text(v, "domain", m->meta.domain);
    describe_bool(v, "compressed", m->header.flags & TVMR_COMPRESSED);
    describe_bool(v, "encrypted", m->header.flags & TVMR_ENCRYPTED);
    if (m->base.damage.code == TVMR_KEY) { /* Without the key the contents are unknown. */
        describe_text(v, "contents", "encrypted: the key is needed");
        return;
    }
    describe_text(v, "profile", tvmr_profile_name(m->profile));
    describe_uint(v, "instructions", m->count);
    bool good = old && bytes_get64(module->file.data + 0x14) == m->tern_mix;
    describe_text(v, "checksum",
                  old                                 ? (good ? "upstream mix, good" : "wrong")
                  : m->checksum == m->header.checksum ? "XXH64, good"
                  : m->mixed                          ? "upstream mix"
                                                      : "wrong");
    penta_node exts = {.name = "extensions"};
    if (m->ext_count && describe_enter(v, exts)) {
        for (size_t i = 0; i < m->ext_count; i++) {
            const struct tvmr_extension *e = tvmr_extension_find(m->exts[i].id);
            describe_word(v, e ? e->name : "unknown", m->exts[i].id);
        }
        describe_leave(v, exts);
    }
    info_registers(m, v);
}

/* The functions below tell which bytes of the file a checksum or cipher protects. */

struct protected_part {
    uint64_t end;
    const char *by;
};

/* Lists the protected parts of the file in their order. No byte after the last part is
 * protected. */
static size_t protected_parts(const struct tvmr_module *m, struct protected_part *parts)
{
    const char *nothing = "nothing", *sum = "checksum";
    uint64_t head = tvmr_header_bytes, envelope = head + tvmr_envelope_head_bytes;
    bool sealed = m->header.flags & TVMR_ENCRYPTED;
    if (m->base.damage.code && m->base.damage.code != TVMR_KEY) return 0;
    if (m->is_card) {
        parts[0] = (struct protected_part){m->card.at, nothing};
        parts[1] = (struct protected_part){m->card.at + m->card.image.size,
                                           m->card.sum_size ? "CRC" : nothing};
        return 2;
    }
    if (m->legacy) {
        parts[0] = (struct protected_part){tvmr_tern_bytes, nothing};
        parts[1] = (struct protected_part){m->tern_code + m->count * TVMR_INSN, sum};
        return 2;
    }
    parts[0] = (struct protected_part){head, sealed ? "encryption" : nothing};
    if (m->header.flags & (TVMR_COMPRESSED | TVMR_ENCRYPTED)) {
        parts[1] = (struct protected_part){envelope, nothing};
        parts[2] = (struct protected_part){
            envelope + m->stored.size, sealed ? "encryption" : "checksum of what it expands to"};
        return 3;
    }
    uint64_t code = m->header.instr_offset + m->count * TVMR_INSN;
    parts[1] = (struct protected_part){code, sum};
    parts[2] = (struct protected_part){code + m->metadata.size, "checksum of the metadata"};
    return 3;
}

const char *tvmr_protection(const penta_module *module, uint64_t offset, uint64_t *end)
{
    struct protected_part parts[3];
    size_t count = protected_parts(tvmr_module(module), parts);
    for (size_t i = 0; i < count; i++) {
        *end = parts[i].end;
        if (offset < *end) return parts[i].by;
    }
    *end = module->file.size;
    return "nothing";
}

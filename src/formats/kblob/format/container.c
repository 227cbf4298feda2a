/* Parses bytes into a module, writes a module as bytes, and lists the contents of a module
 * (describe, info). */
#include <stdlib.h>
#include "base/codec/checksum.h"
#include "core/describe.h"
#include "kblob/kblob.h"

#include "core/layout/tables.h"

int kblob_probe(penta_bytes file, struct writer *evidence)
{
    static const uint8_t magic[] = {0x05, 0xb1, 0x05, 0xb1}, swapped[] = {0xb1, 0x05, 0xb1, 0x05};
    if (file.size >= 4 && !memcmp(file.data, magic, 4)) {
        if (evidence) writer_text(evidence, "starts with 05 b1 05 b1");
        return 100;
    }
    if (file.size >= 4 && !memcmp(file.data, swapped, 4)) {
        if (evidence)
            writer_text(evidence, "starts with b1 05 b1 05, the magic in the wrong order");
        return 60;
    }
    return 0;
}

/* Reads an instruction of sixteen bytes by loads of fixed width. With the byte loop of the
 * reader, parsing would take one and a half times as long. */
static void read_inst(const uint8_t *p, struct kblob_inst *out)
{
    out->opcode = p[0];
    out->flags = p[1];
    out->reserved = bytes_get16(p + 2);
    out->arg0 = bytes_get64(p + 4);
    out->arg1 = bytes_get32(p + 12);
}

/* Parses the code that the file has. Code that is missing is recorded as damage of the module
 * (KBLOB 2.2). */
static bool parse_code(struct kblob_module *m, penta_error *err)
{
    penta_bytes file = m->base.file;
    uint64_t entry = m->header.entryOffset, count = m->header.instCount;
    /* Code that overlaps the header of its own file cannot be described. */
    if (entry < kblob_header_bytes) {
        m->code_offset = kblob_header_bytes;
        m->tail = bytes_slice(file, kblob_header_bytes, file.size);
        return error_at(&m->base.damage, KBLOB_BAD_ENTRY, 8, "entryOffset is %u, inside the header",
                        (unsigned)entry);
    }
    m->code_offset = entry < file.size ? entry : file.size;
    m->gap = bytes_slice(file, kblob_header_bytes, (size_t)m->code_offset - kblob_header_bytes);
    uint64_t there = (file.size - m->code_offset) / kblob_inst_bytes;
    if (count > there || entry > file.size) {
        uint64_t need = entry + count * kblob_inst_bytes;
        error_at(&m->base.damage, KBLOB_TRUNCATED_CODE, file.size,
                 "%llu instructions end at 0x%llx, but the file ends at 0x%zx",
                 (unsigned long long)count, (unsigned long long)need, file.size);
        if (there) module_pass_over(&m->base, &m->base.damage);
    }
    m->count = (size_t)(count < there ? count : there);
    m->insts = arena_alloc(&m->arena, m->count, sizeof *m->insts, err);
    if (!m->insts) return false;
    const uint8_t *p = file.data + m->code_offset;
    for (size_t i = 0; i < m->count; i++) read_inst(p + i * kblob_inst_bytes, &m->insts[i]);
    m->tail = bytes_slice(file, (size_t)m->code_offset + m->count * kblob_inst_bytes, file.size);
    m->tail_is_trailer = !m->base.damage.code && m->tail.size >= kblob_trailer_bytes &&
                         bytes_get32(m->tail.data) == KBLOB_TRAILER;
    return kblob_symbols_read(m, err);
}

penta_bytes kblob_metadata(const struct kblob_module *m)
{
    if (!m->tail_is_trailer) return (penta_bytes){NULL, 0};
    return bytes_slice(m->tail, kblob_trailer_bytes, bytes_get32(m->tail.data + 8));
}

penta_module *kblob_parse(penta_bytes file, const penta_option *options, size_t count,
                          penta_error *err)
{
    struct kblob_module *m = module_new(sizeof *m, &kblob_driver, file, options, count, err);
    if (!m) return NULL;
    m->check_trailer = option_text(options, count, "trailer") != NULL;
    m->instructions_max = KBLOB_INSTRUCTIONS_MAX;
    m->header_size = file.size < kblob_header_bytes ? file.size : kblob_header_bytes;
    struct reader r = {.in = file, .err = &m->base.damage};
    if (m->header_size == kblob_header_bytes)
        kblob_header_read(&r, &m->header);
    else
        error_at(&m->base.damage, KBLOB_TRUNCATED_HEADER, file.size,
                 "the header has 16 bytes, the file %zu", file.size);
    if (!option_uint(options, count, "max-instructions", &m->instructions_max, err) ||
        (!m->base.damage.code && !parse_code(m, err) && err->code)) {
        kblob_close(&m->base);
        return NULL;
    }
    return &m->base;
}

void kblob_close(penta_module *module)
{
    struct kblob_module *m = (struct kblob_module *)module;
    arena_free(&m->arena);
    free(m);
}

void kblob_write(struct writer *out, const struct kblob_header *header, penta_bytes gap,
                 const struct kblob_inst *insts, size_t count)
{
    kblob_header_write(out, header);
    writer_bytes(out, gap.data, gap.size);
    for (size_t i = 0; i < count; i++) kblob_inst_write(out, &insts[i]);
}

void kblob_write_trailer(struct writer *out, penta_bytes metadata)
{
    struct kblob_trailer trailer = {KBLOB_TRAILER, checksum_crc32(writer_view(out)),
                                    (uint32_t)metadata.size, 0};
    kblob_trailer_write(out, &trailer);
    writer_bytes(out, metadata.data, metadata.size);
}

bool kblob_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    const struct kblob_module *m = kblob_module(module);
    if (module->damage.code) {
        writer_bytes(out, module->file.data, module->file.size);
    } else {
        kblob_write(out, &m->header, m->gap, m->insts, m->count);
        writer_bytes(out, m->tail.data, m->tail.size);
    }
    return writer_ok(out, err);
}

static const char *header_note(const char *field, uint64_t value)
{
    if (!strcmp(field, "magic") && value == KBLOB_MAGIC) return "kernel blob";
    return NULL;
}

static const char *inst_note(const char *field, uint64_t value)
{
    if (strcmp(field, "opcode")) return NULL;
    const struct kblob_op_info *op = kblob_op(KBLOB_VERSION, (unsigned)value);
    return op ? op->mnemonic : NULL;
}

static const char *inst_note_2(const char *field, uint64_t value)
{
    if (strcmp(field, "opcode")) return NULL;
    const struct kblob_op_info *op = kblob_op(KBLOB_VERSION_2, (unsigned)value);
    return op ? op->mnemonic : NULL;
}

static void describe_tail(const struct kblob_module *m, const penta_visitor *v)
{
    uint64_t at = m->base.file.size - m->tail.size;
    if (!m->tail.size) return;
    if (m->base.damage.code) {
        describe_raw(v, "damaged", m->tail, at, m->base.damage.message);
        return;
    }
    if (!m->tail_is_trailer) {
        describe_raw(v, "trailer", m->tail, at, "not a checked trailer; ignored");
        return;
    }
    penta_node node = {.name = "trailer", .offset = at, .size = m->tail.size};
    if (!describe_enter(v, node)) return;
    layout_leaves(v, kblob_trailer_fields, m->tail.data, at, false, NULL);
    size_t announced = bytes_get32(m->tail.data + 8), rest = m->tail.size - kblob_trailer_bytes;
    penta_bytes metadata = kblob_metadata(m);
    if (m->symbols.file)
        kblob_describe_symbols(m, v);
    else if (metadata.size)
        describe_raw(v, "metadata", metadata, at + kblob_trailer_bytes,
                     m->symbol_damage.code ? m->symbol_damage.message : NULL);
    if (metadata.size < rest)
        describe_raw(v, "rest", bytes_slice(m->tail, kblob_trailer_bytes + announced, rest),
                     at + kblob_trailer_bytes + metadata.size, "after the metadata");
    describe_leave(v, node);
}

void kblob_describe(const penta_module *module, const penta_visitor *v)
{
    const struct kblob_module *m = kblob_module(module);
    const uint8_t *bytes = module->file.data;
    if (m->header_size < kblob_header_bytes) {
        if (module->file.size) describe_raw(v, "damaged", module->file, 0, module->damage.message);
        return;
    }
    layout_describe(v, "header", kblob_header_fields, bytes, 0, false, header_note);
    if (m->gap.size) describe_raw(v, "gap", m->gap, kblob_header_bytes, "ignored");
    penta_node code = {.name = "code",
                       .offset = m->code_offset,
                       .size = m->count * kblob_inst_bytes,
                       .list = true};
    layout_note *note = m->header.version == KBLOB_VERSION_2 ? inst_note_2 : inst_note;
    if (m->count && describe_enter(v, code)) {
        for (size_t i = 0; i < m->count; i++) {
            uint64_t at = m->code_offset + i * kblob_inst_bytes;
            layout_describe(v, "insn", kblob_inst_fields, bytes + at, at, false, note);
        }
        describe_leave(v, code);
    }
    describe_tail(m, v);
}

const char *kblob_protection(const penta_module *module, uint64_t offset, uint64_t *end)
{
    const struct kblob_module *m = kblob_module(module);
    uint64_t trailer = module->file.size - m->tail.size;
    *end = offset < trailer ? trailer : module->file.size;
    return m->tail_is_trailer && offset < trailer ? "CRC" : "nothing";
}

void kblob_info(const penta_module *module, const penta_visitor *v)
{
    const struct kblob_module *m = kblob_module(module);
    describe_uint(v, "version", m->header.version);
    if (m->header.version == KBLOB_VERSION_2)
        describe_text(v, "loops", m->header.flags & KBLOB_FUELLED ? "fuelled" : "bounded");
    describe_uint(v, "instructions", m->count);
    describe_uint(v, "code_offset", m->code_offset);
    describe_uint(v, "code_bytes", m->count * kblob_inst_bytes);
    describe_uint(v, "gap_bytes", m->gap.size);
    describe_uint(v, "trailer_bytes", module->damage.code ? 0 : m->tail.size);
    if (m->tail_is_trailer) {
        bool good = bytes_get32(m->tail.data + 4) ==
                    checksum_crc32(bytes_slice(module->file, 0, module->file.size - m->tail.size));
        describe_text(v, "checksum", good ? "CRC-32, good" : "CRC-32, wrong");
    } else {
        describe_text(v, "checksum", "none");
    }
    if (m->symbols.file) {
        describe_text(v, "source", m->symbols.file);
        describe_uint(v, "names", m->symbols.name_count);
        describe_uint(v, "lines", m->symbols.line_count);
    }
    uint64_t low = UINT64_MAX, high = 0, uses[KBLOB_OP_DEFINED] = {0};
    for (size_t i = 0; i < m->count; i++) {
        const struct kblob_inst *in = &m->insts[i];
        const struct kblob_op_info *op = kblob_op(m->header.version, in->opcode);
        if (!op) continue;
        uses[in->opcode]++;
        if (!(kblob_uses(op) & KBLOB_FIELD_ARG0)) continue;
        if (in->arg0 < low) low = in->arg0;
        if (in->arg0 > high) high = in->arg0;
    }
    if (low <= high) {
        describe_word(v, "lowest_address", low);
        describe_word(v, "highest_address", high);
    }
    penta_node node = {.name = "uses"};
    if (!m->count || !describe_enter(v, node)) return;
    for (size_t op = 1; op < KBLOB_OP_DEFINED; op++)
        if (uses[op]) describe_uint(v, kblob_ops[op].mnemonic, uses[op]);
    describe_leave(v, node);
}

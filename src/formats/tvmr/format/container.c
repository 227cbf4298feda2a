/* Parses bytes into a module and writes a module as bytes. A file that contradicts its layout is
 * damaged. The verifier finds other errors, such as a wrong version, checksum or type, so that
 * files with such errors can still be described. */
#include "base/codec/checksum.h"
#include "tvmr/format/weights.h"
#include <stdlib.h>

#include "core/layout/tables.h"

int tvmr_probe(penta_bytes file, struct writer *evidence)
{
    if (file.size < 4) return 0;
    if (tvmr_is_weights(file)) {
        if (evidence) writer_text(evidence, "starts with TVMW: weights");
        return 100;
    }
    uint32_t magic = bytes_get32(file.data);
    if (magic != TVMR_MAGIC && magic != TERN_MAGIC) return 0;
    if (evidence)
        writer_text(evidence, tvmr_is_card(file)    ? "a card, with the image of a program"
                              : magic == TVMR_MAGIC ? "starts with TVMR"
                                                    : "starts with TERN, the legacy format");
    return 100;
}

uint64_t tvmr_mix(penta_bytes bytes)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < bytes.size; i += 8) {
        size_t left = bytes.size - i;
        uint64_t v = bytes_uint(bytes.data + i, left < 8 ? left : 8, false);
        h = h * 0x85EBCA6B + v;
        h = h << 31 | h >> 33;
    }
    return h;
}

static bool container_damage(struct tvmr_module *m, uint32_t code, uint64_t at, const char *what)
{
    error_at(&m->base.damage, code, at, "%s", what);
    m->base.damage.decoded = tvmr_decoded(m) && at >= tvmr_header_bytes;
    return false;
}

/* Checks that the three sections lie where the header says, inside the image. */
static bool check_layout(struct tvmr_module *m)
{
    const struct tvmr_header *h = &m->header;
    uint64_t size = m->image.size, defs = tvmr_header_bytes + 8 * (uint64_t)h->ext_table_count;
    uint64_t end = h->instr_offset + (uint64_t)TVMR_INSN * h->instr_count;
    if (h->ext_table_offset != tvmr_header_bytes)
        return container_damage(m, TVMR_LAYOUT, 0x08, "the extension table does not start at 48");
    if (h->reg_defs_offset != defs)
        return container_damage(m, TVMR_LAYOUT, 0x10,
                                "the definitions do not follow the extension table");
    if (h->instr_offset < defs)
        return container_damage(m, TVMR_LAYOUT, 0x18,
                                "the instructions start before the definitions");
    if (end > size) {
        error_at(&m->base.damage, TVMR_TRUNCATED, size,
                 "instructions end at %llu, the image at %llu", (unsigned long long)end,
                 (unsigned long long)size);
        m->base.damage.decoded = tvmr_decoded(m);
        if (h->instr_offset > size || !module_pass_over(&m->base, &m->base.damage)) return false;
        m->header.instr_count = (uint32_t)((size - h->instr_offset) / TVMR_INSN);
    }
    return true;
}

static bool parse_extensions(struct tvmr_module *m, penta_error *err)
{
    m->exts = arena_alloc(&m->arena, m->header.ext_table_count, sizeof *m->exts, err);
    if (!m->exts) return false;
    m->ext_count = m->header.ext_table_count;
    const uint8_t *p = m->image.data + tvmr_header_bytes;
    for (size_t i = 0; i < m->ext_count; i++, p += tvmr_extension_record_bytes)
        m->exts[i] = (struct tvmr_extension_entry){bytes_get16(p), bytes_get16(p + 2),
                                                   bytes_get16(p + 4), bytes_get16(p + 6)};
    return true;
}

static bool parse_regdef(struct tvmr_module *m, size_t *at, size_t end, struct tvmr_regdef *out)
{
    const uint8_t *p = m->image.data + *at;
    size_t left = end - *at;
    if (left < TVMR_REGDEF_MIN) return false;
    size_t dims = 2 * (size_t)p[4], size = TVMR_REGDEF_MIN + dims;
    if (left < size || left < size + p[5 + dims]) return false;
    size += p[5 + dims];
    *out = (struct tvmr_regdef){.reg = p[0],
                                .type = bytes_get16(p + 1),
                                .flags = p[3],
                                .ndims = p[4],
                                .dims = p + 5,
                                .key = {p + 6 + dims, p[5 + dims]},
                                .offset = (uint32_t)*at,
                                .size = (uint32_t)size};
    *at += size;
    return true;
}

static bool parse_registers(struct tvmr_module *m, penta_error *err)
{
    size_t at = m->header.reg_defs_offset, end = m->header.instr_offset;
    size_t claimed = m->header.reg_defs_count, room = (end - at) / TVMR_REGDEF_MIN;
    m->regs = arena_alloc(&m->arena, claimed < room ? claimed : room, sizeof *m->regs, err);
    if (!m->regs) return false;
    for (size_t i = 0; i < claimed; i++) {
        if (i >= room || !parse_regdef(m, &at, end, &m->regs[i]))
            return container_damage(m, TVMR_REGDEF, at,
                                    "a register definition runs past its section");
        m->reg_count++;
    }
    if (at != end)
        return container_damage(m, TVMR_LAYOUT, at,
                                "the definitions end before the instructions start");
    return true;
}

static bool parse_metadata(struct tvmr_module *m, size_t at, penta_error *err)
{
    penta_bytes rest = bytes_slice(m->image, at, m->image.size);
    if (!(m->header.flags & TVMR_METADATA_FLAG)) {
        m->trailing = rest;
        return true;
    }
    uint64_t length = rest.size < 4 ? 0 : bytes_get32(rest.data);
    if (rest.size < 12 || length > rest.size - 12) {
        container_damage(m, TVMR_METADATA, at, "the metadata section runs past the end");
        m->trailing = rest;
        return module_pass_over(&m->base, &m->base.damage);
    }
    m->metadata = bytes_slice(rest, 0, (size_t)length + 12);
    m->trailing = bytes_slice(rest, (size_t)length + 12, rest.size);
    penta_bytes json = bytes_slice(m->metadata, 4, (size_t)length);
    penta_error *e = &m->metadata_error;
    if (bytes_get64(json.data + json.size) != checksum_xxh64(json))
        error_at(e, TVMR_METADATA, at + 4 + length, "the hash of the metadata does not match");
    else if (!tvmr_metadata_read(json, &m->meta, &m->arena, e))
        e->offset += at + 4;
    if (e->code == BASE_MEMORY) {
        *err = *e;
        return false;
    }
    e->decoded = tvmr_decoded(m);
    return true;
}

/* Parses m->image, which is complete. Returns false when the image is damaged, or with an error. */
static bool parse_image(struct tvmr_module *m, penta_error *err)
{
    if (!check_layout(m)) return false;
    size_t code = m->header.instr_offset, end = code + (size_t)TVMR_INSN * m->header.instr_count;
    penta_bytes summed = bytes_slice(m->image, tvmr_header_bytes, end - tvmr_header_bytes);
    m->checksum = checksum_xxh64(summed);
    m->mixed = m->checksum != m->header.checksum && tvmr_mix(summed) == m->header.checksum;
    m->code = bytes_slice(m->image, code, end - code);
    m->count = m->header.instr_count;
    return parse_extensions(m, err) && parse_registers(m, err) && parse_metadata(m, end, err);
}

static bool parse_envelope(struct tvmr_module *m, const char *key_file, penta_error *err)
{
    penta_bytes file = m->base.file;
    size_t head = tvmr_header_bytes + tvmr_envelope_head_bytes;
    if (file.size < head)
        return container_damage(m, TVMR_ENVELOPE, file.size, "the file ends inside the envelope");
    struct reader r = {.in = file, .pos = tvmr_header_bytes, .err = &m->base.damage};
    tvmr_envelope_head_read(&r, &m->envelope);
    const struct tvmr_envelope_head *e = &m->envelope;
    if (e->codec != (m->header.flags & TVMR_COMPRESSED))
        return container_damage(m, TVMR_ENVELOPE, 0x30, "the codec does not agree with the flags");
    if (e->cipher != (m->header.flags & TVMR_ENCRYPTED) >> 1)
        return container_damage(m, TVMR_ENVELOPE, 0x31, "the cipher does not agree with the flags");
    if (e->zero)
        return container_damage(m, TVMR_ENVELOPE, 0x32, "bytes of the envelope that are 0 are not");
    if (e->stored_size > file.size - head)
        return container_damage(m, TVMR_ENVELOPE, 0x38,
                                "the payload runs past the end of the file");
    m->stored = bytes_slice(file, head, e->stored_size);
    m->tail = bytes_slice(file, head + e->stored_size, file.size);
    return tvmr_envelope_open(m, key_file, &m->base.damage, err);
}

static void parse_file(struct tvmr_module *m, const char *key_file, penta_error *err)
{
    penta_bytes file = m->base.file;
    struct reader r = {.in = file, .err = &m->base.damage};
    if (file.size < 4) {
        container_damage(m, TVMR_TRUNCATED, file.size, "fewer than the four bytes of the magic");
        return;
    }
    uint32_t magic = bytes_get32(file.data);
    if (magic == TERN_MAGIC) {
        m->legacy = true;
        if (tvmr_legacy(m, &m->base.damage, err)) {
            r.in = m->image;
            tvmr_header_read(&r, &m->header);
            parse_image(m, err);
        }
        return;
    }
    if (magic != TVMR_MAGIC) {
        container_damage(m, TVMR_MAGIC_BYTES, 0, "the file starts with neither TVMR nor TERN");
        return;
    }
    if (file.size < tvmr_header_bytes) {
        container_damage(m, TVMR_TRUNCATED, file.size, "fewer than the 48 bytes of a header");
        return;
    }
    tvmr_header_read(&r, &m->header);
    m->header_size = tvmr_header_bytes;
    bool packed = m->header.flags & (TVMR_COMPRESSED | TVMR_ENCRYPTED);
    if (!packed || parse_envelope(m, key_file, err)) parse_image(m, err);
}

/* Makes the module a weight file from a table of numbers in another form, for the option
 * 'read-as'. */
static bool read_weights_as(struct tvmr_module *m, const char *form, const char *key,
                            penta_error *err)
{
    bool ok = tvmr_weights_from(m->base.file, form, key, &m->expanded, err);
    m->base.file = m->image = writer_view(&m->expanded);
    return ok;
}

penta_module *tvmr_parse(penta_bytes file, const penta_option *options, size_t count,
                         penta_error *err)
{
    struct tvmr_module *m = module_new(sizeof *m, &tvmr_driver, file, options, count, err);
    if (!m) return NULL;
    m->image = file;
    m->accept_mix = option_text(options, count, "accept-mix") != NULL;
    m->shapes = option_text(options, count, "shapes") != NULL;
    const char *form = option_text(options, count, "read-as");
    if (!tvmr_profile_option(options, count, &m->profile, err) ||
        !tvmr_manifest_options(options, count, err) ||
        (form && !read_weights_as(m, form, option_text(options, count, "entry"), err)))
        ; /* The error is handled below. */
    else if (tvmr_is_weights(m->base.file))
        tvmr_weights_parse(m, err);
    else if (tvmr_is_card(file))
        tvmr_card_parse(m, options, count, err);
    else
        parse_file(m, option_text(options, count, "key-file"), err);
    if (!err->code) return &m->base;
    tvmr_close(&m->base);
    return NULL;
}

void tvmr_close(penta_module *module)
{
    struct tvmr_module *m = (struct tvmr_module *)module;
    writer_free(&m->expanded);
    arena_free(&m->arena);
    if (m->inner) tvmr_close(&m->inner->base);
    free(m);
}

/* The functions below write images. */

void tvmr_write_metadata(struct writer *out, penta_bytes json)
{
    writer_uint(out, json.size, 4);
    writer_bytes(out, json.data, json.size);
    writer_uint(out, checksum_xxh64(json), 8);
}

void tvmr_write(struct writer *out, const struct tvmr_extension_entry *exts, size_t ext_count,
                penta_bytes regdefs, size_t reg_count, penta_bytes code, penta_bytes metadata)
{
    struct tvmr_header h = {.magic = TVMR_MAGIC,
                            .version = TVMR_VERSION,
                            .flags = metadata.size ? TVMR_METADATA_FLAG : 0,
                            .ext_table_offset = tvmr_header_bytes,
                            .ext_table_count = (uint32_t)ext_count,
                            .reg_defs_count = (uint32_t)reg_count,
                            .instr_count = (uint32_t)(code.size / TVMR_INSN)};
    h.reg_defs_offset = (uint32_t)(tvmr_header_bytes + 8 * ext_count);
    h.instr_offset = h.reg_defs_offset + (uint32_t)regdefs.size;
    size_t start = out->out.size;
    tvmr_header_write(out, &h);
    for (size_t i = 0; i < ext_count; i++) {
        struct tvmr_extension_entry e = exts[i];
        struct tvmr_extension_record record = {e.id, e.major, e.minor, e.patch};
        tvmr_extension_record_write(out, &record);
    }
    writer_bytes(out, regdefs.data, regdefs.size);
    writer_bytes(out, code.data, code.size);
    if (out->failed) return;
    penta_bytes summed = bytes_slice(writer_view(out), start + tvmr_header_bytes, SIZE_MAX);
    writer_patch(out, start + 0x20, checksum_xxh64(summed), 8);
    writer_bytes(out, metadata.data, metadata.size);
}

bool tvmr_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (module->damage.code || module->passed_count || m->legacy || m->is_weights ||
        tvmr_decoded(m)) {
        writer_bytes(out, module->file.data, module->file.size);
        return writer_ok(out, err);
    }
    tvmr_header_write(out, &m->header);
    for (size_t i = 0; i < m->ext_count; i++) {
        struct tvmr_extension_entry e = m->exts[i];
        struct tvmr_extension_record record = {e.id, e.major, e.minor, e.patch};
        tvmr_extension_record_write(out, &record);
    }
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        writer_uint(out, r->reg, 1);
        writer_uint(out, r->type, 2);
        writer_uint(out, r->flags, 1);
        writer_uint(out, r->ndims, 1);
        writer_bytes(out, r->dims, 2 * (size_t)r->ndims);
        writer_uint(out, r->key.size, 1);
        writer_bytes(out, r->key.data, r->key.size);
    }
    writer_bytes(out, m->code.data, m->code.size);
    writer_bytes(out, m->metadata.data, m->metadata.size);
    writer_bytes(out, m->trailing.data, m->trailing.size);
    return writer_ok(out, err);
}

/* Parses bytes into a module and writes a module as bytes. Parsing only finds the sections and
 * decodes nothing. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "crypto/hash.h"
#include "cvbc/cvbc.h"

#include "core/layout/tables.h"

int cvbc_probe(penta_bytes file, struct writer *evidence)
{
    if (file.size >= 4 && bytes_get32(file.data) == CVBC_MAGIC_NUMBER) {
        if (evidence) writer_text(evidence, "starts with 43 42 56 43");
        return 100;
    }
    if (file.size >= 4 && !memcmp(file.data, "CVBC", 4)) {
        if (evidence) writer_text(evidence, "starts with CVBC, the magic in the wrong order");
        return 60;
    }
    return 0;
}

/* Finds a section. It must be in the file and after the header, otherwise the module is damaged.
 * A section of size 0 does not exist. */
static penta_bytes container_section(struct cvbc_module *m, const char *name, uint32_t offset,
                                     uint32_t size, uint64_t field)
{
    penta_bytes file = m->base.file;
    if (!size) return (penta_bytes){0};
    if (offset > file.size || size > file.size - offset) {
        error_at(&m->base.damage, CVBC_BOUNDS, field,
                 "the %s section ends at 0x%llx, the file at 0x%zx", name,
                 (unsigned long long)offset + size, file.size);
        return (penta_bytes){0};
    }
    if (offset < cvbc_header_bytes) {
        error_at(&m->base.damage, CVBC_LAYOUT, field,
                 "the %s section starts at 0x%x, inside the header", name, (unsigned)offset);
        return (penta_bytes){0};
    }
    return (penta_bytes){file.data + offset, size};
}

static bool container_overlap(penta_bytes a, penta_bytes b)
{
    return a.size && b.size && a.data < b.data + b.size && b.data < a.data + a.size;
}

static void find_sections(struct cvbc_module *m)
{
    const struct cvbc_header *h = &m->header;
    m->metadata = container_section(m, "metadata", h->metadata_offset, h->metadata_size, 16);
    m->stored = container_section(m, "bytecode", h->bytecode_offset, h->bytecode_size, 32);
    /* A size without an offset is the error LAYOUT, and there is no section. */
    if (h->security_offset)
        m->security = container_section(m, "security", h->security_offset, h->security_size, 24);
    if (container_overlap(m->metadata, m->stored) || container_overlap(m->metadata, m->security) ||
        container_overlap(m->security, m->stored))
        error_at(&m->base.damage, CVBC_LAYOUT, 16, "two sections overlap");
    if (m->base.damage.code || !(h->flags & CVBC_HAS_DEBUG) || !m->stored.size) return;
    uint64_t end = cvbc_offset(m, m->stored.data) + m->stored.size, at = (end + 3) & ~UINT64_C(3);
    bool last = m->metadata.data < m->stored.data && m->security.data < m->stored.data;
    if (last && at < m->base.file.size)
        m->debug = bytes_slice(m->base.file, (size_t)at, m->base.file.size);
}

/* Parses the directory of programs. If the flag for it is set, it comes after the custom
 * metadata. */
static bool parse_directory(struct cvbc_module *m, penta_error *err)
{
    struct cvbc_metadata *meta = &m->meta;
    meta->has_directory = m->header.flags & CVBC_HAS_PROGRAMS &&
                          m->header.format_version_minor >= CVBC_MINOR_PROGRAMS;
    if (!meta->has_directory || !meta->whole) return true;
    penta_error cut = {0};
    struct reader r = {.in = meta->rest, .err = &cut};
    cvbc_directory_read(&r, &meta->programs);
    size_t count = reader_count(&r, meta->programs.program_count, cvbc_entry_bytes);
    if (cut.code) return true;
    meta->entries = arena_alloc(&m->arena, count, sizeof *meta->entries, err);
    for (size_t i = 0; meta->entries && i < count; i++) cvbc_entry_read(&r, &meta->entries[i]);
    meta->entry_count = count;
    meta->directory = bytes_slice(meta->rest, 0, r.pos);
    meta->rest = bytes_slice(meta->rest, r.pos, meta->rest.size);
    meta->directory_whole = !meta->rest.size;
    return meta->entries != NULL;
}

/* Parses the lists after the core record, as much of them as the section has. */
static bool parse_metadata(struct cvbc_module *m, penta_error *err)
{
    struct cvbc_metadata *meta = &m->meta;
    penta_error cut = {0};
    struct reader r = {.in = m->metadata, .err = &cut};
    if (m->metadata.size < cvbc_core_bytes) return true;
    cvbc_core_read(&r, &meta->core);
    size_t pins = reader_count(&r, meta->core.pin_config_count, cvbc_pin_bytes);
    meta->pins = arena_alloc(&m->arena, pins, sizeof *meta->pins, err);
    for (size_t i = 0; meta->pins && i < pins; i++) cvbc_pin_read(&r, &meta->pins[i]);
    meta->pin_count = pins;
    size_t dependencies = reader_count(&r, meta->core.dependency_count, cvbc_dependency_bytes);
    meta->dependencies = arena_alloc(&m->arena, dependencies, sizeof *meta->dependencies, err);
    for (size_t i = 0; meta->dependencies && i < dependencies; i++)
        cvbc_dependency_read(&r, &meta->dependencies[i]);
    meta->dependency_count = dependencies;
    for (size_t i = 0; meta->dependencies && i < dependencies; i++) {
        if (meta->dependencies[i].criticality != CVBC_ENFORCED) continue;
        meta->enforced = true;
        meta->needs |= meta->dependencies[i].required_features;
    }
    size_t hints = reader_count(&r, meta->core.performance_hint_count, cvbc_hint_bytes);
    meta->hints = arena_alloc(&m->arena, hints, sizeof *meta->hints, err);
    for (size_t i = 0; meta->hints && i < hints && !cut.code; i++) {
        cvbc_hint_read(&r, &meta->hints[i].head);
        meta->hints[i].data = reader_bytes(&r, meta->hints[i].head.hint_data_size);
        if (!cut.code) meta->hint_count++;
    }
    meta->custom = reader_bytes(&r, meta->core.custom_metadata_size);
    meta->whole = !cut.code;
    if (meta->whole) meta->rest = bytes_slice(m->metadata, r.pos, m->metadata.size);
    return parse_directory(m, err) && !err->code;
}

static void parse_security(struct cvbc_module *m)
{
    penta_error cut = {0};
    struct reader r = {.in = m->security, .err = &cut};
    if (m->security.size < CVBC_PROTECTION_BYTES) return;
    cvbc_security_read(&r, &m->protection);
    cvbc_integrity_read(&r, &m->integrity);
    m->has_protection = true;
    m->public_key = bytes_slice(m->security, r.pos, m->protection.public_key_size);
    m->signature =
        bytes_slice(m->security, r.pos + m->public_key.size, m->protection.signature_size);
}

/* Parses a container. `inner` tells that it is a program of another container; then it cannot
 * have programs of its own. */
static penta_module *container_parse(penta_bytes file, const penta_option *options, size_t count,
                                     bool inner, penta_error *err)
{
    struct cvbc_module *m = module_new(sizeof *m, &cvbc_driver, file, options, count, err);
    if (!m) return NULL;
    m->is_inner = inner;
    lock_open(&m->lock);
    m->header_size = file.size < cvbc_header_bytes ? file.size : cvbc_header_bytes;
    struct reader r = {.in = file, .err = &m->base.damage};
    if (m->header_size == cvbc_header_bytes) {
        cvbc_header_read(&r, &m->header);
        find_sections(m);
    } else {
        error_at(&m->base.damage, CVBC_TRUNCATED, file.size,
                 "the header has 64 bytes, the file %zu", file.size);
    }
    bool ok = cvbc_policy_options(&m->policy, options, count, err);
    if (ok && !m->base.damage.code) {
        ok = parse_metadata(m, err);
        parse_security(m);
    }
    ok = ok && cvbc_programs_find(m, err);
    ok = ok && cvbc_program_choose(m, option_text(options, count, "program"), err);
    if (ok) return &m->base;
    cvbc_close(&m->base);
    return NULL;
}

penta_module *cvbc_parse(penta_bytes file, const penta_option *options, size_t count,
                         penta_error *err)
{
    return container_parse(file, options, count, false, err);
}

struct cvbc_module *cvbc_parse_inner(penta_bytes file, penta_error *err)
{
    return (struct cvbc_module *)container_parse(file, NULL, 0, true, err);
}

void cvbc_close(penta_module *module)
{
    struct cvbc_module *m = (struct cvbc_module *)module;
    if (m->image) secret_wipe(m->image, m->image_size);
    free(m->image);
    cvbc_programs_free(m);
    cvbc_policy_free(&m->policy);
    lock_close(&m->lock);
    arena_free(&m->arena);
    free(m);
}

size_t cvbc_pieces(const struct cvbc_module *m, struct cvbc_piece pieces[CVBC_PIECES])
{
    struct cvbc_piece known[] = {{CVBC_PIECE_METADATA, m->metadata},
                                 {CVBC_PIECE_SECURITY, m->security},
                                 {CVBC_PIECE_PROGRAMS, m->programs},
                                 {CVBC_PIECE_BYTECODE, m->stored},
                                 {CVBC_PIECE_DEBUG, m->debug}};
    const uint8_t *at = m->base.file.data + cvbc_header_bytes;
    const uint8_t *end = m->base.file.data + m->base.file.size;
    size_t count = 0;
    for (;;) {
        const struct cvbc_piece *next = NULL;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (known[i].bytes.size && known[i].bytes.data >= at &&
                (!next || known[i].bytes.data < next->bytes.data))
                next = &known[i];
        const uint8_t *until = next ? next->bytes.data : end;
        if (until > at)
            pieces[count++] = (struct cvbc_piece){CVBC_PIECE_GAP, {at, (size_t)(until - at)}};
        if (!next) return count;
        pieces[count++] = *next;
        at = next->bytes.data + next->bytes.size;
    }
}

static void write_metadata(const struct cvbc_module *m, struct writer *out)
{
    const struct cvbc_metadata *meta = &m->meta;
    if (!meta->whole) {
        writer_bytes(out, m->metadata.data, m->metadata.size);
        return;
    }
    cvbc_core_write(out, &meta->core);
    for (size_t i = 0; i < meta->pin_count; i++) cvbc_pin_write(out, &meta->pins[i]);
    for (size_t i = 0; i < meta->dependency_count; i++)
        cvbc_dependency_write(out, &meta->dependencies[i]);
    for (size_t i = 0; i < meta->hint_count; i++) {
        cvbc_hint_write(out, &meta->hints[i].head);
        writer_bytes(out, meta->hints[i].data.data, meta->hints[i].data.size);
    }
    writer_bytes(out, meta->custom.data, meta->custom.size);
    if (meta->entries) {
        cvbc_directory_write(out, &meta->programs);
        for (size_t i = 0; i < meta->entry_count; i++) cvbc_entry_write(out, &meta->entries[i]);
    }
    writer_bytes(out, meta->rest.data, meta->rest.size);
}

static void write_security(const struct cvbc_module *m, struct writer *out)
{
    size_t at = m->has_protection ? CVBC_PROTECTION_BYTES : 0;
    if (m->has_protection) {
        cvbc_security_write(out, &m->protection);
        cvbc_integrity_write(out, &m->integrity);
    }
    writer_bytes(out, m->security.data + at, m->security.size - at);
}

bool cvbc_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    const struct cvbc_module *m = cvbc_module(module);
    if (module->damage.code) {
        writer_bytes(out, module->file.data, module->file.size);
        return writer_ok(out, err);
    }
    cvbc_header_write(out, &m->header);
    struct cvbc_piece pieces[CVBC_PIECES];
    size_t count = cvbc_pieces(m, pieces);
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].kind == CVBC_PIECE_METADATA)
            write_metadata(m, out);
        else if (pieces[i].kind == CVBC_PIECE_SECURITY)
            write_security(m, out);
        else
            writer_bytes(out, pieces[i].bytes.data, pieces[i].bytes.size);
    }
    return writer_ok(out, err);
}

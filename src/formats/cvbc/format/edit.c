/* What an edit of a container repairs: the places and sizes of sections, lengths inside them, the digests that were
 * right before, and the CRCs, in every program of the container. A signature covers all of it and is dropped. */
#include "base/bytes.h"
#include "core/edit/edit.h"
#include "cvbc/format/build.h"

enum { HEADER_FLAGS = 56, TOTAL_SIZE = 8, HEADER_CRC = 12, PAYLOAD_CRC = 40 };
enum { SIGNATURE_ALGORITHM = 1, SIGNATURE_SIZE = 4, KEY_SIZE = 8 };
enum { BYTECODE_DIGEST = 32, METADATA_DIGEST = 64, SHORT_DIGEST = 96, SHORT_BYTES = 4 };
enum { ENTRY_SIZE = CVBC_NAME_BYTES, ENTRY_DIGEST = CVBC_NAME_BYTES + 4 };

/* A container that is measured: the file itself, or a program in it, which starts at `origin`. */
struct measured {
    struct edit *e;
    const struct cvbc_module *m;
    uint64_t origin;
};

static uint64_t place_of(const struct measured *c, const uint8_t *p)
{
    return c->origin + cvbc_offset(c->m, p);
}

static struct edit_number number_at(uint64_t at, unsigned size)
{
    return (struct edit_number){at, size, PENTA_LITTLE};
}

/* A section whose place and size are in the header, one after the other. */
static void section_measure(const struct measured *c, unsigned field, penta_bytes section)
{
    uint64_t at = c->origin + field;
    if (!section.size) return;
    edit_place(c->e, number_at(at, 4), place_of(c, section.data), c->origin);
    edit_length(c->e, number_at(at + 4, 4), place_of(c, section.data), section.size, 1);
}

static void metadata_measure(const struct measured *c)
{
    const struct cvbc_metadata *meta = &c->m->meta;
    if (!meta->whole) return;
    uint64_t core = place_of(c, c->m->metadata.data);
    uint64_t at = core + cvbc_core_bytes + meta->pin_count * cvbc_pin_bytes +
                  meta->dependency_count * cvbc_dependency_bytes;
    for (size_t i = 0; i < meta->hint_count; i++) {
        size_t size = meta->hints[i].data.size;
        edit_length(c->e, number_at(at + 2, 2), at + cvbc_hint_bytes, size, 1);
        at += cvbc_hint_bytes + size;
    }
    edit_length(c->e, number_at(core + cvbc_core_bytes - 2, 2), at, meta->custom.size, 1);
}

static void security_measure(const struct measured *c)
{
    const struct cvbc_module *m = c->m;
    if (!m->has_protection) return;
    uint64_t at = place_of(c, m->security.data), key = at + CVBC_PROTECTION_BYTES;
    edit_length(c->e, number_at(at + KEY_SIZE, 4), key, m->public_key.size, 1);
    edit_length(c->e, number_at(at + SIGNATURE_SIZE, 4), key + m->public_key.size,
                m->signature.size, 1);
}

static void bytecode_measure(const struct measured *c)
{
    const struct cvbc_opened *o = cvbc_open(c->m);
    if (!c->m->stored.size || !cvbc_plain(c->m) || !o->has_program || o->program.flaw.code) return;
    uint64_t at = place_of(c, c->m->stored.data), code = at + cvbc_bytecode_bytes;
    uint64_t pool = code + 4 * o->program.count;
    edit_length(c->e, number_at(at, 2), code, pool - code, 4);
    edit_place(c->e, number_at(at + 4, 4), pool, at);
    edit_length(c->e, number_at(at + 8, 4), pool, o->program.head.constant_pool_size, 1);
    for (size_t i = 0; i < o->program.string_count; i++) {
        size_t size = o->program.strings[i].size + 1;
        edit_length(c->e, number_at(pool, 4), pool + 4, size, 1);
        pool += 4 + size;
    }
}

static void rows_measure(const struct measured *c, penta_bytes table, bool variables)
{
    struct cvbc_symbol symbol;
    struct cvbc_variable variable;
    penta_bytes name;
    for (size_t pos = 0, from = 0; pos < table.size; from = pos) {
        if (!(variables ? cvbc_variable_next(table, &pos, &variable, &name)
                        : cvbc_symbol_next(table, &pos, &symbol, &name)))
            return;
        uint64_t row = place_of(c, table.data);
        edit_length(c->e, number_at(row + from, 2), row + pos - name.size, name.size, 1);
    }
}

static void debug_measure(const struct measured *c)
{
    if (c->m->debug.size < cvbc_debug_bytes) return;
    struct cvbc_debug_tables t = cvbc_debug_split(c->m->debug);
    const penta_bytes tables[] = {t.symbols, t.lines, t.variables};
    uint64_t at = place_of(c, c->m->debug.data);
    for (size_t i = 0; i < 3; i++) {
        if (!tables[i].size) continue;
        uint64_t table = place_of(c, tables[i].data);
        edit_place(c->e, number_at(at + 8 * i, 4), table, at);
        edit_length(c->e, number_at(at + 8 * i + 4, 4), table, tables[i].size, 1);
    }
    rows_measure(c, t.symbols, false);
    rows_measure(c, t.variables, true);
}

/* Sections start at multiples of 4 from the start of their container. */
static void sections_align(const struct measured *c)
{
    struct cvbc_piece pieces[CVBC_PIECES];
    size_t count = cvbc_pieces(c->m, pieces);
    uint64_t end = c->origin + cvbc_header_bytes;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].kind == CVBC_PIECE_GAP) continue;
        uint64_t from = place_of(c, pieces[i].bytes.data);
        if (!(c->origin & 3)) edit_align(c->e, end, from, 4);
        end = from + pieces[i].bytes.size;
    }
}

static void container_measure(const struct measured *c)
{
    const struct cvbc_module *m = c->m;
    sections_align(c);
    section_measure(c, 16, m->metadata);
    section_measure(c, 24, m->security);
    section_measure(c, 32, m->stored);
    edit_length(c->e, number_at(c->origin + TOTAL_SIZE, 4), c->origin, m->base.file.size, 1);
    if (m->metadata.size) metadata_measure(c);
    security_measure(c);
    bytecode_measure(c);
    debug_measure(c);
    uint64_t end = m->inner ? place_of(c, m->programs.data) : 0;
    for (size_t i = 0; m->inner && i < m->meta.entry_count; i++) {
        struct measured inner = {c->e, m->inner[i], place_of(c, m->inner[i]->base.file.data)};
        uint64_t entry =
            place_of(c, m->meta.directory.data) + cvbc_directory_bytes + i * cvbc_entry_bytes;
        edit_length(c->e, number_at(entry + ENTRY_SIZE, 4), inner.origin, inner.m->base.file.size,
                    1);
        edit_align(c->e, end, inner.origin, 4);
        end = inner.origin + inner.m->base.file.size;
        container_measure(&inner);
    }
}

static void all_measures(struct edit *e)
{
    struct measured whole = {e, cvbc_module(e->module), 0};
    container_measure(&whole);
}

/* ---- the signature ---- */

static void signature_drop(struct edit *e)
{
    const struct cvbc_module *m = cvbc_module(e->module);
    uint8_t zero = 0, flags = (uint8_t)(m->header.flags & ~CVBC_SIGNED);
    if (!(m->header.flags & CVBC_SIGNED) || !m->has_protection || !m->signature.size || !e->count)
        return;
    uint64_t at = cvbc_offset(m, m->security.data);
    edit_put(e, HEADER_FLAGS, 1, (penta_bytes){&flags, 1}, false);
    edit_put(e, at + SIGNATURE_ALGORITHM, 1, (penta_bytes){&zero, 1}, false);
    edit_put(e, at + CVBC_PROTECTION_BYTES, m->public_key.size + m->signature.size,
             (penta_bytes){&zero, 0}, false);
    findings_add(e->findings, BASE_SIGNATURE_DROPPED, at + CVBC_PROTECTION_BYTES,
                 "penta sign signs the new file",
                 "the %s signature no longer fits, and was dropped",
                 cvbc_name("signature_algorithm", m->protection.signature_algorithm));
}

/* ---- digests and CRCs ---- */

static bool digest_right(const struct cvbc_module *m, size_t at, size_t size, penta_bytes of)
{
    uint8_t digest[32];
    cvbc_digest(of, digest);
    return !memcmp(m->security.data + cvbc_security_bytes + at, digest, size);
}

/* Renews a digest that was right before the edit. `origin` is where the old container starts in the old file. */
static void digest_renew(const struct edit *e, const struct cvbc_module *old, uint64_t origin,
                         uint8_t *integrity, size_t at, size_t size, penta_bytes before,
                         penta_bytes now)
{
    uint8_t digest[32];
    uint64_t place = origin + cvbc_offset(old, old->security.data) + cvbc_security_bytes + at;
    if (!digest_right(old, at, size, before) || edit_asked(e, place, size)) return;
    cvbc_digest(now, digest);
    memcpy(integrity + at, digest, size);
}

static void crcs_renew(const struct edit *e, uint64_t origin, uint8_t *data, size_t size)
{
    uint8_t header[4], payload[4];
    memcpy(header, data + HEADER_CRC, 4);
    memcpy(payload, data + PAYLOAD_CRC, 4);
    cvbc_build_crcs(data, size);
    if (edit_asked(e, origin + HEADER_CRC, 4)) memcpy(data + HEADER_CRC, header, 4);
    if (edit_asked(e, origin + PAYLOAD_CRC, 4)) memcpy(data + PAYLOAD_CRC, payload, 4);
}

static void container_sums(const struct edit *e, const struct cvbc_module *old, uint64_t origin,
                           uint8_t *data, size_t size)
{
    penta_error err = {0};
    if (size < cvbc_header_bytes) return;
    penta_module *made = cvbc_parse((penta_bytes){data, size}, NULL, 0, &err);
    const struct cvbc_module *m = made ? cvbc_module(made) : NULL;
    bool whole = m && !m->base.damage.code;
    for (size_t i = 0; whole && m->inner && old->inner && i < m->meta.entry_count; i++) {
        penta_bytes inner = m->inner[i]->base.file;
        uint8_t *entry = data + cvbc_offset(m, m->meta.directory.data) + cvbc_directory_bytes +
                         i * cvbc_entry_bytes;
        uint64_t old_entry = origin + cvbc_offset(old, old->meta.directory.data) +
                             cvbc_directory_bytes + i * cvbc_entry_bytes;
        if (i >= old->meta.entry_count) break;
        container_sums(e, old->inner[i], origin + cvbc_offset(old, old->inner[i]->base.file.data),
                       data + cvbc_offset(m, inner.data), inner.size);
        if (!edit_asked(e, old_entry + ENTRY_DIGEST, 32)) cvbc_digest(inner, entry + ENTRY_DIGEST);
    }
    if (whole && m->has_protection && old->has_protection) {
        uint8_t *integrity = data + cvbc_offset(m, m->security.data) + cvbc_security_bytes;
        if (cvbc_plain(old) && cvbc_plain(m))
            digest_renew(e, old, origin, integrity, BYTECODE_DIGEST, 32, old->stored, m->stored);
        digest_renew(e, old, origin, integrity, METADATA_DIGEST, 32, old->metadata, m->metadata);
        digest_renew(e, old, origin, integrity, SHORT_DIGEST, SHORT_BYTES,
                     (penta_bytes){old->security.data + cvbc_security_bytes, SHORT_DIGEST},
                     (penta_bytes){integrity, SHORT_DIGEST});
    }
    if (made) cvbc_close(made);
    crcs_renew(e, origin, data, size);
}

static void all_sums(const struct edit *e, uint8_t *data, size_t size)
{
    container_sums(e, cvbc_module(e->module), 0, data, size);
}

const struct driver_edit cvbc_edit = {
    .measures = all_measures, .prepare = signature_drop, .sums = all_sums};

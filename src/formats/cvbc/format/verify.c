/* The quick and the full check of a container, in the order of CVBC 9.1 and CVBC 9.2. They
 * report all findings that do not follow from earlier ones; the first finding is the status of
 * the file. */
#include <string.h>
#include "base/bytes.h"
#include "base/codec/checksum.h"
#include "cvbc/cvbc.h"

/* These are the offsets of the header fields to which findings point. */
enum { AT_METADATA = 16, AT_SECURITY = 24, AT_BYTECODE = 32, AT_FLAGS = 56, AT_RESERVED = 57 };

static bool verify_outside(const struct cvbc_module *m, const char *name, uint32_t offset,
                           uint32_t size, uint64_t field, struct findings *f)
{
    uint64_t end = (uint64_t)offset + size; /* In 64 bits the sum of two u32 cannot wrap. */
    if (end <= m->base.file.size) return false;
    findings_add(f, CVBC_BOUNDS, field, NULL, "the %s section ends at 0x%llx, the file at 0x%zx",
                 name, (unsigned long long)end, m->base.file.size);
    return true;
}

static void check_header_crc(const struct cvbc_module *m, struct findings *f)
{
    const uint8_t *file = m->base.file.data;
    uint32_t right = checksum_crc32((penta_bytes){file, 12}), stored = m->header.header_crc32;
    if (stored == right) return;
    uint8_t whole[60]; /* the header without its CRC field (CVBC 6.2) */
    memcpy(whole, file, 12);
    memcpy(whole + 12, file + 16, 48);
    bool comment = checksum_crc32((penta_bytes){whole, 60}) == stored;
    findings_add(f, CVBC_HEADER_CRC, 12,
                 comment ? "it matches the full-header form, which no reader accepts" : NULL,
                 "header_crc32 is 0x%08x, bytes 0 to 11 have 0x%08x", (unsigned)stored,
                 (unsigned)right);
}

/* Makes the quick check. Returns false if the sections cannot be found, so that nothing else can
 * be checked. */
static bool verify_quick(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_header *h = &m->header;
    penta_bytes file = m->base.file;
    if (m->header_size < cvbc_header_bytes) {
        findings_pass(f, &m->base.damage);
        return false;
    }
    if (h->magic != CVBC_MAGIC_NUMBER) {
        findings_add(f, CVBC_MAGIC, 0,
                     h->magic == UINT32_C(0x43425643)
                         ? "byte-swapped: the letters CVBC in reading order"
                         : NULL,
                     "magic 0x%08x, expected 0x43564243", (unsigned)h->magic);
        return false;
    }
    if (h->format_version_major > CVBC_MAJOR)
        findings_add(f, CVBC_VERSION, 4, NULL, "format version %u.%u, expected 1",
                     h->format_version_major, h->format_version_minor);
    if (h->total_file_size != file.size)
        findings_add(f, CVBC_SIZE, 8,
                     h->total_file_size > file.size ? "the end is missing"
                                                    : "something was appended",
                     "total_file_size is %u, the file has %zu bytes", (unsigned)h->total_file_size,
                     file.size);
    else if (file.size < CVBC_SIZE_MIN)
        findings_add(f, CVBC_SIZE, 8, NULL, "%zu bytes, at least %d", file.size, CVBC_SIZE_MIN);
    bool lost = verify_outside(m, "metadata", h->metadata_offset, h->metadata_size, AT_METADATA, f);
    lost |= verify_outside(m, "bytecode", h->bytecode_offset, h->bytecode_size, AT_BYTECODE, f);
    check_header_crc(m, f);
    penta_bytes payload = bytes_slice(file, cvbc_header_bytes, file.size);
    uint32_t right = checksum_crc32(payload);
    if (h->payload_crc32 != right)
        findings_add(f, CVBC_PAYLOAD_CRC, 40, NULL,
                     "payload_crc32 is 0x%08x, the bytes have 0x%08x", (unsigned)h->payload_crc32,
                     (unsigned)right);
    return !lost;
}

void cvbc_check_quick(const struct cvbc_module *m, struct findings *f) { verify_quick(m, f); }

/* The functions below make the full check. */

static bool is_zero(const uint8_t *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i]) return false;
    return true;
}

static void check_header(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_header *h = &m->header;
    if (h->format_version_major < CVBC_MAJOR)
        findings_add(f, CVBC_VERSION, 4, NULL, "format version %u.%u, expected 1",
                     h->format_version_major, h->format_version_minor);
    if (h->format_version_minor) return;
    if (h->flags & ~CVBC_FLAGS)
        findings_add(f, CVBC_RESERVED, AT_FLAGS, NULL, "undefined flags 0x%02x",
                     h->flags & ~CVBC_FLAGS);
    if (!is_zero(h->reserved, sizeof h->reserved))
        findings_add(f, CVBC_RESERVED, AT_RESERVED, NULL, "a reserved byte of the header is not 0");
}

static void check_apart(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_header *h = &m->header;
    const struct {
        const char *name;
        uint64_t from, size, field;
    } s[] = {{"metadata", h->metadata_offset, h->metadata_size, AT_METADATA},
             {"security", h->security_offset, h->security_size, AT_SECURITY},
             {"bytecode", h->bytecode_offset, h->bytecode_size, AT_BYTECODE}};
    for (int i = 0; i < 3; i++) {
        if (!s[i].size || (!s[i].from && i == 1))
            continue; /* Without an offset there is no security section. */
        if (s[i].from < cvbc_header_bytes)
            findings_add(f, CVBC_LAYOUT, s[i].field, NULL,
                         "the %s section starts inside the header", s[i].name);
        for (int k = 0; k < i; k++)
            if (s[k].size && (s[k].from || k != 1) && s[i].from < s[k].from + s[k].size &&
                s[k].from < s[i].from + s[i].size)
                findings_add(f, CVBC_LAYOUT, s[i].field, NULL,
                             "the %s section overlaps the %s section", s[i].name, s[k].name);
    }
    if (!(h->flags & CVBC_HAS_DEBUG)) return;
    if (h->bytecode_offset < h->metadata_offset ||
        (h->security_size && h->bytecode_offset < h->security_offset))
        findings_add(f, CVBC_LAYOUT, AT_BYTECODE, NULL,
                     "with debug data the bytecode section is the last");
}

/* Checks offsets, sizes and order. Returns false if a section cannot be read. */
static bool check_layout(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_header *h = &m->header;
    size_t before = f->errors;
    if (!h->security_offset != !h->security_size)
        findings_add(f, CVBC_LAYOUT, AT_SECURITY, NULL, "the security section has %s",
                     h->security_size ? "a size without an offset" : "an offset without a size");
    if (h->security_offset)
        verify_outside(m, "security", h->security_offset, h->security_size, AT_SECURITY, f);
    if (h->metadata_size < cvbc_core_bytes)
        findings_add(f, CVBC_METADATA, AT_METADATA + 4, NULL, "%u bytes of metadata, at least %d",
                     (unsigned)h->metadata_size, cvbc_core_bytes);
    if (!h->bytecode_size)
        findings_add(f, CVBC_BYTECODE, AT_BYTECODE + 4, NULL, "there is no bytecode");
    check_apart(m, f);
    return f->errors == before;
}

static void verify_range(struct findings *f, uint64_t at, const char *field, unsigned value,
                         unsigned low, unsigned high)
{
    if (value < low || value > high)
        findings_add(f, CVBC_METADATA, at, NULL, "%s is %u, not %u to %u", field, value, low, high);
}

static void check_pin(const struct cvbc_module *m, size_t i, uint64_t at, struct findings *f)
{
    const struct cvbc_pin *pin = &m->meta.pins[i];
    verify_range(f, at + 2, "pin_function", pin->pin_function, 1, 12);
    verify_range(f, at + 3, "pin_mode", pin->pin_mode, 1, 4);
    verify_range(f, at + 4, "pin_pull", pin->pin_pull, 0, 2);
    verify_range(f, at + 5, "pin_drive_strength", pin->pin_drive_strength, 0, 3);
    verify_range(f, at + 12, "pin_initial_state", pin->pin_initial_state, 0, 1);
    if (m->header.format_version_minor) return;
    if (pin->pin_flags & ~31)
        findings_add(f, CVBC_RESERVED, at + 13, NULL, "pin record %zu has flags 0x%02x", i,
                     pin->pin_flags);
    if (pin->reserved)
        findings_add(f, CVBC_RESERVED, at + 14, NULL, "pin record %zu has 0x%04x in reserved", i,
                     pin->reserved);
}

static void check_pins(const struct cvbc_module *m, uint64_t at, struct findings *f)
{
    const struct cvbc_metadata *meta = &m->meta;
    uint8_t seen[256 * 256 / 8] = {0};
    if (meta->pin_count > CVBC_PINS_MAX)
        findings_add(f, CVBC_LIMIT, at, NULL, "%zu pin records, at most %d", meta->pin_count,
                     CVBC_PINS_MAX);
    for (size_t i = 0; i < meta->pin_count; i++, at += cvbc_pin_bytes) {
        const struct cvbc_pin *pin = &meta->pins[i];
        unsigned id = pin->port_identifier * 256u + pin->pin_number;
        check_pin(m, i, at, f);
        if (seen[id / 8] >> id % 8 & 1)
            findings_add(f, CVBC_METADATA, at, NULL, "pin record %zu repeats pin %u of port %u", i,
                         pin->pin_number, pin->port_identifier);
        seen[id / 8] |= (uint8_t)(1u << id % 8);
    }
}

/* Checks the switch of minor version 3 (CVBC 3.12). */
static void check_requirement(const struct cvbc_module *m, size_t i, uint64_t at,
                              struct findings *f)
{
    const struct cvbc_dependency *d = &m->meta.dependencies[i];
    bool named = !strncmp((const char *)d->lib_name, CVBC_ENFORCED_NAME, sizeof d->lib_name);
    if (!named || d->min_version_major != CVBC_MAJOR || d->min_version_minor > CVBC_MINOR_ENFORCED)
        findings_add(f, CVBC_REQUIREMENT, at, NULL,
                     "it needs %.15s %u.%u, known is " CVBC_ENFORCED_NAME " %d.%d",
                     (const char *)d->lib_name, (unsigned)d->min_version_major,
                     (unsigned)d->min_version_minor, CVBC_MAJOR, CVBC_MINOR_ENFORCED);
    else if (d->required_features & ~(uint32_t)CVBC_NEEDS ||
             !(d->required_features & CVBC_NEED_DECLARED))
        findings_add(f, CVBC_REQUIREMENT, at + 24, NULL,
                     "required_features of " CVBC_ENFORCED_NAME " are 0x%x, known are 0x1 and 0x3",
                     (unsigned)d->required_features);
    for (size_t k = 0; k < i; k++)
        if (m->meta.dependencies[k].criticality == CVBC_ENFORCED) {
            findings_add(f, CVBC_REQUIREMENT, at, NULL, "dependency %zu is enforced, as %zu is", i,
                         k);
            return;
        }
    if (m->header.format_version_minor < CVBC_MINOR_ENFORCED)
        findings_add(f, CVBC_MINOR_TOO_OLD, 6, NULL, "format version 1.%u, the metadata needs 1.%d",
                     m->header.format_version_minor, CVBC_MINOR_ENFORCED);
}

static void check_dependency(const struct cvbc_module *m, size_t i, uint64_t at, struct findings *f)
{
    const struct cvbc_dependency *d = &m->meta.dependencies[i];
    if (!d->lib_name[0] || !memchr(d->lib_name, 0, sizeof d->lib_name))
        findings_add(f, CVBC_METADATA, at, NULL,
                     "dependency %zu has a name that is empty or not terminated", i);
    verify_range(f, at + 28, "compatibility_level", d->compatibility_level, 1, 3);
    verify_range(f, at + 29, "criticality", d->criticality, 1, CVBC_ENFORCED);
    if (d->criticality == CVBC_ENFORCED) check_requirement(m, i, at, f);
    if (d->reserved && !m->header.format_version_minor)
        findings_add(f, CVBC_RESERVED, at + 30, NULL, "dependency %zu has 0x%04x in reserved", i,
                     d->reserved);
}

static void check_metadata(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_metadata *meta = &m->meta;
    const struct cvbc_core *c = &meta->core;
    bool exact = !m->header.format_version_minor;
    uint64_t base = cvbc_offset(m, m->metadata.data), at = base + cvbc_core_bytes;
    if (!meta->whole || (exact && meta->rest.size))
        findings_add(f, CVBC_METADATA, base + 84, NULL,
                     meta->whole ? "the counts leave %zu bytes of metadata over"
                                 : "the counts need more than the %zu bytes of metadata",
                     meta->whole ? meta->rest.size : m->metadata.size);
    verify_range(f, base, "target_architecture", c->target_architecture, 0, meta->enforced ? 5 : 4);
    verify_range(f, base + 1, "target_family", c->target_family, 0, meta->enforced ? 6 : 4);
    verify_range(f, base + 44, "source_language", c->source_language, 1, 4);
    verify_range(f, base + 45, "optimization_level", c->optimization_level, 0, 3);
    if (c->reserved_constraints && exact)
        findings_add(f, CVBC_RESERVED, base + 82, NULL, "reserved_constraints is 0x%04x",
                     c->reserved_constraints);
    if (!meta->whole) return;
    check_pins(m, at, f);
    at += meta->pin_count * cvbc_pin_bytes;
    for (size_t i = 0; i < meta->dependency_count; i++, at += cvbc_dependency_bytes)
        check_dependency(m, i, at, f);
    for (size_t i = 0; i < meta->hint_count; i++) {
        const struct cvbc_hint *h = &meta->hints[i].head;
        if (exact) verify_range(f, at, "hint_type", h->hint_type, 1, 6);
        verify_range(f, at + 1, "priority", h->priority, 1, 255);
        at += cvbc_hint_bytes + meta->hints[i].data.size;
    }
    if (c->gpio_pin_count != meta->pin_count)
        findings_add(f, CVBC_PIN_COUNT, base + 16, NULL,
                     "gpio_pin_count is %u, there are %zu pin records", c->gpio_pin_count,
                     meta->pin_count);
}

/* Checks the sizes of an LMS signature and key, which follow from the types in them, and the
 * minor version (CVBC 7.9). */
static void check_lms_fields(const struct cvbc_module *m, uint64_t at, struct findings *f)
{
    const struct cvbc_security *s = &m->protection;
    enum key_type type = (enum key_type)s->signature_algorithm;
    const char *kind = cvbc_name("signature_algorithm", type);
    if (m->signature.size != s->signature_size || !key_signature_fits(type, m->signature))
        findings_add(f, CVBC_SECURITY, at + 4, NULL, "%u bytes that are no %s signature",
                     (unsigned)s->signature_size, kind);
    if (s->public_key_size &&
        (m->public_key.size != s->public_key_size || !key_public_fits(type, m->public_key)))
        findings_add(f, CVBC_SECURITY, at + 8, NULL, "%u bytes that are no public key of %s",
                     (unsigned)s->public_key_size, kind);
    if (m->header.format_version_minor < CVBC_MINOR_LMS)
        findings_add(f, CVBC_MINOR_TOO_OLD, 6, NULL,
                     "format version 1.%u, a signature of %s needs 1.%d",
                     m->header.format_version_minor, kind, CVBC_MINOR_LMS);
}

static void check_signature_fields(const struct cvbc_module *m, uint64_t at, struct findings *f)
{
    const struct cvbc_security *s = &m->protection;
    bool flag = m->header.flags & CVBC_SIGNED;
    if (flag != (s->signature_algorithm != 0) || flag != (s->signature_size != 0)) {
        findings_add(f, CVBC_SECURITY, at + 1, NULL,
                     "the signed flag is %d, the algorithm %u, the signature's size %u", flag,
                     s->signature_algorithm, (unsigned)s->signature_size);
        return;
    }
    if (s->signature_algorithm >= KEY_TYPES) {
        findings_add(f, CVBC_UNSUPPORTED, at + 1, NULL, "signature algorithm %u",
                     s->signature_algorithm);
        return;
    }
    enum key_type type = (enum key_type)s->signature_algorithm;
    const char *kind = cvbc_name("signature_algorithm", type);
    if (type >= KEY_LMS) {
        check_lms_fields(m, at, f);
        return;
    }
    if (s->signature_size != key_signature_size(type))
        findings_add(f, CVBC_SECURITY, at + 4, NULL, "a signature of %u bytes, %s has %zu",
                     (unsigned)s->signature_size, kind, key_signature_size(type));
    if (s->public_key_size && s->public_key_size != key_public_size(type))
        findings_add(f, CVBC_SECURITY, at + 8, NULL, "a public key of %u bytes, expected %zu or 0",
                     (unsigned)s->public_key_size, key_public_size(type));
}

static void check_encryption_fields(const struct cvbc_module *m, uint64_t at, struct findings *f)
{
    const struct cvbc_security *s = &m->protection;
    bool flag = m->header.flags & CVBC_ENCRYPTED;
    if (flag != (s->encryption_algorithm != 0)) {
        findings_add(f, CVBC_SECURITY, at + 3, NULL, "the encrypted flag is %d, the algorithm %u",
                     flag, s->encryption_algorithm);
        return;
    }
    if (!flag) {
        if (s->encrypted_data_size || s->key_derivation_params)
            findings_add(f, CVBC_SECURITY, at + 12, NULL,
                         "fields of an encryption that there is not");
        return;
    }
    if (s->encryption_algorithm > 2)
        findings_add(f, CVBC_UNSUPPORTED, at + 3, NULL, "encryption algorithm %u",
                     s->encryption_algorithm);
    if ((uint64_t)s->encrypted_data_size + CVBC_SEAL_BYTES != m->header.bytecode_size)
        findings_add(f, CVBC_SECURITY, at + 12, NULL,
                     "encrypted_data_size is %u in a section of %u bytes, which must be 28 more",
                     (unsigned)s->encrypted_data_size, (unsigned)m->header.bytecode_size);
    unsigned method = s->key_derivation_params & 255,
             rounds = s->key_derivation_params >> 8 & 0xffff;
    if (method > CVBC_KEY_PBKDF2)
        findings_add(f, CVBC_UNSUPPORTED, at + 16, NULL, "key derivation method %u", method);
    else if (s->key_derivation_params >> 24 || (method == CVBC_KEY_PBKDF2) != (rounds != 0))
        findings_add(f, CVBC_SECURITY, at + 16, NULL,
                     "key derivation method %u with %u thousand rounds", method, rounds);
    else if ((uint64_t)rounds * 1000 > m->policy.iterations_max)
        findings_add(f, CVBC_ROUNDS, at + 16, NULL,
                     "%u thousand rounds: to open it takes option 'max-iterations' %u000", rounds,
                     rounds);
}

static void check_security(const struct cvbc_module *m, struct findings *f)
{
    unsigned protected = m->header.flags & (CVBC_SIGNED | CVBC_ENCRYPTED);
    if (!m->security.size) {
        if (protected)
            findings_add(f, CVBC_SECURITY, AT_FLAGS, NULL,
                         "signed or encrypted by its flags, but without a security section");
        return;
    }
    uint64_t at = cvbc_offset(m, m->security.data);
    if (!m->has_protection) {
        findings_add(f, CVBC_SECURITY, at, NULL, "%zu bytes of security section, at least %d",
                     m->security.size, CVBC_PROTECTION_BYTES);
        return;
    }
    const struct cvbc_security *s = &m->protection;
    if (s->security_version != 1)
        findings_add(f, CVBC_UNSUPPORTED, at, NULL, "security version %u, expected 1",
                     s->security_version);
    check_signature_fields(m, at, f);
    if (s->hash_algorithm != 1 && s->hash_algorithm != 2)
        findings_add(f, CVBC_UNSUPPORTED, at + 2, NULL, "hash algorithm %u", s->hash_algorithm);
    check_encryption_fields(m, at, f);
    uint64_t size = (uint64_t)CVBC_PROTECTION_BYTES + s->public_key_size + s->signature_size;
    if (size != m->security.size)
        findings_add(f, CVBC_SECURITY, AT_SECURITY + 4, NULL,
                     "its parts have %llu bytes, the section %zu", (unsigned long long)size,
                     m->security.size);
}

static void check_lines(const struct cvbc_module *m, penta_bytes lines, struct findings *f)
{
    for (size_t pos = cvbc_line_bytes; pos + cvbc_line_bytes <= lines.size; pos += cvbc_line_bytes)
        if (bytes_get16(lines.data + pos) < bytes_get16(lines.data + pos - cvbc_line_bytes)) {
            findings_add(f, CVBC_DEBUG, cvbc_offset(m, lines.data + pos), NULL,
                         "line rows do not ascend");
            return;
        }
    if (lines.size % cvbc_line_bytes)
        findings_add(f, CVBC_DEBUG, cvbc_offset(m, lines.data), NULL,
                     "%zu bytes of line rows, 8 each", lines.size);
}

static void check_debug(const struct cvbc_module *m, struct findings *f)
{
    if (!(m->header.flags & CVBC_HAS_DEBUG)) return;
    struct cvbc_debug_tables t = cvbc_debug_split(m->debug);
    uint64_t at = m->debug.size ? cvbc_offset(m, m->debug.data) : m->base.file.size;
    if (!t.whole) {
        findings_add(f, CVBC_DEBUG, at, NULL,
                     m->debug.size < cvbc_debug_bytes
                         ? "%zu bytes of debug data, the header has 24"
                         : "a debug table ends outside its section of %zu bytes",
                     m->debug.size);
        return;
    }
    struct cvbc_symbol symbol;
    struct cvbc_variable variable;
    penta_bytes name;
    size_t pos = 0;
    while (pos < t.symbols.size && cvbc_symbol_next(t.symbols, &pos, &symbol, &name)) {
    }
    if (pos < t.symbols.size)
        findings_add(f, CVBC_DEBUG, cvbc_offset(m, t.symbols.data + pos), NULL,
                     "a symbol is cut short");
    check_lines(m, t.lines, f);
    for (pos = 0;
         pos < t.variables.size && cvbc_variable_next(t.variables, &pos, &variable, &name);) {
    }
    if (pos < t.variables.size)
        findings_add(f, CVBC_DEBUG, cvbc_offset(m, t.variables.data + pos), NULL,
                     "a variable is cut short");
    if (m->header.flags & CVBC_ENCRYPTED)
        findings_add(f, CVBC_DEBUG_IN_ENCRYPTED, at, NULL,
                     "%zu bytes of debug data in an encrypted file", m->debug.size);
}

static void check_plain_bytecode(const struct cvbc_module *m, struct findings *f)
{
    if (!cvbc_plain(m)) return;
    struct arena arena = {0};
    struct cvbc_program program;
    penta_error err = {0};
    uint64_t at = cvbc_offset(m, m->stored.data);
    if (!cvbc_program_parse(m->stored, &arena, &program, &err))
        findings_pass(f, &err);
    else if (program.flaw.code)
        findings_add(f, CVBC_BYTECODE, at + program.flaw.offset, NULL, "%s", program.flaw.message);
    arena_free(&arena);
}

void cvbc_check_full(const struct cvbc_module *m, struct findings *f)
{
    if (!verify_quick(m, f)) return;
    check_header(m, f);
    if (!check_layout(m, f) || m->base.damage.code) return;
    check_metadata(m, f);
    check_security(m, f);
    check_plain_bytecode(m, f);
    check_debug(m, f);
    cvbc_programs_check(m, f);
    unsigned minor = m->header.format_version_minor;
    if (minor && (minor < CVBC_MINOR_PROGRAMS || minor > CVBC_MINOR_LMS))
        findings_add(f, CVBC_MINOR_VERSION, 6, NULL,
                     "format version 1.%u, known are 1.0, 1.2, 1.3 and 1.4", minor);
}

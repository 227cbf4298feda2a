/* Writes containers stage by stage, in the order that build.h gives. Sections are built before
 * their digests. */
#include "cvbc/format/build.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/reader.h"
#include "base/codec/checksum.h"
#include "base/codec/deflate.h"
#include "crypto/aead.h"
#include "crypto/hash.h"
#include "crypto/sign.h"

void cvbc_override_apply(const struct cvbc_override *o, uint8_t *record, size_t size)
{
    for (size_t i = 0; o->used && i < size; i++)
        if (o->mask[i]) record[i] = o->bytes[i];
}

bool cvbc_build_failed(const struct cvbc_build *b)
{
    return b->pins.failed || b->dependencies.failed || b->hints.failed || b->custom.failed ||
           b->code.failed || b->strings.failed || b->entries.failed || b->programs.failed;
}

void cvbc_build_fini(struct cvbc_build *b)
{
    writer_free(&b->pins);
    writer_free(&b->dependencies);
    writer_free(&b->hints);
    writer_free(&b->custom);
    writer_free(&b->code);
    writer_free(&b->places);
    writer_free(&b->strings);
    writer_free(&b->entries);
    writer_free(&b->programs);
}

void cvbc_build_string(struct cvbc_build *b, penta_bytes text)
{
    writer_uint(&b->strings, text.size + 1, 4);
    writer_bytes(&b->strings, text.data, text.size);
    writer_char(&b->strings, 0);
    b->string_count++;
}

void cvbc_build_inst(struct cvbc_build *b, uint8_t opcode, uint8_t flags, uint16_t immediate)
{
    struct cvbc_inst in = {opcode, flags, immediate};
    cvbc_inst_write(&b->code, &in);
}

size_t cvbc_build_count(const struct cvbc_build *b) { return b->code.out.size / cvbc_inst_bytes; }

void cvbc_build_pin(struct cvbc_build *b, const struct cvbc_pin *pin)
{
    cvbc_pin_write(&b->pins, pin);
    b->pin_count++;
}

void cvbc_build_entry(const uint8_t name[CVBC_NAME_BYTES], penta_bytes container,
                      uint8_t out[cvbc_entry_bytes])
{
    struct cvbc_entry entry = {.program_size = (uint32_t)container.size};
    memcpy(entry.program_name, name, sizeof entry.program_name);
    hash_sha256(container, entry.program_sha256);
    struct writer w = writer_into(out, cvbc_entry_bytes);
    cvbc_entry_write(&w, &entry);
}

void cvbc_build_directory(const struct cvbc_build *b, uint8_t out[cvbc_directory_bytes])
{
    struct cvbc_directory head = {.program_count = b->program_count};
    memcpy(head.first_name, b->first_name, sizeof head.first_name);
    struct writer w = writer_into(out, cvbc_directory_bytes);
    cvbc_directory_write(&w, &head);
}

bool cvbc_build_program(struct cvbc_build *b, const uint8_t name[CVBC_NAME_BYTES],
                        penta_bytes container, const struct cvbc_override *over, penta_error *err)
{
    uint8_t entry[cvbc_entry_bytes];
    if (b->program_count == UINT16_MAX || container.size > UINT32_MAX)
        return error_at(err, CVBC_LIMIT, 0, "more than 65535 programs, or one of 4 GiB");
    cvbc_build_entry(name, container, entry);
    if (over) cvbc_override_apply(over, entry, sizeof entry);
    writer_bytes(&b->entries, entry, sizeof entry);
    writer_fill(&b->programs, 0, (4 - b->programs.out.size % 4) % 4);
    writer_bytes(&b->programs, container.data, container.size);
    b->program_count++;
    return !cvbc_build_failed(b) || error_at(err, BASE_MEMORY, 0, "no memory for a program");
}

uint32_t cvbc_pin_features(uint8_t function)
{
    static const uint32_t of_function[13] = {0,   0x1, 0x2,  0x2,  0x4,  0x4, 0x8,
                                             0x8, 0x8, 0x90, 0x20, 0x40, 0x1};
    return function < 13 ? of_function[function] : 0;
}

static uint32_t features_of(const struct cvbc_build *b)
{
    uint32_t features = 0;
    for (size_t at = 2; at < b->pins.out.size; at += cvbc_pin_bytes)
        features |= cvbc_pin_features(b->pins.out.data[at]);
    return features;
}

void cvbc_build_core(const struct cvbc_build *b, uint8_t out[cvbc_core_bytes])
{
    struct cvbc_core core = b->core;
    core.pin_config_count = core.gpio_pin_count = b->pin_count;
    core.dependency_count = b->dependency_count;
    core.performance_hint_count = b->hint_count;
    core.custom_metadata_size = (uint16_t)b->custom.out.size;
    if (!core.source_language) core.source_language = 1;
    core.target_features |= features_of(b);
    core.feature_requirements |= core.target_features;
    struct writer w = writer_into(out, cvbc_core_bytes);
    cvbc_core_write(&w, &core);
}

bool cvbc_build_bytecode(const struct cvbc_build *b, uint8_t out[cvbc_bytecode_bytes])
{
    size_t count = cvbc_build_count(b);
    struct cvbc_program p = {.code = b->code.out.data,
                             .count = count,
                             .string_count = b->string_count,
                             .minor = CVBC_MINOR_ENFORCED};
    p.head.entry_point_offset = b->entry < count ? b->entry : 0;
    struct cvbc_flow flow = {0};
    struct findings none = {.rules = cvbc_rules};
    if (count && !cvbc_verify_program(&p, &none, 0, false, &flow)) return false;
    size_t pool = b->strings.out.size;
    struct cvbc_bytecode head = {
        .instruction_count = (uint16_t)count,
        .entry_point_offset = b->entry,
        .constant_pool_offset = pool ? (uint32_t)(cvbc_bytecode_bytes + 4 * count) : 0,
        .constant_pool_size = (uint32_t)pool,
        .stack_size_required = (uint16_t)flow.stack,
        .local_variable_count = (uint16_t)flow.globals,
    };
    struct writer w = writer_into(out, cvbc_bytecode_bytes);
    cvbc_bytecode_write(&w, &head);
    return true;
}

void cvbc_build_protection(const struct cvbc_build *b, uint8_t flags, size_t stored_size,
                           size_t key_size, size_t signature_size, uint8_t out[cvbc_security_bytes])
{
    const struct public_key *signer = b->sign_key ? key_public_of(b->sign_key) : b->reserve;
    bool sealed = flags & CVBC_ENCRYPTED;
    struct cvbc_security s = {
        .security_version = 1,
        .signature_algorithm = signer ? (uint8_t)signer->type : 0,
        .hash_algorithm = b->hash_algorithm ? b->hash_algorithm : 1,
        .encryption_algorithm = sealed ? b->cipher : 0,
        .signature_size = (uint32_t)signature_size,
        .public_key_size = (uint32_t)key_size,
        .encrypted_data_size = sealed ? (uint32_t)(stored_size - CVBC_SEAL_BYTES) : 0,
        .key_derivation_params = sealed ? b->derivation : 0,
    };
    struct writer w = writer_into(out, cvbc_security_bytes);
    cvbc_security_write(&w, &s);
}

void cvbc_build_integrity(const struct cvbc_build *b, penta_bytes metadata, penta_bytes image,
                          uint8_t out[cvbc_integrity_bytes])
{
    uint8_t digest[HASH_BYTES];
    memcpy(out, b->source_sha256, 32);
    hash_sha256(image, out + 32);
    hash_sha256(metadata, out + 64);
    cvbc_override_apply(&b->integrity_over, out, 96);
    hash_sha256((penta_bytes){out, 96}, digest);
    memcpy(out + 96, digest, 4);
    bytes_put64(out + 100, b->secure_timestamp);
}

static size_t build_align4(size_t n) { return (n + 3) & ~(size_t)3; }

void cvbc_build_header(const struct cvbc_build *b, uint8_t flags, struct cvbc_sizes s,
                       uint8_t out[cvbc_header_bytes])
{
    size_t metadata = cvbc_header_bytes, security = build_align4(metadata + s.metadata);
    size_t bytecode = s.security ? build_align4(security + s.security) : security;
    bytecode = build_align4(bytecode + s.programs);
    size_t end = bytecode + s.stored;
    if (s.debug) end = build_align4(end) + s.debug;
    end += s.trailing;
    struct cvbc_header h = {
        .magic = CVBC_MAGIC_NUMBER,
        .format_version_major = CVBC_MAJOR,
        .format_version_minor = b->minor,
        .total_file_size = (uint32_t)end,
        .metadata_offset = (uint32_t)metadata,
        .metadata_size = (uint32_t)s.metadata,
        .security_offset = s.security ? (uint32_t)security : 0,
        .security_size = (uint32_t)s.security,
        .bytecode_offset = (uint32_t)bytecode,
        .bytecode_size = (uint32_t)s.stored,
        .compilation_timestamp = b->timestamp,
        .build_number = b->build_number,
        .flags = flags,
    };
    struct writer w = writer_into(out, cvbc_header_bytes);
    cvbc_header_write(&w, &h);
}

void cvbc_build_crcs(uint8_t *file, size_t size)
{
    bytes_put32(file + 12, checksum_crc32((penta_bytes){file, 12}));
    bytes_put32(file + 40,
                checksum_crc32((penta_bytes){file + cvbc_header_bytes, size - cvbc_header_bytes}));
}

/* Signs a finished file in place, and computes its CRCs again. */
static bool sign_file(uint8_t *file, size_t size, struct private_key *key, penta_error *err)
{
    uint32_t security = bytes_get32(file + 24), key_size = bytes_get32(file + security + 8);
    uint32_t at = security + CVBC_PROTECTION_BYTES + key_size;
    size_t signature_size = key_private_signature_size(key);
    uint8_t message[40];
    struct writer signature = writer_into(file + at, signature_size);
    cvbc_tbs((penta_bytes){file, size}, at, signature_size, file[security + 2], message);
    if (!sign_message(key, (penta_bytes){message, sizeof message}, &signature, err)) return false;
    cvbc_build_crcs(file, size);
    return true;
}

struct assembly { /* the sections of the file that is written */
    struct cvbc_build *b;
    struct writer metadata, image, security;
    penta_bytes programs;
    penta_buffer deflated, sealed;
    penta_bytes stored;
    uint8_t flags;
};

static void make_directory(struct assembly *a)
{
    struct cvbc_build *b = a->b;
    a->programs = b->program_count ? writer_view(&b->programs) : b->programs_as_they_are;
    if (!b->program_count) return;
    uint8_t head[cvbc_directory_bytes];
    cvbc_build_directory(b, head);
    cvbc_override_apply(&b->directory_over, head, sizeof head);
    writer_bytes(&a->metadata, head, sizeof head);
    writer_append(&a->metadata, &b->entries);
    if (b->minor < CVBC_MINOR_PROGRAMS) b->minor = CVBC_MINOR_PROGRAMS;
}

bool cvbc_build_enforced(const struct cvbc_build *b)
{
    struct cvbc_dependency d;
    penta_error none = {0};
    struct reader r = {.in = writer_view(&b->dependencies), .err = &none};
    for (unsigned i = 0; i < b->dependency_count; i++) {
        cvbc_dependency_read(&r, &d);
        if (d.criticality == CVBC_ENFORCED) return true;
    }
    return false;
}

static void make_metadata(struct assembly *a)
{
    struct cvbc_build *b = a->b;
    if (b->has_metadata) {
        writer_bytes(&a->metadata, b->metadata.data, b->metadata.size);
        return;
    }
    uint8_t core[cvbc_core_bytes];
    cvbc_build_core(b, core);
    cvbc_override_apply(&b->core_over, core, sizeof core);
    writer_bytes(&a->metadata, core, sizeof core);
    writer_append(&a->metadata, &b->pins);
    writer_append(&a->metadata, &b->dependencies);
    writer_append(&a->metadata, &b->hints);
    writer_append(&a->metadata, &b->custom);
    if (cvbc_build_enforced(b) && b->minor < CVBC_MINOR_ENFORCED) b->minor = CVBC_MINOR_ENFORCED;
}

static bool make_image(struct assembly *a, penta_error *err)
{
    struct cvbc_build *b = a->b;
    if (b->has_image) {
        writer_bytes(&a->image, b->image.data, b->image.size);
        return true;
    }
    uint8_t head[cvbc_bytecode_bytes];
    if (!cvbc_build_bytecode(b, head))
        return error_at(err, BASE_MEMORY, 0, "no memory for the program");
    cvbc_override_apply(&b->bytecode_over, head, sizeof head);
    writer_bytes(&a->image, head, sizeof head);
    writer_append(&a->image, &b->code);
    writer_append(&a->image, &b->strings);
    return true;
}

/* Derives the nonce (CVBC 8.5): HMAC-SHA256(secret, "CVBC1NONCE" | AAD | plaintext)[0..11]. So
 * sealing twice gives the same file, and different plaintexts have different nonces. */
static bool derive_nonce(const struct assembly *a, const uint8_t aad[48], uint8_t nonce[12])
{
    if (!(a->flags & CVBC_DETERMINISTIC)) return random_bytes(nonce, 12);
    struct writer text = {0};
    uint8_t mac[HASH_BYTES];
    writer_bytes(&text, "CVBC1NONCE", 10);
    writer_bytes(&text, aad, 48);
    writer_bytes(&text, a->stored.data, a->stored.size);
    bool ok = !text.failed;
    ok = ok && hash_hmac_sha256((penta_bytes){a->b->secret->bytes, a->b->secret->size},
                                writer_view(&text), mac);
    if (ok) memcpy(nonce, mac, 12);
    if (text.out.data) secret_wipe(text.out.data, text.out.size);
    writer_free(&text);
    return ok;
}

static bool build_encrypt(struct assembly *a, penta_error *err)
{
    struct cvbc_build *b = a->b;
    a->flags |= CVBC_ENCRYPTED;
    struct cvbc_sealing s = {a->flags, b->cipher, b->derivation};
    uint8_t aad[48], key[32];
    cvbc_aad(&s, writer_view(&a->metadata), aad);
    a->sealed.size = a->sealed.capacity = a->stored.size + CVBC_SEAL_BYTES;
    a->sealed.data = malloc(a->sealed.size);
    if (!a->sealed.data || !derive_nonce(a, aad, a->sealed.data))
        return error_at(err, BASE_MEMORY, 0, "no memory or randomness to encrypt");
    bool ok = cvbc_derive(&s, b->secret, a->sealed.data, UINT64_MAX, key, err) &&
              aead_seal((enum aead)s.algorithm, key, a->sealed.data, (penta_bytes){aad, sizeof aad},
                        a->stored, a->sealed.data + AEAD_NONCE, err);
    secret_wipe(key, sizeof key);
    a->stored = (penta_bytes){a->sealed.data, a->sealed.size};
    return ok;
}

static bool make_stored(struct assembly *a, penta_error *err)
{
    struct cvbc_build *b = a->b;
    a->flags = b->flags;
    if (b->has_stored) {
        a->stored = b->stored;
        return true;
    }
    a->stored = writer_view(&a->image);
    a->flags &= (uint8_t) ~(CVBC_COMPRESSED | CVBC_ENCRYPTED | CVBC_SIGNED | CVBC_HAS_DEBUG);
    if (b->flags & CVBC_COMPRESSED) {
        if (!deflate_deflate(a->stored, &a->deflated))
            return error_at(err, BASE_MEMORY, 0, "no memory to compress");
        if (b->force_compression || a->deflated.size < a->stored.size) {
            a->stored = (penta_bytes){a->deflated.data, a->deflated.size};
            a->flags |= CVBC_COMPRESSED;
        }
    }
    return !b->cipher || build_encrypt(a, err);
}

static void make_security(struct assembly *a)
{
    struct cvbc_build *b = a->b;
    if (b->without_security) return;
    if (b->has_security) {
        writer_bytes(&a->security, b->security.data, b->security.size);
        return;
    }
    const struct public_key *signer = b->sign_key ? key_public_of(b->sign_key) : b->reserve;
    penta_bytes key = b->key, signature = b->signature;
    if (signer) {
        key = (penta_bytes){signer->bytes, b->external_key ? 0 : signer->size};
        signature = (penta_bytes){NULL, b->sign_key ? key_private_signature_size(b->sign_key)
                                                    : key_signature_space(signer)};
        if (signer->type >= KEY_LMS && b->minor < CVBC_MINOR_LMS) b->minor = CVBC_MINOR_LMS;
    }
    if (signature.size) a->flags |= CVBC_SIGNED;
    uint8_t head[cvbc_security_bytes], integrity[cvbc_integrity_bytes];
    cvbc_build_protection(b, a->flags, a->stored.size, key.size, signature.size, head);
    cvbc_override_apply(&b->security_over, head, sizeof head);
    cvbc_build_integrity(b, writer_view(&a->metadata), writer_view(&a->image), integrity);
    cvbc_override_apply(&b->integrity_over, integrity, sizeof integrity);
    writer_bytes(&a->security, head, sizeof head);
    writer_bytes(&a->security, integrity, sizeof integrity);
    writer_bytes(&a->security, key.data, key.size);
    if (signer)
        writer_fill(&a->security, 0, signature.size);
    else
        writer_bytes(&a->security, signature.data, signature.size);
}

/* Puts bytes at an offset that a text may have chosen. The gap before them is limited
 * (CVBC_GAP_MAX), so that a short text cannot make a large file. The text must contain the bytes
 * of longer gaps. */
static bool build_place(struct writer *out, uint64_t offset, penta_bytes bytes, penta_error *err)
{
    if (!bytes.size) return true;
    uint64_t end = offset + bytes.size;
    if (end > out->out.size) {
        if (offset > out->out.size + CVBC_GAP_MAX)
            return error_at(err, CVBC_LIMIT, 0, "bytes at 0x%llx, far after the rest",
                            (unsigned long long)offset);
        writer_fill(out, 0, (size_t)(end - out->out.size));
    }
    if (out->failed) return false;
    bytes_copy(out->out.data + offset, bytes);
    return true;
}

struct cvbc_patch_at {
    uint64_t offset;
    penta_bytes bytes;
};

static bool file_put_together(struct assembly *a, struct writer *out, penta_error *err)
{
    struct cvbc_build *b = a->b;
    struct cvbc_sizes sizes = {a->metadata.out.size, a->security.out.size, a->programs.size,
                               a->stored.size,       b->debug.size,        b->trailing.size};
    if ((uint64_t)sizes.metadata + sizes.security + sizes.programs + sizes.stored + sizes.debug >
        UINT32_MAX - 128)
        return error_at(err, CVBC_LIMIT, 0, "the file would have more than 4 GiB");
    if (b->debug.size) a->flags |= CVBC_HAS_DEBUG;
    if (a->programs.size) a->flags |= CVBC_HAS_PROGRAMS;
    uint8_t header[cvbc_header_bytes];
    cvbc_build_header(b, a->flags, sizes, header);
    cvbc_override_apply(&b->header_over, header, sizeof header);
    writer_bytes(out, header, sizeof header);
    uint64_t end = bytes_get32(header + 32) + (uint64_t)a->stored.size;
    uint64_t programs = bytes_get32(header + 24) + (uint64_t)a->security.out.size;
    struct cvbc_patch_at sections[] = {{bytes_get32(header + 16), writer_view(&a->metadata)},
                                       {bytes_get32(header + 24), writer_view(&a->security)},
                                       {(programs + 3) & ~UINT64_C(3), a->programs},
                                       {bytes_get32(header + 32), a->stored},
                                       {(end + 3) & ~UINT64_C(3), b->debug}};
    bool ok = true;
    for (size_t i = 0; ok && i < b->patch_count; i++)
        ok = build_place(out, b->patches[i].offset, b->patches[i].bytes, err);
    const size_t count = sizeof sections / sizeof *sections;
    for (size_t i = 0; i < count;
         /* Sections are written in the order of the file, because each may end where the next
          * begins. */
         i++)
        for (size_t k = i + 1; k < count; k++)
            if (sections[k].offset < sections[i].offset) {
                struct cvbc_patch_at swap = sections[i];
                sections[i] = sections[k];
                sections[k] = swap;
            }
    for (size_t i = 0; ok && i < count; i++)
        ok = build_place(out, sections[i].offset, sections[i].bytes, err);
    uint64_t from = (programs + 3) & ~UINT64_C(3), to = from + a->programs.size;
    for (size_t i = 0; ok && i < b->patch_count; i++) /* These bytes fill gaps between programs. */
        if (b->patches[i].offset >= from && b->patches[i].offset + b->patches[i].bytes.size <= to)
            ok = build_place(out, b->patches[i].offset, b->patches[i].bytes, err);
    ok = ok && build_place(out, out->out.size, b->trailing, err);
    if (!ok || out->failed) return writer_ok(out, err) && false;
    memcpy(out->out.data, header,
           /* The header is written again, because a section may have overwritten it. */
           sizeof header);
    return true;
}

static bool build_finish(struct assembly *a, struct writer *out, penta_error *err)
{
    struct cvbc_build *b = a->b;
    if (b->sign_key && !b->has_security)
        return sign_file(out->out.data, out->out.size, b->sign_key, err);
    cvbc_build_crcs(out->out.data, out->out.size);
    cvbc_override_apply(&b->header_over, out->out.data,
                        cvbc_header_bytes); /* The text may also give CRCs. */
    return true;
}

bool cvbc_build_write(struct cvbc_build *b, struct writer *out, penta_error *err)
{
    struct assembly a = {.b = b};
    make_metadata(&a);
    make_directory(&a);
    bool ok = make_image(&a, err) && make_stored(&a, err);
    if (ok) make_security(&a);
    ok = ok && writer_ok(&a.metadata, err) && writer_ok(&a.image, err) &&
         writer_ok(&a.security, err) && file_put_together(&a, out, err) &&
         build_finish(&a, out, err) && writer_ok(out, err);
    if (b->cipher && a.image.out.data) secret_wipe(a.image.out.data, a.image.out.size);
    writer_free(&a.metadata);
    writer_free(&a.image);
    writer_free(&a.security);
    penta_buffer_free(&a.deflated);
    penta_buffer_free(&a.sealed);
    return ok;
}

bool cvbc_build_from(struct cvbc_build *b, const struct cvbc_module *m, penta_error *err)
{
    const struct cvbc_opened *o = cvbc_open(m);
    *b = (struct cvbc_build){.minor = m->header.format_version_minor,
                             .timestamp = m->header.compilation_timestamp,
                             .build_number = m->header.build_number,
                             .flags = m->header.flags & (CVBC_DETERMINISTIC | CVBC_COMPRESSED),
                             .force_compression = true,
                             .has_metadata = true,
                             .metadata = m->metadata,
                             .debug = m->debug};
    if (m->inner) { /* Without other programs the result is a file of version 1.0. */
        b->metadata.size -= m->meta.directory.size;
        if (b->minor == CVBC_MINOR_PROGRAMS) b->minor = 0;
    }
    if (m->has_protection) {
        memcpy(b->source_sha256, m->integrity.source_sha256, 32);
        b->secure_timestamp = m->integrity.secure_timestamp;
        b->hash_algorithm = m->protection.hash_algorithm;
    }
    if (o->failure.code) {
        *err = o->failure;
        return false;
    }
    b->has_image = true;
    b->image = o->program.image;
    return true;
}

bool cvbc_build_add(struct cvbc_build *b, const uint8_t name[CVBC_NAME_BYTES],
                    const struct cvbc_module *m, penta_error *err)
{
    struct cvbc_build inner = {0};
    struct writer container = {0};
    if (b->cipher && m->debug.size && !b->keep_debug) {
        error_at(err, CVBC_SEALED, 0, "debug data of '%.31s' would stay readable",
                 (const char *)name);
        return error_note(err, "option 'strip' leaves it out, option 'keep-debug' allows it");
    }
    bool ok = cvbc_build_from(&inner, m, err);
    inner.cipher = b->cipher;
    inner.derivation = b->derivation;
    inner.secret = b->secret;
    ok = ok && cvbc_build_write(&inner, &container, err) &&
         cvbc_build_program(b, name, writer_view(&container), NULL, err);
    cvbc_build_fini(&inner);
    writer_free(&container);
    return ok;
}

bool cvbc_build_programs_from(struct cvbc_build *b, const struct cvbc_module *m, penta_error *err)
{
    bool ok = true;
    memcpy(b->first_name, m->meta.programs.first_name, sizeof b->first_name);
    for (size_t i = 0; m->inner && ok && i < m->meta.entry_count; i++)
        ok = cvbc_build_add(b, m->meta.entries[i].program_name, m->inner[i], err);
    return ok;
}

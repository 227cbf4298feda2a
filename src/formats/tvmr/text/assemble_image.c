/* Assembles the section .image (TVMR 10.5), which has what the language cannot express otherwise:
 *
 *     version N      flags N       checksum N     reserved N      header fields as they are
 *     ext ID MAJOR MINOR PATCH     these lines are the extension table instead of .requires
 *     regdef INDEX HEX             the bytes of that definition
 *     metadata HEX                 the whole section      trailing HEX   bytes after the image
 *     stored SIZE HEX              payload of the envelope and plain_size    tail HEX   after it
 *     file HEX                     all bytes; everything else is ignored then */
#include "text/hex.h"
#include "tvmr/text/assemble.h"
#include <stdlib.h>

static bool hex_of(struct assembly *a, struct span s, penta_bytes *out)
{
    struct writer bytes = {0};
    size_t bad = 0;
    bool limit = false;
    bool ok = hex_read((penta_bytes){s.at, s.size}, &bytes, &a->s->runs, &bad, &limit);
    if (!ok && limit)
        asm_fail(a, BASE_LIMIT, s.at + bad, "more than 256 MiB of repeated bytes");
    else if (!ok)
        asm_fail(a, BASE_SYNTAX, s.at, "expected pairs of hex digits");
    ok = ok && writer_ok(&bytes, &a->err);
    if (ok) out->data = arena_copy(&a->arena, writer_view(&bytes), &a->err);
    out->size = bytes.out.size;
    writer_free(&bytes);
    return ok && out->data;
}

static bool assemble_image_numbers(struct assembly *a, struct span *line, uint64_t max,
                                   uint64_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct span word = span_word(line);
        if (!span_uint(word, max, &out[i]))
            return asm_fail(a, BASE_NUMBER, word.at, "expected a number up to %llu",
                            (unsigned long long)max);
    }
    return true;
}

static bool ext_line(struct assembly *a, struct span line)
{
    uint64_t v[4];
    if (!assemble_image_numbers(a, &line, UINT16_MAX, v, 4)) return false;
    a->exts = asm_grow(a, a->exts, a->ext_count, &a->ext_capacity, sizeof *a->exts);
    if (!a->exts) return false;
    a->exts[a->ext_count++] = (struct tvmr_extension_entry){(uint16_t)v[0], (uint16_t)v[1],
                                                            (uint16_t)v[2], (uint16_t)v[3]};
    a->has_exts = true;
    return true;
}

static bool regdef_line(struct assembly *a, struct span line)
{
    uint64_t index;
    struct regdef_override o = {0};
    if (!assemble_image_numbers(a, &line, UINT32_MAX, &index, 1) || !hex_of(a, line, &o.bytes))
        return false;
    o.index = (size_t)index;
    a->overrides = asm_grow(a, a->overrides, a->override_count, &a->override_capacity, sizeof o);
    if (!a->overrides) return false;
    a->overrides[a->override_count++] = o;
    return true;
}

bool asm_image_line(struct assembly *a, struct span line)
{
    const uint8_t *at = line.at;
    struct span key = span_word(&line);
    uint64_t n = 0;
    if (span_is(key, "version") || span_is(key, "flags")) {
        if (!assemble_image_numbers(a, &line, UINT16_MAX, &n, 1)) return false;
        *(span_is(key, "flags") ? &a->flags : &a->version) = (int64_t)n;
        return true;
    }
    if (span_is(key, "checksum"))
        return a->has_checksum = true,
               assemble_image_numbers(a, &line, UINT64_MAX, &a->checksum, 1);
    if (span_is(key, "reserved"))
        return a->has_reserved = true,
               assemble_image_numbers(a, &line, UINT64_MAX, &a->reserved, 1);
    if (span_is(key, "ext")) return ext_line(a, line);
    if (span_is(key, "regdef")) return regdef_line(a, line);
    if (span_is(key, "metadata")) return a->has_metadata = true, hex_of(a, line, &a->metadata);
    if (span_is(key, "trailing")) return hex_of(a, line, &a->trailing);
    if (span_is(key, "tail")) return hex_of(a, line, &a->tail);
    if (span_is(key, "stored")) {
        a->has_stored = true;
        return assemble_image_numbers(a, &line, UINT32_MAX, &a->plain_size, 1) &&
               hex_of(a, line, &a->stored);
    }
    if (span_is(key, "file")) return a->has_file = true, hex_of(a, line, &a->file);
    return asm_fail(a, BASE_MNEMONIC, at, "unknown key '%.*s' in .image",
                    (int)(key.size > 40 ? 40 : key.size), (const char *)key.at);
}

static bool assemble_image_definitions(struct assembly *a, struct writer *out)
{
    for (size_t i = 0; i < a->reg_count; i++) {
        size_t end = i + 1 < a->reg_count ? a->reg_starts[i + 1] : a->regs.out.size;
        penta_bytes bytes =
            bytes_slice(writer_view(&a->regs), a->reg_starts[i], end - a->reg_starts[i]);
        for (size_t k = 0; k < a->override_count; k++)
            if (a->overrides[k].index == i) bytes = a->overrides[k].bytes;
        writer_bytes(out, bytes.data, bytes.size);
    }
    return true;
}

/* Sets the header fields that .image gives. */
static void patch_header(const struct assembly *a, struct writer *plain)
{
    if (a->version >= 0) writer_patch(plain, 4, (uint64_t)a->version, 2);
    if (a->flags >= 0) writer_patch(plain, 6, (uint64_t)a->flags, 2);
    if (a->has_checksum) writer_patch(plain, 0x20, a->checksum, 8);
    if (a->has_reserved) writer_patch(plain, 0x28, a->reserved, 8);
}

static bool assemble_image_pack(struct assembly *a, penta_bytes plain, bool compress,
                                struct writer *out)
{
    unsigned flags = bytes_get16(plain.data + 6);
    if (a->has_stored) {
        struct tvmr_envelope_head e = {.codec = flags & 1,
                                       .cipher = flags >> 1 & 1,
                                       .plain_size = (uint32_t)a->plain_size,
                                       .stored_size = (uint32_t)a->stored.size};
        writer_bytes(out, plain.data, tvmr_header_bytes);
        tvmr_envelope_head_write(out, &e);
        writer_bytes(out, a->stored.data, a->stored.size);
    } else {
        if (flags & TVMR_ENCRYPTED)
            return asm_fail(a, BASE_UNSUPPORTED, a->s->text.data,
                            "an encrypted image needs its stored bytes; see penta seal");
        if (!tvmr_envelope_write(out, plain, compress || (flags & TVMR_COMPRESSED), NULL, NULL,
                                 &a->err))
            return false;
    }
    writer_bytes(out, a->tail.data, a->tail.size);
    return true;
}

bool asm_finish(struct assembly *a, bool metadata, bool compress, struct writer *out)
{
    if (a->has_file) {
        writer_bytes(out, a->file.data, a->file.size);
        return true;
    }
    struct writer regs = {0}, json = {0}, section = {0}, plain = {0};
    if (!a->has_exts) {
        a->exts = arena_alloc(&a->arena, a->required_count, sizeof *a->exts, &a->err);
        a->ext_count = a->exts ? a->required_count : 0;
        for (size_t i = 0; i < a->ext_count; i++) a->exts[i] = a->required[i].entry;
    }
    assemble_image_definitions(a, &regs);
    bool wanted = metadata || (a->flags >= 0 && (a->flags & TVMR_METADATA_FLAG));
    if (a->has_metadata && !asm_metadata_edit(a, &json))
        writer_bytes(&section, a->metadata.data, a->metadata.size);
    else if (a->has_metadata)
        tvmr_write_metadata(&section, writer_view(&json));
    else if (wanted) {
        asm_metadata(a, &json);
        tvmr_write_metadata(&section, writer_view(&json));
    }
    tvmr_write(&plain, a->exts, a->ext_count, writer_view(&regs), a->reg_count,
               writer_view(&a->code), writer_view(&section));
    writer_bytes(&plain, a->trailing.data, a->trailing.size);
    plain.failed |=
        regs.failed || json.failed || section.failed || a->regs.failed || a->code.failed;
    bool ok = writer_ok(&plain, &a->err);
    if (ok) {
        patch_header(a, &plain);
        ok = assemble_image_pack(a, writer_view(&plain), compress, out);
    }
    writer_free(&regs);
    writer_free(&json);
    writer_free(&section);
    writer_free(&plain);
    return ok && !a->err.code;
}

/* The same object in the other byte order: tables by their records, code by decoding, data as it
 * is, except the words that relocations patch and the rows of .coil.line and .coil.ext. */
#include "coil/format/section_layout.h"
#include "coil/format/object.h"
#include <stdlib.h>

static bool swap_code(const struct coil_module *m, size_t section, struct writer *out,
                      struct coil_insn *insn, penta_error *err)
{
    struct reader r = coil_code_reader(m, section, err);
    struct arena arena = {0};
    bool ok = true;
    while (ok && reader_left(&r)) {
        ok = coil_insn_read(&r, insn);
        for (unsigned i = 0; ok && i < insn->count; i++) {
            struct coil_operand *o = &insn->operands[i];
            if (!o->image.data) continue;
            uint8_t *copy = arena_copy(&arena, o->image, err);
            ok = copy != NULL;
            if (!ok) break;
            coil_image_swap(o->type, copy);
            o->image.data = copy;
        }
        if (ok) coil_insn_write(out, insn);
    }
    arena_free(&arena);
    return ok;
}

static void swap_words(struct writer *out, penta_bytes bytes)
{
    for (size_t at = 0; at + 4 <= bytes.size; at += 4)
        writer_uint(out, bytes_uint(bytes.data + at, 4, !out->big_endian), 4);
    writer_bytes(out, bytes.data + bytes.size / 4 * 4, bytes.size % 4);
}

static void swap_relocated(const struct coil_module *m, uint8_t *image)
{
    for (size_t i = 0; i < m->reloc_count; i++) {
        const struct coil_reloc *r = &m->relocs[i];
        uint64_t section = r->offset >> 32, at = r->offset & UINT32_MAX;
        unsigned width = coil_reloc_width(r->type);
        if (!section || section > m->section_count || m->sections[section - 1].type == COIL_S_BSS ||
            coil_is_code(&m->sections[section - 1]))
            continue;
        if (at + width > m->sections[section - 1].size) continue;
        uint8_t *p = image + m->sections[section - 1].offset + at;
        for (unsigned k = 0; k < width / 2; k++) {
            uint8_t byte = p[k];
            p[k] = p[width - 1 - k];
            p[width - 1 - k] = byte;
        }
    }
}

static bool section_swaps(const struct coil_module *m, size_t i)
{
    penta_bytes name = coil_string(m, m->sections[i].name_idx);
    return (name.size == 10 && !memcmp(name.data, ".coil.line", 10)) ||
           (name.size == 9 && !memcmp(name.data, ".coil.ext", 9));
}

/* Every size stays the same, so the bytes go where they were. */
static bool convert_into(struct coil_module *to, const struct coil_module *m, uint8_t *image,
                         struct findings *f)
{
    struct coil_insn *insn = calloc(1, sizeof *insn);
    penta_error err = {0};
    bool ok = insn || error_at(&err, BASE_MEMORY, 0, "no memory to convert");
    for (size_t i = 0; ok && i < m->section_count; i++) {
        penta_bytes bytes = coil_contents(m, i);
        struct writer w = {.big_endian = to->big_endian};
        if (coil_is_code(&m->sections[i]))
            ok = swap_code(m, i, &w, insn, &err);
        else if (section_swaps(m, i))
            swap_words(&w, bytes);
        ok = ok && writer_ok(&w, &err);
        if (ok && w.out.size == bytes.size && w.out.size)
            bytes_copy(image + m->sections[i].offset, (penta_bytes){w.out.data, w.out.size});
        writer_free(&w);
    }
    if (ok) swap_relocated(m, image);
    if (insn) coil_insn_free(insn);
    free(insn);
    if (err.code) findings_pass(f, &err);
    return ok;
}

bool coil_convert(const penta_module *module, const penta_option *options, size_t count,
                  struct writer *out, struct findings *f)
{
    const struct coil_module *m = coil_module(module);
    const char *endian = option_text(options, count, "endian");
    penta_error err = {0};
    if (!endian || (strcmp(endian, "little") && strcmp(endian, "big"))) {
        error_at(&err, BASE_OPTION_VALUE, 0, "converting needs option 'endian': little or big");
        findings_pass(f, &err);
        return false;
    }
    bool big = !strcmp(endian, "big");
    /* A bare stream does not say its byte order: it must be the one that was not asked for. */
    struct coil_module other = *m;
    if (m->raw) {
        other.big_endian = !big;
        m = &other;
    }
    if (big == m->big_endian) {
        writer_bytes(out, module->file.data, module->file.size);
        return true;
    }
    struct coil_module to = *m;
    uint8_t *image = malloc(module->file.size + 1);
    if (!image) {
        error_at(&err, BASE_MEMORY, 0, "no memory to convert");
        findings_pass(f, &err);
        return false;
    }
    bytes_copy(image, module->file);
    to.big_endian = big;
    to.header.endianness = big;
    bool ok = convert_into(&to, m, image, f);
    to.base.file.data = image;
    if (ok) ok = coil_encode(&to.base, out, &err);
    if (err.code) findings_pass(f, &err);
    free(image);
    return ok;
}

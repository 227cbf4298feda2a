/* Converts an object to the other byte order: tables record by record, code by decoding and
 * writing it, data number by number (data_units.h), and the sections that penta defines word by
 * word. */
#include "coil/format/data_units.h"
#include "coil/format/object.h"
#include "coil/format/proto.h"
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

static bool section_swaps(const struct coil_module *m, size_t i)
{
    static const char *const ours[] = {".coil.line", ".coil.var", ".coil.type", ".coil.ext"};
    penta_bytes name = coil_string(m, m->sections[i].name_idx);
    bool found = coil_is_proto(m, i);
    for (int k = 0; k < 4; k++) found |= bytes_equal(name, bytes_of(ours[k]));
    return found;
}

/* If data are kept as they are, only the addresses in them are converted. Relocations tell where
 * these are. */
static bool convert_data(const struct coil_module *m, uint8_t *image, bool keep_data,
                         struct findings *f)
{
    struct coil_data_units units;
    bool ok = coil_data_units_find(m, &units, !keep_data);
    if (!ok) findings_pass(f, &units.err);
    ok = ok && (keep_data || coil_data_units_check(&units, f));
    if (ok) coil_data_units_swap(&units, image);
    coil_data_units_free(&units);
    return ok;
}

/* Converts the whole file. No size changes, so nothing moves. */
static bool convert_into(struct coil_module *to, const struct coil_module *m, uint8_t *image,
                         bool keep_data, struct findings *f)
{
    if (!m->raw && !convert_data(m, image, keep_data, f)) return false;
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
    /* A bare stream does not say its byte order. The caller asks for one order, so the input
     * must have the other one. */
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
    bool keep_data = option_text(options, count, "keep-data");
    bool ok = convert_into(&to, m, image, keep_data, f);
    to.base.file.data = image;
    if (ok) ok = coil_encode(&to.base, out, &err);
    if (err.code) findings_pass(f, &err);
    free(image);
    return ok;
}

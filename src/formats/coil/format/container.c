/* Reads the bytes of an object into a module, and writes a module as bytes. An object may have
 * one of two layouts (COIL 8.1), packed and natural; read_header and check_tables find out which
 * one a file has. */
#include "coil/coil.h"
#include <stdlib.h>
#include "core/nested.h"

#include "core/layout/tables.h"

int coil_probe(penta_bytes file, struct writer *evidence)
{
    if (file.size < 4 || memcmp(file.data, "COIL", 4)) return 0;
    if (evidence) writer_text(evidence, "starts with COIL");
    return 100;
}

/* The header of the source document is a C struct. Packed, as penta writes it, the header has 84
 * bytes and a section entry 52. A 64-bit compiler would insert four bytes before section_offset
 * and four after each section entry; in this natural layout they have 88 and 56 bytes. In a
 * natural little-endian file bytes 44-47 are zero, so section_offset, read as packed, would be
 * at least 2^32 * 88; and the version is wrong if the byte order is. So at most one way of
 * reading succeeds. If none does, the error is that of the packed layout. */

struct attempt {
    bool natural, big_endian;
    size_t header_size, section_size;
    struct coil_header header;
    size_t strings_size;
    penta_error err;
};

static bool read_header(struct attempt *a, penta_bytes file)
{
    a->header_size = a->natural ? COIL_NATURAL_HEADER : coil_header_bytes;
    a->section_size = a->natural ? COIL_NATURAL_SECTION : coil_section_bytes;
    struct reader r = {.in = file, .err = &a->err};
    if (file.size < 4 || memcmp(file.data, "COIL", 4))
        return error_at(&a->err, COIL_MAGIC, 0, "the file does not start with COIL");
    if (file.size < a->header_size)
        return error_at(&a->err, BASE_TRUNCATED, file.size,
                        "the header has %zu bytes, the file %zu", a->header_size, file.size);
    uint8_t endian = file.data[a->natural ? 80 : 76];
    if (endian > 1)
        return error_at(&a->err, COIL_ENDIAN, a->natural ? 80 : 76,
                        "endianness %u, expected 0 or 1", endian);
    a->big_endian = endian;
    r.big_endian = endian;
    struct coil_header *h = &a->header;
    uint8_t packed[coil_header_bytes];
    if (a->natural) {
        memcpy(packed, file.data, 44);
        memcpy(packed + 44, file.data + 48, coil_header_bytes - 44);
        r.in = (penta_bytes){packed, sizeof packed};
    }
    coil_header_read(&r, h);
    if (h->version >> 24 || h->version >> 16 != 1)
        return error_at(&a->err, COIL_VERSION, 4, "version 0x%08x, expected 0x0001mmpp",
                        (unsigned)h->version);
    for (int i = 0; i < 7; i++)
        if (h->padding[i])
            return error_at(&a->err, COIL_PADDING, a->header_size - 7 + (unsigned)i,
                            "padding byte 0x%02x", h->padding[i]);
    if (a->natural && bytes_uint(file.data + 44, 4, false))
        return error_at(&a->err, COIL_PADDING, 44, "hidden padding is not zero");
    return true;
}

struct range {
    uint64_t from, size;
    const char *what;
    uint64_t at; /* place of the field that gives the offset or count */
};

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

static bool container_inside(const struct range *r, uint64_t file_size)
{
    return r->from <= file_size && r->size <= file_size - r->from;
}

/* Returns the end of the string table, which is where the next table or section begins. */
static uint64_t strings_end(const struct attempt *a, penta_bytes file)
{
    const struct coil_header *h = &a->header;
    uint64_t start = h->string_offset, end = file.size;
    const uint64_t tables[] = {h->section_offset, h->symbol_offset, h->reloc_offset};
    for (int i = 0; i < 3; i++)
        if (tables[i] > start && tables[i] < end) end = tables[i];
    for (uint64_t i = 0; i < h->section_count; i++) {
        const uint8_t *p = file.data + h->section_offset + i * a->section_size;
        uint64_t type = bytes_uint(p, 4, a->big_endian), from = bytes_uint(p + 8, 8, a->big_endian);
        uint64_t size = bytes_uint(p + 16, 8, a->big_endian);
        if (type != COIL_S_BSS && size && from > start && from < end) end = from;
    }
    return end;
}

static bool check_tables(struct attempt *a, penta_bytes file)
{
    const struct coil_header *h = &a->header;
    uint64_t shift = a->natural ? 4 : 0;
    struct range tables[5] = {
        {0, a->header_size, "header", 0},
        {h->section_offset, (uint64_t)h->section_count * a->section_size, "section table",
         44 + shift},
        {h->symbol_offset, (uint64_t)h->symbol_count * coil_symbol_bytes, "symbol table",
         52 + shift},
        {h->reloc_offset, (uint64_t)h->reloc_count * coil_reloc_bytes, "relocation table",
         68 + shift},
        {h->string_offset, 0, "string table", 60 + shift},
    };
    for (int i = 1; i < 5; i++)
        if (!container_inside(&tables[i], file.size))
            return error_at(&a->err, COIL_TABLE_RANGE, tables[i].at,
                            "the %s (%llu bytes at 0x%llx) is not in the file", tables[i].what,
                            (unsigned long long)tables[i].size, (unsigned long long)tables[i].from);
    a->strings_size = (size_t)(strings_end(a, file) - h->string_offset);
    tables[4].size = a->strings_size;
    qsort(tables, 5, sizeof *tables, by_start);
    uint64_t end = 0;
    const char *last = NULL;
    for (int i = 0; i < 5; i++) {
        if (!tables[i].size) continue;
        if (tables[i].from < end)
            return error_at(&a->err, COIL_TABLE_RANGE, tables[i].at,
                            "the %s at 0x%llx overlaps the %s", tables[i].what,
                            (unsigned long long)tables[i].from, last);
        end = tables[i].from + tables[i].size;
        last = tables[i].what;
    }
    return true;
}

static bool try_layout(struct attempt *a, penta_bytes file, bool natural)
{
    *a = (struct attempt){.natural = natural};
    return read_header(a, file) && check_tables(a, file);
}

static bool read_tables(struct coil_module *m, penta_error *err)
{
    penta_bytes file = m->base.file;
    const struct coil_header *h = &m->header;
    m->sections = arena_alloc(&m->arena, h->section_count, sizeof *m->sections, err);
    m->symbols = arena_alloc(&m->arena, h->symbol_count, sizeof *m->symbols, err);
    m->relocs = arena_alloc(&m->arena, h->reloc_count, sizeof *m->relocs, err);
    if (!m->sections || !m->symbols || !m->relocs) return false;
    struct reader r = {.in = file, .big_endian = m->big_endian, .err = err};
    size_t step = m->natural ? COIL_NATURAL_SECTION : coil_section_bytes;
    for (size_t i = 0; i < h->section_count; i++) {
        r.pos = (size_t)h->section_offset + i * step;
        coil_section_read(&r, &m->sections[i]);
    }
    r.pos = (size_t)h->symbol_offset;
    for (size_t i = 0; i < h->symbol_count; i++) coil_symbol_read(&r, &m->symbols[i]);
    r.pos = (size_t)h->reloc_offset;
    for (size_t i = 0; i < h->reloc_count; i++) coil_reloc_read(&r, &m->relocs[i]);
    m->section_count = h->section_count;
    m->symbol_count = h->symbol_count;
    m->reloc_count = h->reloc_count;
    return !err->code;
}

static uint64_t section_entry(const struct coil_module *m, size_t i)
{
    return m->header.section_offset + i * (m->natural ? COIL_NATURAL_SECTION : coil_section_bytes);
}

/* Checks that sections lie in the file and overlap neither a table nor each other. Describing a
 * file relies on that. */
static bool check_sections(struct coil_module *m, penta_error *err)
{
    const struct coil_header *h = &m->header;
    struct range *ranges = calloc(m->section_count + 5, sizeof *ranges);
    if (!ranges)
        return error_at(err, BASE_MEMORY, 0, "no memory for %zu sections", m->section_count);
    size_t n = 0;
    ranges[n++] = (struct range){0, m->header_size, "header", 0};
    ranges[n++] =
        (struct range){h->section_offset, section_entry(m, m->section_count) - h->section_offset,
                       "section table", 0};
    ranges[n++] =
        (struct range){h->symbol_offset, m->symbol_count * coil_symbol_bytes, "symbol table", 0};
    ranges[n++] =
        (struct range){h->reloc_offset, m->reloc_count * coil_reloc_bytes, "relocation table", 0};
    ranges[n++] = (struct range){h->string_offset, m->strings.size, "string table", 0};
    penta_error *damage = &m->base.damage;
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        if (s->type == COIL_S_BSS || !s->size) continue;
        ranges[n] = (struct range){s->offset, s->size, "section", section_entry(m, i) + 8};
        if (!container_inside(&ranges[n++], m->base.file.size))
            error_at(damage, COIL_SECTION_RANGE, section_entry(m, i) + 8,
                     "section %zu (%llu bytes at 0x%llx) is not in the file", i + 1,
                     (unsigned long long)s->size, (unsigned long long)s->offset);
    }
    qsort(ranges, n, sizeof *ranges, by_start);
    uint64_t end = 0;
    const char *last = "";
    uint64_t last_at = 0;
    for (size_t i = 0; i < n && !damage->code; i++) {
        if (!ranges[i].size) continue;
        if (ranges[i].from < end)
            error_at(damage, COIL_SECTION_RANGE, ranges[i].at ? ranges[i].at : last_at,
                     "the %s at 0x%llx overlaps the %s", ranges[i].what,
                     (unsigned long long)ranges[i].from, last);
        end = ranges[i].from + ranges[i].size;
        last = ranges[i].what;
        last_at = ranges[i].at;
    }
    free(ranges);
    return true;
}

penta_bytes coil_contents(const struct coil_module *m, size_t i)
{
    const struct coil_section *s = &m->sections[i];
    if (s->type == COIL_S_BSS) return (penta_bytes){NULL, 0};
    return bytes_slice(m->base.file, (size_t)s->offset, (size_t)s->size);
}

struct reader coil_code_reader(const struct coil_module *m, size_t i, penta_error *err)
{
    return (struct reader){.in = coil_contents(m, i),
                           .origin = m->sections[i].offset,
                           .big_endian = m->big_endian,
                           .err = err};
}

penta_bytes coil_string(const struct coil_module *m, uint64_t offset)
{
    if (offset >= m->strings.size) return (penta_bytes){(const uint8_t *)"", 0};
    const uint8_t *p = m->strings.data + offset;
    return (penta_bytes){p, strnlen((const char *)p, (size_t)(m->strings.size - offset))};
}

bool coil_is_identifier(penta_bytes name)
{
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.'))) return false;
    }
    return name.size > 0 && name.size < 4096;
}

struct named {
    penta_bytes name;
    size_t index;
};

static int by_name(const void *a, const void *b)
{
    penta_bytes x = ((const struct named *)a)->name, y = ((const struct named *)b)->name;
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : x.size < y.size ? -1 : x.size > y.size;
}

static bool find_plain_names(struct coil_module *m, penta_error *err)
{
    m->plain = arena_alloc(&m->arena, m->symbol_count, 1, err);
    struct named *sorted = malloc((m->symbol_count + 1) * sizeof *sorted);
    if (!m->plain || !sorted) {
        free(sorted);
        return error_at(err, BASE_MEMORY, 0, "no memory for %zu names", m->symbol_count);
    }
    for (size_t i = 0; i < m->symbol_count; i++)
        sorted[i] = (struct named){coil_symbol_name(m, i), i};
    qsort(sorted, m->symbol_count, sizeof *sorted, by_name);
    for (size_t i = 0; i < m->symbol_count; i++) {
        bool twice = (i && !by_name(&sorted[i - 1], &sorted[i])) ||
                     (i + 1 < m->symbol_count && !by_name(&sorted[i], &sorted[i + 1]));
        m->plain[sorted[i].index] = !twice && coil_is_identifier(sorted[i].name);
    }
    free(sorted);
    return true;
}

static void read_extensions(struct coil_module *m)
{
    bool abi = false, preproc = false;
    for (size_t i = 0; i < m->section_count; i++) {
        penta_bytes name = coil_string(m, m->sections[i].name_idx), data = coil_contents(m, i);
        if (name.size != 9 || memcmp(name.data, ".coil.ext", 9) || data.size < 4) continue;
        uint64_t count = bytes_uint(data.data, 4, m->big_endian);
        for (uint64_t k = 0; k < count && 8 + 4 * k <= data.size; k++) {
            uint64_t id = bytes_uint(data.data + 4 + 4 * k, 4, m->big_endian);
            abi |= id == 3;
            preproc |= id == 4;
        }
    }
    m->abi = abi && !preproc;
}

/* A bare stream has one section, which is the whole file. */

static bool open_raw(struct coil_module *m, const char *endian, penta_error *err)
{
    if (endian && strcmp(endian, "little") && strcmp(endian, "big"))
        return error_at(err, BASE_OPTION_VALUE, 0, "endian '%.20s' is neither little nor big",
                        endian);
    m->raw = true;
    m->big_endian = endian && !strcmp(endian, "big");
    m->header = (struct coil_header){.version = COIL_VERSION_1,
                                     .flags = COIL_FILE_RELOC,
                                     .target_pu = 1,
                                     .target_mode = 0x83,
                                     .section_count = 1};
    m->sections = arena_alloc(&m->arena, 1, sizeof *m->sections, err);
    if (!m->sections) return false;
    m->sections[0] = (struct coil_section){.type = COIL_S_TEXT,
                                           .flags = COIL_ALLOC | COIL_EXEC,
                                           .size = m->base.file.size,
                                           .align = 1};
    m->section_count = 1;
    return true;
}

static bool open_object(struct coil_module *m, penta_error *err)
{
    struct attempt packed, natural, *chosen = &packed;
    if (!try_layout(&packed, m->base.file, false)) {
        if (!try_layout(&natural, m->base.file, true)) {
            m->base.damage = packed.err;
            return true;
        }
        chosen = &natural;
    }
    m->natural = chosen->natural;
    m->big_endian = chosen->big_endian;
    m->header = chosen->header;
    m->header_size = chosen->header_size;
    m->strings = bytes_slice(m->base.file, (size_t)m->header.string_offset, chosen->strings_size);
    if (!read_tables(m, err) || !check_sections(m, err)) return false;
    if (!m->base.damage.code) read_extensions(m);
    return find_plain_names(m, err);
}

static bool read_options(struct coil_module *m, const penta_option *options, size_t count,
                         penta_error *err)
{
    const char *align = option_text(options, count, "align");
    if (!align) return true;
    m->align = !strcmp(align, "arm") ? 4 : !strcmp(align, "riscv") ? 2 : 0;
    return m->align ||
           error_at(err, BASE_OPTION_VALUE, 0, "align '%.20s' is neither arm nor riscv", align);
}

penta_module *coil_parse(penta_bytes file, const penta_option *options, size_t count,
                         penta_error *err)
{
    struct coil_module *m = module_new(sizeof *m, &coil_driver, file, options, count, err);
    if (!m) return NULL;
    bool ok =
        file.size <= UINT32_MAX || error_at(err, BASE_LIMIT, 0, "an object of more than 4 GiB");
    ok = ok && read_options(m, options, count, err);
    if (ok && option_text(options, count, "raw"))
        ok = open_raw(m, option_text(options, count, "endian"), err);
    else if (ok)
        ok = open_object(m, err);
    if (ok) return &m->base;
    coil_close(&m->base);
    return NULL;
}

/* Finds the end of the object. It is not known when nothing follows the string table. */
static uint64_t object_end(const struct attempt *a, penta_bytes rest, const char **broken)
{
    const struct coil_header *h = &a->header;
    const uint64_t starts[] = {h->section_offset, h->symbol_offset, h->reloc_offset};
    const uint64_t ends[] = {a->header_size, h->section_offset + h->section_count * a->section_size,
                             h->symbol_offset + (uint64_t)h->symbol_count * coil_symbol_bytes,
                             h->reloc_offset + (uint64_t)h->reloc_count * coil_reloc_bytes,
                             h->string_offset + a->strings_size};
    uint64_t end = 0;
    bool known = ends[4] < rest.size;
    for (int i = 0; i < 3; i++) known |= starts[i] > h->string_offset;
    for (int i = 0; i < 5; i++) end = ends[i] > end ? ends[i] : end;
    for (uint64_t i = 0; i < h->section_count; i++) {
        const uint8_t *p = rest.data + h->section_offset + i * a->section_size;
        struct range r = {.from = bytes_uint(p + 8, 8, a->big_endian),
                          .size = bytes_uint(p + 16, 8, a->big_endian)};
        if (bytes_uint(p, 4, a->big_endian) == COIL_S_BSS || !r.size) continue;
        if (!container_inside(&r, rest.size)) *broken = "a section is not in the file";
        if (!*broken && r.from + r.size > end) end = r.from + r.size;
    }
    return known && !*broken ? end : 0;
}

static bool coil_head(penta_bytes rest, struct nested_head *head)
{
    static const char *const dialects[] = {"packed, little-endian", "packed, big-endian",
                                           "natural, little-endian", "natural, big-endian"};
    struct attempt a;
    bool whole = try_layout(&a, rest, false) || try_layout(&a, rest, true);
    *head = (struct nested_head){0};
    if (!whole) {
        a = (struct attempt){0};
        head->broken = "a table is not in the file, or overlaps another";
        if (!read_header(&a, rest)) {
            a = (struct attempt){.natural = true};
            if (!read_header(&a, rest)) return false;
        }
    } else {
        head->size = object_end(&a, rest, &head->broken);
        head->work = a.header.section_count * a.section_size;
    }
    head->dialect = dialects[2 * a.natural + a.big_endian];
    return true;
}

const struct driver_nested coil_nested = {{0x4c494f43}, coil_head};

void coil_close(penta_module *module)
{
    struct coil_module *m = (struct coil_module *)module;
    arena_free(&m->arena);
    free(m);
}

void coil_header_put(struct writer *out, const struct coil_header *header, bool natural)
{
    uint8_t bytes[coil_header_bytes];
    struct writer packed = writer_into(bytes, sizeof bytes);
    packed.big_endian = out->big_endian;
    coil_header_write(&packed, header);
    writer_bytes(out, bytes, 44);
    if (natural) writer_fill(out, 0, 4);
    writer_bytes(out, bytes + 44, sizeof bytes - 44);
}

static void container_place(uint8_t *image, size_t size, uint64_t at, const struct writer *w)
{
    if (w->out.data && at <= size && w->out.size <= size - at)
        bytes_copy(image + at, (penta_bytes){w->out.data, w->out.size});
}

/* Writes the header and the tables into a copy of the file, so that gaps and contents do not
 * change. */
bool coil_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    const struct coil_module *m = coil_module(module);
    size_t start = out->out.size, size = module->file.size;
    writer_bytes(out, module->file.data, size);
    if (!module->damage.code && !m->raw && !out->failed) {
        uint8_t *image = out->out.data + start;
        struct writer w = {.big_endian = m->big_endian};
        coil_header_put(&w, &m->header, m->natural);
        container_place(image, size, 0, &w);
        for (size_t i = 0; i < m->section_count; i++) {
            w.out.size = 0;
            coil_section_write(&w, &m->sections[i]);
            container_place(image, size, section_entry(m, i), &w);
        }
        w.out.size = 0;
        for (size_t i = 0; i < m->symbol_count; i++) coil_symbol_write(&w, &m->symbols[i]);
        container_place(image, size, m->header.symbol_offset, &w);
        w.out.size = 0;
        for (size_t i = 0; i < m->reloc_count; i++) coil_reloc_write(&w, &m->relocs[i]);
        container_place(image, size, m->header.reloc_offset, &w);
        out->failed |= w.failed;
        writer_free(&w);
    }
    return writer_ok(out, err);
}

/* Parses a decoded bytecode section (CVBC 4) and the rows of the debug tables (CVBC 5). */
#include <string.h>
#include "base/bytes.h"
#include "base/array.h"
#include "cvbc/cvbc.h"

static bool program_flaw(struct cvbc_program *p, uint64_t at, const char *what, uint64_t have,
                         uint64_t want)
{
    error_at(&p->flaw, CVBC_BYTECODE, at, what, (unsigned long long)have, (unsigned long long)want);
    return true; /* A flaw of the program is not a failure of the parser. */
}

/* Reads the string record at pos. Returns false if it is cut short, not terminated, or has a NUL
 * inside. */
static bool string_at(penta_bytes pool, size_t pos, penta_bytes *text)
{
    if (pool.size - pos < 4) return false;
    uint32_t length = bytes_get32(pool.data + pos);
    if (!length || length > pool.size - pos - 4) return false;
    *text = (penta_bytes){pool.data + pos + 4, length - 1};
    return memchr(text->data, 0, length) == text->data + length - 1;
}

static bool parse_strings(struct cvbc_program *p, penta_bytes pool, uint64_t origin,
                          struct arena *arena, penta_error *err)
{
    size_t count = 0;
    penta_bytes text;
    for (size_t pos = 0; pos < pool.size; pos += 5 + text.size, count++)
        if (!string_at(pool, pos, &text))
            return program_flaw(p, origin + pos,
                                "string %llu is cut short, not terminated, or has a NUL inside",
                                count, 0);
    p->strings = arena_alloc(arena, count, sizeof *p->strings, err);
    if (!p->strings) return false;
    for (size_t pos = 0; pos < pool.size; pos += 5 + text.size) {
        string_at(pool, pos, &text);
        p->strings[p->string_count++] = text;
    }
    return true;
}

bool cvbc_program_parse(penta_bytes image, struct arena *arena, struct cvbc_program *p,
                        penta_error *err)
{
    *p = (struct cvbc_program){.image = image};
    if (image.size < cvbc_bytecode_bytes)
        return program_flaw(p, 0, "%llu bytes, the bytecode header alone has %llu", image.size,
                            cvbc_bytecode_bytes);
    penta_error none = {0};
    struct reader r = {.in = image, .err = &none};
    cvbc_bytecode_read(&r, &p->head);
    const struct cvbc_bytecode *h = &p->head;
    uint64_t end = cvbc_bytecode_bytes + 4u * (uint64_t)h->instruction_count;
    if (!h->instruction_count) return program_flaw(p, 0, "there are no instructions", 0, 0);
    if (end > image.size)
        return program_flaw(p, 0, "the instructions end at 0x%llx, the section at 0x%llx", end,
                            image.size);
    p->code = image.data + cvbc_bytecode_bytes;
    p->count = h->instruction_count;
    if (h->entry_point_offset >= p->count)
        program_flaw(p, 2, "the entry point is %llu, of %llu instructions", h->entry_point_offset,
                     p->count);
    if (h->local_variable_count > CVBC_GLOBALS)
        program_flaw(p, 14, "%llu variable slots, at most %llu", h->local_variable_count,
                     CVBC_GLOBALS);
    uint64_t offset = h->constant_pool_offset, size = h->constant_pool_size;
    if (offset != end && (size || offset))
        return program_flaw(p, 4, "the constant pool is at 0x%llx, the instructions end at 0x%llx",
                            offset, end);
    if (end + size != image.size)
        return program_flaw(p, 8, "code and constant pool end at 0x%llx, the section at 0x%llx",
                            end + size, image.size);
    return parse_strings(p, bytes_slice(image, (size_t)end, (size_t)size), end, arena, err);
}

static penta_bytes program_table(penta_bytes debug, uint32_t offset, uint32_t size, bool *whole)
{
    if (!offset && !size) return (penta_bytes){0};
    if (offset < cvbc_debug_bytes || offset > debug.size || size > debug.size - offset) {
        *whole = false;
        return (penta_bytes){0};
    }
    return bytes_slice(debug, offset, size);
}

struct cvbc_debug_tables cvbc_debug_split(penta_bytes debug)
{
    struct cvbc_debug_tables t = {.whole = debug.size >= cvbc_debug_bytes};
    if (!t.whole) return t;
    const uint8_t *p = debug.data;
    t.symbols = program_table(debug, bytes_get32(p), bytes_get32(p + 4), &t.whole);
    t.lines = program_table(debug, bytes_get32(p + 8), bytes_get32(p + 12), &t.whole);
    t.variables = program_table(debug, bytes_get32(p + 16), bytes_get32(p + 20), &t.whole);
    return t;
}

bool cvbc_symbol_next(penta_bytes table, size_t *pos, struct cvbc_symbol *out, penta_bytes *name)
{
    penta_error cut = {0};
    struct reader r = {.in = table, .pos = *pos, .err = &cut};
    cvbc_symbol_read(&r, out);
    *name = reader_bytes(&r, out->name_length);
    if (cut.code) return false;
    *pos = r.pos;
    return true;
}

bool cvbc_variable_next(penta_bytes table, size_t *pos, struct cvbc_variable *out,
                        penta_bytes *name)
{
    penta_error cut = {0};
    struct reader r = {.in = table, .pos = *pos, .err = &cut};
    cvbc_variable_read(&r, out);
    *name = reader_bytes(&r, out->name_length);
    if (cut.code) return false;
    *pos = r.pos;
    return true;
}

bool cvbc_line_of(const struct cvbc_module *m, uint64_t pc, penta_bytes *file, uint32_t *line)
{
    struct cvbc_debug_tables t = cvbc_debug_split(cvbc_chosen(m)->debug);
    size_t rows = t.lines.size / cvbc_line_bytes, low; /* low: the first row after pc */
    ARRAY_SEARCH(low, 0, rows, bytes_get16(t.lines.data + low * cvbc_line_bytes) > pc);
    if (!low) return false;
    const uint8_t *row = t.lines.data + (low - 1) * cvbc_line_bytes;
    uint16_t number = bytes_get16(row + 2);
    *line = bytes_get32(row + 4);
    *file = (penta_bytes){0};
    struct cvbc_symbol symbol;
    penta_bytes name;
    for (size_t pos = 0; cvbc_symbol_next(t.symbols, &pos, &symbol, &name);)
        if (symbol.kind == 5 && symbol.value == number) *file = name;
    return true;
}

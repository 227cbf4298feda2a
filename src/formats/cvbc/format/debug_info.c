/* Writes debug tables (CVBC 5) as a section, and a section as text.
 *
 *     .symbol   "main", function, 3            or global, array, label, file, or a number
 *     .line     3, 0, 12                       instruction, file, line
 *     .variable "i", stack, 1, 0, 7, 28, 1     or global, array; type, slot, first, last, elements
 *
 * A section that these rows would not give back byte for byte is printed as hex (.debug). */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/format/build.h"
#include "text/quote.h"

void cvbc_debug_symbol(struct cvbc_debug_rows *rows, penta_bytes name, uint8_t kind, uint32_t value)
{
    struct cvbc_symbol row = {.name_length = (uint16_t)name.size, .kind = kind, .value = value};
    cvbc_symbol_write(&rows->symbols, &row);
    writer_bytes(&rows->symbols, name.data, name.size);
}

void cvbc_debug_line(struct cvbc_debug_rows *rows, uint16_t instruction, uint16_t file,
                     uint32_t line)
{
    struct cvbc_line row = {.instruction = instruction, .file = file, .line = line};
    cvbc_line_write(&rows->lines, &row);
}

void cvbc_debug_variable(struct cvbc_debug_rows *rows, penta_bytes name, struct cvbc_variable row)
{
    row.name_length = (uint16_t)name.size;
    cvbc_variable_write(&rows->variables, &row);
    writer_bytes(&rows->variables, name.data, name.size);
}

void cvbc_debug_put(const struct cvbc_debug_rows *rows, struct writer *out)
{
    const struct writer *tables[3] = {&rows->symbols, &rows->lines, &rows->variables};
    uint32_t at = cvbc_debug_bytes, places[6] = {0};
    for (int i = 0; i < 3; i++) {
        out->failed |= tables[i]->failed;
        if (!tables[i]->out.size) continue;
        places[2 * i] = at;
        places[2 * i + 1] = (uint32_t)tables[i]->out.size;
        at += places[2 * i + 1];
    }
    if (at == cvbc_debug_bytes) return;
    for (int i = 0; i < 6; i++) writer_uint(out, places[i], 4);
    for (int i = 0; i < 3; i++) writer_bytes(out, tables[i]->out.data, tables[i]->out.size);
}

void cvbc_debug_free(struct cvbc_debug_rows *rows)
{
    writer_free(&rows->symbols);
    writer_free(&rows->lines);
    writer_free(&rows->variables);
}

/* Prints the word for a number, or the number if it has no word. */
static void print_kind(struct writer *out, const char *field, unsigned kind)
{
    const char *word = cvbc_name(field, kind);
    if (word)
        writer_text(out, word);
    else
        writer_print(out, "%u", kind);
}

static void print_symbols(penta_bytes table, struct cvbc_debug_rows *rows, struct writer *out)
{
    struct cvbc_symbol s;
    penta_bytes name;
    for (size_t pos = 0; cvbc_symbol_next(table, &pos, &s, &name);) {
        cvbc_debug_symbol(rows, name, s.kind, s.value);
        writer_text(out, ".symbol ");
        writer_quoted(out, name);
        writer_text(out, ", ");
        print_kind(out, "kind", s.kind);
        writer_print(out, ", %u\n", s.value);
    }
}

static void print_lines(penta_bytes table, struct cvbc_debug_rows *rows, struct writer *out)
{
    for (size_t pos = 0; pos + cvbc_line_bytes <= table.size; pos += cvbc_line_bytes) {
        const uint8_t *p = table.data + pos;
        cvbc_debug_line(rows, bytes_get16(p), bytes_get16(p + 2), bytes_get32(p + 4));
        writer_print(out, ".line %u, %u, %u\n", bytes_get16(p), bytes_get16(p + 2),
                     bytes_get32(p + 4));
    }
}

static void print_variables(penta_bytes table, struct cvbc_debug_rows *rows, struct writer *out)
{
    struct cvbc_variable v;
    penta_bytes name;
    for (size_t pos = 0; cvbc_variable_next(table, &pos, &v, &name);) {
        cvbc_debug_variable(rows, name, v);
        writer_text(out, ".variable ");
        writer_quoted(out, name);
        writer_text(out, ", ");
        print_kind(out, "storage", v.storage);
        writer_print(out, ", %u, %u, %u, %u, %u\n", v.type, v.slot, v.first, v.last, v.elements);
    }
}

bool cvbc_debug_print(penta_bytes section, struct writer *out)
{
    struct cvbc_debug_tables t = cvbc_debug_split(section);
    struct cvbc_debug_rows rows = {0};
    struct writer text = {0}, again = {0};
    print_symbols(t.symbols, &rows, &text);
    print_lines(t.lines, &rows, &text);
    print_variables(t.variables, &rows, &text);
    cvbc_debug_put(&rows, &again);
    bool same = !again.failed && section.size && again.out.size == section.size &&
                !memcmp(again.out.data, section.data, section.size);
    if (same) writer_append(out, &text);
    out->failed |= text.failed || again.failed;
    cvbc_debug_free(&rows);
    writer_free(&text);
    writer_free(&again);
    return same;
}

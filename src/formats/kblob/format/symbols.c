/* Debug symbols are names and source lines in the metadata of the trailer (KBLOB 1.8).
 *
 *     KSYM header (24) | names (24 each, ascending by text) | lines (8 each) | text */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "core/describe.h"
#include "kblob/kblob.h"

enum { KIND_INSTRUCTION = 1, KIND_ADDRESS = 2 };

/* Tells whether an assembler reads the text as one name. Listings contain the names, and must
 * assemble again. */
static bool good_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.' || c == '$'))) return false;
    }
    return n > 0;
}

/* Tells whether a file name may be used. It is shown on terminals and in listings, so it must
 * have no control characters and no quotes. */
bool kblob_good_file(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f || *name == '"' || *name == '\\')
            return false;
    return true;
}

struct reading {
    struct kblob_module *m;
    struct kblob_symbols s;
    uint64_t at; /* offset of the metadata in the file */
};

static bool symbols_wrong(struct reading *r, uint64_t offset, const char *what, uint64_t value)
{
    return error_at(&r->m->symbol_damage, KBLOB_BAD_SYMBOLS, r->at + offset, "symbols: %s, 0x%llx",
                    what, (unsigned long long)value);
}

static bool check_names(struct reading *r)
{
    const char *before = NULL;
    for (size_t i = 0; i < r->s.name_count; i++) {
        const uint8_t *row = r->s.names + i * kblob_name_bytes;
        uint64_t at = kblob_ksym_bytes + i * kblob_name_bytes, value = bytes_get64(row);
        uint32_t name = bytes_get32(row + 16), kind = bytes_get32(row + 20);
        if (kind != KIND_INSTRUCTION && kind != KIND_ADDRESS)
            return symbols_wrong(r, at + 20, "unknown kind of name", kind);
        if (name >= r->s.text.size)
            return symbols_wrong(r, at + 16, "a name outside of the text", name);
        const char *text = (const char *)r->s.text.data + name;
        if (!good_name(text)) return symbols_wrong(r, at + 16, "a name with other signs", name);
        if (before && strcmp(before, text) >= 0)
            return symbols_wrong(r, at + 16, "names out of order", name);
        if (kind == KIND_INSTRUCTION && (value > r->m->count || bytes_get64(row + 8)))
            return symbols_wrong(r, at, "a name for no instruction", value);
        if (kind == KIND_ADDRESS && bytes_get64(row + 8) > UINT64_MAX - value)
            return symbols_wrong(r, at + 8, "a range that wraps", bytes_get64(row + 8));
        before = text;
    }
    return true;
}

static bool check_lines(struct reading *r)
{
    for (size_t i = 0; i < r->s.line_count; i++) {
        const uint8_t *row = r->s.lines + i * kblob_line_bytes;
        uint32_t first = bytes_get32(row);
        uint64_t at = (uint64_t)(row - r->s.names) + kblob_ksym_bytes;
        if (first >= r->m->count) return symbols_wrong(r, at, "a line for no instruction", first);
        if (i && bytes_get32(row - kblob_line_bytes) >= first)
            return symbols_wrong(r, at, "lines out of order", first);
    }
    return true;
}

static bool symbols_check(struct reading *r, penta_bytes data)
{
    penta_error err = {0};
    struct reader in = {.in = data, .err = &err};
    struct kblob_ksym h;
    if (data.size < kblob_ksym_bytes) return symbols_wrong(r, 0, "too short", data.size);
    kblob_ksym_read(&in, &h);
    if (h.version != 1) return symbols_wrong(r, 4, "unknown version", h.version);
    if (h.flags) return symbols_wrong(r, 6, "unknown flags", h.flags);
    uint64_t need = kblob_ksym_bytes + (uint64_t)h.nameCount * kblob_name_bytes +
                    (uint64_t)h.lineCount * kblob_line_bytes + h.textSize;
    if (need != data.size) return symbols_wrong(r, 8, "counts of another size", need);
    r->s = (struct kblob_symbols){.name_count = h.nameCount,
                                  .line_count = h.lineCount,
                                  .names = data.data + kblob_ksym_bytes};
    r->s.lines = r->s.names + r->s.name_count * kblob_name_bytes;
    r->s.text = (penta_bytes){r->s.lines + r->s.line_count * kblob_line_bytes, h.textSize};
    if (!h.textSize || r->s.text.data[h.textSize - 1])
        return symbols_wrong(r, 16, "text without an end", need);
    if (h.file >= h.textSize)
        return symbols_wrong(r, 20, "a file name outside of the text", h.file);
    r->s.file = (const char *)r->s.text.data + h.file;
    if (!kblob_good_file(r->s.file))
        return symbols_wrong(r, 20, "a file name with other signs", h.file);
    return check_names(r) && check_lines(r);
}

static int by_value(const void *a, const void *b)
{
    const struct kblob_place *x = a, *y = b;
    if (x->is_address != y->is_address) return x->is_address ? 1 : -1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Sorts the names by the places that they name, so that a search is fast. */
static bool make_places(struct reading *r, penta_error *err)
{
    struct kblob_symbols *s = &r->s;
    s->places = arena_alloc(&r->m->arena, s->name_count, sizeof *s->places, err);
    if (!s->places) return false;
    for (uint32_t i = 0; i < s->name_count; i++) {
        struct kblob_symbol name = kblob_symbol_at(s, i);
        s->places[i] = (struct kblob_place){name.value, i, name.is_address};
        s->instruction_count += !name.is_address;
    }
    if (s->name_count > 1) qsort(s->places, s->name_count, sizeof *s->places, by_value);
    return true;
}

bool kblob_symbols_read(struct kblob_module *m, penta_error *err)
{
    penta_bytes data = kblob_metadata(m);
    if (data.size < 4 || bytes_get32(data.data) != KBLOB_SYMBOLS) return true;
    struct reading r = {.m = m, .at = (uint64_t)(data.data - m->base.file.data)};
    if (!symbols_check(&r, data)) return true;
    if (!make_places(&r, err)) return false;
    m->symbols = r.s;
    return true;
}

struct kblob_symbol kblob_symbol_at(const struct kblob_symbols *s, size_t i)
{
    const uint8_t *row = s->names + i * kblob_name_bytes;
    return (struct kblob_symbol){(const char *)s->text.data + bytes_get32(row + 16),
                                 bytes_get64(row), bytes_get64(row + 8),
                                 bytes_get32(row + 20) == KIND_ADDRESS};
}

uint32_t kblob_line_of(const struct kblob_symbols *s, uint64_t pc)
{
    size_t i;
    ARRAY_SEARCH(i, 0, s->line_count, bytes_get32(s->lines + i * kblob_line_bytes) > pc);
    return i ? bytes_get32(s->lines + (i - 1) * kblob_line_bytes + 4) : 0;
}

const char *kblob_name_of(const struct kblob_symbols *s, uint64_t pc, uint64_t *start)
{
    size_t i;
    ARRAY_SEARCH(i, 0, s->instruction_count, s->places[i].value > pc);
    if (!i) return NULL;
    while (i > 1 && s->places[i - 2].value == s->places[i - 1].value)
        i--; /* This goes back to the first of several names of the same place. */
    *start = s->places[i - 1].value;
    return kblob_symbol_at(s, s->places[i - 1].name).name;
}

const char *kblob_name_of_address(const struct kblob_symbols *s, uint64_t address, uint64_t *start)
{
    size_t i;
    ARRAY_SEARCH(i, s->instruction_count, s->name_count, s->places[i].value > address);
    if (i == s->instruction_count) return NULL;
    struct kblob_symbol name = kblob_symbol_at(s, s->places[i - 1].name);
    *start = name.value;
    return address - name.value < name.size ? name.name : NULL;
}

void kblob_write_place(const struct kblob_symbols *s, uint64_t pc, struct writer *out)
{
    if (!s->file) return;
    uint64_t start = 0;
    const char *name = kblob_name_of(s, pc, &start);
    uint32_t line = kblob_line_of(s, pc);
    if (name) writer_text(out, name);
    if (name && pc > start) writer_print(out, "+%llu", (unsigned long long)(pc - start));
    if (name && line) writer_text(out, ", ");
    const char *slash = strrchr(s->file, '/'), *file = slash ? slash + 1 : s->file;
    if (line) writer_print(out, *file ? "%s:%u" : "%sline %u", file, (unsigned)line);
}

void kblob_describe_symbols(const struct kblob_module *m, const penta_visitor *v)
{
    const struct kblob_symbols *s = &m->symbols;
    const uint8_t *file = m->base.file.data;
    penta_bytes data = kblob_metadata(m);
    penta_node node = {
        .name = "symbols", .offset = (uint64_t)(data.data - file), .size = data.size};
    if (!describe_enter(v, node)) return;
    layout_leaves(v, kblob_ksym_fields, data.data, node.offset, false, NULL);
    if (*s->file) describe_text(v, "source", s->file);
    penta_node list = {.name = "names",
                       .offset = (uint64_t)(s->names - file),
                       .size = s->name_count * kblob_name_bytes,
                       .list = true};
    if (s->name_count && describe_enter(v, list)) {
        for (size_t i = 0; i < s->name_count; i++) {
            penta_node name = {.name = "name",
                               .offset = list.offset + i * kblob_name_bytes,
                               .size = kblob_name_bytes};
            if (!describe_enter(v, name)) continue;
            describe_text(v, "text", kblob_symbol_at(s, i).name);
            layout_leaves(v, kblob_name_fields, s->names + i * kblob_name_bytes, name.offset, false,
                          NULL);
            describe_leave(v, name);
        }
        describe_leave(v, list);
    }
    list = (penta_node){.name = "lines",
                        .offset = (uint64_t)(s->lines - file),
                        .size = s->line_count * kblob_line_bytes,
                        .list = true};
    if (s->line_count && describe_enter(v, list)) {
        for (size_t i = 0; i < s->line_count; i++)
            layout_describe(v, "line", kblob_line_fields, s->lines + i * kblob_line_bytes,
                            list.offset + i * kblob_line_bytes, false, NULL);
        describe_leave(v, list);
    }
    describe_raw(v, "text", s->text, (uint64_t)(s->text.data - file), NULL);
    describe_leave(v, node);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct kblob_symbol *)a)->name, ((const struct kblob_symbol *)b)->name);
}

void kblob_symbols_write(struct kblob_symbol_list *list, struct writer *out)
{
    if (list->name_count > 1) qsort(list->names, list->name_count, sizeof *list->names, by_name);
    size_t text = strlen(list->file) + 1;
    for (size_t i = 0; i < list->name_count; i++) text += strlen(list->names[i].name) + 1;
    struct kblob_ksym header = {.magic = KBLOB_SYMBOLS,
                                .version = 1,
                                .nameCount = (uint32_t)list->name_count,
                                .lineCount = (uint32_t)list->line_count,
                                .textSize = (uint32_t)text};
    kblob_ksym_write(out, &header);
    size_t at = strlen(list->file) + 1;
    for (size_t i = 0; i < list->name_count; i++) {
        const struct kblob_symbol *s = &list->names[i];
        struct kblob_name row = {s->value, s->size, (uint32_t)at,
                                 s->is_address ? KIND_ADDRESS : KIND_INSTRUCTION};
        kblob_name_write(out, &row);
        at += strlen(s->name) + 1;
    }
    for (size_t i = 0; i < list->line_count; i++) kblob_line_write(out, &list->lines[i]);
    writer_bytes(out, list->file, strlen(list->file) + 1);
    for (size_t i = 0; i < list->name_count; i++)
        writer_bytes(out, list->names[i].name, strlen(list->names[i].name) + 1);
}

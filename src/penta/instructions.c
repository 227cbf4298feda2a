/* The instructions of a module as JSON: each with its bytes, mnemonic, operands, and what the program says of its
 * place. It relies on the mnemonic form of the text, which every format has. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "base/options.h"
#include "core/driver.h"
#include "penta/debug.h"
#include "penta/listing.h"
#include "penta/structure.h"

struct rows {
    struct listing *l;
    struct json json;
    const penta_option *options;
    size_t count;
    struct writer text; /* of one instruction */
    size_t rows;        /* number of instructions so far */
    size_t names;       /* the first name that is not before the current pc */
};

/* The size of the text up to the mark, where that stands in no brackets and no string. Brackets count only for `,`. */
static size_t operand_size(penta_bytes text, const char *mark)
{
    size_t depth = 0, length = strlen(mark);
    bool quoted = false, list = !strcmp(mark, ",");
    for (size_t i = 0; i < text.size; i++) {
        char c = (char)text.data[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (list && (c == '(' || c == '[' || c == '{'))
            depth++;
        else if (list && (c == ')' || c == ']' || c == '}'))
            depth -= depth > 0;
        else if (!depth && text.size - i >= length && !memcmp(text.data + i, mark, length))
            return i;
    }
    return text.size;
}

static penta_bytes operand_trimmed(penta_bytes text)
{
    while (text.size && text.data[0] == ' ') text = bytes_slice(text, 1, SIZE_MAX);
    while (text.size && text.data[text.size - 1] == ' ') text.size--;
    return text;
}

/* "ADD r1, r2" is taken apart; a comment of the format ends it. */
static void operands_json(struct rows *r, penta_bytes text)
{
    const char *comment = r->l->module->driver->comment;
    if (comment) text.size = operand_size(text, comment);
    text = operand_trimmed(text);
    const uint8_t *space = text.size ? memchr(text.data, ' ', text.size) : NULL;
    size_t name = space ? (size_t)(space - text.data) : text.size;
    json_string(&r->json, "mnemonic", bytes_slice(text, 0, name));
    json_list(&r->json, "operands");
    text = operand_trimmed(bytes_slice(text, name, SIZE_MAX));
    while (text.size) {
        size_t size = operand_size(text, ",");
        json_string(&r->json, NULL, operand_trimmed(bytes_slice(text, 0, size)));
        text = bytes_slice(text, size < text.size ? size + 1 : size, SIZE_MAX);
    }
    json_end(&r->json);
}

static void place_json(struct rows *r, uint64_t pc)
{
    const penta_module *m = r->l->module;
    const struct listing_parts *f = &r->l->functions;
    uint64_t gas;
    penta_branch branch;
    penta_line line;
    if (penta_branch_at(m, pc, &branch) && branch.has_target)
        json_uint(&r->json, "target", branch.target);
    while (r->names < f->count && f->items[r->names].from < pc) r->names++;
    size_t i = r->names;
    if (i < f->count && f->items[i].from == pc) {
        json_string(&r->json, "label", f->items[i++].name);
        bool more = i < f->count && f->items[i].from == pc;
        if (more) json_list(&r->json, "aliases");
        for (; i < f->count && f->items[i].from == pc; i++)
            json_string(&r->json, NULL, f->items[i].name);
        if (more) json_end(&r->json);
    }
    if (m->driver->gas_at && m->driver->gas_at(m, pc, r->options, r->count, &gas))
        json_uint(&r->json, "gas", gas);
    if (!penta_line_at(m, pc, &line)) return;
    if (line.file.size) json_string(&r->json, "file", line.file);
    json_uint(&r->json, "line", line.line);
}

static void row_json(struct rows *r, uint64_t pc)
{
    const struct driver *d = r->l->module->driver;
    uint64_t offset, size;
    r->text.out.size = 0;
    if (!d->print_at(r->l->module, pc, &r->text)) return;
    json_object(&r->json, NULL);
    json_uint(&r->json, "pc", pc);
    if (penta_offset_of(r->l->module, pc, &offset, &size)) {
        json_uint(&r->json, "offset", offset);
        json_hex(&r->json, "bytes", bytes_slice(r->l->module->file, (size_t)offset, (size_t)size));
    }
    json_string(&r->json, "text", writer_view(&r->text));
    if (d->print_mnemonic_at) {
        r->text.out.size = 0;
        d->print_mnemonic_at(r->l->module, pc, &r->text);
    }
    operands_json(r, writer_view(&r->text));
    place_json(r, pc);
    json_end(&r->json);
}

/* It steps from the start of the code on, since instructions may have any length. */
static void part_rows(struct rows *r, const penta_part *code)
{
    uint64_t next;
    for (uint64_t pc = code->from; pc < code->to && pc <= r->l->to; pc = next) {
        next = listing_next(r->l->module, pc);
        if (!listing_has(r->l, pc, next)) continue;
        row_json(r, pc);
        r->rows++;
    }
}

static const penta_option_info part_options[] = {
    OPTION_ROW("function", TEXT("NAME"), OPTION_PRINT, ""),
    OPTION_ROW("range", TEXT("A..B"), OPTION_PRINT, ""),
    OPTION_ROW("select", TEXT("PATH"), OPTION_PRINT, ""),
    {.key = NULL}};

/* Options are these and those of the format's text, of which some change nothing here. */
static bool rows_options(const penta_module *module, const penta_option *options, size_t count,
                         penta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        bool own = false;
        for (const penta_option_info *o = part_options; o->key; o++)
            own |= !strcmp(o->key, options[i].key);
        if (!options_check(options + i, 1, own ? part_options : module->driver->options,
                           OPTION_PRINT, err))
            return false;
    }
    return true;
}

bool penta_code_json(const penta_module *module, const penta_option *options, size_t count,
                     penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct listing l;
    struct rows r = {.l = &l, .options = options, .count = count};
    if (!rows_options(module, options, count, err)) return false;
    bool ok = listing_open(&l, module, options, count, err);
    r.json.out = &l.out;
    json_list(&r.json, NULL);
    for (size_t i = 0; ok && i < l.code.count; i++) part_rows(&r, &l.code.items[i]);
    json_finish(&r.json);
    ok = ok && listing_complete(&l, r.rows, options, count);
    l.out.failed |= r.text.failed;
    writer_free(&r.text);
    listing_close(&l);
    return writer_give(&l.out, ok, out, err);
}

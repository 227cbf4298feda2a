/* Prints findings. Path, bytes and carets come from the offset by a walk over the describe tree,
 * so no parser has to build them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/terminal/wrap.h"

static void safe_text(struct writer *out, const char *text) { writer_safe(out, bytes_of(text)); }

static bool is_option(const char *key, size_t size)
{
    char name[64] = "";
    if (!size || size >= sizeof name) return false;
    memcpy(name, key, size);
    for (int i = 0; i < OPTS; i++)
        if (!strcmp(tool_options[i].row.key, name)) return true;
    return format_option(name, ~0u) != NULL;
}

void option_names(struct writer *out, const char *text)
{
    static const char lead[] = "ption '"; /* The first letter may be small or, at the start of a
                                           * sentence, large. */
    for (const char *found; (found = strstr(text, lead)) != NULL;) {
        const char *key = found + sizeof lead - 1;
        writer_bytes(out, text, (size_t)(key - text));
        if (is_option(key, strcspn(key, "'"))) writer_text(out, "--");
        text = key;
    }
    writer_text(out, text);
}

/* Prints a message that begins in this column. Its further lines begin in the same column. */
static void print_message(struct writer *out, const char *text, size_t column, size_t width)
{
    struct writer named = {0}, safe = {0};
    option_names(&named, text);
    writer_safe(&safe, writer_view(&named));
    wrap_words(out, writer_view(&safe), column, column, width);
    writer_free(&named);
    writer_free(&safe);
}

static void json_message(struct json *j, const char *key, const char *text)
{
    struct writer named = {0};
    option_names(&named, text);
    json_string(j, key, writer_view(&named));
    writer_free(&named);
}

static void print_source(struct writer *out, const struct palette *p, const char *file,
                         penta_bytes text, const penta_error *err)
{
    uint64_t number, column;
    penta_bytes line;
    penta_source_place(text, err->offset, &number, &column, &line);
    writer_print(out, "  %s-->%s ", p->dim, p->off);
    safe_text(out, file);
    writer_print(out, ":%" PRIu64 ":%" PRIu64 "\n   %s|%s\n %s>%s | ", number, column, p->dim,
                 p->off, p->dim, p->off);
    enum { SHOWN = 160 };
    writer_safe(out, bytes_slice(line, 0, SHOWN));
    writer_print(out, "\n   %s|%s ", p->dim, p->off);
    for (uint64_t i = 1; i < column && i <= SHOWN; i++) {
        uint8_t c = line.data[i - 1];
        if (c < 0x20 || c == 0x7f)
            writer_text(out, "    "); /* Control characters are shown as \xNN. */
        else if ((c & 0xc0) != 0x80)
            writer_char(out, ' ');
    }
    writer_print(out, "%s^%s\n", p->error, p->off);
}

/* Prints a line such as "> | 009c 28 58 01 jump 0x1f4", with carets below the bytes of the leaf. */
static void print_bytes(struct writer *out, const struct palette *p, const penta_module *module,
                        const penta_error *err, const penta_place *where)
{
    enum { ROW = 16 };
    penta_bytes file;
    file.data = penta_module_bytes(module, &file.size);
    uint64_t from = where->node_size && where->node_size <= ROW ? where->node_offset
                    : where->leaf_size <= ROW                   ? where->leaf_offset
                                                                : err->offset;
    uint64_t size = where->node_size && where->node_size <= ROW ? where->node_size
                    : where->leaf_size <= ROW                   ? where->leaf_size
                                                                : ROW;
    penta_bytes row = bytes_slice(file, (size_t)from, (size_t)size);
    writer_print(out, "   %s|%s\n %s>%s | %04" PRIx64 "  ", p->dim, p->off, p->dim, p->off, from);
    for (size_t i = 0; i < row.size; i++) writer_print(out, "%02x ", row.data[i]);
    uint64_t pc;
    penta_buffer insn = {0};
    if (penta_pc_of(module, err->offset, &pc)) {
        writer_text(out, "    ");
        if (penta_print_at(module, pc, &insn)) writer_bytes(out, insn.data, insn.size);
        penta_buffer_free(&insn);
    }
    uint64_t mark = err->offset, end = where->leaf_offset + where->leaf_size;
    if (where->leaf_size > ROW) end = mark + 1;
    writer_print(out, "\n   %s|%s %*s%s", p->dim, p->off, (int)(6 + 3 * (mark - from)), "",
                 p->error);
    for (uint64_t i = mark; i < end; i++) writer_text(out, i + 1 < end ? "^^^" : "^^");
    writer_print(out, "%s\n", p->off);
}

static void print_place(struct writer *out, const struct palette *p, const struct finding *f)
{
    const penta_error *err = f->error;
    writer_print(out, "  %s-->%s ", p->dim, p->off);
    safe_text(out, f->file);
    writer_print(out, ":%s0x%" PRIx64, err->decoded ? "decoded+" : "", err->offset);
    size_t size;
    penta_module_bytes(f->module, &size);
    if (f->where->found) {
        writer_text(out, "  ");
        safe_text(out, f->path);
    } else if (err->offset >= size) {
        writer_text(out, "  (the end of the file)");
    }
    writer_char(out, '\n');
    if (f->where->found && !err->decoded) print_bytes(out, p, f->module, err, f->where);
}

void diagnostic_print(struct writer *out, const struct palette *p, size_t width,
                      const struct finding *f)
{
    const penta_error *err = f->error;
    char code[24];
    penta_code_text(err->code, code);
    const char *colours[] = {p->error, p->warning, p->dim};
    writer_print(out, "%s%s[%s]%s: %s", colours[err->severity], severity_text(err->severity), code,
                 p->off, p->bold);
    print_message(out, err->message, strlen(severity_text(err->severity)) + strlen(code) + 4,
                  width);
    writer_print(out, "%s\n", p->off);
    if (f->source) {
        print_source(out, p, f->file, *f->source, err);
    } else if (f->module) {
        print_place(out, p, f);
    } else if (f->file) {
        writer_print(out, "  %s-->%s ", p->dim, p->off);
        safe_text(out, f->file);
        if (err->offset) writer_print(out, ":0x%" PRIx64, err->offset);
        writer_char(out, '\n');
    }
    if (err->note[0]) {
        enum { NOTE_COLUMN = 11 };
        writer_print(out, "   %s=%s note: ", p->dim, p->off);
        print_message(out, err->note, NOTE_COLUMN, width);
        writer_char(out, '\n');
    }
}

/* Keeps the code of a finding for the line of a batch. */
static void diagnostic_code_keep(struct cli *c, const penta_error *err)
{
    char code[24];
    penta_code_text(err->code, code);
    writer_print(&c->codes, "%s\"%s\"", c->codes.out.size ? "," : "", code);
    c->no_memory |= err->code == BASE_MEMORY;
}

void diagnostic_keep(struct cli *c, const struct finding *f)
{
    if (c->captured) diagnostic_code_keep(c, f->error);
    struct diagnostic *more =
        realloc(c->diagnostics, (c->diagnostic_count + 1) * sizeof *c->diagnostics);
    if (!more) return;
    c->diagnostics = more;
    struct diagnostic *d = &c->diagnostics[c->diagnostic_count++];
    *d = (struct diagnostic){.file = f->file ? strdup(f->file) : NULL, .error = *f->error};
    if (f->source) {
        penta_source_place(*f->source, f->error->offset, &d->line, &d->column, NULL);
    } else if (f->where && f->where->found) {
        d->path = strdup(f->path);
    }
}

void diagnostics_json(struct cli *c)
{
    struct json *j = &c->json;
    json_list(j, "diagnostics");
    for (size_t i = 0; i < c->diagnostic_count; i++) {
        struct diagnostic *d = &c->diagnostics[i];
        char code[24];
        penta_code_text(d->error.code, code);
        json_object(j, NULL);
        json_text(j, "severity", severity_text(d->error.severity));
        json_text(j, "code", code);
        json_text(j, "name", penta_code_name(d->error.code));
        if (d->file) json_text(j, "file", d->file);
        json_uint(j, "offset", d->error.offset);
        if (d->error.decoded) json_bool(j, "decoded", true);
        if (d->path) json_text(j, "path", d->path);
        if (d->line) {
            json_uint(j, "line", d->line);
            json_uint(j, "column", d->column);
        }
        json_message(j, "message", d->error.message);
        if (d->error.note[0]) json_message(j, "note", d->error.note);
        json_end(j);
        free(d->file);
        free(d->path);
    }
    json_end(j);
    c->diagnostic_count = 0;
}

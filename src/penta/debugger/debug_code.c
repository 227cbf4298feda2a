/* Finds code by source line and by name, and names by pc, for debuggers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/suggest.h"
#include "core/debug/debug_info.h"
#include "core/driver.h"

void penta_lines(const penta_module *module, penta_line_report *report, void *user)
{
    const struct debug_info *info = debug_info_of(module);
    if (info->lines) info->lines(module, report, user);
}

bool penta_branch_at(const penta_module *module, uint64_t pc, penta_branch *branch)
{
    const struct debug_info *info = debug_info_of(module);
    *branch = (penta_branch){0};
    return info->branch && info->branch(module, pc, branch);
}

penta_flow penta_flow_at(const penta_module *module, uint64_t pc)
{
    penta_branch b;
    penta_branch_at(module, pc, &b);
    return b.call ? PENTA_FLOW_CALL : b.ret ? PENTA_FLOW_RETURN : PENTA_FLOW_NEXT;
}

struct line_search {
    uint64_t pc;
    bool found;
    penta_line *line;
};

static void search_line(void *user, const penta_line *line)
{
    struct line_search *s = user;
    if (s->found || s->pc < line->from || s->pc >= line->to) return;
    s->found = true;
    *s->line = *line;
}

bool penta_line_at(const penta_module *module, uint64_t pc, penta_line *line)
{
    struct line_search s = {.pc = pc, .line = line};
    penta_lines(module, search_line, &s);
    return s.found;
}

struct code_search {
    penta_bytes name; /* a name, or the end of a file's path */
    uint64_t line, pc;
    bool found, has_file, has_name;
    uint64_t found_line;
    struct suggest near;
    char best[64];
};

/* Tells whether a path is the wanted one, or ends with it after a slash. */
static bool names_file(penta_bytes path, penta_bytes wanted)
{
    if (wanted.size > path.size) return false;
    size_t skip = path.size - wanted.size;
    return bytes_equal(bytes_slice(path, skip, path.size), wanted) &&
           (!skip || path.data[skip - 1] == '/');
}

/* Keeps the first line, from the wanted one on, that has code, and its lowest pc. */
static void match_line(void *user, const penta_line *line)
{
    struct code_search *s = user;
    if (!names_file(line->file, s->name)) return;
    s->has_file = true;
    if (line->line < s->line) return;
    if (s->found &&
        (line->line > s->found_line || (line->line == s->found_line && line->from >= s->pc)))
        return;
    s->found = true;
    s->found_line = line->line;
    s->pc = line->from;
}

static bool find_line(const penta_module *module, const char *text, const char *colon,
                      struct code_search *s, penta_error *err)
{
    s->name = (penta_bytes){(const uint8_t *)text, (size_t)(colon - text)};
    penta_lines(module, match_line, s);
    if (s->found) return true;
    if (s->has_file)
        return error_at(err, BASE_NAME_UNKNOWN, 0,
                        "no code is at or after line %" PRIu64 " of %.*s", s->line,
                        BYTES_ARG(s->name, 60));
    error_at(err, BASE_NAME_UNKNOWN, 0, "the program has no lines of '%.*s'",
             BYTES_ARG(s->name, 60));
    return error_note(err,
                      "line tables come from the assembler or compiler that is told to write them");
}

static void match_name(void *user, const penta_part *part)
{
    struct code_search *s = user;
    if (part->kind == PENTA_PART_CODE || part->kind == PENTA_PART_IMPORT) return;
    s->has_name = true;
    if (!s->found && bytes_equal(part->name, s->name)) {
        s->found = true;
        s->pc = part->from;
    }
    char copy[sizeof s->best] = "";
    bytes_copy(copy, bytes_slice(part->name, 0, sizeof copy - 1));
    suggest_offer(&s->near, copy);
    if (s->near.best == copy) { /* The text of a candidate ends with this call, so it is copied. */
        memcpy(s->best, copy, sizeof copy);
        s->near.best = s->best;
    }
}

static bool find_name(const penta_module *module, const char *text, struct code_search *s,
                      penta_error *err)
{
    const char *plus = strrchr(text, '+');
    uint64_t more = 0;
    bool sum = plus && number_parse(plus + 1, &more);
    s->name = bytes_slice(bytes_of(text), 0, sum ? (size_t)(plus - text) : SIZE_MAX);
    s->near.word = s->name;
    penta_parts(module, match_name, s);
    s->pc += more;
    if (s->found) return true;
    if (!s->has_name)
        return error_at(err, BASE_NAME_UNKNOWN, 0, "this program names no functions or labels");
    error_at(err, BASE_NAME_UNKNOWN, 0, "no function or label is called '%.*s'",
             BYTES_ARG(s->name, 60));
    return !s->near.best ? false : error_note(err, "did you mean '%.60s'?", s->near.best);
}

bool penta_find_code(const penta_module *module, const char *text, uint64_t *pc, penta_error *err)
{
    *err = (penta_error){0};
    struct code_search s = {0};
    const char *colon = strrchr(text, ':');
    if (number_parse(text, pc)) return true;
    bool found = colon && colon > text && number_parse(colon + 1, &s.line)
                     ? find_line(module, text, colon, &s, err)
                     : find_name(module, text, &s, err);
    if (found) *pc = s.pc;
    return found;
}

struct name_search {
    uint64_t pc, from;
    struct writer name;
    bool found;
};

/* Keeps the nearest function before the pc. Of two functions at the same pc it keeps the last one, as listings do. */
static void match_function(void *user, const penta_part *part)
{
    struct name_search *s = user;
    if (part->kind == PENTA_PART_CODE || part->kind == PENTA_PART_IMPORT) return;
    if (part->from > s->pc || (s->found && part->from < s->from)) return;
    if (part->to > part->from && s->pc >= part->to) return;
    if (s->found && part->from == s->from && part->kind == PENTA_PART_EXPORT) return;
    s->found = true;
    s->from = part->from;
    s->name.out.size = 0;
    writer_bytes(&s->name, part->name.data, part->name.size);
}

bool penta_name_at(const penta_module *module, uint64_t pc, penta_buffer *out)
{
    struct name_search s = {.pc = pc};
    penta_error err = {0};
    penta_parts(module, match_function, &s);
    if (s.found && pc > s.from) writer_print(&s.name, "+%" PRIu64, pc - s.from);
    return writer_give(&s.name, s.found, out, &err);
}

/* Preprocesses the text as C does (COIL 10.3): lines that start with '!' define names and
 * macros, include files, and select parts of the text. A text without such lines is not changed.
 * Otherwise this makes a new text, with the origin of each of its lines, so that errors can name
 * the place in the source. */
#include "base/file/file.h"
#include "base/array.h"
#include "base/number.h"
#include "coil/text/assemble.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Preprocessing stops after FAILURES_MAX errors. WORK_MAX limits the number of lines of macros
 * and included files and the number of replaced names, because a few lines could otherwise take
 * hours. */
enum { NEST_MAX = 64, INCLUDES_MAX = 16, OUTPUT_MAX = 64 << 20, MACRO_DEPTH = 32 };
enum { WORK_MAX = 1 << 22, FAILURES_MAX = 1000, INCLUDE_WORK = 1 << 10, PATH_SIZE = 4096 };

struct definition {
    penta_bytes name, value;
    /* busy: the name is being replaced; as in C, it is not replaced again inside its own value. */
    bool live, busy;
};
struct macro {
    penta_bytes name, body;
    penta_bytes parameters[16];
    size_t parameter_count;
};
struct condition {
    bool active, taken, otherwise;
    uint64_t at;
};
struct preprocessor {
    struct coil_asm *a;
    struct writer out;
    struct labels names; /* The value of a name is the index of its definition. */
    struct definition *definitions;
    size_t count, capacity;
    struct macro *macros;
    size_t macro_count, macro_capacity;
    struct asm_origin *origins;
    size_t origin_count, origin_capacity;
    struct condition conditions[NEST_MAX];
    unsigned depth, includes, expansions;
    uint64_t work;
    bool exhausted;
    unsigned failures;
    penta_bytes file; /* file of the current line */
    uint32_t line;
};
struct input {
    penta_bytes text, file; /* file: the path of the text; empty for the source itself */
    /* This is the offset of the !include in the source, where errors of the included file are
     * shown. */
    uint64_t base;
    uint32_t first_line;
    const struct input *parent; /* the text that includes this text, or NULL */
};

static bool is_name(uint8_t c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && ((c >= '0' && c <= '9') || c == '.'));
}

static penta_bytes preprocess_trim(penta_bytes t)
{
    while (t.size && (t.data[0] == ' ' || t.data[0] == '\t')) t.data++, t.size--;
    while (t.size &&
           (t.data[t.size - 1] == ' ' || t.data[t.size - 1] == '\t' || t.data[t.size - 1] == '\r'))
        t.size--;
    return t;
}

static penta_bytes take_word(penta_bytes *rest)
{
    *rest = preprocess_trim(*rest);
    size_t n = 0;
    while (n < rest->size && is_name(rest->data[n], !n)) n++;
    penta_bytes word = {rest->data, n};
    *rest = preprocess_trim(bytes_slice(*rest, n, rest->size));
    return word;
}

static bool preprocess_same(penta_bytes a, const char *text)
{
    return a.size == strlen(text) && !memcmp(a.data, text, a.size);
}

static bool fail_with(struct preprocessor *p, uint64_t at, const char *note, const char *what,
                      penta_bytes detail)
{
    /* The number of errors is limited, because macros may repeat the same error many times. */
    if (++p->failures == FAILURES_MAX) p->exhausted = true;
    char where[80] = "";
    /* The offset is that of the !include in the source, so the message names the place in the
     * included file. */
    if (p->file.size)
        snprintf(where, sizeof where, "%.*s:%u: ", BYTES_ARG(p->file, 60), (unsigned)p->line);
    findings_add(p->a->findings, COIL_PREPROCESS, at, note, "%s%s%.*s", where, what,
                 (int)(detail.size > 60 ? 60 : detail.size),
                 detail.size ? (const char *)detail.data : "");
    return false;
}

static bool preprocess_fail(struct preprocessor *p, uint64_t at, const char *what,
                            penta_bytes detail)
{
    return fail_with(p, at, NULL, what, detail);
}

static struct definition *preprocess_find(const struct preprocessor *p, penta_bytes name)
{
    const struct label *l = labels_find(&p->names, name);
    return l && l->defined && p->definitions[l->value].live ? &p->definitions[l->value] : NULL;
}

static bool preprocess_define(struct preprocessor *p, penta_bytes name, penta_bytes value)
{
    penta_error err = {0};
    int64_t i = labels_intern(&p->names, name, &err);
    if (i < 0) return false;
    if (!p->names.items[i].defined) {
        if (!ARRAY_RESERVE(p->definitions, p->capacity, p->count + 1)) return false;
        p->names.items[i].defined = true;
        p->names.items[i].value = p->count++;
    }
    p->definitions[p->names.items[i].value] = (struct definition){name, value, true, false};
    return true;
}

/* Writes a line with the values of all defined names in place of the names. Names in these
 * values are replaced too, up to a limit. Strings and comments do not change. */
static void preprocess_substitute(struct preprocessor *p, struct writer *out, penta_bytes line,
                                  unsigned level)
{
    for (size_t i = 0; i < line.size;) {
        uint8_t c = line.data[i];
        size_t from = i;
        if (c == ';') {
            writer_bytes(out, line.data + i, line.size - i);
            return;
        }
        if (c == '"' || c == '\'') {
            for (i++; i < line.size && line.data[i] != c; i++) i += line.data[i] == '\\';
            if (i < line.size)
                i++;
            else
                i = line.size;
        } else if (is_name(c, true) &&
                   !(from && (line.data[from - 1] == '%' || line.data[from - 1] == '@' ||
                              line.data[from - 1] == '.'))) {
            while (i < line.size && is_name(line.data[i], false)) i++;
            struct definition *d = preprocess_find(p, (penta_bytes){line.data + from, i - from});
            if (d && !d->busy && level < MACRO_DEPTH && out->out.size < OUTPUT_MAX &&
                p->work < WORK_MAX) {
                p->work += 1 + d->value.size / 16;
                d->busy = true;
                preprocess_substitute(p, out, d->value, level + 1);
                d->busy = false;
                continue;
            }
        } else {
            i++;
            while (i < line.size && is_name(c, false) && is_name(line.data[i], false)) i++;
        }
        writer_bytes(out, line.data + from, i - from);
    }
}

static bool expr_value(void *user, penta_bytes name, uint64_t *value)
{
    struct preprocessor *p = user;
    const struct definition *d = preprocess_find(p, name);
    *value = 0; /* As in C, an unknown name has the value 0. */
    return !d || number_parse_bytes(preprocess_trim(d->value), value) || !d->value.size;
}

/* Evaluates the condition of !if: an integer expression, or two that are compared by == != < <=
 * > >=. */
static bool preprocess_evaluate(struct preprocessor *p, penta_bytes text, uint64_t at, bool *truth)
{
    penta_error err = {0};
    struct source s = {.text = text, .comment = ";", .err = &err};
    uint64_t left = 0, right = 0;
    *truth = false;
    if (!expr_parse(&s, expr_value, p, &left))
        return preprocess_fail(p, at, err.message, (penta_bytes){0});
    char first = 0, second = 0;
    for (const char *c = "=!<>"; *c && !first; c++)
        if (source_accept(&s, *c)) first = *c;
    if (first && source_accept(&s, '=')) second = '=';
    if (first && !expr_parse(&s, expr_value, p, &right))
        return preprocess_fail(p, at, err.message, (penta_bytes){0});
    int64_t a = (int64_t)left, b = (int64_t)right;
    switch (first) {
    case 0: *truth = left != 0; break;
    case '=': *truth = a == b; break;
    case '!': *truth = a != b; break;
    case '<': *truth = second ? a <= b : a < b; break;
    default: *truth = second ? a >= b : a > b;
    }
    return true;
}

static bool preprocess_active(const struct preprocessor *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        if (!p->conditions[i].active) return false;
    return true;
}

static bool open_condition(struct preprocessor *p, bool truth, uint64_t at)
{
    if (p->depth == NEST_MAX)
        return preprocess_fail(p, at, "more than 64 levels of !if", (penta_bytes){0});
    p->conditions[p->depth++] = (struct condition){truth, truth, false, at};
    return true;
}

static bool preprocess_process(struct preprocessor *p, const struct input *in);

/* Tells whether a file is being included already, perhaps under another name. */
static bool is_open(const struct preprocessor *p, const char *path, const struct input *in)
{
    const char *source = option_text(p->a->options, p->a->option_count, "source-name");
    struct stat a, b;
    if (stat(path, &a)) return false;
    for (; in; in = in->parent) {
        char other[PATH_SIZE];
        snprintf(other, sizeof other, "%.*s", BYTES_ARG(in->file, INT_MAX));
        const char *name = in->file.size ? other : source;
        if (name && !stat(name, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino) return true;
    }
    return false;
}

static bool preprocess_exists(char *path, const char *folder, size_t folder_size, penta_bytes name)
{
    struct stat st;
    int n = snprintf(path, PATH_SIZE, "%.*s%s%.*s", (int)folder_size, folder,
                     folder_size && folder[folder_size - 1] != '/' ? "/" : "",
                     BYTES_ARG(name, INT_MAX));
    return n > 0 && n < PATH_SIZE && !stat(path, &st) && !S_ISDIR(st.st_mode);
}

/* Finds an included file as C does: in the folder of the file that includes it, then in the
 * folders of the option 'include'. */
static bool find_include(const struct preprocessor *p, penta_bytes name, const struct input *in,
                         char *path)
{
    const char *source = option_text(p->a->options, p->a->option_count, "source-name");
    penta_bytes from = in->file.size ? in->file : source ? bytes_of(source) : (penta_bytes){0};
    if (name.size && name.data[0] == '/') return preprocess_exists(path, "", 0, name);
    size_t folder = from.size;
    while (folder && from.data[folder - 1] != '/') folder--;
    if (from.size && preprocess_exists(path, (const char *)from.data, folder, name)) return true;
    for (size_t i = 0; i < p->a->option_count; i++) {
        const penta_option *o = &p->a->options[i];
        if (!strcmp(o->key, "include") && preprocess_exists(path, o->value, strlen(o->value), name))
            return true;
    }
    return false;
}

static bool preprocess_include(struct preprocessor *p, penta_bytes rest, uint64_t at,
                               const struct input *in)
{
    char path[PATH_SIZE];
    penta_error err = {0};
    penta_buffer bytes = {0};
    if (rest.size < 3 || rest.data[0] != '"' || rest.data[rest.size - 1] != '"')
        return preprocess_fail(p, at, "!include needs a name in quotes", (penta_bytes){0});
    penta_bytes name = bytes_slice(rest, 1, rest.size - 2);
    if (!find_include(p, name, in, path))
        return fail_with(p, at,
                         "looked beside the including file, and in the folders of option 'include'",
                         "there is no file ", name);
    if (p->includes == INCLUDES_MAX)
        return is_open(p, path, in)
                   ? fail_with(p, at, "guard it: !ifndef NAME, !define NAME, ... !endif",
                               "a file that includes itself, 16 levels deep: ", name)
                   : preprocess_fail(p, at, "more than 16 levels of !include at ", name);
    if (!file_read_regular(path, 64 << 20, &bytes, &err))
        return preprocess_fail(p, at, err.message, (penta_bytes){0});
    penta_bytes text = {arena_copy(&p->a->arena, (penta_bytes){bytes.data, bytes.size}, &err),
                        bytes.size},
                kept = {arena_copy(&p->a->arena, bytes_of(path), &err), strlen(path)};
    penta_buffer_free(&bytes);
    if (!text.data || !kept.data) return preprocess_fail(p, at, err.message, (penta_bytes){0});
    p->includes++;
    p->work += INCLUDE_WORK + text.size / 16;
    struct input inner = {text, kept, at, 1, in};
    bool ok = preprocess_process(p, &inner);
    p->includes--;
    return ok;
}

/* Executes a line that starts with '!'. Returns false if it reported an error. */
static bool preprocess_control(struct preprocessor *p, penta_bytes line, uint64_t at,
                               const struct input *in)
{
    penta_bytes rest = bytes_slice(line, 1, line.size), verb = take_word(&rest);
    for (size_t i = 0; i < rest.size; i++)
        if (rest.data[i] == ';') rest = preprocess_trim(bytes_slice(rest, 0, i));
    bool on = preprocess_active(p), truth = false;
    if (preprocess_same(verb, "ifdef") || preprocess_same(verb, "ifndef")) {
        penta_bytes name = take_word(&rest);
        return open_condition(
            p, (preprocess_find(p, name) != NULL) == preprocess_same(verb, "ifdef"), at);
    }
    if (preprocess_same(verb, "if"))
        return (!on || preprocess_evaluate(p, rest, at, &truth)) && open_condition(p, truth, at);
    if (preprocess_same(verb, "else") || preprocess_same(verb, "elif") ||
        preprocess_same(verb, "endif")) {
        if (!p->depth) return preprocess_fail(p, at, "without !if: !", verb);
        struct condition *c = &p->conditions[p->depth - 1];
        if (preprocess_same(verb, "endif")) {
            p->depth--;
            return true;
        }
        if (c->otherwise) return preprocess_fail(p, at, "after !else: !", verb);
        c->active = false;
        if (preprocess_same(verb, "elif") && !c->taken && !preprocess_evaluate(p, rest, at, &truth))
            return false;
        if (preprocess_same(verb, "else")) c->otherwise = truth = true;
        c->active = !c->taken && truth;
        c->taken |= c->active;
        return true;
    }
    if (!on) return true;
    if (preprocess_same(verb, "define")) {
        penta_bytes name = take_word(&rest);
        return name.size ? preprocess_define(p, name, rest)
                         : preprocess_fail(p, at, "!define needs a name", (penta_bytes){0});
    }
    if (preprocess_same(verb, "undef")) {
        struct definition *d = preprocess_find(p, take_word(&rest));
        if (d) d->live = false;
        return true;
    }
    if (preprocess_same(verb, "include")) return preprocess_include(p, rest, at, in);
    if (preprocess_same(verb, "error")) return preprocess_fail(p, at, "!error ", rest);
    return preprocess_fail(p, at, "unknown preprocessor line !", verb);
}

static struct macro *find_macro(struct preprocessor *p, penta_bytes name)
{
    for (size_t i = p->macro_count; i-- > 0;)
        if (p->macros[i].name.size == name.size &&
            !memcmp(p->macros[i].name.data, name.data, name.size))
            return &p->macros[i];
    return NULL;
}

static bool start_macro(struct preprocessor *p, penta_bytes rest, uint64_t at)
{
    if (!ARRAY_RESERVE(p->macros, p->macro_capacity, p->macro_count + 1)) return false;
    struct macro *m = &p->macros[p->macro_count];
    *m = (struct macro){.name = take_word(&rest)};
    if (!m->name.size) return preprocess_fail(p, at, "!macro needs a name", (penta_bytes){0});
    while (rest.size && m->parameter_count < 16) {
        penta_bytes name = take_word(&rest);
        if (!name.size) break;
        m->parameters[m->parameter_count++] = name;
        if (rest.size && rest.data[0] == ',') rest = bytes_slice(rest, 1, rest.size);
    }
    p->macro_count++;
    return true;
}

/* Expands a macro. While its body is processed, its arguments are definitions. */
static bool expand_macro(struct preprocessor *p, const struct macro *use, penta_bytes arguments,
                         uint64_t at, const struct input *in, uint32_t line)
{
    struct macro m = *use;
    if (p->expansions == MACRO_DEPTH)
        return preprocess_fail(p, at, "macros within macros: ", m.name);
    struct definition before[16];
    for (size_t i = 0; i < m.parameter_count; i++) {
        size_t n = 0;
        unsigned level = 0;
        for (; n < arguments.size && (level || arguments.data[n] != ','); n++) {
            uint8_t c = arguments.data[n];
            level += c == '[' || c == '{' || c == '(';
            level -= level && (c == ']' || c == '}' || c == ')');
        }
        struct definition *old = preprocess_find(p, m.parameters[i]);
        before[i] = old ? *old : (struct definition){.live = false};
        if (!preprocess_define(p, m.parameters[i], preprocess_trim(bytes_slice(arguments, 0, n))))
            return false;
        arguments = bytes_slice(arguments, n + 1 <= arguments.size ? n + 1 : n, arguments.size);
    }
    p->expansions++;
    struct input body = {m.body, in->file, at, line, in->parent};
    bool ok = preprocess_process(p, &body);
    p->expansions--;
    for (size_t i = 0; i < m.parameter_count; i++) {
        struct definition *now = preprocess_find(p, m.parameters[i]);
        if (before[i].live)
            preprocess_define(p, m.parameters[i], before[i].value);
        else if (now)
            now->live = false;
    }
    return ok;
}

static bool put_line(struct preprocessor *p, penta_bytes line, uint64_t original,
                     const struct input *in, uint32_t number)
{
    if (!ARRAY_RESERVE(p->origins, p->origin_capacity, p->origin_count + 1)) return false;
    p->origins[p->origin_count++] =
        (struct asm_origin){p->out.out.size, original, number, in->file};
    preprocess_substitute(p, &p->out, line, 0);
    writer_char(&p->out, '\n');
    return p->out.out.size <= OUTPUT_MAX ||
           preprocess_fail(p, original, "the expanded text is too long", (penta_bytes){0});
}

static bool preprocess_process(struct preprocessor *p, const struct input *in)
{
    bool ok = true, recording = false, nested = in->file.size || p->expansions;
    unsigned depth = p->depth;
    size_t body_from = 0;
    uint32_t number = in->first_line;
    for (size_t pos = 0; pos < in->text.size; number++) {
        size_t end = pos;
        while (end < in->text.size && in->text.data[end] != '\n') end++;
        penta_bytes line = bytes_slice(in->text, pos, end - pos), bare = preprocess_trim(line);
        p->file = in->file;
        p->line = number;
        uint64_t at = nested ? in->base : pos;
        size_t next = end < in->text.size ? end + 1 : end;
        penta_bytes rest = bare, first = {NULL, 0};
        bool bang = bare.size && bare.data[0] == '!';
        if (bang) rest = bytes_slice(bare, 1, bare.size);
        first = take_word(&rest);
        if (recording) {
            if (bang && preprocess_same(first, "endmacro")) {
                p->macros[p->macro_count - 1].body =
                    bytes_slice(in->text, body_from, pos - body_from);
                recording = false;
            }
        } else if (bang && preprocess_active(p) && preprocess_same(first, "macro")) {
            recording = start_macro(p, rest, at);
            ok &= recording;
            body_from = next;
        } else if (bang) {
            ok &= preprocess_control(p, bare, at, in);
        } else if (preprocess_active(p)) {
            struct macro *m = find_macro(p, first);
            if (m)
                ok &= expand_macro(p, m, rest, at, in, number);
            else
                ok &= put_line(p, line, at, in, number);
        }
        pos = next;
        if (p->out.out.size > OUTPUT_MAX) return false;
        if (p->exhausted) return false;
        p->work += nested; /* Lines of the source itself are not counted as work. */
        if (p->work >= WORK_MAX) {
            p->exhausted = true;
            return preprocess_fail(p, at, "too many lines and names to expand", (penta_bytes){0});
        }
    }
    if (recording)
        ok = preprocess_fail(p, nested ? in->base : body_from, "!macro without !endmacro",
                             (penta_bytes){0});
    if (p->depth > depth) {
        ok = preprocess_fail(p, p->conditions[p->depth - 1].at, "!if without !endif",
                             (penta_bytes){0});
        p->depth = depth;
    }
    return ok;
}

static bool has_controls(penta_bytes text)
{
    bool start = true;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (start && c == '!') return true;
        start = c == '\n' || (start && (c == ' ' || c == '\t'));
    }
    return false;
}

bool asm_preprocess(struct coil_asm *a, penta_bytes text, penta_bytes *expanded)
{
    bool given = option_text(a->options, a->option_count, "define") != NULL;
    if (!given && !has_controls(text)) return true;
    struct preprocessor p = {.a = a};
    for (size_t i = 0; i < a->option_count; i++) {
        if (strcmp(a->options[i].key, "define")) continue;
        penta_bytes whole = bytes_of(a->options[i].value), name = take_word(&whole);
        preprocess_define(&p, name,
                          whole.size && whole.data[0] == '=' ? bytes_slice(whole, 1, whole.size)
                                                             : whole);
    }
    struct input in = {text, {NULL, 0}, 0, 1, NULL};
    bool ok = preprocess_process(&p, &in);
    penta_error err = {0};
    const uint8_t *copy = arena_copy(&a->arena, writer_view(&p.out), &err);
    *expanded = (penta_bytes){copy, copy ? p.out.out.size : 0};
    a->origins = p.origins;
    a->origin_count = p.origin_count;
    if (!copy) findings_pass(a->findings, &err);
    writer_free(&p.out);
    labels_free(&p.names);
    free(p.definitions);
    free(p.macros);
    return ok && copy;
}

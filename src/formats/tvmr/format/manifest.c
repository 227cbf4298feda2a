/* Reads extension manifests (TVMR 8.14): names for the instructions and types of an extension that penta does not
 * have. A machine asks its host to carry out these instructions.
 *
 *     extension vision 0x0101 1.0.0
 *     instruction blur ds-- "the mean of three neighbours"
 *     instruction edge RegRegReg
 *     type pixel 0x0300 3 */
#include "base/array.h"
#include "base/codec/checksum.h"
#include "text/script.h"
#include "tvmr/tvmr.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_MAX_SIZE = 20, MNEMONIC_MAX = 40, MEANING_MAX = 200 };

struct reading {
    struct script in;
    struct tvmr_extension *out;
    struct tvmr_op *ops;
    size_t capacity;
    struct tvmr_type *types;
    size_t type_count, type_capacity;
};

static const char *statement_name(size_t i)
{
    static const char *const names[] = {"extension", "instruction", "type"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static const char *pattern_name(size_t i)
{
    return i <= TVMR_PATTERN_CUSTOM ? tvmr_patterns[i].name : NULL;
}

/* The operand bytes of each pattern, in the letters of isa.def. A manifest writes those of
 * custom patterns as letters. */
static const char *const pattern_bytes[] = {
    [TVMR_PATTERN_NONE] = "----",
    [TVMR_PATTERN_REG] = "m---",
    [TVMR_PATTERN_REG_REG] = "ds--",
    [TVMR_PATTERN_REG_REG_REG] = "dss-",
    [TVMR_PATTERN_REG_REG_REG_FLAGS] = "dssi",
    [TVMR_PATTERN_REG_IMM8] = "mi--",
    [TVMR_PATTERN_REG_REG_IMM16] = "dsww",
    [TVMR_PATTERN_IMM8] = "i---",
};

static bool manifest_wrong(struct reading *r, penta_bytes at, const char *what)
{
    return error_at(&r->in.why, BASE_SYNTAX, (uint64_t)(at.data - r->in.source.text.data), "%s",
                    what);
}

/* Reads a name that starts with a letter and consists of letters, digits and _. */
static char *read_name(struct reading *r, size_t most, penta_bytes *word)
{
    struct token t = source_peek(&r->in.source);
    *word = script_word(&r->in);
    if (!word->size) {
        source_unexpected(&r->in.source, t, "a name");
        return NULL;
    }
    bool good = word->size <= most && isalpha(word->data[0]);
    for (size_t i = 0; i < word->size; i++) good &= isalnum(word->data[i]) || word->data[i] == '_';
    if (!good) {
        manifest_wrong(r, *word,
                       "names are letters, digits and _, up to 20 for an extension and 40 else");
        return NULL;
    }
    char *copy = strndup((const char *)word->data, word->size);
    if (!copy) error_at(&r->in.why, BASE_MEMORY, 0, "no memory for a manifest");
    return copy;
}

static bool read_version(struct reading *r)
{
    uint16_t *parts[] = {&r->out->major, &r->out->minor, &r->out->patch};
    struct token t = source_peek(&r->in.source);
    if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) {
        r->out->major = 1;
        return true;
    }
    penta_bytes word = script_word(&r->in);
    size_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        uint32_t n = 0;
        size_t start = at;
        while (at < word.size && isdigit(word.data[at]) && n <= UINT16_MAX)
            n = n * 10 + word.data[at++] - '0';
        if (at == start || n > UINT16_MAX || (i < 2 && (at == word.size || word.data[at] != '.')))
            return manifest_wrong(r, word, "a version is MAJOR.MINOR.PATCH");
        *parts[i] = (uint16_t)n;
        at += i < 2;
    }
    return at == word.size || manifest_wrong(r, word, "a version is MAJOR.MINOR.PATCH");
}

static bool read_extension(struct reading *r, penta_bytes statement)
{
    penta_bytes word;
    uint64_t id;
    if (r->out->name) return manifest_wrong(r, statement, "one extension in a manifest");
    r->out->name = r->out->title = read_name(r, NAME_MAX_SIZE, &word);
    if (!r->out->name || !script_number(&r->in, 0xfffe, &id)) return false;
    if (id < TVMR_ID_USER)
        return manifest_wrong(r, word, "extension ids of users are 0x0100 to 0xfffe");
    r->out->id = (uint16_t)id;
    return read_version(r);
}

/* Reads the kinds of operands, as letters such as "ds--" or as the name of a pattern. */
static bool read_pattern(struct reading *r, struct tvmr_op *op)
{
    struct token t = source_peek(&r->in.source);
    struct source *s = &r->in.source;
    s->pos = (size_t)t.offset; /* Goes back to the start of the token, because the letters and
                                * '-' are several tokens. */
    size_t from = s->pos;
    while (s->pos < s->text.size && (isalnum(s->text.data[s->pos]) || s->text.data[s->pos] == '-'))
        s->pos++;
    struct suggest near = {.word = bytes_slice(s->text, from, s->pos - from)};
    for (size_t i = 0; pattern_name(i) && i != TVMR_PATTERN_CUSTOM; i++) {
        suggest_offer(&near, pattern_name(i));
        if (!bytes_equal(near.word, bytes_of(pattern_name(i)))) continue;
        op->pattern = (enum tvmr_pattern)i;
        op->bytes = pattern_bytes[i];
        return true;
    }
    char letters[5] = "";
    if (near.word.size == 4) memcpy(letters, near.word.data, 4);
    bool wide = letters[2] == 'w' && letters[3] == 'w';
    if (near.word.size != 4 || strspn(letters, "dsmiw-") != 4 || (!wide && strchr(letters, 'w')) ||
        (wide && strspn(letters, "dsmi-") < 2))
        return script_unknown(&r->in, "pattern of operands", &near);
    op->pattern = TVMR_PATTERN_CUSTOM;
    op->bytes = strdup(letters);
    return op->bytes || error_at(&r->in.why, BASE_MEMORY, 0, "no memory for a manifest");
}

/* Returns the fields of the operation that the host is asked for, such as "target=rA source=rB
 * number=C". */
static char *fields_of(const char *bytes)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {{'d', "target"}, {'s', "source"}, {'m', "register"}, {'i', "number"}};
    char text[120] = "";
    size_t n = 0;
    unsigned used[4] = {0};
    for (unsigned k = 0; k < 4; k++) {
        if (bytes[k] == 'w') {
            n += (size_t)snprintf(text + n, sizeof text - n, "%sword=CD", n ? " " : "");
            break;
        }
        for (unsigned i = 0; i < 4; i++) {
            if (names[i].letter != bytes[k]) continue;
            char number[4] = "";
            if (++used[i] > 1) snprintf(number, sizeof number, "_%c", (char)('0' + used[i] % 10));
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s=%s%c", n ? " " : "",
                                  names[i].name, number, bytes[k] == 'i' ? "" : "r",
                                  (char)('A' + k));
        }
    }
    return strdup(text);
}

static bool read_instruction(struct reading *r, penta_bytes statement)
{
    penta_bytes word;
    if (!r->out->name) return manifest_wrong(r, statement, "a manifest starts with its extension");
    if (r->out->count > UINT16_MAX || !ARRAY_RESERVE(r->ops, r->capacity, r->out->count + 1))
        return error_at(&r->in.why, BASE_LIMIT, 0, "too many instructions");
    struct tvmr_op *op = &r->ops[r->out->count];
    *op = (struct tvmr_op){.ext = r->out->id, .opcode = (uint16_t)r->out->count};
    r->out->count++;
    op->name = read_name(r, MNEMONIC_MAX, &word);
    if (!op->name) return false;
    for (char *p = (char *)(uintptr_t)op->name; *p; p++) *p = (char)toupper((unsigned char)*p);
    for (size_t i = 0; i + 1 < r->out->count; i++)
        if (!strcmp(r->ops[i].name, op->name))
            return error_at(&r->in.why, BASE_NAME_TWICE,
                            (uint64_t)(word.data - r->in.source.text.data),
                            "instruction '%.40s' is there already", op->name);
    if (!read_pattern(r, op)) return false;
    char meaning[MEANING_MAX + 1] = "an operation of the host",
                               domain[NAME_MAX_SIZE + MNEMONIC_MAX + 2];
    if (source_peek(&r->in.source).kind == TOKEN_STRING)
        snprintf(meaning, sizeof meaning, "%.*s", BYTES_ARG(script_word(&r->in), MEANING_MAX));
    size_t n = (size_t)snprintf(domain, sizeof domain, "%s.", r->out->name);
    for (const char *p = op->name; *p; p++) domain[n++] = (char)tolower((unsigned char)*p);
    domain[n] = 0;
    op->meaning = strdup(meaning);
    op->domain = strdup(domain);
    op->fields = fields_of(op->bytes);
    return (op->meaning && op->domain && op->fields) ||
           error_at(&r->in.why, BASE_MEMORY, 0, "no memory for a manifest");
}

static bool read_type(struct reading *r)
{
    penta_bytes word;
    uint64_t id, bytes;
    if (!ARRAY_RESERVE(r->types, r->type_capacity, r->type_count + 2))
        return error_at(&r->in.why, BASE_MEMORY, 0, "no memory for a manifest");
    struct tvmr_type *t = &r->types[r->type_count];
    *t = (struct tvmr_type){.aliases = ""};
    r->type_count++;
    t->name = read_name(r, MNEMONIC_MAX, &word);
    if (!t->name || !script_number(&r->in, UINT16_MAX, &id) || !script_number(&r->in, 255, &bytes))
        return false;
    if (id < TVMR_TYPE_OF_USERS)
        return manifest_wrong(r, word, "type ids of users are 0x0103 to 0xffff");
    t->id = (uint16_t)id;
    t->bytes = (uint8_t)bytes;
    return true;
}

static bool read_statement(struct reading *r)
{
    size_t which;
    struct token t = source_peek(&r->in.source);
    penta_bytes statement = bytes_slice(r->in.source.text, (size_t)t.offset, t.size);
    if (!script_choice(&r->in, "statement", statement_name, &which)) return false;
    bool ok = which == 0   ? read_extension(r, statement)
              : which == 1 ? read_instruction(r, statement)
                           : read_type(r);
    return ok && source_end_of_line(&r->in.source);
}

static void manifest_forget(struct reading *r)
{
    for (size_t i = 0; i < r->out->count; i++) {
        if (r->ops[i].pattern == TVMR_PATTERN_CUSTOM) free((char *)(uintptr_t)r->ops[i].bytes);
        free((char *)(uintptr_t)r->ops[i].name);
        free((char *)(uintptr_t)r->ops[i].meaning);
        free((char *)(uintptr_t)r->ops[i].domain);
        free((char *)(uintptr_t)r->ops[i].fields);
    }
    for (size_t i = 0; i < r->type_count; i++) free((char *)(uintptr_t)r->types[i].name);
    free(r->ops);
    free(r->types);
    free((char *)(uintptr_t)r->out->name);
    free(r->out);
}

static bool names_free(struct reading *r, penta_error *err)
{
    for (size_t i = 0; i < r->type_count; i++) {
        const struct tvmr_type *t = &r->types[i];
        bool taken = tvmr_type_find(t->id) || tvmr_type_named(bytes_of(t->name));
        for (size_t k = 0; k < i; k++)
            taken |= r->types[k].id == t->id || !strcmp(r->types[k].name, t->name);
        if (taken)
            return error_at(err, BASE_NAME_TWICE, 0, "type '%.40s' 0x%04x is there already",
                            t->name, t->id);
    }
    return true;
}

bool tvmr_manifest_load(const char *path, penta_error *err)
{
    struct reading r = {.out = calloc(1, sizeof *r.out)};
    if (!r.out) return error_at(err, BASE_MEMORY, 0, "no memory for a manifest");
    if (!script_open(&r.in, path, err)) {
        free(r.out);
        return false;
    }
    r.out->manifest = checksum_xxh64(r.in.source.text) | 1;
    while (script_line(&r.in) && read_statement(&r)) {
    }
    if (!r.in.why.code && !r.out->name)
        error_at(&r.in.why, BASE_SYNTAX, r.in.source.text.size, "no extension in the manifest");
    bool ok = script_close(&r.in, err);
    const struct tvmr_extension *known = ok ? tvmr_extension_find(r.out->id) : NULL;
    bool same =
        known && known->manifest == r.out->manifest; /* The same manifest was loaded before. */
    r.out->ops = r.ops;
    r.out->types = r.types;
    r.out->type_count = r.type_count;
    ok = ok && !same && names_free(&r, err) && tvmr_extension_add(r.out, err);
    if (!ok) manifest_forget(&r);
    return ok || same;
}

bool tvmr_manifest_options(const penta_option *options, size_t count, penta_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].key, "extension") && !tvmr_manifest_load(options[i].value, err))
            return false;
    return true;
}

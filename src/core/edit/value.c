/* Turns the value that a person gives for a field into its bytes. */
#include <stdlib.h>
#include <stdio.h>
#include <strings.h>
#include "base/bytes.h"
#include "base/number.h"
#include "base/suggest.h"
#include "core/edit/edit.h"

/* A field that is being given a value. */
struct giving {
    const penta_field *field;
    penta_bytes stored;
    const char *path, *value;
    struct writer *out;
    penta_error *err;
};

static bool value_refuse(const struct giving *g, const char *why)
{
    return error_at(g->err, BASE_FIELD_VALUE, g->field->offset, "%.48s at 0x%llx: '%.24s' %s",
                    g->path, (unsigned long long)g->field->offset, g->value, why);
}

static bool value_too_large(const struct giving *g)
{
    char why[48];
    snprintf(why, sizeof why, "does not fit %llu byte%s", (unsigned long long)g->field->size,
             g->field->size == 1 ? "" : "s");
    bool fixed = g->field->encoding != PENTA_LEB128 && g->field->encoding != PENTA_PREFIX;
    return value_refuse(g, fixed ? why : "does not fit 32 bits");
}

/* ---- words ---- */

enum { WORDS_TRIED = 65536 };

/* The i-th value whose meaning is tried: small numbers, then single bits, then the last numbers of 32 bits. */
static bool word_candidate(const penta_field *f, uint64_t i, uint64_t *value)
{
    uint64_t most = f->size >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * f->size) - 1;
    if (i < WORDS_TRIED)
        *value = i;
    else if (i < WORDS_TRIED + 48)
        *value = UINT64_C(1) << (16 + i - WORDS_TRIED);
    else
        *value = UINT32_MAX - (i - WORDS_TRIED - 48);
    return *value <= most && i < WORDS_TRIED + 48 + 256;
}

/* Finds the value that a word stands for. */
static bool word_value(const struct giving *g, uint64_t *value)
{
    const penta_field *f = g->field;
    struct suggest near = {.word = bytes_of(g->value)};
    char best[60] = "";
    for (uint64_t i = 0; f->meaning && i < WORDS_TRIED + 48 + 256; i++) {
        const char *word;
        if (!word_candidate(f, i, value) || !(word = f->meaning(f->name, *value))) continue;
        if (!strcasecmp(word, g->value)) return true;
        suggest_offer(&near, word);
        if (near.best == word) snprintf(best, sizeof best, "%s", word);
        near.best = *best ? best : NULL;
    }
    value_refuse(g, f->meaning ? "is no number, and no word of this field" : "is no number");
    if (*best) error_note(g->err, "did you mean '%s'?", best);
    return false;
}

/* ---- kinds ---- */

static bool give_number(const struct giving *g)
{
    const penta_field *f = g->field;
    bool negative = *g->value == '-';
    uint64_t value = 0;
    if (number_parse(g->value + negative, &value)) {
        if (negative) value = -value;
        negative = negative && value;
        if (negative && f->kind != PENTA_SINT)
            return value_refuse(g, "is negative, which this field cannot be");
    } else if (!word_value(g, &value)) {
        return false;
    }
    if (f->encoding == PENTA_PACKED)
        return value_refuse(g, "is a part of these bytes: give them as hex:...");
    if (negative && (int64_t)value > 0) return value_too_large(g);
    return edit_encode(g->out, f->encoding, f->size, value, negative) || value_too_large(g);
}

static bool give_bool(const struct giving *g)
{
    bool yes = !strcasecmp(g->value, "yes") || !strcasecmp(g->value, "true"),
         no = !strcasecmp(g->value, "no") || !strcasecmp(g->value, "false");
    if (!yes && !no) return give_number(g);
    return edit_encode(g->out, g->field->encoding, g->field->size, yes, false) ||
           value_too_large(g);
}

static bool give_float(const struct giving *g)
{
    char *end;
    double wide = strtod(g->value, &end);
    float narrow = (float)wide;
    uint64_t bits = 0;
    uint32_t half;
    if (!*g->value || *end) return value_refuse(g, "is no number");
    memcpy(&bits, &wide, 8);
    memcpy(&half, &narrow, 4);
    if (g->field->size != 4 && g->field->size != 8) return value_too_large(g);
    return edit_encode(g->out, g->field->encoding, g->field->size,
                       g->field->size == 4 ? half : bits, false);
}

/* Bytes of a field whose size is fixed: zeros follow a text that is shorter, other bytes must fit exactly. */
static bool give_array(const struct giving *g, penta_bytes bytes, bool text)
{
    size_t size = (size_t)g->field->size;
    if (bytes.size > size || (!text && bytes.size != size)) return value_too_large(g);
    writer_bytes(g->out, bytes.data, bytes.size);
    writer_fill(g->out, 0, size - bytes.size);
    return true;
}

/* A text keeps the zeros after it. */
static bool give_text(const struct giving *g, const char *value)
{
    const penta_field *f = g->field;
    penta_bytes text = bytes_of(value);
    size_t known = f->kind == PENTA_TEXT ? f->as.bytes.size : g->stored.size;
    if (f->kind != PENTA_TEXT && f->kind != PENTA_RAW) return value_refuse(g, "is no number");
    if (f->encoding == PENTA_ARRAY) return give_array(g, text, true);
    writer_bytes(g->out, text.data, text.size);
    writer_fill(g->out, 0, g->stored.size > known ? g->stored.size - known : 0);
    return true;
}

static bool give_hex(const struct giving *g, const char *value)
{
    const penta_field *f = g->field;
    size_t size;
    bool variable = f->kind == PENTA_TEXT || f->kind == PENTA_RAW || f->encoding == PENTA_LEB128 ||
                    f->encoding == PENTA_PREFIX || f->encoding == PENTA_PACKED;
    uint8_t *bytes = hex_parse(bytes_of(value), &size, g->err);
    if (!bytes) return !g->err->code && value_refuse(g, "is no hex");
    bool ok = true;
    if (variable && f->encoding != PENTA_ARRAY)
        writer_bytes(g->out, bytes, size);
    else
        ok = give_array(g, (penta_bytes){bytes, size}, false);
    free(bytes);
    return ok;
}

bool edit_value(const penta_field *field, penta_bytes stored, const char *path, const char *value,
                struct writer *out, penta_error *err)
{
    struct giving g = {field, stored, path, value, out, err};
    if (!strncmp(value, "hex:", 4)) return give_hex(&g, value + 4);
    if (!strncmp(value, "text:", 5)) return give_text(&g, value + 5);
    switch (field->kind) {
    case PENTA_UINT:
    case PENTA_WORD:
    case PENTA_SINT: return give_number(&g);
    case PENTA_BOOL: return give_bool(&g);
    case PENTA_FLOAT: return give_float(&g);
    case PENTA_TEXT: return give_text(&g, value);
    case PENTA_RAW: return give_hex(&g, value);
    }
    return false;
}

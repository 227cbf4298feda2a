/* Compares types, computes their sizes in words and bytes, and names them for messages. It does
 * not depend on the parser. */
#include "cvbc/compile/tree/types.h"
#include <stdio.h>
#include <string.h>

const struct type type_wrong = {.kind = TYPE_WRONG}, type_void = {.kind = TYPE_VOID},
                  type_int = {.kind = TYPE_NUMBER, .bits = 32},
                  type_unsigned = {.kind = TYPE_NUMBER, .bits = 32, .is_unsigned = true},
                  type_bool = {.kind = TYPE_NUMBER, .bits = 1, .is_unsigned = true},
                  type_char = {.kind = TYPE_NUMBER, .bits = 8, .is_char = true},
                  type_byte = {.kind = TYPE_NUMBER, .bits = 8, .is_unsigned = true},
                  type_float = {.kind = TYPE_FLOAT, .bits = 32},
                  type_string = {.kind = TYPE_STRING};
static const struct type const_char = {
    .kind = TYPE_NUMBER, .bits = 8, .is_char = true, .is_const = true};
const struct type type_text = {.kind = TYPE_POINTER, .of = &const_char};
static const struct type handler = {.kind = TYPE_FUNCTION, .of = &type_void};
const struct type type_handler = {.kind = TYPE_POINTER, .of = &handler, .bits = 32};

bool type_same(const struct type *a, const struct type *b)
{
    for (; a != b; a = a->of, b = b->of) {
        if (a->kind != b->kind) return false;
        switch (a->kind) {
        case TYPE_NUMBER: return a->bits == b->bits && a->is_unsigned == b->is_unsigned;
        case TYPE_RECORD: return a->record == b->record;
        case TYPE_ARRAY:
            if (a->count != b->count) return false;
            break;
        case TYPE_FUNCTION:
            if (a->parameter_count != b->parameter_count) return false;
            for (uint32_t i = 0; i < a->parameter_count; i++)
                if (!type_same(a->parameters[i], b->parameters[i])) return false;
            break;
        case TYPE_POINTER: break;
        default: return true;
        }
    }
    return true;
}

static uint32_t type_times(uint32_t count, uint32_t size)
{
    uint64_t all = (uint64_t)count * size;
    return all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}

uint32_t type_words(const struct type *t)
{
    switch (t->kind) {
    case TYPE_VOID:
    case TYPE_FUNCTION: return 0;
    case TYPE_ARRAY: return type_times(t->count, type_words(t->of));
    case TYPE_RECORD: return t->record->words;
    default: return 1;
    }
}

uint32_t type_bytes(const struct type *t)
{
    switch (t->kind) {
    case TYPE_NUMBER: return t->bits < 8 ? 1 : t->bits / 8u;
    case TYPE_ARRAY: return type_times(t->count, type_bytes(t->of));
    case TYPE_RECORD: return t->record->bytes;
    case TYPE_VOID:
    case TYPE_FUNCTION: return 1;
    default: return 4;
    }
}

uint32_t type_align(const struct type *t)
{
    while (t->kind == TYPE_ARRAY) t = t->of;
    return t->kind == TYPE_RECORD ? t->record->align : type_bytes(t);
}

uint32_t type_bounded(const struct type *t, uint32_t v)
{
    if (t->kind != TYPE_NUMBER) return v;
    switch (t->bits) {
    case 1: return v != 0;
    case 8: return t->is_unsigned ? (uint8_t)v : (uint32_t)(int8_t)v;
    case 16: return t->is_unsigned ? (uint16_t)v : (uint32_t)(int16_t)v;
    default: return v;
    }
}

bool type_within(const struct type *from, const struct type *to)
{
    if (to->kind != TYPE_NUMBER || to->bits == 32) return true;
    if (from->kind != TYPE_NUMBER) return false;
    if (from->is_unsigned == to->is_unsigned) return from->bits <= to->bits;
    return from->is_unsigned && from->bits < to->bits;
}

static const char *type_number_text(const struct type *t)
{
    if (t->bits == 1) return "bool";
    if (t->is_char) return "char";
    if (t->bits == 8) return t->is_unsigned ? "byte" : "int8_t";
    if (t->bits == 16) return t->is_unsigned ? "unsigned short" : "short";
    return t->is_unsigned ? "unsigned" : "int";
}

const char *type_text_of(const struct type *t, char *buffer, size_t size)
{
    char inner[40];
    const char *is_const = t->is_const ? "const " : "";
    switch (t->kind) {
    case TYPE_VOID: snprintf(buffer, size, "void"); break;
    case TYPE_NUMBER: snprintf(buffer, size, "%s%s", is_const, type_number_text(t)); break;
    case TYPE_FLOAT: snprintf(buffer, size, "%sfloat", is_const); break;
    case TYPE_STRING: snprintf(buffer, size, "%sString", is_const); break;
    case TYPE_POINTER:
        snprintf(buffer, size, "%s %c", type_text_of(t->of, inner, sizeof inner),
                 t->is_reference ? '&' : '*');
        break;
    case TYPE_ARRAY:
        snprintf(buffer, size, "%s[%u]", type_text_of(t->of, inner, sizeof inner),
                 (unsigned)t->count);
        break;
    case TYPE_RECORD:
        snprintf(buffer, size, "%s%s %.*s", is_const, t->record->is_union ? "union" : "struct",
                 (int)(t->record->name.size > 24 ? 24 : t->record->name.size),
                 (const char *)t->record->name.data);
        break;
    case TYPE_FUNCTION:
        snprintf(buffer, size, "a function that returns %s",
                 type_text_of(t->of, inner, sizeof inner));
        break;
    default: snprintf(buffer, size, "a type with an error");
    }
    return buffer;
}

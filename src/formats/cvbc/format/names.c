/* Has the words of names.def, for listings, assembly text and options. */
#include "cvbc/cvbc.h"
#include <string.h>
#include "base/bytes.h"

static const struct name {
    const char *field;
    uint64_t value;
    const char *word;
} names[] = {
#define NAME(field, value, word) {#field, value, word},
#include "cvbc/names.def"
};

const char *cvbc_name(const char *field, uint64_t value)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].value == value && !strcmp(names[i].field, field)) return names[i].word;
    return NULL;
}

bool cvbc_value(const char *field, penta_bytes word, uint64_t *value)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].field, field) && words_equal(bytes_of(names[i].word), word)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

static const char *word_of(const char *field, size_t i)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k].field, field) && !i--) return names[k].word;
    return NULL;
}

const char *cvbc_cipher_name(size_t i)
{
    return word_of("encryption_algorithm", i + 1);
} /* The word for "none" is left out. */
const char *cvbc_hash_name(size_t i) { return word_of("hash_algorithm", i); }
const char *cvbc_language_name(size_t i) { return word_of("source_language", i); }
const char *cvbc_pin_function_name(size_t i) { return word_of("pin_function", i); }
const char *cvbc_hint_name(size_t i) { return word_of("hint_type", i); }
const char *cvbc_pin_mode_name(size_t i) { return word_of("pin_mode", i); }
const char *cvbc_compatibility_name(size_t i) { return word_of("compatibility_level", i); }
const char *cvbc_criticality_name(size_t i) { return word_of("criticality", i); }

const char *cvbc_feature(unsigned bit)
{
    static const char *const words[32] = {
#define FEATURE(bit, word) [bit] = #word,
#include "cvbc/features.def"
    };
    return bit < 32 ? words[bit] : NULL;
}

const char *cvbc_note(const char *field, uint64_t value)
{
    if (!strcmp(field, "magic")) return value == CVBC_MAGIC_NUMBER ? "CockpitVM container" : NULL;
    if (!strcmp(field, "opcode")) return value < 256 ? cvbc_ops[value].mnemonic : NULL;
    return cvbc_name(field, value);
}

const struct cvbc_op_info cvbc_ops[256] = {
#define OP(code, name, operand, flags, pops, pushes, minor, stack, meaning)                        \
    [code] = {#name, CVBC_OPERAND_##operand, flags, pops, pushes, minor, stack, meaning},
#include "cvbc/isa.def"
};

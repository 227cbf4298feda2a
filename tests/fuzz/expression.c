/* Evaluates any text as an expression of a debugger over a machine of a few numbers. Evaluation
 * must end with a value or an error, and give the same one the second time. */
#include "fuzz.h"
#include "core/debug/expression.h"

/* Gives a value, of every kind, to names that start with a letter before n. */
static bool fuzz_expression_name(void *user, penta_bytes word, penta_value *value, penta_error *err)
{
    static const penta_kind kinds[] = {PENTA_UINT, PENTA_WORD, PENTA_SINT, PENTA_BOOL};
    (void)user, (void)err;
    if (word.data[0] >= 'n') return false;
    *value = (penta_value){.kind = kinds[word.size % 4],
                           .as.u = UINT64_C(0xfedcba9876543210) >> word.size};
    if (word.data[0] == 'f') *value = (penta_value){.kind = PENTA_FLOAT, .as.f = -1.5};
    return true;
}

static bool fuzz_expression_peek(void *user, uint64_t address, uint8_t *into, size_t size)
{
    (void)user;
    memset(into, (int)(address & 255), size);
    return address % 7;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    const struct expression_scope scope = {
        .name = fuzz_expression_name, .path = fuzz_expression_name, .peek = fuzz_expression_peek};
    penta_value first, second;
    penta_error err = {0}, again = {0};
    struct expression_memory memory;
    char *text = copy_as_text(data, size);
    bool ok = expression_eval(text, &scope, &first, &err);
    if (ok != expression_eval(text, &scope, &second, &again)) check_failed("two results", ok, 0);
    if (ok && memcmp(&first.as, &second.as, sizeof first.as))
        check_failed("two values", first.as.u, second.as.u);
    if (!ok && !err.code) check_failed("no error", 0, 0);
    if (err.offset > size) check_failed("an error outside", err.offset, size);
    expression_is_memory(text, &scope, &memory);
    free(text);
}

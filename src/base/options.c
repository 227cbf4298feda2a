/* Finds options, and checks them against their rows. */
#include "base/options.h"
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/suggest.h"

static bool lists_words(const char *argument)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_|";
    return *argument && !argument[strspn(argument, letters)];
}

bool argument_word(const char *argument, size_t i, penta_bytes *word)
{
    if (!argument || !lists_words(argument)) return false;
    for (; i; i--) {
        argument = strchr(argument, '|');
        if (!argument) return false;
        argument++;
    }
    *word = (penta_bytes){(const uint8_t *)argument, strcspn(argument, "|")};
    return true;
}

bool option_word(const penta_option_info *option, unsigned part, size_t i, penta_bytes *word)
{
    if (part >= OPTION_PARTS) return false;
    if (!option->words[part])
        return !part && option->kind == PENTA_OPTION_WORDS &&
               argument_word(option->argument, i, word);
    const char *text = option->words[part](i);
    if (text) *word = bytes_of(text);
    return text;
}

bool error_not_in(penta_error *err, const char *what, const char *value, word_list *words)
{
    char list[100] = "";
    size_t used = 0;
    struct suggest near = {.word = bytes_of(value)};
    for (size_t i = 0; words(i) && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words(i));
        suggest_offer(&near, words(i));
    }
    error_at(err, BASE_OPTION_VALUE, 0, "%s '%.40s' is none of %s", what, value, list);
    return near.best ? error_note(err, "did you mean '%s'?", near.best) : false;
}

bool options_check(const penta_option *options, size_t count, const penta_option_info *known,
                   unsigned use, penta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const penta_option_info *o = known;
        while (o && o->key && (strcmp(o->key, options[i].key) || !(o->uses & use))) o++;
        if (!o || !o->key)
            return error_at(err, BASE_OPTION, 0, "unknown option '%s'", options[i].key);
        if (!options[i].value)
            return error_at(err, BASE_OPTION_VALUE, 0, "option '%s' has no value", options[i].key);
        if (!option_fits(o, options[i].value, err)) return false;
    }
    return true;
}

const char *option_text(const penta_option *options, size_t count, const char *key)
{
    for (size_t i = count; i-- > 0;)
        if (!strcmp(options[i].key, key)) return options[i].value;
    return NULL;
}

bool option_given(const penta_option *options, size_t count, const char *key)
{
    return option_text(options, count, key) != NULL;
}

bool option_uint(const penta_option *options, size_t count, const char *key, uint64_t *out,
                 penta_error *err)
{
    (void)err;
    *out = option_number(options, count, key, *out);
    return true;
}

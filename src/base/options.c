#include "base/options.h"
#include <string.h>
#include "base/number.h"

bool options_check(const penta_option *options, size_t count, const struct option_info *known,
                   unsigned use, penta_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct option_info *o = known;
        while (o && o->key && (strcmp(o->key, options[i].key) || !(o->uses & use))) o++;
        if (!o || !o->key)
            return error_at(err, BASE_OPTION, 0, "unknown option '%s'", options[i].key);
        if (!options[i].value)
            return error_at(err, BASE_OPTION_VALUE, 0, "option '%s' has no value", options[i].key);
    }
    return true;
}

const char *option_text(const penta_option *options, size_t count, const char *key)
{
    for (size_t i = count; i-- > 0;)
        if (!strcmp(options[i].key, key)) return options[i].value;
    return NULL;
}

bool option_uint(const penta_option *options, size_t count, const char *key, uint64_t *out,
                 penta_error *err)
{
    const char *text = option_text(options, count, key);
    if (!text || number_parse(text, out)) return true;
    return error_at(err, BASE_OPTION_VALUE, 0, "option '%s': '%.40s' is not a number", key, text);
}

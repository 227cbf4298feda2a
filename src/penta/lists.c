/* Lists what this build has: formats, engines, options, rules, instructions. */
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_visit.h"
#include "base/options/json.h"
#include "core/describe.h"
#include "core/engine.h"
#include "penta/registry.h"

const char *penta_format_name(size_t i)
{
    for (size_t k = 0; drivers[k]; k++)
        if (k == i) return drivers[k]->name;
    return NULL;
}

const char *penta_format_title(const char *format)
{
    const struct driver *d = driver_find(format);
    return d ? d->title : NULL;
}

const char *penta_format_suffix(const char *format)
{
    const struct driver *d = driver_find(format);
    return d ? d->suffix : NULL;
}

const char *penta_format_comment(const char *format)
{
    const struct driver *d = driver_find(format);
    return d ? d->comment : NULL;
}

const char *penta_format_exit_value(const char *format)
{
    const struct driver *d = driver_find(format);
    return d ? d->exit_value : NULL;
}

bool penta_format_is_register(const char *format, penta_bytes word)
{
    const struct driver *d = driver_find(format);
    return d && d->is_register && d->is_register(word);
}

const char *penta_engine_name(const char *format, size_t i)
{
    const struct driver *d = driver_find(format);
    if (!d || !d->engines) return NULL;
    for (size_t k = 0; k < i; k++)
        if (!d->engines[k]) return NULL;
    return d->engines[i] ? d->engines[i]->name : NULL;
}

const char *penta_engine_for_run(const char *format, bool steps)
{
    const char *found;
    for (size_t i = 0; !steps && (found = penta_engine_name(format, i)); i++)
        if (!strcmp(found, "jit")) return found;
    return penta_engine_name(format, 0);
}

unsigned penta_format_uses(const char *format)
{
    const struct driver *d = driver_find(format);
    if (!d) return 0;
    unsigned uses = PENTA_USE_OPEN | (d->print ? PENTA_USE_PRINT : 0u) |
                    (d->assemble ? PENTA_USE_ASSEMBLE : 0u) | (d->engines ? PENTA_USE_RUN : 0u);
    for (const struct driver_other *o = d->others; o && o->make; o++) uses |= o->use;
    return uses;
}

const penta_option_info *penta_option_at(const char *format, size_t i)
{
    const struct driver *d = driver_find(format);
    for (const penta_option_info *o = d ? d->options : NULL; o && o->key; o++)
        if (!i--) return o;
    return NULL;
}

const penta_option_info *penta_option_find(const char *format, const char *key, unsigned uses)
{
    const struct driver *d = driver_find(format);
    for (const penta_option_info *o = d ? d->options : NULL; o && o->key; o++)
        if ((o->uses & uses) && !strcmp(o->key, key)) return o;
    return NULL;
}

const char *penta_option_chooses(const char *key)
{
    const char *name;
    for (size_t i = 0; (name = penta_format_name(i)); i++)
        if (penta_option_find(name, key, PENTA_USE_CHOOSES)) return name;
    return NULL;
}

static void uses_json(struct json *j, unsigned uses)
{
    static const char *const names[] = {"open",  "print",  "assemble", "run",  "convert",
                                        "seal",  "unseal", "create",   "sign", "verify",
                                        "board", "link",   "block",    "train"};
    json_list(j, "uses");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (uses >> i & 1) json_text(j, NULL, names[i]);
    json_end(j);
}

const char *penta_option_kind_name(penta_option_kind kind) { return option_kind_name(kind); }

bool penta_option_check(const penta_option_info *option, const char *value, penta_error *err)
{
    *err = (penta_error){0};
    return option_fits(option, value, err);
}

static void option_json(struct json *j, const penta_option_info *o)
{
    penta_bytes word;
    json_object(j, NULL);
    json_text(j, "key", o->key);
    uses_json(j, o->uses);
    option_json_members(j, o);
    json_list(j, "words");
    for (unsigned part = 0; part < PENTA_OPTION_PARTS; part++) {
        json_list(j, NULL);
        for (size_t i = 0; option_word(o, part, i, &word); i++) json_string(j, NULL, word);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

bool penta_formats_json(penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json j = {.out = &w};
    json_list(&j, NULL);
    for (size_t i = 0; drivers[i]; i++) {
        const struct driver *d = drivers[i];
        json_object(&j, NULL);
        json_text(&j, "name", d->name);
        json_text(&j, "title", d->title);
        json_text(&j, "suffix", d->suffix);
        json_text(&j, "comment", d->comment);
        json_text(&j, "exit_value", d->exit_value);
        json_list(&j, "engines");
        for (size_t k = 0; d->engines && d->engines[k]; k++)
            json_text(&j, NULL, d->engines[k]->name);
        json_end(&j);
        uses_json(&j, penta_format_uses(d->name));
        json_list(&j, "options");
        for (const penta_option_info *o = d->options; o && o->key; o++) option_json(&j, o);
        json_end(&j);
        json_end(&j);
    }
    json_finish(&j);
    return writer_give(&w, true, out, err);
}

const penta_rule *penta_rule_find(uint32_t code)
{
    const struct driver *driver = driver_of_number((uint16_t)(code >> 16));
    return code ? rule_find(driver ? driver->rules : NULL, code) : NULL;
}

const penta_rule *penta_rule_at(const char *format, size_t i)
{
    const struct driver *driver = format ? driver_find(format) : NULL;
    const penta_rule *r = format ? driver ? driver->rules : NULL : base_rules;
    for (; r && r->code; r++)
        if (!i--) return r;
    return NULL;
}

const char *penta_severity_name(penta_severity severity) { return severity_text(severity); }

const char *penta_code_name(uint32_t code)
{
    const penta_rule *rule = penta_rule_find(code);
    return rule ? rule->name : NULL;
}

void penta_code_text(uint32_t code, char *text)
{
    *text = 0;
    if (!penta_code_name(code)) return;
    const char *name = code >> 16 ? driver_of_number((uint16_t)(code >> 16))->name : "penta";
    size_t n = 0;
    for (; name[n] && n < 18; n++) text[n] = (char)(name[n] - (name[n] >= 'a' ? 32 : 0));
    snprintf(text + n, 6, "%04u", (unsigned)(code & 0xffff));
}

void rules_json(struct json *j, const char *format)
{
    const penta_rule *r;
    for (size_t i = 0; (r = penta_rule_at(format, i)); i++) {
        char code[24];
        penta_code_text(r->code, code);
        json_object(j, NULL);
        json_text(j, "code", code);
        json_text(j, "name", r->name);
        json_text(j, "severity", severity_text(r->severity));
        json_text(j, "summary", r->summary);
        json_text(j, "explanation", r->explanation);
        json_end(j);
    }
}

bool penta_rules_json(penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json j = {.out = &w};
    json_list(&j, NULL);
    rules_json(&j, NULL);
    for (size_t i = 0; drivers[i]; i++) rules_json(&j, drivers[i]->name);
    json_finish(&j);
    return writer_give(&w, true, out, err);
}

const penta_trap *penta_trap_at(const char *format, size_t i)
{
    const struct driver *d = driver_find(format);
    for (const penta_trap *t = d ? d->traps : NULL; t && t->name; t++)
        if (!i--) return t;
    return NULL;
}

bool penta_instructions(const char *format, const penta_visitor *visitor)
{
    const struct driver *d = driver_find(format);
    if (d && d->isa) d->isa(visitor);
    return d && d->isa;
}

const char *penta_instructions_legend(const char *format)
{
    const struct driver *d = driver_find(format);
    return d ? d->isa_legend : NULL;
}

bool penta_instructions_json(const char *format, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json j = {.out = &w};
    penta_visitor visitor = json_state_visitor(&j);
    json_list(&j, NULL);
    bool ok = penta_instructions(format, &visitor) ||
              error_at(err, BASE_UNSUPPORTED, 0, "no instructions of '%.40s' are known", format);
    json_finish(&j);
    return writer_give(&w, ok, out, err);
}

/* Fills errors, finds the rule of a code, and counts what verifiers and assemblers report. */
#include "base/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const penta_rule base_rules[] = {
#define RULE(...) RULE_ROW(BASE_, __VA_ARGS__)
#include "base/rules.def"
    {0}};

const penta_rule *rule_find(const penta_rule *rules, uint32_t code)
{
    if (!(code >> 16)) rules = base_rules;
    for (; rules && rules->code; rules++)
        if (rules->code == code) return rules;
    return NULL;
}

bool breaks_container(const penta_rule *rule, const penta_error *finding)
{
    bool program =
        rule && (rule->scope == PENTA_SCOPE_PROGRAM || rule->scope == PENTA_SCOPE_RUNTIME);
    return finding->severity == PENTA_ERROR && !program;
}

bool error_at(penta_error *err, uint32_t code, uint64_t offset, const char *format, ...)
{
    if (err->code) return false;
    memset(err, 0, sizeof *err);
    err->code = code;
    err->offset = offset;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return false;
}

bool error_note(penta_error *err, const char *format, ...)
{
    if (err->note[0]) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(err->note, sizeof err->note, format, args);
    va_end(args);
    return false;
}

const char *severity_text(penta_severity severity)
{
    static const char *const texts[] = {
        [PENTA_ERROR] = "error", [PENTA_WARNING] = "warning", [PENTA_INFO] = "info"};
    return texts[severity];
}

/* Tells whether reading goes on after this error, because the file was opened leniently. */
static bool finding_recovered(const struct findings *f, const penta_error *err)
{
    if (!f->lenient || err->severity != PENTA_ERROR) return false;
    const penta_rule *rule = rule_find(f->rules, err->code);
    return rule && rule->scope == PENTA_SCOPE_RECOVERABLE;
}

void findings_pass(struct findings *f, const penta_error *err)
{
    penta_error recovered = *err;
    if (finding_recovered(f, err)) {
        recovered.severity = PENTA_WARNING;
        err = &recovered;
    }
    size_t *counts[] = {
        [PENTA_ERROR] = &f->errors, [PENTA_WARNING] = &f->warnings, [PENTA_INFO] = &f->infos};
    ++*counts[err->severity];
    if (f->report) f->report(f->user, err);
}

void findings_add(struct findings *f, uint32_t code, uint64_t offset, const char *note,
                  const char *format, ...)
{
    const penta_rule *rule = rule_find(f->rules, code);
    penta_error err = {.code = code, .offset = offset};
    err.severity = rule ? rule->severity : PENTA_ERROR;
    if (note) snprintf(err.note, sizeof err.note, "%s", note);
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    findings_pass(f, &err);
}

void error_keep_first(void *first, const penta_error *finding)
{
    penta_error *err = first;
    if (!err->code && finding->severity == PENTA_ERROR) *err = *finding;
}

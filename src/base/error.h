/* Errors are values: one small struct, filled once and passed up to the caller. Rules are rows of a
 * rules.def. */
#pragma once
#include "penta/penta.h"

/* RULE_ROW makes a row of a rules.def: #define RULE(...) RULE_ROW(PVM_, __VA_ARGS__) */
#define RULE_ROW(...) RULE_FIELDS(__VA_ARGS__)
#define RULE_FIELDS(prefix, number, name, severity, scope, class, summary, explanation)            \
    {prefix##name,        #name,   PENTA_##severity, PENTA_SCOPE_##scope,                          \
     PENTA_CLASS_##class, summary, explanation},

/* The rules below have format number 0; each format adds its number, shifted left by 16. */
enum base_rule {
#define RULE(number, name, ...) BASE_##name = number,
#include "base/rules.def"
};
extern const penta_rule base_rules[]; /* The table ends with a row of code 0. */

/* Finds the row of a code in `rules` or in penta's own rules. Returns NULL when there is none. */
const penta_rule *rule_find(const penta_rule *rules, uint32_t code);
/* Tells whether a finding keeps every machine from opening the module, which an error does
 * unless its rule is about the program. `rule` is NULL when the code is unknown. */
bool breaks_container(const penta_rule *rule, const penta_error *finding);

/* Fills *err and returns false, so that a caller fails in one line:
 *     return error_at(err, PVM_JUMP_TARGET, at, "jump to %u, of %u instructions", to, count);
 * The first failure stays: later ones usually follow from it. */
bool error_at(penta_error *err, uint32_t code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a hint on what to do to the error just made, unless it has a note already. Returns false
 * as error_at does. */
bool error_note(penta_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct long_work;
/* Receives what a verifier or an assembler finds: counts each finding and passes it to `report`. */
struct findings {
    const penta_rule *rules; /* the rules of the format, which give each code its severity */
    penta_report *report;
    void *user;
    /* Findings of rules of PENTA_SCOPE_RECOVERABLE are warnings. */
    bool lenient;
    size_t errors, warnings, infos;
    struct long_work
        /* The search for findings is long work (base/long_work.h): when `work` is ended, the
         * search ends. */
        *work;
};
const char *severity_text(penta_severity severity); /* Returns "error", "warning" or "info". */
/* Makes a finding, counts it and passes it to `report`. `note` may be NULL. */
void findings_add(struct findings *f, uint32_t code, uint64_t offset, const char *note,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
void findings_pass(struct findings *f, const penta_error *err);
/* Is a penta_report function that keeps the first error. `first` points to a penta_error that
 * the caller has cleared. */
void error_keep_first(void *first, const penta_error *finding);

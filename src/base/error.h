/* Errors are values: one small struct, filled once and passed up to the caller. Rules are rows of a
 * rules.def. */
#pragma once
#include "penta/penta.h"

struct rule {
    uint32_t code;    /* format << 16 | number */
    const char *name; /* "BAD_OPCODE" */
    penta_severity severity;
    const char *summary, *explanation;
};

enum base_rule { /* format number 0; formats add theirs << 16 */
#define RULE(number, name, ...) BASE_##name = number,
#include "base/rules.def"
};
extern const struct rule base_rules[]; /* ends with a row of code 0 */

const struct rule *rule_find(const struct rule *rules, uint32_t code); /* NULL: no such row */

/* Fills *err and returns false, so that a caller fails in one line:
 *     return error_at(err, PVM_JUMP_TARGET, at, "jump to %u, of %u instructions", to, count);
 * The first failure stays: later ones usually follow from it. */
bool error_at(penta_error *err, uint32_t code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A hint on what to do, for the error just made. Keeps an earlier note. Returns false as well. */
bool error_note(penta_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes what a verifier or assembler finds: counts each finding and passes it to report. */
struct findings {
    const struct rule *rules; /* of the format: gives each code its severity; others are errors */
    penta_report *report;
    void *user;
    size_t errors, warnings, infos;
};
const char *severity_text(penta_severity severity); /* "error", "warning" or "info" */
/* note may be NULL. */
void findings_add(struct findings *f, uint32_t code, uint64_t offset, const char *note,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
void findings_pass(struct findings *f, const penta_error *err);
/* A penta_report that keeps the first error; `first` points to a penta_error, cleared before. */
void error_keep_first(void *first, const penta_error *finding);

/* Notes lengths that do not fit. The machine allows them, but they are probably mistakes. They
 * become findings after the run, one for each place. With the option 'strict' they are failures. */
#include "tvmr/vm/ops.h"
#include <stdio.h>

void tvmr_note_text(const struct tvmr_vm *vm, const struct tvmr_note *n, char *text, size_t size)
{
    char to[8], from[8], times[40] = "";
    const char *name = vm->code[n->pc].op->name;
    tvmr_register_name(n->to, to);
    tvmr_register_name(n->from, from);
    if (n->times > 1) snprintf(times, sizeof times, " (%llu times)", (unsigned long long)n->times);
    if (n->rule == TVMR_LENGTH)
        snprintf(text, size, "%s: %s is declared with %zu element%s and gets %zu%s", name, to,
                 n->want, n->want == 1 ? "" : "s", n->have, times);
    else
        snprintf(text, size, "%s: weights %s take %zu element%s, %s has %zu%s", name, to, n->want,
                 n->want == 1 ? "" : "s", from, n->have, times);
}

static bool same_place(const struct tvmr_note *a, const struct tvmr_note *b)
{
    return a->pc == b->pc && a->have == b->have && a->want == b->want && a->to == b->to;
}

bool tvmr_expect(struct tvmr_vm *vm, const struct tvmr_insn *in, struct tvmr_note note)
{
    if (note.have == note.want) return true;
    note.pc = (size_t)(in - vm->code);
    note.times = 1;
    size_t i =
        vm->begun ? TVMR_NOTES : 0; /* An instruction that was interrupted has counted the note
                                     * already. */
    while (i < vm->note_count && !same_place(&vm->notes[i], &note)) i++;
    if (i < vm->note_count)
        vm->notes[i].times++;
    else if (i < TVMR_NOTES)
        vm->notes[vm->note_count++] = note;
    if (!vm->strict) return true;
    char text[120];
    tvmr_note_text(vm, &note, text, sizeof text);
    return ops_fail(vm, TVMR_E_SHAPE, "%s", text) == TVMR_NEXT;
}

/* Returns the offset of the definition of the first of these cold registers, or of the first
 * register with a key when there are none. */
static uint64_t keyed_offset(const struct tvmr_module *m, uint64_t registers)
{
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        if (r->reg >> 6 == 1 && r->key.size && (!registers || registers >> INDEX(r->reg) & 1))
            return r->offset;
    }
    return 0;
}

/* Warns that weight files and the program do not have the same keys. */
static void note_weights(const struct tvmr_vm *vm, const struct tvmr_module *m,
                         struct findings *findings)
{
    char missing[sizeof vm->unused];
    unsigned keyed = 0, filled = 0;
    tvmr_weights_missing(vm, missing, sizeof missing);
    if (!*missing && !*vm->unused) return;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        keyed += vm->keyed >> i & 1;
        filled += vm->filled >> i & 1;
    }
    penta_error e = {.code = TVMR_WEIGHTS_PARTLY,
                     .severity = PENTA_WARNING,
                     .offset = keyed_offset(m, vm->keyed & ~vm->filled),
                     .decoded = tvmr_insn_decoded(m)};
    snprintf(e.message, sizeof e.message, "weights were loaded into %u of %u registers with keys",
             filled, keyed);
    if (*missing)
        snprintf(e.note, sizeof e.note, "only the program has %s%s%s", missing,
                 *vm->unused ? "; only the file has " : "", vm->unused);
    else
        snprintf(e.note, sizeof e.note, "only the file has %s", vm->unused);
    findings_pass(findings, &e);
}

void tvmr_vm_findings(const penta_vm *base, struct findings *findings)
{
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    const struct tvmr_module *m = tvmr_module(base->module);
    note_weights(vm, m, findings);
    for (size_t i = 0; i < vm->note_count; i++) {
        const struct tvmr_note *n = &vm->notes[i];
        penta_error e = {.code = n->rule,
                         .severity = PENTA_WARNING,
                         .offset = tvmr_insn_offset(m, n->pc),
                         .decoded = tvmr_insn_decoded(m)};
        tvmr_note_text(vm, n, e.message, sizeof e.message);
        if (n->rule == TVMR_PRODUCT)
            snprintf(e.note, sizeof e.note, "%s",
                     n->have < n->want ? "missing elements count as 0" : "the rest is ignored");
        findings_pass(findings, &e);
    }
}

/* Finds the handler of an instruction. A row of the tables names its handler, an instruction
 * that a C program adds brings its own, and an instruction of a manifest asks the host. */
#include "tvmr/vm/ops.h"
#include <assert.h>

/* The handlers are in the order of tvmr_standard, one extension after the other. */
static const struct {
    const char *name;
    tvmr_handler *run;
} handlers[] = {
#define CORE(code, name, mnemonic, bytes, base, text, handler, meaning) {#name, op_##handler},
#include "tvmr/isa.def"
#define OP(code, name, pattern, bytes, handler, meaning) {#name, op_##handler},
#define YIELD(code, name, pattern, bytes, handler, domain, fields, meaning) {#name, op_##handler},
#include "tvmr/extensions/all.inc"
};

tvmr_handler *tvmr_op_handler(const struct tvmr_op *op)
{
    size_t first = 0;
    if (op->run) return op->run;
    for (const struct tvmr_extension *e = tvmr_standard; e->name; first += e->count, e++) {
        if (e->id != op->ext) continue;
        size_t row = first + (size_t)(op - e->ops);
        assert(row < sizeof handlers / sizeof *handlers && !strcmp(handlers[row].name, op->name));
        return handlers[row].run;
    }
    return op_yield;
}

/* Copies the state of native code to the machine: at an exit, the state of the function that has
 * stopped and of all its callers. */
#include "coil/jit/jit.h"
#include "base/array.h"
#include "coil/vm/step/step.h"
#include <stdlib.h>

const struct ssa_site *coil_jit_site(const struct coil_jit *j, uint64_t address)
{
    uint32_t at = (uint32_t)(address - (uint64_t)(uintptr_t)j->code);
    size_t low = 0, high = j->site_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (j->sites[middle].native < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < j->site_count && j->sites[low].native == at ? &j->sites[low] : NULL;
}

/* Returns the value at a location. `frame` is the frame of the function that the location
 * belongs to; registers are those of the innermost function. */
uint64_t coil_jit_value(const struct coil_jit *j, const struct ssa_location *at, uint64_t frame)
{
    switch (at->where) {
    case SSA_AT_CONST: return (uint64_t)at->at;
    case SSA_AT_REGISTER: return j->gpr[at->at];
    case SSA_AT_FLOAT_REGISTER: return j->xmm[at->at][0];
    default: return coil_jit_word(frame, (uint32_t)(at->at / 8));
    }
}

uint64_t coil_jit_word(uint64_t frame, uint32_t number)
{
    uint64_t value;
    memcpy(&value, (const uint8_t *)(uintptr_t)frame + 8 * (size_t)number, 8);
    return value;
}

uint64_t coil_jit_variable(const struct coil_jit *j, uint32_t function, uint64_t frame,
                           uint32_t slot)
{
    return coil_canon(j->slot_types[j->slot_first[function] + slot], coil_jit_word(frame, slot));
}

static void set_flags(struct coil_jit *j, uint64_t operation, uint64_t a, uint64_t b)
{
    struct coil_operation o = {.opcode = (uint8_t)(operation >> 8),
                               .type = (uint8_t)operation,
                               .saturate = -1,
                               .a = a,
                               .b = b};
    coil_operate(&o);
    coil_flags_set(&j->vm, o.opcode, o.flags, (uint8_t)~o.written);
}

size_t coil_jit_open_at(const struct coil_jit *j, const struct ssa_site *s, uint64_t frame,
                        struct coil_open *out)
{
    size_t n = 0;
    struct coil_open now = {s->function, s->position, s->first, s->first + s->count, frame};
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        if (j->locations[i].key != SSA_KEY_CALLER) continue;
        struct coil_open inner = now;
        inner.end = i;
        if (out) out[n] = inner;
        n++;
        now.function = (uint32_t)j->locations[i].at;
        now.position = (uint32_t)j->locations[i + 1].at;
        now.first = i + 2;
    }
    if (out) out[n] = now;
    return n + 1;
}

/* Writes the part of the state that belongs to one function. `known` has the registers that a
 * function further inside has set already. */
static void function_settle(struct coil_jit *j, const struct coil_open *o, uint64_t *slots,
                            uint32_t *known)
{
    uint64_t operation = 0, a = 0, b = 0;
    uint32_t count = j->vm.program.functions[o->function].slots;
    for (uint32_t i = 1; j->framed[o->function] && i < count; i++)
        slots[i] = coil_jit_variable(j, o->function, o->frame, i);
    for (uint32_t r = 0; j->framed[o->function] && r < j->touched[o->function]; r++) {
        if (!(*known >> r & 1)) j->vm.v[r] = coil_jit_word(o->frame, count + r);
        *known |= 1u << r;
    }
    for (uint32_t i = o->first; i < o->end; i++) {
        const struct ssa_location *at = &j->locations[i];
        uint64_t value = coil_jit_value(j, at, o->frame);
        if (at->key < COIL_KEY_REGISTER) {
            slots[at->key] = coil_canon(j->slot_types[j->slot_first[o->function] + at->key], value);
        } else if (at->key < COIL_KEY_FLAGS) {
            uint32_t r = at->key - COIL_KEY_REGISTER;
            if (!(*known >> r & 1)) j->vm.v[r] = value;
            *known |= 1u << r;
        } else if (at->key == COIL_KEY_FLAGS) {
            operation = value;
        } else if (at->key == COIL_KEY_FLAG_A) {
            a = value;
        } else if (at->key == COIL_KEY_FLAG_B) {
            b = value;
        }
    }
    if (operation) {
        bool single = (uint8_t)operation == COIL_T_FP32;
        set_flags(j, operation, single ? (uint32_t)a : a, single ? (uint32_t)b : b);
    }
}

/* Notes which slots of this function still have a value, for callers that show the state of the
 * machine. */
static void note_kept(struct coil_jit *j, const struct coil_open *here)
{
    memset(j->kept, j->framed[here->function], j->vm.program.functions[here->function].slots);
    for (uint32_t i = here->first; i < here->end; i++) {
        uint32_t key = j->locations[i].key;
        if (key < COIL_KEY_REGISTER) j->kept[key] = 1;
    }
    j->vm.kept = j->kept;
    j->vm.kept_cell = here->position;
}

/* Lists all open functions of native code, from the innermost out, and returns their number; out
 * may be NULL. From its highest address down the stack has: the return address into the entry
 * stub; for each call one word for every function around it whose code is inlined, then its
 * return address; the return address of the exit. */
static size_t open_functions(const struct coil_jit *j, struct coil_open *out)
{
    const uint64_t *at = (const uint64_t *)(uintptr_t)j->stack,
                   *end = (const uint64_t *)(uintptr_t)(j->stack_memory + j->stack_bytes) - 1;
    uint64_t frame = j->frame;
    size_t n = coil_jit_open_at(j, coil_jit_site(j, *at++), frame, out);
    while (at < end) {
        const struct ssa_site *s = coil_jit_site(j, *at);
        /* The call has moved the frame register by the size of the frame of the function that
         * contains the call. */
        frame -= j->frames[s->owner];
        size_t more = coil_jit_open_at(j, s, frame, out ? out + n : NULL);
        at += more; /* There is one word for the call, and one for each inlined function. */
        n += more;
    }
    return n;
}

size_t coil_jit_depth(const struct coil_jit *j) { return open_functions(j, NULL) - 1; }

bool coil_jit_settle(struct coil_jit *j)
{
    struct coil_vm *vm = &j->vm;
    const struct ssa_site *here = coil_jit_site(j, *(const uint64_t *)(uintptr_t)j->stack);
    size_t n = open_functions(j, NULL), fp = j->base_fp;
    struct coil_open *open = malloc(n * sizeof *open);
    bool ok = open && array_reserve(&vm->frames, &vm->frame_capacity, j->base_depth + n,
                                    sizeof *vm->frames);
    if (ok) open_functions(j, open);
    for (size_t i = n; ok && i-- > 1;) {
        vm->frames[j->base_depth + n - 1 - i] =
            (struct coil_frame){open[i].position + 1, open[i].function};
        fp += vm->program.functions[open[i].function].slots;
    }
    size_t need = ok ? fp + vm->program.functions[open[0].function].slots : 0;
    ok = ok && array_reserve(&vm->slots, &vm->slot_capacity, need, sizeof *vm->slots);
    if (ok) {
        memset(vm->slots + j->base_fp, 0, (need - j->base_fp) * sizeof *vm->slots);
        vm->fp = fp;
        vm->depth = j->base_depth + n - 1;
        vm->function = here->function;
        vm->pc = here->position;
        note_kept(j, &open[0]);
    }
    /* The registers that a called function has are newer than those of its caller. */
    uint32_t known = 0;
    for (size_t i = 0; ok && i < n; i++) {
        if (i) fp -= vm->program.functions[open[i].function].slots;
        function_settle(j, &open[i], vm->slots + fp, &known);
    }
    free(open);
    return ok;
}

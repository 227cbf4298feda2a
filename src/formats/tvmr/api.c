/* Implements penta/tvmr.h with the functions of the machine. */
#include "penta/tvmr.h"
#include "tvmr/vm/ops.h"
#include <stdlib.h>

_Static_assert(sizeof(penta_tvmr_signal) == sizeof(struct tvmr_signal), "one layout of signals");

static const struct tvmr_vm *tvmr_machine_of(const penta_vm *vm)
{
    return (const struct tvmr_vm *)vm;
}

bool penta_tvmr_register_get(const penta_vm *base, uint8_t reg, penta_tvmr_tensor *out)
{
    const struct tvmr_vm *vm = tvmr_machine_of(base);
    unsigned i = INDEX(reg);
    *out = (penta_tvmr_tensor){0};
    const struct tvmr_shape *shape = &vm->shape[i];
    switch (reg >> 6) {
    case 0:
        if (!vm->hot[i].present) return false;
        out->numbers = vm->hot[i].data;
        out->count = vm->hot[i].count;
        shape = &vm->hot[i].shape;
        break;
    case 1:
        if (!vm->cold[i].present) return false;
        out->signals = (const penta_tvmr_signal *)(const void *)vm->cold[i].weights;
        out->temperatures = vm->cold[i].temps;
        out->count = vm->cold[i].count;
        shape = &vm->cold[i].shape;
        break;
    case 2:
        out->numbers = &vm->param[i];
        out->count = 1;
        return true;
    default: break;
    }
    out->dims = shape->dims;
    out->rank = shape->rank;
    return true;
}

static bool over_budget(const struct tvmr_vm *vm, penta_error *err)
{
    return error_at(err, tvmr_memory_code(vm), 0, "%.100s", vm->fault_text);
}

static bool set_cold(struct tvmr_vm *vm, unsigned i, const penta_tvmr_tensor *v,
                     const uint32_t *dims, size_t rank, penta_error *err)
{
    struct tvmr_cold *c = &vm->cold[i];
    uint8_t key[255], key_size = c->key_size;
    bool frozen = c->frozen;
    memcpy(key, c->key, sizeof key);
    if (!v->signals && v->count)
        return error_at(err, BASE_STATE, 0, "a cold register takes signals");
    if (!tvmr_cold_new(vm, i, v->count, dims, rank)) return over_budget(vm, err);
    if (v->count) memcpy(c->weights, v->signals, v->count * sizeof *c->weights);
    memcpy(c->key, key, sizeof key);
    c->key_size = key_size;
    c->frozen = frozen;
    return !v->temperatures || tvmr_temps_set(vm, c, v->temperatures) || over_budget(vm, err);
}

bool penta_tvmr_register_set(penta_vm *base, uint8_t reg, const penta_tvmr_tensor *v,
                             penta_error *err)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    unsigned i = INDEX(reg);
    uint32_t list = (uint32_t)v->count;
    const uint32_t *dims = v->dims ? v->dims : &list;
    size_t rank = v->dims ? v->rank : 1;
    uint64_t product = 1;
    *err = (penta_error){0};
    for (size_t k = 0; k < rank && product <= v->count; k++) product *= dims[k];
    if (reg >> 6 == 3)
        return tvmr_shape_set(vm, &vm->shape[i], v->dims, v->dims ? v->rank : 0) ||
               over_budget(vm, err);
    if (reg >> 6 == 1 && product != v->count)
        return error_at(err, BASE_RANGE, 0, "%zu elements do not fit the dimensions", v->count);
    if (reg >> 6 == 1) return set_cold(vm, i, v, dims, rank, err);
    if (!v->numbers && v->count) return error_at(err, BASE_STATE, 0, "the register takes numbers");
    if (reg >> 6 == 2) {
        if (v->count != 1) return error_at(err, BASE_RANGE, 0, "a param register holds one number");
        vm->param[i] = v->numbers[0];
        return true;
    }
    return tvmr_hot_set(vm, i, v->numbers, v->count, dims, rank) || over_budget(vm, err);
}

bool penta_tvmr_begin(penta_vm *vm, const int32_t *input, size_t count, penta_error *err)
{
    *err = (penta_error){0};
    return tvmr_vm_begin(tvmr_vm(vm), input, count) || over_budget(tvmr_vm(vm), err);
}

bool penta_tvmr_target(penta_vm *vm, const int32_t *values, size_t count, penta_error *err)
{
    *err = (penta_error){0};
    return tvmr_vm_set_target(tvmr_vm(vm), values, count) || over_budget(tvmr_vm(vm), err);
}

const int32_t *penta_tvmr_output(const penta_vm *vm, size_t *count)
{
    *count = tvmr_machine_of(vm)->output.count;
    return tvmr_machine_of(vm)->output.data;
}

void penta_tvmr_chemicals(penta_vm *vm, const uint8_t levels[4])
{
    memcpy(tvmr_vm(vm)->chem, levels, 4);
}
void penta_tvmr_bank_attach(penta_vm *vm, const penta_tvmr_bank *bank) { tvmr_vm(vm)->bank = bank; }
void penta_tvmr_babble(penta_vm *vm, int scale)
{
    tvmr_vm(vm)->babble_scale = (int32_t)ops_clamp(scale, 0, 255);
}
const char *penta_tvmr_failure(const penta_vm *vm)
{
    return tvmr_machine_of(vm)->fault ? tvmr_machine_of(vm)->fault_text : "";
}

const char *penta_tvmr_domain(uint32_t id, const char **fields)
{
    const struct tvmr_op *op = tvmr_domain_op(id);
    if (op && fields) *fields = op->fields;
    return op ? op->domain : NULL;
}

void penta_tvmr_stop(penta_vm *vm)
{
    tvmr_vm_stop(tvmr_vm(vm));
    tvmr_vm(vm)->settled = false;
}

void penta_tvmr_fail(penta_vm *vm, const char *text)
{
    tvmr_vm_fail(tvmr_vm(vm), text);
    tvmr_vm(vm)->settled = false;
}

bool penta_tvmr_weights_save(const penta_vm *vm, const char *path, penta_error *err)
{
    *err = (penta_error){0};
    return tvmr_weights_save(tvmr_machine_of(vm), path, err);
}

bool penta_tvmr_weights_load(penta_vm *vm, const char *path, size_t *loaded, penta_error *err)
{
    *err = (penta_error){0};
    return tvmr_weights_load(tvmr_vm(vm), path, loaded, err);
}

bool penta_tvmr_reload(penta_vm *vm, const penta_module *module, bool *kept, penta_error *err)
{
    *err = (penta_error){0};
    if (module->driver != &tvmr_driver || module->damage.code)
        return error_at(err, BASE_STATE, 0, "not a whole module of this format");
    return tvmr_vm_reload(tvmr_vm(vm), module, kept, err);
}

/* The functions below add the instructions of C programs to the machine. */

struct user_extension {
    struct tvmr_extension base; /* must stay the first member: the registry points to it, and the
                                 * machine casts back */
    const penta_tvmr_extension *public;
};

/* Runs an instruction of an extension that a C program added. The decoder has found the
 * extension, and extensions are never removed. */
static HANDLER(user)
{
    static const enum tvmr_result results[] = {TVMR_NEXT, TVMR_HALTED, TVMR_FAILED};
    const struct user_extension *e =
        (const struct user_extension *)(const void *)tvmr_extension_find(in->ext);
    penta_tvmr_result r =
        e->public->instructions[in->opcode].run(&vm->base, in->a, e->public->user);
    vm->settled = false;
    if (vm->fault) return TVMR_FAILED;
    if (r == PENTA_TVMR_FAIL) return ops_fail(vm, TVMR_E_HOST, "%s failed", in->op->name);
    return results[r == PENTA_TVMR_HALT];
}

static bool inputs_sound(const penta_tvmr_instruction *i)
{
    return i->name && i->run && i->bytes && strlen(i->bytes) == 4 && strspn(i->bytes, "dsmi-") == 4;
}

bool penta_tvmr_extension_register(const penta_tvmr_extension *public, penta_error *err)
{
    *err = (penta_error){0};
    struct user_extension *e = calloc(1, sizeof *e);
    struct tvmr_op *ops = e ? calloc(public->count + 1, sizeof *ops) : NULL;
    bool ok = ops || error_at(err, BASE_MEMORY, 0, "no memory for an extension");
    if (ok && (!public->name || public->count > UINT16_MAX))
        ok = error_at(err, BASE_RANGE, 0, "an extension has a name");
    for (size_t i = 0; ok && i < public->count; i++) {
        const penta_tvmr_instruction *from = &public->instructions[i];
        if (!inputs_sound(from))
            ok = error_at(err, BASE_RANGE, 0, "instruction %zu has no name, function or operands",
                          i);
        ops[i] = (struct tvmr_op){.ext = public->id,
                                  .opcode = (uint16_t)i,
                                  .name = from->name,
                                  .bytes = from->bytes,
                                  .pattern = TVMR_PATTERN_CUSTOM,
                                  .run = op_user,
                                  .meaning = from->meaning};
    }
    if (ok) {
        e->base = (struct tvmr_extension){.id = public->id,
                                          .major = public->major,
                                          .minor = public->minor,
                                          .patch = public->patch,
                                          .name = public->name,
                                          .title = public->name,
                                          .ops = ops,
                                          .count = public->count};
        e->public = public;
        ok = tvmr_extension_add(&e->base, err);
    }
    if (ok) return true;
    free(ops);
    free(e);
    return false;
}

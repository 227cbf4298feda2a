/* Runs kernel blob vectors: a blob, the expected verdict, and, for a valid blob, the results of
 * running it in this process and on the device. */
#include "conform/kblob.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "kblob/vm/memory.h"

bool trial_status(struct trial *k, gpu_status expected, gpu_status got)
{
    return trial_text(k, "status", gpu_status_string(expected), gpu_status_string(got));
}

bool list_with(const struct json_object *root, const char *key)
{
    for (size_t i = 0; i < json_length(root); i++)
        if (json_is_object(json_item(root, i)) && json_has(json_item(root, i), key)) return true;
    return false;
}

struct vector {
    struct trial trial;
    const struct json_object *expect, *run, *memory;
    uint8_t *blob;
    size_t size;
};

struct outcome { /* the results of one of the two machines */
    uint32_t state;
    int halted; /* -1 if this machine does not tell */
    uint64_t steps, slept;
    bool has_last_read, has_fault;
    uint64_t last_read;
    uint32_t inst;
    uint8_t opcode, kind;
    uint64_t address, length;
};

static bool compare_fault(struct trial *k, const struct json_object *fault, const struct outcome *o)
{
    static const char *const known[] = {"kind", "inst",   "opcode", "address",
                                        "size", "length", NULL};
    if (json_is_null(fault))
        return !o->has_fault ||
               trial_fail(k, "no fault", "%s at %u", kblob_fault_name(o->kind), o->inst);
    if (!trial_keys(k, fault, known)) return false;
    if (!o->has_fault) return trial_fail(k, "a fault", "none");
    const char *kind = json_as_text(json_get(fault, "kind"));
    if (json_has(fault, "kind") && !(kind ? trial_text(k, "fault", kind, kblob_fault_name(o->kind))
                                          : trial_malformed(k, "'kind' is not a text")))
        return false;
    const struct {
        const char *key;
        uint64_t got;
    } numbers[] = {{"inst", o->inst},
                   {"opcode", o->opcode},
                   {"address", o->address},
                   {"size", o->length},
                   {"length", o->length}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t want = 0;
        if (!json_has(fault, numbers[i].key)) continue;
        if (!trial_member(k, fault, numbers[i].key, &want) ||
            !trial_word(k, numbers[i].key, want, numbers[i].got))
            return false;
    }
    return true;
}

static bool kblob_vector_compare(struct vector *v, const struct outcome *o)
{
    struct trial *k = &v->trial;
    const struct json_object *run = v->run;
    uint64_t want = 0;
    const char *status = json_as_text(json_get(run, "status"));
    if (!status) return trial_malformed(k, "'status' is not a text");
    const char *state = task_state_name(o->state);
    if (!trial_text(k, "status", status, state ? state : "unknown")) return false;
    if (json_has(run, "halted_explicitly") && o->halted >= 0) {
        if (!json_is_bool(json_get(run, "halted_explicitly")))
            return trial_malformed(k, "'halted_explicitly' is not true or false");
        bool halted = json_as_bool(json_get(run, "halted_explicitly"));
        if (!trial_uint(k, "halted_explicitly", halted, (uint64_t)o->halted)) return false;
    }
    if (json_has(run, "steps") &&
        !(trial_member(k, run, "steps", &want) && trial_uint(k, "steps", want, o->steps)))
        return false;
    if (json_has(run, "slept_ms") &&
        !(trial_member(k, run, "slept_ms", &want) && trial_uint(k, "slept_ms", want, o->slept)))
        return false;
    if (json_has(run, "last_read")) {
        bool none = json_is_null(json_get(run, "last_read"));
        if (!trial_uint(k, "last_read present", !none, o->has_last_read)) return false;
        if (!none && !(trial_member(k, run, "last_read", &want) &&
                       trial_word(k, "last_read", want, o->last_read)))
            return false;
    }
    return !json_has(run, "fault") || compare_fault(k, json_get(run, "fault"), o);
}

/* A function of this type reads guest memory. It is called for each entry of memory_after. */
typedef bool peek_fn(void *machine, uint64_t address, void *into, size_t size);

static bool compare_memory(struct vector *v, peek_fn *peek, void *machine)
{
    struct trial *k = &v->trial;
    const struct json_object *after = json_get(v->run, "memory_after");
    if (json_has(v->run, "memory_after") && !json_is_list(after))
        return trial_malformed(k, "'memory_after' is not a list");
    for (size_t i = 0; i < json_length(after) && !k->judged; i++) {
        uint64_t base = 0;
        size_t size = 0;
        if (!trial_member(k, json_item(after, i), "base", &base)) return false;
        uint8_t *want = json_as_hex(json_get(json_item(after, i), "bytes"), &size);
        uint8_t *got = malloc(size ? size : 1);
        if (!want || !got)
            trial_malformed(k, "'bytes' is not hex");
        else if (!peek(machine, base, got, size))
            trial_fail(k, "readable memory", "none at 0x%llx", (unsigned long long)base);
        else
            trial_bytes(k, "memory_after", (penta_bytes){want, size}, (penta_bytes){got, size});
        free(want);
        free(got);
    }
    return !k->judged;
}

/* A function of this type allocates a piece of the memory that a vector has. */
typedef bool place_fn(void *machine, uint64_t base, uint64_t size, penta_bytes init);

static bool place_memory(struct vector *v, place_fn *place, void *machine)
{
    struct trial *k = &v->trial;
    if (v->memory && !json_is_list(v->memory)) return trial_malformed(k, "'memory' is not a list");
    for (size_t i = 0; i < json_length(v->memory); i++) {
        const struct json_object *m = json_item(v->memory, i);
        uint64_t base = 0, size = 0;
        size_t init_size = 0;
        if (!trial_member(k, m, "base", &base) || !trial_member(k, m, "size", &size)) return false;
        uint8_t *init = json_has(m, "init") ? json_as_hex(json_get(m, "init"), &init_size) : NULL;
        if ((json_has(m, "init") && !init) || init_size > size) {
            free(init);
            return trial_malformed(k, "'init' is not hex of at most 'size' bytes");
        }
        bool ok = place(machine, base, size, (penta_bytes){init, init_size});
        free(init);
        if (!ok) return trial_fail(k, "memory", "cannot place 0x%llx", (unsigned long long)base);
    }
    return true;
}

static bool place_here(void *machine, uint64_t base, uint64_t size, penta_bytes init)
{
    return !kblob_memory_map(machine, base, size) &&
           !kblob_memory_poke(machine, base, init.data, init.size);
}

static bool peek_here(void *machine, uint64_t address, void *into, size_t size)
{
    return !kblob_memory_peek(machine, address, into, size);
}

static void run_interpreter(struct vector *v)
{
    trial_where(&v->trial, "the interpreter");
    kblob_memory *memory = kblob_memory_new(0);
    kblob_result r = {0};
    if (!memory) {
        trial_fail(&v->trial, "memory", "none");
        return;
    }
    if (place_memory(v, place_here, memory)) {
        kblob_exec(v->blob, v->size, memory, &r);
        struct outcome o = {.state = r.state,
                            .halted = r.halted_explicitly,
                            .steps = r.instructions,
                            .slept = r.slept_ms,
                            .has_last_read = r.has_last_read,
                            .last_read = r.last_read,
                            .has_fault = r.state == GPU_TASK_FAULTED,
                            .inst = r.fault_instruction,
                            .opcode = r.fault_opcode,
                            .kind = r.fault_kind,
                            .address = r.fault_address,
                            .length = r.fault_length};
        if (kblob_vector_compare(v, &o)) compare_memory(v, peek_here, memory);
    }
    kblob_memory_delete(memory);
}

static bool place_there(void *machine, uint64_t base, uint64_t size, penta_bytes init)
{
    return !gpu_emulator_alloc_at(machine, base, size) &&
           !gpu_emulator_write(machine, base, init.data, init.size);
}

static bool peek_there(void *machine, uint64_t address, void *into, size_t size)
{
    return !gpu_emulator_read(machine, address, into, size);
}

static void launch_there(struct vector *v, gpu_emulator *dev)
{
    uint32_t launch = 0;
    gpu_task_info t;
    if (!place_memory(v, place_there, dev) ||
        !trial_status(&v->trial, GPU_OK, gpu_emulator_launch_task(dev, 1, NULL, 0, &launch)) ||
        !trial_status(&v->trial, GPU_OK, gpu_emulator_wait(dev, WAIT_FOREVER)) ||
        !trial_status(&v->trial, GPU_OK, gpu_emulator_task_info(dev, launch, &t)))
        return;
    struct outcome o = {.state = t.state,
                        .halted = -1,
                        .steps = t.instructions,
                        .slept = t.slept_ms,
                        .has_last_read = t.flags & GPU_TASK_HAS_LAST_READ,
                        .last_read = t.last_read,
                        .has_fault = t.flags & GPU_TASK_HAS_FAULT,
                        .inst = t.instruction,
                        .opcode = t.opcode,
                        .kind = t.kind,
                        .address = t.address,
                        .length = t.length};
    if (kblob_vector_compare(v, &o)) compare_memory(v, peek_there, dev);
}

static void run_on_device(struct vector *v, kblob_code code, uint32_t index)
{
    trial_where(&v->trial, "the device");
    /* In this mode SLEEP takes no real time. */
    gpu_emulator_options options = {.mode = GPU_MODE_SEEDED, .device_path = v->trial.c->device};
    gpu_emulator *dev;
    if (!trial_status(&v->trial, GPU_OK, gpu_emulator_open(&dev, &options))) return;
    gpu_status status = gpu_emulator_register_kernel(dev, 1, v->blob, v->size);
    if (trial_status(&v->trial, code ? GPU_ERR_INVALID_KERNEL_BLOB : GPU_OK, status)) {
        uint8_t refusal[wire_refusal_bytes] = {(uint8_t)code};
        bytes_put32(refusal + 1, index);
        if (code)
            trial_bytes(&v->trial, "refusal", (penta_bytes){refusal, sizeof refusal},
                        writer_view(&dev->reply));
        else if (v->run)
            launch_there(v, dev);
    }
    gpu_emulator_close(dev);
}

static void run_vector(struct vector *v)
{
    struct trial *k = &v->trial;
    static const char *const known[] = {
        "status", "halted_explicitly", "steps", "slept_ms", "last_read",
        "fault",  "memory_after",      NULL};
    const char *validate = json_as_text(json_get(v->expect, "validate"));
    uint64_t number = 0;
    if (!v->blob || !validate) {
        trial_malformed(k, "'blob_hex' is not hex, or 'validate' not a text");
        return;
    }
    uint32_t index = 0;
    kblob_code code = kblob_validate(v->blob, v->size, 0, &index);
    if (!trial_text(k, "validate", validate, kblob_code_name(code))) return;
    if (json_has(v->expect, "instruction")) {
        const struct json_object *at = json_get(v->expect, "instruction");
        if (json_is_null(at))
            number = NO_INDEX;
        else if (!trial_member(k, v->expect, "instruction", &number))
            return;
        if (!trial_uint(k, "instruction", number, index)) return;
    }
    if (v->run && (code || !trial_keys(k, v->run, known))) {
        trial_malformed(k, "'run' for a blob that is not valid");
        return;
    }
    if (v->run) run_interpreter(v);
    if (!k->judged) run_on_device(v, code, index);
}

static void run_vector_document(struct conform *c, const struct json_object *root)
{
    struct vector v = {.trial = trial_begin(c, root),
                       .expect = json_get(root, "expect"),
                       .memory = json_get(root, "memory")};
    v.run = json_get(v.expect, "run");
    v.blob = json_as_hex(json_get(root, "blob_hex"), &v.size);
    uint64_t size = v.size;
    if (json_has(root, "size") && trial_member(&v.trial, root, "size", &size))
        trial_uint(&v.trial, "size", size, v.size);
    if (!v.trial.judged) run_vector(&v);
    free(v.blob);
    trial_end(&v.trial);
}

static bool is_vector(const struct json_object *root)
{
    return json_is_object(root) && json_has(root, "blob_hex") && json_has(root, "expect");
}

static bool is_manifest(const struct json_object *root)
{
    return list_with(root, "file") && list_with(root, "validate");
}

DOCUMENT_FORM(kblob_vector, is_vector, run_vector_document)
/* The files that the manifest names are cases themselves. */
DOCUMENT_FORM(kblob_manifest, is_manifest, NULL)

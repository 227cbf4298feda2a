/* Kernel blob vectors: a blob, its verdict, and for a valid one what running it gives, in this
 * process and on the device. */
#include "conform/kblob.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "kblob/vm/memory.h"

/* ---- checks ---- */

struct check check_begin(struct conform *c, const struct json_object *item)
{
    const char *name = json_as_text(json_get(item, "name"));
    return (struct check){.conform = c, .name = name ? name : "(no name)"};
}

void check_where(struct check *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(k->where, sizeof k->where, format, args);
    va_end(args);
}

static bool deliver(struct check *k, const char *expected, const char *format, va_list args)
{
    char got[300];
    vsnprintf(got, sizeof got, format, args);
    if (!k->failed)
        conform_fail(k->conform, k->name, expected, "%s%s%s", got, k->where[0] ? " in " : "",
                     k->where);
    k->failed = true;
    return false;
}

bool check_fail(struct check *k, const char *expected, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    deliver(k, expected, format, args);
    va_end(args);
    return false;
}

bool check_malformed(struct check *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    deliver(k, "a well-formed case", format, args);
    va_end(args);
    return false;
}

bool check_uint(struct check *k, const char *what, uint64_t expected, uint64_t got)
{
    if (expected == got) return true;
    char text[80];
    snprintf(text, sizeof text, "%s %llu", what, (unsigned long long)expected);
    return check_fail(k, text, "%llu", (unsigned long long)got);
}

bool check_word(struct check *k, const char *what, uint64_t expected, uint64_t got)
{
    if (expected == got) return true;
    char text[80];
    snprintf(text, sizeof text, "%s 0x%llx", what, (unsigned long long)expected);
    return check_fail(k, text, "0x%llx", (unsigned long long)got);
}

bool check_text(struct check *k, const char *what, const char *expected, const char *got)
{
    if (!strcmp(expected, got)) return true;
    char text[120];
    snprintf(text, sizeof text, "%s %s", what, expected);
    return check_fail(k, text, "%s", got);
}

bool check_bytes(struct check *k, const char *what, penta_bytes expected, penta_bytes got)
{
    if (bytes_equal(expected, got)) return true;
    size_t at = 0;
    while (at < expected.size && at < got.size && expected.data[at] == got.data[at]) at++;
    struct writer want = {0}, have = {0};
    writer_print(&want, "%s, %zu bytes, from %zu on ", what, expected.size, at);
    writer_hex(&want, bytes_slice(expected, at, 16));
    writer_print(&have, "%zu bytes, ", got.size);
    writer_hex(&have, bytes_slice(got, at, 16));
    writer_char(&want, 0);
    writer_char(&have, 0);
    if (want.failed || have.failed)
        check_fail(k, what, "other bytes");
    else
        check_fail(k, (const char *)want.out.data, "%s", (const char *)have.out.data);
    writer_free(&want);
    writer_free(&have);
    return false;
}

bool check_status(struct check *k, gpu_status expected, gpu_status got)
{
    return check_text(k, "status", gpu_status_string(expected), gpu_status_string(got));
}

struct key_check {
    struct check *check;
    const char *const *known;
};

static void check_key(void *user, const char *key, const struct json_object *value)
{
    (void)value;
    struct key_check *c = user;
    for (size_t i = 0; c->known[i]; i++)
        if (!strcmp(c->known[i], key)) return;
    check_malformed(c->check, "unknown field '%.60s'", key);
}

bool check_keys(struct check *k, const struct json_object *object, const char *const *known)
{
    struct key_check c = {k, known};
    if (!json_is_object(object)) return check_malformed(k, "no object where one belongs");
    json_each(object, check_key, &c);
    return !k->failed;
}

void check_end(struct check *k)
{
    if (!k->failed) conform_pass(k->conform, k->name);
}

bool list_with(const struct json_object *root, const char *key)
{
    for (size_t i = 0; i < json_length(root); i++)
        if (json_is_object(json_item(root, i)) && json_has(json_item(root, i), key)) return true;
    return false;
}

/* ---- vectors ---- */

struct vector {
    struct check check;
    const struct json_object *expect, *run, *memory;
    uint8_t *blob;
    size_t size;
};

struct outcome { /* of either machine */
    uint32_t state;
    int halted; /* -1: this machine does not say */
    uint64_t steps, slept;
    bool has_last_read, has_fault;
    uint64_t last_read;
    uint32_t inst;
    uint8_t opcode, kind;
    uint64_t address, length;
};

static bool member_uint(struct check *k, const struct json_object *object, const char *key,
                        uint64_t *out)
{
    return json_as_uint(json_get(object, key), out) ||
           check_malformed(k, "'%s' is not a number", key);
}

static bool compare_fault(struct check *k, const struct json_object *fault, const struct outcome *o)
{
    static const char *const known[] = {"kind", "inst",   "opcode", "address",
                                        "size", "length", NULL};
    if (json_is_null(fault))
        return !o->has_fault ||
               check_fail(k, "no fault", "%s at %u", kblob_fault_name(o->kind), o->inst);
    if (!check_keys(k, fault, known)) return false;
    if (!o->has_fault) return check_fail(k, "a fault", "none");
    const char *kind = json_as_text(json_get(fault, "kind"));
    if (json_has(fault, "kind") && !(kind ? check_text(k, "fault", kind, kblob_fault_name(o->kind))
                                          : check_malformed(k, "'kind' is not a text")))
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
        if (!member_uint(k, fault, numbers[i].key, &want) ||
            !check_word(k, numbers[i].key, want, numbers[i].got))
            return false;
    }
    return true;
}

static bool compare(struct vector *v, const struct outcome *o)
{
    struct check *k = &v->check;
    const struct json_object *run = v->run;
    uint64_t want = 0;
    const char *status = json_as_text(json_get(run, "status"));
    if (!status) return check_malformed(k, "'status' is not a text");
    const char *state = task_state_name(o->state);
    if (!check_text(k, "status", status, state ? state : "unknown")) return false;
    if (json_has(run, "halted_explicitly") && o->halted >= 0) {
        if (!json_is_bool(json_get(run, "halted_explicitly")))
            return check_malformed(k, "'halted_explicitly' is not true or false");
        bool halted = json_as_bool(json_get(run, "halted_explicitly"));
        if (!check_uint(k, "halted_explicitly", halted, (uint64_t)o->halted)) return false;
    }
    if (json_has(run, "steps") &&
        !(member_uint(k, run, "steps", &want) && check_uint(k, "steps", want, o->steps)))
        return false;
    if (json_has(run, "slept_ms") &&
        !(member_uint(k, run, "slept_ms", &want) && check_uint(k, "slept_ms", want, o->slept)))
        return false;
    if (json_has(run, "last_read")) {
        bool none = json_is_null(json_get(run, "last_read"));
        if (!check_uint(k, "last_read present", !none, o->has_last_read)) return false;
        if (!none && !(member_uint(k, run, "last_read", &want) &&
                       check_word(k, "last_read", want, o->last_read)))
            return false;
    }
    return !json_has(run, "fault") || compare_fault(k, json_get(run, "fault"), o);
}

/* Calls peek for each entry of memory_after and compares. */
typedef bool peek_fn(void *machine, uint64_t address, void *into, size_t size);

static bool compare_memory(struct vector *v, peek_fn *peek, void *machine)
{
    struct check *k = &v->check;
    const struct json_object *after = json_get(v->run, "memory_after");
    if (json_has(v->run, "memory_after") && !json_is_list(after))
        return check_malformed(k, "'memory_after' is not a list");
    for (size_t i = 0; i < json_length(after) && !k->failed; i++) {
        uint64_t base = 0;
        size_t size = 0;
        if (!member_uint(k, json_item(after, i), "base", &base)) return false;
        uint8_t *want = json_as_hex(json_get(json_item(after, i), "bytes"), &size);
        uint8_t *got = malloc(size ? size : 1);
        if (!want || !got)
            check_malformed(k, "'bytes' is not hex");
        else if (!peek(machine, base, got, size))
            check_fail(k, "readable memory", "none at 0x%llx", (unsigned long long)base);
        else
            check_bytes(k, "memory_after", (penta_bytes){want, size}, (penta_bytes){got, size});
        free(want);
        free(got);
    }
    return !k->failed;
}

/* Places the memory of the vector. */
typedef bool place_fn(void *machine, uint64_t base, uint64_t size, penta_bytes init);

static bool place_memory(struct vector *v, place_fn *place, void *machine)
{
    struct check *k = &v->check;
    if (v->memory && !json_is_list(v->memory)) return check_malformed(k, "'memory' is not a list");
    for (size_t i = 0; i < json_length(v->memory); i++) {
        const struct json_object *m = json_item(v->memory, i);
        uint64_t base = 0, size = 0;
        size_t init_size = 0;
        if (!member_uint(k, m, "base", &base) || !member_uint(k, m, "size", &size)) return false;
        uint8_t *init = json_has(m, "init") ? json_as_hex(json_get(m, "init"), &init_size) : NULL;
        if ((json_has(m, "init") && !init) || init_size > size) {
            free(init);
            return check_malformed(k, "'init' is not hex of at most 'size' bytes");
        }
        bool ok = place(machine, base, size, (penta_bytes){init, init_size});
        free(init);
        if (!ok) return check_fail(k, "memory", "cannot place 0x%llx", (unsigned long long)base);
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

static void run_here(struct vector *v)
{
    check_where(&v->check, "the interpreter");
    kblob_memory *memory = kblob_memory_new(0);
    kblob_result r = {0};
    if (!memory) {
        check_fail(&v->check, "memory", "none");
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
        if (compare(v, &o)) compare_memory(v, peek_here, memory);
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
        !check_status(&v->check, GPU_OK, gpu_emulator_launch_task(dev, 1, NULL, 0, &launch)) ||
        !check_status(&v->check, GPU_OK, gpu_emulator_wait(dev, WAIT_FOREVER)) ||
        !check_status(&v->check, GPU_OK, gpu_emulator_task_info(dev, launch, &t)))
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
    if (compare(v, &o)) compare_memory(v, peek_there, dev);
}

static void run_there(struct vector *v, kblob_code code, uint32_t index)
{
    check_where(&v->check, "the device");
    gpu_emulator_options options = {.mode = GPU_MODE_SEEDED, /* no real time for SLEEP */
                                    .device_path = v->check.conform->device};
    gpu_emulator *dev;
    if (!check_status(&v->check, GPU_OK, gpu_emulator_open(&dev, &options))) return;
    gpu_status status = gpu_emulator_register_kernel(dev, 1, v->blob, v->size);
    if (check_status(&v->check, code ? GPU_ERR_INVALID_KERNEL_BLOB : GPU_OK, status)) {
        uint8_t refusal[wire_refusal_bytes] = {(uint8_t)code};
        put32(refusal + 1, index);
        if (code)
            check_bytes(&v->check, "refusal", (penta_bytes){refusal, sizeof refusal},
                        writer_view(&dev->reply));
        else if (v->run)
            launch_there(v, dev);
    }
    gpu_emulator_close(dev);
}

static void run_vector(struct vector *v)
{
    struct check *k = &v->check;
    static const char *const known[] = {
        "status", "halted_explicitly", "steps", "slept_ms", "last_read",
        "fault",  "memory_after",      NULL};
    const char *validate = json_as_text(json_get(v->expect, "validate"));
    uint64_t number = 0;
    if (!v->blob || !validate) {
        check_malformed(k, "'blob_hex' is not hex, or 'validate' not a text");
        return;
    }
    uint32_t index = 0;
    kblob_code code = kblob_validate(v->blob, v->size, 0, &index);
    if (!check_text(k, "validate", validate, kblob_code_name(code))) return;
    if (json_has(v->expect, "instruction")) {
        const struct json_object *at = json_get(v->expect, "instruction");
        if (json_is_null(at))
            number = NO_INDEX;
        else if (!member_uint(k, v->expect, "instruction", &number))
            return;
        if (!check_uint(k, "instruction", number, index)) return;
    }
    if (v->run && (code || !check_keys(k, v->run, known))) {
        check_malformed(k, "'run' for a blob that is not valid");
        return;
    }
    if (v->run) run_here(v);
    if (!k->failed) run_there(v, code, index);
}

static void run_vector_document(struct conform *c, const struct json_object *root)
{
    struct vector v = {.check = check_begin(c, root),
                       .expect = json_get(root, "expect"),
                       .memory = json_get(root, "memory")};
    v.run = json_get(v.expect, "run");
    v.blob = json_as_hex(json_get(root, "blob_hex"), &v.size);
    uint64_t size = v.size;
    if (json_has(root, "size") && member_uint(&v.check, root, "size", &size))
        check_uint(&v.check, "size", size, v.size);
    if (!v.check.failed) run_vector(&v);
    free(v.blob);
    check_end(&v.check);
}

static bool is_vector(const struct json_object *root)
{
    return json_is_object(root) && json_has(root, "blob_hex") && json_has(root, "expect");
}

static bool is_manifest(const struct json_object *root)
{
    return list_with(root, "file") && list_with(root, "validate");
}

const struct conform_form conform_kblob_vector = {"kblob vector", is_vector, run_vector_document};
/* The files it names are cases themselves. */
const struct conform_form conform_kblob_manifest = {"kblob manifest", is_manifest, NULL};

#include "checks.h"
#include <string.h>
#include "base/bytes.h"
#include "base/codec/checksum.h"
#include "core/driver.h"
#include "core/views/diff.h"
#include "core/views/views.h"

struct verdict {
    uint64_t size;
    bool bad;
    size_t count;
};

static void on_finding(void *user, const penta_error *e)
{
    struct verdict *v = user;
    v->count++;
    if (!penta_code_name(e->code) || !e->message[0] || (!e->decoded && e->offset > v->size)) {
        if (!v->bad) check_failed("a finding without code, message or place", e->code, e->offset);
        v->bad = true;
    }
}

static void check_views(const penta_module *module, penta_bytes file, bool documents)
{
    struct coverage coverage = {0};
    penta_visitor tiling = coverage_visitor(&coverage);
    penta_describe(module, &tiling);
    if (!coverage_complete(&coverage, file.size))
        check_failed("describe does not tile the file",
                     coverage.broken ? coverage.at : coverage.next, file.size);
    if (!documents) return;
    penta_buffer json = {0};
    penta_error err = {0};
    if (!penta_describe_json(module, &json, &err)) check_failed("describe_json", err.code, 0);
    penta_buffer_free(&json);
    if (!penta_info_json(module, &json, &err)) check_failed("info_json", err.code, 0);
    penta_buffer_free(&json);
}

static bool checks_same(penta_bytes a, const penta_buffer *b)
{
    return a.size == b->size && (!a.size || !memcmp(a.data, b->data, a.size));
}

static void check_text(const penta_module *module, penta_bytes file)
{
    penta_buffer text = {0}, again = {0};
    penta_error err = {0};
    if (!module->driver->print) return;
    bool printed = penta_print(module, NULL, 0, &text, &err);
    if (penta_module_damage(module)) {
        if (printed) check_failed("a damaged module was printed", 0, 0);
    } else if (!printed) {
        check_failed(err.message, err.code, err.offset);
    } else {
        struct verdict v = {.size = text.size};
        penta_module *back = penta_assemble((penta_bytes){text.data, text.size},
                                            module->driver->name, NULL, 0, on_finding, &v);
        if (!back)
            check_failed("its own listing does not assemble", v.count, text.size);
        else if (!penta_encode(back, &again, &err) || !checks_same(file, &again))
            check_failed("print and assemble give other bytes", again.size, file.size);
        penta_close(back);
    }
    penta_buffer_free(&text);
    penta_buffer_free(&again);
}

/* Checks that a snapshot with other contents and a right checksum is loaded wholly or not at
 * all. */
static void check_bad_snapshots(penta_vm *vm, const penta_buffer *good)
{
    enum { HEAD = 16, TAIL = 8, TRIES = 12 };
    penta_bytes body = {good->data, good->size - TAIL};
    for (size_t i = 0; i < TRIES && good->size > HEAD + TAIL; i++) {
        penta_error err = {0};
        penta_buffer after = {0};
        size_t at = HEAD + i * 40503 % (body.size - HEAD); /* The changed bytes are spread over
                                                            * the snapshot. */
        uint8_t old = good->data[at];
        uint64_t old_sum = bytes_get64(good->data + body.size), sum;
        good->data[at] ^= (uint8_t)(i % 2 ? 0x80 : 1);
        sum = checksum_xxh64(body);
        for (int k = 0; k < TAIL; k++) good->data[body.size + (size_t)k] = (uint8_t)(sum >> 8 * k);
        bool loaded = penta_vm_load(vm, (penta_bytes){good->data, good->size}, &err);
        good->data[at] = old;
        for (int k = 0; k < TAIL; k++)
            good->data[body.size + (size_t)k] = (uint8_t)(old_sum >> 8 * k);
        penta_vm_save(vm, &after, &err);
        if (!loaded && !checks_same((penta_bytes){good->data, good->size}, &after))
            check_failed("a refused snapshot changed the machine", at, good->size);
        if (loaded) {
            penta_stop stop;
            penta_vm_run(vm, 50, &stop);
            penta_vm_load(vm, (penta_bytes){good->data, good->size}, &err);
        }
        penta_buffer_free(&after);
    }
}

/* Opens a machine, with little memory where the format has such options, because a snapshot
 * looks at all of the memory and sanitizers fill it. */
static penta_vm *open_machine(const penta_module *module, penta_error *err)
{
    static const penta_option small[] = {{"stack", "512"}, {"heap", "65536"}, {"frames", "65536"}};
    penta_option known[3];
    size_t count = 0;
    if (!module->driver->engines) return NULL;
    for (size_t i = 0; i < 3; i++)
        for (const penta_option_info *o = module->driver->options; o && o->key; o++)
            if (!strcmp(o->key, small[i].key) && o->uses & OPTION_RUN) known[count++] = small[i];
    penta_vm *vm = penta_vm_new(module, NULL, known, count, NULL, err);
    if (!vm && !err->code) check_failed("no machine and no reason", 0, 0);
    return vm;
}

/* Checks what the table of stops in penta.h says: the instruction of a trap or fault comes after
 * the counted ones, that of a halt or host call is the last of them, and pc is its place. */
static void check_stop(const penta_module *module, const penta_stop *stop)
{
    bool before = stop->kind == PENTA_STOP_TRAP || stop->kind == PENTA_STOP_FAULT,
         last = stop->kind == PENTA_STOP_HALT || stop->kind == PENTA_STOP_HOST;
    struct writer text = {0};
    penta_error err = {0};
    bool there = module->driver->print_at && module->driver->print_at(module, stop->pc, &text);
    writer_free(&text);
    if (!there || (!before && !(last && stop->steps))) return;
    penta_vm *vm = open_machine(module, &err);
    if (!vm) return;
    penta_stop here;
    penta_vm_run(vm, stop->steps - last, &here);
    if (here.kind != PENTA_STOP_FUEL || here.pc != stop->pc)
        check_failed("the stop is not at its instruction", here.pc, stop->pc);
    penta_vm_free(vm);
}

static void check_machine(const penta_module *module)
{
    penta_error err = {0};
    penta_vm *vm = open_machine(module, &err);
    if (!vm) return;
    penta_stop stop = {0};
    penta_vm_run(vm, 1000, &stop);
    if (stop.steps > 1000) check_failed("more steps than fuel", stop.steps, 1000);
    penta_buffer one = {0}, two = {0};
    if (!penta_vm_save(vm, &one, &err)) check_failed("save", err.code, 0);
    if (!penta_vm_load(vm, (penta_bytes){one.data, one.size}, &err))
        check_failed("load", err.code, 0);
    penta_vm_save(vm, &two, &err);
    if (!checks_same((penta_bytes){one.data, one.size}, &two))
        check_failed("save, load, save differ", one.size, two.size);
    if (one.size && penta_vm_load(vm, (penta_bytes){one.data, one.size - 1}, &err))
        check_failed("a truncated snapshot was loaded", one.size, 0);
    penta_buffer_free(&one);
    penta_buffer_free(&two);
    penta_vm_free(vm);
}

void check_file(penta_bytes file, const char *format) { check_variant(file, format, true); }

void check_variant(penta_bytes file, const char *format, bool documents)
{
    penta_error err = {0};
    penta_guess guess[8];
    penta_detect(file, guess, 8);
    penta_module *module = penta_open(file, format, NULL, 0, &err);
    if (!module) {
        if (!penta_code_name(err.code) || !err.message[0])
            check_failed("no module and no reason", err.code, 0);
        return;
    }
    struct verdict v = {.size = file.size};
    bool valid = penta_validate(module, on_finding, &v);
    if (penta_module_damage(module) && valid) check_failed("damaged, yet valid", 0, 0);
    check_views(module, file, documents);
    penta_buffer again = {0};
    if (!penta_encode(module, &again, &err) || !checks_same(file, &again))
        check_failed("parse and encode give other bytes", again.size, file.size);
    penta_buffer_free(&again);
    check_text(module, file);
    check_machine(module);
    penta_close(module);
}

static void no_difference(void *user, const penta_difference *d) { (void)user, (void)d; }

void check_whole_file(penta_bytes file, const char *format)
{
    penta_error err = {0};
    penta_module *module = penta_open(file, format, NULL, 0, &err);
    if (!module) return;
    size_t count = diff_modules(module, module, NULL, no_difference, NULL, &err);
    if (count) check_failed("a file differs from itself", count, file.size);
    penta_vm *vm = open_machine(module, &err);
    if (vm) {
        penta_stop stop;
        penta_buffer saved = {0};
        penta_vm_run(vm, 1000, &stop);
        check_stop(module, &stop);
        if (penta_vm_save(vm, &saved, &err)) check_bad_snapshots(vm, &saved);
        penta_buffer_free(&saved);
    }
    penta_vm_free(vm);
    penta_close(module);
}

static void checks_ignore(void *user, const penta_error *e) { (void)user, (void)e; }

void check_text_source(penta_bytes text, const char *format)
{
    struct verdict v = {.size = text.size};
    penta_module *module = penta_assemble(text, format, NULL, 0, on_finding, &v);
    if (!module) {
        if (!v.count) check_failed("not assembled, and no reason", 0, 0);
        return;
    }
    penta_validate(module, checks_ignore, NULL);
    check_views(module, module->file, true);
    check_text(module, module->file);
    penta_close(module);
}

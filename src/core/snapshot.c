/* Saves and loads machines by walking over their fields. Loading checks the frame and the hash of a snapshot first,
 * and restores the old state when the walk finds something wrong. */
#include "core/snapshot.h"
#include <string.h>
#include "base/array.h"
#include "base/codec/checksum.h"
#include "core/driver.h"

static const char magic[] = "PNTS";
enum { VERSION = 1, HEAD = 16, TAIL = 8, PAGE = 4096 };

void walk_wrong(struct walk *w, const char *why)
{
    if (walk_loads(w)) error_at(w->in.err, BASE_SNAPSHOT, reader_at(&w->in), "%s", why);
}

uint64_t walk_number(struct walk *w, uint64_t value)
{
    if (walk_loads(w)) return reader_uint(&w->in, 8);
    writer_uint(w->out, value, 8);
    return value;
}

/* Reads the number at p in the byte order of the processor. */
static uint64_t load_item(const uint8_t *p, size_t item)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (item) {
    case 1: return *p;
    case 2: memcpy(&two, p, 2); return two;
    case 4: memcpy(&four, p, 4); return four;
    default: memcpy(&eight, p, 8); return eight;
    }
}

static void store_item(uint8_t *p, size_t item, uint64_t value)
{
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;
    switch (item) {
    case 1: *p = (uint8_t)value; break;
    case 2: memcpy(p, &two, 2); break;
    case 4: memcpy(p, &four, 4); break;
    default: memcpy(p, &value, 8); break;
    }
}

void walk_numbers(struct walk *w, void *data, size_t count, size_t item)
{
    uint8_t *p = data;
    for (size_t i = 0; i < count; i++, p += item) {
        if (walk_loads(w))
            store_item(p, item, reader_uint(&w->in, item));
        else
            writer_uint(w->out, load_item(p, item), item);
    }
}

size_t walk_count(struct walk *w, size_t count, size_t item)
{
    uint64_t n = walk_number(w, count);
    return walk_loads(w) ? reader_count(&w->in, n, item) : count;
}

void walk_array(struct walk *w, void *items, size_t *count, size_t *capacity, size_t item)
{
    size_t n = walk_count(w, *count, item);
    void *data;
    if (walk_loads(w) && !array_reserve(items, capacity, n, item))
        error_at(w->in.err, BASE_MEMORY, 0, "no memory for the snapshot");
    if (walk_failed(w)) return;
    *count = n;
    memcpy(&data, items, sizeof data);
    walk_numbers(w, data, n, item);
}

static bool snapshot_blank(const uint8_t *bytes, size_t size)
{
    static const uint8_t zeros[PAGE];
    return !memcmp(bytes, zeros, size);
}

static size_t page_size(uint64_t size, uint64_t page)
{
    uint64_t left = size - page * PAGE;
    return left < PAGE ? (size_t)left : PAGE;
}

static void save_memory(struct writer *out, const uint8_t *bytes, uint64_t size, uint64_t used)
{
    size_t count_at = out->out.size;
    uint64_t stored = 0;
    writer_uint(out, 0, 8);
    for (uint64_t page = 0; page * PAGE < used; page++) {
        size_t n = page_size(size, page);
        if (snapshot_blank(bytes + page * PAGE, n)) continue;
        writer_uint(out, page, 8);
        writer_bytes(out, bytes + page * PAGE, n);
        stored++;
    }
    writer_patch(out, count_at, stored, 8);
}

void walk_memory(struct walk *w, uint8_t *bytes, uint64_t size, uint64_t used)
{
    if (!walk_loads(w)) {
        save_memory(w->out, bytes, size, used);
        return;
    }
    /* Pages that are zero are not written, so that memory which was never used takes no pages of the system. */
    for (uint64_t page = 0; page * PAGE < used; page++)
        if (!snapshot_blank(bytes + page * PAGE, page_size(size, page)))
            memset(bytes + page * PAGE, 0, page_size(size, page));
    uint64_t next = 0;
    for (uint64_t stored = walk_number(w, 0); stored && !walk_failed(w); stored--) {
        uint64_t page = walk_number(w, 0);
        if (page < next || page >= size / PAGE + (size % PAGE != 0)) {
            walk_wrong(w, "the snapshot has pages in the wrong order");
            return;
        }
        next = page + 1;
        const uint8_t *from = reader_take(&w->in, page_size(size, page));
        if (from) memcpy(bytes + page * PAGE, from, page_size(size, page));
    }
}

/* Returns the number of the machine's format. A machine that was made of code without a file has
 * no module. */
static uint16_t format_number(const penta_vm *vm)
{
    return vm->module ? vm->module->driver->number : 0;
}

/* Returns the hash of the program's file. It is kept in the machine, which belongs to one
 * thread, because a debugger saves often and files can be large. */
static uint64_t program_hash(const penta_vm *vm)
{
    penta_vm *own = (penta_vm *)(uintptr_t)vm;
    if (vm->module && !vm->hashed) own->hash = checksum_xxh64(vm->module->file);
    own->hashed = true;
    return vm->hash;
}

/* Checks everything in a snapshot except the state itself. */
static bool open_frame(const penta_vm *vm, penta_bytes saved, struct walk *w, penta_error *err)
{
    if (saved.size < HEAD + TAIL || memcmp(saved.data, magic, 4))
        return error_at(err, BASE_SNAPSHOT, 0, "not a snapshot");
    if (bytes_get16(saved.data + 4) != VERSION)
        return error_at(err, BASE_SNAPSHOT, 4, "a snapshot of version %u, expected %u",
                        bytes_get16(saved.data + 4), VERSION);
    size_t end = saved.size - TAIL;
    if (checksum_xxh64(bytes_slice(saved, 0, end)) != bytes_get64(saved.data + end))
        return error_at(err, BASE_SNAPSHOT, end, "damaged: it is not a snapshot any more");
    if (bytes_get16(saved.data + 6) != format_number(vm))
        return error_at(err, BASE_SNAPSHOT, 6, "the snapshot is of a machine of another format");
    if (bytes_get64(saved.data + 8) != program_hash(vm))
        return error_at(err, BASE_SNAPSHOT, 8, "the snapshot is of another program");
    *w = (struct walk){.in = {.in = bytes_slice(saved, 0, end), .pos = HEAD, .err = err}};
    return true;
}

bool snapshot_save(const penta_vm *vm, struct writer *out)
{
    struct walk w = {.out = out};
    size_t from = out->out.size;
    writer_bytes(out, magic, 4);
    writer_uint(out, VERSION, 2);
    writer_uint(out, format_number(vm), 2);
    writer_uint(out, program_hash(vm), 8);
    vm->engine->walk((penta_vm *)(uintptr_t)vm, &w); /* A walk that saves only reads the machine. */
    if (!out->failed)
        writer_uint(out, checksum_xxh64(bytes_slice(writer_view(out), from, SIZE_MAX)), 8);
    return !out->failed;
}

bool snapshot_restore(penta_vm *vm, penta_bytes saved, penta_error *err)
{
    struct walk w;
    if (!open_frame(vm, saved, &w, err)) return false;
    vm->engine->walk(vm, &w);
    if (!err->code && reader_left(&w.in)) walk_wrong(&w, "there are bytes after the last");
    return !err->code;
}

bool snapshot_save_state(const penta_vm *vm, struct writer *out)
{
    struct walk w = {.out = out, .brief = true};
    vm->engine->walk((penta_vm *)(uintptr_t)vm, &w); /* A walk that saves only reads the machine. */
    return !out->failed;
}

bool snapshot_load_state(penta_vm *vm, penta_bytes saved, penta_error *err)
{
    struct writer before = {0};
    penta_error ignored = {0};
    struct walk w = {.in = {.in = saved, .err = err}, .brief = true};
    if (!snapshot_save(vm, &before)) {
        writer_free(&before);
        return error_at(err, BASE_MEMORY, 0, "no memory for the snapshot");
    }
    vm->engine->walk(vm, &w);
    if (!err->code && reader_left(&w.in)) walk_wrong(&w, "there are bytes after the last");
    if (err->code) snapshot_restore(vm, writer_view(&before), &ignored);
    writer_free(&before);
    return !err->code;
}

bool snapshot_load(penta_vm *vm, penta_bytes saved, penta_error *err)
{
    struct writer before = {0};
    struct walk checked;
    penta_error ignored = {0};
    if (!open_frame(vm, saved, &checked, err)) return false;
    if (!snapshot_save(vm, &before)) {
        writer_free(&before);
        return error_at(err, BASE_MEMORY, 0, "no memory for the snapshot");
    }
    bool loaded = snapshot_restore(vm, saved, err);
    if (!loaded) snapshot_restore(vm, writer_view(&before), &ignored);
    writer_free(&before);
    return loaded;
}

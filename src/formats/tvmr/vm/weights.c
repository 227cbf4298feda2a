/* Loads and saves the weight files of a machine. A file is written, synced and renamed, so that a crash leaves
 * either the old file or the new one. */
#include "tvmr/format/weights.h"
#include "base/file/file.h"
#include "tvmr/vm/vm.h"
#include <stdio.h>

static bool weights_storable(const struct tvmr_cold *c)
{
    if (!c->present || !c->key_size || c->shape.rank > 255) return false;
    for (unsigned i = 0; i < c->shape.rank; i++)
        if (c->shape.dims[i] > UINT16_MAX) return false;
    return true;
}

static void write_entry(struct writer *out, penta_bytes key, const struct tvmr_cold *c)
{
    writer_uint(out, key.size, 1);
    writer_bytes(out, key.data, key.size);
    writer_uint(out, c->shape.rank, 1);
    for (unsigned i = 0; i < c->shape.rank; i++) writer_uint(out, c->shape.dims[i], 2);
    writer_uint(out, c->temps != NULL, 1);
    for (size_t i = 0; i < c->count; i++) {
        writer_uint(out, (uint8_t)c->weights[i].polarity, 1);
        writer_uint(out, c->weights[i].magnitude, 1);
    }
    if (c->temps) writer_bytes(out, c->temps, c->count);
}

bool tvmr_weights_save(const struct tvmr_vm *vm, const char *path, penta_error *err)
{
    struct writer out = {0};
    size_t count = 0;
    for (unsigned i = 0; i < TVMR_BANK; i++) count += weights_storable(&vm->cold[i]);
    tvmr_weights_begin(&out, count);
    for (unsigned i = 0; i < TVMR_BANK; i++)
        if (weights_storable(&vm->cold[i]))
            write_entry(&out, (penta_bytes){vm->cold[i].key, vm->cold[i].key_size}, &vm->cold[i]);
    tvmr_weights_end(&out);
    bool ok = writer_ok(&out, err) && file_write(path, writer_view(&out), err);
    writer_free(&out);
    return ok;
}

/* Keeps a warning about the first register whose weights do not fit. */
static void note_unfit(struct tvmr_vm *vm, unsigned index, const struct tvmr_entry *e)
{
    if (*vm->warning) return;
    snprintf(vm->warning, sizeof vm->warning,
             "C%u keeps its weights: the file has %zu under its key, the register %zu", index,
             e->weights.size / 2, vm->cold[index].count);
}

void tvmr_weights_missing(const struct tvmr_vm *vm, char *list, size_t size)
{
    *list = 0;
    for (unsigned i = 0; i < TVMR_BANK; i++)
        if ((vm->keyed & ~vm->filled) >> i & 1 && vm->cold[i].present)
            tvmr_key_list_add(list, size, (penta_bytes){vm->cold[i].key, vm->cold[i].key_size});
}

/* Makes the error that no entry of a weight file fits the machine. */
static bool weights_unused(const struct tvmr_vm *vm, const char *path, penta_error *err)
{
    char program[sizeof vm->unused];
    tvmr_weights_missing(vm, program, sizeof program);
    error_at(err, BASE_NAME_UNKNOWN, 0, "no weights of '%.60s' are for this program", path);
    if (*vm->warning) return error_note(err, "%s", vm->warning);
    return error_note(err, "keys of the file: %s; of the program: %s",
                      *vm->unused ? vm->unused : "none", *program ? program : "none");
}

static bool weights_apply(struct tvmr_vm *vm, struct tvmr_cold *c, const struct tvmr_entry *e)
{
    for (size_t i = 0; i < c->count; i++)
        c->weights[i] =
            (struct tvmr_signal){(int8_t)e->weights.data[2 * i], e->weights.data[2 * i + 1]};
    tvmr_cold_changed(c);
    return tvmr_temps_set(vm, c, e->temps.size ? e->temps.data : NULL);
}

/* Gives an entry to the registers with its key. Returns how many took it. */
static size_t entry_load(struct tvmr_vm *vm, const struct tvmr_entry *e, penta_error *err)
{
    size_t loaded = 0;
    bool known = false;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        struct tvmr_cold *c = &vm->cold[i];
        if (!c->present || !e->key.size || c->key_size != e->key.size ||
            memcmp(c->key, e->key.data, e->key.size))
            continue;
        known = true;
        if (c->count * 2 != e->weights.size) {
            note_unfit(vm, i, e);
            continue;
        }
        if (!weights_apply(vm, c, e))
            error_at(err, tvmr_memory_code(vm), 0, "%.100s", vm->fault_text);
        vm->filled |= UINT64_C(1) << i;
        loaded++;
    }
    if (!known) tvmr_key_list_add(vm->unused, sizeof vm->unused, e->key);
    return loaded;
}

bool tvmr_weights_load(struct tvmr_vm *vm, const char *path, size_t *loaded, penta_error *err)
{
    penta_buffer file = {0};
    *loaded = 0;
    if (!file_read(path, UINT64_C(1) << 30, &file, err)) return false;
    penta_bytes all = {file.data, file.size},
                body = bytes_slice(all, 0, all.size < 8 ? 0 : all.size - 8);
    struct reader r = {.in = body, .pos = 8, .err = err};
    if (body.size < 8 || !tvmr_is_weights(body) || bytes_get16(body.data + 4) != TVMW_VERSION)
        error_at(err, BASE_RANGE, 0, "'%.60s' is no weight file of version 1", path);
    else if (!tvmr_weights_sum_good(all))
        error_at(err, BASE_RANGE, 0, "weight file '%.60s' is damaged", path);
    size_t count = err->code ? 0 : bytes_get16(body.data + 6);
    struct tvmr_entry e = {0};
    for (unsigned i = 0; i < TVMR_BANK; i++)
        if (vm->cold[i].present && vm->cold[i].key_size) vm->keyed |= UINT64_C(1) << i;
    for (size_t k = 0; k < count && tvmr_entry_read(&r, &e); k++)
        *loaded += entry_load(vm, &e, err);
    penta_buffer_free(&file);
    if (!err->code && !*loaded && (count || vm->keyed)) weights_unused(vm, path, err);
    return !err->code;
}

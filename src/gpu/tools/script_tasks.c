/* Implements the calls of scripts about launches, task records and reports. */
#include <stdio.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/suggest.h"
#include "gpu/tools/script.h"
#include "kblob/vm/memory.h"

/* Records that a launch runs the newest kernel with this id. */
static void script_tasks_launched(struct script *s, uint64_t id, uint32_t launch)
{
    const penta_module *module = NULL;
    for (size_t i = 0; i < s->kernel_count; i++)
        if (s->kernels[i].id == id) module = s->kernels[i].module;
    if (!launch || !ARRAY_RESERVE(s->launched, s->launched_capacity, launch)) return;
    while (s->launched_count < launch) s->launched[s->launched_count++] = NULL;
    s->launched[launch - 1] = module;
    device_script_give(s, launch);
}

/* Writes " (name+2, file:12)" after the index of an instruction, if the place is known. */
static void script_tasks_place(struct script *s, uint32_t launch, uint32_t index)
{
    const penta_module *module =
        launch && launch <= s->launched_count ? s->launched[launch - 1] : NULL;
    struct writer text = {0};
    if (module) kblob_write_place(&kblob_module(module)->symbols, index, &text);
    if (text.out.size) writer_print(&s->detail, " (%.*s)", BYTES_ARG(text.out, INT_MAX));
    writer_free(&text);
}

bool device_script_on_launch(struct script *s, gpu_status *status)
{
    uint64_t id = 0;
    uint32_t launch = 0;
    penta_bytes args = {NULL, 0};
    if (!device_script_number(s, 64, &id) ||
        (source_accept(&s->source, ',') && !device_script_data(s, &args)))
        return false;
    *status = gpu_emulator_launch_task(s->dev, id, args.data, args.size, &launch);
    if (!*status) script_tasks_launched(s, id, launch);
    return true;
}

/* Reads KEY=NUMBER, .. and the arguments after them, if there are any. */
static bool grid_sizes(struct script *s, gpu_grid *grid, penta_bytes *args)
{
    const struct {
        const char *key;
        uint32_t *to;
    } sizes[] = {{"blocks", &grid->blocks[0]},     {"blocks_y", &grid->blocks[1]},
                 {"blocks_z", &grid->blocks[2]},   {"threads", &grid->threads[0]},
                 {"threads_y", &grid->threads[1]}, {"threads_z", &grid->threads[2]},
                 {"shared", &grid->shared}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    do {
        struct token t = source_peek(&s->source);
        size_t i = 0;
        uint64_t value = 0;
        while (i < SIZES && !token_is(&s->source, t, sizes[i].key)) i++;
        if (i == SIZES) return device_script_data(s, args);
        source_next(&s->source);
        if (!source_expect(&s->source, '=') || !device_script_number(s, 32, &value)) return false;
        *sizes[i].to = (uint32_t)value;
    } while (source_accept(&s->source, ','));
    return true;
}

bool device_script_on_launch_grid(struct script *s, gpu_status *status)
{
    uint64_t id = 0;
    uint32_t launch = 0;
    penta_bytes args = {NULL, 0};
    gpu_grid grid = {{1, 1, 1}, {1, 1, 1}, 0};
    if (!device_script_number(s, 64, &id) || !source_expect(&s->source, ',') ||
        !grid_sizes(s, &grid, &args))
        return false;
    *status = gpu_emulator_launch_grid(s->dev, id, &grid, args.data, args.size, &launch);
    if (!*status) script_tasks_launched(s, id, launch);
    return true;
}

bool device_script_on_wait(struct script *s, gpu_status *status)
{
    uint64_t first = 0, ms = 0;
    if (!device_script_number(s, 32, &first)) return false;
    bool one = source_accept(&s->source, ',');
    if (one && !device_script_number(s, 32, &ms)) return false;
    *status = one ? gpu_emulator_wait_task(s->dev, (uint32_t)first, (uint32_t)ms)
                  : gpu_emulator_wait(s->dev, (uint32_t)first);
    return true;
}

bool device_script_on_stop(struct script *s, gpu_status *status)
{
    uint64_t launch = 0;
    if (!device_script_number(s, 32, &launch)) return false;
    *status = gpu_emulator_stop_task(s->dev, (uint32_t)launch);
    return true;
}

bool device_script_on_args(struct script *s, gpu_status *status)
{
    uint64_t launch = 0;
    size_t size = 0;
    if (!device_script_number(s, 32, &launch)) return false;
    *status = gpu_emulator_task_args(s->dev, (uint32_t)launch, NULL, 0, &size);
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) return error_at(s->source.err, BASE_MEMORY, s->line_at, "no memory");
    if (!*status) *status = gpu_emulator_task_args(s->dev, (uint32_t)launch, bytes, size, &size);
    if (!*status) writer_hex(&s->detail, (penta_bytes){bytes, size});
    bool ok = device_script_expect_data(s, (penta_bytes){bytes, size});
    free(bytes);
    return ok;
}

/* Checks a field. The value is a number or, for the two fields whose values have names, a name. */
static bool field_matches(struct script *s, const char *field, const char *name, uint64_t got)
{
    struct token t = source_peek(&s->source);
    uint64_t want = 0;
    if (!source_expect(&s->source, '=')) return false;
    t = source_peek(&s->source);
    if (name && t.kind == TOKEN_NAME &&
        !device_script_lookup(s, token_text(&s->source, t), &want)) {
        source_next(&s->source);
        if (token_is(&s->source, t, name)) return true;
        char expected[41];
        snprintf(expected, sizeof expected, "%.*s", (int)t.size,
                 (const char *)token_text(&s->source, t).data);
        return device_script_unexpected(s, field, expected, name);
    }
    return device_script_is(s, field, got, false);
}

struct field {
    const char *key, *name; /* name: the name of the value, or NULL */
    uint64_t value;
};

/* Checks every KEY=VALUE up to the end of the line. */
static bool match_fields(struct script *s, const struct field *fields, size_t count)
{
    if (source_peek(&s->source).kind != TOKEN_NAME) return true;
    do {
        struct token t = source_next(&s->source);
        struct suggest near = {.word = token_text(&s->source, t)};
        size_t f = 0;
        for (; f < count && !token_is(&s->source, t, fields[f].key); f++)
            suggest_offer(&near, fields[f].key);
        if (f == count) {
            error_at(s->source.err, BASE_NAME_UNKNOWN, t.offset, "a task has no such field");
            return near.best ? error_note(s->source.err, "did you mean '%s'?", near.best) : false;
        }
        if (!field_matches(s, fields[f].key, fields[f].name, fields[f].value)) return false;
    } while (source_accept(&s->source, ','));
    return true;
}

static bool task_fields(struct script *s, const gpu_task_info *i)
{
    const char *state = task_state_name(i->state);
    const char *fault = i->flags & GPU_TASK_HAS_FAULT ? kblob_fault_name(i->kind) : "NONE";
    const struct field fields[] = {{"state", state ? state : "UNKNOWN", i->state},
                                   {"instructions", NULL, i->instructions},
                                   {"last_read", NULL, i->last_read},
                                   {"slept_ms", NULL, i->slept_ms},
                                   {"kernel", NULL, i->kernel_id},
                                   {"fault", fault, i->kind},
                                   {"instruction", NULL, i->instruction},
                                   {"opcode", NULL, i->opcode},
                                   {"address", NULL, i->address},
                                   {"length", NULL, i->length},
                                   {"nearest_base", NULL, i->nearest_base},
                                   {"nearest_size", NULL, i->nearest_size}};
    return match_fields(s, fields, sizeof fields / sizeof *fields);
}

bool device_script_on_task(struct script *s, gpu_status *status)
{
    uint64_t launch = 0;
    gpu_task_info i = {0};
    if (!device_script_number(s, 32, &launch)) return false;
    *status = gpu_emulator_task_info(s->dev, (uint32_t)launch, &i);
    if (*status) return true;
    const char *state = task_state_name(i.state);
    writer_print(&s->detail, "%s, %llu instructions", state ? state : "UNKNOWN",
                 (unsigned long long)i.instructions);
    if (i.flags & GPU_TASK_HAS_LAST_READ)
        writer_print(&s->detail, ", last_read 0x%llx", (unsigned long long)i.last_read);
    if (i.slept_ms) writer_print(&s->detail, ", slept %llu ms", (unsigned long long)i.slept_ms);
    if (i.flags & GPU_TASK_HAS_FAULT)
        writer_print(&s->detail, ", fault %s at instruction %u", kblob_fault_name(i.kind),
                     (unsigned)i.instruction);
    if (i.flags & GPU_TASK_HAS_FAULT) {
        script_tasks_place(s, i.launch_id, i.instruction);
        writer_print(&s->detail, ", address 0x%llx, length %llu", (unsigned long long)i.address,
                     (unsigned long long)i.length);
    }
    return task_fields(s, &i);
}

bool device_script_on_grid(struct script *s, gpu_status *status)
{
    uint64_t launch = 0;
    gpu_task_grid g = {0};
    if (!device_script_number(s, 32, &launch)) return false;
    *status = gpu_emulator_task_grid(s->dev, (uint32_t)launch, &g);
    if (*status) return true;
    writer_print(&s->detail, "%u of %u threads ended", (unsigned)g.ended, (unsigned)g.threads);
    if (g.fault_thread != NO_INDEX)
        writer_print(&s->detail, ", fault in block %u thread %u", (unsigned)g.fault_block,
                     (unsigned)g.fault_thread);
    const struct field fields[] = {{"threads", NULL, g.threads},
                                   {"ended", NULL, g.ended},
                                   {"shared", NULL, g.grid.shared},
                                   {"fault_block", NULL, g.fault_block},
                                   {"fault_thread", NULL, g.fault_thread}};
    return match_fields(s, fields, sizeof fields / sizeof *fields);
}

enum { ROWS = 4096 };

static void script_tasks_row(struct script *s, size_t i)
{
    writer_text(&s->detail, i ? "; " : ": ");
}

bool device_script_on_faults(struct script *s, gpu_status *status)
{
    gpu_fault *rows = arena_alloc(&s->arena, ROWS, sizeof *rows, s->source.err);
    size_t count = 0;
    if (!rows) return false;
    *status = gpu_emulator_faults(s->dev, rows, ROWS, &count);
    writer_dec(&s->detail, count);
    for (size_t i = 0; i < count && i < ROWS; i++) {
        script_tasks_row(s, i);
        writer_print(&s->detail, "task %u instruction %u", (unsigned)rows[i].launch_id,
                     (unsigned)rows[i].instruction);
        script_tasks_place(s, rows[i].launch_id, rows[i].instruction);
        writer_print(&s->detail, " %s 0x%llx", kblob_fault_name(rows[i].kind),
                     (unsigned long long)rows[i].address);
    }
    return device_script_expect_number(s, "faults", count);
}

static void race_side(struct script *s, uint32_t launch, uint32_t index, uint32_t block,
                      uint32_t thread)
{
    writer_print(&s->detail, ", task %u instruction %u", (unsigned)launch, (unsigned)index);
    script_tasks_place(s, launch, index);
    if (thread != NO_INDEX)
        writer_print(&s->detail, " block %u thread %u", (unsigned)block, (unsigned)thread);
}

static void race_text(struct script *s, const gpu_race_threads *r)
{
    const char *kind = race_kind_name(r->kind);
    writer_print(&s->detail, "%s%s", r->benign ? "benign " : "", kind ? kind : "unknown");
    race_side(s, r->launch_a, r->index_a, r->block_a, r->thread_a);
    if (r->launch_b != NO_INDEX) race_side(s, r->launch_b, r->index_b, r->block_b, r->thread_b);
    writer_print(&s->detail, ", 0x%llx length %llu", (unsigned long long)r->address,
                 (unsigned long long)r->length);
}

bool device_script_on_races(struct script *s, gpu_status *status)
{
    gpu_race_threads *rows = arena_alloc(&s->arena, ROWS, sizeof *rows, s->source.err);
    size_t count = 0;
    if (!rows) return false;
    *status = gpu_emulator_race_threads(s->dev, rows, ROWS, &count);
    writer_dec(&s->detail, count);
    for (size_t i = 0; i < count && i < ROWS; i++) {
        script_tasks_row(s, i);
        race_text(s, &rows[i]);
    }
    return device_script_expect_number(s, "races", count);
}

void device_script_keep_races(struct script *s)
{
    gpu_race_threads first;
    size_t count = 0;
    if (!s->races || !s->dev || gpu_emulator_race_threads(s->dev, &first, 1, &count) || !count)
        return;
    if (!s->races->count) {
        s->detail.out.size = 0;
        race_text(s, &first);
        snprintf(s->races->first, sizeof s->races->first, "%.*s",
                 BYTES_ARG(writer_view(&s->detail), (int)sizeof s->races->first - 1));
    }
    s->races->count += count;
}

bool device_script_on_leaks(struct script *s, gpu_status *status)
{
    gpu_range *rows = arena_alloc(&s->arena, ROWS, sizeof *rows, s->source.err);
    size_t count = 0;
    if (!rows) return false;
    *status = gpu_emulator_leaks(s->dev, rows, ROWS, &count);
    writer_dec(&s->detail, count);
    for (size_t i = 0; i < count && i < ROWS; i++) {
        script_tasks_row(s, i);
        writer_print(&s->detail, "0x%llx size %llu", (unsigned long long)rows[i].base,
                     (unsigned long long)rows[i].size);
    }
    return device_script_expect_number(s, "leaks", count);
}

bool device_script_on_kernels(struct script *s, gpu_status *status)
{
    gpu_kernel_info *rows = arena_alloc(&s->arena, ROWS, sizeof *rows, s->source.err);
    size_t count = 0;
    if (!rows) return false;
    *status = gpu_emulator_kernels(s->dev, rows, ROWS, &count);
    writer_dec(&s->detail, count);
    for (size_t i = 0; i < count && i < ROWS; i++) {
        script_tasks_row(s, i);
        writer_print(&s->detail, "%u %u bytes ", (unsigned)rows[i].id, (unsigned)rows[i].blob_size);
        writer_hex(&s->detail, (penta_bytes){rows[i].sha256, sizeof rows[i].sha256});
    }
    return device_script_expect_number(s, "kernels", count);
}

/* Runs scripts of device calls (DEVICE 8). penta/device.h describes the language. */
#include "gpu/tools/script.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/array.h"
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "base/options.h"
#include "base/suggest.h"
#include "text/labels.h"

typedef bool statement_fn(struct script *s, gpu_status *status);

bool device_script_lookup(void *user, penta_bytes name, uint64_t *value)
{
    const struct script *s = user;
    for (size_t i = s->variable_count; i-- > 0;) {
        const struct variable *v = &s->variables[i];
        if (v->name.size != name.size || memcmp(v->name.data, name.data, name.size)) continue;
        *value = v->value;
        return true;
    }
    return false;
}

bool device_script_number(struct script *s, unsigned bits, uint64_t *value)
{
    return expr_field(&s->source, device_script_lookup, s, bits, value);
}

static bool script_assign(struct script *s, penta_bytes name, uint64_t value)
{
    if (!ARRAY_RESERVE(s->variables, s->variable_capacity, s->variable_count + 1))
        return error_at(s->source.err, BASE_MEMORY, s->line_at, "no memory");
    s->variables[s->variable_count++] = (struct variable){name, value};
    return true;
}

static bool text_token(struct script *s, penta_bytes *out)
{
    struct token t = source_next(&s->source);
    if (t.kind != TOKEN_STRING) return source_unexpected(&s->source, t, "a text in quotes");
    return token_string(&s->source, t, &s->arena, out);
}

/* Reads a file that the script names into the arena. */
static bool file_bytes(struct script *s, penta_bytes name, penta_bytes *out)
{
    char path[4096];
    const char *folder = s->options->folder;
    bool relative = folder && name.size && name.data[0] != '/';
    penta_buffer bytes = {0};
    penta_error err = {0};
    int n = snprintf(path, sizeof path, "%s%s%.*s", relative ? folder : "", relative ? "/" : "",
                     BYTES_ARG(name, 2000));
    bool ok = n > 0 && (size_t)n < sizeof path &&
              file_read_regular(path, UINT64_C(1) << 28, &bytes, &err);
    if (ok) {
        out->data = arena_copy(&s->arena, (penta_bytes){bytes.data, bytes.size}, s->source.err);
        out->size = bytes.size;
        ok = out->data != NULL;
    } else {
        error_at(s->source.err, err.code ? err.code : BASE_IO, s->line_at, "%s", err.message);
    }
    penta_buffer_free(&bytes);
    return ok;
}

/* Reads a list of numbers of 8 bytes each. */
static bool script_words(struct script *s, penta_bytes *out)
{
    struct writer bytes = {0};
    bool ok = true;
    do {
        uint64_t value = 0;
        ok = device_script_number(s, 64, &value);
        writer_uint(&bytes, value, 8);
    } while (ok && source_accept(&s->source, ','));
    ok = ok && writer_ok(&bytes, s->source.err);
    if (ok) {
        out->data = arena_copy(&s->arena, writer_view(&bytes), s->source.err);
        out->size = bytes.out.size;
        ok = out->data != NULL;
    }
    writer_free(&bytes);
    return ok;
}

bool device_script_data(struct script *s, penta_bytes *out)
{
    struct token t = source_peek(&s->source);
    if (token_is(&s->source, t, "words")) {
        source_next(&s->source);
        return script_words(s, out);
    }
    bool hex = token_is(&s->source, t, "hex"), file = token_is(&s->source, t, "file");
    if (hex || file) source_next(&s->source);
    uint64_t at = source_peek(&s->source).offset;
    if (!text_token(s, out)) return false;
    if (file) return file_bytes(s, *out, out);
    if (!hex) return true;
    size_t size = 0;
    uint8_t *bytes = hex_parse(*out, &size, s->source.err);
    if (!bytes) return error_at(s->source.err, BASE_SYNTAX, at, "expected pairs of hex digits");
    out->data = arena_copy(&s->arena, (penta_bytes){bytes, size}, s->source.err);
    out->size = size;
    free(bytes);
    return out->data != NULL;
}

/* Accepts `==`, after which an expected value must follow. */
static bool script_expects(struct script *s)
{
    struct source ahead = s->source;
    penta_error ignored = {0};
    ahead.err = &ignored;
    if (!source_accept(&ahead, '=') || !source_accept(&ahead, '=')) return false;
    s->source.pos = ahead.pos;
    return true;
}

bool device_script_unexpected(struct script *s, const char *what, const char *expected,
                              const char *got)
{
    return error_at(s->source.err, BASE_HOST, s->line_at, "%s: expected %.40s, got %.40s", what,
                    expected, got);
}

bool device_script_is(struct script *s, const char *what, uint64_t got, bool hex)
{
    uint64_t want = 0;
    if (!device_script_number(s, 64, &want)) return false;
    if (want == got) return true;
    char expected[24], have[24];
    snprintf(expected, sizeof expected, hex ? "0x%llx" : "%llu", (unsigned long long)want);
    snprintf(have, sizeof have, hex ? "0x%llx" : "%llu", (unsigned long long)got);
    return device_script_unexpected(s, what, expected, have);
}

bool device_script_expect_number(struct script *s, const char *what, uint64_t got)
{
    return !script_expects(s) || device_script_is(s, what, got, true);
}

bool device_script_expect_data(struct script *s, penta_bytes got)
{
    penta_bytes want;
    if (!script_expects(s)) return true;
    if (!device_script_data(s, &want)) return false;
    if (want.size == got.size && (!got.size || !memcmp(want.data, got.data, got.size))) return true;
    struct writer a = {0}, b = {0};
    writer_hex(&a, bytes_slice(want, 0, 20));
    writer_hex(&b, bytes_slice(got, 0, 20));
    writer_char(&a, 0);
    writer_char(&b, 0);
    if (a.failed || b.failed)
        device_script_unexpected(s, "bytes", "others", "these");
    else
        device_script_unexpected(s, "bytes", (const char *)a.out.data, (const char *)b.out.data);
    writer_free(&a);
    writer_free(&b);
    return false;
}

static const char *const mode_names[] = {[GPU_MODE_THREADS] = "threads",
                                         [GPU_MODE_SERIAL] = "serial",
                                         [GPU_MODE_SEEDED] = "seeded",
                                         NULL};
const char *penta_device_mode_name(size_t i) { return mode_names[i]; }
static const char *const flag_names[] = {"race_check", "init_check", "check_trailer", NULL};

static bool script_choice_of(struct script *s, const char *const *names, uint32_t *index)
{
    struct token t = source_next(&s->source);
    struct suggest near = {.word = token_text(&s->source, t)};
    for (*index = 0; names[*index]; ++*index) {
        if (token_is(&s->source, t, names[*index])) return true;
        suggest_offer(&near, names[*index]);
    }
    error_at(s->source.err, BASE_NAME_UNKNOWN, t.offset, "'%.*s' is not one of %s, %s, %s",
             BYTES_ARG(near.word, 40), names[0], names[1], names[2]);
    if (near.best) error_note(s->source.err, "did you mean '%s'?", near.best);
    return false;
}

static bool set_mode(struct script *s) { return script_choice_of(s, mode_names, &s->device.mode); }

static bool set_flags(struct script *s)
{
    do {
        uint32_t bit;
        if (!script_choice_of(s, flag_names, &bit)) return false;
        s->device.flags |= 1u << bit;
    } while (source_accept(&s->source, ','));
    return true;
}

static bool set_path(struct script *s, const char **path)
{
    penta_bytes name;
    if (!text_token(s, &name)) return false;
    *path = arena_copy(&s->arena, name, s->source.err);
    return *path != NULL;
}

static bool set_u32(struct script *s, uint32_t *field)
{
    uint64_t value = 0;
    bool ok = device_script_number(s, 32, &value);
    *field = (uint32_t)value;
    return ok;
}

static bool set_seed(struct script *s) { return device_script_number(s, 64, &s->device.seed); }
static bool set_memory_limit(struct script *s)
{
    return device_script_number(s, 64, &s->device.memory_limit);
}
static bool set_max_instructions(struct script *s)
{
    return device_script_number(s, 64, &s->device.max_instructions);
}
static bool set_max_tasks(struct script *s) { return set_u32(s, &s->device.max_tasks); }
static bool set_task_wall_ms(struct script *s) { return set_u32(s, &s->device.task_wall_ms); }
static bool set_call_ms(struct script *s) { return set_u32(s, &s->device.call_ms); }
static bool set_trace(struct script *s) { return set_path(s, &s->device.trace_path); }
static bool set_device(struct script *s) { return set_path(s, &s->device.device_path); }

void device_script_give(struct script *s, uint64_t value)
{
    s->has_result = true;
    s->result = value;
    writer_0x(&s->detail, value);
}

static bool on_alloc(struct script *s, gpu_status *status)
{
    uint64_t size = 0, ptr = 0;
    if (!device_script_number(s, 64, &size)) return false;
    *status = gpu_emulator_alloc(s->dev, size, &ptr);
    if (!*status) device_script_give(s, ptr);
    return true;
}

static bool on_alloc_at(struct script *s, gpu_status *status)
{
    uint64_t base = 0, size = 0;
    if (!device_script_number(s, 64, &base) || !source_expect(&s->source, ',') ||
        !device_script_number(s, 64, &size))
        return false;
    *status = gpu_emulator_alloc_at(s->dev, base, size);
    if (!*status) device_script_give(s, base);
    return true;
}

static bool on_free(struct script *s, gpu_status *status)
{
    uint64_t ptr = 0;
    if (!device_script_number(s, 64, &ptr)) return false;
    *status = gpu_emulator_free(s->dev, ptr);
    return true;
}

static bool on_write(struct script *s, gpu_status *status)
{
    uint64_t ptr = 0;
    penta_bytes bytes;
    if (!device_script_number(s, 64, &ptr) || !source_expect(&s->source, ',') ||
        !device_script_data(s, &bytes))
        return false;
    *status = gpu_emulator_write(s->dev, ptr, bytes.data, bytes.size);
    return true;
}

static bool on_read(struct script *s, gpu_status *status)
{
    uint64_t ptr = 0, size = 0;
    if (!device_script_number(s, 64, &ptr) || !source_expect(&s->source, ',') ||
        !device_script_number(s, 64, &size))
        return false;
    uint8_t *bytes = malloc(size <= UINT64_C(256) << 20 ? (size_t)size + 1 : 1);
    if (!bytes) return error_at(s->source.err, BASE_MEMORY, s->line_at, "no memory to read into");
    *status = gpu_emulator_read(s->dev, ptr, bytes, size);
    penta_bytes got = {bytes, *status ? 0 : (size_t)size};
    if (!*status) writer_hex(&s->detail, got);
    bool ok = device_script_expect_data(s, got);
    free(bytes);
    return ok;
}

static bool on_size(struct script *s, gpu_status *status)
{
    uint64_t base = 0, size = 0;
    if (!device_script_number(s, 64, &base)) return false;
    *status = gpu_emulator_memory_size(s->dev, base, &size);
    if (!*status) device_script_give(s, size);
    return device_script_expect_number(s, "size", size);
}

struct first_error {
    penta_error *err;
    uint64_t offset; /* where the text of the assembly begins in the script */
};

static void script_keep_first(void *user, const penta_error *finding)
{
    struct first_error *first = user;
    if (first->err->code || finding->severity != PENTA_ERROR) return;
    *first->err = *finding;
    first->err->offset += first->offset;
}

/* Makes options of the assembler from the variables of the script. Returns NULL if memory ran
 * out. */
static penta_option *defines_of(struct script *s, size_t *used)
{
    penta_option *defines =
        arena_alloc(&s->arena, s->variable_count + 2, sizeof *defines, s->source.err);
    if (!defines) return NULL;
    size_t count = 0;
    /* A name that occurs several times has its newest value. */
    for (size_t i = s->variable_count; i-- > 0;) {
        const struct variable *v = &s->variables[i];
        uint64_t newest = 0;
        device_script_lookup(s, v->name, &newest);
        bool shadowed = false;
        for (size_t n = i + 1; n < s->variable_count; n++)
            shadowed |= s->variables[n].name.size == v->name.size &&
                        !memcmp(s->variables[n].name.data, v->name.data, v->name.size);
        if (shadowed) continue;
        size_t size = v->name.size + 24;
        char *value = arena_alloc(&s->arena, size, 1, s->source.err);
        if (!value) return NULL;
        snprintf(value, size, "%.*s=0x%llx", BYTES_ARG(v->name, INT_MAX),
                 (unsigned long long)v->value);
        defines[count++] = (penta_option){"define", value};
    }
    *used = count;
    return defines;
}

/* Assembles the same text with symbols, because reports show names. The registered blob has no
 * symbols. */
static void assemble_named(struct script *s, struct source source, penta_option *options,
                           size_t count, const char *file, struct writer *named)
{
    struct findings ignored = {.rules = kblob_rules};
    options[count++] = (penta_option){"debug-lines", "1"};
    options[count++] = (penta_option){"source-name", file};
    (void)s;
    kblob_assemble_source(&source, options, count, named, &ignored);
}

/* Assembles text to a blob; the variables of the script are names in the text. The text comes
 * from `file`, or, if `file` is NULL, from `offset` in the script. */
static bool script_assemble(struct script *s, penta_bytes text, uint64_t offset, const char *file,
                            struct writer *blob, struct writer *named)
{
    size_t count = 0;
    penta_option *defines = defines_of(s, &count);
    if (!defines) return false;
    struct first_error first = {s->source.err, offset};
    struct findings findings = {.rules = kblob_rules, .report = script_keep_first, .user = &first};
    struct source source = {.name = s->source.name, .text = text, .comment = kblob_driver.comment};
    struct source again = source;
    if (!file) { /* This makes the line numbers those of the script. */
        again.text = bytes_slice(s->source.text, 0, (size_t)offset + text.size);
        again.pos = (size_t)offset;
    }
    if (!kblob_assemble_source(&source, defines, count, blob, &findings)) return false;
    assemble_named(s, again, defines, count, file ? file : "", named);
    return true;
}

/* Takes the lines of the script up to and including `end`. */
static bool inline_text(struct script *s, penta_bytes *text, uint64_t *offset)
{
    struct source *source = &s->source;
    if (!source_end_of_line(source)) return false;
    *offset = source->pos;
    for (size_t line = source->pos; line < source->text.size;) {
        source->pos = line;
        penta_error ignored = {0};
        struct source ahead = *source;
        ahead.err = &ignored;
        struct token t = source_next(&ahead);
        if (t.kind == TOKEN_NAME && token_is(&ahead, t, "end")) {
            *text = bytes_slice(source->text, (size_t)*offset, line - (size_t)*offset);
            source->pos = ahead.pos;
            return true;
        }
        const uint8_t *from = source->text.data + line;
        const uint8_t *end = memchr(from, '\n', source->text.size - line);
        line = end ? (size_t)(end - source->text.data) + 1 : source->text.size;
    }
    return error_at(source->err, BASE_SYNTAX, s->line_at, "the kernel has no line `end`");
}

static bool ends_with(penta_bytes name, const char *suffix)
{
    size_t n = strlen(suffix);
    return name.size >= n && !memcmp(name.data + name.size - n, suffix, n);
}

static bool kernel_bytes(struct script *s, struct writer *blob, struct writer *named)
{
    struct token t = source_peek(&s->source);
    penta_bytes bytes, name;
    uint64_t offset = 0;
    if (token_is(&s->source, t, "file")) {
        struct source ahead = s->source;
        source_next(&ahead);
        struct token file = source_next(&ahead);
        if (file.kind == TOKEN_STRING && token_string(&ahead, file, &s->arena, &name) &&
            ends_with(name, kblob_driver.suffix))
            return device_script_data(s, &bytes) &&
                   script_assemble(s, bytes, s->line_at, arena_copy(&s->arena, name, s->source.err),
                                   blob, named);
    }
    if (t.kind == TOKEN_NAME || t.kind == TOKEN_STRING) {
        if (!device_script_data(s, &bytes)) return false;
        writer_bytes(blob, bytes.data, bytes.size);
        writer_bytes(named, bytes.data, bytes.size);
        return true;
    }
    return inline_text(s, &bytes, &offset) && script_assemble(s, bytes, offset, NULL, blob, named);
}

/* Remembers a registered kernel, so that reports can show names. If memory runs out, they show
 * none. */
static void remember_kernel(struct script *s, uint64_t id, penta_bytes blob)
{
    penta_error ignored = {0};
    uint8_t *copy = arena_copy(&s->arena, blob, &ignored);
    penta_module *module =
        copy ? kblob_parse((penta_bytes){copy, blob.size}, NULL, 0, &ignored) : NULL;
    if (!module) return;
    if (!ARRAY_RESERVE(s->kernels, s->kernel_capacity, s->kernel_count + 1)) {
        kblob_close(module);
        return;
    }
    s->kernels[s->kernel_count++] = (struct script_kernel){id, module};
}

static bool on_kernel(struct script *s, gpu_status *status)
{
    uint64_t id = 0;
    struct writer blob = {0}, named = {0};
    bool ok = device_script_number(s, 64, &id) && kernel_bytes(s, &blob, &named);
    if (ok && !named.failed) remember_kernel(s, id, writer_view(&named));
    writer_free(&named);
    if (ok) *status = gpu_emulator_register_kernel(s->dev, id, blob.out.data, blob.out.size);
    if (ok && *status == GPU_ERR_INVALID_KERNEL_BLOB)
        writer_text(&s->detail, kblob_code_name(kblob_validate(blob.out.data, blob.out.size,
                                                               s->device.flags, NULL)));
    writer_free(&blob);
    return ok;
}

static bool on_unregister(struct script *s, gpu_status *status)
{
    uint64_t id = 0;
    if (!device_script_number(s, 64, &id)) return false;
    *status = gpu_emulator_unregister_kernel(s->dev, id);
    return true;
}

static bool on_barrier(struct script *s, gpu_status *status)
{
    *status = gpu_emulator_barrier(s->dev);
    return true;
}
static bool on_memfence(struct script *s, gpu_status *status)
{
    *status = gpu_emulator_memfence(s->dev);
    return true;
}
static bool on_yield(struct script *s, gpu_status *status)
{
    *status = gpu_emulator_yield(s->dev);
    return true;
}
static bool on_reset(struct script *s, gpu_status *status)
{
    device_script_keep_races(s);
    *status = gpu_emulator_reset(s->dev);
    s->launched_count = 0;
    return true;
}
static bool on_shutdown(struct script *s, gpu_status *status)
{
    device_script_keep_races(s);
    *status = gpu_emulator_shutdown(s->dev);
    return true;
}

/* clang-format off */
static const struct {
    const char *name;
    bool (*set)(struct script *s);
} settings[] = {
#define SET(name) {#name, set_##name}
    SET(mode), SET(seed), SET(memory_limit), SET(max_instructions), SET(max_tasks),
    SET(task_wall_ms), SET(call_ms), SET(flags), SET(trace), SET(device),
#undef SET
};

static const struct {
    const char *name;
    statement_fn *run;
} calls[] = {
#define CALL(name) {#name, on_##name}
#define TASK(name) {#name, device_script_on_##name}
    CALL(alloc), CALL(alloc_at), CALL(free), CALL(write), CALL(read), CALL(size), CALL(kernel),
    CALL(unregister), TASK(launch), TASK(launch_grid), TASK(grid), TASK(wait), TASK(stop), TASK(task), TASK(args), TASK(faults),
    TASK(races), TASK(leaks), TASK(kernels), CALL(barrier), CALL(memfence), CALL(yield),
    CALL(reset), CALL(shutdown),
#undef CALL
#undef TASK
};
/* clang-format on */
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Tells whether the trace file may be replaced. Opening the device empties the file before the
 * script has said which files it reads, so an old file is replaced only if it is a trace. */
static bool trace_replaceable(struct script *s, const char *path)
{
    static const char head[] = "{\"trace\":\"penta.gpu/";
    char old[sizeof head - 1];
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size) return true;
    FILE *file = fopen(path, "rb");
    bool ok =
        file && fread(old, 1, sizeof old, file) == sizeof old && !memcmp(old, head, sizeof old);
    if (file) fclose(file);
    if (ok) return true;
    error_at(s->source.err, BASE_IO, s->line_at, "'%.60s' exists and is no trace", path);
    return error_note(s->source.err, "choose another name for the trace, or remove the file first");
}

static bool open_device(struct script *s)
{
    if (s->dev) return true;
    const penta_device_options *o = s->options;
    if (o->device_path) s->device.device_path = o->device_path;
    if (o->trace_path) s->device.trace_path = o->trace_path;
    for (uint32_t i = 0; o->mode && mode_names[i]; i++)
        if (!strcmp(o->mode, mode_names[i])) s->device.mode = i;
    if (s->seed) {
        s->device.mode = GPU_MODE_SEEDED;
        s->device.seed = *s->seed;
        s->device.flags |= GPU_RACE_CHECK;
    }
    if (s->device.trace_path && !trace_replaceable(s, s->device.trace_path)) return false;
    char failure[FAILURE_BYTES];
    gpu_status status = emulator_open(&s->dev, &s->device, failure);
    if (!status) return true;
    error_at(s->source.err, BASE_HOST, s->line_at, "the device does not start: %s",
             gpu_status_string(status));
    return *failure ? error_note(s->source.err, "%s", failure) : false;
}

static void script_tell(struct script *s, gpu_status status, penta_bytes name)
{
    const char *word = (const char *)s->word.data, *text = gpu_status_string(status);
    penta_bytes detail = writer_view(&s->detail);
    uint64_t line = source_place(s->source.text, s->line_at).line;
    if (s->json) {
        json_object(s->json, NULL);
        json_uint(s->json, "line", line);
        json_string(s->json, "call", s->word);
        json_text(s->json, "status", text);
        if (name.size) json_string(s->json, "name", name);
        if (detail.size) json_string(s->json, "result", detail);
        json_end(s->json);
        return;
    }
    writer_print(s->out, "%llu: %.*s %s", (unsigned long long)line, (int)s->word.size, word, text);
    if (detail.size) writer_char(s->out, ' ');
    writer_bytes(s->out, detail.data, detail.size);
    if (name.size) writer_print(s->out, " (%.*s)", BYTES_ARG(name, INT_MAX));
    writer_char(s->out, '\n');
}

/* Checks the status of a call against `=> Status` at the end of the line. Without it, the status
 * must be Success. */
static bool check_outcome(struct script *s, gpu_status got)
{
    gpu_status want = GPU_OK;
    if (source_accept(&s->source, '=')) {
        if (!source_expect(&s->source, '>')) return false;
        struct token t = source_next(&s->source);
        char name[40] = "";
        if (t.kind == TOKEN_NAME && t.size < sizeof name)
            memcpy(name, token_text(&s->source, t).data, t.size);
        if (!status_parse(name, &want)) return source_unexpected(&s->source, t, "a status");
    }
    if (!source_end_of_line(&s->source)) return false;
    if (want == got) return true;
    device_script_unexpected(s, "status", gpu_status_string(want), gpu_status_string(got));
    const char *failure = gpu_emulator_failure(s->dev);
    return *failure ? error_note(s->source.err, "%s", failure) : false;
}

static bool call_line(struct script *s, statement_fn *run, penta_bytes name)
{
    gpu_status status = GPU_OK;
    s->detail.out.size = 0;
    s->has_result = false;
    if (!open_device(s)) return false;
    bool ok = run(s, &status);
    if (!ok && !s->source.err->code)
        error_at(s->source.err, BASE_HOST, s->line_at, "the call failed");
    if (ok || s->source.err->code == BASE_HOST) script_tell(s, status, name);
    if (!ok || !check_outcome(s, status)) return false;
    if (!name.size) return true;
    if (s->has_result) return script_assign(s, name, s->result);
    return status || error_at(s->source.err, BASE_SYNTAX, s->line_at, "this call has no result");
}

static bool unknown_word(struct script *s, struct token t)
{
    struct suggest near = {.word = token_text(&s->source, t)};
    for (size_t i = 0; i < COUNT(calls); i++) suggest_offer(&near, calls[i].name);
    for (size_t i = 0; i < COUNT(settings); i++) suggest_offer(&near, settings[i].name);
    error_at(s->source.err, BASE_MNEMONIC, t.offset, "unknown call '%.*s'",
             BYTES_ARG(near.word, 40));
    return near.best ? error_note(s->source.err, "did you mean '%s'?", near.best) : false;
}

static bool run_line(struct script *s)
{
    struct source *source = &s->source;
    penta_bytes name = {NULL, 0};
    struct token t = source_next(source);
    s->line_at = t.offset;
    if (source->err->code) return false;
    if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) return true;
    if (t.kind == TOKEN_NAME && source->text.data[t.offset] == '$') {
        name = token_text(source, t);
        if (!source_expect(source, '=')) return false;
        t = source_next(source);
    }
    if (t.kind != TOKEN_NAME) return source_unexpected(source, t, "a call");
    s->word = token_text(source, t);
    for (size_t i = 0; i < COUNT(settings); i++) {
        if (!token_is(source, t, settings[i].name)) continue;
        if (s->dev)
            return error_at(source->err, BASE_STATE, t.offset,
                            "settings come before the first call");
        return settings[i].set(s) && source_end_of_line(source);
    }
    for (size_t i = 0; i < COUNT(calls); i++)
        if (token_is(source, t, calls[i].name)) return call_line(s, calls[i].run, name);
    return unknown_word(s, t);
}

static bool run_lines(struct script *s)
{
    const char *mode = s->options->mode;
    size_t i = 0;
    while (mode && mode_names[i] && strcmp(mode, mode_names[i])) i++;
    if (mode && !mode_names[i])
        return error_not_in(s->source.err, "mode", mode, penta_device_mode_name);
    bool ok = true;
    if (s->json) json_list(s->json, NULL);
    while (ok && s->source.pos < s->source.text.size) ok = run_line(s);
    if (s->json) json_end(s->json);
    return ok;
}

static bool script_run(penta_bytes script, const penta_device_options *options,
                       const uint64_t *seed, penta_device_races *races, bool json,
                       penta_buffer *out, penta_error *err)
{
    static const penta_device_options defaults;
    *err = (penta_error){0};
    struct writer w = {0};
    struct json made = {.out = &w};
    struct script s = {.source = {.name = "script", .text = script, .comment = ";", .err = err},
                       .options = options ? options : &defaults,
                       .seed = seed,
                       .races = races,
                       .out = &w,
                       .json = json ? &made : NULL};
    bool ok = run_lines(&s);
    device_script_keep_races(&s);
    gpu_emulator_close(s.dev);
    writer_free(&s.detail);
    free(s.variables);
    for (size_t i = 0; i < s.kernel_count; i++) kblob_close(s.kernels[i].module);
    free(s.kernels);
    free(s.launched);
    arena_free(&s.arena);
    return writer_give(&w, true, out, err) &&
           ok; /* The report of what was done is also given after a failure. */
}

bool penta_device_run(penta_bytes script, const penta_device_options *options, bool json,
                      penta_buffer *out, penta_error *err)
{
    return script_run(script, options, NULL, NULL, json, out, err);
}

bool penta_device_check(penta_bytes script, const penta_device_options *options, uint64_t seed,
                        bool json, penta_buffer *out, penta_device_races *races, penta_error *err)
{
    *races = (penta_device_races){0};
    return script_run(script, options, &seed, races, json, out, err);
}

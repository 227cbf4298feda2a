/* Runs scenarios, which are sequences of API calls with expected statuses. They run in THREADS
 * and SEEDED mode, and also in SERIAL mode if they ask for races. A scenario is one case, which
 * fails at the first difference in any mode. */
#include <stdio.h>
#include <stdlib.h>
#include "base/number.h"
#include "conform/kblob.h"
#include "kblob/vm/memory.h"

enum { VARIABLES = 256, RACES = 4096 };

struct scenario {
    struct trial trial;
    gpu_emulator *dev;
    struct {
        const char *name; /* name of the variable, with its $ */
        uint64_t value;
    } variables[VARIABLES];
    size_t variable_count;
};

static bool scenario_variable(const struct scenario *s, const char *name, size_t size,
                              uint64_t *value)
{
    for (size_t i = s->variable_count; i-- > 0;)
        if (strlen(s->variables[i].name) == size && !memcmp(s->variables[i].name, name, size)) {
            *value = s->variables[i].value;
            return true;
        }
    return false;
}

static size_t name_length(const char *text)
{
    size_t n = 1;
    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') ||
           (text[n] >= '0' && text[n] <= '9') || text[n] == '_')
        n++;
    return n;
}

/* Reads a value: a number, a number as text, or a text such as "$name", "$name+4" or "$name-1". */
static bool value_of(struct scenario *s, const struct json_object *v, uint64_t *out)
{
    const char *text = json_as_text(v);
    if (!text || text[0] != '$')
        return json_as_uint(v, out) || trial_malformed(&s->trial, "a value is not a number");
    size_t n = name_length(text);
    uint64_t delta = 0;
    if (!scenario_variable(s, text, n, out))
        return trial_malformed(&s->trial, "'%.60s' is not known", text);
    if (!text[n]) return true;
    if ((text[n] != '+' && text[n] != '-') || !number_parse(text + n + 1, &delta))
        return trial_malformed(&s->trial, "'%.60s' is not $name+n", text);
    *out = text[n] == '+' ? *out + delta : *out - delta;
    return true;
}

static bool scenario_define(struct scenario *s, const struct json_object *name, uint64_t value)
{
    const char *text = json_as_text(name);
    if (!text || text[0] != '$' || s->variable_count == VARIABLES)
        return trial_malformed(&s->trial, "a result needs a $name");
    s->variables[s->variable_count].name = text;
    s->variables[s->variable_count++].value = value;
    return true;
}

static bool scenario_expect(struct scenario *s, const struct json_object *status, gpu_status got)
{
    gpu_status want;
    const char *text = json_as_text(status);
    if (!text || !status_parse(text, &want))
        return trial_malformed(&s->trial, "'%.60s' is not a status", text ? text : "(no text)");
    return trial_status(&s->trial, want, got);
}

/* Each function below runs one kind of step. Item 0 of a step is its name. */

#define ITEM(i) json_item(step, i)

static bool step_alloc(struct scenario *s, const struct json_object *step)
{
    uint64_t size = 0, ptr = 0;
    if (!value_of(s, ITEM(1), &size)) return false;
    gpu_status status = gpu_emulator_alloc(s->dev, size, &ptr);
    return scenario_expect(s, ITEM(3), status) && (status || scenario_define(s, ITEM(2), ptr));
}

static bool step_free(struct scenario *s, const struct json_object *step)
{
    uint64_t ptr = 0;
    return value_of(s, ITEM(1), &ptr) &&
           scenario_expect(s, ITEM(2), gpu_emulator_free(s->dev, ptr));
}

static bool step_write(struct scenario *s, const struct json_object *step)
{
    uint64_t ptr = 0;
    size_t size = 0;
    if (!value_of(s, ITEM(1), &ptr)) return false;
    uint8_t *bytes = json_as_hex(ITEM(2), &size);
    if (!bytes) return trial_malformed(&s->trial, "the bytes to write are not hex");
    gpu_status status = gpu_emulator_write(s->dev, ptr, bytes, size);
    free(bytes);
    return scenario_expect(s, ITEM(3), status);
}

static bool step_read(struct scenario *s, const struct json_object *step)
{
    uint64_t ptr = 0, size = 0;
    size_t want_size = 0;
    if (!value_of(s, ITEM(1), &ptr) || !value_of(s, ITEM(2), &size)) return false;
    if (size > UINT64_C(1) << 30) return trial_malformed(&s->trial, "a read of over 1 GiB");
    uint8_t *want = json_is_null(ITEM(3)) ? NULL : json_as_hex(ITEM(3), &want_size);
    if (!want && !json_is_null(ITEM(3)))
        return trial_malformed(&s->trial, "the bytes to expect are not hex");
    uint8_t *got = malloc((size_t)size + 1);
    gpu_status status = got ? gpu_emulator_read(s->dev, ptr, got, size) : GPU_ERR_UNKNOWN;
    bool ok = scenario_expect(s, ITEM(4), status);
    if (ok && want && !status)
        ok = trial_bytes(&s->trial, "bytes", (penta_bytes){want, want_size},
                         (penta_bytes){got, (size_t)size});
    free(want);
    free(got);
    return ok;
}

/* Joins lines of assembler and replaces each $name by its value. */
static bool scenario_assembly(struct scenario *s, const struct json_object *lines,
                              struct writer *text)
{
    for (size_t i = 0; i < json_length(lines); i++) {
        const char *line = json_as_text(json_item(lines, i));
        if (!line) return trial_malformed(&s->trial, "an assembler line is not a text");
        while (*line) {
            uint64_t value = 0;
            if (*line != '$') {
                writer_char(text, *line++);
                continue;
            }
            size_t n = name_length(line);
            if (!scenario_variable(s, line, n, &value))
                return trial_malformed(&s->trial, "'%.60s' is not known", line);
            writer_0x(text, value);
            line += n;
        }
        writer_char(text, '\n');
    }
    writer_char(text, 0);
    return !text->failed;
}

static bool step_register(struct scenario *s, const struct json_object *step)
{
    uint64_t id = 0;
    struct writer text = {0};
    void *blob = NULL;
    size_t size = 0;
    char message[200] = "";
    if (!json_is_list(ITEM(2))) return trial_malformed(&s->trial, "no list of assembler lines");
    bool ok =
        value_of(s, ITEM(1), &id) && scenario_assembly(s, ITEM(2), &text) &&
        (!kblob_assemble((const char *)text.out.data, &blob, &size, message, sizeof message) ||
         trial_malformed(&s->trial, "assembler: %s", message)) &&
        scenario_expect(s, ITEM(3), gpu_emulator_register_kernel(s->dev, id, blob, size));
    kblob_free(blob);
    writer_free(&text);
    return ok;
}

static bool step_register_hex(struct scenario *s, const struct json_object *step)
{
    uint64_t id = 0;
    size_t size = 0;
    if (!value_of(s, ITEM(1), &id)) return false;
    uint8_t *blob = json_as_hex(ITEM(2), &size);
    if (!blob) return trial_malformed(&s->trial, "the blob is not hex");
    gpu_status status = gpu_emulator_register_kernel(s->dev, id, blob, size);
    free(blob);
    return scenario_expect(s, ITEM(3), status);
}

static bool step_launch(struct scenario *s, const struct json_object *step)
{
    uint64_t id = 0;
    uint32_t launch = 0;
    if (!value_of(s, ITEM(1), &id)) return false;
    gpu_status status = gpu_emulator_launch_task(s->dev, id, NULL, 0, &launch);
    return scenario_expect(s, ITEM(3), status) && (status || scenario_define(s, ITEM(2), launch));
}

static bool step_wait(struct scenario *s, const struct json_object *step)
{
    uint64_t ms = 0;
    if (!value_of(s, ITEM(1), &ms)) return false;
    uint32_t deadline = ms > WAIT_FOREVER ? WAIT_FOREVER : (uint32_t)ms;
    return scenario_expect(s, ITEM(2), gpu_emulator_wait(s->dev, deadline));
}

static bool step_reset(struct scenario *s, const struct json_object *step)
{
    return scenario_expect(s, ITEM(1), gpu_emulator_reset(s->dev));
}

static bool step_shutdown(struct scenario *s, const struct json_object *step)
{
    return scenario_expect(s, ITEM(1), gpu_emulator_shutdown(s->dev));
}

struct field {
    const char *key;
    uint64_t got;
    const char *name; /* the value as a name, or NULL */
};

/* Tells whether a field has the expected value, given as a number, a $name, true or false, or a
 * name. */
static bool field_matches(struct scenario *s, const struct json_object *want, const struct field *f,
                          bool *malformed)
{
    const char *text = json_as_text(want);
    uint64_t value = 0;
    if (f->name && text && text[0] != '$' && !json_as_uint(want, &value))
        return !strcmp(text, f->name);
    if (json_is_bool(want)) return json_as_bool(want) == (f->got != 0);
    *malformed = !value_of(s, want, &value);
    return !*malformed && value == f->got;
}

static bool check_fields(struct scenario *s, const struct json_object *want,
                         const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool malformed = false;
        const struct json_object *v = json_get(want, fields[i].key);
        if (!json_has(want, fields[i].key) || field_matches(s, v, &fields[i], &malformed)) continue;
        if (malformed) return false;
        char expected[120];
        uint64_t value = 0;
        const char *text = json_as_text(v);
        if (text)
            snprintf(expected, sizeof expected, "%s %.60s", fields[i].key, text);
        else
            snprintf(expected, sizeof expected, "%s %llu", fields[i].key,
                     json_as_uint(v, &value) ? (unsigned long long)value : 0);
        return fields[i].name
                   ? trial_fail(&s->trial, expected, "%s", fields[i].name)
                   : trial_fail(&s->trial, expected, "0x%llx", (unsigned long long)fields[i].got);
    }
    return true;
}

static bool check_task_fault(struct scenario *s, const struct json_object *want,
                             const gpu_task_info *t)
{
    static const char *const known[] = {"kind", "inst",         "opcode",       "address", "length",
                                        "size", "nearest_base", "nearest_size", NULL};
    bool faulted = t->flags & GPU_TASK_HAS_FAULT;
    const char *kind = kblob_fault_name(t->kind);
    if (json_is_null(want)) return !faulted || trial_fail(&s->trial, "no fault", "%s", kind);
    if (!trial_keys(&s->trial, want, known)) return false;
    if (!faulted) return trial_fail(&s->trial, "a fault", "none");
    const struct field fields[] = {{"kind", t->kind, kind},
                                   {"inst", t->instruction, NULL},
                                   {"opcode", t->opcode, NULL},
                                   {"address", t->address, NULL},
                                   {"length", t->length, NULL},
                                   {"size", t->length, NULL},
                                   {"nearest_base", t->nearest_base, NULL},
                                   {"nearest_size", t->nearest_size, NULL}};
    return check_fields(s, want, fields, sizeof fields / sizeof *fields);
}

static bool step_task(struct scenario *s, const struct json_object *step)
{
    static const char *const known[] = {"state", "instructions", "last_read", "slept_ms",
                                        "fault", "launch",       "kernel",    NULL};
    const struct json_object *want = ITEM(2);
    uint64_t launch = 0;
    gpu_task_info t;
    if (!value_of(s, ITEM(1), &launch) || !trial_keys(&s->trial, want, known)) return false;
    if (launch > UINT32_MAX) return trial_malformed(&s->trial, "no launch id");
    gpu_status status = gpu_emulator_task_info(s->dev, (uint32_t)launch, &t);
    if (!trial_status(&s->trial, GPU_OK, status)) return false;
    const char *state = task_state_name(t.state);
    const struct field fields[] = {{"state", t.state, state ? state : "unknown"},
                                   {"instructions", t.instructions, NULL},
                                   {"slept_ms", t.slept_ms, NULL},
                                   {"launch", t.launch_id, NULL},
                                   {"kernel", t.kernel_id, NULL}};
    if (!check_fields(s, want, fields, sizeof fields / sizeof *fields)) return false;
    if (json_has(want, "last_read")) {
        bool has = t.flags & GPU_TASK_HAS_LAST_READ,
             none = json_is_null(json_get(want, "last_read"));
        const struct field read = {"last_read", t.last_read, NULL};
        if (!trial_uint(&s->trial, "last_read present", !none, has)) return false;
        if (!none && !check_fields(s, want, &read, 1)) return false;
    }
    return !json_has(want, "fault") || check_task_fault(s, json_get(want, "fault"), &t);
}

static bool race_matches(struct scenario *s, const struct json_object *want, const gpu_race *r)
{
    const struct field fields[] = {{"kind", r->kind, race_kind_name(r->kind)},
                                   {"address", r->address, NULL},
                                   {"length", r->length, NULL},
                                   {"benign", r->benign, NULL},
                                   {"launch_a", r->launch_a, NULL},
                                   {"index_a", r->index_a, NULL},
                                   {"launch_b", r->launch_b, NULL},
                                   {"index_b", r->index_b, NULL}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        bool malformed = false;
        if (json_has(want, fields[i].key) &&
            !field_matches(s, json_get(want, fields[i].key), &fields[i], &malformed))
            return false;
    }
    return true;
}

/* Gives the expected record i a race that no other record has. An earlier record may have to
 * take another race for that. */
static bool scenario_assign(struct scenario *s, const struct json_object *want, size_t i,
                            const gpu_race *races, size_t count, size_t *owner, bool *tried)
{
    for (size_t r = 0; r < count; r++) {
        if (tried[r] || !race_matches(s, json_item(want, i), &races[r])) continue;
        tried[r] = true;
        if (owner[r] != SIZE_MAX && !scenario_assign(s, want, owner[r], races, count, owner, tried))
            continue;
        owner[r] = i;
        return true;
    }
    return false;
}

static bool step_races(struct scenario *s, const struct json_object *step)
{
    static const char *const known[] = {"kind",    "address",  "length",  "benign", "launch_a",
                                        "index_a", "launch_b", "index_b", NULL};
    const struct json_object *want = ITEM(1);
    size_t count = 0, expected = json_length(want);
    if (!json_is_list(want)) return trial_malformed(&s->trial, "no list of races");
    for (size_t i = 0; i < expected; i++)
        if (!trial_keys(&s->trial, json_item(want, i), known)) return false;
    gpu_race *races = calloc(RACES, sizeof *races);
    gpu_status status = races ? gpu_emulator_races(s->dev, races, RACES, &count) : GPU_ERR_UNKNOWN;
    bool ok = trial_status(&s->trial, GPU_OK, status) &&
              trial_uint(&s->trial, "number of races", expected, count);
    size_t owner[64];
    for (size_t i = 0; ok && i < expected && i < 64; i++) owner[i] = SIZE_MAX;
    if (ok && expected > 64) ok = trial_malformed(&s->trial, "more than 64 races in one step");
    for (size_t i = 0; ok && i < expected; i++) {
        bool tried[64] = {false};
        if (!scenario_assign(s, want, i, races, count, owner, tried))
            ok = trial_fail(&s->trial, "race", "no race like number %zu of the list", i);
    }
    free(races);
    return ok;
}

static const struct step {
    const char *name;
    size_t items;
    bool (*run)(struct scenario *s, const struct json_object *step);
} steps[] = {
    {"alloc", 4, step_alloc},       {"free", 3, step_free},
    {"write", 4, step_write},       {"read", 5, step_read},
    {"register", 4, step_register}, {"register_hex", 4, step_register_hex},
    {"launch", 4, step_launch},     {"wait", 3, step_wait},
    {"task", 3, step_task},         {"races", 2, step_races},
    {"reset", 2, step_reset},       {"shutdown", 2, step_shutdown},
};

static bool run_step(struct scenario *s, const struct json_object *step)
{
    const char *name = json_as_text(json_item(step, 0));
    for (size_t i = 0; name && i < sizeof steps / sizeof *steps; i++) {
        if (strcmp(steps[i].name, name)) continue;
        if (json_length(step) != steps[i].items)
            return trial_malformed(&s->trial, "'%s' has %zu items", name, json_length(step));
        return steps[i].run(s, step);
    }
    return trial_malformed(&s->trial, "unknown step '%.60s'", name ? name : "(no text)");
}

static bool parse_flags(struct trial *k, const struct json_object *options, uint32_t *flags)
{
    if (options && !json_is_list(options)) return trial_malformed(k, "'options' is not a list");
    for (size_t i = 0; i < json_length(options); i++) {
        const char *name = json_as_text(json_item(options, i));
        if (name && !strcmp(name, "RACE_CHECK"))
            *flags |= GPU_RACE_CHECK;
        else if (name && !strcmp(name, "INIT_CHECK"))
            *flags |= GPU_INIT_CHECK;
        else if (name && !strcmp(name, "CHECK_TRAILER"))
            *flags |= GPU_CHECK_TRAILER;
        else
            return trial_malformed(k, "unknown option '%.60s'", name ? name : "(no text)");
    }
    return true;
}

static bool run_mode(struct trial *k, const struct json_object *item, uint32_t mode, uint32_t flags)
{
    static const char *const modes[] = {
        [GPU_MODE_THREADS] = "THREADS", [GPU_MODE_SERIAL] = "SERIAL", [GPU_MODE_SEEDED] = "SEEDED"};
    const struct json_object *list = json_get(item, "steps");
    gpu_emulator_options options = {.mode = mode, .flags = flags, .device_path = k->c->device};
    struct scenario s = {.trial = *k};
    trial_where(&s.trial, "%s", modes[mode]);
    trial_status(&s.trial, GPU_OK, gpu_emulator_open(&s.dev, &options));
    for (size_t i = 0; i < json_length(list) && !s.trial.judged; i++) {
        const char *name = json_as_text(json_item(json_item(list, i), 0));
        trial_where(&s.trial, "%s, step %zu (%.20s)", modes[mode], i, name ? name : "?");
        run_step(&s, json_item(list, i));
    }
    gpu_emulator_close(s.dev);
    k->judged = s.trial.judged;
    return !k->judged;
}

static bool asks_for_races(const struct json_object *list)
{
    for (size_t i = 0; i < json_length(list); i++) {
        const char *name = json_as_text(json_item(json_item(list, i), 0));
        if (name && !strcmp(name, "races")) return true;
    }
    return false;
}

static void run_scenarios(struct conform *c, const struct json_object *root)
{
    for (size_t i = 0; i < json_length(root); i++) {
        const struct json_object *item = json_item(root, i), *list = json_get(item, "steps");
        struct trial k = trial_begin(c, item);
        uint32_t flags = 0;
        if (!json_is_list(list) || !json_length(list))
            trial_malformed(&k, "'steps' is not a list of steps");
        else if (parse_flags(&k, json_get(item, "options"), &flags) &&
                 run_mode(&k, item, GPU_MODE_THREADS, flags) &&
                 run_mode(&k, item, GPU_MODE_SEEDED, flags) && asks_for_races(list))
            run_mode(&k, item, GPU_MODE_SERIAL, flags);
        trial_end(&k);
    }
}

static bool is_scenarios(const struct json_object *root) { return list_with(root, "steps"); }

DOCUMENT_FORM(kblob_scenarios, is_scenarios, run_scenarios)

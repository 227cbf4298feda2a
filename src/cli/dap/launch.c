/* Answers requests from the first one to a program that can be debugged. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cli/dap/dap.h"

void dap_initialize(struct dap *d, struct dap_answer *a)
{
    static const char *const abilities[] = {
        "supportsConfigurationDoneRequest",
        "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints",
        "supportsHitConditionalBreakpoints",
        "supportsEvaluateForHovers",
        "supportsStepBack",
        "supportsSetVariable",
        "supportsSetExpression",
        "supportsCompletionsRequest",
        "supportsRestartRequest",
        "supportsValueFormattingOptions",
        "supportsExceptionInfoRequest",
        "supportsDelayedStackTraceLoading",
        "supportsLoadedSourcesRequest",
        "supportsLogPoints",
        "supportsTerminateRequest",
        "supportsDataBreakpoints",
        "supportsReadMemoryRequest",
        "supportsWriteMemoryRequest",
        "supportsDisassembleRequest",
        "supportsBreakpointLocationsRequest",
        "supportsSteppingGranularity",
        "supportsInstructionBreakpoints",
    };
    (void)d;
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++)
        json_bool(a->body, abilities[i], true);
}

struct options {
    penta_option *list;
    char **values; /* copies of the values, since numbers become text */
    size_t count, capacity, value_count, value_capacity;
    penta_error *err;
};

static void add_option(struct options *o, const char *key, const struct json_object *v)
{
    char *value = json_scalar_text(v);
    if (!value) {
        error_at(o->err, BASE_OPTION_VALUE, 0, "option '%.40s' is no text, number or switch", key);
        return;
    }
    if (!*value && json_is_bool(v)) { /* The value false means that the switch is off. */
        free(value);
        return;
    }
    if (!ARRAY_GROW(o->values, o->value_capacity, o->value_count, o->err) ||
        !ARRAY_GROW(o->list, o->capacity, o->count, o->err)) {
        free(value);
        return;
    }
    o->values[o->value_count++] = value;
    o->list[o->count++] = (penta_option){key, value};
}

static void take_option(void *user, const char *key, const struct json_object *v)
{
    if (!json_is_list(v)) add_option(user, key, v);
    for (size_t i = 0; i < json_length(v); i++) add_option(user, key, json_item(v, i));
}

/* Reads "options", an object of keys and values, with a list where a key is given more than
 * once, and "args", the words for a program of the console. */
static bool read_options(struct options *o, const struct json_object *args)
{
    const struct json_object *words = json_get(args, "args");
    json_each(json_get(args, "options"), take_option, o);
    for (size_t i = 0; i < json_length(words); i++) add_option(o, "argv", json_item(words, i));
    return !o->err->code;
}

static void free_options(struct options *o)
{
    for (size_t i = 0; i < o->value_count; i++) free(o->values[i]);
    free(o->values);
    free(o->list);
}

static void first_error(void *user, const penta_error *finding)
{
    penta_error *err = user;
    if (!err->code && finding->severity == PENTA_ERROR) *err = *finding;
}

/* Puts the options for opening a file, or for running it, before the others. Returns how many
 * they are. Options for neither stay with those of the run, which refuses them. */
static size_t sort_options(struct options *o, const char *format, bool opening)
{
    size_t count = 0;
    for (size_t i = 0; format && i < o->count; i++) {
        penta_option option = o->list[i];
        bool opens = penta_option_find(format, option.key, PENTA_USE_OPEN);
        bool runs = penta_option_find(format, option.key, PENTA_USE_RUN) || !opens;
        if (!(opening ? opens : runs)) continue;
        o->list[i] = o->list[count];
        o->list[count++] = option;
    }
    return count;
}

/* Finds the format as penta_open does. */
static const char *format_of(const struct dap *d, const struct json_object *args,
                             const struct options *o)
{
    const char *format = dap_text(args, "format");
    penta_guess guess;
    for (size_t i = 0; !format && i < o->count; i++) format = penta_option_chooses(o->list[i].key);
    if (format) return format;
    return penta_detect((penta_bytes){d->bytes.data, d->bytes.size}, &guess, 1) ? guess.format
                                                                                : NULL;
}

static bool open_module(struct dap *d, const struct json_object *args, struct options *o,
                        penta_error *err)
{
    const char *path = dap_text(args, "program");
    if (!path) return error_at(err, BASE_OPTION_VALUE, 0, "the argument 'program' is missing");
    d->program = strdup(path);
    if (!d->program) return error_at(err, BASE_MEMORY, 0, "no memory for the name");
    if (!d->io->file(d->io->user, path, &d->bytes, err)) return false;
    size_t count = sort_options(o, format_of(d, args, o), true);
    d->module = penta_open((penta_bytes){d->bytes.data, d->bytes.size}, dap_text(args, "format"),
                           o->list, count, err);
    if (d->module && penta_module_damage(d->module)) *err = *penta_module_damage(d->module);
    return d->module && !err->code;
}

static bool open_session(struct dap *d, const struct json_object *args, struct options *o,
                         penta_error *err)
{
    penta_error finding = {0};
    const char *engine = dap_text(args, "engine");
    bool unverified = json_as_bool(json_get(args, "unverified")), ok = true;
    if (!penta_check_run(d->module, unverified, first_error, &finding)) {
        *err = finding;
        ok = err->code ? false : error_at(err, BASE_CONTAINER, 0, "the program cannot be run");
    }
    size_t count = sort_options(o, penta_module_format(d->module), false);
    if (ok) d->session = penta_session_new(d->module, engine, o->list, count, NULL, err);
    return d->session;
}

/* Opens a recorded run, which the session then repeats. */
static bool open_record(struct dap *d, const struct json_object *args, penta_error *err)
{
    const char *path = dap_text(args, "record");
    penta_buffer text = {0};
    if (!path) return error_at(err, BASE_OPTION_VALUE, 0, "the argument 'record' is missing");
    if (d->io->file(d->io->user, path, &text, err))
        d->record = penta_record_new((penta_bytes){text.data, text.size}, err);
    penta_buffer_free(&text);
    if (d->record)
        d->session = penta_session_replay(d->module, dap_text(args, "engine"), d->record, err);
    return d->session;
}

static void launch_called(void *user, const penta_call *call)
{
    struct dap *d = user;
    dap_output(d, "stdout", call->output);
    dap_output(d, "stderr", call->errors);
}

static void launch_logged(void *user, unsigned number, penta_bytes text)
{
    struct writer line = {0};
    (void)number;
    writer_bytes(&line, text.data, text.size);
    writer_char(&line, '\n');
    dap_output(user, "console", writer_view(&line));
    writer_free(&line);
}

static bool launch_ask(void *user) { return !dap_wants_to_stop(user); }

static void take_code(void *user, const penta_part *part)
{
    struct dap *d = user;
    if (part->kind != PENTA_PART_CODE) return;
    for (uint64_t pc = part->from, next; pc < part->to; pc = next) {
        if (!ARRAY_RESERVE(d->pcs, d->pc_capacity, d->pc_count + 1)) return;
        d->pcs[d->pc_count++] = pc;
        if (!penta_next_pc(d->module, pc, &next)) return;
    }
}

static int by_pc(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void launch_start(struct dap *d, struct dap_answer *a, bool record)
{
    const struct json_object *args = a->args;
    if (d->program) {
        error_at(&a->err, BASE_STATE, 0, "a program was launched before");
        return;
    }
    d->stop_on_entry = json_as_bool(json_get(args, "stopOnEntry"));
    d->stop_on_exit = json_as_bool(json_get(args, "stopOnExit"));
    d->no_debug = json_as_bool(json_get(args, "noDebug"));
    struct options o = {.err = &a->err};
    bool ok = read_options(&o, args) && open_module(d, args, &o, &a->err) &&
              (record ? open_record(d, args, &a->err) : open_session(d, args, &o, &a->err));
    free_options(&o);
    if (ok) d->debugger = penta_debugger_new(d->session, &a->err);
    if (!ok && !a->err.code) error_at(&a->err, BASE_MEMORY, 0, "no memory for the program");
    if (!d->debugger) return;
    penta_session_on_call(d->session, launch_called, d);
    penta_debugger_on_log(d->debugger, launch_logged, d);
    penta_debugger_on_interrupt(d->debugger, launch_ask, d);
    penta_parts(d->module, take_code, d);
    if (d->pc_count) qsort(d->pcs, d->pc_count, sizeof *d->pcs, by_pc);
    penta_debugger_goto(d->debugger, 0, &d->stop, &a->err);
}

void dap_launch(struct dap *d, struct dap_answer *a) { launch_start(d, a, false); }
void dap_attach(struct dap *d, struct dap_answer *a) { launch_start(d, a, true); }

/* Tells the client that places can be found from now on, so that breakpoints may come. */
static void launch_opened(struct dap *d)
{
    if (d->record && !penta_record_is_of(d->record, d->module))
        dap_output(d, "console",
                   bytes_of("note: the record is of another version of this program\n"));
    dap_event(d, "initialized", NULL, NULL);
}

void dap_then_launch(struct dap *d, const struct json_object *args)
{
    (void)args, launch_opened(d);
}
void dap_then_attach(struct dap *d, const struct json_object *args)
{
    (void)args, launch_opened(d);
}

void dap_then_configurationDone(struct dap *d, const struct json_object *args)
{
    if (d->stop_on_entry)
        dap_stopped(d, "entry");
    else
        dap_then_continue(d, args);
}

void dap_then_disconnect(struct dap *d, const struct json_object *args)
{
    (void)args;
    d->ended = true;
}

void dap_terminate(struct dap *d, struct dap_answer *a)
{
    (void)a;
    d->resumes = false;
}
void dap_then_terminate(struct dap *d, const struct json_object *args)
{
    (void)args;
    dap_event(d, "terminated", NULL, NULL);
}

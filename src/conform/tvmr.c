/* Runs the forms of TVMR vectors: programs with their final state, and collections of sources,
 * images and checksums. The forms are distinguished by the members of the document or of its
 * first case. */
#include "base/codec/checksum.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/writer.h"
#include "conform/tvmr_state.h"
#include "core/driver.h"
#include "text/lexer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All vectors have the results of the upstream implementation, whose profile this is. */
#define TERNSIG                                                                                    \
    {                                                                                              \
        "profile", "ternsig"                                                                       \
    }

static penta_module *tvmr_vector_assembled(struct trial *t, penta_bytes text,
                                           const penta_option *options, size_t count)
{
    struct first_error f = {0};
    penta_module *m = penta_assemble(text, "tvmr", options, count, first_error_keep, &f);
    if (!m) trial_fail(t, "a source that assembles", "%s", f.error.message);
    return m;
}

/* The functions below set up a machine. */

static void init_cold(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg;
    size_t count;
    int32_t *data = trial_number_list(v, &count);
    if (!data || !trial_register(name, &reg) || reg >> 6 != 1) {
        trial_fail(c->t, "valid initial weights", "%s", name);
        free(data);
        return;
    }
    struct tvmr_cold *w = &c->vm->cold[reg & 63];
    uint32_t dim = (uint32_t)count;
    if (!w->present && !tvmr_cold_new(c->vm, reg & 63, count, &dim, 1))
        trial_fail(c->t, "memory for weights", "%s", name);
    for (size_t i = 0; w->present && i < count && i < w->count; i++)
        w->weights[i] = tvmr_signal_of(data[i]);
    tvmr_cold_changed(w);
    free(data);
}

static void init_temps(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    uint8_t reg, *temps = calloc(1, json_length(v) + 1);
    if (!temps || !trial_register(name, &reg) || reg >> 6 != 1 ||
        c->vm->cold[reg & 63].count != json_length(v)) {
        trial_fail(c->t, "valid temperatures", "%s", name);
        free(temps);
        return;
    }
    for (size_t i = 0; i < json_length(v); i++) {
        int64_t n;
        if (json_as_sint(json_item(v, i), &n)) temps[i] = (uint8_t)n;
    }
    tvmr_temps_set(c->vm, &c->vm->cold[reg & 63], temps);
    free(temps);
}

static void tvmr_vector_initialise(struct trial *t, struct tvmr_vm *vm,
                                   const struct json_object *root)
{
    const struct json_object *init = json_get(root, "init"), *chem = json_get(init, "chem");
    struct comparing c = {t, vm, 0};
    int64_t n;
    json_each(json_get(init, "cold"), init_cold, &c);
    json_each(json_get(init, "temps"), init_temps, &c);
    for (size_t i = 0; i < 4 && i < json_length(chem); i++)
        if (json_as_sint(json_item(chem, i), &n)) vm->chem[i] = (uint8_t)n;
    if (json_as_sint(json_get(init, "babble_scale"), &n))
        vm->babble_scale = (int32_t)(n < 0 ? 0 : n > 255 ? 255 : n);
    size_t count;
    int32_t *target = trial_number_list(json_get(root, "target"), &count);
    if (target) { /* The buffer contains values of the type Signal. */
        for (size_t i = 0; i < count; i++) target[i] = tvmr_value(tvmr_signal_of(target[i]));
        tvmr_vm_set_target(vm, target, count);
    }
    free(target);
}

static bool same_field(const char *place, uint64_t got, const struct json_object *v)
{
    char name[8];
    int64_t n;
    if (*place == 'r') {
        if (got == TVMR_NULL) return json_is_null(v);
        tvmr_register_name((uint8_t)got, name);
        return json_as_text(v) && !strcmp(name, json_as_text(v));
    }
    if (place[1] == '0') return json_is_bool(v) && json_as_bool(v) == (got != 0);
    return json_as_sint(v, &n) && n == (int64_t)got;
}

/* Compares the record of a stop with {"op": name, field: value, ..}. */
static bool same_yield(struct trial *t, struct tvmr_vm *vm, const struct json_object *v)
{
    const char *op = json_as_text(json_get(v, "op"));
    if (!op || strcmp(op, vm->yield_op->domain))
        return trial_fail(t, op ? op : "no domain operation", "%s", vm->yield_op->domain);
    size_t i = 0;
    for (const char *p = vm->yield_op->fields; *p; i++) {
        char name[32];
        size_t n = strcspn(p, "="), end = strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        if (!same_field(p + n + 1, vm->yield_args[i], json_get(v, name)))
            return trial_fail(t, op, "%s is %" PRIu64, name, vm->yield_args[i]);
        p += end + (p[end] == ' ');
    }
    return true;
}

struct script {
    const struct json_object *host, *yields;
    size_t asked;
};

static bool run_script_once(struct trial *t, penta_vm *base, struct script *s)
{
    struct tvmr_vm *vm = tvmr_vm(base);
    penta_stop stop;
    for (;;) {
        penta_vm_run(base, UINT64_C(100000000), &stop);
        if (stop.kind != PENTA_STOP_HOST) break;
        if (json_is_list(s->yields) && !same_yield(t, vm, json_item(s->yields, s->asked)))
            return false;
        penta_error err = {0};
        if (!trial_answer(vm, json_item(s->host, s->asked++)) ||
            !penta_vm_answer(base, NULL, 0, &err))
            return trial_fail(t, "a host answer that can be applied", "%s", err.message);
    }
    if (stop.kind != PENTA_STOP_HALT && stop.kind != PENTA_STOP_TRAP)
        return trial_fail(t, "an end", "stop %d", (int)stop.kind);
    return true;
}

static const char *class_of(const struct tvmr_vm *vm)
{
    return vm->fault ? tvmr_fault_name(vm->fault) : "ok";
}

/* Runs all inputs and compares the results with the list `outputs`, and with `status`, which is
 * "ok" or a class of errors. */
static void run_inputs(struct trial *t, penta_vm *vm, const struct json_object *root,
                       const struct json_object *expect, const char *status,
                       const struct json_object *outputs)
{
    struct script s = {json_get(root, "host"), json_get(expect, "yields"), 0};
    const struct json_object *inputs = json_get(root, "inputs");
    size_t started = 0;
    tvmr_vector_initialise(t, tvmr_vm(vm), root);
    for (size_t i = 0; i < json_length(inputs) && !t->judged && !tvmr_vm(vm)->fault; i++) {
        size_t count;
        int32_t *data = trial_number_list(json_item(inputs, i), &count);
        if (!data || !tvmr_vm_begin(tvmr_vm(vm), data, count))
            trial_fail(t, "valid inputs", "input %zu", i);
        else
            run_script_once(t, vm, &s);
        free(data);
        const struct tvmr_buffer *out = &tvmr_vm(vm)->output;
        if (!t->judged && outputs)
            trial_numbers(t, "output", json_item(outputs, i), out->data, out->count);
        started++;
    }
    if (t->judged) return;
    if (strcmp(status, class_of(tvmr_vm(vm))))
        trial_fail(t, status, "%s %s", class_of(tvmr_vm(vm)), tvmr_vm(vm)->fault_text);
    if (outputs && json_length(outputs) != started)
        trial_fail(t, "as many outputs as runs", "%zu runs", started);
    if (json_is_list(s.yields) && json_length(s.yields) != s.asked)
        trial_fail(t, "as many domain operations", "%zu of %zu", s.asked, json_length(s.yields));
}

static void run_module(struct trial *t, const penta_module *m, const struct json_object *root,
                       const struct json_object *expect, const char *status,
                       const struct json_object *outputs)
{
    penta_error err = {0};
    penta_option options[] = {TERNSIG, {"kernels", "plain"}};
    for (int pass = 0; pass < 2 && !t->judged;
         pass++) { /* The plain kernels run first, then the default ones. */
        penta_vm *vm = penta_vm_new(m, t->c->engine, options, pass ? 1 : 2, NULL, &err);
        if (!vm) {
            trial_fail(t, "a machine", "%s", err.message);
            return;
        }
        run_inputs(t, vm, root, expect, status, outputs);
        if (!t->judged) trial_state(t, tvmr_vm(vm), expect);
        penta_vm_free(vm);
    }
}

static const char *status_of(const struct json_object *expect)
{
    const char *class = json_as_text(json_get(expect, "error_class"));
    return class ? class : json_as_text(json_get(expect, "status"));
}

/* The functions below handle pairs of files NAME.json and NAME.tasm. */

/* Reads a file from the folder of the vector. */
static bool read_beside(struct trial *t, const char *name, penta_buffer *out)
{
    penta_error err = {0};
    if (!name || strchr(name, '/'))
        return trial_fail(t, "the name of a source file", "%s", name ? name : "nothing");
    return conform_beside(t->c, name, out, &err) || trial_fail(t, name, "%s", err.message);
}

/* The vector is compared with these diagnostics: those of level error, by instruction. */
struct errors {
    const struct tvmr_module *m;
    int64_t at[64];
    size_t count;
};

static void keep_error(void *user, const penta_error *f)
{
    struct errors *e = user;
    if (f->severity != PENTA_ERROR || e->count == 64) return;
    uint64_t code = tvmr_insn_offset(e->m, 0), end = tvmr_insn_offset(e->m, e->m->count);
    e->at[e->count++] =
        f->offset >= code && f->offset < end ? (int64_t)((f->offset - code) / TVMR_INSN) : -1;
}

static void compare_diagnostics(struct trial *t, const penta_module *module,
                                const struct json_object *list)
{
    penta_error err = {0};
    penta_option options[] = {TERNSIG, {"shapes", "1"}};
    penta_module *m = penta_open(module->file, "tvmr", options, 2, &err);
    struct errors e = {.m = m ? tvmr_module(m) : NULL};
    if (!m) {
        trial_fail(t, "an image that opens", "%s", err.message);
        return;
    }
    penta_validate(m, keep_error, &e);
    size_t expected = 0, met = 0;
    for (size_t i = 0; i < json_length(list); i++) {
        const char *level = json_as_text(json_item(json_item(list, i), 0));
        int64_t at = -1;
        if (!level || strcmp(level, "error")) continue;
        expected++;
        json_as_sint(json_item(json_item(list, i), 1), &at);
        for (size_t k = 0; k < e.count; k++)
            if (e.at[k] == at) {
                e.at[k] = -2;
                met++;
                break;
            }
    }
    if (met != expected || e.count != expected)
        trial_fail(t, "the error findings of the vector", "%zu, of which %zu are expected (of %zu)",
                   e.count, met, expected);
    penta_close(m);
}

/* The functions below compare expect.meta with the contents of the metadata section. */

static void same_text(struct trial *t, const struct json_object *v, const char *what,
                      const char *got)
{
    const char *text = json_as_text(v);
    if (v && (!text || !got || strcmp(text, got))) trial_fail(t, what, "%s", got ? got : "nothing");
}

static void compare_label(void *user, const char *name, const struct json_object *v)
{
    struct comparing *c = user;
    const struct tvmr_meta *meta = &tvmr_module(c->vm->base.module)->meta;
    for (size_t i = 0; i < meta->label_count; i++)
        if (!strcmp(meta->labels[i].name, name)) {
            trial_number(c->t, v, name, meta->labels[i].index);
            return;
        }
    trial_fail(c->t, name, "no such label");
}

static void register_text(const struct tvmr_regdef *r, char *text, size_t size)
{
    static const struct {
        const char *name, *shown;
    } old[] = {{"packed_signal", "packed"}};
    char name[8];
    const struct tvmr_type *type = tvmr_type_find(r->type);
    const char *shown = type ? type->name : "?";
    if (!strcmp(shown, old[0].name)) shown = old[0].shown;
    tvmr_register_name(r->reg, name);
    size_t n = (size_t)snprintf(text, size, "%s: %s", name, shown);
    for (unsigned i = 0; i < r->ndims && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%u", i ? ", " : "[", tvmr_dim(r, i));
    if (n < size) n += (size_t)snprintf(text + n, size - n, "]");
    if (r->key.size && n < size)
        n += (size_t)snprintf(text + n, size - n, " key=\"%.*s\"", BYTES_ARG(r->key, INT_MAX));
    if (r->flags & TVMR_FROZEN && n < size) snprintf(text + n, size - n, " (frozen)");
}

static void compare_projection(struct trial *t, const struct json_object *v,
                               const struct tvmr_projection *p)
{
    same_text(t, json_get(v, "target"), "target", p->target);
    same_text(t, json_get(v, "bundle"), "bundle", p->bundle);
    same_text(t, json_get(v, "mapping"), "mapping", p->mapping);
    same_text(t, json_get(v, "modulator"), "modulator", p->modulator);
    trial_number(t, json_get(v, "weight"), "weight", p->weight);
    trial_number(t, json_get(v, "delay"), "delay", p->delay);
    const char *density = json_as_text(json_get(v, "density"));
    if (density && (!p->density || strtod(density, NULL) != strtod(p->density, NULL)))
        trial_fail(t, density, "another density");
}

static void compare_meta(struct trial *t, penta_bytes text, const struct json_object *meta)
{
    penta_option option = {"metadata", "1"};
    penta_module *module = tvmr_vector_assembled(t, text, &option, 1);
    if (!module) return;
    const struct tvmr_module *m = tvmr_module(module);
    struct tvmr_vm shell = {.base = {.module = module}};
    struct comparing c = {t, &shell, 0};
    same_text(t, json_get(meta, "name"), "name", m->meta.name);
    same_text(t, json_get(meta, "domain"), "domain", m->meta.domain);
    trial_number(t, json_get(meta, "version"), "version", m->meta.version);
    for (size_t i = 0; i < json_length(json_get(meta, "skull")); i++)
        trial_number(t, json_item(json_get(meta, "skull"), i), "skull", m->meta.skull[i % 3]);
    json_each(json_get(meta, "labels"), compare_label, &c);
    const struct json_object *list = json_get(meta, "projections");
    if (json_length(list) != m->meta.projection_count)
        trial_fail(t, "the projections", "%zu of them", m->meta.projection_count);
    for (size_t i = 0; i < json_length(list) && !t->judged; i++)
        compare_projection(t, json_item(list, i), &m->meta.projections[i]);
    list = json_get(meta, "requires");
    if (list && json_length(list) != m->ext_count)
        trial_fail(t, "the requirements", "%zu of them", m->ext_count);
    for (size_t i = 0; i < json_length(list) && !t->judged; i++)
        trial_number(t, json_item(json_item(list, i), 1), "extension", m->exts[i].id);
    list = json_get(meta, "regs");
    if (list && json_length(list) != m->reg_count)
        trial_fail(t, "the registers", "%zu of them", m->reg_count);
    for (size_t i = 0; i < json_length(list) && !t->judged; i++) {
        char line[600];
        register_text(&m->regs[i], line, sizeof line);
        same_text(t, json_item(list, i), "a register", line);
    }
    list = json_get(meta, "input_shape");
    for (size_t i = 0; i < json_length(list) && !t->judged; i++)
        trial_number(t, json_item(list, i), "input dimension",
                     i < m->meta.input_rank ? (int64_t)m->meta.input_shape[i] : -1);
    list = json_get(meta, "output_shape");
    for (size_t i = 0; i < json_length(list) && !t->judged; i++)
        trial_number(t, json_item(list, i), "output dimension",
                     i < m->meta.output_rank ? (int64_t)m->meta.output_shape[i] : -1);
    penta_close(module);
}

static bool program_matches(const struct json_object *root)
{
    const char *source = json_as_text(json_get(root, "source"));
    size_t n = source ? strlen(source) : 0;
    return n > 5 && !strcmp(source + n - 5, ".tasm") && json_is_object(json_get(root, "expect"));
}

static void program_run(struct conform *c, const struct json_object *root)
{
    const char *name = json_as_text(json_get(root, "name"));
    const struct json_object *expect = json_get(root, "expect");
    const char *status = status_of(expect);
    struct trial t = {.c = c, .name = name ? name : "program"};
    penta_buffer file = {0};
    penta_module *m = NULL;
    if (read_beside(&t, json_as_text(json_get(root, "source")), &file)) {
        penta_bytes text = {file.data, file.size};
        m = tvmr_vector_assembled(&t, text, NULL, 0);
        if (m && json_has(expect, "image_hex"))
            trial_hex(&t, "the image", json_get(expect, "image_hex"), m->file);
        if (m && !status) trial_fail(&t, "a status", "none");
        if (m && !t.judged) run_module(&t, m, root, expect, status, json_get(expect, "outputs"));
        if (m && !t.judged && json_has(expect, "diagnostics"))
            compare_diagnostics(&t, m, json_get(expect, "diagnostics"));
        if (m && !t.judged && json_has(expect, "meta"))
            compare_meta(&t, text, json_get(expect, "meta"));
    }
    trial_end(&t);
    penta_close(m);
    penta_buffer_free(&file);
}

DOCUMENT_FORM(tvmr_program, program_matches, program_run)

/* The functions below handle collections, {"cases": [..]}. Their first case tells which kind
 * they are. */

static penta_bytes source_of(const struct json_object *v)
{
    const char *text = json_as_text(json_get(v, "source"));
    return text ? (penta_bytes){(const uint8_t *)text, json_text_size(json_get(v, "source"))}
                : (penta_bytes){0};
}

/* Opens a module from bytes of the vector. The caller frees *bytes after the module. */
static penta_module *tvmr_vector_opened(struct trial *t, const struct json_object *hex,
                                        const penta_option *options, size_t count, uint8_t **bytes)
{
    size_t size = 0;
    penta_error err = {0};
    *bytes = json_as_hex(hex, &size);
    penta_module *m =
        *bytes ? penta_open((penta_bytes){*bytes, size}, "tvmr", options, count, &err) : NULL;
    if (!m) trial_fail(t, "bytes that open", "%s", *bytes ? err.message : "no hex");
    return m;
}

static void random_case(struct trial *t, const struct json_object *v)
{
    uint8_t *bytes;
    penta_module *m = tvmr_vector_opened(t, json_get(v, "image_hex"), NULL, 0, &bytes);
    const struct json_object *expect = json_get(v, "expect");
    const char *status = status_of(expect);
    if (m && !status) trial_fail(t, "a status", "none");
    if (m && !t->judged) run_module(t, m, v, expect, status, json_get(expect, "outputs"));
    penta_close(m);
    free(bytes);
}

LIST_FORM(tvmr_images, "cases", "image", random_case, "image_hex", "inputs", "expect", "init")

static void seed_case(struct trial *t, const struct json_object *v)
{
    const char *status = json_as_text(json_get(v, "status"));
    penta_module *m = tvmr_vector_assembled(t, source_of(v), NULL, 0);
    if (m && json_has(v, "image_hex")) trial_hex(t, "the image", json_get(v, "image_hex"), m->file);
    if (m && !t->judged) run_module(t, m, v, v, status ? status : "ok", json_get(v, "outputs"));
    penta_close(m);
}

LIST_FORM(tvmr_rules, "cases", "rule", seed_case, "source", "status", "outputs", "inputs")

static void asm_case(struct trial *t, const struct json_object *v)
{
    struct first_error f = {0};
    penta_bytes text = source_of(v);
    int64_t line = 0;
    bool fails = json_as_sint(json_get(v, "line"), &line);
    if (!text.data) {
        trial_fail(t, "a source", "none");
        return;
    }
    penta_module *m = penta_assemble(text, "tvmr", NULL, 0, first_error_keep, &f);
    uint64_t got = f.error.code ? source_place(text, f.error.offset).line : 0;
    const char *message = json_as_text(json_get(v, "message"));
    if (!fails && !m)
        trial_fail(t, "a source that assembles", "line %" PRIu64 ": %s", got, f.error.message);
    if (fails && m) trial_fail(t, message ? message : "an error", "it assembles");
    if (fails && !m && got != (uint64_t)line) {
        char expected[64];
        snprintf(expected, sizeof expected, "an error in line %" PRId64, line);
        trial_fail(t, expected, "line %" PRIu64 ": %s", got, f.error.message);
    }
    penta_close(m);
}

const struct conform_form conform_tvmr_asm = {.list = "cases",
                                              .kind = "source",
                                              .one = asm_case,
                                              .members = {"source", "line", "message"},
                                              .without = "name"};

static void validator_case(struct trial *t, const struct json_object *v)
{
    penta_module *m = tvmr_vector_assembled(t, source_of(v), NULL, 0);
    if (m) compare_diagnostics(t, m, json_get(v, "diagnostics"));
    penta_close(m);
}

LIST_FORM(tvmr_validator, "cases", "findings", validator_case, "source", "diagnostics")

/* Writes the class of the first error of a container, which is the name of its rule. */
static void container_class(const penta_module *m, char *text, size_t size)
{
    struct first_error f = {0};
    penta_validate(m, first_error_keep, &f);
    bool container =
        f.error.code && breaks_container(rule_find(tvmr_rules, f.error.code), &f.error);
    const char *name = container ? penta_code_name(f.error.code) : NULL;
    if (name && !strcmp(name, "MAGIC_BYTES")) name = "MAGIC";
    if (name && !strcmp(name, "VERSION_NUMBER")) name = "VERSION";
    if (name && !strcmp(name, "KEY")) name = "ENVELOPE";
    if (name && !strcmp(name, "LEGACY")) name = "TYPE";
    snprintf(text, size, "%s%s", name ? "E_" : "", name ? name : "OK");
}

static void malformed_case(struct trial *t, const struct json_object *v)
{
    uint8_t *bytes;
    char class[32];
    const char *expected = json_as_text(json_get(v, "product_result"));
    penta_module *m = tvmr_vector_opened(t, json_get(v, "image_hex"), NULL, 0, &bytes);
    if (m && !expected) trial_fail(t, "an expected result", "none");
    if (m && expected) {
        container_class(m, class, sizeof class);
        size_t n = strcspn(expected, " ");
        if (strlen(class) != n || memcmp(class, expected, n)) trial_fail(t, expected, "%s", class);
    }
    penta_close(m);
    free(bytes);
}

LIST_FORM(tvmr_malformed, "cases", "image", malformed_case, "image_hex", "product_result")

static void tvmr_vector_nothing(void *user, const penta_error *f) { (void)user, (void)f; }

static void legacy_case(struct trial *t, const struct json_object *v)
{
    uint8_t *bytes;
    penta_module *m = tvmr_vector_opened(t, json_get(v, "legacy_hex"), NULL, 0, &bytes);
    struct writer out = {0};
    struct findings f = {.rules = tvmr_rules, .report = tvmr_vector_nothing};
    if (m && m->damage.code) trial_fail(t, "a legacy file that opens", "%s", m->damage.message);
    if (m && !t->judged) {
        if (!tvmr_convert(m, NULL, 0, &out, &f))
            trial_fail(t, "a conversion", "it failed");
        else
            trial_hex(t, "the converted image", json_get(v, "converted_image_hex"),
                      writer_view(&out));
    }
    if (m && !t->judged) run_module(t, m, v, NULL, "ok", json_get(v, "outputs"));
    writer_free(&out);
    penta_close(m);
    free(bytes);
}

LIST_FORM(tvmr_legacy, "cases", "legacy", legacy_case, "legacy_hex", "converted_image_hex")

/* Opens a packed image and compares the expanded image, from offset 48 on. */
static void tvmr_vector_expands(struct trial *t, const struct json_object *v, const char *key,
                                const char *key_file)
{
    uint8_t *bytes;
    size_t size = 0;
    penta_option option = {"key-file", key_file};
    if (!json_has(v, key)) return;
    penta_module *m = tvmr_vector_opened(t, json_get(v, key), &option, key_file ? 1 : 0, &bytes);
    uint8_t *plain = json_as_hex(json_get(v, "with_metadata_hex"), &size);
    char class[32];
    if (m && plain) {
        const struct tvmr_module *module = tvmr_module(m);
        container_class(m, class, sizeof class);
        if (strcmp(class, "OK"))
            trial_fail(t, key, "%s", class);
        else if (module->image.size != size || size < 48 ||
                 memcmp(module->image.data + 48, plain + 48, size - 48))
            trial_fail(t, key, "it expands to other bytes");
    } else {
        trial_fail(t, key, "no valid vector");
    }
    free(plain);
    penta_close(m);
    free(bytes);
}

/* Checks that sealing the plain form with the same nonce gives the same bytes. */
static void tvmr_vector_seals(struct trial *t, const struct json_object *v, const char *key_file)
{
    uint8_t *bytes;
    const char *nonce = json_as_text(json_get(v, "nonce_hex"));
    if (!nonce || !json_has(v, "encrypted_hex")) return;
    penta_module *m = tvmr_vector_opened(t, json_get(v, "with_metadata_hex"), NULL, 0, &bytes);
    penta_option options[] = {{"key-file", key_file}, {"nonce", nonce}};
    struct writer out = {0};
    struct findings f = {.rules = tvmr_rules, .report = tvmr_vector_nothing};
    if (m && !tvmr_seal(m, options, 2, &out, &f))
        trial_fail(t, "a sealed image", "sealing failed");
    else if (m)
        trial_hex(t, "the encrypted image", json_get(v, "encrypted_hex"), writer_view(&out));
    writer_free(&out);
    penta_close(m);
    free(bytes);
}

static void envelope_case(struct trial *t, const struct json_object *v)
{
    char path[] = "/tmp/penta-key-XXXXXX";
    const char *key = json_as_text(json_get(v, "key_hex"));
    penta_module *m = tvmr_vector_assembled(t, source_of(v), NULL, 0);
    if (m) trial_hex(t, "the plain image", json_get(v, "plain_hex"), m->file);
    penta_close(m);
    int fd = key ? mkstemp(path) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool written = file && fputs(key, file) >= 0;
    if (file) written &= fclose(file) == 0;
    if (!written) trial_fail(t, "a key", "none");
    tvmr_vector_expands(t, v, "with_metadata_hex", NULL);
    tvmr_vector_expands(t, v, "compressed_hex", NULL);
    tvmr_vector_expands(t, v, "encrypted_hex", path);
    tvmr_vector_expands(t, v, "compressed_encrypted_hex", path);
    if (written && !t->judged) tvmr_vector_seals(t, v, path);
    if (fd >= 0) remove(path);
}

LIST_FORM(tvmr_envelopes, "cases", "envelope", envelope_case, "source", "with_metadata_hex")

static void checksum_case(struct trial *t, const struct json_object *v)
{
    static const struct {
        const char *key;
        uint64_t (*sum)(penta_bytes);
    } sums[] = {{"xxh64_seed0", checksum_xxh64}, {"upstream_mix", tvmr_mix}};
    size_t size = 0;
    uint8_t *bytes = json_as_hex(json_get(v, "data_hex"), &size);
    if (!bytes) trial_fail(t, "bytes", "no hex");
    for (int i = 0; bytes && i < 2; i++) {
        const char *text = json_as_text(json_get(v, sums[i].key));
        uint64_t got = sums[i].sum((penta_bytes){bytes, size});
        if (text && strtoull(text, NULL, 16) != got) trial_fail(t, text, "%016" PRIx64, got);
    }
    free(bytes);
}

LIST_FORM(tvmr_checksums, "vectors", "checksum", checksum_case, "xxh64_seed0", "data_hex")

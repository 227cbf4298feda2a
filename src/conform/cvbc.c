/* The vectors of the container format: a manifest of files with the result of each level of
 * checks, programs for the machine, and a manifest of legacy files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "conform/trial.h"
#include "cvbc/format/legacy.h"
#include "cvbc/vm/vm.h"

/* Reads a file that the manifest names. In the legacy manifest, names begin with the folder that
 * contains the manifest. */
static bool read_beside(const struct conform *c, const char *name, penta_buffer *out)
{
    penta_error err = {0};
    const char *slash = strchr(name, '/');
    return conform_beside(c, name, out, &err) || (slash && conform_beside(c, slash + 1, out, &err));
}

static const char *status_name(uint32_t code)
{
    if (!code) return "OK";
    if (code == CVBC_UNTRUSTED) return "KEY";
    if (code == BASE_MEMORY) return "NOMEM";
    const char *name = penta_code_name(code);
    return name ? name : "?";
}

struct verdict {
    uint32_t first;
    struct writer warnings;
};

static void keep_verdict(void *user, const penta_error *finding)
{
    struct verdict *v = user;
    if (finding->severity == PENTA_ERROR) {
        if (!v->first) v->first = finding->code;
        return;
    }
    const char *id = finding->code == CVBC_PIN_COUNT            ? "gpio_pin_count"
                     : finding->code == CVBC_DEBUG_IN_ENCRYPTED ? "debug_in_encrypted"
                                                                : NULL;
    if (id) writer_print(&v->warnings, "%s ", id);
}

static bool same_text(const struct json_object *expected, const char *got)
{
    const char *text = json_as_text(expected);
    return text ? !strcmp(text, got) : got == NULL;
}

static bool matches_containers(const struct json_object *root)
{
    const struct json_object *first = json_item(root, 0);
    return json_is_list(root) && json_has(first, "open_with") &&
           json_has(json_get(first, "expect"), "full_check");
}

static bool load_policy(const struct conform *c, const struct json_object *with,
                        struct cvbc_policy *policy, penta_error *err)
{
    const struct json_object *keys = json_get(with, "trusted_keys");
    policy->trusted = calloc(json_length(keys) + 1, sizeof *policy->trusted);
    policy->require_signature = json_as_bool(json_get(with, "require_signature"));
    policy->inflate_max = CVBC_INFLATE_MAX;
    policy->iterations_max = CVBC_ITERATIONS_MAX;
    for (size_t i = 0; policy->trusted && i < json_length(keys); i++) {
        char name[200];
        snprintf(name, sizeof name, "keys/%s.public.pem", json_as_text(json_item(keys, i)));
        char *file = conform_path_beside(c, name);
        bool ok = file && cvbc_public_key_file(file, &policy->trusted[policy->trusted_count], err);
        free(file);
        if (!ok) return false;
        policy->trusted_count++;
    }
    const char *secret = json_as_text(json_get(with, "symmetric_key"));
    if (!secret) return true;
    penta_buffer text = {0};
    if (!read_beside(c, "keys/symmetric.json", &text))
        return error_at(err, BASE_IO, 0, "no keys/symmetric.json");
    struct json_doc *doc = json_parse((penta_bytes){text.data, text.size}, err);
    policy->secret.bytes =
        doc ? json_as_hex(json_get(json_root(doc), secret), &policy->secret.size) : NULL;
    policy->has_secret = policy->secret.bytes != NULL;
    json_doc_free(doc);
    penta_buffer_free(&text);
    return policy->has_secret || error_at(err, BASE_IO, 0, "no symmetric key '%.40s'", secret);
}

static void judge_container(struct trial *t, const struct json_object *expect,
                            const struct cvbc_module *m)
{
    struct verdict quick = {0}, full = {0};
    struct findings f = {.rules = cvbc_rules, .report = keep_verdict, .user = &quick};
    cvbc_check_quick(m, &f);
    f = (struct findings){.rules = cvbc_rules, .report = keep_verdict, .user = &full};
    cvbc_check_full(m, &f);
    const struct cvbc_opened *o = cvbc_open(m);
    char got[300], digest[65] = "";
    const struct json_object *warnings = json_get(expect, "warnings");
    struct writer wanted = {0};
    for (size_t i = 0; i < json_length(warnings); i++)
        writer_print(&wanted, "%s ", json_as_text(json_item(warnings, i)));
    writer_char(&wanted, 0);
    writer_char(&full.warnings, 0);
    bool good = !o->failure.code;
    const char *trust = !good || !o->signature_good  ? NULL
                        : o->trust == CVBC_TRUST_KEY ? "true"
                                                     : "false";
    const struct json_object *want = json_get(expect, "signer_trusted");
    const char *want_trust = json_is_bool(want) ? (json_as_bool(want) ? "true" : "false") : NULL;
    uint64_t want_size = 0;
    if (good) {
        uint8_t hash[32];
        cvbc_digest(o->program.image, hash);
        for (int i = 0; i < 32; i++) snprintf(digest + 2 * i, 3, "%02x", hash[i]);
    }
    bool ok = json_as_bool(json_get(expect, "quick_check")) == !quick.first &&
              same_text(json_get(expect, "quick_code"), status_name(quick.first)) &&
              same_text(json_get(expect, "full_check"), status_name(full.first)) &&
              !strcmp((char *)wanted.out.data, (char *)full.warnings.out.data) &&
              same_text(json_get(expect, "verify"), status_name(o->failure.code)) &&
              (trust && want_trust ? !strcmp(trust, want_trust) : trust == want_trust) &&
              same_text(json_get(expect, "decoded_bytecode_sha256"), good ? digest : NULL) &&
              (!good || (json_as_uint(json_get(expect, "decoded_bytecode_size"), &want_size) &&
                         want_size == o->program.image.size));
    snprintf(got, sizeof got, "quick %s, full %s, warnings [%s], verify %s, trusted %s, %.16s",
             status_name(quick.first), status_name(full.first), (char *)full.warnings.out.data,
             status_name(o->failure.code), trust ? trust : "null", digest);
    if (!ok) trial_fail(t, json_as_text(json_get(expect, "verify")), "%s", got);
    writer_free(&wanted);
    writer_free(&full.warnings);
    writer_free(&quick.warnings);
}

static void one_container(struct trial *t, const struct json_object *entry)
{
    const char *name = json_as_text(json_get(entry, "file"));
    penta_buffer file = {0};
    penta_error err = {0};
    if (!name || !read_beside(t->c, name, &file)) {
        trial_fail(t, "a file", "it cannot be read");
        return;
    }
    penta_module *module = cvbc_parse((penta_bytes){file.data, file.size}, NULL, 0, &err);
    struct cvbc_module *m = (struct cvbc_module *)module;
    if (m) cvbc_policy_free(&m->policy);
    if (!m || !load_policy(t->c, json_get(entry, "open_with"), &m->policy, &err))
        trial_fail(t, "an opened file", "%s", err.message);
    else
        judge_container(t, json_get(entry, "expect"), m);
    penta_close(module);
    penta_buffer_free(&file);
}

static void run_containers(struct conform *c, const struct json_object *root)
{
    trial_each(c, root, "container", one_container);
}

DOCUMENT_FORM(cvbc_containers, matches_containers, run_containers)

struct outcome {
    const char *status;
    struct cvbc_vm *vm;
    struct writer output;
};

static void run_program(const struct cvbc_program *p, uint64_t budget, struct outcome *o)
{
    penta_error err = {0};
    struct cvbc_flow flow = {0};
    struct verdict none = {0};
    struct findings f = {.rules = cvbc_rules, .report = keep_verdict, .user = &none};
    bool proved = cvbc_verify_program(p, &f, 0, false, &flow) && flow.proved && !none.first;
    struct cvbc_board_state *board = cvbc_board_new(true, NULL, &err);
    o->vm = cvbc_vm_new(p, CVBC_STACK_MAX, budget, proved, &err);
    penta_stop stop = {.kind = PENTA_STOP_TRAP};
    while (o->vm && board) {
        cvbc_vm_run(&o->vm->base, UINT64_MAX, &stop);
        if (stop.kind != PENTA_STOP_HOST) break;
        uint64_t results[2];
        size_t count;
        cvbc_board_answer(board, o->vm, results, &count, &o->output);
        if (!cvbc_interp.answer(&o->vm->base, results, count, &err)) break;
    }
    cvbc_board_free(board);
    o->status = stop.kind == PENTA_STOP_HALT      ? (o->vm->ran_off ? "end" : "halted")
                : stop.detail == CVBC_TRAP_BUDGET ? "budget"
                                                  : "error";
    writer_char(&o->output, 0);
}

static unsigned error_of(const struct outcome *o)
{
    return o->vm->error == CVBC_TRAP_BUDGET ? 0 : o->vm->error;
}

static bool same_stack(const struct cvbc_vm *vm, const struct json_object *stack)
{
    if (json_length(stack) != vm->sp) return false;
    for (uint32_t i = 0; i < vm->sp; i++) {
        int64_t value;
        if (!json_as_sint(json_item(stack, i), &value) || value != vm->stack[CVBC_GUARD + i])
            return false;
    }
    return true;
}

struct globals {
    const struct cvbc_vm *vm;
    size_t seen;
    bool ok;
};

static void check_global(void *user, const char *key, const struct json_object *value)
{
    struct globals *g = user;
    uint64_t slot = UINT64_MAX;
    int64_t want = 0;
    if (!number_parse(key, &slot) || slot >= CVBC_GLOBALS || !json_as_sint(value, &want) ||
        g->vm->globals[slot] != want)
        g->ok = false;
    if (want) g->seen++;
}

static bool same_globals(const struct cvbc_vm *vm, const struct json_object *globals)
{
    struct globals g = {vm, 0, true};
    size_t used = 0;
    json_each(globals, check_global, &g);
    for (int i = 0; i < CVBC_GLOBALS; i++) used += vm->globals[i] != 0;
    return g.ok && used == g.seen;
}

static bool matches_program(const struct json_object *root)
{
    return json_is_object(root) && json_has(root, "code_hex") && json_has(root, "strings") &&
           json_has(json_get(root, "expect"), "globals");
}

static void run_isa(struct conform *c, const struct json_object *root)
{
    struct trial trial = trial_begin(c, root), *t = &trial;
    const struct json_object *expect = json_get(root, "expect"),
                             *strings = json_get(root, "strings");
    size_t size = 0;
    uint8_t *code = json_as_hex(json_get(root, "code_hex"), &size);
    uint64_t budget = CVBC_BUDGET, pc = 0, steps = 0, error = 0;
    json_as_uint(json_get(root, "budget"), &budget);
    penta_bytes *texts = calloc(json_length(strings) + 1, sizeof *texts);
    for (size_t i = 0; texts && i < json_length(strings); i++)
        texts[i] = (penta_bytes){(const uint8_t *)json_as_text(json_item(strings, i)),
                                 json_text_size(json_item(strings, i))};
    struct cvbc_program p = {
        .code = code, .count = size / 4, .strings = texts, .string_count = json_length(strings)};
    struct outcome o = {0};
    if (code && texts && p.count) run_program(&p, budget, &o);
    if (!o.vm) {
        trial_fail(t, "a program", "none");
    } else {
        bool ok = same_text(json_get(expect, "status"), o.status) &&
                  json_as_uint(json_get(expect, "error"), &error) && error == error_of(&o) &&
                  json_as_uint(json_get(expect, "pc"), &pc) && pc == o.vm->pc &&
                  json_as_uint(json_get(expect, "steps"), &steps) && steps == o.vm->executed &&
                  same_stack(o.vm, json_get(expect, "stack")) &&
                  same_globals(o.vm, json_get(expect, "globals")) &&
                  same_text(json_get(expect, "output"), (char *)o.output.out.data);
        if (!ok)
            trial_fail(t, json_as_text(json_get(expect, "status")),
                       "%s error %u pc %u steps %" PRIu64 " stack %u output %.100s", o.status,
                       error_of(&o), o.vm->pc, o.vm->executed, o.vm->sp, (char *)o.output.out.data);
    }
    trial_end(t);
    cvbc_vm_free(o.vm);
    writer_free(&o.output);
    free(texts);
    free(code);
}

DOCUMENT_FORM(cvbc_isa, matches_program, run_isa)

static bool matches_legacy(const struct json_object *root)
{
    bool any = false; /* Entries for files that are not programs do not have this member. */
    for (size_t i = 0; json_is_list(root) && i < json_length(root) && !any; i++)
        any = json_has(json_get(json_item(root, i), "expect"), "code_hex_after_repair");
    return any && json_has(json_get(json_item(root, 0), "expect"), "format");
}

static bool same_code(const struct cvbc_build *b, const struct json_object *hex)
{
    size_t size = 0;
    uint8_t *code = json_as_hex(hex, &size);
    bool ok = code && bytes_equal((penta_bytes){code, size}, writer_view(&b->code));
    free(code);
    return ok;
}

static bool same_strings(const struct cvbc_build *b, const struct json_object *strings)
{
    size_t at = 0;
    for (size_t i = 0; i < json_length(strings); i++) {
        size_t size = json_text_size(json_item(strings, i));
        if (b->strings.out.size - at < 5 + size ||
            bytes_get32(b->strings.out.data + at) != size + 1 ||
            (size &&
             memcmp(b->strings.out.data + at + 4, json_as_text(json_item(strings, i)), size)))
            return false;
        at += 5 + size;
    }
    return at == b->strings.out.size;
}

static void judge_legacy(struct trial *t, const struct json_object *expect, penta_bytes file,
                         const struct cvbc_legacy *layout)
{
    struct cvbc_build before = {0}, after = {0};
    penta_error err = {0};
    unsigned none = 0, repairs = 0, wanted = 0;
    char format[64];
    const struct json_object *list = json_get(expect, "repairs"), *run = json_get(expect, "run");
    snprintf(format, sizeof format, "%s%s%s", layout->wrapper ? layout->wrapper : "",
             layout->wrapper ? "+" : "", layout->layout);
    for (size_t i = 0; i < json_length(list); i++)
        wanted |= 1u << (json_as_text(json_item(list, i))[1] - '1');
    bool read = cvbc_legacy_read(file, layout, true, &before, &none, NULL, &err) &&
                cvbc_legacy_read(file, layout, false, &after, &repairs, NULL, &err);
    struct writer out = {0};
    struct arena arena = {0};
    struct cvbc_program p = {0};
    struct outcome o = {0};
    uint64_t count = 0, error = 0;
    penta_module *module = read && cvbc_build_write(&after, &out, &err)
                               ? cvbc_parse(writer_view(&out), NULL, 0, &err)
                               : NULL;
    const struct cvbc_opened *opened = module ? cvbc_open(cvbc_module(module)) : NULL;
    if (opened && !opened->failure.code) p = opened->program;
    if (p.count) run_program(&p, CVBC_BUDGET, &o);
    bool ok = o.vm && same_text(json_get(expect, "format"), format) &&
              json_as_uint(json_get(expect, "instruction_count"), &count) &&
              count == layout->count && same_code(&before, json_get(expect, "code_hex")) &&
              same_code(&after, json_get(expect, "code_hex_after_repair")) &&
              same_strings(&before, json_get(expect, "strings")) &&
              same_strings(&after, json_get(expect, "strings_after_repair")) && repairs == wanted &&
              same_text(json_get(run, "status"), o.status) &&
              json_as_uint(json_get(run, "error"), &error) && error == error_of(&o) &&
              same_text(json_get(run, "output"), (char *)o.output.out.data);
    if (!ok)
        trial_fail(t, json_as_text(json_get(expect, "format")),
                   "%s repairs 0x%x run %s output %.100s %s", format, repairs,
                   o.status ? o.status : "-", o.output.out.data ? (char *)o.output.out.data : "",
                   opened ? opened->failure.message : err.message);
    cvbc_vm_free(o.vm);
    writer_free(&o.output);
    arena_free(&arena);
    penta_close(module);
    writer_free(&out);
    cvbc_build_fini(&before);
    cvbc_build_fini(&after);
}

static void one_legacy(struct trial *t, const struct json_object *entry)
{
    const char *name = json_as_text(json_get(entry, "file")), *why;
    const struct json_object *expect = json_get(entry, "expect");
    penta_buffer buffer = {0};
    if (!name || !read_beside(t->c, name, &buffer)) {
        trial_fail(t, "a file", "it cannot be read");
        return;
    }
    penta_bytes file = {buffer.data, buffer.size};
    struct cvbc_legacy layout;
    bool found = cvbc_legacy_detect(file, &layout, &why);
    const char *want = json_as_text(json_get(expect, "format"));
    if (!want != !found)
        trial_fail(t, want ? want : "no layout", "%s", found ? layout.layout : why);
    else if (want)
        judge_legacy(t, expect, file, &layout);
    penta_buffer_free(&buffer);
}

static void run_legacy(struct conform *c, const struct json_object *root)
{
    trial_each(c, root, "file", one_legacy);
}

DOCUMENT_FORM(cvbc_legacy, matches_legacy, run_legacy)

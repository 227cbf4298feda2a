/* Runs the forms of COIL vectors: valid and invalid instructions, sources with errors, single
 * operations, programs, object listings and damaged objects. */
#include "coil/coil.h"
#include "base/writer.h"
#include "coil/link/link.h"
#include "coil/vm/vm.h"
#include "conform/trial.h"
#include "penta/session.h"
#include "text/lexer.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCES_MAX = 64, FUEL = 200000000 };

/* Compares the first error with the expected one. That is "E_" and the name of the rule, or "OK"
 * if no error is expected. */
static void coil_vector_judge(struct trial *t, const char *expected, const struct first_error *f)
{
    const char *rule = f->error.code ? penta_code_name(f->error.code) : NULL;
    char got[64];
    snprintf(got, sizeof got, "%s%s", rule ? "E_" : "", rule ? rule : "OK");
    if (!expected || strcmp(expected, got))
        trial_fail(t, expected ? expected : "an error name", "%s: %s", got, f->error.message);
}

static void coil_vector_take(struct first_error *f, const penta_error *e)
{
    if (e->code) first_error_keep(f, e);
}

static bool read_insn(const uint8_t *bytes, size_t size, bool big, struct coil_insn *insn,
                      penta_error *err)
{
    struct reader r = {.in = {bytes, size}, .big_endian = big, .err = err};
    return coil_insn_read(&r, insn);
}

static void run_instruction(struct trial *t, const struct json_object *v)
{
    size_t size;
    uint8_t *bytes = json_as_hex(json_get(v, "hex"), &size);
    struct coil_insn insn = {0};
    const char *text = json_as_text(json_get(v, "disasm")),
               *endian = json_as_text(json_get(v, "endian"));
    uint64_t length = size;
    if (!bytes || !text) {
        trial_fail(t, "hex and disasm", "a case without them");
        free(bytes);
        return;
    }
    json_as_uint(json_get(v, "length"), &length);
    bool big = endian && !strcmp(endian, "big");
    struct coil_module alone = {.big_endian = big, .raw = true, .header = {.target_pu = 1}};
    penta_error err = {0};
    struct writer printed = {0}, again = {.big_endian = big}, assembled = {0};
    if (!read_insn(bytes, size, big, &insn, &err)) {
        trial_fail(t, text, "%s", err.message);
    } else {
        coil_print_insn(&printed, &alone, &insn);
        coil_insn_write(&again, &insn);
        writer_char(&printed, 0);
        const penta_option options[] = {{"raw", "1"}, {"endian", big ? "big" : "little"}};
        struct source s = {.text = bytes_of(text), .comment = ";", .err = &err};
        struct first_error first = {0};
        struct findings f = {.rules = coil_rules, .report = first_error_keep, .user = &first};
        coil_assemble(&s, options, 2, &assembled, &f);
        if (insn.size != length)
            trial_fail(t, "the length", "%u bytes", (unsigned)insn.size);
        else if (strcmp((const char *)printed.out.data, text))
            trial_fail(t, text, "%s", (const char *)printed.out.data);
        else if (!bytes_equal(writer_view(&again), (penta_bytes){bytes, size}))
            trial_fail(t, "the same bytes", "encoding gives others");
        else if (!bytes_equal(writer_view(&assembled), (penta_bytes){bytes, size}))
            trial_fail(t, "the same bytes", "assembling gives others: %s", first.error.message);
    }
    writer_free(&printed);
    writer_free(&again);
    writer_free(&assembled);
    coil_insn_free(&insn);
    free(bytes);
}

static void run_invalid(struct trial *t, const struct json_object *v)
{
    size_t size;
    uint8_t *bytes = json_as_hex(json_get(v, "hex"), &size);
    struct coil_insn insn = {0};
    const char *endian = json_as_text(json_get(v, "endian"));
    struct first_error first = {0};
    penta_error err = {0};
    if (bytes && !read_insn(bytes, size, endian && !strcmp(endian, "big"), &insn, &err)) {
        coil_vector_take(&first, &err);
    } else if (bytes) {
        struct findings f = {.rules = coil_rules, .report = first_error_keep, .user = &first};
        struct coil_check check;
        coil_check_init(&check, NULL, &f);
        coil_check_insn(&check, &insn);
        coil_check_fini(&check);
    }
    coil_vector_judge(t, json_as_text(json_get(v, "error")), &first);
    coil_insn_free(&insn);
    free(bytes);
}

/* The functions below make a machine from sources. */

struct build {
    penta_module *objects[SOURCES_MAX];
    char names[SOURCES_MAX][32];
    size_t count;
    struct writer linked;
    penta_module *program;
    struct first_error first;
};

static bool coil_vector_assemble(struct build *b, penta_bytes text)
{
    if (b->count == SOURCES_MAX) return false;
    penta_module *m = penta_assemble(text, "coil", NULL, 0, first_error_keep, &b->first);
    if (!m) return false;
    snprintf(b->names[b->count], sizeof b->names[0], "object %zu", b->count + 1);
    b->objects[b->count++] = m;
    return true;
}

static bool link_and_open(struct build *b)
{
    struct coil_link_input inputs[SOURCES_MAX] = {{0}};
    for (size_t i = 0; i < b->count; i++)
        inputs[i] =
            (struct coil_link_input){.name = b->names[i], .module = coil_module(b->objects[i])};
    struct coil_link link = {.inputs = inputs, .count = b->count};
    struct findings f = {.rules = coil_rules, .report = first_error_keep, .user = &b->first};
    penta_error err = {0};
    if (!coil_link(&link, &b->linked, &f)) return false;
    b->program = penta_open(writer_view(&b->linked), "coil", NULL, 0, &err);
    coil_vector_take(&b->first, &err);
    return b->program && penta_validate(b->program, first_error_keep, &b->first);
}

static void build_free(struct build *b)
{
    penta_close(b->program);
    for (size_t i = 0; i < b->count; i++) penta_close(b->objects[i]);
    writer_free(&b->linked);
}

struct run {
    struct writer output;
    penta_stop stop;
    uint64_t v0;
    uint8_t flags;
};

static bool coil_vector_execute(struct trial *t, struct build *b, struct run *r,
                                const uint8_t *flags)
{
    penta_error err = {0};
    penta_session *s = penta_session_new(b->program, t->c->engine, NULL, 0, NULL, &err);
    if (!s) {
        coil_vector_take(&b->first, &err);
        return false;
    }
    struct coil_vm *vm = coil_vm(penta_session_vm(s));
    if (flags) vm->flags = *flags;
    penta_session_run(s, FUEL, &r->stop);
    penta_session_output(s, &r->output.out, NULL, &err);
    coil_flags_settle(vm);
    r->v0 = vm->v[0];
    r->flags = vm->flags;
    penta_session_free(s);
    return true;
}

static void run_text_error(struct trial *t, const struct json_object *v)
{
    struct build b = {0};
    const struct json_object *sources = json_get(v, "sources");
    bool ok = true;
    for (size_t i = 0; i < json_length(sources); i++) {
        const struct json_object *text = json_item(sources, i);
        ok &= json_as_text(text) &&
              coil_vector_assemble(
                  &b, (penta_bytes){(const uint8_t *)json_as_text(text), json_text_size(text)});
    }
    struct run r = {0};
    if (ok && link_and_open(&b)) coil_vector_execute(t, &b, &r, NULL);
    coil_vector_judge(t, json_as_text(json_get(v, "error")), &b.first);
    writer_free(&r.output);
    build_free(&b);
}

static bool read_sources(struct trial *t, const struct json_object *v, struct build *b)
{
    const struct json_object *sources = json_get(v, "sources");
    for (size_t i = 0; i < json_length(sources); i++) {
        const char *file = json_as_text(json_item(sources, i));
        penta_buffer text = {0};
        penta_error err = {0};
        bool ok = file && conform_beside(t->c, file, &text, &err);
        coil_vector_take(&b->first, &err);
        ok = ok && coil_vector_assemble(b, (penta_bytes){text.data, text.size});
        penta_buffer_free(&text);
        if (!ok) return false;
    }
    return true;
}

static void judge_program(struct trial *t, const struct json_object *v, const struct run *r)
{
    const char *trap = json_as_text(json_get(v, "trap"));
    const struct json_object *out = json_get(v, "stdout");
    penta_stop stop = r->stop;
    const char *got = stop.kind == PENTA_STOP_TRAP ? trap_name(coil_traps, stop.detail) : NULL;
    int64_t v0 = 0, code = 0;
    if (out && !bytes_equal((penta_bytes){(const uint8_t *)json_as_text(out), json_text_size(out)},
                            writer_view(&r->output)))
        trial_fail(t, json_as_text(out), "%.*s",
                   (int)(r->output.out.size > 200 ? 200 : r->output.out.size),
                   r->output.out.data ? (const char *)r->output.out.data : "");
    else if (trap) {
        json_as_sint(json_get(v, "code"), &code);
        int64_t seen = r->stop.detail == COIL_TRAP_TRAP ? (int64_t)r->stop.args[0] : 0;
        if (r->stop.kind != PENTA_STOP_TRAP || !got || strcmp(got, trap) || seen != code)
            trial_fail(t, trap, "%s, code %" PRId64, got ? got : "no trap", seen);
    } else if (r->stop.kind != PENTA_STOP_HALT) {
        trial_fail(t, "halt", "%s", got ? got : "another stop");
    } else if (json_as_sint(json_get(v, "v0"), &v0) && v0 != (int64_t)r->v0) {
        char expected[32];
        snprintf(expected, sizeof expected, "v0 %" PRId64, v0);
        trial_fail(t, expected, "v0 %" PRId64, (int64_t)r->v0);
    }
}

static void run_program(struct trial *t, const struct json_object *v)
{
    struct build b = {0};
    struct run r = {0};
    if (read_sources(t, v, &b) && link_and_open(&b) && coil_vector_execute(t, &b, &r, NULL))
        judge_program(t, v, &r);
    else
        trial_fail(t, "a program that runs", "%s", b.first.error.message);
    writer_free(&r.output);
    build_free(&b);
}

static void coil_vector_literal(struct writer *w, const struct json_object *v)
{
    int64_t i;
    uint64_t u;
    if (json_as_text(v))
        writer_text(w, json_as_text(v));
    else if (json_as_sint(v, &i))
        writer_print(w, "%" PRId64, i);
    else if (json_as_uint(v, &u))
        writer_print(w, "%" PRIu64, u);
    else
        writer_text(w, "?");
}

static void alu_source(struct writer *w, const struct json_object *v)
{
    const struct json_object *src = json_get(v, "src");
    const char *op = json_as_text(json_get(v, "op")), *dest = json_as_text(json_get(v, "dest"));
    bool flags_only = !strcmp(op, "CMP") || !strcmp(op, "TEST"),
         in_place = !strcmp(op, "INC") || !strcmp(op, "DEC");
    if (!dest) dest = "i64";
    const char *sat = json_as_bool(json_get(v, "sat")) ? "sat " : "";
    writer_text(w, ".global main\n.func main\n");
    for (size_t i = 0; i < json_length(src); i++) {
        const struct json_object *s = json_item(src, i);
        writer_print(w, "VAR %%s%zu, %s, ", i,
                     json_as_text(json_item(s, 0)) ? json_as_text(json_item(s, 0)) : "?");
        coil_vector_literal(w, json_item(s, 1));
        writer_char(w, '\n');
    }
    if (!flags_only) writer_print(w, "VAR %%d, %s%s%s\n", sat, dest, in_place ? ", %s0" : "");
    writer_text(w, op);
    if (!flags_only) writer_text(w, " %d");
    for (size_t i = 0; !in_place && i < json_length(src); i++)
        writer_print(w, "%s %%s%zu", i || !flags_only ? "," : "", i);
    writer_print(w, "\n%sHALT\n.endfunc\n", flags_only ? "" : "MOV v0, %d\n");
}

static bool same_result(const struct json_object *v, uint64_t got, char *text, size_t size)
{
    const struct json_object *result = json_get(v, "result");
    const char *dest = json_as_text(json_get(v, "dest")), *real = json_as_text(result);
    int64_t i;
    uint64_t u;
    if (json_is_null(result)) return true;
    if (real) {
        uint8_t op = !strcmp(dest, "f32") ? COIL_T_FP32 : COIL_T_FP64;
        double have = coil_real(op, got);
        snprintf(text, size, "%.17g", have);
        double want = op == COIL_T_FP32 ? (double)strtof(real, NULL) : strtod(real, NULL);
        return isnan(want) ? isnan(have) : coil_real_bits(op, want) == got;
    }
    snprintf(text, size, "0x%" PRIx64, got);
    return json_as_sint(result, &i) ? (uint64_t)i == got : json_as_uint(result, &u) && u == got;
}

static void run_alu(struct trial *t, const struct json_object *v)
{
    static const char flag_order[] = "ZSCVDNP";
    const char *op = json_as_text(json_get(v, "op")), *flags = json_as_text(json_get(v, "ZSCVDNP"));
    uint64_t id = 0;
    char name[64], text[64] = "";
    json_as_uint(json_get(v, "id"), &id);
    snprintf(name, sizeof name, "%s-%" PRIu64, op ? op : "?", id);
    t->name = name;
    if (!op || !flags || strlen(flags) != 7) {
        trial_fail(t, "op, dest and seven flags", "a row without them");
        return;
    }
    /* Compiled code computes flags only where the program reads them. */
    bool exact = !t->c->engine || !strcmp(t->c->engine, "interp");
    struct writer source = {0};
    struct build b = {0};
    alu_source(&source, v);
    bool ok = coil_vector_assemble(&b, writer_view(&source)) && link_and_open(&b);
    if (!ok) trial_fail(t, "a program that runs", "%s", b.first.error.message);
    for (int pass = 0; ok && pass < 2;
         /* In the first pass all flags are 0 at the beginning, in the second they are 1. Flags
          * that an instruction keeps must not change. */
         pass++) {
        const uint8_t start = pass ? 127 : 0;
        struct run r = {0};
        ok = coil_vector_execute(t, &b, &r, &start);
        if (!ok)
            trial_fail(t, "a machine", "%s", b.first.error.message);
        else if (r.stop.kind != PENTA_STOP_HALT)
            ok = false, trial_fail(t, "halt", "trap %u", r.stop.detail);
        else if (!same_result(v, r.v0, text, sizeof text))
            ok = false, trial_fail(t, "the result", "%s", text);
        for (int i = 0; ok && exact && i < 7; i++) {
            int want = flags[i] == '-' ? pass : flags[i] - '0', got = r.flags >> i & 1;
            if (want == got) continue;
            ok = false;
            trial_fail(t, flags, "flag %c is %d", flag_order[i], got);
        }
        writer_free(&r.output);
    }
    trial_end(t); /* This comes before the name of the case is freed. */
    writer_free(&source);
    build_free(&b);
}

static bool number_is(const struct json_object *v, const char *key, uint64_t got, char *why,
                      size_t size)
{
    uint64_t expected = 0;
    int64_t i;
    const struct json_object *value = json_get(v, key);
    bool there = json_as_uint(value, &expected);
    if (!there && json_as_sint(value, &i)) expected = (uint64_t)i, there = true;
    if (there && expected == got) return true;
    if (!*why) snprintf(why, size, "%s is 0x%" PRIx64, key, got);
    return false;
}

static bool text_is(const struct json_object *v, const char *key, penta_bytes got, char *why,
                    size_t size)
{
    const struct json_object *value = json_get(v, key);
    const char *text = json_as_text(value);
    if (text && bytes_equal((penta_bytes){(const uint8_t *)text, json_text_size(value)}, got))
        return true;
    if (!*why)
        snprintf(why, size, "%s is '%.*s'", key, (int)(got.size > 40 ? 40 : got.size),
                 got.size ? (const char *)got.data : "");
    return false;
}

static bool same_section(const struct coil_module *m, size_t i, const struct json_object *v,
                         char *why, size_t size)
{
    const struct coil_section *s = &m->sections[i];
    bool ok =
        number_is(v, "n", i + 1, why, size) &&
        text_is(v, "name", coil_string(m, s->name_idx), why, size) &&
        number_is(v, "type", s->type, why, size) && number_is(v, "flags", s->flags, why, size) &&
        number_is(v, "size", s->size, why, size) && number_is(v, "addr", s->addr, why, size) &&
        number_is(v, "align", s->align, why, size);
    size_t n = 0;
    uint8_t *bytes = json_has(v, "data") ? json_as_hex(json_get(v, "data"), &n) : NULL;
    penta_bytes have = coil_contents(m, i);
    if (json_has(v, "data") && (!bytes || !bytes_equal((penta_bytes){bytes, n}, have))) {
        ok = false;
        snprintf(why, size, "section %zu has other contents", i + 1);
    }
    free(bytes);
    return ok;
}

static bool same_symbol(const struct coil_module *m, size_t i, const struct json_object *v,
                        char *why, size_t size)
{
    const struct coil_symbol *s = &m->symbols[i];
    return number_is(v, "i", i, why, size) &&
           text_is(v, "name", coil_symbol_name(m, i), why, size) &&
           number_is(v, "section", s->section_idx, why, size) &&
           number_is(v, "value", s->value, why, size) && number_is(v, "size", s->size, why, size) &&
           number_is(v, "type", s->type, why, size) && number_is(v, "bind", s->bind, why, size) &&
           number_is(v, "vis", s->visibility, why, size);
}

static bool same_reloc(const struct coil_module *m, size_t i, const struct json_object *v,
                       char *why, size_t size)
{
    const struct coil_reloc *r = &m->relocs[i];
    return number_is(v, "section", r->offset >> 32, why, size) &&
           number_is(v, "offset", r->offset & UINT32_MAX, why, size) &&
           number_is(v, "symbol", r->symbol_idx, why, size) &&
           number_is(v, "type", r->type, why, size) && number_is(v, "addend", r->addend, why, size);
}

static bool same_listing(const struct coil_module *m, const struct json_object *v, char *why,
                         size_t size)
{
    const struct coil_header *h = &m->header;
    const struct json_object *target = json_get(v, "target"), *sections = json_get(v, "sections"),
                             *symbols = json_get(v, "symbols"), *relocs = json_get(v, "relocs");
    uint32_t targets[3] = {h->target_pu, h->target_arch, h->target_mode};
    bool ok = text_is(v, "endian", bytes_of(m->big_endian ? "big" : "little"), why, size) &&
              number_is(v, "version", h->version, why, size) &&
              number_is(v, "flags", h->flags, why, size) &&
              number_is(v, "entry", h->entry_point, why, size);
    for (size_t i = 0; i < json_length(target) && i < 3; i++) {
        uint64_t number;
        if (json_as_uint(json_item(target, i), &number) && number == targets[i]) continue;
        ok = false;
        if (!*why) snprintf(why, size, "target[%zu] is %" PRIu32, i, targets[i]);
    }
    if (json_length(sections) != m->section_count || json_length(symbols) != m->symbol_count ||
        json_length(relocs) != m->reloc_count) {
        snprintf(why, size, "%zu sections, %zu symbols, %zu relocations", m->section_count,
                 m->symbol_count, m->reloc_count);
        return false;
    }
    for (size_t i = 0; i < m->section_count; i++)
        ok &= same_section(m, i, json_item(sections, i), why, size);
    for (size_t i = 0; i < m->symbol_count; i++)
        ok &= same_symbol(m, i, json_item(symbols, i), why, size);
    for (size_t i = 0; i < m->reloc_count; i++)
        ok &= same_reloc(m, i, json_item(relocs, i), why, size);
    return ok;
}

static bool same_bytes(const penta_buffer *a, const penta_buffer *b)
{
    return bytes_equal((penta_bytes){a->data, a->size}, (penta_bytes){b->data, b->size});
}

/* Checks that encoding the module gives the same file, and that printing and assembling it does
 * so too. */
static bool file_comes_back(const penta_module *m, const penta_buffer *file)
{
    penta_buffer text = {0}, encoded = {0}, again = {0};
    penta_error err = {0};
    struct first_error first = {0};
    bool ok = penta_encode(m, &encoded, &err) && same_bytes(&encoded, file) &&
              penta_print(m, NULL, 0, &text, &err);
    penta_module *back = ok ? penta_assemble((penta_bytes){text.data, text.size}, "coil", NULL, 0,
                                             first_error_keep, &first)
                            : NULL;
    ok = back && penta_encode(back, &again, &err) && same_bytes(&again, file);
    penta_close(back);
    penta_buffer_free(&text);
    penta_buffer_free(&encoded);
    penta_buffer_free(&again);
    return ok;
}

/* Checks that linking X_a and X_b gives the file X_ab_exec, byte for byte. */
static bool links_to(const struct conform *c, const char *file, const penta_buffer *expected)
{
    const char *tail = strstr(file, "_ab_exec.coil");
    if (!tail) return true;
    penta_buffer in[2] = {{0}, {0}};
    penta_module *modules[2] = {NULL, NULL};
    struct coil_link_input inputs[2];
    penta_error err = {0};
    bool ok = true, there = true;
    for (int i = 0; i < 2; i++) {
        char name[256];
        snprintf(name, sizeof name, "%.*s_%c.coil", (int)(tail - file), file, 'a' + i);
        there &= conform_beside(c, name, &in[i], &err);
        modules[i] =
            there ? penta_open((penta_bytes){in[i].data, in[i].size}, "coil", NULL, 0, &err) : NULL;
        inputs[i] = (struct coil_link_input){.name = i ? "b" : "a",
                                             .module = (const struct coil_module *)modules[i]};
    }
    if (modules[0] && modules[1]) {
        struct writer out = {0};
        struct first_error first = {0};
        struct findings f = {.rules = coil_rules, .report = first_error_keep, .user = &first};
        struct coil_link link = {.inputs = inputs, .count = 2};
        ok = coil_link(&link, &out, &f) && same_bytes(&out.out, expected);
        writer_free(&out);
    }
    for (int i = 0; i < 2; i++) {
        penta_close(modules[i]);
        penta_buffer_free(&in[i]);
    }
    return ok;
}

static void run_listed(void *user, const char *key, const struct json_object *v)
{
    struct trial t = {.c = user, .name = key};
    penta_buffer file = {0};
    penta_error err = {0};
    char why[160] = "";
    if (!conform_beside(user, key, &file, &err)) {
        trial_fail(&t, "the file", "%s", err.message);
        return;
    }
    penta_module *m = penta_open((penta_bytes){file.data, file.size}, "coil", NULL, 0, &err);
    struct first_error first = {0};
    if (!m || penta_module_damage(m))
        trial_fail(&t, "an object", "%s", m ? penta_module_damage(m)->message : err.message);
    else if (!same_listing(coil_module(m), v, why, sizeof why))
        trial_fail(&t, "the listed contents", "%s", why);
    else if (!penta_validate(m, first_error_keep, &first))
        trial_fail(&t, "a valid object", "%s", first.error.message);
    else if (!file_comes_back(m, &file))
        trial_fail(&t, "the same bytes", "encode or text gives others");
    else if (!links_to(user, key, &file))
        trial_fail(&t, "the same bytes", "linking gives others");
    trial_end(&t);
    penta_close(m);
    penta_buffer_free(&file);
}

static void run_broken(struct trial *t, const struct json_object *v)
{
    const char *base = json_as_text(json_get(v, "base"));
    char name[256];
    penta_buffer file = {0};
    penta_error err = {0};
    struct first_error first = {0};
    uint64_t offset = 0, truncate = 0;
    snprintf(name, sizeof name, "%s.coil", base ? base : "?");
    if (!conform_beside(t->c, name, &file, &err)) {
        trial_fail(t, "the base file", "%s", err.message);
        return;
    }
    size_t n = 0;
    uint8_t *patch = json_has(v, "bytes") ? json_as_hex(json_get(v, "bytes"), &n) : NULL;
    if (patch && json_as_uint(json_get(v, "offset"), &offset) && offset <= file.size &&
        n <= file.size - offset)
        memcpy(file.data + offset, patch, n);
    if (json_as_uint(json_get(v, "truncate"), &truncate) && truncate < file.size)
        file.size = (size_t)truncate;
    penta_module *m = penta_open((penta_bytes){file.data, file.size}, "coil", NULL, 0, &err);
    if (m) penta_validate(m, first_error_keep, &first);
    coil_vector_take(&first, &err);
    coil_vector_judge(t, json_as_text(json_get(v, "error")), &first);
    penta_close(m);
    free(patch);
    penta_buffer_free(&file);
}

LIST_FORM(coil_instructions, "instructions", "instructions", run_instruction, "disasm")
LIST_FORM(coil_invalid, "invalid", "invalid", run_invalid, "hex")
LIST_FORM(coil_text_errors, "text_errors", "text_errors", run_text_error, "sources")
LIST_FORM(coil_alu, "alu", "alu", run_alu, "op")
LIST_FORM(coil_programs, "programs", "programs", run_program, "sources")
LIST_FORM(coil_broken, "broken", "broken", run_broken, "base")

struct shape {
    bool any, all;
};

static void coil_vector_look(void *user, const char *key, const struct json_object *v)
{
    struct shape *s = user;
    size_t n = strlen(key);
    s->any = true;
    s->all &=
        n > 5 && !strcmp(key + n - 5, ".coil") && json_has(v, "sections") && json_has(v, "symbols");
}

static bool matches_listing(const struct json_object *root)
{
    struct shape s = {false, true};
    if (json_is_object(root)) json_each(root, coil_vector_look, &s);
    return s.any && s.all;
}

static void run_listing(struct conform *c, const struct json_object *root)
{
    json_each(root, run_listed, c);
}

DOCUMENT_FORM(coil_listing, matches_listing, run_listing)

/* The three forms of PVM vectors: steps, expected-*, and block costs alone. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conform/conform.h"
#include "conform/pvm_runner.h"

enum { AREAS_MAX = 256 };

struct area {
    uint64_t address, length;
};

struct trial { /* the case being run */
    struct conform *c;
    const struct json_object *root;
    struct pvm_case what;
    struct pvm_runner runner;
    struct area areas[AREAS_MAX];
    size_t area_count;
    penta_error err;
    bool judged; /* a verdict was given */
};

static bool fail(struct trial *t, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct trial *t, const char *expected, const char *format, ...)
{
    char got[300];
    va_list args;
    va_start(args, format);
    vsnprintf(got, sizeof got, format, args);
    va_end(args);
    t->judged = true;
    conform_fail(t->c, t->what.name, expected, "%s", got);
    return false;
}

/* For errors that are no difference from what the vector expects. */
static bool fail_error(struct trial *t)
{
    if (t->judged) return false;
    t->judged = true;
    if (t->err.code == BASE_UNSUPPORTED)
        conform_skip(t->c, t->what.name, t->err.message);
    else
        conform_fail(t->c, t->what.name, "a case that can be run", "%s", t->err.message);
    return false;
}

static bool malformed(struct trial *t, const char *what)
{
    error_at(&t->err, BASE_JSON, 0, "the vector has no valid %s", what);
    return fail_error(t);
}

static bool uint_of(struct trial *t, const struct json_object *v, const char *key, uint64_t *out)
{
    return json_as_uint(json_get(v, key), out) || malformed(t, key);
}

/* A list of byte values, into a new buffer. */
static uint8_t *byte_list(const struct json_object *v, size_t *size)
{
    *size = json_length(v);
    uint8_t *bytes = malloc(*size + 1);
    for (size_t i = 0; bytes && i < *size; i++) {
        uint64_t byte;
        if (!json_as_uint(json_item(v, i), &byte) || byte > 255) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (uint8_t)byte;
    }
    return bytes;
}

/* ---- what a machine is given ---- */

static bool do_map(struct trial *t, const struct json_object *v)
{
    uint64_t address, length;
    if (!uint_of(t, v, "address", &address) || !uint_of(t, v, "length", &length)) return false;
    if (t->area_count == AREAS_MAX || length > UINT32_MAX) return malformed(t, "map");
    if (!t->runner.map(t->runner.state, address, length, json_as_bool(json_get(v, "is-writable")),
                       &t->err))
        return fail_error(t);
    t->areas[t->area_count++] = (struct area){address, length};
    return true;
}

static bool do_write(struct trial *t, const struct json_object *v)
{
    uint64_t address;
    size_t size;
    if (!uint_of(t, v, "address", &address)) return false;
    uint8_t *bytes = byte_list(json_get(v, "contents"), &size);
    if (!bytes) return malformed(t, "contents");
    bool ok = t->runner.write(t->runner.state, address, (penta_bytes){bytes, size}, &t->err);
    free(bytes);
    return ok || fail_error(t);
}

static bool do_reg(struct trial *t, uint64_t reg, uint64_t value)
{
    if (reg > 12) return malformed(t, "register");
    return t->runner.set_reg(t->runner.state, (unsigned)reg, value, &t->err) || fail_error(t);
}

/* ---- what is expected of it ---- */

static bool same_number(struct trial *t, const char *what, uint64_t expected, uint64_t got)
{
    if (expected == got) return true;
    char text[64];
    snprintf(text, sizeof text, "%s %" PRIu64, what, expected);
    return fail(t, text, "%s %" PRIu64, what, got);
}

static bool same_regs(struct trial *t, const struct json_object *regs, const uint64_t *got)
{
    for (unsigned i = 0; i < 13; i++) {
        uint64_t expected;
        char name[8];
        if (!json_as_uint(json_item(regs, i), &expected)) return malformed(t, "regs");
        snprintf(name, sizeof name, "r%u", i);
        if (!same_number(t, name, expected, got[i])) return false;
    }
    return true;
}

/* Compares all of an area; bytes that the vector does not list must be zero. */
static bool same_area(struct trial *t, const struct area *a, const struct json_object *memory)
{
    size_t size = (size_t)a->length;
    uint8_t *expected = calloc(1, size + 1), *got = malloc(size + 1);
    bool ok = expected && got && t->runner.read(t->runner.state, a->address, got, size, &t->err);
    if (!ok) fail_error(t);
    for (size_t i = 0; ok && i < json_length(memory); i++) {
        uint64_t at;
        size_t count;
        const struct json_object *run = json_item(memory, i);
        uint8_t *bytes = byte_list(json_get(run, "contents"), &count);
        ok = bytes && json_as_uint(json_get(run, "address"), &at);
        if (!ok) malformed(t, "memory");
        for (size_t k = 0; ok && k < count; k++)
            if (at + k >= a->address && at + k - a->address < size)
                expected[at + k - a->address] = bytes[k];
        free(bytes);
    }
    for (size_t i = 0; ok && i < size; i++) {
        if (expected[i] == got[i]) continue;
        char text[64];
        snprintf(text, sizeof text, "byte %u at 0x%" PRIx64, expected[i], a->address + i);
        ok = fail(t, text, "%u", got[i]);
    }
    free(expected);
    free(got);
    return ok;
}

static bool same_memory(struct trial *t, const struct json_object *memory)
{
    for (size_t i = 0; i < t->area_count; i++)
        if (!same_area(t, &t->areas[i], memory)) return false;
    return true;
}

static bool same_status(struct trial *t, const char *expected, const char *got)
{
    if (!expected) return malformed(t, "status");
    return !strcmp(expected, got) || fail(t, expected, "%s", got);
}

static bool same_costs(struct trial *t)
{
    const struct json_object *costs = json_get(t->root, "block-gas-costs");
    for (size_t i = 0; i < json_length(costs); i++) {
        uint64_t pc, expected, got;
        char what[48];
        if (!uint_of(t, json_item(costs, i), "pc", &pc) ||
            !uint_of(t, json_item(costs, i), "cost", &expected))
            return false;
        if (!t->runner.cost(t->runner.state, (uint32_t)pc, &got, &t->err)) return fail_error(t);
        snprintf(what, sizeof what, "cost of block %" PRIu64, pc);
        if (!same_number(t, what, expected, got)) return false;
    }
    return true;
}

/* ---- a case from beginning to end ---- */

static const char *text_or(const struct json_object *v, const char *key, const char *other)
{
    const char *text = json_as_text(json_get(v, key));
    return text ? text : other;
}

static void judge(struct conform *c, const struct json_object *root, const char *profile,
                  bool (*body)(struct trial *t))
{
    struct trial t = {.c = c, .root = root};
    size_t size;
    uint8_t *program = byte_list(json_get(root, "program"), &size);
    t.what = (struct pvm_case){.name = text_or(root, "name", "-"),
                               .isa = text_or(root, "isa", "latest64"),
                               .gas_model = text_or(root, "gas-model", "naive"),
                               .profile = profile};
    if (!program) {
        malformed(&t, "program");
        return;
    }
    t.what.program = (penta_bytes){program, size};
    json_as_uint(json_get(root, "initial-pc"), &t.what.pc);
    json_as_uint(json_get(root, "initial-gas"), &t.what.gas);
    bool open = c->exec ? pvm_runner_exec(&t.runner, c->exec, &t.err)
                        : pvm_runner_local(&t.runner, c->engine, &t.err);
    if (open && t.runner.start(t.runner.state, &t.what, &t.err)) {
        if (body(&t))
            conform_pass(c, t.what.name);
        else
            fail_error(&t);
    } else {
        fail_error(&t);
    }
    if (open) t.runner.close(t.runner.state);
    free(program);
}

/* ---- steps ---- */

static bool do_assert(struct trial *t, const struct json_object *v,
                      const struct pvm_outcome_seen *got)
{
    uint64_t gas, pc, extra;
    const char *status = json_as_text(json_get(v, "status"));
    if (!same_status(t, status, got->status) || !uint_of(t, v, "gas", &gas) ||
        !uint_of(t, v, "pc", &pc))
        return false;
    if (!same_number(t, "gas", gas, got->gas) || !same_number(t, "pc", pc, got->pc) ||
        !same_regs(t, json_get(v, "regs"), got->regs))
        return false;
    if (json_as_uint(json_get(v, "page-fault-address"), &extra) &&
        !same_number(t, "page-fault-address", extra, got->fault))
        return false;
    if (json_as_uint(json_get(v, "hostcall"), &extra) &&
        !same_number(t, "hostcall", extra, got->host))
        return false;
    return same_memory(t, json_get(v, "memory"));
}

static bool do_step(struct trial *t, const struct json_object *step, struct pvm_outcome_seen *seen)
{
    uint64_t reg, value;
    const struct json_object *v;
    if (json_has(step, "map")) return do_map(t, json_get(step, "map"));
    if (json_has(step, "write")) return do_write(t, json_get(step, "write"));
    if (json_has(step, "run"))
        return t->runner.run(t->runner.state, seen, &t->err) || fail_error(t);
    if (json_has(step, "assert")) return do_assert(t, json_get(step, "assert"), seen);
    if ((v = json_get(step, "set-reg")))
        return uint_of(t, v, "reg", &reg) && uint_of(t, v, "value", &value) &&
               do_reg(t, reg, value);
    return malformed(t, "step");
}

static bool steps_body(struct trial *t)
{
    const struct json_object *steps = json_get(t->root, "steps");
    struct pvm_outcome_seen seen = {.pc = 0};
    for (size_t i = 0; i < json_length(steps); i++)
        if (!do_step(t, json_item(steps, i), &seen)) return false;
    return same_costs(t);
}

static bool steps_matches(const struct json_object *root)
{
    return json_is_list(json_get(root, "program")) && json_is_list(json_get(root, "steps"));
}

static void steps_run(struct conform *c, const struct json_object *root)
{
    judge(c, root, "polkavm", steps_body);
}

/* ---- expected ---- */

static bool expected_body(struct trial *t)
{
    const struct json_object *root = t->root, *regs = json_get(root, "initial-regs");
    const struct json_object *maps = json_get(root, "initial-page-map");
    const struct json_object *memory = json_get(root, "initial-memory");
    uint64_t value, pc, gas;
    for (size_t i = 0; i < json_length(maps); i++)
        if (!do_map(t, json_item(maps, i))) return false;
    for (size_t i = 0; i < json_length(memory); i++)
        if (!do_write(t, json_item(memory, i))) return false;
    for (size_t i = 0; i < json_length(regs); i++)
        if (!json_as_uint(json_item(regs, i), &value) || !do_reg(t, i, value))
            return malformed(t, "initial-regs");
    struct pvm_outcome_seen seen;
    if (!t->runner.run(t->runner.state, &seen, &t->err)) return fail_error(t);
    if (!uint_of(t, root, "expected-pc", &pc) || !uint_of(t, root, "expected-gas", &gas))
        return false;
    if (!same_status(t, json_as_text(json_get(root, "expected-status")), seen.status) ||
        !same_number(t, "pc", pc, seen.pc) || !same_number(t, "gas", gas, seen.gas) ||
        !same_regs(t, json_get(root, "expected-regs"), seen.regs))
        return false;
    if (json_as_uint(json_get(root, "expected-page-fault-address"), &value) &&
        !same_number(t, "page-fault-address", value, seen.fault))
        return false;
    return same_memory(t, json_get(root, "expected-memory")) && same_costs(t);
}

static bool expected_matches(const struct json_object *root)
{
    return json_is_list(json_get(root, "program")) && json_has(root, "expected-status");
}

static void expected_run(struct conform *c, const struct json_object *root)
{
    judge(c, root, "gp-0.5", expected_body);
}

/* ---- costs ---- */

static bool costs_matches(const struct json_object *root)
{
    return json_is_list(json_get(root, "program")) &&
           json_is_list(json_get(root, "block-gas-costs"));
}

static void costs_run(struct conform *c, const struct json_object *root)
{
    judge(c, root, "polkavm", same_costs);
}

const struct conform_form conform_pvm_steps = {"pvm steps", steps_matches, steps_run};
const struct conform_form conform_pvm_expected = {"pvm expected", expected_matches, expected_run};
const struct conform_form conform_pvm_costs = {"pvm block costs", costs_matches, costs_run};

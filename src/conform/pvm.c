/* Runs the three forms of PVM vectors: with steps, with members expected-*, and with block costs
 * alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conform/pvm_runner.h"
#include "conform/trial.h"

enum { AREAS_MAX = 256 };

struct area {
    uint64_t address, length;
};

struct run { /* the run of one case */
    struct trial trial;
    const struct json_object *root;
    struct pvm_case what;
    struct pvm_runner runner;
    struct area areas[AREAS_MAX];
    size_t area_count;
    penta_error err;
};

/* Makes the case fail because of an error, not because of a difference from the expected result. */
static bool fail_error(struct run *r)
{
    if (r->err.code == BASE_UNSUPPORTED) return trial_skip(&r->trial, r->err.message);
    return trial_fail(&r->trial, "a case that can be run", "%s", r->err.message);
}

static bool pvm_vector_malformed(struct run *r, const char *what)
{
    return trial_malformed(&r->trial, "the vector has no valid %s", what);
}

static bool uint_of(struct run *r, const struct json_object *v, const char *key, uint64_t *out)
{
    return json_as_uint(json_get(v, key), out) || pvm_vector_malformed(r, key);
}

/* Reads a list of byte values into a new buffer. */
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

/* The functions below set up a machine. */

static bool machine_map(struct run *r, const struct json_object *v)
{
    uint64_t address, length;
    if (!uint_of(r, v, "address", &address) || !uint_of(r, v, "length", &length)) return false;
    if (r->area_count == AREAS_MAX || length > UINT32_MAX) return pvm_vector_malformed(r, "map");
    if (!r->runner.map(r->runner.state, address, length, json_as_bool(json_get(v, "is-writable")),
                       &r->err))
        return fail_error(r);
    r->areas[r->area_count++] = (struct area){address, length};
    return true;
}

static bool do_write(struct run *r, const struct json_object *v)
{
    uint64_t address;
    size_t size;
    if (!uint_of(r, v, "address", &address)) return false;
    uint8_t *bytes = byte_list(json_get(v, "contents"), &size);
    if (!bytes) return pvm_vector_malformed(r, "contents");
    bool ok = r->runner.write(r->runner.state, address, (penta_bytes){bytes, size}, &r->err);
    free(bytes);
    return ok || fail_error(r);
}

static bool do_reg(struct run *r, uint64_t reg, uint64_t value)
{
    if (reg > 12) return pvm_vector_malformed(r, "register");
    return r->runner.set_reg(r->runner.state, (unsigned)reg, value, &r->err) || fail_error(r);
}

/* The functions below compare a machine with what is expected. */

static bool same_number(struct run *r, const char *what, uint64_t expected, uint64_t got)
{
    return trial_uint(&r->trial, what, expected, got);
}

static bool same_regs(struct run *r, const struct json_object *regs, const uint64_t *got)
{
    for (unsigned i = 0; i < 13; i++) {
        uint64_t expected;
        char name[8];
        if (!json_as_uint(json_item(regs, i), &expected)) return pvm_vector_malformed(r, "regs");
        snprintf(name, sizeof name, "r%u", i);
        if (!same_number(r, name, expected, got[i])) return false;
    }
    return true;
}

/* Compares a whole area of memory. Bytes that the vector does not list must be zero. */
static bool same_area(struct run *r, const struct area *a, const struct json_object *memory)
{
    size_t size = (size_t)a->length;
    uint8_t *expected = calloc(1, size + 1), *got = malloc(size + 1);
    bool ok = expected && got && r->runner.read(r->runner.state, a->address, got, size, &r->err);
    if (!ok) fail_error(r);
    for (size_t i = 0; ok && i < json_length(memory); i++) {
        uint64_t at;
        size_t count;
        const struct json_object *run = json_item(memory, i);
        uint8_t *bytes = byte_list(json_get(run, "contents"), &count);
        ok = bytes && json_as_uint(json_get(run, "address"), &at);
        if (!ok) pvm_vector_malformed(r, "memory");
        for (size_t k = 0; ok && k < count; k++)
            if (at + k >= a->address && at + k - a->address < size)
                expected[at + k - a->address] = bytes[k];
        free(bytes);
    }
    for (size_t i = 0; ok && i < size; i++) {
        if (expected[i] == got[i]) continue;
        char text[64];
        snprintf(text, sizeof text, "byte %u at 0x%" PRIx64, expected[i], a->address + i);
        ok = trial_fail(&r->trial, text, "%u", got[i]);
    }
    free(expected);
    free(got);
    return ok;
}

static bool same_memory(struct run *r, const struct json_object *memory)
{
    for (size_t i = 0; i < r->area_count; i++)
        if (!same_area(r, &r->areas[i], memory)) return false;
    return true;
}

static bool same_status(struct run *r, const char *expected, const char *got)
{
    if (!expected) return pvm_vector_malformed(r, "status");
    return !strcmp(expected, got) || trial_fail(&r->trial, expected, "%s", got);
}

static bool same_costs(struct run *r)
{
    const struct json_object *costs = json_get(r->root, "block-gas-costs");
    for (size_t i = 0; i < json_length(costs); i++) {
        uint64_t pc, expected, got;
        char what[48];
        if (!uint_of(r, json_item(costs, i), "pc", &pc) ||
            !uint_of(r, json_item(costs, i), "cost", &expected))
            return false;
        if (!r->runner.cost(r->runner.state, (uint32_t)pc, &got, &r->err)) return fail_error(r);
        snprintf(what, sizeof what, "cost of block %" PRIu64, pc);
        if (!same_number(r, what, expected, got)) return false;
    }
    return true;
}

/* The functions below run a case from beginning to end. */

static const char *text_or(const struct json_object *v, const char *key, const char *other)
{
    const char *text = json_as_text(json_get(v, key));
    return text ? text : other;
}

static void pvm_vector_judge(struct conform *c, const struct json_object *root, const char *profile,
                             bool (*body)(struct run *r))
{
    struct run r = {.trial = {.c = c, .name = text_or(root, "name", "-")}, .root = root};
    size_t size;
    uint8_t *program = byte_list(json_get(root, "program"), &size);
    r.what = (struct pvm_case){.name = r.trial.name,
                               .isa = text_or(root, "isa", "latest64"),
                               .gas_model = text_or(root, "gas-model", "naive"),
                               .profile = profile};
    if (!program) {
        pvm_vector_malformed(&r, "program");
        return;
    }
    r.what.program = (penta_bytes){program, size};
    json_as_uint(json_get(root, "initial-pc"), &r.what.pc);
    json_as_uint(json_get(root, "initial-gas"), &r.what.gas);
    bool open = c->exec ? pvm_runner_exec(&r.runner, c->exec, &r.err)
                        : pvm_runner_local(&r.runner, c->engine, &r.err);
    if (!open || !r.runner.start(r.runner.state, &r.what, &r.err))
        fail_error(&r);
    else if (body(&r))
        trial_end(&r.trial);
    else
        fail_error(&r);
    if (open) r.runner.close(r.runner.state);
    free(program);
}

static bool do_assert(struct run *r, const struct json_object *v,
                      const struct pvm_outcome_seen *got)
{
    uint64_t gas, pc, extra;
    const char *status = json_as_text(json_get(v, "status"));
    if (!same_status(r, status, got->status) || !uint_of(r, v, "gas", &gas) ||
        !uint_of(r, v, "pc", &pc))
        return false;
    if (!same_number(r, "gas", gas, got->gas) || !same_number(r, "pc", pc, got->pc) ||
        !same_regs(r, json_get(v, "regs"), got->regs))
        return false;
    if (json_as_uint(json_get(v, "page-fault-address"), &extra) &&
        !same_number(r, "page-fault-address", extra, got->fault))
        return false;
    if (json_as_uint(json_get(v, "hostcall"), &extra) &&
        !same_number(r, "hostcall", extra, got->host))
        return false;
    return same_memory(r, json_get(v, "memory"));
}

static bool do_step(struct run *r, const struct json_object *step, struct pvm_outcome_seen *seen)
{
    uint64_t reg, value;
    const struct json_object *v;
    if (json_has(step, "map")) return machine_map(r, json_get(step, "map"));
    if (json_has(step, "write")) return do_write(r, json_get(step, "write"));
    if (json_has(step, "run"))
        return r->runner.run(r->runner.state, seen, &r->err) || fail_error(r);
    if (json_has(step, "assert")) return do_assert(r, json_get(step, "assert"), seen);
    if ((v = json_get(step, "set-reg")))
        return uint_of(r, v, "reg", &reg) && uint_of(r, v, "value", &value) &&
               do_reg(r, reg, value);
    return pvm_vector_malformed(r, "step");
}

static bool steps_body(struct run *r)
{
    const struct json_object *steps = json_get(r->root, "steps");
    struct pvm_outcome_seen seen = {.pc = 0};
    for (size_t i = 0; i < json_length(steps); i++)
        if (!do_step(r, json_item(steps, i), &seen)) return false;
    return same_costs(r);
}

static bool steps_matches(const struct json_object *root)
{
    return json_is_list(json_get(root, "program")) && json_is_list(json_get(root, "steps"));
}

static void steps_run(struct conform *c, const struct json_object *root)
{
    pvm_vector_judge(c, root, "polkavm", steps_body);
}

static bool expected_body(struct run *r)
{
    const struct json_object *root = r->root, *regs = json_get(root, "initial-regs");
    const struct json_object *maps = json_get(root, "initial-page-map");
    const struct json_object *memory = json_get(root, "initial-memory");
    uint64_t value, pc, gas;
    for (size_t i = 0; i < json_length(maps); i++)
        if (!machine_map(r, json_item(maps, i))) return false;
    for (size_t i = 0; i < json_length(memory); i++)
        if (!do_write(r, json_item(memory, i))) return false;
    for (size_t i = 0; i < json_length(regs); i++)
        if (!json_as_uint(json_item(regs, i), &value) || !do_reg(r, i, value))
            return pvm_vector_malformed(r, "initial-regs");
    struct pvm_outcome_seen seen;
    if (!r->runner.run(r->runner.state, &seen, &r->err)) return fail_error(r);
    if (!uint_of(r, root, "expected-pc", &pc) || !uint_of(r, root, "expected-gas", &gas))
        return false;
    if (!same_status(r, json_as_text(json_get(root, "expected-status")), seen.status) ||
        !same_number(r, "pc", pc, seen.pc) || !same_number(r, "gas", gas, seen.gas) ||
        !same_regs(r, json_get(root, "expected-regs"), seen.regs))
        return false;
    if (json_as_uint(json_get(root, "expected-page-fault-address"), &value) &&
        !same_number(r, "page-fault-address", value, seen.fault))
        return false;
    return same_memory(r, json_get(root, "expected-memory")) && same_costs(r);
}

static bool expected_matches(const struct json_object *root)
{
    return json_is_list(json_get(root, "program")) && json_has(root, "expected-status");
}

static void expected_run(struct conform *c, const struct json_object *root)
{
    pvm_vector_judge(c, root, "gp-0.5", expected_body);
}

static bool costs_matches(const struct json_object *root)
{
    return json_is_list(json_get(root, "program")) &&
           json_is_list(json_get(root, "block-gas-costs"));
}

static void costs_run(struct conform *c, const struct json_object *root)
{
    pvm_vector_judge(c, root, "polkavm", same_costs);
}

DOCUMENT_FORM(pvm_steps, steps_matches, steps_run)
DOCUMENT_FORM(pvm_expected, expected_matches, expected_run)
DOCUMENT_FORM(pvm_costs, costs_matches, costs_run)

/* Gives blocks, edges, functions and calls of a module from its code map, as arrays and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "penta/analysis/structure_struct.h"
#include "penta/debug.h"

penta_structure *penta_structure_new(const penta_module *module, penta_error *err)
{
    *err = (penta_error){0};
    struct penta_structure *s = calloc(1, sizeof *s);
    if (!s)
        error_at(err, BASE_MEMORY, 0, "no memory for the structure of the code");
    else
        s->map = code_map_new(module, err);
    if (s && s->map) return s;
    free(s);
    return NULL;
}

void penta_structure_free(penta_structure *s)
{
    if (!s) return;
    code_map_free(s->map);
    free(s);
}

const penta_function *penta_structure_function_at(const penta_structure *s, size_t i)
{
    return i < s->map->function_count ? &s->map->functions[i] : NULL;
}

const penta_block *penta_structure_block_at(const penta_structure *s, size_t i)
{
    return i < s->map->block_count ? &s->map->blocks[i] : NULL;
}

bool penta_structure_find(const penta_structure *s, uint64_t pc, size_t *function, size_t *block)
{
    size_t i = code_map_find(s->map, pc);
    if (i == s->map->count) return false;
    *block = s->map->insns[i].block;
    *function = s->map->blocks[*block].function;
    return true;
}

bool penta_structure_named(const penta_structure *s, const char *text, size_t *function,
                           penta_error *err)
{
    *err = (penta_error){0};
    uint64_t pc;
    size_t block;
    for (size_t i = 0; i < s->map->function_count; i++) {
        if (strcmp(s->map->functions[i].name, text)) continue;
        *function = i;
        return true;
    }
    if (!penta_find_code(s->map->module, text, &pc, err)) return false;
    return penta_structure_find(s, pc, function, &block) ||
           error_at(err, BASE_NAME_UNKNOWN, 0, "no instruction is at %" PRIu64, pc);
}

static const struct code_insn *last_of(const struct code_map *m, const penta_block *b)
{
    return &m->insns[code_map_find(m, b->last)];
}

void penta_structure_edges(const penta_structure *s, size_t block, penta_edge_report *report,
                           void *user)
{
    const struct code_map *m = s->map;
    const penta_block *b = &m->blocks[block];
    const penta_branch *last = &last_of(m, b)->branch;
    size_t target = last->has_target && last->jump ? code_map_find(m, last->target) : m->count;
    if (last->next && block + 1 < m->block_count && m->blocks[block + 1].from == b->to)
        report(user, &(penta_edge){block, block + 1, PENTA_EDGE_NEXT});
    if (target < m->count)
        report(user, &(penta_edge){block, m->insns[target].block,
                                   last->next ? PENTA_EDGE_BRANCH : PENTA_EDGE_JUMP});
}

void penta_structure_calls(const penta_structure *s, penta_call_site_report *report, void *user)
{
    const struct code_map *m = s->map;
    for (size_t i = 0; i < m->block_count; i++) {
        const penta_block *b = &m->blocks[i];
        const struct code_insn *in = last_of(m, b);
        size_t target = in->branch.has_target ? code_map_find(m, in->branch.target) : m->count;
        penta_call_site site = {.pc = in->pc, .caller = b->function, .known = target < m->count};
        if (site.known) site.callee = m->blocks[m->insns[target].block].function;
        site.tail = in->branch.jump && site.known && site.callee != site.caller &&
                    m->insns[target].starts_function;
        if (in->branch.call || site.tail) report(user, &site);
    }
}

static void edge_json(void *user, const penta_edge *edge)
{
    static const char *const kinds[] = {"next", "branch", "jump"};
    struct json *j = user;
    json_object(j, NULL);
    json_uint(j, "to", edge->to);
    json_text(j, "kind", kinds[edge->kind]);
    json_end(j);
}

static void call_json(void *user, const penta_call_site *site)
{
    struct json *j = user;
    json_object(j, NULL);
    json_uint(j, "pc", site->pc);
    json_uint(j, "caller", site->caller);
    if (site->known) json_uint(j, "callee", site->callee);
    json_bool(j, "tail", site->tail);
    json_end(j);
}

static void function_json(struct json *j, const penta_structure *s, const penta_function *f)
{
    json_object(j, NULL);
    json_text(j, "name", f->name);
    json_uint(j, "from", f->from);
    json_uint(j, "to", f->to);
    json_uint(j, "instructions", f->instructions);
    json_list(j, "blocks");
    for (size_t i = f->first_block; i < f->first_block + f->blocks; i++) {
        const penta_block *b = &s->map->blocks[i];
        json_object(j, NULL);
        json_uint(j, "number", i);
        json_uint(j, "from", b->from);
        json_uint(j, "to", b->to);
        json_uint(j, "instructions", b->instructions);
        json_list(j, "edges");
        penta_structure_edges(s, i, edge_json, j);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

bool penta_structure_json(const penta_structure *s, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json j = {.out = &w};
    json_object(&j, NULL);
    json_list(&j, "functions");
    for (size_t i = 0; i < s->map->function_count; i++) function_json(&j, s, &s->map->functions[i]);
    json_end(&j);
    json_list(&j, "calls");
    penta_structure_calls(s, call_json, &j);
    json_end(&j);
    json_finish(&j);
    return writer_give(&w, true, out, err);
}

/* graph --json, schema 2: nodes and edges. Nodes are called by their numbers in the structure of the module. */
#include "cli/analysis/graph.h"

static void graph_block_edge(void *user, const penta_edge *edge)
{
    static const char *const kinds[] = {"next", "branch", "jump"};
    struct json *j = user;
    json_object(j, NULL);
    json_uint(j, "from", edge->from);
    json_uint(j, "to", edge->to);
    json_text(j, "kind", kinds[edge->kind]);
    json_end(j);
}

struct graph_function { /* whose edges are wanted: those that stay in it */
    struct json *json;
    const penta_function *function;
};

static void graph_inner_edge(void *user, const penta_edge *edge)
{
    const struct graph_function *g = user;
    if (edge->to - g->function->first_block < g->function->blocks) graph_block_edge(g->json, edge);
}

static void graph_instructions(struct json *j, const penta_module *module, const penta_block *b)
{
    json_list(j, "instructions");
    for (uint64_t pc = b->from, next; pc < b->to; pc = next) {
        penta_buffer text = {0};
        if (!penta_next_pc(module, pc, &next) || next <= pc) next = b->to;
        penta_print_at(module, pc, &text);
        json_object(j, NULL);
        json_uint(j, "pc", pc);
        json_string(j, "text", (penta_bytes){text.data, text.size});
        json_end(j);
        penta_buffer_free(&text);
    }
    json_end(j);
}

void graph_blocks_json(struct json *j, const penta_module *module, const penta_structure *s,
                       size_t function)
{
    const penta_function *f = penta_structure_function_at(s, function);
    struct graph_function g = {j, f};
    json_text(j, "graph", "blocks");
    json_text(j, "function", f->name);
    json_list(j, "nodes");
    for (size_t i = f->first_block; i < f->first_block + f->blocks; i++) {
        const penta_block *b = penta_structure_block_at(s, i);
        json_object(j, NULL);
        json_uint(j, "id", i);
        json_uint(j, "from", b->from);
        json_uint(j, "to", b->to);
        graph_instructions(j, module, b);
        json_end(j);
    }
    json_end(j);
    json_list(j, "edges");
    for (size_t i = f->first_block; i < f->first_block + f->blocks; i++)
        penta_structure_edges(s, i, graph_inner_edge, &g);
    json_end(j);
}

static void graph_call_edge(void *user, const penta_call_site *site)
{
    struct json *j = user;
    json_object(j, NULL);
    json_uint(j, "from", site->caller);
    if (site->known) json_uint(j, "to", site->callee);
    json_text(j, "kind", !site->known ? "indirect" : site->tail ? "tail" : "call");
    json_uint(j, "pc", site->pc);
    json_end(j);
}

void graph_calls_json(struct json *j, const penta_structure *s)
{
    const penta_function *f;
    json_text(j, "graph", "calls");
    json_list(j, "nodes");
    for (size_t i = 0; (f = penta_structure_function_at(s, i)); i++) {
        json_object(j, NULL);
        json_uint(j, "id", i);
        json_text(j, "name", f->name);
        json_bool(j, "named", f->named);
        json_uint(j, "from", f->from);
        json_uint(j, "to", f->to);
        json_uint(j, "instructions", f->instructions);
        json_end(j);
    }
    json_end(j);
    json_list(j, "edges");
    penta_structure_calls(s, graph_call_edge, j);
    json_end(j);
}

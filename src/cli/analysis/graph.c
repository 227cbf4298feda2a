/* Implements the command graph: the blocks of a function, or which function calls which, for
 * Graphviz. With --svg it is a picture, made by Graphviz's program dot if that is installed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "cli/analysis/graph.h"
#include "cli/output.h"

/* Writes a text inside a quoted string of dot. The caller has passed names through writer_safe. */
static void graph_quoted(struct writer *w, penta_bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') writer_char(w, '\\');
        writer_char(w, (char)text.data[i]);
    }
}

static void graph_head(struct writer *w, const char *name)
{
    writer_text(w, "digraph \"");
    graph_quoted(w, bytes_of(name));
    writer_text(w, "\" {\n  node [shape=box fontname=monospace];\n");
}

struct drawing {
    struct writer *w;
    size_t first, count; /* the blocks of the function */
};

static void draw_edge(void *user, const penta_edge *edge)
{
    static const char *const styles[] = {"", " [color=darkgreen]", " [color=blue]"};
    const struct drawing *d = user;
    bool inside = edge->to - d->first < d->count;
    if (inside) writer_print(d->w, "  b%zu -> b%zu%s;\n", edge->from, edge->to, styles[edge->kind]);
}

static void draw_block(struct writer *w, const penta_module *module, const penta_block *b, size_t i)
{
    writer_print(w, "  b%zu [label=\"", i);
    for (uint64_t pc = b->from, next; pc < b->to; pc = next) {
        penta_buffer text = {0};
        if (!penta_next_pc(module, pc, &next) || next <= pc) next = b->to;
        penta_print_at(module, pc, &text);
        writer_print(w, "%" PRIu64 "  ", pc);
        struct writer safe = {0};
        writer_safe(&safe, (penta_bytes){text.data, text.size});
        graph_quoted(w, writer_view(&safe));
        writer_text(w, "\\l");
        writer_free(&safe);
        penta_buffer_free(&text);
    }
    writer_text(w, "\"];\n");
}

void graph_blocks(struct writer *w, const penta_module *module, const penta_structure *s,
                  size_t function)
{
    const penta_function *f = penta_structure_function_at(s, function);
    struct drawing d = {w, f->first_block, f->blocks};
    graph_head(w, f->name);
    for (size_t i = d.first; i < d.first + d.count; i++)
        draw_block(w, module, penta_structure_block_at(s, i), i);
    for (size_t i = d.first; i < d.first + d.count; i++) penta_structure_edges(s, i, draw_edge, &d);
    writer_text(w, "}\n");
}

struct pair {
    size_t caller, callee; /* callee is SIZE_MAX for a call whose target is a value */
};
struct pairs {
    struct pair *items;
    size_t count, capacity;
    bool failed;
};

static void take_call(void *user, const penta_call_site *site)
{
    struct pairs *p = user;
    if (ARRAY_RESERVE(p->items, p->capacity, p->count + 1))
        p->items[p->count++] = (struct pair){site->caller, site->known ? site->callee : SIZE_MAX};
    else
        p->failed = true;
}

static int pair_order(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->caller != y->caller) return x->caller < y->caller ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

bool graph_calls(struct writer *w, const char *name, const penta_structure *s)
{
    struct pairs p = {0};
    const penta_function *f;
    penta_structure_calls(s, take_call, &p);
    if (p.count) qsort(p.items, p.count, sizeof *p.items, pair_order);
    graph_head(w, name);
    for (size_t i = 0; (f = penta_structure_function_at(s, i)); i++) {
        writer_print(w, "  f%zu [label=\"", i);
        graph_quoted(w, bytes_of(f->name));
        writer_text(w, "\"];\n");
    }
    for (size_t i = 0; i < p.count; i++) {
        if (i && !pair_order(&p.items[i - 1], &p.items[i])) continue;
        if (p.items[i].callee == SIZE_MAX)
            writer_print(w, "  f%zu -> indirect [style=dashed];\n", p.items[i].caller);
        else
            writer_print(w, "  f%zu -> f%zu;\n", p.items[i].caller, p.items[i].callee);
    }
    writer_text(w, "}\n");
    free(p.items);
    return !p.failed;
}

/* Lets dot read one temporary file and write another. */
static bool run_dot(int from, int to, penta_error *err)
{
    extern char **environ;
    enum { CHILD_READS = 0, CHILD_WRITES = 1 }; /* the descriptors of dot */
    char *argv[] = {"dot", "-Tsvg", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, from, CHILD_READS);
    posix_spawn_file_actions_adddup2(&actions, to, CHILD_WRITES);
    int failed = posix_spawnp(&child, "dot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        error_at(err, BASE_UNSUPPORTED, 0, "cannot start dot: %.60s", strerror(failed));
        return error_note(err, "Graphviz has it; without --svg the graph is printed for it");
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return (WIFEXITED(status) && !WEXITSTATUS(status)) ||
           error_at(err, BASE_UNSUPPORTED, 0, "dot failed");
}

static void write_svg(struct cli *c, const char *path, penta_bytes dot)
{
    penta_buffer svg = {0};
    penta_error err = {0};
    FILE *from = tmpfile(), *to = tmpfile();
    bool ok = from && to && fwrite(dot.data, 1, dot.size, from) == dot.size && !fflush(from);
    if (!ok) error_at(&err, BASE_IO, 0, "cannot write a temporary file");
    if (ok) {
        rewind(from);
        ok = run_dot(fileno(from), fileno(to), &err);
    }
    if (ok) {
        rewind(to);
        lseek(fileno(to), 0, SEEK_SET);
        ok = file_read_fd(fileno(to), "what dot wrote", UINT64_C(1) << 30, &svg, &err);
    }
    if (ok)
        output_write(c, path, (penta_bytes){svg.data, svg.size});
    else
        cli_error(c, path, &err);
    if (from) fclose(from);
    if (to) fclose(to);
    penta_buffer_free(&svg);
}

/* The function of --cfg; false: an error has been reported. */
static bool graph_function(struct cli *c, const struct input *in, const penta_structure *s,
                           size_t *function)
{
    penta_error err = {0};
    if (!c->value[OPT_CFG] || penta_structure_named(s, c->value[OPT_CFG], function, &err))
        return true;
    cli_error(c, in->name, &err);
    return false;
}

static bool graph_draw(struct cli *c, const struct input *in, const penta_structure *s,
                       size_t function, struct writer *w)
{
    if (!c->value[OPT_CFG]) return graph_calls(w, in->name, s);
    graph_blocks(w, in->module, s, function);
    return true;
}

static void graph_answer(struct cli *c, const struct input *in, const penta_structure *s)
{
    struct writer w = {0};
    size_t function = 0;
    const char *path = c->value[OPT_SVG];
    bool nodes = c->value[OPT_JSON] && cli_schema(c) == 2;
    if (!graph_function(c, in, s, &function)) return;
    if (c->value[OPT_JSON]) json_text(&c->json, "file", in->name);
    if (nodes && c->value[OPT_CFG])
        graph_blocks_json(&c->json, in->module, s, function);
    else if (nodes)
        graph_calls_json(&c->json, s);
    bool text = path || !nodes || c->out_is_file;
    bool drawn = text && graph_draw(c, in, s, function, &w);
    if (drawn && path)
        write_svg(c, path, writer_view(&w));
    else if (drawn)
        cli_text(c, writer_view(&w));
    c->out.failed |= w.failed || (text && !drawn);
    writer_free(&w);
}

void command_GRAPH(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    const char *path = c->value[OPT_SVG];
    if (!c->value[OPT_CFG] == !c->value[OPT_CALLS]) {
        cli_usage(c, NULL, "either --cfg FUNCTION or --calls");
        return;
    }
    if ((path && !output_allowed(c, path)) || !input_open(c, c->words[0], &in)) return;
    penta_structure *s = penta_structure_new(in.module, &err);
    if (s)
        graph_answer(c, &in, s);
    else
        cli_error(c, in.name, &err);
    penta_structure_free(s);
    input_close(&in);
}

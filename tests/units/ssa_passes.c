/* Tests the passes of src/ssa on text.
 *
 *     ssa_passes FILE...
 *
 * A file has sections. `-- in` has a function. `-- PASS` has the function after that pass alone, or
 * after several passes whose names are given. `-- callee` has a function, and `-- inline` what the
 * first one is with the callee in place of its first call. `-- error` has what the verifier or the
 * reader says instead. Numbers of values are those that reading gives. Exit status 0 means that
 * everything is as written. */
#include "ssa/ssa.h"
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ssa_pass *pass_of(const char *name)
{
    for (const struct ssa_pass *p = ssa_passes; p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}

static void ssa_passes_print(const struct ssa_function *f, char *text, size_t room)
{
    struct writer w = {0};
    ssa_print(f, &w);
    snprintf(text, room, "%.*s", (int)w.out.size, (const char *)w.out.data);
    writer_free(&w);
}

/* Puts the other function in place of the first call. */
static bool inline_first(struct ssa_function *f, const char *callee, penta_error *err)
{
    struct ssa_function g;
    uint32_t call = 0;
    ssa_init(&g);
    g.number = 1;
    for (uint32_t b = 0; b < f->block_count && !call; b++)
        for (uint32_t i = f->blocks[b].first; i && !call; i = f->insns[i].next)
            if (f->insns[i].op == SSA_CALL) call = i;
    bool ok = call && ssa_parse(&g, callee, err) && ssa_verify(&g, err);
    if (ok) ssa_inline(f, call, &g);
    ssa_fini(&g);
    return ok;
}

static void ssa_passes_run(const char *path, const char *in, const char *callee, const char *title,
                           const char *want)
{
    static char text[1 << 16];
    static const struct ssa_region regions[] = {{0x1000, 256, true}, {0x2000, 64, false}};
    uint64_t words[4];
    struct ssa_limits limits = {.offset = 512, .capacity = 4, .words = words};
    struct ssa_function f;
    penta_error err = {0};
    const struct ssa_pass *pass = pass_of(title);
    ssa_init(&f);
    f.regions = regions;
    f.region_count = 2;
    f.limits = &limits;
    bool ok = ssa_parse(&f, in, &err) && ssa_verify(&f, &err);
    if (!strcmp(title, "error")) {
        snprintf(text, sizeof text, "%s\n", ok ? "no error" : err.message);
    } else if (ok && callee && !strcmp(title, "inline")) {
        bool done = inline_first(&f, callee, &err) && ssa_verify(&f, &err);
        ssa_passes_print(&f, text, sizeof text);
        if (!done) snprintf(text, sizeof text, "%s\n", err.message);
    } else if (ok && strchr(title, ' ')) { /* The section names several passes, which run one
                                            * after the other. */
        char names[64];
        snprintf(names, sizeof names, "%s", title);
        bool known = true;
        for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
            known = known && pass_of(name);
            if (known) pass_of(name)->run(&f);
        }
        if (known)
            ssa_passes_print(&f, text, sizeof text);
        else
            snprintf(text, sizeof text, "no such pass\n");
        if (!ssa_verify(&f, &err)) snprintf(text, sizeof text, "after them: %s\n", err.message);
    } else if (!ok || (!pass && strcmp(title, "text"))) {
        snprintf(text, sizeof text, "%s\n", ok ? "no such pass" : err.message);
    } else {
        if (pass) pass->run(&f);
        ssa_passes_print(&f, text, sizeof text);
        if (!ssa_verify(&f, &err)) snprintf(text, sizeof text, "after the pass: %s\n", err.message);
    }
    CHECK(!strcmp(want, text), "%s %s\nexpected:\n%sgot:\n%s", path, title, want, text);
    ssa_fini(&f);
}

static void ssa_passes_test(const char *path)
{
    penta_bytes file = file_of(path);
    bool expects = false;
    char *text = (char *)(uintptr_t)file.data, *in = NULL, *callee = NULL, *title = NULL,
         *body = NULL, *at = text;
    for (bool last = false; !last;) {
        char *next = at == text && !strncmp(at, "-- ", 3) ? at : strstr(at, "\n-- ");
        last = !next;
        if (next && *next == '\n')
            *next++ = 0; /* The newline before the section mark is no part
                                                 * of the text. */
        if (title && body) {
            size_t n = strlen(body);
            char *whole = calloc(1, n + 2);
            memcpy(whole, body, n);
            if (n && whole[n - 1] != '\n') whole[n] = '\n';
            if (!strcmp(title, "in")) {
                free(in);
                in = whole;
            } else if (!strcmp(title, "callee")) {
                free(callee);
                callee = whole;
            } else {
                ssa_passes_run(path, in ? in : "", callee, title, whole);
                expects = true;
                free(whole);
            }
        }
        if (!next) break;
        title = next + 3;
        body = strchr(title, '\n');
        if (!body) break;
        *body++ = 0;
        at = body;
        last = false;
    }
    CHECK(expects, "%s: nothing is expected", path);
    free(in);
    free(callee);
    file_free(file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) ssa_passes_test(argv[i]);
    return checks_end();
}

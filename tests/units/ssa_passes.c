/* The passes of src/ssa on text.
 *
 *     ssa_passes FILE...
 *
 * A file has sections: `-- in` a function, `-- PASS` the function after that pass alone, any number of
 * them, `-- error` what the verifier or the reader says instead. Numbers of values are those that reading
 * gives. Exit status 0: everything is as written. */
#include "base/file/file.h"
#include "ssa/ssa.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures, passed;

static void expect(const char *path, const char *title, const char *want, const char *got)
{
    if (!strcmp(want, got)) {
        passed++;
        return;
    }
    failures++;
    printf("FAIL %s %s\nexpected:\n%sgot:\n%s\n", path, title, want, got);
}

static const struct ssa_pass *pass_of(const char *name)
{
    for (const struct ssa_pass *p = ssa_passes; p->name; p++)
        if (!strcmp(p->name, name)) return p;
    return NULL;
}

static void print(const struct ssa_function *f, char *text, size_t room)
{
    struct writer w = {0};
    ssa_print(f, &w);
    snprintf(text, room, "%.*s", (int)w.out.size, (const char *)w.out.data);
    writer_free(&w);
}

static void run(const char *path, const char *in, const char *title, const char *want)
{
    static char text[1 << 16];
    static const struct ssa_region regions[] = {{0x1000, 256, true}, {0x2000, 64, false}};
    struct ssa_function f;
    penta_error err = {0};
    const struct ssa_pass *pass = pass_of(title);
    ssa_init(&f);
    f.regions = regions;
    f.region_count = 2;
    bool ok = ssa_parse(&f, in, &err) && ssa_verify(&f, &err);
    if (!strcmp(title, "error")) {
        snprintf(text, sizeof text, "%s\n", ok ? "no error" : err.message);
    } else if (!ok || (!pass && strcmp(title, "text"))) {
        snprintf(text, sizeof text, "%s\n", ok ? "no such pass" : err.message);
    } else {
        if (pass) pass->run(&f);
        print(&f, text, sizeof text);
        if (!ssa_verify(&f, &err)) snprintf(text, sizeof text, "after the pass: %s\n", err.message);
    }
    expect(path, title, want, text);
    ssa_fini(&f);
}

static void test(const char *path)
{
    penta_buffer file = {0};
    penta_error err = {0};
    if (!file_read(path, 1 << 20, &file, &err)) {
        failures++;
        return;
    }
    char *text = calloc(1, file.size + 2), *in = NULL, *title = NULL, *body = NULL;
    memcpy(text, file.data, file.size);
    char *at = text;
    for (bool last = false; text && !last;) {
        char *next = at == text && !strncmp(at, "-- ", 3) ? at : strstr(at, "\n-- ");
        last = !next;
        if (next && *next == '\n') *next++ = 0; /* the newline before goes with it */
        if (title && body) {
            size_t n = strlen(body);
            char *whole = calloc(1, n + 2);
            memcpy(whole, body, n);
            if (n && whole[n - 1] != '\n') whole[n] = '\n';
            if (!strcmp(title, "in")) {
                free(in);
                in = whole;
            } else {
                run(path, in ? in : "", title, whole);
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
    free(in);
    free(text);
    penta_buffer_free(&file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) test(argv[i]);
    printf("%u passed, %u failed\n", passed, failures);
    return failures || !passed;
}

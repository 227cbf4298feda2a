#include "conform/conform.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/sanitize.h"
#include "cli/terminal/progress.h"

struct conform_run {
    struct cli *cli;
    struct conform conform;
    size_t documents; /* of a known form */
};

static void result(void *user, const struct conform_result *r)
{
    static const char *const verdicts[] = {"pass", "fail", "skip"};
    struct conform_run *run = user;
    struct cli *c = run->cli;
    progress_count(c, run->conform.passed, run->conform.failed);
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", r->path);
        json_text(&c->json, "case", r->name);
        json_text(&c->json, "verdict", verdicts[r->verdict]);
        if (r->expected) json_text(&c->json, "expected", r->expected);
        if (r->got) json_text(&c->json, "got", r->got);
        json_end(&c->json);
        return;
    }
    if (r->verdict == CONFORM_PASS) return;
    writer_print(&c->out, "%s ", verdicts[r->verdict]);
    writer_safe(&c->out, bytes_of(r->path));
    writer_text(&c->out, " ");
    writer_safe(&c->out, bytes_of(r->name));
    if (r->expected) {
        writer_text(&c->out, ": expected ");
        writer_safe(&c->out, bytes_of(r->expected));
        writer_text(&c->out, ", got ");
    } else {
        writer_text(&c->out, ": ");
    }
    writer_safe(&c->out, bytes_of(r->got ? r->got : ""));
    writer_char(&c->out, '\n');
}

static void file(struct conform_run *run, const char *path)
{
    struct cli *c = run->cli;
    uint64_t limit = UINT64_C(1) << 30;
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (!cli_number(c, OPT_MAX_INPUT, &limit)) return;
    if (!file_read(path, limit, &bytes, &err)) {
        if (err.code == BASE_LIMIT) error_note(&err, "--max-input raises the limit");
        cli_error(c, path, &err);
        return;
    }
    struct json_doc *doc = json_parse((penta_bytes){bytes.data, bytes.size}, &err);
    run->conform.path = path;
    if (!doc) { /* a vector that cannot be read proves nothing, hence fails */
        run->documents++;
        conform_fail(&run->conform, "-", "a JSON document", "%s at byte %llu", err.message,
                     (unsigned long long)err.offset);
    } else if (conform_document(&run->conform, path, json_root(doc))) {
        run->documents++;
    } else if (!c->value[OPT_JSON]) {
        writer_safe(&c->out, bytes_of(path));
        writer_text(&c->out, ": not a test vector of a known form\n");
    } else {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", path);
        json_text(&c->json, "verdict", "ignored");
        json_end(&c->json);
    }
    json_doc_free(doc);
    penta_buffer_free(&bytes);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void folder(struct conform_run *run, const char *path, unsigned depth)
{
    enum { DEPTH = 32 };
    struct dirent **entries = NULL;
    int count = depth < DEPTH ? scandir(path, &entries, NULL, by_name) : 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(path) + strlen(name) + 2, n = strlen(name);
        char *inner = name[0] != '.' ? malloc(length) : NULL;
        struct stat st;
        if (inner) snprintf(inner, length, "%s/%s", path, name);
        if (inner && !stat(inner, &st)) {
            if (S_ISDIR(st.st_mode))
                folder(run, inner, depth + 1);
            else if (n > 5 && !strcmp(name + n - 5, ".json"))
                file(run, inner);
        }
        free(inner);
        free(entries[i]);
    }
    free(entries);
}

static void argument(struct conform_run *run, const char *path)
{
    struct stat st;
    size_t before = run->conform.passed + run->conform.failed + run->conform.skipped;
    size_t documents = run->documents;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        folder(run, path, 0);
    else
        file(run, path);
    size_t after = run->conform.passed + run->conform.failed + run->conform.skipped;
    if (after > before || run->cli->exit == EXIT_IO) return;
    penta_error err = {0};
    error_at(&err, BASE_UNKNOWN_FORMAT, 0,
             run->documents > documents ? "this only lists other files; name those or the folder"
                                        : "no test case here");
    cli_error(run->cli, path, &err);
}

void command_CONFORM(struct cli *c)
{
    struct conform_run run = {.cli = c};
    const char *engine = c->value[OPT_ENGINE];
    if (engine && !conform_engine_known(engine)) {
        cli_usage(c, "penta formats lists the engines", "no format has an engine '%.40s'", engine);
        return;
    }
    run.conform = (struct conform){.engine = c->value[OPT_ENGINE],
                                   .exec = c->value[OPT_EXEC],
                                   .device = c->value[OPT_DEVICE],
                                   .result = result,
                                   .user = &run};
    progress_begin(c, "conform", false);
    if (c->value[OPT_JSON]) json_list(&c->json, "cases");
    for (size_t i = 0; i < c->word_count; i++) argument(&run, c->words[i]);
    const struct conform *k = &run.conform;
    progress_end(c);
    if (c->value[OPT_JSON]) {
        json_end(&c->json);
        json_uint(&c->json, "passed", k->passed);
        json_uint(&c->json, "failed", k->failed);
        json_uint(&c->json, "skipped", k->skipped);
    } else {
        cli_unbound(c);
        writer_print(&c->out, "%zu passed, %zu failed", k->passed, k->failed);
        if (k->skipped) writer_print(&c->out, ", %zu skipped", k->skipped);
        writer_char(&c->out, '\n');
    }
    if (k->failed || !k->passed || (k->skipped && c->value[OPT_STRICT])) cli_fail(c, EXIT_NO);
}

/* The command detect says which format the bytes of a file are, and by which evidence, and with
 * --deep, which files of all formats are inside it. */
#include "base/sanitize.h"
#include "base/bytes.h"
#include "cli/cli.h"

struct guess {
    const char *format;
    int confidence;
    penta_buffer evidence;
};

/* Asks every format once, and sorts the answers as penta_detect does. */
static size_t detect_guess(penta_bytes file, struct guess *out, size_t max)
{
    size_t count = 0;
    const char *format;
    for (size_t i = 0; (format = penta_format_name(i)); i++) {
        struct guess g = {.format = format};
        g.confidence = penta_probe(file, format, &g.evidence);
        if (g.confidence <= 0 || count == max) {
            penta_buffer_free(&g.evidence);
            continue;
        }
        size_t at = count++;
        for (; at && out[at - 1].confidence < g.confidence; at--) out[at] = out[at - 1];
        out[at] = g;
    }
    return count;
}

struct deep_list {
    struct cli *c;
    const char *name;
    size_t opened; /* how many files were found that open */
};

static void deep_text(struct cli *c, const char *name, const penta_nested *n)
{
    static const char *const words[] = {[PENTA_NESTED_VALID] = "valid",
                                        [PENTA_NESTED_INVALID] = "with errors",
                                        [PENTA_NESTED_HEADER] = "only its head fits"};
    writer_safe(&c->out, bytes_of(name));
    writer_print(&c->out, ": %*sat 0x%llx: %s", 2 * (int)n->depth, "",
                 (unsigned long long)n->offset, n->format);
    if (n->dialect) writer_print(&c->out, ", %s", n->dialect);
    if (n->size) writer_print(&c->out, ", %llu bytes", (unsigned long long)n->size);
    writer_print(&c->out, ", %s", words[n->state]);
    writer_text(&c->out, " (");
    writer_safe(&c->out, bytes_of(n->error ? n->error->message : n->evidence));
    writer_text(&c->out, ")\n");
}

static void deep_add(void *user, const penta_nested *n)
{
    struct deep_list *list = user;
    struct json *j = &list->c->json;
    list->opened += n->state != PENTA_NESTED_HEADER;
    if (!list->c->value[OPT_JSON]) {
        deep_text(list->c, list->name, n);
        return;
    }
    json_object(j, NULL);
    json_uint(j, "offset", n->offset);
    if (n->size) json_uint(j, "size", n->size);
    json_text(j, "format", n->format);
    json_text(j, "dialect", n->dialect);
    json_text(j, "evidence", n->evidence);
    json_uint(j, "depth", n->depth);
    json_text(j, "state", penta_nested_state_name(n->state));
    if (n->error) {
        char code[24];
        penta_code_text(n->error->code, code);
        json_text(j, "code", code);
        json_text(j, "message", n->error->message);
    }
    json_end(j);
}

/* Lists the files inside a file. Returns true when one of them opens. */
static bool detect_deep(struct cli *c, const char *name, penta_bytes file)
{
    struct deep_list list = {.c = c, .name = name};
    penta_nested_search search = {0};
    penta_error err;
    if (c->value[OPT_JSON]) json_list(&c->json, "found");
    bool ok = penta_detect_deep(file, deep_add, &list, &search, &err);
    if (c->value[OPT_JSON]) {
        json_end(&c->json);
        json_uint(&c->json, "skipped", search.skipped);
        json_uint(&c->json, "work", search.work);
    } else if (search.skipped) {
        writer_safe(&c->out, bytes_of(name));
        writer_print(&c->out, ": %llu magic numbers from 0x%llx on were not looked at\n",
                     (unsigned long long)search.skipped, (unsigned long long)search.skipped_first);
    }
    if (!ok) cli_error(c, name, &err);
    return list.opened > 0 || !ok;
}

static void detect_none(struct cli *c, const struct input *in, const char *why)
{
    penta_error err = {0};
    error_at(&err, BASE_UNKNOWN_FORMAT, 0, "%s", in->bytes.size ? why : "the file is empty");
    cli_error(c, in->name, &err);
}

static void detect_one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_read(c, name, &in)) return;
    struct guess guesses[8];
    size_t count = detect_guess(input_bytes(&in), guesses, 8);
    if (count) c->format_seen = guesses[0].format;
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", count ? guesses[0].format : NULL);
        json_list(&c->json, "guesses");
    }
    bool deep = c->value[OPT_DEEP] != NULL;
    if (!count && !deep) detect_none(c, &in, "no format recognises these bytes");
    for (size_t i = 0; i < count; i++) {
        penta_bytes text = {guesses[i].evidence.data, guesses[i].evidence.size};
        if (c->value[OPT_JSON]) {
            json_object(&c->json, NULL);
            json_text(&c->json, "format", guesses[i].format);
            json_uint(&c->json, "confidence", (uint64_t)guesses[i].confidence);
            json_string(&c->json, "evidence", text);
            json_end(&c->json);
        } else {
            writer_safe(&c->out, bytes_of(name));
            writer_print(&c->out, ": %s (%d %%: ", guesses[i].format, guesses[i].confidence);
            writer_safe(&c->out, text);
            writer_text(&c->out, ")\n");
        }
        penta_buffer_free(&guesses[i].evidence);
    }
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (deep && !detect_deep(c, name, input_bytes(&in)) && !count)
        detect_none(c, &in, "no format recognises these bytes, and no file is found inside");
    if (c->value[OPT_JSON]) json_end(&c->json);
    input_close(&in);
}

void command_DETECT(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) detect_one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}

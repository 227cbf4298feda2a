/* The command detect says which format the bytes of a file are, and by which evidence. */
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
    if (!count) {
        penta_error err = {0};
        error_at(&err, BASE_UNKNOWN_FORMAT, 0,
                 in.bytes.size ? "no format recognises these bytes" : "the file is empty");
        cli_error(c, name, &err);
    }
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
    if (c->value[OPT_JSON]) {
        json_end(&c->json);
        json_end(&c->json);
    }
    input_close(&in);
}

void command_DETECT(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) detect_one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}

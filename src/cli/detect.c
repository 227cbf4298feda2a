/* The command detect says which format the bytes of a file are, and by which evidence. */
#include "base/sanitize.h"
#include "base/bytes.h"
#include "cli/cli.h"

static void detect_one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_read(c, name, &in)) return;
    penta_guess guesses[8];
    size_t count = penta_detect(input_bytes(&in), guesses, 8);
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
        penta_buffer evidence = {0};
        penta_probe(input_bytes(&in), guesses[i].format, &evidence);
        penta_bytes text = {evidence.data, evidence.size};
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
        penta_buffer_free(&evidence);
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

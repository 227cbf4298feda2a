/* A change, PATH=VALUE, in the first line, and a file of any format after it. Fields that get the bytes that they have
 * leave the file as it is; a longer text in a valid file leaves a file that is not damaged; and no repair needs more
 * memory than the file and the new values. */
#include "fuzz.h"
#include "penta/edit.h"

struct chosen {
    bool found, text;
    char *path;
    uint64_t offset, size;
    penta_bytes value;
};

/* Keeps the first stored part, and the first text among the parts. */
static void choose_part(void *user, const penta_selected *part)
{
    struct chosen *c = user;
    bool text =
        part->field && part->field->kind == PENTA_TEXT && part->field->encoding != PENTA_ARRAY;
    if (part->decoded || !part->size || (c->found && (c->text || !text))) return;
    free(c->path);
    *c = (struct chosen){true, text, strdup(part->path), part->offset, part->size, {0}};
}

static bool field_edited(const penta_module *module, const char *path, const char *value,
                         bool repair, penta_buffer *out, penta_error *err)
{
    penta_option change = {path, value}, no_repair = {"no-repair", "1"};
    return penta_edit(module, &change, 1, &no_repair, !repair, out, ignore_finding, NULL, err);
}

/* Without repairs, the bytes that a part has leave every byte as it is. */
static void check_same(const penta_module *module, const struct chosen *c, penta_bytes file)
{
    penta_error err;
    penta_buffer out = {0};
    char *value = malloc(2 * c->size + 8);
    size_t at = (size_t)sprintf(value, "hex:");
    for (uint64_t i = 0; i < c->size; i++)
        at += (size_t)sprintf(value + at, "%02x", file.data[c->offset + i]);
    if (!field_edited(module, c->path, value, false, &out, &err)) {
        /* Several parts of one path may have other sizes, and numbers take no bytes. */
    } else if (out.size == file.size && memcmp(out.data, file.data, file.size) &&
               !strpbrk(c->path, "*") && strchr(c->path, '[')) {
        check_failed("the same bytes change a file", c->offset, c->size);
    }
    penta_buffer_free(&out);
    free(value);
}

static void check_longer(const penta_module *module, const struct chosen *c, const char *format)
{
    size_t errors = 0;
    penta_error err;
    penta_buffer out = {0};
    penta_validate(module, count_errors, &errors);
    if (errors || !c->text ||
        !field_edited(module, c->path, "text:a text of 24 characters!", true, &out, &err)) {
        penta_buffer_free(&out);
        return;
    }
    penta_module *made = penta_open((penta_bytes){out.data, out.size}, format, NULL, 0, &err);
    const penta_error *damage = made ? penta_module_damage(made) : &err;
    if (damage && !strstr(c->path, "json"))
        check_failed("a longer text damages", damage->code, c->offset);
    penta_close(made);
    penta_buffer_free(&out);
}

static void check_edit(const penta_module *module, penta_bytes file, char *line)
{
    char *equals = strchr(line, '=');
    penta_error err;
    penta_buffer out = {0};
    struct chosen c = {0};
    if (!equals) return;
    *equals = 0;
    for (int repair = 0; repair < 2; repair++) {
        out.size = 0;
        bool ok = field_edited(module, line, equals + 1, repair, &out, &err);
        if (!ok && (!err.code || out.size)) check_failed("a failed edit", err.code, out.size);
        size_t most = file.size + 4096 + 64 * (strlen(equals) + 1) * (file.size + 1);
        if (ok && out.size > most) check_failed("an edit that grows", out.size, most);
        penta_module *made = ok ? penta_open((penta_bytes){out.data, out.size},
                                             penta_module_format(module), NULL, 0, &err)
                                : NULL;
        if (made) penta_validate(made, ignore_finding, NULL);
        penta_close(made);
    }
    penta_buffer_free(&out);
    penta_select(module, line, choose_part, &c, NULL, &err);
    if (c.found) {
        check_same(module, &c, file);
        check_longer(module, &c, penta_module_format(module));
    }
    free(c.path);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    penta_error err;
    if (!end) return;
    size_t length = (size_t)(end - data);
    penta_bytes file = {end + 1, size - length - 1};
    penta_module *module = penta_open(file, NULL, NULL, 0, &err);
    char *line = copy_as_text(data, length);
    if (module) check_edit(module, file, line);
    free(line);
    penta_close(module);
}

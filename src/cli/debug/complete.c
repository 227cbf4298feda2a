/* Completes the last word of a command: commands, names of the program, and files. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/debug/shell.h"
#include "cli/machine/line.h"

struct offering {
    line_offer *offer;
    void *to;
};

static void offer_text(const struct offering *o, const char *text)
{
    o->offer(o->to, bytes_of(text));
}

static void offer_part(void *user, const penta_part *part)
{
    const struct offering *o = user;
    if (part->kind == PENTA_PART_FUNCTION || part->kind == PENTA_PART_EXPORT)
        o->offer(o->to, part->name);
}

static void offer_variable(void *user, const penta_variable *v) { offer_text(user, v->value.name); }

static void offer_line(void *user, const penta_line *line)
{
    const struct offering *o = user;
    o->offer(o->to, line->file);
}

/* Offers the words of an argument such as locals|registers|frames. */
static void offer_words(const struct offering *o, const char *words)
{
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        o->offer(o->to, (penta_bytes){(const uint8_t *)words, n});
    }
}

/* Offers the files of the folder that the word names so far. */
static void offer_files(const struct offering *o, const char *word, size_t size)
{
    size_t folder = size;
    while (folder && word[folder - 1] != '/') folder--;
    char *path = folder ? strndup(word, folder) : strdup(".");
    DIR *dir = path ? opendir(path) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct writer name = {0};
        if (e->d_name[0] == '.') continue;
        writer_bytes(&name, word, folder);
        writer_text(&name, e->d_name);
        if (e->d_type == DT_DIR) writer_char(&name, '/');
        if (!name.failed) o->offer(o->to, writer_view(&name));
        writer_free(&name);
    }
    if (dir) closedir(dir);
    free(path);
}

void shell_complete(void *user, const char *line, size_t size, line_offer *offer, void *to)
{
    struct shell *s = user;
    struct offering o = {.offer = offer, .to = to};
    size_t first = strcspn(line, " "), word = size;
    const char *arguments = shell_arguments(line, first);
    while (word && line[word - 1] != ' ') word--;
    if (first >= size) {
        const char *verb;
        for (size_t i = 0; (verb = shell_verb(i)); i++) offer_text(&o, verb);
    } else if (!strncmp(line, "source", first) || !strncmp(line, "save", first)) {
        offer_files(&o, line + word, size - word);
    } else if (strchr(arguments, '|') && !strpbrk(arguments, " [")) {
        offer_words(&o, arguments);
    } else {
        penta_parts(s->machine.in.module, offer_part, &o);
        penta_vm_variables(shell_vm(s), 0, offer_variable, &o);
        penta_lines(s->machine.in.module, offer_line, &o);
    }
}

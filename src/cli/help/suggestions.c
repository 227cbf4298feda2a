/* Finds what an unknown word may have meant, by the spelling of names and by synonyms.def. It relies on the tables of
 * commands and options. */
#include "cli/help/suggestions.h"
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/suggest.h"
#include "cli/help/option_list.h"

static const struct synonym {
    const char *word, *names;
} command_synonyms[] =
    {
#define COMMAND_SYNONYM(word, names) {word, names},
#include "cli/synonyms.def"
},
  option_synonyms[] =
      {
#define OPTION_SYNONYM(word, names) {word, names},
#include "cli/synonyms.def"
},
  format_synonyms[] = {
#define FORMAT_SYNONYM(word, names) {word, names},
#include "cli/synonyms.def"
};

struct suggestion {
    struct suggest near;
    const struct synonym *table;
    size_t count;
    bool (*is_name)(const struct cli *c,
                    const char *name); /* tells whether the command line takes the name here */
    const struct cli *cli;
    const char *before; /* the text before each name, as in 'BEFOREname' */
};

/* Offers the words of the table that stand for a name which is known here. */
static void offer_synonyms(struct suggestion *s)
{
    for (size_t i = 0; i < s->count; i++) suggest_offer(&s->near, s->table[i].word);
}

/* Writes the known names among these, as 'a' or 'b'. Returns their number. */
static unsigned suggestion_names(const struct suggestion *s, const char *names, char *out,
                                 size_t size)
{
    unsigned count = 0;
    size_t used = 0;
    for (const char *at = names; *at;) {
        char name[40] = "";
        size_t n = strcspn(at, " ");
        memcpy(name, at, n < sizeof name ? n : sizeof name - 1);
        at += n + strspn(at + n, " ");
        if (!s->is_name(s->cli, name)) continue;
        int more =
            snprintf(out + used, size - used, "%s'%s%s'", count ? " or " : "", s->before, name);
        if (more < 0 || (size_t)more >= size - used) {
            out[used] = 0;
            break;
        }
        used += (size_t)more;
        count++;
    }
    return count;
}

/* Returns the names of the word in the table, or NULL when the table does not have it. */
static const char *suggestion_synonym(const struct suggestion *s, penta_bytes word)
{
    for (size_t i = 0; i < s->count; i++)
        if (bytes_equal(bytes_of(s->table[i].word), word)) return s->table[i].names;
    return NULL;
}

/* Writes the note. A synonym counts before a name of nearly the same spelling; a word with
 * nearly the spelling of a synonym counts last. */
static void suggestion_note(struct suggestion *s, char note[SUGGESTION_SIZE])
{
    char names[SUGGESTION_SIZE - 16] = "";
    const char *same = suggestion_synonym(s, s->near.word);
    bool found = same && suggestion_names(s, same, names, sizeof names);
    if (!found && !s->near.best) {
        offer_synonyms(s);
        same = s->near.best ? suggestion_synonym(s, bytes_of(s->near.best)) : NULL;
        found = same && suggestion_names(s, same, names, sizeof names);
    } else if (!found) {
        found = suggestion_names(s, s->near.best, names, sizeof names);
    }
    if (found) snprintf(note, SUGGESTION_SIZE, "did you mean %s?", names);
}

static bool is_command(const struct cli *c, const char *name)
{
    (void)c;
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name)) return true;
    return false;
}

void suggest_command(const char *word, char note[SUGGESTION_SIZE])
{
    struct suggestion s = {.near = {.word = bytes_of(word)},
                           .table = command_synonyms,
                           .count = sizeof command_synonyms / sizeof *command_synonyms,
                           .is_name = is_command,
                           .before = "penta "};
    for (int i = 0; i < COMMANDS; i++) suggest_offer(&s.near, commands[i].name);
    suggestion_note(&s, note);
}

static bool is_format(const struct cli *c, const char *name)
{
    (void)c;
    return format_known(name);
}

void format_unknown(struct cli *c, const char *word)
{
    char note[SUGGESTION_SIZE] = "penta formats lists them";
    struct suggestion s = {.near = {.word = bytes_of(word)},
                           .table = format_synonyms,
                           .count = sizeof format_synonyms / sizeof *format_synonyms,
                           .is_name = is_format,
                           .before = ""};
    for (size_t i = 0; penta_format_name(i); i++) suggest_offer(&s.near, penta_format_name(i));
    suggestion_note(&s, note);
    cli_usage(c, note, "no format is called '%.40s'", word);
}

struct looked_up {
    const char *name;
    bool found;
};

static void look_up_option(void *user, const struct listed_option *option)
{
    struct looked_up *l = user;
    l->found |= !strcmp(option->name, l->name);
}

static bool has_option(const struct cli *c, const char *name)
{
    struct looked_up l = {.name = name};
    listed_options_each(c->command, NULL, look_up_option, &l);
    if (c->verb < COMMANDS) listed_options_each(c->verb, NULL, look_up_option, &l);
    return l.found;
}

static void offer_option(void *user, const struct listed_option *option)
{
    suggest_offer(user, option->name);
}

void suggest_option(const struct cli *c, penta_bytes name, char note[SUGGESTION_SIZE])
{
    struct suggestion s = {.near = {.word = name},
                           .table = option_synonyms,
                           .count = sizeof option_synonyms / sizeof *option_synonyms,
                           .is_name = has_option,
                           .cli = c,
                           .before = "--"};
    listed_options_each(c->command, NULL, offer_option, &s.near);
    if (c->verb < COMMANDS) listed_options_each(c->verb, NULL, offer_option, &s.near);
    suggestion_note(&s, note);
}

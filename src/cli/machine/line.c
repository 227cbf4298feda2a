/* Reads lines from a person with libedit, if the build has it and the input is a terminal, else
 * plain lines of standard input. */
#include "cli/machine/line.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#ifdef PENTA_EDIT
#include <histedit.h>
#endif

struct line_reader {
    const char *prompt;
    line_complete *complete;
    void *user;
    char *line;
    size_t capacity;
    bool terminal;
#ifdef PENTA_EDIT
    EditLine *edit; /* libedit's state, or NULL when lines are read without editing */
    History *history;
    HistEvent event;
#endif
};

static char *line_trimmed(char *line)
{
    size_t size = strlen(line);
    while (size && (line[size - 1] == '\n' || line[size - 1] == '\r')) line[--size] = 0;
    return line;
}

static char *plain_line(struct line_reader *r)
{
    return getline(&r->line, &r->capacity, stdin) < 0 ? NULL : line_trimmed(r->line);
}

#ifdef PENTA_EDIT
static char *prompt_of(EditLine *edit)
{
    struct line_reader *r;
    el_get(edit, EL_CLIENTDATA, &r);
    return (char *)(uintptr_t)r->prompt;
}

struct matches { /* The words that the word before the cursor can become. */
    const char *word;
    size_t typed;
    char first[256]; /* the beginning that all matches share */
    size_t common;
    unsigned count;
};

static void line_match(void *to, penta_bytes word)
{
    struct matches *m = to;
    if (word.size < m->typed || word.size >= sizeof m->first ||
        memcmp(word.data, m->word, m->typed))
        return;
    if (m->count && word.size == m->common && !memcmp(word.data, m->first, m->common)) return;
    if (!m->count++) {
        bytes_copy(m->first, word);
        m->common = word.size;
    }
    size_t same = m->typed;
    while (same < m->common && same < word.size && (uint8_t)m->first[same] == word.data[same])
        same++;
    m->common = same;
}

/* Inserts the common beginning of all words that start like this one, and a space after the only
 * one. */
static unsigned char line_complete_word(EditLine *edit, int key)
{
    (void)key;
    struct line_reader *r;
    el_get(edit, EL_CLIENTDATA, &r);
    const LineInfo *info = el_line(edit);
    size_t size = (size_t)(info->cursor - info->buffer), from = size;
    while (from && info->buffer[from - 1] != ' ') from--;
    struct matches m = {.word = info->buffer + from, .typed = size - from};
    char *line = strndup(info->buffer, size);
    if (line) r->complete(r->user, line, size, line_match, &m);
    free(line);
    if (!m.count) return CC_REFRESH_BEEP;
    bool whole = m.count == 1 && m.common && m.first[m.common - 1] != '/';
    char more[sizeof m.first + 1];
    int n = snprintf(more, sizeof more, "%.*s%s", (int)(m.common - m.typed), m.first + m.typed,
                     whole ? " " : "");
    if (n <= 0 || el_insertstr(edit, more)) return CC_REFRESH_BEEP;
    return CC_REFRESH;
}

static void open_edit(struct line_reader *r)
{
    enum { REMEMBERED = 500 };
    r->edit = el_init("penta", stdin, stdout, stderr);
    r->history = r->edit ? history_init() : NULL;
    if (!r->history) return;
    history(r->history, &r->event, H_SETSIZE, REMEMBERED);
    history(r->history, &r->event, H_SETUNIQUE, 1);
    el_set(r->edit, EL_CLIENTDATA, r);
    el_set(r->edit, EL_PROMPT, prompt_of);
    el_set(r->edit, EL_EDITOR, "emacs");
    el_set(r->edit, EL_HIST, history, r->history);
    el_set(r->edit, EL_ADDFN, "complete-word", "complete the command", line_complete_word);
    el_set(r->edit, EL_BIND, "^I", "complete-word", NULL);
    el_source(r->edit, NULL); /* This reads ~/.editrc. */
}

static char *edited_line(struct line_reader *r)
{
    int size = 0;
    const char *line = el_gets(r->edit, &size);
    if (!line || size <= 0) return NULL;
    if (size > 1 && r->history) history(r->history, &r->event, H_ENTER, line);
    free(r->line);
    r->line = strdup(line);
    return r->line ? line_trimmed(r->line) : NULL;
}

static void close_edit(struct line_reader *r)
{
    if (r->history) history_end(r->history);
    if (r->edit) el_end(r->edit);
}
#endif

struct line_reader *line_open(const char *prompt, line_complete *complete_word, void *user,
                              bool terminal)
{
    struct line_reader *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->prompt = prompt;
    r->complete = complete_word;
    r->user = user;
    r->terminal = terminal;
#ifdef PENTA_EDIT
    if (terminal) open_edit(r);
#endif
    return r;
}

char *line_read(struct line_reader *r)
{
#ifdef PENTA_EDIT
    if (r->edit) return edited_line(r);
#endif
    return plain_line(r);
}

bool line_prompts(const struct line_reader *r)
{
#ifdef PENTA_EDIT
    if (r->edit) return true;
#endif
    return !r->terminal;
}

void line_close(struct line_reader *r)
{
    if (!r) return;
#ifdef PENTA_EDIT
    close_edit(r);
#endif
    free(r->line);
    free(r);
}

/* Builds the escape sequences of the terminal colours, with the mark that lets them pass
 * sanitize.c. */
#include "base/palette.h"
#include <stdio.h>

const struct palette palette_plain = {"", "", "", "", "", "",
                                      "", "", "", "", "", {"", "", "", "", "", ""}};

void palette_marked(struct marked_palette *m, const char *mark)
{
    struct palette *p = &m->palette;
    const struct {
        const char **style, *code;
    } styles[PALETTE_STYLES] = {{&p->off, "0"},       {&p->dim, "2"},        {&p->bold, "1"},
                                {&p->name, "36"},     {&p->value, "32"},     {&p->note, "2"},
                                {&p->error, "1;31"},  {&p->warning, "1;33"}, {&p->reg, "34"},
                                {&p->label, "33"},    {&p->directive, "35"}, {&p->cycle[0], "36"},
                                {&p->cycle[1], "33"}, {&p->cycle[2], "32"},  {&p->cycle[3], "35"},
                                {&p->cycle[4], "34"}, {&p->cycle[5], "31"}};
    for (size_t i = 0; i < PALETTE_STYLES; i++) {
        snprintf(m->text[i], sizeof m->text[i], "\033%s[%sm", mark, styles[i].code);
        *styles[i].style = m->text[i];
    }
}

/* Declares what a word that penta does not know may have meant: a name of nearly the same
 * spelling, or what penta calls the same thing (synonyms.def). Each function writes a note such
 * as "did you mean 'penta dis'?", or leaves the note as it is. */
#pragma once
#include "cli/cli.h"

enum { SUGGESTION_SIZE = 120 };
void suggest_command(const char *word, char note[SUGGESTION_SIZE]);
void format_unknown(struct cli *c, const char *word); /* Reports that no format has this name. */
/* Suggests options of c's command, and of the verb of a batch. The name is without dashes. */
void suggest_option(const struct cli *c, penta_bytes name, char note[SUGGESTION_SIZE]);

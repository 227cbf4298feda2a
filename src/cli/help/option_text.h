/* Declares how help and manual pages write the options of a command, and the formats that it is
 * for. */
#pragma once
#include "cli/help/option_list.h"

enum { OPTION_LEFT_WIDTH = 30 };
/* Writes "-f, --format NAME", with the words of the value instead of NAME if they fit into
 * OPTION_LEFT_WIDTH. Returns false when they did not fit. */
bool option_left(struct writer *out, const struct listed_option *o);
typedef void option_line_fn(struct writer *out, const char *text, size_t width);
/* Gives fn a text such as "FUNCTION: gpio, uart_tx, ..." for each part of the value whose words
 * have not been printed yet. `told` is what option_left returned. */
void option_word_lists(const struct listed_option *o, bool told, option_line_fn *fn,
                       struct writer *out, size_t width);
/* Tells whether a command is for one format only: its options need not name it. */
bool command_of_one_format(enum command command);
/* Writes the formats that a command is for, such as "pvm coil", if these are few. Returns false
 * when the command is for most. */
bool command_few_formats(struct writer *out, enum command command);
/* Writes the formats in brackets, after what a command does. */
void command_formats(struct writer *out, enum command command);
void man_main(struct writer *out); /* These functions write the manual pages of penta and of a
                                    * command. man.c defines them. */
void man_command(struct writer *out, enum command command);

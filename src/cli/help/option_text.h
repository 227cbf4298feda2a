/* How help and manual pages write the options of a command and the formats that it is for. */
#pragma once
#include "cli/help/option_list.h"

enum { OPTION_LEFT_WIDTH = 30 };
/* Writes "-f, --format NAME", with the words of the value instead of NAME where they fit into OPTION_LEFT_WIDTH. False:
 * they did not fit. */
bool option_left(struct writer *out, const struct listed_option *o);
typedef void option_line_fn(struct writer *out, const char *text, size_t width);
/* Gives fn "FUNCTION: gpio, uart_tx, ..." for each part of the value whose words have not been printed yet; `told` is
 * what option_left returned. */
void option_word_lists(const struct listed_option *o, bool told, option_line_fn *fn,
                       struct writer *out, size_t width);
/* Writes the formats that a command is for, "pvm coil", where these are few; false: it is for most. */
bool command_few_formats(struct writer *out, enum command command);
/* The same in brackets, after what a command does. */
void command_formats(struct writer *out, enum command command);
void man_main(struct writer *out); /* the manual page of penta, in man.c, and of a command */
void man_command(struct writer *out, enum command command);

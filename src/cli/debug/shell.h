/* Declares what the commands of penta debug share. */
#pragma once
#include "cli/machine/line.h"
#include "cli/machine/machine.h"
#include "penta/debug.h"

enum { REGISTERS_KEPT = 128 };

struct shell {
    struct cli *cli;
    struct machine machine;
    penta_debugger *debugger;
    penta_stop stop;     /* the last stop of the machine */
    penta_buffer source; /* the text of the file that was shown last */
    char *source_name;
    struct { /* the registers at the stop before this one, for colours */
        size_t count;
        uint64_t now[REGISTERS_KEPT], before[REGISTERS_KEPT];
    } registers;
    unsigned scripts; /* how many scripts are being read, one inside the other */
    bool quit;
};

/* Opens machine and debugger, at the start. Returns false when an error has been reported. */
bool shell_open(struct shell *s, struct cli *c);
void shell_close(struct shell *s);
static inline penta_vm *shell_vm(const struct shell *s)
{
    return penta_session_vm(s->machine.session);
}
const struct palette *shell_palette(const struct shell *s);
/* Prints an error in a line, with its note. */
void shell_error(struct shell *s, const penta_error *err);
/* Reads the value of an expression as an unsigned integer. An empty text keeps the default. */
bool shell_number(struct shell *s, const char *text, uint64_t *value);
/* Reads a count as shell_number does. A count is at least 0. */
bool shell_count(struct shell *s, const char *text, uint64_t *value);
void shell_where(struct shell *s);
/* Writes the instruction at pc in colours. Returns false when none is there. */
bool shell_insn(struct shell *s, uint64_t pc, struct writer *out);
void shell_line(struct shell *s, char *line); /* Executes a line. */

const char *shell_verb(size_t i); /* Returns the name of the i-th command, or NULL after the
                                   * last. */
/* Returns the arguments of a command as its help shows them, or "" when the command does not
 * exist. */
const char *shell_arguments(const char *word, size_t size);

/* Is a line_complete whose user is the shell. complete.c defines it. */
line_complete shell_complete;
/* move.c defines what this block declares. */
void do_step(struct shell *s, const char *rest);
void do_next(struct shell *s, const char *rest);
void do_step_line(struct shell *s, const char *rest);
void do_next_line(struct shell *s, const char *rest);
void do_finish(struct shell *s, const char *rest);
void do_until(struct shell *s, const char *rest);
void do_continue(struct shell *s, const char *rest);
void do_back(struct shell *s, const char *rest);
void do_goto(struct shell *s, const char *rest);
void do_reverse(struct shell *s, const char *rest);
void do_last_write(struct shell *s, const char *rest);
void do_answer(struct shell *s, const char *rest);
/* points.c defines what this block declares. */
void do_break(struct shell *s, const char *rest);
void do_tbreak(struct shell *s, const char *rest);
void do_log(struct shell *s, const char *rest);
void do_watch(struct shell *s, const char *rest);
void do_rwatch(struct shell *s, const char *rest);
void do_wwatch(struct shell *s, const char *rest);
void do_awatch(struct shell *s, const char *rest);
void do_delete(struct shell *s, const char *rest);
void do_condition(struct shell *s, const char *rest);
void do_ignore(struct shell *s, const char *rest);
void do_enable(struct shell *s, const char *rest);
void do_disable(struct shell *s, const char *rest);
void point_list(struct shell *s, bool breaks, bool watches);
const char *point_word(penta_point_kind kind); /* Returns what has happened when a point stops a
                                                * run, such as "changed". */
/* show.c defines what this block declares. */
void do_print(struct shell *s, const char *rest);
void do_set(struct shell *s, const char *rest);
void do_x(struct shell *s, const char *rest);
void do_memory(struct shell *s, const char *rest);
void do_registers(struct shell *s, const char *rest);
void do_list(struct shell *s, const char *rest);
void do_where(struct shell *s, const char *rest);
void do_backtrace(struct shell *s, const char *rest);
void do_info(struct shell *s, const char *rest);
void show_source(struct shell *s);     /* Shows the source line of the stop. */
void registers_moved(struct shell *s); /* Notes that the machine is at another step now. */
/* shell.c defines what this block declares. */
void do_save(struct shell *s, const char *rest);
void do_source(struct shell *s, const char *rest);
void do_help(struct shell *s, const char *rest);
void do_quit(struct shell *s, const char *rest);

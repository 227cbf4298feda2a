/* What the commands of penta debug share. */
#pragma once
#include "cli/machine/line.h"
#include "cli/machine/machine.h"
#include "penta/debug.h"

enum { REGISTERS_KEPT = 128 };

struct shell {
    struct cli *cli;
    struct machine machine;
    penta_debugger *debugger;
    penta_stop stop;     /* where the machine is: its last stop */
    penta_buffer source; /* the text of the file that was shown last */
    char *source_name;
    struct { /* registers at the stop before this one, for colours */
        size_t count;
        uint64_t now[REGISTERS_KEPT], before[REGISTERS_KEPT];
    } registers;
    unsigned scripts; /* how many scripts are being read, one inside the other */
    bool quit;
};

/* Opens machine and debugger, at the start; false when an error has been reported. */
bool shell_open(struct shell *s, struct cli *c);
void shell_close(struct shell *s);
static inline penta_vm *shell_vm(const struct shell *s)
{
    return penta_session_vm(s->machine.session);
}
const struct palette *shell_palette(const struct shell *s);
/* A line about what went wrong, with its note. */
void shell_error(struct shell *s, const penta_error *err);
/* The value of an expression as an unsigned integer; an empty text keeps the default. */
bool shell_number(struct shell *s, const char *text, uint64_t *value);
/* The same for a count, which is at least 0. */
bool shell_count(struct shell *s, const char *text, uint64_t *value);
void shell_where(struct shell *s);
/* The instruction at pc in colours; false: there is none. */
bool shell_insn(struct shell *s, uint64_t pc, struct writer *out);
void shell_line(struct shell *s, char *line); /* executes the line */

const char *shell_verb(size_t i); /* the name of the i-th command; NULL beyond the last */
/* What a command takes, as its help has it; "": there is no such command. */
const char *shell_arguments(const char *word, size_t size);

/* complete.c: a line_complete whose user is the shell. */
line_complete shell_complete;
/* move.c */
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
/* points.c */
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
const char *point_word(penta_point_kind kind); /* what has happened when it stops: "changed" */
/* show.c */
void do_print(struct shell *s, const char *rest);
void do_set(struct shell *s, const char *rest);
void do_x(struct shell *s, const char *rest);
void do_memory(struct shell *s, const char *rest);
void do_registers(struct shell *s, const char *rest);
void do_list(struct shell *s, const char *rest);
void do_where(struct shell *s, const char *rest);
void do_backtrace(struct shell *s, const char *rest);
void do_info(struct shell *s, const char *rest);
void show_source(struct shell *s);     /* shows the source line of the stop */
void registers_moved(struct shell *s); /* says that the machine is at another step now */
/* shell.c */
void do_save(struct shell *s, const char *rest);
void do_source(struct shell *s, const char *rest);
void do_help(struct shell *s, const char *rest);
void do_quit(struct shell *s, const char *rest);

/* Declares what run, trace and debug share: opening a machine, deadlines and Ctrl-C, printing
 * stops. */
#pragma once
#include "cli/cli.h"
#include "penta/record.h"

struct machine {
    struct input in;
    penta_session *session;
    penta_record *record; /* the record that this run repeats, or NULL */
    bool timed_out;
};

/* Opens file, machine and host. Returns false when an error has been reported. */
bool machine_open(struct cli *c, struct machine *m);
void machine_close(struct machine *m);
/* Lets Ctrl-C, and the deadline of --timeout, interrupt the machine from now on. */
bool machine_arm(struct cli *c, struct machine *m);
/* Restores the signals. m->timed_out then tells whether the deadline has passed. */
void machine_disarm(struct machine *m);

/* Sets the fuel of a repeated run to where the recorded run was stopped from outside; otherwise
 * the fuel stays. */
void machine_fuel(const struct cli *c, const struct machine *m, uint64_t *fuel);

/* Prints what the machine found while it ran. */
void machine_findings(struct cli *c, const struct machine *m);
/* Tells whether the option inner-trace is given: what host calls print is about machines inside
 * the machine. */
bool machine_shows_inner(const struct cli *c);
/* Writes the report of the host at the end of a run, as text or into the open document, or drops
 * it when `told` is not set. */
void machine_finish(struct cli *c, struct machine *m, const penta_stop *stop, bool told);
/* Writes the file that --save-state names, if it was given, and reports errors. It must be
 * called after machine_finish. */
void machine_save_state(struct cli *c, struct machine *m);

/* Returns what penta_stop_name does, but "deadline" for an interrupt by --timeout. */
const char *stop_name(const struct machine *m, const penta_stop *stop);
void stop_print(struct writer *out, const struct machine *m, const penta_stop *stop);
/* Tells whether the program did not end as it should although nothing outside stopped it. This
 * is always printed, since the exit code alone could be the program's own. */
bool stop_is_failure(const penta_stop *stop);
int stop_exit(const struct machine *m, const penta_stop *stop);

/* Prints the state of the machine without its pc, which is printed with the stop. */
void state_print(struct cli *c, const penta_vm *vm);
/* Writes the state to a document, also without the number of host calls. Returns true when the
 * machine itself has an `output`. */
bool state_json(struct json *j, const penta_vm *vm);

/* What run, trace and debug share: opening a machine, deadlines and Ctrl-C, printing stops. */
#pragma once
#include "cli/cli.h"
#include "penta/record.h"

struct machine {
    struct input in;
    penta_session *session;
    penta_record *record; /* the record that this run repeats, or NULL */
    bool timed_out;
};

/* Opens file, machine and host; false when an error has been reported. */
bool machine_open(struct cli *c, struct machine *m);
void machine_close(struct machine *m);
/* From now on Ctrl-C, and the deadline of --timeout, interrupt the machine. */
bool machine_arm(struct cli *c, struct machine *m);
/* Restores the signals; m->timed_out then says whether the deadline passed. */
void machine_disarm(struct machine *m);

/* Where a repeated run stops, when the recorded one was stopped from outside; else fuel as it is. */
void machine_fuel(const struct cli *c, const struct machine *m, uint64_t *fuel);

/* Prints what the machine found while it ran. */
void machine_findings(struct cli *c, const struct machine *m);
/* Option inner-trace: what host calls print is about machines inside the machine. */
bool machine_shows_inner(const struct cli *c);
/* What the host reports at the end of a run, as text or into the open document; or it is not told. */
void machine_finish(struct cli *c, struct machine *m, const penta_stop *stop, bool told);
/* After machine_finish: writes the file that --save-state names, if it was given; errors are
 * reported. */
void machine_save_state(struct cli *c, struct machine *m);

/* As penta_stop_name; "deadline" for an interrupt by --timeout. */
const char *stop_name(const struct machine *m, const penta_stop *stop);
void stop_print(struct writer *out, const struct machine *m, const penta_stop *stop);
/* The program did not end as it should, and nobody outside stopped it: this is always told, since the exit code
 * alone could be the program's own. */
bool stop_is_failure(const penta_stop *stop);
int stop_exit(const struct machine *m, const penta_stop *stop);

/* The state of the machine without its pc, which is printed with the stop. */
void state_print(struct cli *c, const penta_vm *vm);
/* The same, and without the number of host calls; true when the machine itself has an `output`. */
bool state_json(struct json *j, const penta_vm *vm);

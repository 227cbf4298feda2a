/* What the two files for running scripts share: script.c has lines, values and most calls;
 * script_tasks.c has launches, task records and reports. */
#pragma once
#include "gpu/host/emulator.h"
#include "kblob/kblob.h"
#include "penta/device.h"
#include "text/expr.h"

struct script {
    struct source source;
    const penta_device_options *options;
    const uint64_t *seed;      /* of the schedule, whatever the script says; or NULL */
    penta_device_races *races; /* races are collected here if the caller wants them, else NULL */
    struct writer *out;
    struct json *json; /* where a JSON report is written; NULL for a report as text */
    gpu_emulator_options device;
    gpu_emulator *dev; /* the open device; NULL until the first call of a script */
    struct arena arena;
    struct variable {
        penta_bytes name;
        uint64_t value;
    } * variables;
    size_t variable_count, variable_capacity;
    struct script_kernel { /* a registered kernel, for names in reports */
        uint64_t id;
        penta_module *module;
    } * kernels;
    size_t kernel_count, kernel_capacity;
    /* For each launch id, counted from 1, this is the module that it runs, or NULL if unknown. */
    const penta_module **launched;
    size_t launched_count, launched_capacity;

    /* The fields below are about the current line. */
    uint64_t line_at;
    penta_bytes word;
    struct writer detail; /* the results of the call, as text */
    bool has_result;      /* true if the call returned a value that the script may give a name */
    uint64_t result;
};

/* These functions read values. data := "text" | hex "..." | file "..." | words NUMBER, ...; the
 * last form extends to the end of the line. */
bool device_script_lookup(void *user, penta_bytes name, uint64_t *value);
bool device_script_number(struct script *s, unsigned bits, uint64_t *value);
bool device_script_data(struct script *s, penta_bytes *out);
/* Reports that a value is not the one that `==` at the end of the line expects. */
bool device_script_unexpected(struct script *s, const char *what, const char *expected,
                              const char *got);
bool device_script_expect_number(struct script *s, const char *what, uint64_t got);
/* Checks that the next number in the line is `got`. The message shows hexadecimal or decimal
 * digits. */
bool device_script_is(struct script *s, const char *what, uint64_t got, bool hex);
bool device_script_expect_data(struct script *s, penta_bytes got);
void device_script_give(struct script *s, uint64_t value); /* sets the result of the call */

/* The functions below make calls about tasks. */
bool device_script_on_launch_grid(struct script *s, gpu_status *status);
bool device_script_on_grid(struct script *s, gpu_status *status);
bool device_script_on_launch(struct script *s, gpu_status *status);
bool device_script_on_wait(struct script *s, gpu_status *status);
bool device_script_on_stop(struct script *s, gpu_status *status);
bool device_script_on_args(struct script *s, gpu_status *status);
bool device_script_on_task(struct script *s, gpu_status *status);
bool device_script_on_faults(struct script *s, gpu_status *status);
bool device_script_on_races(struct script *s, gpu_status *status);
/* Adds the races that the device has found to those that are wanted: at the end, and before the
 * device forgets them. */
void device_script_keep_races(struct script *s);
bool device_script_on_leaks(struct script *s, gpu_status *status);
bool device_script_on_kernels(struct script *s, gpu_status *status);

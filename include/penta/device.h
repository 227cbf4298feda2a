/* Drives the mock device by scripts and traces, as `penta device` does. The calls that a script
 * makes are those of gpu_emulator.h.
 *
 * A script has one call per line, in the order they are made; `;` starts a comment.
 *
 *     mode seeded                        settings come first: mode, seed, memory_limit,
 *     flags race_check, init_check       max_instructions, max_tasks, task_wall_ms, call_ms,
 *     trace "run.jsonl"                  flags, trace FILE, device FILE
 *
 *     $a = alloc 16                      a result may have a name
 *     alloc_at 0x10000, 64
 *     write $a+4, hex "aabb"             data: "text", hex "...", file "...", words 1, 2
 *     read $a, 8 == hex "00000000aabb0000"
 *     size $a == 16
 *     kernel 7                           assembly up to `end`; variables are names in it
 *         WRITE64 $a, 0x2A
 *         HALT
 *     end
 *     kernel 8 file "copy.kasm"          a blob, or assembly when the name ends with .kasm
 *     kernel 9 hex "05b1..."
 *     unregister 9
 *     $t = launch 7                      launch 7, "arguments"
 *     $g = launch_grid 9, blocks=4, threads=64, shared=512, words $a, 64
 *     grid $g threads=256, ended=256     blocks_y .. threads_z; the words are arguments
 *     wait 5000                          for all tasks; wait $t, 5000 for one
 *     task $t state=DONE, instructions=2, last_read=0x2a
 *     args $t == "arguments"
 *     stop $t
 *     faults == 0                        also races, leaks, kernels: their number
 *     barrier | memfence | yield | reset | shutdown
 *     read $a, 99 => ReadError           any line: the status to expect, else Success
 *
 * Numbers are expressions: 0x10, $a + 2 * 8.
 *
 * This is part of libpenta_gpu, a library beside libpenta, since it starts the device's process.
 * Programs that use it link libpenta too, for penta_buffer_free. The rules of penta.h about
 * errors, buffers and NULL hold. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_device_options { /* Members that are zero have their defaults. */
    /* `device_path` is the path of the device. The first three members replace what the script
     * says unless they are NULL. */
    const char *device_path;
    const char *trace_path;
    const char *mode;   /* one of the names of penta_device_mode_name */
    const char *folder; /* the folder of the files that the script names; NULL: the current one */
} penta_device_options;

/* Returns way i in which kernels can be scheduled, such as "threads", or NULL after the last. */
PENTA_API const char *penta_device_mode_name(size_t i);

/* Runs a script, in the language above. The results of the calls are appended to `out` as lines
 * of text, or as a JSON list of objects with line, call, status, name and result. Returns false
 * when a line is wrong, or a result is not what the script expects; `err` has the offset in the
 * text then, and `out` the results of the calls up to there. `options` may be NULL. */
PENTA_API bool penta_device_run(penta_bytes script, const penta_device_options *options, bool json,
                                penta_buffer *out, penta_error *err);

typedef struct penta_device_races {
    /* `count` says how many races were found, including benign ones, which write the same value. */
    uint64_t count;
    char first[200]; /* the first race as text, or "" */
} penta_device_races;
/* Runs a script under one schedule: in mode seeded, with this seed, and with the search for
 * races, whatever the script says. A run that fails also finds races, up to its failure.
 * Everything else is as in penta_device_run. */
PENTA_API bool penta_device_check(penta_bytes script, const penta_device_options *options,
                                  uint64_t seed, bool json, penta_buffer *out,
                                  penta_device_races *races, penta_error *err);

typedef struct penta_device_replayed {
    uint64_t calls, events; /* how many calls and events the trace has */
    uint64_t differences;
} penta_device_replayed;

/* Makes the calls of a trace again and compares every status and task event. Differences are
 * appended to `report` as lines of text, at most 100. In modes serial and seeded all lines must
 * be the same in the same order; in mode threads the calls, and the events of each task without
 * their times. Returns false when the bytes are no trace, or the device failed to start;
 * `report` is unchanged then. When device_path is NULL, it is the installed one. */
PENTA_API bool penta_device_replay(penta_bytes trace, const char *device_path, penta_buffer *report,
                                   penta_device_replayed *result, penta_error *err);

#ifdef __cplusplus
}
#endif

/* What the parts of the PolkaVM benchmark share. */
#pragma once
#include "bench.h"
#include "penta/pvm.h"
#include <stdio.h>

/* pvm_files.c */
penta_bytes bench_read(const char *path); /* free its data */
/* The module of a blob; *bytes belong to the caller and outlive it. */
penta_module *bench_open(const char *path, penta_bytes *bytes);
/* An assembly text as a blob of this instruction set, written to `to`. */
void bench_assemble(const char *path, const char *isa, const char *to);
penta_module *bench_module(const char *text); /* assembled for latest64 */

/* pvm_peers.c: other implementations, as the file named by PEERS lists them. */
struct peer {
    char *name, *command;
};
size_t peers_read(const char *path, struct peer **out); /* ends the program at a bad line */
/* Runs the command on a blob: the seconds it prints. Negative: none, and note says why. */
double peer_run(const struct peer *peer, const char *blob, double limit, char *note,
                size_t capacity);

/* pvm_v8.c: the C of a program as WebAssembly in node. */
struct v8;
const char *v8_missing(void); /* what keeps it from running; NULL: nothing */
struct v8 *v8_start(const char *program);
void v8_end(struct v8 *v8);
/* One run: its seconds. Negative: none, and note says why. */
double v8_run(struct v8 *v8, double limit, uint64_t expected, char *note, size_t capacity);

/* pvm_costs.c: the costs of everything but running. */
void bench_instances(const char *folder);
void bench_host_calls(const char *engine);
void bench_interrupts(void);
void bench_tight_loops(void);
void bench_parsing(const char *path);

/* pvm_compile.c */
void bench_compiling(const char *path);
void bench_linear(void);
double bench_compile_once(const char *path, int mode); /* the seconds of a first compilation */

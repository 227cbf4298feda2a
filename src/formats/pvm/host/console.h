/* The console is the host of C programs. It gives them standard input and output, files,
 * arguments and the time. */
#pragma once
#include "core/host.h"

struct pvm_console;
/* Tells whether the module imports a call of the console. */
bool pvm_console_serves(const penta_module *module);
struct pvm_console *pvm_console_new(const penta_option *options, size_t count, penta_error *err);
bool pvm_console_answer(struct pvm_console *c, penta_vm *vm, const penta_stop *stop,
                        struct answer *out);
/* Returns the files of a console, which are the state that the calls of pvm_host_files take. */
struct pvm_files *pvm_console_files(struct pvm_console *c);
void pvm_console_free(struct pvm_console *c);

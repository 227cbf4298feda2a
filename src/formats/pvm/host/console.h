/* The host of programs for a console: standard input and output, files, arguments, time. */
#pragma once
#include "core/host.h"

struct pvm_console;
/* Whether the module imports one of its calls. */
bool pvm_console_serves(const penta_module *module);
struct pvm_console *pvm_console_new(const penta_option *options, size_t count, penta_error *err);
bool pvm_console_answer(struct pvm_console *c, penta_vm *vm, const penta_stop *stop,
                        struct answer *out);
void pvm_console_free(struct pvm_console *c);

/* Declares the JAM host for one program in a session (core/session.h). */
#pragma once
#include "base/json/json_write.h"
#include "core/host.h"
#include "pvm/vm/vm.h"

struct pvm_jam;

/* Opens the host. It gives in `out` the profile, gas and arguments with which its machine
 * starts. */
struct pvm_jam *pvm_jam_new(const penta_module *module, const penta_option *options, size_t count,
                            struct started_host *out, penta_error *err);
void pvm_jam_free(struct pvm_jam *s);
bool pvm_jam_answer(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct answer *out);
/* Writes the state. It is called after pvm_jam_finish, which merges the program's changes. */
bool pvm_jam_save(struct pvm_jam *s, struct writer *out, penta_error *err);
/* Merges the program's changes and reports them, as text or into an open JSON object. */
bool pvm_jam_finish(struct pvm_jam *s, penta_vm *vm, const penta_stop *stop, struct writer *w,
                    struct json *j, penta_error *err);

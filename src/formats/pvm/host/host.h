/* Declares the hosts that answer ecalli: a script, contracts (revive/), a console (console.h)
 * and JAM (jam_json/). */
#pragma once
#include "core/host.h"
#include "pvm/vm/vm.h"

/* Returns the name that the program imports under this number; its size is 0 when there is none. */
penta_bytes pvm_import_name(const penta_module *module, uint32_t number);

/* A struct pvm_script is a file of answers, in the language of PVM 16.2 (script.c). The names in
 * it must be imports of the module. */
struct pvm_script;
struct pvm_script *pvm_script_read(const penta_module *module, const char *path, penta_error *err);
bool pvm_script_answer(struct pvm_script *s, penta_vm *vm, const penta_stop *stop,
                       struct answer *out);
void pvm_script_free(struct pvm_script *s);

/* A struct pvm_revive is a chain of contracts (revive/). */
struct pvm_revive;
struct pvm_revive *pvm_revive_new(const penta_module *module, const penta_option *options,
                                  size_t count, penta_error *err);
void pvm_revive_attach(struct pvm_revive *r, penta_vm *vm);
bool pvm_revive_save(struct pvm_revive *r, struct writer *out, penta_error *err);
bool pvm_revive_answer(struct pvm_revive *r, penta_vm *vm, const penta_stop *stop,
                       struct answer *out);
void pvm_revive_free(struct pvm_revive *r);

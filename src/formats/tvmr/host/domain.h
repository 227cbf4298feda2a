/* Declares the domain operations of the default host, which keeps what they read and write in
 * memory or in a folder. */
#pragma once
#include "tvmr/vm/vm.h"

struct tvmr_domain;
/* `folder` may be NULL. */
struct tvmr_domain *tvmr_domain_new(const char *folder, penta_error *err);
void tvmr_domain_chemicals(struct tvmr_domain *domain,
                           const uint8_t first[4]); /* Sets the levels of the four chemicals at
                                                     * the start. */
/* Sets numbers of dynamics.def from a list such as "field-tick=240,pool-fire=300". */
bool tvmr_domain_dynamics(struct tvmr_domain *domain, const char *list, penta_error *err);
void tvmr_domain_free(struct tvmr_domain *domain);
/* Carries out the operation that a stop asks for. Returns false when the operation is unknown,
 * or when the machine was interrupted meanwhile and must ask again. `interrupted` may be NULL. */
bool tvmr_domain_answer(struct tvmr_domain *domain, struct tvmr_vm *vm, const penta_stop *stop,
                        struct writer *log, bool *interrupted);

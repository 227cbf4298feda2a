/* The domain operations of the default host: it keeps in memory, or in a folder, what they read and
 * write. */
#pragma once
#include "tvmr/vm/vm.h"

struct tvmr_domain;
struct tvmr_domain *tvmr_domain_new(const char *folder, penta_error *err); /* folder may be NULL */
void tvmr_domain_chemicals(struct tvmr_domain *domain, const uint8_t first[4]); /* at the start */
/* "field-tick=240,pool-fire=300": numbers of dynamics.def. */
bool tvmr_domain_dynamics(struct tvmr_domain *domain, const char *list, penta_error *err);
void tvmr_domain_free(struct tvmr_domain *domain);
/* Does what the stop asks; false when it does not know the operation, or when the machine was interrupted
 * meanwhile: then it must be asked again. interrupted may be NULL. */
bool tvmr_domain_answer(struct tvmr_domain *domain, struct tvmr_vm *vm, const penta_stop *stop,
                        struct writer *log, bool *interrupted);

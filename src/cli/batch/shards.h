/* Declares what penta batch does besides running a verb. */
#pragma once
#include "cli/batch/batch.h"

/* Carries out submit, status, merge, or report of results. Returns true when the words were one
 * of them. */
bool batch_action(struct cli *c);

/* Fills a job from options, and sources from the words after `first`, and checks the verb.
 * Returns false when an error has been reported. */
bool batch_job_fill(struct cli *c, penta_batch_job *job);
bool batch_sources_fill(struct cli *c, size_t first, penta_batch_job *job);
bool batch_verb_checked(struct cli *c);

/* Adds the lines of complete results to the files of --sarif and --junit. */
void batch_outcomes(struct cli *c, const char *verb, const char *results);
void batch_outcomes_of(struct cli *c, const char *results); /* Does the same with the verb of the
                                                             * job of these results. */

/* What penta batch does beside running a verb. */
#pragma once
#include "cli/batch/batch.h"

/* submit, status, merge, report of results: true when the words were one of them. */
bool batch_action(struct cli *c);

/* ---- command.c ---- */
/* Fills a job from options, sources from the words after `first`, and checks the verb; false: an error has been reported. */
bool batch_job_fill(struct cli *c, penta_batch_job *job);
bool batch_sources_fill(struct cli *c, size_t first, penta_batch_job *job);
bool batch_verb_checked(struct cli *c);

/* ---- lines.c ---- */
/* Adds the lines of complete results to the files of --sarif and --junit. */
void batch_outcomes(struct cli *c, const char *verb, const char *results);
void batch_outcomes_of(struct cli *c, const char *results); /* the same; the job says the verb */

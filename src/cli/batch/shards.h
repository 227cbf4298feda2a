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

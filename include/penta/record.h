/* Records a run and repeats it. A record has what the program was given and every answer of its
 * host, as lines of JSON (docs/record.md).
 *
 * A repeated run needs no host: its calls are answered from the record, what it printed is
 * printed again, and the first call that is not the recorded one ends it with an error that says
 * so. Files that only the host used need not exist any more.
 *
 * The rules of penta.h hold. A record belongs to no thread and may serve several sessions at
 * once. */
#pragma once
#include "penta/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the run from now on. Each line goes to `take` with its end, in one piece;
 * penta_session_finish writes the last one. `options` are those with which the session was made.
 * Returns false when memory ran out for the first line, and then nothing is recorded. A later
 * failure is one of the session (penta_session_failure). */
PENTA_API bool penta_session_record(penta_session *session, const penta_option *options,
                                    size_t count, penta_piece *take, void *user, penta_error *err);

typedef struct penta_record penta_record;

/* Reads a record. Errors have the offset in the text, and the number of the line in their
 * message. A record that ends after some complete line is accepted: the run is repeated up to
 * there. */
PENTA_API penta_record *penta_record_new(penta_bytes text, penta_error *err);
PENTA_API void penta_record_free(penta_record *record); /* `record` may be NULL. */
PENTA_API const char *penta_record_format(const penta_record *record);
PENTA_API const penta_option *penta_record_options(const penta_record *record, size_t *count);
PENTA_API size_t penta_record_calls(const penta_record *record);
/* Tells whether the record is of this very file. For another file the run is repeated as long as
 * its calls are the same. */
PENTA_API bool penta_record_is_of(const penta_record *record, const penta_module *module);
/* Gives the stop with which the recorded run ended. Its steps count from the start of the run,
 * or are UINT64_MAX when they were not counted. Returns false when the record does not say how
 * the run ended. */
PENTA_API bool penta_record_end(const penta_record *record, penta_stop *stop);

/* Makes a session that repeats the run, with the options of the record. `engine` is as for
 * penta_session_new. The record must outlive the session. At the end penta_session_finish fails
 * when the run ended in another way than the recorded one. */
PENTA_API penta_session *penta_session_replay(const penta_module *module, const char *engine,
                                              const penta_record *record, penta_error *err);

#ifdef __cplusplus
}
#endif

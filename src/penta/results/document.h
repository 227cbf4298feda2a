/* Declares how diagnostics are read from a document that a command printed with --json, or from
 * a line of penta batch, which has such a document in it. */
#pragma once
#include "base/json/json_read.h"

/* Receives a diagnostic. `file` is the file that the diagnostic is about, or NULL. */
typedef void diagnostic_fn(void *user, const char *file, const struct json_object *diagnostic);
void document_diagnostics(const struct json_object *root, diagnostic_fn *fn, void *user);
/* Fills an error from a diagnostic. A code that this version does not know becomes 0. */
void diagnostic_error(const struct json_object *diagnostic, penta_error *err);

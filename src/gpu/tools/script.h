/* Scripts of device calls, for `penta device run`. script.c describes the language. */
#pragma once
#include "base/json/json_write.h"

struct script_options {
    const char *device_path; /* these three replace what the script says; NULL: they do not */
    const char *trace_path;
    const char *mode;   /* of script_mode_name */
    const char *folder; /* of files that the script names; NULL: the current one */
};

const char *script_mode_name(size_t i); /* "threads", ...; NULL after the last */

/* Runs a script. The results of the calls go to out as text, or into json, which has an object
 * open, as a list `calls`. False: a line is wrong, or a result is not what the script expects; err
 * has the offset in the text. */
bool script_run(penta_bytes text, const struct script_options *options, struct writer *out,
                struct json *json, penta_error *err);

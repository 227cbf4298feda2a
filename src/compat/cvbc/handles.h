/* These are the structs behind the handles of cvbc_format.h. This library uses only the public
 * interface of libpenta, because the implementation of the format uses some of the same names
 * for other things. */
#pragma once
#include "cvbc_format.h"
#include "penta/cvbc.h"

struct cvbc_file {
    penta_module *module;
};

struct cvbc_key {
    penta_buffer pem; /* the private or public key, as the caller gave it */
    bool private;
    penta_cvbc_key public;
};

static inline penta_bytes bytes_at(const void *data, size_t size)
{
    return (penta_bytes){data, size};
}
static inline penta_bytes view_of(const penta_buffer *buffer)
{
    return (penta_bytes){buffer->data, buffer->size};
}
static inline cvbc_status status_of(const penta_error *err)
{
    return (cvbc_status)penta_cvbc_status(err->code);
}

/* report_add is a penta_report function that adds a finding to a cvbc_report, which may be NULL. */
void report_begin(cvbc_report *report);
void report_add(void *report, const penta_error *finding);

/* Reads the head of a container inside another file, which tells the size of the whole file. */
#include "core/nested.h"
#include "cvbc/cvbc.h"

static bool cvbc_head(penta_bytes rest, struct nested_head *head)
{
    static const char *const versions[] = {"version 1.0", "version 1.1", "version 1.2",
                                           "version 1.3", "version 1.4"};
    struct cvbc_header h;
    penta_error err = {0};
    struct reader r = {.in = rest, .err = &err};
    cvbc_header_read(&r, &h);
    size_t minor = h.format_version_minor;
    if (err.code || h.format_version_major != 1 || h.total_file_size < cvbc_header_bytes)
        return false;
    *head = (struct nested_head){.size = h.total_file_size};
    if (minor < sizeof versions / sizeof *versions) head->dialect = versions[minor];
    return true;
}

const struct driver_nested cvbc_nested = {{CVBC_MAGIC_NUMBER}, cvbc_head};

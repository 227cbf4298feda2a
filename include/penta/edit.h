/* Files changed by their fields.
 *
 * A change is a selector (penta/views.h) and a value. A value is a number (of a field with words also
 * one of them, as notes of the tree show them), text, or hex digits, as the field is; "text:..." and
 * "hex:..." say which. A number must fit its field; bytes and texts whose size the format stores may
 * become longer or shorter. A node takes "hex:..." for all its bytes.
 *
 * Then what no longer fits is repaired: lengths, counts and offsets of what moved, checksums and
 * digests. A signature is dropped. What was asked for stays, even where it is wrong. */
#pragma once
#include "penta/views.h"

#ifdef __cplusplus
extern "C" {
#endif

/* changes: key is the selector, value the value; each selected part is changed. Options: no-repair:
 * only the bytes that were asked for. What had to be dropped goes to report. False: a value does not
 * fit, and err names the field and its offset; nothing is selected; or the file is too damaged to be
 * repaired. The result is not checked: open it and call penta_validate. */
PENTA_API bool penta_edit(const penta_module *module, const penta_option *changes,
                          size_t change_count, const penta_option *options, size_t count,
                          penta_buffer *out, penta_report *report, void *user, penta_error *err);

#ifdef __cplusplus
}
#endif

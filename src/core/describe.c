/* Defines the functions of describe.h that are too long to be inline. */
#include "core/describe.h"
#include "base/json/json_visit.h"

void describe_incomplete(const penta_visitor *v)
{
    describe_text(v, field_incomplete, "memory ran out");
}

void describe_written(const penta_visitor *v, penta_field field, struct writer *text)
{
    field.as.bytes = writer_view(text);
    if (text->failed)
        describe_incomplete(v);
    else
        v->field(v->user, &field);
    writer_free(text);
}

void describe_changed_bytes(const penta_visitor *v, uint64_t address, penta_bytes now,
                            const uint8_t *before)
{
    for (size_t at = 0, end; at < now.size; at = end) {
        end = at + 1;
        if (now.data[at] == (before ? before[at] : 0)) continue;
        for (size_t p = end, same = 0; p < now.size && same < DESCRIBE_JOIN; p++) {
            same = now.data[p] == (before ? before[p] : 0) ? same + 1 : 0;
            if (!same) end = p + 1;
        }
        describe_run(v, address + at, (penta_bytes){now.data + at, end - at});
    }
}

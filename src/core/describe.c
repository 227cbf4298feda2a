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

/* Reads inputs from a JSON array of arrays. */
#include "base/json/json_read.h"
#include "tvmr/vm/inputs.h"
#include <stdlib.h>

static bool add_list(struct tvmr_vm *vm, const struct json_object *list)
{
    size_t count = json_length(list);
    int32_t *data = json_is_list(list) ? malloc((count + 1) * sizeof *data) : NULL;
    bool ok = data != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        int64_t v = 0;
        ok = json_as_sint(json_item(list, i), &v) && v >= INT32_MIN && v <= INT32_MAX;
        data[i] = (int32_t)v;
    }
    ok = ok && tvmr_inputs_add(vm, data, count);
    free(data);
    return ok;
}

bool tvmr_inputs_json(struct tvmr_vm *vm, penta_bytes text, penta_error *err)
{
    struct json_doc *doc = json_parse(text, err);
    if (!doc) return false;
    const struct json_object *root = json_root(doc);
    bool ok = json_is_list(root);
    if (ok && !json_length(root)) error_at(err, BASE_JSON, 0, "there are no inputs");
    for (size_t i = 0; ok && i < json_length(root); i++) ok = add_list(vm, json_item(root, i));
    if (!ok) error_at(err, BASE_JSON, 0, "the text is not an array of arrays of 32-bit numbers");
    json_doc_free(doc);
    return !err->code;
}

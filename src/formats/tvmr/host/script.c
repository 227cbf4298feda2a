#include "tvmr/host/script.h"
#include "base/file/file.h"
#include "base/json/json_read.h"
#include <ctype.h>
#include <stdlib.h>

enum { FILE_MAX = 256 << 20 };

int32_t *tvmr_script_numbers(const struct json_object *list, size_t *count)
{
    *count = json_length(list);
    int32_t *data = json_is_list(list) ? malloc((*count + 1) * sizeof *data) : NULL;
    for (size_t i = 0; data && i < *count; i++) {
        int64_t v;
        if (!json_as_sint(json_item(list, i), &v) || v < INT32_MIN || v > INT32_MAX) {
            free(data);
            return NULL;
        }
        data[i] = (int32_t)v;
    }
    return data;
}

static struct json_doc *read_json(const char *path, penta_error *err)
{
    penta_buffer file = {0};
    if (!file_read(path, FILE_MAX, &file, err)) return NULL;
    penta_error why = {0};
    struct json_doc *doc = json_parse((penta_bytes){file.data, file.size}, &why);
    penta_buffer_free(&file);
    if (!doc)
        error_at(err, why.code, 0, "'%.40s', byte %llu: %.50s", path,
                 (unsigned long long)why.offset, why.message);
    return doc;
}

bool tvmr_script_inputs(struct tvmr_vm *vm, const char *path, penta_error *err)
{
    struct json_doc *doc = read_json(path, err);
    if (!doc) return false;
    const struct json_object *root = json_root(doc);
    bool ok = json_is_list(root);
    if (ok && !json_length(root)) error_at(err, BASE_JSON, 0, "'%.60s' has no inputs", path);
    for (size_t i = 0; ok && i < json_length(root); i++) {
        size_t count;
        int32_t *data = tvmr_script_numbers(json_item(root, i), &count);
        ok = data && tvmr_script_add_input(vm, data, count);
        free(data);
    }
    if (!ok) error_at(err, BASE_JSON, 0, "'%.60s' is no array of arrays of 32-bit numbers", path);
    json_doc_free(doc);
    return !err->code;
}

/* ---- answers ---- */

struct tvmr_script {
    struct json_doc *doc;
    size_t next;
};

/* Every answer is checked before the run: otherwise a misspelt member would be ignored. */
struct checking {
    const char *path;
    size_t answer;
    penta_error *err;
};

static void wrong(struct checking *c, const char *name, const char *what)
{
    error_at(c->err, BASE_JSON, 0, "'%.40s', answer %zu: '%.20s' %s", c->path, c->answer, name,
             what);
}

static void check_write(void *user, const char *name, const struct json_object *value)
{
    struct checking *c = user;
    uint8_t reg;
    size_t count;
    int64_t scalar;
    int32_t *numbers = tvmr_script_numbers(value, &count);
    if (!tvmr_script_register(name, &reg))
        wrong(c, name, "is no register");
    else if (reg >> 6 == 2 ? numbers ? count != 1 : !json_as_sint(value, &scalar) : !numbers)
        wrong(c, name, reg >> 6 == 2 ? "takes one number" : "takes an array of 32-bit numbers");
    free(numbers);
}

static void check_member(void *user, const char *name, const struct json_object *value)
{
    struct checking *c = user;
    if (!strcmp(name, "write")) {
        if (!json_is_object(value)) wrong(c, name, "takes an object: register to numbers");
        json_each(value, check_write, c);
    } else if (!strcmp(name, "stop")) {
        if (!json_is_bool(value)) wrong(c, name, "is true or false");
    } else if (!strcmp(name, "fail")) {
        if (!json_is_text(value)) wrong(c, name, "takes a text");
    } else {
        wrong(c, name, "is not write, stop or fail");
    }
}

static void check_answers(const struct json_object *list, const char *path, penta_error *err)
{
    struct checking c = {path, 0, err};
    if (!json_is_list(list)) error_at(err, BASE_JSON, 0, "'%.60s' is no array of answers", path);
    for (; c.answer < json_length(list); c.answer++) {
        const struct json_object *answer = json_item(list, c.answer);
        if (!json_is_object(answer) && !json_is_null(answer))
            error_at(err, BASE_JSON, 0, "'%.40s', answer %zu is no object", path, c.answer);
        json_each(answer, check_member, &c);
    }
}

struct tvmr_script *tvmr_script_open(const char *path, penta_error *err)
{
    struct tvmr_script *script = calloc(1, sizeof *script);
    if (!script) {
        error_at(err, BASE_MEMORY, 0, "no memory for a script");
        return NULL;
    }
    script->doc = read_json(path, err);
    if (script->doc) check_answers(json_root(script->doc), path, err);
    if (!err->code) return script;
    tvmr_script_close(script);
    return NULL;
}

void tvmr_script_close(struct tvmr_script *script)
{
    if (!script) return;
    json_doc_free(script->doc);
    free(script);
}

bool tvmr_script_register(const char *name, uint8_t *reg)
{
    static const char banks[] = "HCPS";
    const char *bank = *name ? strchr(banks, toupper((unsigned char)*name)) : NULL;
    char *end;
    if (!bank || !isdigit((unsigned char)name[1])) return false;
    unsigned long index = strtoul(name + 1, &end, 10);
    if (*end || index > 63) return false;
    *reg = (uint8_t)((size_t)(bank - banks) << 6 | index);
    return true;
}

struct writing {
    struct tvmr_vm *vm;
    bool ok;
};

static void write_register(void *user, const char *name, const struct json_object *value)
{
    struct writing *w = user;
    struct tvmr_vm *vm = w->vm;
    uint8_t reg;
    size_t count = 0;
    int64_t scalar = 0;
    int32_t *data = tvmr_script_numbers(value, &count);
    bool ok = tvmr_script_register(name, &reg);
    if (ok && reg >> 6 == 2) {
        ok = data ? count == 1 : json_as_sint(value, &scalar);
        vm->param[reg & 63] = data && count ? data[0] : (int32_t)scalar;
    } else if (ok && data && reg >> 6 == 0) {
        uint32_t dim = (uint32_t)count;
        ok = tvmr_hot_set(vm, reg & 63, data, count, &dim, 1);
    } else if (ok && data && reg >> 6 == 1) {
        struct tvmr_cold *c = &vm->cold[reg & 63];
        uint32_t dim = (uint32_t)count;
        if (!c->present) ok = tvmr_cold_new(vm, reg & 63, count, &dim, 1);
        for (size_t i = 0; ok && i < count && i < c->count; i++)
            c->weights[i] = tvmr_signal_of(data[i]);
        tvmr_cold_changed(c);
    } else if (ok && data) {
        ok = tvmr_shape_set(vm, &vm->shape[reg & 63], (const uint32_t *)data, count);
    } else {
        ok = false;
    }
    free(data);
    w->ok &= ok;
}

bool tvmr_script_apply(struct tvmr_vm *vm, const struct json_object *answer)
{
    struct writing w = {vm, true};
    json_each(json_get(answer, "write"), write_register, &w);
    if (!w.ok) return false;
    const char *text = json_as_text(json_get(answer, "fail"));
    if (text)
        tvmr_vm_fail(vm, text);
    else if (json_as_bool(json_get(answer, "stop")))
        tvmr_vm_stop(vm);
    return true;
}

bool tvmr_script_answer(struct tvmr_script *script, struct tvmr_vm *vm)
{
    return tvmr_script_apply(vm, json_item(json_root(script->doc), script->next++));
}

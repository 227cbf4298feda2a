/* Sends any requests to the module of the explorer, in any order. Each must get an answer that is
 * JSON, and nothing may crash. A line of the input is a request, or says what bytes go with the
 * next one:
 *
 *     {"call": "open"}     a request
 *     @kblob               the bytes of a program of this format
 *     #00ff                bytes
 *     |HALT                a line of text
 *     ~12 00ff             other bytes at an offset of those before */
#include <ctype.h>
#include "fuzz.h"
#include "base/writer.h"
#include "web/web.h"

static const struct {
    const char *format, *text;
    penta_option option;
} programs[] = {
    {"coil",
     ".global main\n.func square\n    MUL v1, v1\n    RET\n.endfunc\n.func main\n"
     "    VAR %i, i32, 1\n    MOV v1, %i\n    CALL @square\n    ADD %i, 2\n    RET\n.endfunc\n",
     {"debug-lines", "1"}},
    {"kblob",
     "again:\nWRITE64 0x10000, 0x11223344\nREAD64 0x10000\nSLEEP 5\nMEMSET 0x10000, 4\nHALT\n",
     {NULL, NULL}},
    {"pvm",
     "%isa = latest64\n%stack_size = 4096\n%import \"report\"\n%export \"main\" = @main\n"
     "%export \"leaf\" = @leaf\n@main:\n"
     "sp = sp - 16\nu64 [sp + 8] = ra\na0 = 3\nra = @back, jump @leaf\n@back:\necalli 0\n"
     "ra = u64 [sp + 8]\nsp = sp + 16\nret\n@leaf:\na0 = a0 + a0\njump @leaf if a0 <u 100\nret\n",
     {NULL, NULL}},
    {"tvmr",
     ".registers\n    H0: i32[8]\n    H1: i32[8]\n.program\n    call double\n    halt\ndouble:\n"
     "    add H1, H0, H0\n    return\n",
     {"metadata", "1"}},
    {"cvbc", "PUSH 3\nSTORE_GLOBAL 0\nLOAD_GLOBAL 0\nMILLIS\nADD\nHALT\n", {NULL, NULL}},
};
enum { PROGRAMS = sizeof programs / sizeof *programs, LARGEST = 1 << 16 };

static void add_program(struct writer *out, penta_bytes name)
{
    static penta_module *modules[PROGRAMS];
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (strlen(programs[i].format) != name.size ||
            memcmp(programs[i].format, name.data, name.size))
            continue;
        const penta_option *option = &programs[i].option;
        if (!modules[i])
            modules[i] = penta_assemble(bytes_of(programs[i].text), programs[i].format, option,
                                        option->key != NULL, NULL, NULL);
        if (!modules[i]) check_failed(programs[i].format, i, 0);
        size_t size;
        const uint8_t *bytes = penta_module_bytes(modules[i], &size);
        writer_bytes(out, bytes, size);
    }
}

static int fuzz_web_digit(uint8_t c) { return isdigit(c) ? c - '0' : (tolower(c) - 'a' + 10) & 15; }

static void add_hex(struct writer *out, penta_bytes hex)
{
    for (size_t i = 0; i + 1 < hex.size; i += 2)
        writer_char(out,
                    (char)(fuzz_web_digit(hex.data[i]) << 4 | fuzz_web_digit(hex.data[i + 1])));
}

static void fuzz_web_change(struct writer *out, penta_bytes line)
{
    struct writer other = {0};
    size_t at = 0, offset = 0;
    for (; at < line.size && isdigit(line.data[at]); at++)
        offset = offset * 10 % LARGEST + (size_t)fuzz_web_digit(line.data[at]);
    if (at < line.size) add_hex(&other, (penta_bytes){line.data + at + 1, line.size - at - 1});
    for (size_t i = 0; i < other.out.size && offset + i < out->out.size; i++)
        out->out.data[offset + i] = other.out.data[i];
    writer_free(&other);
}

static bool harmful_key(const char *key)
{
    for (size_t f = 0; penta_format_name(f); f++) {
        const penta_option_info *o;
        for (size_t i = 0; (o = penta_option_at(penta_format_name(f), i)); i++) {
            unsigned files = PENTA_USE_WRITES | PENTA_USE_REWRITES | PENTA_USE_FOLDER;
            bool folder = o->argument && !strcmp(o->argument, "FOLDER");
            if (!strcmp(o->key, key) && (o->uses & files || folder)) return true;
        }
    }
    return false;
}

/* Names of files elsewhere, and numbers of more than seven digits, which may be sizes. */
static bool harmful_value(const char *value)
{
    size_t digits = 0;
    for (; *value; value++) {
        digits = isxdigit((unsigned char)*value) || *value == '_' ? digits + 1 : 0;
        if (*value == '/' || digits > 7 || (digits && strchr("kKmMgGtT", value[1]) && value[1]))
            return true;
    }
    return false;
}

static void look_at_value(bool *harmful, const struct json_object *v)
{
    char *text = json_scalar_text(v);
    if (text && harmful_value(text)) *harmful = true;
    free(text);
    for (size_t i = 0; i < json_length(v); i++) look_at_value(harmful, json_item(v, i));
}

static void look_at_option(void *user, const char *key, const struct json_object *v)
{
    if (harmful_key(key)) *(bool *)user = true;
    look_at_value(user, v);
}

static bool fuzz_web_harmful(penta_bytes request)
{
    penta_error err = {0};
    bool is = false;
    struct json_doc *doc = json_parse(request, &err);
    if (doc) json_each(json_get(json_root(doc), "options"), look_at_option, &is);
    json_doc_free(doc);
    return is;
}

static void fuzz_web_ask(struct web *web, penta_bytes request, penta_bytes data)
{
    penta_error err = {0};
    if (fuzz_web_harmful(request)) return;
    web_call(web, request, data);
    struct json_doc *doc = json_parse(web->result, &err);
    if (!doc) check_failed(err.message, err.offset, web->result.size);
    const struct json_object *answer = json_root(doc), *error = json_get(answer, "error");
    if (!json_is_object(answer)) check_failed("the answer is no object", 0, 0);
    if (error && (!json_as_text(json_get(error, "message")) || web->bytes.out.size))
        check_failed("an error without a message, or with bytes", 0, web->bytes.out.size);
    json_doc_free(doc);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    enum { REQUESTS = 60 };
    struct web web = {.steps_max = 2000};
    struct writer bytes = {0};
    size_t asked = 0;
    for (size_t at = 0; at < size && asked < REQUESTS;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        penta_bytes line = {data + at, end ? (size_t)(end - data) - at : size - at};
        penta_bytes rest = {line.data + 1, line.size ? line.size - 1 : 0};
        at += line.size + 1;
        if (!line.size || bytes.out.size > LARGEST) continue;
        switch (*line.data) {
        case '@': add_program(&bytes, rest); break;
        case '#': add_hex(&bytes, rest); break;
        case '~': fuzz_web_change(&bytes, rest); break;
        case '|':
            writer_bytes(&bytes, rest.data, rest.size);
            writer_char(&bytes, '\n');
            break;
        default:
            fuzz_web_ask(&web, line, writer_view(&bytes));
            bytes.out.size = 0;
            asked++;
        }
    }
    writer_free(&bytes);
    web_end(&web);
}

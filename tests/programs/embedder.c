/* Does what a program outside the tree does with the installed library, as C and as C++: opens,
 * validates, converts, links, compares, debugs backwards, seals and verifies.
 *
 *     embedder KEYS       the folder tests/keys */
#include <penta/coil.h>
#include <penta/cvbc.h>
#include <penta/penta.h>
#include <penta/session.h>
#include <penta/views.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if PENTA_VERSION_NUMBER < 100
#error "a header without a version"
#endif

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL line %d: %s: %s\n", __LINE__, #condition, err.message);                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static penta_error err;

static penta_bytes bytes_of(const char *text)
{
    penta_bytes bytes;
    bytes.data = (const uint8_t *)text;
    bytes.size = strlen(text);
    return bytes;
}

static penta_bytes buffer_view(const penta_buffer *buffer)
{
    penta_bytes bytes;
    bytes.data = buffer->data;
    bytes.size = buffer->size;
    return bytes;
}

static bool buffer_contains(const penta_buffer *buffer, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= buffer->size; i++)
        if (!memcmp(buffer->data + i, text, n)) return true;
    return false;
}

static void keep_first(void *user, const penta_error *finding)
{
    penta_error *first = (penta_error *)user;
    if (!first->code && finding->severity == PENTA_ERROR) *first = *finding;
}

static penta_module *assemble_text(const char *text, const char *format)
{
    err.code = 0;
    penta_module *module = penta_assemble(bytes_of(text), format, NULL, 0, keep_first, &err);
    CHECK(module);
    return module;
}

static const char program[] = "%isa = latest64\n%stack_size = 4096\n%import \"report\"\n"
                              "%export \"main\" = @main\n@main:\na0 = 1\na1 = 2\n"
                              "ecalli 0\na0 = a0 + a1\nret\n";

static void count_finding(void *user, const penta_error *finding)
{
    (void)finding;
    ++*(size_t *)user;
}

static void check_files(void)
{
    size_t findings = 0, differences = 0;
    penta_module *made = assemble_text(program, "pvm");
    penta_buffer blob = {NULL, 0, 0}, converted = {NULL, 0, 0}, text = {NULL, 0, 0};
    CHECK(penta_encode(made, &blob, &err));
    penta_module *opened = penta_open(buffer_view(&blob), NULL, NULL, 0, &err);
    CHECK(opened && !strcmp(penta_module_format(opened), "pvm"));
    CHECK(penta_validate(opened, count_finding, &findings) && !findings);
    CHECK(penta_roundtrip(opened, &err));
    CHECK(penta_tree(opened, NULL, 0, &text, &err) && buffer_contains(&text, "report"));

    penta_option to = {"to", "doc"};
    CHECK(penta_convert(opened, &to, 1, &converted, keep_first, &err));
    penta_module *other = penta_open(buffer_view(&converted), "pvm", NULL, 0, &err);
    CHECK(other && penta_validate(other, NULL, NULL));
    penta_option json = {"json", "1"};
    text.size = 0;
    CHECK(penta_diff(opened, other, &json, 1, &text, &differences, &err) && differences);
    CHECK(buffer_contains(&text, "\"path\":"));
    CHECK(penta_diff(opened, made, NULL, 0, &text, &differences, &err) && !differences);

    penta_close(other);
    penta_close(opened);
    penta_close(made);
    penta_buffer_free(&text);
    penta_buffer_free(&converted);
    penta_buffer_free(&blob);
}

static void check_debugging(void)
{
    penta_option call = {"call", "main"};
    penta_module *module = assemble_text(program, "pvm");
    penta_session *session = penta_session_new(module, "interp", &call, 1, NULL, &err);
    CHECK(session);
    penta_session_stop_at_calls(session, true);
    penta_debugger *debugger = penta_debugger_new(session, &err);
    CHECK(debugger);
    penta_stop stop;
    penta_vm *vm = penta_session_vm(session);
    CHECK(penta_debugger_forward(debugger, UINT64_MAX, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_HOST && stop.args[0] == 1);
    uint64_t result = 40;
    CHECK(penta_session_answer(session, &result, 1, &err));
    CHECK(penta_debugger_forward(debugger, UINT64_MAX, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 42);
    uint64_t end = penta_session_steps(session);
    penta_buffer first = {NULL, 0, 0}, again = {NULL, 0, 0};
    CHECK(penta_vm_save(vm, &first, &err));
    CHECK(penta_debugger_back(debugger, 3, &stop, &err) && penta_session_steps(session) == end - 3);
    CHECK(penta_debugger_goto(debugger, 0, &stop, &err) && stop.pc == 0);
    CHECK(penta_debugger_forward(debugger, UINT64_MAX, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_HALT && penta_session_steps(session) == end);
    CHECK(penta_vm_save(vm, &again, &err));
    CHECK(first.size == again.size && !memcmp(first.data, again.data, first.size));
    penta_buffer_free(&first);
    penta_buffer_free(&again);
    penta_debugger_free(debugger);
    penta_session_free(session);
    penta_close(module);
}

static void check_linking(void)
{
    penta_module *a = assemble_text(".extern twice\n.global main\n.func main\n    MOV v0, i64 21\n"
                                    "    CALL @twice\n    RET\n.endfunc\n",
                                    "coil");
    penta_module *b =
        assemble_text(".global twice\n.func twice\n    ADD v0, v0\n    RET\n.endfunc\n", "coil");
    penta_object objects[2];
    memset(objects, 0, sizeof objects);
    objects[0].name = "main.coil";
    objects[0].bytes.data = penta_module_bytes(a, &objects[0].bytes.size);
    objects[1].name = "twice.coil";
    objects[1].bytes.data = penta_module_bytes(b, &objects[1].bytes.size);
    penta_buffer linked = {NULL, 0, 0}, output = {NULL, 0, 0};
    CHECK(penta_coil_link(objects, 2, NULL, 0, &linked, NULL, NULL, NULL));
    penta_module *whole = penta_open(buffer_view(&linked), NULL, NULL, 0, &err);
    CHECK(whole && penta_validate(whole, NULL, NULL));
    penta_session *session = penta_session_new(whole, NULL, NULL, 0, NULL, &err);
    CHECK(session);
    penta_stop stop;
    penta_option options[2] = {{"json", "1"}, {"last", "1"}};
    CHECK(penta_trace(session, 1000, options, 2, &output, &stop, &err));
    CHECK(stop.kind == PENTA_STOP_HALT && stop.args[0] == 42 &&
          buffer_contains(&output, "\"stop\":\"halt\""));
    penta_session_free(session);
    penta_close(whole);
    penta_close(b);
    penta_close(a);
    penta_buffer_free(&linked);
    penta_buffer_free(&output);
}

static char paths[3][512];

static const char *key_path(const char *folder, int i, const char *name)
{
    snprintf(paths[i], sizeof paths[i], "%s/%s", folder, name);
    return paths[i];
}

static void check_sealing(const char *keys)
{
    const char *key = key_path(keys, 0, "symmetric.hex"), *signer = key_path(keys, 1, "signer.pem");
    const char *trusted = key_path(keys, 2, "signer.pub");
    penta_module *plain = assemble_text(".string \"hello\"\nPUSH 0\nPRINTF 0\nHALT\n", "cvbc");
    penta_buffer sealed = {NULL, 0, 0}, opened = {NULL, 0, 0};
    penta_option how[2] = {{"key-file", key}, {"sign-key", signer}};
    err.code = 0;
    CHECK(penta_seal(plain, how, 2, &sealed, keep_first, &err));

    penta_option policy[3] = {
        {"key-file", key}, {"trusted-key", trusted}, {"require-signature", "1"}};
    penta_module *module = penta_open(buffer_view(&sealed), NULL, policy, 3, &err);
    CHECK(module);
    penta_cvbc_verdict verdict;
    penta_cvbc_verify(module, false, false, &verdict);
    err = verdict.failure;
    CHECK(!verdict.failure.code && verdict.trust == PENTA_CVBC_TRUST_KEY);
    penta_option back[2] = {{"key-file", key}, {"sign-key", signer}};
    CHECK(penta_unseal(module, back, 2, &opened, keep_first, &err) &&
          buffer_contains(&opened, "hello"));
    CHECK(!buffer_contains(&sealed, "hello"));

    sealed.data[sealed.size / 2] ^= 1; /* One changed bit makes every check of the file fail. */
    penta_module *changed = penta_open(buffer_view(&sealed), "cvbc", policy, 3, &err);
    if (changed) penta_cvbc_verify(changed, false, false, &verdict);
    CHECK(!changed || verdict.failure.code);
    penta_close(changed);
    penta_close(module);
    penta_close(plain);
    penta_buffer_free(&sealed);
    penta_buffer_free(&opened);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    check_files();
    check_debugging();
    check_linking();
    check_sealing(argv[1]);
    printf("%s as %s: opened, validated, converted, linked, compared, debugged, sealed, verified\n",
           penta_version(),
#ifdef __cplusplus
           "C++"
#else
           "C"
#endif
    );
    return 0;
}

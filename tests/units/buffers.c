/* Checks calls of the formats' headers that fill buffers: they must append, and a failed call
 * must leave the buffer as it was and say why. */
#include "support.h"
#include "penta/coil.h"
#include "penta/cvbc.h"
#include "penta/jam.h"
#include "penta/pvm.h"
#include <stdlib.h>
#include <string.h>

/* Returns a buffer that already has something, which no call may change. */
static penta_buffer buffers_test_before(void)
{
    penta_buffer out = {.data = malloc(4), .size = 3, .capacity = 4};
    memcpy(out.data, "abc", 3);
    return out;
}

static bool buffers_test_kept(const penta_buffer *out) { return !memcmp(out->data, "abc", 3); }

/* Returns what came after the first contents of the buffer. The caller frees the buffer. */
static penta_bytes buffers_test_after(const penta_buffer *out)
{
    return (penta_bytes){out->data + 3, out->size - 3};
}

static void buffers_test_appended(bool ok, penta_buffer *out, const char *what)
{
    CHECK(ok && buffers_test_kept(out) && out->size > 3, "%s", what);
    penta_buffer_free(out);
}

static void buffers_test_unchanged(bool ok, penta_buffer *out, const penta_error *err,
                                   const char *what)
{
    CHECK(!ok && buffers_test_kept(out) && out->size == 3 && err->code && err->message[0], "%s",
          what);
    penta_buffer_free(out);
}

static void keys_and_signatures(void)
{
    penta_module *plain = assembled("cvbc", "HALT\n");
    penta_error err;
    penta_buffer pem = buffers_test_before(), out = buffers_test_before();
    CHECK(penta_cvbc_key_generate(PENTA_CVBC_ED25519, &pem, &err) && buffers_test_kept(&pem),
          "a key");
    penta_bytes key = buffers_test_after(&pem);
    buffers_test_unchanged(penta_cvbc_key_generate(9, &out, &err), &out, &err, "no such key");
    out = buffers_test_before();
    buffers_test_appended(penta_cvbc_key_public(key, &out, &err), &out, "its public half");
    out = buffers_test_before();
    buffers_test_unchanged(penta_cvbc_key_public(bytes_of("noise"), &out, &err), &out, &err,
                           "no key");
    out = buffers_test_before();
    buffers_test_unchanged(
        penta_cvbc_sign(plain, &(penta_cvbc_signing){.key = bytes_of("noise")}, &out, &err), &out,
        &err, "a bad key signs");
    out = buffers_test_before();
    buffers_test_unchanged(penta_cvbc_attach(plain, bytes_of("noise"), &out, &err), &out, &err,
                           "no space");
    penta_option option = {"sign-key", "/nonexistent/key.pem"};
    out = buffers_test_before();
    buffers_test_unchanged(penta_cvbc_sign_options(plain, &option, 1, &out, NULL, NULL, &err), &out,
                           &err, "a key file that is not there");
    out = buffers_test_before();
    CHECK(penta_cvbc_sign(plain, &(penta_cvbc_signing){.key = key}, &out, &err) &&
              buffers_test_kept(&out),
          "signing");
    penta_cvbc_verdict verdict;
    penta_module *again = penta_cvbc_open(buffers_test_after(&out), NULL, &err);
    penta_cvbc_verify(again, false, false, &verdict);
    CHECK(!verdict.failure.code && verdict.trust == PENTA_CVBC_TRUST_EMBEDDED &&
              verdict.algorithm == PENTA_CVBC_ED25519,
          "a signed file after other bytes");
    penta_cvbc_verify(again, true, false, &verdict);
    CHECK(verdict.failure.code && !strcmp(verdict.summary, "untrusted"), "nobody is trusted");
    penta_close(again);
    penta_buffer_free(&out);
    penta_cvbc_wipe(&pem);
    penta_close(plain);
}

/* Checks that a signature over the message of a file fits the space for a signature in the file. */
static void signatures_made_elsewhere(void)
{
    penta_module *plain = assembled("cvbc", "HALT\n");
    penta_error err;
    penta_buffer pem = {0}, public = {0}, out = {0}, signed_file = buffers_test_before();
    uint8_t message[40], other[40];
    CHECK(penta_cvbc_key_generate(PENTA_CVBC_P256, &pem, &err) &&
              penta_cvbc_key_public(view_of(&pem), &public, &err),
          "a pair of keys");
    penta_cvbc_signing reserve = {.reserve = {public.data, public.size}};
    CHECK(penta_cvbc_sign(plain, &reserve, &out, &err), "space for a signature");
    penta_module *prepared = penta_cvbc_open(view_of(&out), NULL, &err);
    CHECK(penta_cvbc_tbs(prepared, message, &err), "what is to be signed");
    uint8_t wrong[64] = {1};
    buffers_test_unchanged(
        penta_cvbc_attach(prepared, (penta_bytes){wrong, sizeof wrong}, &signed_file, &err),
        &signed_file, &err, "a wrong signature");
    penta_buffer full = {0};
    penta_cvbc_signing how = {.key = {pem.data, pem.size}};
    penta_bytes signature = {0};
    CHECK(penta_cvbc_sign(plain, &how, &full, &err), "signing at once");
    penta_module *whole = penta_cvbc_open(view_of(&full), NULL, &err);
    CHECK(penta_cvbc_tbs(whole, other, &err) && !memcmp(message, other, sizeof message) &&
              penta_cvbc_part(whole, "signature", &signature, &err),
          "both ways sign the same message");
    signed_file = buffers_test_before();
    buffers_test_appended(penta_cvbc_attach(prepared, signature, &signed_file, &err), &signed_file,
                          "attaching");
    penta_close(whole);
    penta_close(prepared);
    penta_close(plain);
    penta_buffer *all[] = {&pem, &public, &out, &full};
    for (size_t i = 0; i < 4; i++) penta_buffer_free(all[i]);
}

static void buffers_test_containers(void)
{
    penta_module *plain = assembled("cvbc", "HALT\n");
    penta_error err;
    penta_buffer out = buffers_test_before();
    penta_option target = {"target", "stm32g431"}, nowhere = {"target", "nowhere"};
    const penta_cvbc_named one = {.module = plain}, alone = {"alone", plain};
    buffers_test_unchanged(penta_cvbc_create(&alone, 1, NULL, 0, &out, &err), &out, &err,
                           "one with a name");
    out = buffers_test_before();
    buffers_test_appended(penta_cvbc_create(&one, 1, &target, 1, &out, &err), &out,
                          "a container of another");
    out = buffers_test_before();
    buffers_test_unchanged(penta_cvbc_create(&one, 1, &nowhere, 1, &out, &err), &out, &err,
                           "no such board");
    out = buffers_test_before();
    buffers_test_appended(penta_cvbc_compile(bytes_of("void main() {}"), "a.ino", NULL, 0, NULL,
                                             &out, NULL, NULL, &err),
                          &out, "a container of a source");
    out = buffers_test_before();
    CHECK(!penta_cvbc_compile(bytes_of("main"), "a.ino", NULL, 0, NULL, &out, NULL, NULL, &err) &&
              out.size == 3 && !err.code,
          "findings are not the error");
    penta_buffer_free(&out);
    penta_cvbc_builder *b = penta_cvbc_builder_new(&err);
    out = buffers_test_before();
    buffers_test_unchanged(penta_cvbc_builder_finish(b, &out, &err), &out, &err, "no instructions");
    CHECK(penta_cvbc_builder_code(b, (penta_bytes){(const uint8_t[4]){0}, 4}, &err), "code");
    out = buffers_test_before();
    buffers_test_appended(penta_cvbc_builder_finish(b, &out, &err), &out, "a builder");
    penta_cvbc_builder_free(b);
    penta_close(plain);
}

static void buffers_test_count(void *user, const char *object, const penta_error *finding)
{
    (void)object;
    *(size_t *)user += finding->severity == PENTA_ERROR;
}

static void buffers_test_linkers(void)
{
    penta_module *module =
                     assembled("coil", ".global main\n.func main\n CALL @f\n RET\n.endfunc\n"),
                 *other = assembled("coil", ".global f\n.func f\n RET\n.endfunc\n");
    penta_object objects[2] = {{.name = "main"}, {.name = "f", .member = true}};
    objects[0].bytes.data = penta_module_bytes(module, &objects[0].bytes.size);
    objects[1].bytes.data = penta_module_bytes(other, &objects[1].bytes.size);
    penta_buffer out = buffers_test_before(), map = buffers_test_before();
    size_t errors = 0;
    CHECK(penta_coil_link(objects, 2, NULL, 0, &out, &map, buffers_test_count, &errors) && !errors,
          "linking");
    CHECK(buffers_test_kept(&map) && map.size > 3, "a map");
    penta_buffer_free(&map);
    buffers_test_appended(true, &out, "a linked file");
    penta_option wrong = {"optimize", "2"};
    out = buffers_test_before(), map = buffers_test_before();
    CHECK(!penta_coil_link(objects, 1, NULL, 0, &out, &map, buffers_test_count, &errors) &&
              errors == 1 &&
              !penta_coil_link(objects, 2, &wrong, 1, &out, &map, buffers_test_count, &errors) &&
              errors == 2 && !penta_coil_link(NULL, 0, NULL, 0, &out, NULL, NULL, NULL) &&
              !penta_pvm_link(objects, 1, NULL, 0, &out, &map, buffers_test_count, &errors) &&
              errors > 2 && buffers_test_kept(&out) && out.size == 3 && buffers_test_kept(&map) &&
              map.size == 3,
          "links that fail");
    CHECK(penta_coil_links(objects[0].bytes) && !penta_pvm_links(objects[0].bytes) &&
              !penta_coil_links(bytes_of("!<thin>\n")) && penta_pvm_links(bytes_of("!<thin>\n")) &&
              !penta_pvm_links(bytes_of("")) && !penta_coil_links(bytes_of("")),
          "whose files they are");
    penta_buffer_free(&out);
    penta_buffer_free(&map);
    penta_close(module);
    penta_close(other);
}

static void buffers_test_states(void)
{
    penta_error err;
    penta_jam_host *host = penta_jam_host_new((penta_bytes){0}, NULL, 0, &err);
    penta_jam_state *state = penta_jam_state_new(host, NULL, &err);
    penta_buffer out = buffers_test_before();
    buffers_test_appended(penta_jam_state_write(state, &out, &err), &out, "a JAM state");
    out = buffers_test_before();
    CHECK(penta_jam_state_diff(state, false, &out, &err) && buffers_test_kept(&out) &&
              out.size == 3,
          "no change");
    penta_buffer_free(&out);
    penta_jam_state_free(state);
    penta_jam_host_free(host);
}

static bool is_code(const penta_error *err, const char *name)
{
    const char *code = penta_code_name(err->code);
    return code && !strcmp(code, name);
}

/* Checks compilers that end when a flag is set. They must make nothing, and the error must not
 * be about the text. */
static void buffers_test_interrupted(void)
{
    static const char casm[] = ".global main\n.func main\n RET\n.endfunc\n";
    const volatile int set = 1, clear = 0; /* These stand for flags that a signal handler sets. */
    penta_error err;
    penta_module *object = assembled("coil", casm);
    penta_buffer out = buffers_test_before();
    buffers_test_unchanged(penta_coil_compile(object, NULL, 0, &set, &out, &err), &out, &err,
                           "native code, interrupted");
    CHECK(is_code(&err, "STATE") || is_code(&err, "UNSUPPORTED"), "native code: why");
    out = buffers_test_before();
    buffers_test_unchanged(penta_cvbc_compile(bytes_of("void main() {}"), "a.ino", NULL, 0, &set,
                                              &out, NULL, NULL, &err),
                           &out, &err, "a sketch, interrupted");
    CHECK(is_code(&err, "STATE"), "a sketch: why");
    out = buffers_test_before();
    buffers_test_appended(penta_cvbc_compile(bytes_of("void main() {}"), "a.ino", NULL, 0, &clear,
                                             &out, NULL, NULL, &err),
                          &out, "a sketch, with a flag that is not set");
    CHECK(!penta_vm_new(object, NULL, NULL, 0, &set, &err) && is_code(&err, "STATE"),
          "a machine, interrupted");
    penta_close(object);
}

int main(void)
{
    buffers_test_interrupted();
    keys_and_signatures();
    signatures_made_elsewhere();
    buffers_test_containers();
    buffers_test_linkers();
    buffers_test_states();
    return checks_end();
}

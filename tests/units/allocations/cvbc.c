/* Tries penta/cvbc.h: keys, verification, writing, sealing, compiling, old programs, boards. */
#include "penta/cvbc.h"
#include "allocations.h"
#include "base/bytes.h"

struct given {
    const penta_module *module, *signed_module, *sealed;
    penta_bytes private_key, public_key, source, legacy, file;
};

static const uint8_t secret[32] = {1, 2, 3};

static void try_keys(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_buffer pem = {0};
    penta_cvbc_key key = {0};
    outcome_ok(o, penta_cvbc_key_generate(PENTA_CVBC_ED25519, &pem, &err), &err);
    penta_cvbc_wipe(&pem);
    if (outcome_ok(o, penta_cvbc_key_public(g->private_key, &pem, &err), &err))
        outcome_bytes(o, pem.data, pem.size);
    penta_cvbc_wipe(&pem);
    if (outcome_ok(o, penta_cvbc_key_read(g->public_key, &key, &err), &err))
        outcome_bytes(o, key.fingerprint, sizeof key.fingerprint);
}

static void try_policy(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_cvbc_verdict verdict;
    penta_cvbc_policy policy = {.trusted = &g->public_key,
                                .trusted_count = 1,
                                .secret = {secret, sizeof secret},
                                .require_signature = true};
    penta_module *m = penta_cvbc_open(g->file, &policy, &err);
    if (!outcome_ok(o, m, &err)) return;
    penta_cvbc_verify(m, false, false, &verdict);
    if (outcome_ok(o, !verdict.failure.code, &verdict.failure))
        outcome_bytes(o, &verdict.trust, sizeof verdict.trust);
    if (!penta_cvbc_check(m, false, outcome_finding, o)) o->ok = false;
    penta_close(m);
}

static void try_parts(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_cvbc_policy policy = {.trusted = &g->public_key, .trusted_count = 1};
    penta_module *m = penta_cvbc_open(g->file, &policy, &err);
    penta_bytes part;
    uint8_t tbs[40];
    penta_cvbc_program program;
    if (!outcome_ok(o, m, &err)) return;
    if (outcome_ok(o, penta_cvbc_part(m, "bytecode", &part, &err), &err))
        outcome_bytes(o, part.data, part.size);
    if (outcome_ok(o, penta_cvbc_tbs(m, tbs, &err), &err)) outcome_bytes(o, tbs, sizeof tbs);
    if (outcome_ok(o, penta_cvbc_program_get(m, &program, &err), &err))
        outcome_bytes(o, program.code.data, program.code.size);
    penta_close(m);
}

static void try_sign(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_cvbc_signing signing = {.key = g->private_key};
    if (outcome_ok(o, penta_cvbc_sign(g->module, &signing, &out, &err), &err))
        outcome_buffer(o, &out);
    penta_bytes signature;
    if (outcome_ok(o, penta_cvbc_part(g->signed_module, "signature", &signature, &err), &err) &&
        outcome_ok(o, penta_cvbc_attach(g->signed_module, signature, &out, &err), &err))
        outcome_buffer(o, &out);
}

/* Seals a program. Sealing takes random numbers, so only the size is compared. */
static void cvbc_test_seal(const struct given *g, uint32_t cipher, uint32_t derivation,
                           struct outcome *o)
{
    penta_error err = {0};
    penta_buffer out = {0};
    penta_cvbc_signing signing = {.key = g->private_key};
    penta_cvbc_sealing sealing = {.secret = {secret, sizeof secret},
                                  .cipher = cipher,
                                  .derivation = derivation,
                                  .iterations = 100,
                                  .keep_debug = true};
    if (outcome_ok(o, penta_cvbc_seal(g->module, &sealing, &signing, &out, &err), &err))
        outcome_bytes(o, &out.size, sizeof out.size);
    penta_buffer_free(&out);
}

static void try_seal(const void *user, struct outcome *o)
{
    cvbc_test_seal(user, PENTA_CVBC_AES256_GCM, PENTA_CVBC_KEY_RAW, o);
    cvbc_test_seal(user, PENTA_CVBC_CHACHA20_POLY1305, PENTA_CVBC_KEY_HKDF, o);
}

static void try_unseal(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_cvbc_signing signing = {.key = g->private_key};
    if (outcome_ok(o, penta_cvbc_unseal(g->sealed, &signing, &out, &err), &err))
        outcome_buffer(o, &out);
}

static void try_build(const void *user, struct outcome *o)
{
    const struct given *g = user;
    static const uint8_t halt[] = {0xff, 0, 0, 0};
    penta_error err = {0};
    penta_buffer out = {0};
    penta_cvbc_signing signing = {.key = g->private_key};
    penta_cvbc_builder *b = penta_cvbc_builder_new(&err);
    penta_cvbc_program program;
    if (!outcome_ok(o, b, &err)) return;
    bool ok = penta_cvbc_program_get(g->module, &program, &err) &&
              penta_cvbc_builder_code(b, program.code, &err);
    penta_bytes text;
    for (size_t i = 0; ok && penta_cvbc_string(g->module, i, &text); i++)
        ok = penta_cvbc_builder_string(b, text, &err);
    ok = ok && penta_cvbc_builder_hint(b, 1, 1, (penta_bytes){halt, 4}, &err) &&
         penta_cvbc_builder_custom(b, (penta_bytes){halt, 4}, &err) &&
         penta_cvbc_builder_symbol(b, 4, 0, bytes_of("start"), &err) &&
         penta_cvbc_builder_sign(b, &signing, &err);
    penta_cvbc_builder_compress(b, true, true);
    ok = ok && penta_cvbc_builder_finish(b, &out, &err);
    if (outcome_ok(o, ok, &err)) outcome_buffer(o, &out);
    penta_cvbc_builder_free(b);
}

/* Tries everything that the other scenario leaves out. Sealing takes random numbers, so only the
 * size is compared. */
static void try_build_source(const void *user, struct outcome *o)
{
    const struct given *g = user;
    static const penta_cvbc_variable variable = {1, 1, 0, 0, UINT16_MAX, 1};
    penta_error err = {0};
    penta_buffer out = {0};
    penta_cvbc_signing signing = {.key = g->private_key};
    penta_cvbc_sealing sealing = {.secret = {secret, sizeof secret}, .keep_debug = true};
    penta_cvbc_builder *b = penta_cvbc_builder_new(&err);
    if (!outcome_ok(o, b, &err)) return;
    if (penta_cvbc_builder_compile(b, g->source, "blink.ino", false, false, outcome_finding, o)) {
        penta_cvbc_builder_stamp(b, 1, 2, 3, true);
        penta_cvbc_builder_source(b, secret);
        bool ok =
            penta_cvbc_builder_entry(b, 0, &err) && penta_cvbc_builder_needs(b, -1, -1, &err) &&
            penta_cvbc_builder_line(b, 0, 0, 1, &err) &&
            penta_cvbc_builder_variable(b, &variable, bytes_of("twice"), &err) &&
            penta_cvbc_builder_sign(b, &signing, &err) &&
            penta_cvbc_builder_seal(b, &sealing, &err) && penta_cvbc_builder_finish(b, &out, &err);
        if (outcome_ok(o, ok, &err)) outcome_bytes(o, &out.size, sizeof out.size);
    } else {
        o->ok = false;
    }
    penta_buffer_free(&out);
    penta_cvbc_builder_free(b);
}

static void try_programs(const void *user, struct outcome *o)
{
    const struct given *g = user;
    const penta_cvbc_named programs[] = {{"one", g->module}, {"two", g->module}};
    static const penta_option options[] = {{"source", "examples/cvbc/hello.cvasm"}};
    penta_error err = {0};
    penta_buffer out = {0};
    bool ok = penta_cvbc_create(programs, 2, options, 1, &out, &err);
    penta_module *m = ok ? penta_cvbc_open(view_of(&out), NULL, &err) : NULL;
    ok = m && penta_cvbc_check_source(m, options, 1, &err);
    if (outcome_ok(o, ok, &err)) outcome_bytes(o, out.data, out.size);
    penta_close(m);
    penta_buffer_free(&out);
}

static void try_compile(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_buffer out = {0};
    penta_error err = {0};
    o->ok =
        penta_cvbc_compile(g->source, "blink.ino", NULL, 0, NULL, &out, outcome_finding, o, &err);
    if (err.code) outcome_ok(o, false, &err);
    if (o->ok) outcome_bytes(o, &out.size, sizeof out.size);
    penta_buffer_free(&out);
}

static void try_create(const void *user, struct outcome *o)
{
    const struct given *g = user;
    static const penta_option options[] = {{"target", "stm32f103-bluepill"},
                                           {"pin", "C13:gpio:output"},
                                           {"dependency", "uart:2.1:abi:required"},
                                           {"sign-key", "tests/keys/signer.pem"},
                                           {"compress", "1"}};
    penta_error err = {0};
    penta_buffer out = {0};
    const penta_cvbc_named one = {.module = g->module};
    if (outcome_ok(o, penta_cvbc_create(&one, 1, options, 5, &out, &err), &err))
        outcome_bytes(o, &out.size, sizeof out.size);
    penta_buffer_free(&out);
}

static void try_legacy(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_buffer out = {0};
    o->ok = penta_cvbc_legacy_convert(g->legacy, NULL, false, &out, outcome_finding, o);
    outcome_bytes(o, &out.size, sizeof out.size);
    penta_buffer_free(&out);
}

static void try_simulator(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_buffer out = {0};
    penta_stop stop;
    hook_pause();
    penta_vm *vm = penta_vm_new(g->module, NULL, NULL, 0, NULL, &err);
    hook_resume();
    penta_cvbc_simulator *s = penta_cvbc_simulator_new(true, NULL, &err);
    bool ok = outcome_ok(o, s, &err);
    for (int i = 0; ok && i < 100; i++) {
        penta_vm_run(vm, 100, &stop);
        if (stop.kind != PENTA_STOP_HOST) break;
        ok = outcome_ok(o, penta_cvbc_simulator_answer(s, vm, &out, &err), &err);
    }
    outcome_buffer(o, &out);
    penta_cvbc_simulator_free(s);
    penta_vm_free(vm);
}

static void try_boards(const void *user, struct outcome *o)
{
    const struct given *g = user;
    penta_error err = {0};
    penta_cvbc_board board;
    penta_buffer files[PENTA_CVBC_TRINITY_FILES] = {{0}};
    const char *name = penta_cvbc_board_name(1);
    outcome_ok(o, penta_cvbc_board_find(name, &board, &err), &err);
    if (!penta_cvbc_board_check(g->module, name, outcome_finding, o)) o->ok = false;
    bool ok = outcome_ok(o, penta_cvbc_trinity(&g->module, 1, name, files, &err), &err);
    for (size_t i = 0; i < PENTA_CVBC_TRINITY_FILES; i++) {
        if (ok) outcome_bytes(o, files[i].data, files[i].size);
        penta_buffer_free(&files[i]);
    }
}

/* Makes the programs from which the scenarios start: the same program plain, signed, and sealed. */
static penta_module *cvbc_test_changed(struct given *g, bool sealed, penta_buffer *out)
{
    penta_error err = {0};
    penta_cvbc_signing signing = {.key = g->private_key};
    penta_cvbc_sealing sealing = {.secret = {secret, sizeof secret}, .keep_debug = true};
    penta_cvbc_policy policy = {.secret = {secret, sizeof secret}};
    bool ok = sealed ? penta_cvbc_seal(g->module, &sealing, &signing, out, &err)
                     : penta_cvbc_sign(g->module, &signing, out, &err);
    return ok ? penta_cvbc_open((penta_bytes){out->data, out->size}, &policy, &err) : NULL;
}

void cvbc_scenarios(void)
{
    static const struct {
        const char *name;
        scenario_fn *fn;
    } all[] = {
        {"keys", try_keys},
        {"verify under a policy", try_policy},
        {"parts", try_parts},
        {"sign and attach", try_sign},
        {"seal", try_seal},
        {"open", try_unseal},
        {"builder", try_build},
        {"compile", try_compile},
        {"create", try_create},
        {"convert a legacy program", try_legacy},
        {"boards", try_boards},
        {"simulator", try_simulator},
        {"builder, from source", try_build_source},
        {"several programs", try_programs},
    };
    struct given g = {.private_key = file_of("tests/keys/signer.pem"),
                      .public_key = file_of("tests/keys/signer.pub"),
                      .source = file_of("examples/cvbc/blink.ino"),
                      .legacy = file_of("tests/fuzz/seeds/cvbc_legacy/counted")};
    penta_module *module = tree_assembled("examples/cvbc/hello.cvasm", "cvbc");
    penta_buffer one = {0}, two = {0};
    g.module = module;
    penta_module *with_signature = cvbc_test_changed(&g, false, &one),
                 *sealed = cvbc_test_changed(&g, true, &two);
    g.signed_module = with_signature;
    g.sealed = sealed;
    g.file = view_of(&two);
    struct given plain = g;
    plain.file = view_of(&one);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        scenario(all[i].name, all[i].fn, all[i].fn == try_parts ? &plain : &g);
    penta_close(with_signature);
    penta_close(sealed);
    penta_close(module);
    penta_buffer_free(&one);
    penta_buffer_free(&two);
    const penta_bytes files[] = {g.private_key, g.public_key, g.source, g.legacy};
    for (size_t i = 0; i < 4; i++) file_free(files[i]);
}

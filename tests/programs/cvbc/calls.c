/* Makes every call of cvbc_format.h, against the library however it was linked. */
#include "check.h"
#include <cvbc_format.h>
#include <penta/cvbc.h>
#include <pthread.h>
#include <string.h>

static void check_field(const char *record, size_t i, const char *name, size_t offset, size_t size)
{
    penta_cvbc_field f;
    bool ok = penta_cvbc_record(record, i, &f) && !strcmp(f.name, name) && f.offset == offset &&
              f.size == size;
    CHECK(ok, "%s.%s is not field %zu at %zu", record, name, i, offset);
}
#define FIELD(record, type, i, name)                                                               \
    check_field(record, i, #name, offsetof(type, name), sizeof(((type *)0)->name))

static void check_structs(void)
{
#define H(i, name) FIELD("header", cvbc_header_t, i, name)
    H(0, magic);
    H(3, total_file_size);
    H(4, header_crc32);
    H(5, metadata_offset);
    H(9, bytecode_offset);
    H(11, payload_crc32);
    H(12, compilation_timestamp);
    H(14, flags);
    H(15, reserved);
#define C(i, name) FIELD("core", cvbc_core_metadata_t, i, name)
    C(0, target_architecture);
    C(3, target_features);
    C(6, gpio_pin_count);
    C(13, interrupt_priority_mask);
    C(16, feature_requirements);
    C(17, compiler_version);
    C(22, build_fingerprint);
    C(23, source_tree_hash);
    C(24, max_stack_depth_words);
    C(29, pin_config_count);
    C(32, custom_metadata_size);
    FIELD("pin", cvbc_pin_config_t, 7, pin_alternate_function);
    FIELD("pin", cvbc_pin_config_t, 10, reserved);
    FIELD("dependency", cvbc_dependency_t, 5, criticality);
    FIELD("hint", cvbc_performance_hint_t, 2, hint_data_size);
    FIELD("security", cvbc_security_header_t, 7, key_derivation_params);
    FIELD("integrity", cvbc_integrity_data_t, 4, secure_timestamp);
    FIELD("bytecode", cvbc_bytecode_header_t, 5, local_variable_count);
    FIELD("inst", vm_instruction_t, 2, immediate);
    FIELD("debug", cvbc_debug_header_t, 5, variable_info_size);
    CHECK(cvbc_calculate_crc32((const uint8_t *)"123456789", 9) == 0xCBF43926);
    for (int i = 0; i <= CVBC_ERR_NOMEM; i++)
        CHECK(!strncmp(cvbc_status_name((cvbc_status)i), i ? "CVBC_ERR_" : "CVBC_OK", i ? 9 : 8));
    CHECK(!strcmp(cvbc_status_name(CVBC_ERR_HEADER_CRC), "CVBC_ERR_HEADER_CRC"));
    CHECK(cvbc_status_name((cvbc_status)99) != NULL);
}

static const vm_instruction_t blink[] = {
    {0x01, 0, 13}, {0x01, 0, 1}, {0x17, 0, 0}, /* makes pin 13 an output */
    {0x01, 0, 13}, {0x01, 0, 1}, {0x10, 0, 0}, /* sets pin 13 high */
    {0x01, 0, 7},  {0x14, 0, 0},               /* waits for 7 ms */
    {0x01, 0, 42}, {0x01, 0, 1}, {0x18, 0, 0}, /* calls printf("n=%d\n", 42) */
    {0x01, 0, 5},  {0x51, 0, 0}, {0x50, 0, 0}, /* leaves a variable, and a word on the stack */
    {0x00, 0, 0},
};
enum { BLINK = sizeof blink / sizeof *blink };

static cvbc_builder *builder_new(void)
{
    cvbc_builder *b = cvbc_builder_new();
    cvbc_pin_config_t pin = {.pin_number = 13,
                             .port_identifier = 2,
                             .pin_function = CVBC_PIN_FUNC_GPIO,
                             .pin_mode = CVBC_PIN_MODE_OUTPUT};
    cvbc_dependency_t library = {
        .lib_name = "hal", .min_version_major = 1, .compatibility_level = 1, .criticality = 1};
    CHECK(!cvbc_builder_set_target(b, CVBC_ARCH_ARM, CVBC_FAMILY_STM32, 0x0431, 0, 64, 8));
    CHECK(!cvbc_builder_add_pin(b, &pin));
    CHECK(!cvbc_builder_add_dependency(b, &library));
    CHECK(!cvbc_builder_add_hint(b, CVBC_PERF_HINT_HOT_PATH, 9, "\0\0\1\0", 4));
    CHECK(!cvbc_builder_set_custom(b, "\1\0\2\0\15\0", 6));
    CHECK(!cvbc_builder_set_bytecode(b, blink, BLINK, 0));
    CHECK(!cvbc_builder_add_string(b, "n=%d\n"));
    CHECK(!cvbc_builder_set_build(b, 1700000000, 3, true));
    return b;
}

static void check_contents(const cvbc_file *file)
{
    cvbc_header_t header;
    cvbc_core_metadata_t core;
    cvbc_pin_config_t pin;
    cvbc_dependency_t library;
    cvbc_performance_hint_t hint;
    const uint8_t *data;
    const vm_instruction_t *code;
    size_t size, count, entry;
    cvbc_get_header(file, &header);
    CHECK(header.magic == CVBC_MAGIC && header.build_number == 3);
    CHECK(header.compilation_timestamp == 1700000000);
    cvbc_get_metadata(file, &core);
    CHECK(core.target_variant == 0x0431 && core.target_features == CVBC_FEATURE_GPIO);
    CHECK(core.pin_config_count == 1 && core.gpio_pin_count == 1);
    CHECK(cvbc_get_pin(file, 0, &pin) && pin.pin_number == 13 && !cvbc_get_pin(file, 1, &pin));
    CHECK(cvbc_get_dependency(file, 0, &library) && !strcmp(library.lib_name, "hal"));
    CHECK(!cvbc_get_dependency(file, 1, &library));
    CHECK(cvbc_get_hint(file, 0, &hint, &data) && hint.hint_data_size == 4 && data[2] == 1);
    CHECK(!cvbc_get_hint(file, 1, &hint, NULL));
    CHECK(cvbc_get_custom(file, &size) && size == 6);
    CHECK(cvbc_get_bytecode(file, &code, &count, &entry) && count == BLINK && !entry);
    CHECK(!memcmp(code, blink, sizeof blink));
    CHECK(!strcmp(cvbc_get_string(file, 0, &size), "n=%d\n") && size == 5);
    CHECK(!cvbc_get_string(file, 1, &size));
    CHECK(!cvbc_line_for_pc(file, 0, NULL, NULL));
}

static bool write_one(void *user, const char *name, const uint8_t *data, size_t size)
{
    (void)data;
    if (!strncmp(name, "trinity", 7) && size) ++*(int *)user;
    return true;
}

static void check_boards(const cvbc_file *file)
{
    cvbc_report report;
    cvbc_board right = {"stm32g431"}, wrong = {"esp32-c3"}, none = {"no-such-board"};
    CHECK(!cvbc_check_board(file, &right, &report) && !report.errors);
    CHECK(cvbc_check_board(file, &wrong, &report) == CVBC_ERR_TARGET && report.errors > 1);
    CHECK(cvbc_check_board(file, &none, NULL) == CVBC_ERR_ARG);
    int written = 0;
    CHECK(!cvbc_trinity_generate(&file, 1, NULL, (cvbc_sink){write_one, &written}) && written == 4);
}

static void check_files(const cvbc_key *key, const cvbc_key *other)
{
    uint8_t *data, fingerprint[32], expected[32];
    size_t size;
    cvbc_file *file = NULL;
    cvbc_builder *b = builder_new();
    CHECK(!cvbc_builder_set_signing_key(b, key, true, CVBC_HASH_SHA256));
    CHECK(!cvbc_builder_set_compression(b, true, true));
    CHECK(!cvbc_builder_finish(b, &data, &size));
    cvbc_builder_free(b);
    CHECK(cvbc_validate_format(data, size) && !cvbc_check(data, size, NULL));

    cvbc_policy policy = {.trusted_keys = &key, .trusted_key_count = 1, .require_signature = true};
    CHECK(!cvbc_open(data, size, &policy, &file) && file);
    cvbc_key_fingerprint(key, expected);
    CHECK(cvbc_is_trusted(file, fingerprint) && !memcmp(fingerprint, expected, 32));
    check_contents(file);
    check_boards(file);
    cvbc_close(file);
    policy.trusted_keys = &other;
    CHECK(cvbc_open(data, size, &policy, &file) == CVBC_ERR_KEY && !file);
    CHECK(!cvbc_open(data, size, NULL, &file) && !cvbc_is_trusted(file, NULL));
    cvbc_close(file);

    cvbc_report report;
    data[size - 1] ^= 1;
    CHECK(!cvbc_validate_format(data, size) &&
          cvbc_check(data, size, &report) == CVBC_ERR_PAYLOAD_CRC);
    CHECK(report.errors && report.count && report.messages[0].text[0]);
    CHECK(cvbc_open(data, size, &policy, &file) == CVBC_ERR_PAYLOAD_CRC);
    CHECK(!cvbc_validate_format(data, 40) && cvbc_check(data, 40, NULL) == CVBC_ERR_TRUNCATED);
    CHECK(!cvbc_validate_format(NULL, 0));
    cvbc_free(data);
}

static void check_sealed(void)
{
    uint8_t *data, secret[32] = {7};
    size_t size;
    cvbc_file *file;
    cvbc_builder *b = builder_new();
    CHECK(!cvbc_builder_set_encryption(b, CVBC_ENC_CHACHA20_POLY1305, CVBC_KDF_RAW, secret, 32));
    CHECK(!cvbc_builder_finish(b, &data, &size));
    cvbc_builder_free(b);
    cvbc_policy policy = {.secret = secret, .secret_size = 32};
    CHECK(!cvbc_open(data, size, &policy, &file));
    check_contents(file);
    cvbc_close(file);
    secret[0]++;
    CHECK(cvbc_open(data, size, &policy, &file) == CVBC_ERR_DECRYPT);
    CHECK(cvbc_open(data, size, NULL, &file) == CVBC_ERR_DECRYPT);
    cvbc_free(data);
    b = builder_new();
    CHECK(cvbc_builder_set_encryption(b, 1, CVBC_KDF_RAW, secret, 5) == CVBC_ERR_KEY);
    CHECK(cvbc_builder_finish(b, &data, &size) == CVBC_ERR_KEY && !data);
    cvbc_builder_free(b);
    b = cvbc_builder_new();
    CHECK(cvbc_builder_finish(b, &data, &size) == CVBC_ERR_BYTECODE);
    CHECK(cvbc_builder_set_target(b, 300, 0, 0, 0, 0, 0) == CVBC_ERR_ARG);
    cvbc_builder_free(b);
    CHECK(!cvbc_verify_bytecode(blink, BLINK, 1, NULL));
    CHECK(cvbc_verify_bytecode(blink, BLINK, 0, NULL) == CVBC_ERR_BYTECODE);
}

static void make_keys(cvbc_key **key, cvbc_key **other)
{
    char *private, *public;
    uint8_t raw[260];
    cvbc_key *again;
    CHECK(!cvbc_key_generate(CVBC_SIG_ED25519, key) &&
          !cvbc_key_generate(CVBC_SIG_ECDSA_P256, other));
    CHECK(cvbc_key_public(*key, raw) == 32 && cvbc_key_public(*other, raw) == 65);
    CHECK(cvbc_key_algorithm(*key) == CVBC_SIG_ED25519);
    CHECK(!cvbc_key_private_pem(*key, &private) && !cvbc_key_public_pem(*key, &public));
    CHECK(strstr(private, "PRIVATE") && !strstr(public, "PRIVATE"));
    CHECK(!cvbc_key_load_pem(public, strlen(public), &again));
    CHECK(cvbc_key_private_pem(again, &private) == CVBC_ERR_KEY);
    cvbc_key_free(again);
    CHECK(cvbc_key_load_pem("nonsense", 8, &again) == CVBC_ERR_KEY && !again);
    CHECK(cvbc_key_generate(9, &again) == CVBC_ERR_KEY);
    cvbc_free(private);
    cvbc_free(public);
}

struct seen {
    uint64_t instructions, completed;
    uint32_t last_pc, ms;
    int error, resets, writes;
    char text[64];
    size_t size;
};

static void on_instruction(void *user, uint32_t pc, uint8_t opcode, uint32_t operand)
{
    struct seen *s = user;
    s->instructions++;
    s->last_pc = pc;
    CHECK(blink[pc].opcode == opcode && blink[pc].immediate == (operand & 0xffff));
}
static void on_complete(void *user, uint64_t instructions, uint32_t ms)
{
    struct seen *s = user;
    s->completed = instructions;
    s->ms = ms;
}
static void on_error(void *user, uint32_t pc, uint8_t opcode, uint32_t operand, int error)
{
    struct seen *s = user;
    (void)operand;
    CHECK(pc == 5 && opcode == 0x10);
    s->error = error;
}
static void on_reset(void *user) { ((struct seen *)user)->resets++; }
static bool digital_write(void *user, uint8_t pin, bool high)
{
    ((struct seen *)user)->writes++;
    return pin == 13 && high;
}
static bool refuse_pin(void *user, uint8_t pin, bool high)
{
    return (void)user, (void)pin, (void)high, false;
}
static bool seen_print(void *user, const char *text, size_t size)
{
    struct seen *s = user;
    memcpy(s->text, text, size);
    s->size = size;
    return true;
}

static void check_machine(const cvbc_file *file)
{
    struct seen seen = {0};
    cockpit_vm_observer observer = {&seen, on_instruction, on_complete, on_error, on_reset};
    cockpit_vm_hal hal = {.user = &seen, .digital_write = digital_write, .print = seen_print};
    int32_t words[4], value;
    cockpit_vm *vm = cockpit_vm_new();
    CHECK(cockpit_vm_run(vm, 0) == COCKPIT_VM_NOT_LOADED && cockpit_vm_reset(vm) == CVBC_ERR_ARG);
    cockpit_vm_set_hal(vm, &hal);
    cockpit_vm_set_observer(vm, &observer);
    CHECK(!cockpit_vm_load(vm, file));
    CHECK(cockpit_vm_step(vm) && cockpit_vm_pc(vm) == 1 && seen.instructions == 1);
    CHECK(cockpit_vm_run(vm, 4) == COCKPIT_VM_BUDGET && cockpit_vm_executed(vm) == 5);
    CHECK(cockpit_vm_run(vm, 0) == COCKPIT_VM_OK && !cockpit_vm_error(vm));
    CHECK(seen.completed == cockpit_vm_executed(vm) && seen.instructions == seen.completed);
    CHECK(seen.ms == 7 && seen.writes == 1 && seen.size == 5 && !memcmp(seen.text, "n=42\n", 5));
    CHECK(cockpit_vm_stack(vm, words, 4) == 1 && words[0] == 5);
    CHECK(cockpit_vm_global(vm, 0, &value) && value == 5 && !cockpit_vm_global(vm, 64, &value));
    CHECK(!cockpit_vm_step(vm));

    hal.digital_write = refuse_pin;
    cockpit_vm_set_hal(vm, &hal);
    CHECK(!cockpit_vm_reset(vm) && seen.resets == 1);
    CHECK(cockpit_vm_run(vm, 0) == COCKPIT_VM_HARDWARE_FAULT &&
          seen.error == COCKPIT_VM_HARDWARE_FAULT);
    CHECK(!strcmp(cockpit_vm_error_name(9), "HARDWARE_FAULT"));
    CHECK(!cockpit_vm_reset(vm));
    cockpit_vm_stop(vm);
    CHECK(cockpit_vm_run(vm, 0) == COCKPIT_VM_STOPPED);
    cockpit_vm_free(vm);
}

static bool collect_call(void *user, const char *name, const uint8_t *data, size_t size)
{
    return !strcmp(name, "printf") && seen_print(user, (const char *)data, size);
}

static void check_loading(const uint8_t *data, const cvbc_key *key)
{
    struct seen seen = {0};
    cvbc_hardware_requirements_t needs;
    cvbc_board small = {"esp32-c3"}, right = {"stm32g431"}, none = {"no-such-board"};
    CHECK(cvbc_extract_hardware_requirements(data, &needs));
    CHECK(needs.pin_count == 1 && needs.pin_configs[0].pin_number == 13 &&
          needs.peripheral_mask == 1);
    CHECK(validate_hardware_compatibility(&needs));
    cvbc_set_output((cvbc_sink){collect_call, &seen});
    CHECK(load_vm_program(data) && !memcmp(seen.text, "n=42\n", 5));
    CHECK(!cvbc_set_board(&right) && validate_hardware_compatibility(&needs) &&
          load_vm_program(data));
    CHECK(!cvbc_set_board(&small) && !validate_hardware_compatibility(&needs) &&
          !load_vm_program(data));
    CHECK(cvbc_last_status() == CVBC_ERR_TARGET);
    CHECK(cvbc_set_board(&none) == CVBC_ERR_ARG && !cvbc_set_board(NULL));
    cvbc_policy strict = {.trusted_keys = &key, .trusted_key_count = 1, .require_signature = true};
    cvbc_set_policy(&strict);
    CHECK(!load_vm_program(data) && cvbc_last_status() == CVBC_ERR_UNSIGNED);
    cvbc_set_policy(NULL);
    CHECK(load_vm_program(data) && !cvbc_last_vm_error());
}

static void *check_legacy(void *unused)
{
    /* This raw-struct program has CALL 2, HALT, PUSH 1, POP, RET, and a string. */
    static const uint8_t old[] = {8, 0, 2, 0, 0, 0, 0, 0, 1, 0, 1,   0,   2, 0,
                                  0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 'h', 'i', 0};
    size_t size;
    CHECK(!cvbc_legacy_result(&size));
    CHECK(is_legacy_format(old, sizeof old) && cvbc_load_legacy_format(old, sizeof old));
    const uint8_t *made = cvbc_legacy_result(&size);
    CHECK(made && cvbc_validate_format(made, size) && load_vm_program(made));
    CHECK(!cvbc_load_legacy_format((const uint8_t *)"garbage!", 8) &&
          cvbc_last_status() == CVBC_ERR_LEGACY);
    CHECK(!is_legacy_format(NULL, 0));
    return unused;
}

int main(void)
{
    cvbc_key *key, *other;
    uint8_t *data;
    size_t size;
    cvbc_file *file;
    check_structs();
    make_keys(&key, &other);
    check_files(key, other);
    check_files(other, key);
    check_sealed();
    cvbc_builder *b = builder_new();
    CHECK(!cvbc_builder_finish(b, &data, &size));
    cvbc_builder_free(b);
    CHECK(!cvbc_open(data, size, NULL, &file));
    check_machine(file);
    cvbc_close(file);
    check_loading(data, key);
    pthread_t thread;
    check_legacy(NULL);
    CHECK(!pthread_create(&thread, NULL, check_legacy, NULL) && !pthread_join(thread, NULL));
    cvbc_free(data);
    cvbc_key_free(key);
    cvbc_key_free(other);
    return checks_end();
}

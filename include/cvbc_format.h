/* CockpitVM containers under the names that the document of the format uses: its constants, packed
 * structs and functions, and what a loader, a signing tool or a simulator needs beyond them.
 *
 * Link with -lpenta_cvbc -lpenta. The structs are laid over the bytes of a file, so this header is
 * for little-endian hosts; penta/cvbc.h has the same operations for every host.
 *
 * Ownership. Bytes given to cvbc_open belong to the caller and outlive the file; a file outlives
 * the machines that have loaded it. What cvbc_builder_finish and key functions give is freed with
 * cvbc_free. Keys given to a policy or builder are borrowed until that has been used.
 *
 * Threads. Handles belong to one thread at a time, files may be shared. cvbc_set_board,
 * cvbc_set_policy and cvbc_set_output are settings of the process; results kept between calls
 * (cvbc_legacy_result, cvbc_last_status) are of the thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* code written for this header expects FILE and malloc from it */
#include <stdlib.h>

#if defined(__GNUC__)
#define CVBC_API __attribute__((visibility("default")))
#define CVBC_PACKED __attribute__((packed))
#else
#error "packed structs over file bytes need a compiler with __attribute__((packed))"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cvbc_format.h lays structs over little-endian bytes; use penta/cvbc.h here"
#endif

#ifdef __cplusplus
#define CVBC_SIZE_IS(type, size) static_assert(sizeof(type) == (size), #type)
extern "C" {
#else
#define CVBC_SIZE_IS(type, size) _Static_assert(sizeof(type) == (size), #type)
#endif

/* ---- the format ---- */

#define CVBC_MAGIC 0x43564243 /* the bytes 43 42 56 43 */
#define CVBC_VERSION_MAJOR 1
#define CVBC_VERSION_MINOR 0
#define CVBC_MIN_FILE_SIZE 128

#define CVBC_FLAG_ENCRYPTED 0x01
#define CVBC_FLAG_COMPRESSED 0x02
#define CVBC_FLAG_SIGNED 0x04
#define CVBC_FLAG_DEBUG 0x08
#define CVBC_FLAG_DETERMINISTIC 0x10

typedef struct CVBC_PACKED {
    uint32_t magic;
    uint16_t format_version_major;
    uint16_t format_version_minor;
    uint32_t total_file_size;
    uint32_t header_crc32; /* of the 12 bytes before it */
    uint32_t metadata_offset;
    uint32_t metadata_size;
    uint32_t security_offset; /* 0: no security section */
    uint32_t security_size;
    uint32_t bytecode_offset;
    uint32_t bytecode_size; /* as stored */
    uint32_t payload_crc32; /* of everything after the header */
    uint64_t compilation_timestamp;
    uint32_t build_number;
    uint8_t flags;
    uint8_t reserved[7];
} cvbc_header_t;
CVBC_SIZE_IS(cvbc_header_t, 64);

#define CVBC_ARCH_ARM 1
#define CVBC_ARCH_XTENSA 2
#define CVBC_ARCH_RISCV 3
#define CVBC_ARCH_X86 4
#define CVBC_ARCH_AVR 5 /* this and the next families: only in files of minor version 3 */

#define CVBC_FAMILY_STM32 1
#define CVBC_FAMILY_ESP32 2
#define CVBC_FAMILY_SIFIVE 3
#define CVBC_FAMILY_NORDIC 4
#define CVBC_FAMILY_RP2 5
#define CVBC_FAMILY_MEGA_AVR 6

typedef struct CVBC_PACKED {
    uint8_t target_architecture; /* 0 here, in family and variant: any */
    uint8_t target_family;
    uint16_t target_variant;
    uint32_t target_features;
    uint32_t min_flash_kb;
    uint32_t min_ram_kb;

    uint16_t gpio_pin_count;
    uint8_t uart_instances_mask;
    uint8_t i2c_instances_mask;
    uint8_t spi_instances_mask;
    uint8_t timer_instances_mask;
    uint8_t adc_channels_mask;
    uint8_t dac_channels_mask;
    uint16_t interrupt_priority_mask;
    uint16_t dma_channels_mask;
    uint32_t external_interfaces;
    uint64_t feature_requirements;

    uint32_t compiler_version; /* 0x00MMmmpp, decimal digits */
    uint8_t source_language;
    uint8_t optimization_level;
    uint16_t source_file_count;
    uint32_t source_lines_total;
    uint8_t build_fingerprint[8];
    uint64_t source_tree_hash; /* the first 8 bytes of the digest, in file order */

    uint32_t max_stack_depth_words;
    uint32_t max_heap_bytes;
    uint32_t max_execution_cycles; /* counted in VM instructions; 0: the host decides */
    uint16_t max_interrupt_latency_us;
    uint16_t reserved_constraints;

    uint16_t pin_config_count;
    uint16_t dependency_count;
    uint16_t performance_hint_count;
    uint16_t custom_metadata_size;
} cvbc_core_metadata_t;
CVBC_SIZE_IS(cvbc_core_metadata_t, 92);

#define CVBC_FEATURE_GPIO 0x00000001
#define CVBC_FEATURE_UART 0x00000002
#define CVBC_FEATURE_I2C 0x00000004
#define CVBC_FEATURE_SPI 0x00000008
#define CVBC_FEATURE_PWM 0x00000010
#define CVBC_FEATURE_ADC 0x00000020
#define CVBC_FEATURE_DAC 0x00000040
#define CVBC_FEATURE_TIMERS 0x00000080
#define CVBC_FEATURE_RTC 0x00000100
#define CVBC_FEATURE_WATCHDOG 0x00000200
#define CVBC_FEATURE_CRYPTO 0x00000400
#define CVBC_FEATURE_USB 0x00000800
#define CVBC_FEATURE_CAN 0x00001000
#define CVBC_FEATURE_ETHERNET 0x00002000
#define CVBC_FEATURE_WIRELESS 0x00004000
#define CVBC_FEATURE_DISPLAY 0x00008000

typedef struct CVBC_PACKED {
    uint8_t pin_number;
    uint8_t port_identifier; /* 0: port A */
    uint8_t pin_function;
    uint8_t pin_mode;
    uint8_t pin_pull;
    uint8_t pin_drive_strength;
    uint16_t pin_frequency_hz;
    uint32_t pin_alternate_function;
    uint8_t pin_initial_state;
    uint8_t pin_flags;
    uint16_t reserved;
} cvbc_pin_config_t;
CVBC_SIZE_IS(cvbc_pin_config_t, 16);

#define CVBC_PIN_FUNC_GPIO 1
#define CVBC_PIN_FUNC_UART_TX 2
#define CVBC_PIN_FUNC_UART_RX 3
#define CVBC_PIN_FUNC_I2C_SDA 4
#define CVBC_PIN_FUNC_I2C_SCL 5
#define CVBC_PIN_FUNC_SPI_MOSI 6
#define CVBC_PIN_FUNC_SPI_MISO 7
#define CVBC_PIN_FUNC_SPI_SCK 8
#define CVBC_PIN_FUNC_PWM_OUT 9
#define CVBC_PIN_FUNC_ADC_IN 10
#define CVBC_PIN_FUNC_DAC_OUT 11
#define CVBC_PIN_FUNC_INTERRUPT 12

#define CVBC_PIN_MODE_INPUT 1
#define CVBC_PIN_MODE_OUTPUT 2
#define CVBC_PIN_MODE_ALTERNATE 3
#define CVBC_PIN_MODE_ANALOG 4

#define CVBC_PIN_PULL_NONE 0
#define CVBC_PIN_PULL_UP 1
#define CVBC_PIN_PULL_DOWN 2

typedef struct CVBC_PACKED {
    char lib_name[16]; /* NUL-terminated */
    uint32_t min_version_major;
    uint32_t min_version_minor;
    uint32_t required_features;
    uint8_t compatibility_level; /* 1 ABI, 2 API, 3 source */
    uint8_t criticality;         /* 1 optional, 2 recommended, 3 required */
    uint16_t reserved;
} cvbc_dependency_t;
CVBC_SIZE_IS(cvbc_dependency_t, 32);

typedef struct CVBC_PACKED {
    uint8_t hint_type;
    uint8_t priority;
    uint16_t hint_data_size; /* bytes that follow */
} cvbc_performance_hint_t;
CVBC_SIZE_IS(cvbc_performance_hint_t, 4);

#define CVBC_PERF_HINT_HOT_PATH 1
#define CVBC_PERF_HINT_COLD_PATH 2
#define CVBC_PERF_HINT_LOOP_UNROLL 3
#define CVBC_PERF_HINT_INLINE_FUNC 4
#define CVBC_PERF_HINT_CACHE_FRIENDLY 5
#define CVBC_PERF_HINT_INTERRUPT_SAFE 6

typedef struct CVBC_PACKED {
    uint8_t security_version;
    uint8_t signature_algorithm;
    uint8_t hash_algorithm;
    uint8_t encryption_algorithm;
    uint32_t signature_size;
    uint32_t public_key_size;
    uint32_t encrypted_data_size;
    uint32_t key_derivation_params;
} cvbc_security_header_t;
CVBC_SIZE_IS(cvbc_security_header_t, 20);

#define CVBC_SIG_NONE 0
#define CVBC_SIG_ED25519 1
#define CVBC_SIG_ECDSA_P256 2
#define CVBC_SIG_RSA_2048 3
#define CVBC_SIG_LMS 4
#define CVBC_SIG_ED25519_LMS 5

#define CVBC_HASH_SHA256 1
#define CVBC_HASH_BLAKE2B 2

#define CVBC_ENC_NONE 0
#define CVBC_ENC_AES256_GCM 1
#define CVBC_ENC_CHACHA20_POLY1305 2

#define CVBC_KDF_RAW 0
#define CVBC_KDF_HKDF 1
#define CVBC_KDF_PBKDF2 2

typedef struct CVBC_PACKED {
    uint8_t source_sha256[32];
    uint8_t bytecode_sha256[32];
    uint8_t metadata_sha256[32];
    uint32_t build_reproducible_hash;
    uint64_t secure_timestamp;
} cvbc_integrity_data_t;
CVBC_SIZE_IS(cvbc_integrity_data_t, 108);

typedef struct CVBC_PACKED {
    uint16_t instruction_count;
    uint16_t entry_point_offset;   /* an instruction index */
    uint32_t constant_pool_offset; /* from the start of the decoded section */
    uint32_t constant_pool_size;
    uint16_t stack_size_required;
    uint16_t local_variable_count;
} cvbc_bytecode_header_t;
CVBC_SIZE_IS(cvbc_bytecode_header_t, 16);

typedef struct CVBC_PACKED {
    uint8_t opcode;
    uint8_t flags;
    uint16_t immediate;
} vm_instruction_t;
CVBC_SIZE_IS(vm_instruction_t, 4);

typedef struct CVBC_PACKED {
    uint32_t symbol_table_offset;
    uint32_t symbol_table_size;
    uint32_t line_info_offset;
    uint32_t line_info_size;
    uint32_t variable_info_offset;
    uint32_t variable_info_size;
} cvbc_debug_header_t;
CVBC_SIZE_IS(cvbc_debug_header_t, 24);

/* ---- the functions of the format's document ---- */

typedef struct {
    uint8_t pin_count;
    cvbc_pin_config_t *pin_configs; /* in the input bytes, unaligned */
    uint32_t peripheral_mask;
    uint32_t feature_requirements;
} cvbc_hardware_requirements_t;

CVBC_API uint32_t cvbc_calculate_crc32(const uint8_t *data, size_t length);
/* The quick check: sizes, bounds and both CRCs. It says nothing about who made the file. */
CVBC_API bool cvbc_validate_format(const uint8_t *file_data, size_t file_size);
/* For bytes that passed the quick check: their size is taken from the header. False when the counts
 * do not fit the section, or there are more than 255 pins. */
CVBC_API bool cvbc_extract_hardware_requirements(const uint8_t *cvbc_data,
                                                 cvbc_hardware_requirements_t *requirements);

/* Against the board of cvbc_set_board: do its features and pins suffice? */
CVBC_API bool validate_hardware_compatibility(const cvbc_hardware_requirements_t *requirements);
/* Verifies under the policy of cvbc_set_policy, refuses what does not fit the board, and runs the
 * program to its end on a simulated board. The bytes may be freed afterwards. False:
 * cvbc_last_status and cvbc_last_vm_error say why. */
CVBC_API bool load_vm_program(const uint8_t *cvbc_data);
/* The loader of an application; it is not in the library. */
bool validate_and_load_program(const char *filename);

CVBC_API bool is_legacy_format(const uint8_t *data, size_t size);
CVBC_API bool convert_legacy_to_cvbc(const uint8_t *data, size_t size);
CVBC_API bool cvbc_load_legacy_format(const uint8_t *data, size_t size);
/* What the last conversion of this thread made, or NULL; valid until the next one. */
CVBC_API const uint8_t *cvbc_legacy_result(size_t *size);

/* ---- status and reports ---- */

typedef enum cvbc_status {
    CVBC_OK = 0,
    CVBC_ERR_ARG = 1,
    CVBC_ERR_TRUNCATED = 2,
    CVBC_ERR_MAGIC = 3,
    CVBC_ERR_VERSION = 4,
    CVBC_ERR_SIZE = 5,
    CVBC_ERR_BOUNDS = 6,
    CVBC_ERR_HEADER_CRC = 7,
    CVBC_ERR_PAYLOAD_CRC = 8,
    CVBC_ERR_RESERVED = 9,
    CVBC_ERR_LAYOUT = 10,
    CVBC_ERR_METADATA = 11,
    CVBC_ERR_SECURITY = 12,
    CVBC_ERR_BYTECODE = 13,
    CVBC_ERR_DEBUG = 14,
    CVBC_ERR_LIMIT = 15,
    CVBC_ERR_UNSIGNED = 16,
    CVBC_ERR_KEY = 17,
    CVBC_ERR_SIGNATURE = 18,
    CVBC_ERR_DECRYPT = 19,
    CVBC_ERR_DECOMPRESS = 20,
    CVBC_ERR_HASH = 21,
    CVBC_ERR_UNSUPPORTED = 22,
    CVBC_ERR_TARGET = 23,
    CVBC_ERR_LEGACY = 24,
    CVBC_ERR_IO = 25,
    CVBC_ERR_NOMEM = 26
} cvbc_status;

CVBC_API const char *cvbc_status_name(cvbc_status status); /* "CVBC_ERR_KEY"; never NULL */

typedef struct cvbc_message {
    cvbc_status status; /* of a warning: CVBC_OK */
    bool warning;
    uint64_t offset; /* in the file; in the decoded bytecode when `decoded` */
    bool decoded;
    char text[120], note[120];
} cvbc_message;

#define CVBC_REPORT_MESSAGES 16
typedef struct cvbc_report {
    cvbc_status status;      /* of the first error */
    size_t errors, warnings; /* all of them */
    size_t count;            /* messages kept: the first ones */
    cvbc_message messages[CVBC_REPORT_MESSAGES];
} cvbc_report;

CVBC_API cvbc_status cvbc_last_status(void); /* of load_vm_program and the legacy calls */
CVBC_API int cvbc_last_vm_error(void);

/* ---- keys ---- */

typedef struct cvbc_key cvbc_key;

CVBC_API cvbc_status cvbc_key_generate(int algorithm, cvbc_key **out); /* CVBC_SIG_ED25519 ... */
CVBC_API cvbc_status cvbc_key_load_pem(const char *text, size_t size, cvbc_key **out);
/* The texts are terminated; free them with cvbc_free. CVBC_ERR_KEY: there is no private half. */
CVBC_API cvbc_status cvbc_key_private_pem(const cvbc_key *key, char **out);
CVBC_API cvbc_status cvbc_key_public_pem(const cvbc_key *key, char **out);
/* The raw form that containers embed; returns its size, at most 260. */
CVBC_API size_t cvbc_key_public(const cvbc_key *key, uint8_t raw[260]);
CVBC_API void cvbc_key_fingerprint(const cvbc_key *key, uint8_t sha256[32]);
CVBC_API int cvbc_key_algorithm(const cvbc_key *key);
CVBC_API void cvbc_key_free(cvbc_key *key); /* wipes; NULL is fine */

/* ---- files ---- */

typedef struct cvbc_policy {
    const cvbc_key *const *trusted_keys;
    size_t trusted_key_count;
    const uint8_t *secret; /* symmetric key or password; NULL: none */
    size_t secret_size;
    bool require_signature; /* of a trusted key */
    bool allow_unverified;  /* load_vm_program: also programs that the static verifier rejects */
    uint64_t max_inflate, max_iterations; /* 0: 16 MiB; 10 million */
} cvbc_policy;

typedef struct cvbc_file cvbc_file;

/* The full check; report may be NULL. */
CVBC_API cvbc_status cvbc_check(const uint8_t *data, size_t size, cvbc_report *report);
/* Check, signature, digests, decryption, decompression, in this order. policy NULL: no keys. */
CVBC_API cvbc_status cvbc_open(const uint8_t *data, size_t size, const cvbc_policy *policy,
                               cvbc_file **out);
CVBC_API void cvbc_close(cvbc_file *file); /* NULL is fine */
/* Signed by one of the policy's keys; fingerprint (may be NULL) gets that of this key. */
CVBC_API bool cvbc_is_trusted(const cvbc_file *file, uint8_t fingerprint[32]);

CVBC_API void cvbc_get_header(const cvbc_file *file, cvbc_header_t *out);
CVBC_API void cvbc_get_metadata(const cvbc_file *file, cvbc_core_metadata_t *out);
CVBC_API bool cvbc_get_pin(const cvbc_file *file, size_t i, cvbc_pin_config_t *out);
CVBC_API bool cvbc_get_dependency(const cvbc_file *file, size_t i, cvbc_dependency_t *out);
CVBC_API bool cvbc_get_hint(const cvbc_file *file, size_t i, cvbc_performance_hint_t *out,
                            const uint8_t **data);
CVBC_API const uint8_t *cvbc_get_custom(const cvbc_file *file, size_t *size); /* NULL: none */
CVBC_API bool cvbc_get_bytecode(const cvbc_file *file, const vm_instruction_t **code, size_t *count,
                                size_t *entry);
/* Terminated; NULL: no such string. */
CVBC_API const char *cvbc_get_string(const cvbc_file *file, size_t id, size_t *length);
/* Not terminated. Kind 1 function, 2 global, 3 array, 4 label, 5 source file. */
CVBC_API const char *cvbc_get_symbol(const cvbc_file *file, size_t i, int *kind, uint32_t *value,
                                     size_t *length);
/* 0: not known. name (may be NULL) gets the source file, not terminated. */
CVBC_API uint32_t cvbc_line_for_pc(const cvbc_file *file, size_t pc, const char **name,
                                   size_t *length);

CVBC_API cvbc_status cvbc_verify_bytecode(const vm_instruction_t *code, size_t count,
                                          size_t nstrings, cvbc_report *report);

/* ---- writing ---- */

typedef struct cvbc_builder cvbc_builder;

/* Every call returns the first failure so far, and so does finish. */
CVBC_API cvbc_builder *cvbc_builder_new(void);
CVBC_API void cvbc_builder_free(cvbc_builder *b); /* NULL is fine */
CVBC_API cvbc_status cvbc_builder_set_target(cvbc_builder *b, int architecture, int family,
                                             int variant, uint32_t features, uint32_t min_flash_kb,
                                             uint32_t min_ram_kb);
/* All of the core metadata; counts are computed. */
CVBC_API cvbc_status cvbc_builder_set_metadata(cvbc_builder *b,
                                               const cvbc_core_metadata_t *metadata);
CVBC_API cvbc_status cvbc_builder_add_pin(cvbc_builder *b, const cvbc_pin_config_t *pin);
CVBC_API cvbc_status cvbc_builder_add_dependency(cvbc_builder *b,
                                                 const cvbc_dependency_t *dependency);
CVBC_API cvbc_status cvbc_builder_add_hint(cvbc_builder *b, int type, int priority,
                                           const void *data, size_t size);
CVBC_API cvbc_status cvbc_builder_set_custom(cvbc_builder *b, const void *data, size_t size);
CVBC_API cvbc_status cvbc_builder_set_bytecode(cvbc_builder *b, const vm_instruction_t *code,
                                               size_t count, size_t entry); /* once */
CVBC_API cvbc_status cvbc_builder_add_string(cvbc_builder *b, const char *text);
CVBC_API cvbc_status cvbc_builder_set_debug(cvbc_builder *b, const void *section, size_t size);
CVBC_API cvbc_status cvbc_builder_set_build(cvbc_builder *b, uint64_t timestamp,
                                            uint32_t build_number, bool deterministic);
CVBC_API cvbc_status cvbc_builder_set_signing_key(cvbc_builder *b, const cvbc_key *key,
                                                  bool embed_public_key, int hash);
CVBC_API cvbc_status cvbc_builder_set_encryption(cvbc_builder *b, int algorithm, int derivation,
                                                 const uint8_t *secret, size_t size);
CVBC_API cvbc_status cvbc_builder_set_compression(cvbc_builder *b, bool compress, bool force);
CVBC_API cvbc_status cvbc_builder_finish(cvbc_builder *b, uint8_t **data, size_t *size);
CVBC_API void cvbc_free(void *data);

/* ---- boards ---- */

typedef struct cvbc_board {
    const char *name; /* "stm32g431", or the path of a board file; "host" takes everything */
} cvbc_board;
typedef struct cvbc_sink {
    bool (*write)(void *user, const char *name, const uint8_t *data, size_t size); /* false: stop */
    void *user;
} cvbc_sink;

CVBC_API cvbc_status cvbc_set_board(const cvbc_board *board); /* NULL: the simulator, "host" */
CVBC_API void cvbc_set_policy(const cvbc_policy *policy);     /* borrowed; NULL: no keys */
/* Where load_vm_program prints; write NULL: standard output. name is "printf". */
CVBC_API void cvbc_set_output(cvbc_sink sink);
CVBC_API cvbc_status cvbc_check_board(const cvbc_file *file, const cvbc_board *board,
                                      cvbc_report *report);
/* The four files of a board, each to the sink. board NULL: the one that the containers name. */
CVBC_API cvbc_status cvbc_trinity_generate(const cvbc_file **files, size_t count,
                                           const cvbc_board *board, cvbc_sink sink);

/* ---- the machine ---- */

typedef struct cockpit_vm cockpit_vm;

enum { /* cockpit_vm_error */
       COCKPIT_VM_OK = 0,
       COCKPIT_VM_STACK_OVERFLOW = 1,
       COCKPIT_VM_STACK_UNDERFLOW = 2,
       COCKPIT_VM_STACK_CORRUPTION = 3,
       COCKPIT_VM_INVALID_JUMP = 4,
       COCKPIT_VM_INVALID_OPCODE = 5,
       COCKPIT_VM_DIVISION_BY_ZERO = 6,
       COCKPIT_VM_MEMORY_BOUNDS = 7,
       COCKPIT_VM_PRINTF_ERROR = 8,
       COCKPIT_VM_HARDWARE_FAULT = 9,
       COCKPIT_VM_NOT_LOADED = 10,
       COCKPIT_VM_EXECUTION_FAILED = 11,
       COCKPIT_VM_BUDGET = 16,
       COCKPIT_VM_STOPPED = 17
};

/* The hardware that answers host calls; ranges and pin modes have been checked before. false:
 * hardware fault. A NULL entry is simulated; print goes to standard output then. */
typedef struct cockpit_vm_hal {
    void *user;
    bool (*pin_mode)(void *user, uint8_t pin, uint8_t mode);
    bool (*digital_write)(void *user, uint8_t pin, bool high);
    bool (*digital_read)(void *user, uint8_t pin, bool *high);
    bool (*analog_write)(void *user, uint8_t pin, uint16_t value);
    bool (*analog_read)(void *user, uint8_t pin, uint16_t *value);
    bool (*delay)(void *user, uint32_t ms);
    bool (*millis)(void *user, uint32_t *ms);
    bool (*micros)(void *user, uint32_t *us);
    bool (*print)(void *user, const char *text, size_t size); /* not terminated */
} cockpit_vm_hal;

typedef struct cockpit_vm_observer { /* entries may be NULL */
    void *user;
    void (*on_instruction)(void *user, uint32_t pc, uint8_t opcode,
                           uint32_t operand); /* after it */
    void (*on_complete)(void *user, uint64_t instructions, uint32_t ms);
    void (*on_error)(void *user, uint32_t pc, uint8_t opcode, uint32_t operand, int error);
    void (*on_reset)(void *user);
} cockpit_vm_observer; /* operand: immediate | flags << 16 */

CVBC_API cockpit_vm *cockpit_vm_new(void);
CVBC_API void cockpit_vm_free(cockpit_vm *vm); /* NULL is fine */
/* Copied; before load, or they take effect with the next reset. NULL: none. */
CVBC_API void cockpit_vm_set_hal(cockpit_vm *vm, const cockpit_vm_hal *hal);
CVBC_API void cockpit_vm_set_observer(cockpit_vm *vm, const cockpit_vm_observer *observer);
CVBC_API cvbc_status cockpit_vm_load(cockpit_vm *vm, const cvbc_file *file);
CVBC_API cvbc_status cockpit_vm_reset(cockpit_vm *vm); /* as after load */
/* One instruction. True: there may be another one. */
CVBC_API bool cockpit_vm_step(cockpit_vm *vm);
/* At most budget instructions, 0: what the program's metadata allows, or 10 million in all. Returns
 * cockpit_vm_error: 0 when the program has ended, COCKPIT_VM_BUDGET when it can go on. */
CVBC_API int cockpit_vm_run(cockpit_vm *vm, uint64_t budget);
CVBC_API void cockpit_vm_stop(cockpit_vm *vm); /* any thread: run returns COCKPIT_VM_STOPPED */
CVBC_API int cockpit_vm_error(const cockpit_vm *vm);
CVBC_API const char *cockpit_vm_error_name(int error);
CVBC_API uint32_t cockpit_vm_pc(const cockpit_vm *vm);
CVBC_API uint64_t cockpit_vm_executed(const cockpit_vm *vm);
/* The depth; the first max words from the bottom are copied. */
CVBC_API size_t cockpit_vm_stack(const cockpit_vm *vm, int32_t *words, size_t max);
CVBC_API bool cockpit_vm_global(const cockpit_vm *vm, size_t slot, int32_t *value);

#ifdef __cplusplus
}
#endif

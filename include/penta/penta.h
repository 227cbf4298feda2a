/* penta is one interface to five bytecode formats and the machines that run them. Beside this
 * header there are penta/session.h (a machine with its host, trace, debugger), penta/views.h
 * (files and machines as text and JSON) and a header for each format that offers more.
 *
 * Ownership. Input bytes belong to the caller and must outlive the module opened on them. A
 * module outlives its machines. A penta_buffer starts from zeros, is grown by the library and
 * freed with penta_buffer_free. Strings inside findings, nodes and fields are borrowed for the
 * duration of the callback.
 *
 * Threads. Modules are immutable and may be shared between threads. A machine belongs to one
 * thread at a time; only penta_vm_interrupt may be called from anywhere, signal handlers
 * included.
 *
 * Errors. A function that can fail takes `penta_error *err`, which it clears first, and returns
 * false or NULL. The first failure is kept. No function prints, prompts, exits or changes errno
 * deliberately.
 *
 * Order. Arguments come in this order: the object that the function is about, its inputs,
 * options as an array and its count, results, a callback and its user, err. A callback that gets
 * the result itself stands where `out` would.
 *
 * Buffers. A `penta_buffer *out` is appended to. A failed call leaves its contents as they were.
 *
 * NULL. Pointers are never NULL unless a comment says so. The exceptions are options of count 0,
 * the data of bytes of size 0, a penta_report when nobody wants the findings, and `enter`,
 * `field` or `leave` of a visitor that does not need them. `user` may be anything.
 *
 * Callbacks. Each function with a callback can be used without one: penta_findings collects what
 * a penta_report gets, penta_buffer_append what a penta_piece gets, and what a visitor gets
 * exists as JSON, too.
 *
 * Options. An option is a pair of key and value. penta_option_at lists the keys that a format
 * knows, and for which use. Where a key is given more than once the last one counts, unless its
 * help says that it may be repeated.
 *
 * Versioning. Names in this file are stable within a major version; structs that the library
 * fills grow only with the SONAME (docs/versioning.md). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PENTA_API __attribute__((visibility("default")))
#else
#define PENTA_API
#endif

#define PENTA_VERSION_MAJOR 0
#define PENTA_VERSION_MINOR 1
#define PENTA_VERSION_PATCH 0
/* The version of this header as a number that can be compared: 0.2.0 is 200, 1.0.0 is 10000. */
#define PENTA_VERSION_NUMBER                                                                       \
    (PENTA_VERSION_MAJOR * 10000 + PENTA_VERSION_MINOR * 100 + PENTA_VERSION_PATCH)
/* The version of this header as text, such as "0.1.0". */
#define PENTA_VERSION_TEXT                                                                         \
    PENTA_VERSION_JOIN(PENTA_VERSION_MAJOR, PENTA_VERSION_MINOR, PENTA_VERSION_PATCH)
#define PENTA_VERSION_JOIN(major, minor, patch) PENTA_VERSION_QUOTE(major, minor, patch)
#define PENTA_VERSION_QUOTE(major, minor, patch) #major "." #minor "." #patch

#ifdef __cplusplus
extern "C" {
#endif

/* All other parts use the declarations below. */

typedef enum penta_severity { PENTA_ERROR, PENTA_WARNING, PENTA_INFO } penta_severity;

typedef struct penta_error {
    /* `code` is 0 for no error, else format << 16 | number, as in the rules.def of the format. */
    uint32_t code;
    penta_severity severity;
    uint64_t offset;   /* where: bytes from the start of the file or source text */
    bool decoded;      /* The offset counts in the decoded image, not in the file. */
    char message[120]; /* what is wrong: one line, for a person */
    char note[120];    /* what to do about it, or "" */
} penta_error;

typedef void penta_report(void *user, const penta_error *finding);

typedef struct penta_bytes {
    const uint8_t *data;
    size_t size;
} penta_bytes;

typedef struct penta_buffer {
    uint8_t *data;
    size_t size, capacity;
} penta_buffer;

typedef struct penta_option {
    const char *key, *value; /* An unknown key is an error; a switch has the value "1". */
} penta_option;

typedef struct penta_module penta_module;
typedef struct penta_vm penta_vm;

/* Returns the version of the library in use, such as "1.2.3". */
PENTA_API const char *penta_version(void);
/* Frees the bytes and makes the buffer zeros. */
PENTA_API void penta_buffer_free(penta_buffer *buffer);

/* A function of this type gets bytes piece by piece; they are borrowed during the call. */
typedef void penta_piece(void *user, penta_bytes piece);
/* Is a penta_piece whose user is a penta_buffer, to which it appends. When memory runs out, the
 * rest is lost. */
PENTA_API void penta_buffer_append(void *buffer, penta_bytes piece);

/* The functions below collect findings, for callers that want no callback. */

typedef struct penta_findings penta_findings;

/* Returns NULL when memory ran out. */
PENTA_API penta_findings *penta_findings_new(void);
PENTA_API void penta_findings_free(penta_findings *findings); /* `findings` may be NULL. */
/* Is a penta_report whose user is a penta_findings. */
PENTA_API void penta_findings_add(void *findings, const penta_error *finding);
PENTA_API size_t penta_findings_count(const penta_findings *findings);
/* Returns finding i, in the order of their arrival, or NULL beyond the last. It is valid until
 * the next one is added. */
PENTA_API const penta_error *penta_findings_at(const penta_findings *findings, size_t i);
/* Appends a JSON list of objects with severity, code, name, offset, message and, where there is
 * one, note. `module` may be NULL; with it each object has the path of its place in the tree. */
PENTA_API bool penta_findings_json(const penta_findings *findings, const penta_module *module,
                                   penta_buffer *out, penta_error *err);

/* The functions below list what this build has. Functions that take the name of a format give
 * NULL, 0 or false for a name that no format has. What they return is constant. */

/* Returns the name of format i, or NULL beyond the last. */
PENTA_API const char *penta_format_name(size_t i);
PENTA_API const char *penta_format_title(const char *format);
/* These functions return the suffix of file names in a format's text form, such as ".kasm", and
 * what starts a comment in it, or NULL. */
PENTA_API const char *penta_format_suffix(const char *format);
PENTA_API const char *penta_format_comment(const char *format);
/* Says what args[0] of a PENTA_STOP_HALT means. Returns NULL when programs of the format have no
 * value. */
PENTA_API const char *penta_format_exit_value(const char *format);
/* Tells whether a word of the text form names a register or variable. */
PENTA_API bool penta_format_is_register(const char *format, penta_bytes word);
/* Returns the name of engine i, or NULL beyond the last. The first one is the default of
 * penta_vm_new. */
PENTA_API const char *penta_engine_name(const char *format, size_t i);
/* Returns the engine to choose for running a program, by the same rule for every format. It is
 * "jit" where the format has one, unless single instructions or their number matter (`steps`:
 * fuel, marks, traces, records, snapshots); else it is the first engine. A machine that cannot
 * compile the program runs it by the first engine (penta_vm_engine). */
PENTA_API const char *penta_engine_for_run(const char *format, bool steps);

/* A penta_use says what can be done with a format, and where an option may be given. The values
 * are bits. */
typedef enum penta_use {
    PENTA_USE_OPEN = 1,     /* penta_open, which every format has */
    PENTA_USE_PRINT = 2,    /* penta_print */
    PENTA_USE_ASSEMBLE = 4, /* penta_assemble */
    PENTA_USE_RUN = 8,      /* penta_vm_new, penta_session_new */
    PENTA_USE_CONVERT = 16, /* penta_convert */
    PENTA_USE_SEAL = 32,    /* penta_seal */
    PENTA_USE_UNSEAL = 64,  /* penta_unseal */
    /* The functions for these uses are in the format's own header. */
    PENTA_USE_CREATE = 128,
    PENTA_USE_SIGN = 256,
    PENTA_USE_VERIFY = 512,
    PENTA_USE_BOARD = 1024,
    PENTA_USE_LINK = 2048,
    PENTA_USE_BLOCK = 4096,
    PENTA_USE_TRAIN = 8192,
    /* These bits say what the value of an option names. */
    PENTA_USE_WRITES = 1 << 16,   /* The value names a file to write. */
    PENTA_USE_FOLDER = 1 << 17,   /* The value names a folder whose files are the machine's own. */
    PENTA_USE_REWRITES = 1 << 18, /* The value names a file to write, perhaps one that was read. */
    /* Only this format has the option, so it chooses the format where none is named. */
    PENTA_USE_CHOOSES = 1 << 19,
} penta_use;
/* Returns the bits of the uses that the format has. */
PENTA_API unsigned penta_format_uses(const char *format);

enum { PENTA_OPTION_PARTS = 5 };
typedef const char *penta_words(size_t i); /* Returns word i of a list, or NULL beyond the last. */

/* A penta_option_kind says what the value of an option is. Another value gives the error
 * PENTA0009 wherever it is given. */
typedef enum penta_option_kind {
    PENTA_OPTION_SWITCH, /* The option is given or not; its value is "1". */
    PENTA_OPTION_WORDS,  /* one of the words, whose letters are compared without case */
    /* The value is a number from `least` to `most`: decimal, 0x, 0o or 0b, with _ between
     * digits. */
    PENTA_OPTION_NUMBER,
    PENTA_OPTION_REAL,   /* a decimal number; `least` and `most` are thousandths */
    PENTA_OPTION_SIZE,   /* a number that K, M or G may follow, which are powers of 1024 */
    PENTA_OPTION_HEX,    /* `least` to `most` bytes as hex digits, before which 0x may stand */
    PENTA_OPTION_FILE,   /* a file to read, or one of the words where there are some */
    PENTA_OPTION_OUTPUT, /* a file to write */
    PENTA_OPTION_FOLDER, /* the path of a folder */
    PENTA_OPTION_TEXT,   /* any text, such as a name or a path in the file */
    PENTA_OPTION_FORM,   /* a text of the form that the argument draws: ADDR:LEN[:ro|rw][:FILE] */
} penta_option_kind;

typedef struct penta_option_info {
    const char *key;
    /* `argument` says how help shows the value, such as "ADDR:LEN", or "little|big", which lists
     * the words. It is NULL for a switch. */
    const char *argument;
    unsigned uses; /* bits of penta_use */
    const char *help;
    penta_option_kind kind;
    /* The number of values, separated by commas. 0 stands for a single value, PENTA_ITEMS_ANY
     * for any number of them. */
    unsigned items;
    int64_t least; /* least, most: the bounds of a number, or of each number of a form */
    uint64_t most;
    const char *unit; /* the unit of a number, such as "seconds" or "bytes", or NULL */
    /* The words that each part of the value may be. Colons separate parts; most values have one
     * part. NULL means that any text is allowed. */
    penta_words *words[PENTA_OPTION_PARTS];
} penta_option_info;
enum { PENTA_ITEMS_ANY = 0xffff };
/* Returns the name of a kind, such as "switch", "words" or "number", or NULL beyond the last. */
PENTA_API const char *penta_option_kind_name(penta_option_kind kind);
/* Tells whether the value fits the kind of the option. If not, the error is PENTA0009, which
 * says what fits. Functions that take options check them in this way. */
PENTA_API bool penta_option_check(const penta_option_info *option, const char *value,
                                  penta_error *err);

/* Returns option i of a format, or NULL beyond the last. */
PENTA_API const penta_option_info *penta_option_at(const char *format, size_t i);
/* Returns the option with this key for one of these uses, or NULL. */
PENTA_API const penta_option_info *penta_option_find(const char *format, const char *key,
                                                     unsigned uses);
/* Returns the format that an option with this key chooses where no format is named ("dialect":
 * "pvm"), or NULL. */
PENTA_API const char *penta_option_chooses(const char *key);
/* Appends a JSON list with an object for every format: name, title, suffix, comment, exit_value,
 * engines, uses and options. Each option has key, argument, uses, help, kind, items, accepts
 * (which values fit, in words) and words, and where the kind has them least, most and unit. */
PENTA_API bool penta_formats_json(penta_buffer *out, penta_error *err);

/* The declarations below are about rules. A penta_scope says what the findings of a rule are
 * about, and so what an error means for running the module. */
typedef enum penta_scope {
    PENTA_SCOPE_CONTAINER, /* the container: no machine opens the module */
    /* Findings are about the program: penta_check_run refuses it, unless told to run unverified
     * programs. */
    PENTA_SCOPE_PROGRAM,
    PENTA_SCOPE_RUNTIME, /* the program at run time: its machine fails when it gets there */
    PENTA_SCOPE_OTHER,   /* a text, an option, a link or a file, and no module */
    /* The container, but the rest can be read without what is wrong. In a module opened with the
     * option 'lenient' such findings are warnings; otherwise it is PENTA_SCOPE_CONTAINER. */
    PENTA_SCOPE_RECOVERABLE
} penta_scope;
/* A penta_class says what kind of failure an error is for the user. The tool's exit code follows
 * from it. */
typedef enum penta_class {
    PENTA_CLASS_INVALID, /* The input breaks the rule. */
    PENTA_CLASS_USAGE,   /* The request is wrong or impossible. */
    PENTA_CLASS_FORMAT,  /* The format of the input is not known. */
    PENTA_CLASS_IO,
    PENTA_CLASS_DAMAGED, /* Too little of the input is readable. */
    PENTA_CLASS_KEY,     /* A key is missing or does not fit. */
    PENTA_CLASS_LIMIT,   /* More is needed than is allowed or available. */
    PENTA_CLASS_BUG,     /* penta itself has a mistake. */
    PENTA_CLASSES
} penta_class;
typedef struct penta_rule {
    uint32_t code;    /* format << 16 | number; the rules of penta itself have format 0 */
    const char *name; /* a name such as "BAD_OPCODE" */
    penta_severity severity;
    penta_scope scope;
    penta_class kind;
    const char *summary, *explanation; /* texts that name options by key, as in "option 'map'" */
} penta_rule;

/* Returns the rule of a code, or NULL. */
PENTA_API const penta_rule *penta_rule_find(uint32_t code);
/* Returns rule i of a format, or with NULL of penta itself. Returns NULL beyond the last. */
PENTA_API const penta_rule *penta_rule_at(const char *format, size_t i);
/* Appends all rules as a JSON list of objects with code, name, severity, summary and
 * explanation. */
PENTA_API bool penta_rules_json(penta_buffer *out, penta_error *err);
/* penta_code_text writes a code such as "KBLOB0009" to `text`, which has at least 24 bytes, and
 * penta_code_name returns a name such as "BAD_OPCODE". For unknown codes they give "" and NULL. */
PENTA_API void penta_code_text(uint32_t code, char *text);
PENTA_API const char *penta_code_name(uint32_t code);
/* Returns a name such as "error". */
PENTA_API const char *penta_severity_name(penta_severity severity);

/* A file or a machine is described by one walk, of which there are many views. The declarations
 * below are for this walk. */

typedef struct penta_node {
    const char *name;
    uint64_t offset, size; /* the bytes that the node spans; size 0: its values are computed */
    bool list;             /* The children are items, not named members. */
    /* The offsets of the node and of everything below it count in the decoded image. */
    bool decoded;
    /* Only nodes of machines have these members. While `stamp` stays the same, so does
     * everything below the node; 0: that is not known. `items` is set for a list of plain values
     * that says how many it has; `enter` may lower the number, and only so many follow. */
    uint64_t stamp;
    size_t *items;
} penta_node;

typedef enum penta_kind {
    PENTA_UINT, /* a count, size, offset or number, shown in decimal */
    PENTA_WORD, /* a register, address or bit pattern, shown in hexadecimal */
    PENTA_SINT,
    PENTA_FLOAT,
    PENTA_BOOL,
    PENTA_TEXT,
    PENTA_RAW,
} penta_kind;

typedef enum penta_encoding { /* how the bytes of a stored field hold its value */
                              PENTA_LITTLE, /* a number of this size, the low byte first; texts and bytes as they are */
                              PENTA_BIG,    /* a number, the high byte first */
                              PENTA_LEB128, /* a number of variable length, 7 bits a byte */
                              PENTA_PREFIX, /* the same, the ones at the top of the first byte count the others */
                              PENTA_ARRAY, /* bytes of which there are always so many */
                              PENTA_PACKED /* the value is only a part of the bytes */
} penta_encoding;

typedef struct penta_field {
    const char *name;
    uint64_t offset, size;
    penta_kind kind;
    union {
        uint64_t u;
        int64_t i;
        double f;
        penta_bytes bytes; /* the value of the kinds TEXT and RAW */
    } as;
    const char *note; /* what the value means, such as "ed25519", or NULL */
    penta_encoding encoding;
    /* What another value would mean, or NULL. The function may be NULL, too. */
    const char *(*meaning)(const char *name, uint64_t value);
} penta_field;

typedef struct penta_visitor {
    void *user;
    /* Returning false skips the children, and `leave` is not called. */
    bool (*enter)(void *user, const penta_node *node);
    void (*field)(void *user, const penta_field *field);
    void (*leave)(void *user, const penta_node *node);
} penta_visitor;

/* A penta_trap is a reason why a machine of a format stops with PENTA_STOP_TRAP. penta_trap_at
 * returns NULL beyond the last. */
typedef struct penta_trap {
    uint32_t number; /* the value of penta_stop.detail */
    const char *name, *meaning;
} penta_trap;
PENTA_API const penta_trap *penta_trap_at(const char *format, size_t i);
/* penta_instructions describes the instructions of a format, one node for each. It returns false
 * when there is no such format, or it has no instructions. penta_instructions_legend returns
 * what the letters in their fields mean, as lines of text, or NULL. */
PENTA_API bool penta_instructions(const char *format, const penta_visitor *visitor);
PENTA_API const char *penta_instructions_legend(const char *format);
PENTA_API bool penta_instructions_json(const char *format, penta_buffer *out, penta_error *err);

/* What a format is made of, from its tables, for other tools. The forms, by name; NULL beyond the last: "json" (records,
 * how a file is made of them, instructions, traps, rules, options), "markdown" (the same as a page), "ksy" (Kaitai
 * Struct) and "hexpat" (ImHex), which have the records and how a file is made of them. */
PENTA_API const char *penta_spec_form(size_t i);
PENTA_API bool penta_spec(const char *format, const char *form, penta_buffer *out,
                          penta_error *err);

/* The functions below are about files. */

typedef struct penta_guess {
    const char *format;
    int confidence; /* how sure the guess is, from 1 to 100 */
} penta_guess;

/* Finds the formats that could have written these bytes, the likeliest first. Returns how many
 * there are, at most `max`. */
PENTA_API size_t penta_detect(penta_bytes file, penta_guess *guesses, size_t max);
/* Returns how surely the bytes are of one format, from 0 to 100, and appends the reasons as text
 * to `evidence`, which may be NULL. */
PENTA_API int penta_probe(penta_bytes file, const char *format, penta_buffer *evidence);

typedef enum penta_nested_state {
    PENTA_NESTED_VALID,   /* It opens, and penta_validate finds no error. */
    PENTA_NESTED_INVALID, /* It opens, and penta_validate finds errors. */
    PENTA_NESTED_HEADER   /* Only its head fits: the rest is damaged, or not there. */
} penta_nested_state;
typedef struct penta_nested { /* A file inside another. It is borrowed during the callback. */
    const char *format;
    const char *dialect;   /* its dialect, layout or version, such as "polkavm", or NULL */
    const char *evidence;  /* why it is taken for this format, as penta_probe says it */
    uint64_t offset, size; /* size 0: the format does not tell where the file ends */
    unsigned depth; /* how many other found files, that are no PENTA_NESTED_HEADER, hold it */
    penta_nested_state state;
    const penta_error *error; /* the first error, with an offset inside the found file; or NULL */
} penta_nested;
typedef void penta_nested_report(void *user, const penta_nested *nested);
typedef struct penta_nested_search {
    uint64_t work;          /* how many bytes were searched, read and made */
    uint64_t skipped;       /* how many magic numbers were not looked at: the work was too much */
    uint64_t skipped_first; /* the offset of the first of them */
} penta_nested_search;

/* Finds files of all formats inside any bytes, such as an archive, an image of a memory, or another
 * program, in the order of their offsets. Programs without a magic number are not found (pvm: the
 * dialects doc and jam), nor is what is stored compressed or encrypted. The work is at most
 * proportional to the size of `file`. `search` may be NULL. Returns false when memory ran out. */
PENTA_API bool penta_detect_deep(penta_bytes file, penta_nested_report *report, void *user,
                                 penta_nested_search *search, penta_error *err);
/* Returns the name of a state, such as "valid", or NULL. */
PENTA_API const char *penta_nested_state_name(penta_nested_state state);

/* Opens a file, also a broken one: a damaged module describes itself up to the damage, and
 * penta_validate says what is wrong. When `format` is NULL, it is the one that an option
 * chooses, else the one that is detected. With the option 'lenient', damage of rules of
 * PENTA_SCOPE_RECOVERABLE is passed over and reported as warnings (not of cvbc-legacy). */
PENTA_API penta_module *penta_open(penta_bytes file, const char *format,
                                   const penta_option *options, size_t count, penta_error *err);
PENTA_API void penta_close(penta_module *module); /* `module` may be NULL. */
PENTA_API const char *penta_module_format(const penta_module *module);
/* Returns the damage, or NULL when the module is whole. */
PENTA_API const penta_error *penta_module_damage(const penta_module *module);
/* Returns the bytes on which the module was opened, or that the assembler made. They are valid
 * as long as the module. */
PENTA_API const uint8_t *penta_module_bytes(const penta_module *module, size_t *size);

PENTA_API void penta_describe(const penta_module *module, const penta_visitor *visitor);
PENTA_API bool penta_describe_json(const penta_module *module, penta_buffer *out, penta_error *err);
/* These functions give one screen of facts, as a tree without offsets. */
PENTA_API void penta_info(const penta_module *module, const penta_visitor *visitor);
PENTA_API bool penta_info_json(const penta_module *module, penta_buffer *out, penta_error *err);

/* Reports every independent finding. Returns true when none is an error. */
PENTA_API bool penta_validate(const penta_module *module, penta_report *report, void *user);

/* penta_encode writes the same bytes that were parsed, and penta_print writes a text that
 * assembles to the same bytes. */
PENTA_API bool penta_encode(const penta_module *module, penta_buffer *out, penta_error *err);
PENTA_API bool penta_print(const penta_module *module, const penta_option *options, size_t count,
                           penta_buffer *out, penta_error *err);
/* Prints in pieces, for texts that need not be in memory as a whole. Where a format can do that,
 * no piece is longer than 64 KiB. A failed call may have given some pieces. */
PENTA_API bool penta_print_pieces(const penta_module *module, const penta_option *options,
                                  size_t count, penta_piece *take, void *user, penta_error *err);
/* Assembles a text. Returns NULL when there was an error. Every finding, warnings included, goes
 * to `report`. */
PENTA_API penta_module *penta_assemble(penta_bytes text, const char *format,
                                       const penta_option *options, size_t count,
                                       penta_report *report, void *user);

/* Tests on this module that encoding, and printing and assembling, give back the same bytes. If
 * not, returns false with an error about the first byte that differs. */
PENTA_API bool penta_roundtrip(const penta_module *module, penta_error *err);

/* penta_convert gives the same program in another dialect, byte order or version of its format,
 * penta_seal gives it encrypted, and penta_unseal decrypted. Keys come from files that options
 * name. Every finding goes to `report`. Returns false when one was an error, and then `out` is
 * as before. */
PENTA_API bool penta_convert(const penta_module *module, const penta_option *options, size_t count,
                             penta_buffer *out, penta_report *report, void *user);
PENTA_API bool penta_seal(const penta_module *module, const penta_option *options, size_t count,
                          penta_buffer *out, penta_report *report, void *user);
PENTA_API bool penta_unseal(const penta_module *module, const penta_option *options, size_t count,
                            penta_buffer *out, penta_report *report, void *user);

/* The functions below are about the code of a module. */

/* Appends one instruction as text, without a newline. Returns false when no instruction is at
 * pc, and then `out` is as before. */
PENTA_API bool penta_print_at(const penta_module *module, uint64_t pc, penta_buffer *out);
/* Gives the instructions as a list of objects with pc, offset, bytes, text, mnemonic and operands,
 * and, where they exist, target, label, aliases, gas of the block that starts there, file and line.
 * offset and bytes are left out where the file has the code only encoded. The options are function
 * NAME, range A..B, select PATH, and those of penta_print, which change only gas. */
PENTA_API bool penta_code_json(const penta_module *module, const penta_option *options,
                               size_t count, penta_buffer *out, penta_error *err);
/* Gives the place after the instruction at pc, in the order of the code. Returns false when no
 * instruction is at pc; *next is pc then. */
PENTA_API bool penta_next_pc(const penta_module *module, uint64_t pc, uint64_t *next);
/* Finds the instruction whose bytes include this file offset. Returns false when there is none. */
PENTA_API bool penta_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc);
/* Finds the bytes of the instruction at pc in the file. Returns false when no instruction is
 * there, or the file has it only encoded. */
PENTA_API bool penta_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset,
                               uint64_t *size);

typedef enum penta_part_kind {
    PENTA_PART_CODE,     /* a contiguous range of code; all of these together are all the code */
    PENTA_PART_FUNCTION, /* a function, inside one range of code */
    PENTA_PART_EXPORT,   /* a place that others may call, or where the program starts */
    /* The part is a function outside that the program calls; `from` is the number of the host
     * call. */
    PENTA_PART_IMPORT,
    PENTA_PART_LABEL, /* a place in a range of code that has a name */
} penta_part_kind;

typedef struct penta_part {
    penta_part_kind kind;
    penta_bytes name; /* the name, empty only for PENTA_PART_CODE */
    /* `from` and `to` are the pcs at which the part starts and ends; `to` is after its last
     * instruction, and equal to `from` when the end is not known. */
    uint64_t from, to;
} penta_part;
typedef void penta_part_report(void *user, const penta_part *part);

/* Reports the parts of the code, in any order. The names are borrowed during the call. */
PENTA_API void penta_parts(const penta_module *module, penta_part_report *report, void *user);
/* Appends the parts as a JSON list of objects with kind ("code", "function", "export", "import",
 * "label"), name, from and to. */
PENTA_API bool penta_parts_json(const penta_module *module, penta_buffer *out, penta_error *err);
/* Appends instructions with their pcs and the names of functions, for reading and not for
 * assembling. The options are "function" NAME, or "range" A..B, A.. or ..B (pcs, both included);
 * without them all the code is printed. With "select" PATH only instructions are printed of
 * which a byte is in the selected parts (penta/views.h). "arrows" utf8|ascii draws jumps between
 * pc and instruction (penta_structure_arrows has them as data). */
PENTA_API bool penta_print_code(const penta_module *module, const penta_option *options,
                                size_t count, penta_buffer *out, penta_error *err);

/* The declarations below are about machines. */

/* A penta_stop_kind says why a machine stopped. The kinds are the same for all machines:
 *
 *     kind        pc is that of               steps count it   run again
 *     FUEL        the next instruction        no               goes on
 *     BREAK       the marked instruction      no               executes it and goes on
 *     HOST        the one that asks           yes              after penta_vm_answer
 *     HALT        the one that ended it       yes              the same stop, 0 steps
 *     TRAP        the one that trapped        no               the same stop, 0 steps
 *     FAULT       the one that needs a page   no               tries it again
 *     GAS         the one that is not paid    no               tries it again
 *     INTERRUPT   the next instruction        no               goes on
 *     DISAGREE    the next one of compiled    not counted      the same stop
 *
 * A program that runs off its end halts at the place after its last instruction. */
typedef enum penta_stop_kind {
    PENTA_STOP_FUEL,  /* The host's budget of steps is spent. */
    PENTA_STOP_BREAK, /* A breakpoint is reached. */
    PENTA_STOP_HOST,  /* The program asks the host: detail is the call, args its arguments. */
    /* The program has ended; args[0] is its value, in formats that have one. */
    PENTA_STOP_HALT,
    PENTA_STOP_TRAP,      /* The program has trapped; detail says which trap. */
    PENTA_STOP_FAULT,     /* A page is missing: args[0] is the address, args[1] is 1 for a write. */
    PENTA_STOP_GAS,       /* The gas is spent; give more and run again. */
    PENTA_STOP_INTERRUPT, /* penta_vm_interrupt was called. */
    PENTA_STOP_DISAGREE,  /* Two engines in lock step came to different states. */
} penta_stop_kind;

typedef struct penta_stop {
    penta_stop_kind kind;
    uint32_t detail; /* which host call, or which trap */
    uint64_t pc;     /* the pc of the instruction that the table above names */
    /* `steps` says how many instructions this call executed; UINT64_MAX means that they were not
     * counted. */
    uint64_t steps;
    uint64_t args[6]; /* the arguments of the host call */
} penta_stop;

/* Returns a name such as "halt", or NULL when there is no such kind. */
PENTA_API const char *penta_stop_name(penta_stop_kind kind);

/* Makes a machine. When `engine` is NULL, it is the format's default. Modules whose container
 * has errors are refused. Programs may take long to compile: when a signal handler or another
 * thread sets *stop, the function fails soon (PENTA0017). `stop` may be NULL. */
PENTA_API penta_vm *penta_vm_new(const penta_module *module, const char *engine,
                                 const penta_option *options, size_t count,
                                 const volatile int *stop, penta_error *err);
PENTA_API void penta_vm_free(penta_vm *vm); /* `vm` may be NULL. */
/* Executes at most `fuel` instructions; UINT64_MAX means no limit. A single step is a fuel of 1. */
PENTA_API void penta_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Answers the host call for which the machine stopped. Returns false when no call waits, or so
 * many results do not fit; then the call still waits. */
PENTA_API bool penta_vm_answer(penta_vm *vm, const uint64_t *results, size_t count,
                               penta_error *err);
PENTA_API void penta_vm_interrupt(penta_vm *vm);
/* Returns the engine that runs the machine. It is another one than asked for where this
 * processor cannot run that one. */
PENTA_API const char *penta_vm_engine(const penta_vm *vm);
/* Returns the name of the trap or host call of this stop, or NULL. */
PENTA_API const char *penta_vm_detail_name(const penta_vm *vm, const penta_stop *stop);
PENTA_API void penta_vm_describe(const penta_vm *vm, const penta_visitor *visitor);
PENTA_API bool penta_vm_describe_json(const penta_vm *vm, penta_buffer *out, penta_error *err);
/* Reports warnings about what has run so far: the format allows it, but it is hardly what was
 * meant. */
PENTA_API void penta_vm_findings(const penta_vm *vm, penta_report *report, void *user);
/* These functions read and write the guest's memory. They return false, and copy nothing, when
 * not all of it is mapped. */
PENTA_API bool penta_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size);
PENTA_API bool penta_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size);
/* Sets or removes a breakpoint. Returns false when no instruction starts there, or the machine
 * counts for a profile. */
PENTA_API bool penta_vm_mark(penta_vm *vm, uint64_t pc, bool on);
/* These functions save a machine as bytes (docs/snapshots.md) and load it. A snapshot that is
 * damaged, or of another program, is refused, and the machine stays as it was. */
PENTA_API bool penta_vm_save(const penta_vm *vm, penta_buffer *out, penta_error *err);
PENTA_API bool penta_vm_load(penta_vm *vm, penta_bytes saved, penta_error *err);

#ifdef __cplusplus
}
#endif

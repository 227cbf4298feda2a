/* penta: one interface to five bytecode formats and the machines that run them. Beside it:
 * penta/session.h (a machine with its host, trace, debugger), penta/views.h (files and machines as
 * text and JSON) and a header for each format that offers more.
 *
 * Ownership. Input bytes belong to the caller and must outlive the module opened on them. A
 * module outlives its machines. A penta_buffer starts from zeros, is grown by the library and
 * freed with penta_buffer_free. Strings inside findings, nodes and fields are borrowed for the
 * duration of the callback.
 *
 * Threads. Modules are immutable and may be shared between threads. A machine belongs to one
 * thread at a time; only penta_vm_interrupt may be called from anywhere, signal handlers included.
 *
 * Errors. What can fail takes `penta_error *err`, which it clears first, and returns false or NULL.
 * The first failure is kept. Nothing here prints, prompts, exits or changes errno deliberately.
 *
 * Order. What a function is about, what it needs, options as an array and its count, results, a
 * callback and its user, err. A callback that is given the result itself stands where `out` would.
 *
 * Buffers. A `penta_buffer *out` is appended to. A failed call leaves its contents as they were.
 *
 * NULL. Pointers are never NULL unless a comment says so, except: options of count 0; the data of
 * bytes of size 0; a penta_report, when nobody wants the findings; `enter`, `field` or `leave` of a
 * visitor, when it does not care. `user` may be anything.
 *
 * Callbacks. Each has a form without: penta_findings collects what a penta_report is given,
 * penta_buffer_append what a penta_piece is given, and what takes a visitor exists as JSON too.
 *
 * Options. Pairs of key and value; the keys that a format knows, and for which use, are listed by
 * penta_option_at. Where a key is given more than once the last counts, unless its help says that
 * it may be repeated.
 *
 * Versioning. See docs/versioning.md: names in this file are stable within a major version;
 * structs that the library fills grow only with the SONAME. */
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
/* Of this header, to compare: 0.2.0 is 200, 1.0.0 is 10000. */
#define PENTA_VERSION_NUMBER                                                                       \
    (PENTA_VERSION_MAJOR * 10000 + PENTA_VERSION_MINOR * 100 + PENTA_VERSION_PATCH)
/* The same as text, "0.1.0". */
#define PENTA_VERSION_TEXT                                                                         \
    PENTA_VERSION_JOIN(PENTA_VERSION_MAJOR, PENTA_VERSION_MINOR, PENTA_VERSION_PATCH)
#define PENTA_VERSION_JOIN(major, minor, patch) PENTA_VERSION_QUOTE(major, minor, patch)
#define PENTA_VERSION_QUOTE(major, minor, patch) #major "." #minor "." #patch

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is shared by everything ---- */

typedef enum penta_severity { PENTA_ERROR, PENTA_WARNING, PENTA_INFO } penta_severity;

typedef struct penta_error {
    uint32_t code; /* 0: none; else format << 16 | number, as in that format's rules.def */
    penta_severity severity;
    uint64_t offset;   /* bytes from the start of the file or source text */
    bool decoded;      /* offset counts in the decoded image, not in the file */
    char message[120]; /* one line, for a person */
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
    const char *key, *value; /* an unknown key is an error; a switch has the value "1" */
} penta_option;

typedef struct penta_module penta_module;
typedef struct penta_vm penta_vm;

PENTA_API const char *penta_version(void);              /* "1.2.3" of the library in use */
PENTA_API void penta_buffer_free(penta_buffer *buffer); /* and makes it zeros */

/* Bytes that come piece by piece; borrowed during the call. */
typedef void penta_piece(void *user, penta_bytes piece);
/* A penta_piece whose user is a penta_buffer: appends. When memory runs out the rest is lost. */
PENTA_API void penta_buffer_append(void *buffer, penta_bytes piece);

/* ---- findings without a callback ---- */

typedef struct penta_findings penta_findings;

PENTA_API penta_findings *penta_findings_new(void);           /* NULL: no memory */
PENTA_API void penta_findings_free(penta_findings *findings); /* NULL is fine */
/* A penta_report whose user is a penta_findings. */
PENTA_API void penta_findings_add(void *findings, const penta_error *finding);
PENTA_API size_t penta_findings_count(const penta_findings *findings);
/* In the order of their arrival; NULL beyond the last. Valid until the next is added. */
PENTA_API const penta_error *penta_findings_at(const penta_findings *findings, size_t i);
/* A list of objects with severity, code, name, offset, message and, where there is one, note. With
 * a module each has the path of its place in the tree. module may be NULL. */
PENTA_API bool penta_findings_json(const penta_findings *findings, const penta_module *module,
                                   penta_buffer *out, penta_error *err);

/* ---- what this build has: lists ----
 *
 * Functions that take the name of a format give NULL, 0 or false for a name that no format has.
 * What they return is constant. */

/* Formats: their names; NULL beyond the last. */
PENTA_API const char *penta_format_name(size_t i);
PENTA_API const char *penta_format_title(const char *format);
/* Of its text form: the suffix of file names, ".kasm", and what starts a comment; or NULL. */
PENTA_API const char *penta_format_suffix(const char *format);
PENTA_API const char *penta_format_comment(const char *format);
/* What args[0] of a HALT is; NULL: programs have no value. */
PENTA_API const char *penta_format_exit_value(const char *format);
/* A word of the text form names a register or variable. */
PENTA_API bool penta_format_is_register(const char *format, penta_bytes word);
/* Engines: the first is that of penta_vm_new; NULL beyond the last. */
PENTA_API const char *penta_engine_name(const char *format, size_t i);
/* The engine to choose for running a program, the same rule for every format: "jit", where it has one,
 * unless single instructions or their number matter (steps: fuel, marks, traces, records, snapshots),
 * else the first. A machine that cannot compile the program runs it by the first (penta_vm_engine). */
PENTA_API const char *penta_engine_for_run(const char *format, bool steps);

/* What can be done with a format, and where an option may be given: bits. */
typedef enum penta_use {
    PENTA_USE_OPEN = 1,     /* penta_open: every format */
    PENTA_USE_PRINT = 2,    /* penta_print */
    PENTA_USE_ASSEMBLE = 4, /* penta_assemble */
    PENTA_USE_RUN = 8,      /* penta_vm_new, penta_session_new */
    PENTA_USE_CONVERT = 16, /* penta_convert */
    PENTA_USE_SEAL = 32,    /* penta_seal */
    PENTA_USE_UNSEAL = 64,  /* penta_unseal */
    /* What a format's own header offers: */
    PENTA_USE_CREATE = 128,
    PENTA_USE_SIGN = 256,
    PENTA_USE_VERIFY = 512,
    PENTA_USE_BOARD = 1024,
    PENTA_USE_LINK = 2048,
    PENTA_USE_BLOCK = 4096,
    PENTA_USE_TRAIN = 8192,
    /* Of an option: its value names */
    PENTA_USE_WRITES = 1 << 16,   /* a file to write */
    PENTA_USE_FOLDER = 1 << 17,   /* a folder whose files are the machine's own */
    PENTA_USE_REWRITES = 1 << 18, /* a file to write, perhaps one that was read */
    PENTA_USE_CHOOSES = 1 << 19,  /* only for this format: chooses it where none is named */
} penta_use;
/* Those of penta.h that the format has. */
PENTA_API unsigned penta_format_uses(const char *format);

enum { PENTA_OPTION_PARTS = 5 };
typedef const char *penta_words(size_t i); /* the words of a list; NULL beyond the last */

/* What the value of an option is. A value that is something else is PENTA0009 wherever it is given. */
typedef enum penta_option_kind {
    PENTA_OPTION_SWITCH, /* the option is given or not; its value is "1" */
    PENTA_OPTION_WORDS,  /* one of the words; their letters are compared without case */
    PENTA_OPTION_NUMBER, /* least to most: decimal, 0x, 0o or 0b, with _ between digits */
    PENTA_OPTION_REAL,   /* a decimal number; least and most are thousandths */
    PENTA_OPTION_SIZE,   /* a number that K, M or G may follow: powers of 1024 */
    PENTA_OPTION_HEX,    /* least to most bytes as hex digits; 0x may stand before them */
    PENTA_OPTION_FILE,   /* a file to read, or one of the words where there are some */
    PENTA_OPTION_OUTPUT, /* a file to write */
    PENTA_OPTION_FOLDER, /* a folder */
    PENTA_OPTION_TEXT,   /* any text: a name, a path in the file */
    PENTA_OPTION_FORM,   /* what the argument draws: ADDR:LEN[:ro|rw][:FILE] */
} penta_option_kind;

typedef struct penta_option_info {
    const char *key;
    const char *argument; /* "ADDR:LEN"; "little|big" lists its words itself; NULL: a switch */
    unsigned uses;        /* of penta_use */
    const char *help;
    penta_option_kind kind;
    /* 0: one value. Otherwise several, separated by commas: so many, or any number of them for PENTA_ITEMS_ANY. */
    unsigned items;
    int64_t least; /* of a number, or of each number of a form */
    uint64_t most;
    const char *unit; /* of a number: "seconds", "bytes"; or NULL */
    /* The words that each part of the value may be; colons separate parts, most values have one.
     * NULL: any. */
    penta_words *words[PENTA_OPTION_PARTS];
} penta_option_info;
enum { PENTA_ITEMS_ANY = 0xffff };
/* The name of a kind: "switch", "words", "number", ...; NULL beyond the last. */
PENTA_API const char *penta_option_kind_name(penta_option_kind kind);
/* Whether the value fits the kind of the option; false with PENTA0009, which says what fits. Functions that take
 * options check them in this way. */
PENTA_API bool penta_option_check(const penta_option_info *option, const char *value,
                                  penta_error *err);

/* The options of a format; NULL beyond the last. */
PENTA_API const penta_option_info *penta_option_at(const char *format, size_t i);
/* The row of a key for one of these uses, or NULL. */
PENTA_API const penta_option_info *penta_option_find(const char *format, const char *key,
                                                     unsigned uses);
/* The format that an option with this key chooses where none is named ("dialect": "pvm"), or NULL. */
PENTA_API const char *penta_option_chooses(const char *key);
/* Of every format: name, title, suffix, comment, exit_value, engines, uses and options, each option
 * with key, argument, uses, help, kind, items, accepts (what fits, in words) and words, and where the kind has them
 * least, most and unit. */
PENTA_API bool penta_formats_json(penta_buffer *out, penta_error *err);

/* Rules: what findings are about, and so what an error means for running the module. */
typedef enum penta_scope {
    PENTA_SCOPE_CONTAINER, /* no machine opens it */
    PENTA_SCOPE_PROGRAM,   /* penta_check_run refuses it, unless told to run unverified programs */
    PENTA_SCOPE_RUNTIME,   /* the program, whose machine fails when it gets there */
    PENTA_SCOPE_OTHER      /* a text, an option, a link, a file: not a module */
} penta_scope;
/* What kind of failure an error is to whoever asked for the work; the tool's exit code follows. */
typedef enum penta_class {
    PENTA_CLASS_INVALID, /* the input breaks the rule */
    PENTA_CLASS_USAGE,   /* what was asked for is wrong or impossible */
    PENTA_CLASS_FORMAT,  /* the input's format is not known */
    PENTA_CLASS_IO,
    PENTA_CLASS_DAMAGED, /* too little of the input is readable */
    PENTA_CLASS_KEY,     /* a key is missing or does not fit */
    PENTA_CLASS_LIMIT,   /* more than is allowed or available */
    PENTA_CLASS_BUG,     /* of penta */
    PENTA_CLASSES
} penta_class;
typedef struct penta_rule {
    uint32_t code;    /* format << 16 | number; 0: penta's own */
    const char *name; /* "BAD_OPCODE" */
    penta_severity severity;
    penta_scope scope;
    penta_class kind;
    const char *summary, *explanation; /* they name options by key: option 'map' */
} penta_rule;

/* The rule of a code, or NULL. */
PENTA_API const penta_rule *penta_rule_find(uint32_t code);
/* The rules of a format, or with NULL those of penta itself; NULL beyond the last. */
PENTA_API const penta_rule *penta_rule_at(const char *format, size_t i);
/* All of them, as a list of objects with code, name, severity, summary and explanation. */
PENTA_API bool penta_rules_json(penta_buffer *out, penta_error *err);
/* "KBLOB0009" into text (at least 24 bytes), and "BAD_OPCODE"; "" and NULL for unknown codes. */
PENTA_API void penta_code_text(uint32_t code, char *text);
PENTA_API const char *penta_code_name(uint32_t code);
PENTA_API const char *penta_severity_name(penta_severity severity); /* "error" */

/* ---- describe: one walk over a file or a machine, many views ---- */

typedef struct penta_node {
    const char *name;
    uint64_t offset, size; /* the bytes it spans; size 0 when computed */
    bool list;             /* children are items, not named members */
    bool decoded;          /* it and all below: offsets in the decoded image */
    /* Of machines. While a stamp stays the same, so does all below; 0: unknown. A list of plain
     * values may say how many it has; enter may lower the number, and only so many follow. */
    uint64_t stamp;
    size_t *items;
} penta_node;

typedef enum penta_kind {
    PENTA_UINT, /* a count, size, offset or number: decimal */
    PENTA_WORD, /* a register, address or bit pattern: hexadecimal */
    PENTA_SINT,
    PENTA_FLOAT,
    PENTA_BOOL,
    PENTA_TEXT,
    PENTA_RAW,
} penta_kind;

typedef struct penta_field {
    const char *name;
    uint64_t offset, size;
    penta_kind kind;
    union {
        uint64_t u;
        int64_t i;
        double f;
        penta_bytes bytes; /* TEXT and RAW */
    } as;
    const char *note; /* what the value means ("ed25519"), or NULL */
} penta_field;

typedef struct penta_visitor {
    void *user;
    bool (*enter)(void *user, const penta_node *node); /* false: skip the children and leave */
    void (*field)(void *user, const penta_field *field);
    void (*leave)(void *user, const penta_node *node);
} penta_visitor;

/* Why a machine of a format stops with PENTA_STOP_TRAP; NULL beyond the last. */
typedef struct penta_trap {
    uint32_t number; /* penta_stop.detail */
    const char *name, *meaning;
} penta_trap;
PENTA_API const penta_trap *penta_trap_at(const char *format, size_t i);
/* The instructions of a format, one node each, with what the letters in its fields mean, as lines
 * of text, or NULL. False: there is no such format, or it has no instructions. */
PENTA_API bool penta_instructions(const char *format, const penta_visitor *visitor);
PENTA_API const char *penta_instructions_legend(const char *format);
PENTA_API bool penta_instructions_json(const char *format, penta_buffer *out, penta_error *err);

/* ---- files ---- */

typedef struct penta_guess {
    const char *format;
    int confidence; /* 1 .. 100 */
} penta_guess;

/* The formats that could have written these bytes, best first; returns how many (at most max). */
PENTA_API size_t penta_detect(penta_bytes file, penta_guess *guesses, size_t max);
/* The confidence of one format, 0: none; and what speaks for it, as text. evidence may be NULL. */
PENTA_API int penta_probe(penta_bytes file, const char *format, penta_buffer *evidence);

/* Opens broken files too: a damaged module describes itself up to the damage, and
 * penta_validate says what is wrong. format NULL: the one that an option chooses, else detected. */
PENTA_API penta_module *penta_open(penta_bytes file, const char *format,
                                   const penta_option *options, size_t count, penta_error *err);
PENTA_API void penta_close(penta_module *module); /* NULL is fine */
PENTA_API const char *penta_module_format(const penta_module *module);
/* The damage, or NULL when the module is whole. */
PENTA_API const penta_error *penta_module_damage(const penta_module *module);
/* The bytes that it was opened on, or that the assembler made; valid as long as the module. */
PENTA_API const uint8_t *penta_module_bytes(const penta_module *module, size_t *size);

PENTA_API void penta_describe(const penta_module *module, const penta_visitor *visitor);
PENTA_API bool penta_describe_json(const penta_module *module, penta_buffer *out, penta_error *err);
/* One screen of facts, as a tree without offsets. */
PENTA_API void penta_info(const penta_module *module, const penta_visitor *visitor);
PENTA_API bool penta_info_json(const penta_module *module, penta_buffer *out, penta_error *err);

/* Reports every independent finding; true when none is an error. */
PENTA_API bool penta_validate(const penta_module *module, penta_report *report, void *user);

/* parse -> encode and print -> assemble give back the same bytes. */
PENTA_API bool penta_encode(const penta_module *module, penta_buffer *out, penta_error *err);
PENTA_API bool penta_print(const penta_module *module, const penta_option *options, size_t count,
                           penta_buffer *out, penta_error *err);
/* The same in pieces, for texts that need not be in memory as a whole; where a format can, none is
 * longer than 64 KiB. A failed call may have given some. */
PENTA_API bool penta_print_pieces(const penta_module *module, const penta_option *options,
                                  size_t count, penta_piece *take, void *user, penta_error *err);
/* NULL when there was an error; every finding, warnings included, goes to report. */
PENTA_API penta_module *penta_assemble(penta_bytes text, const char *format,
                                       const penta_option *options, size_t count,
                                       penta_report *report, void *user);

/* Both promises, tried on this module: false with the first byte that differs. */
PENTA_API bool penta_roundtrip(const penta_module *module, penta_error *err);

/* The same program in another dialect, byte order or version of its format; encrypted; decrypted.
 * Keys come from files that options name. Every finding goes to report; false when one was an
 * error, and then out is as before. */
PENTA_API bool penta_convert(const penta_module *module, const penta_option *options, size_t count,
                             penta_buffer *out, penta_report *report, void *user);
PENTA_API bool penta_seal(const penta_module *module, const penta_option *options, size_t count,
                          penta_buffer *out, penta_report *report, void *user);
PENTA_API bool penta_unseal(const penta_module *module, const penta_option *options, size_t count,
                            penta_buffer *out, penta_report *report, void *user);

/* ---- the code of a module ---- */

/* One instruction as text, without a newline. False: none is there, and out is as before. */
PENTA_API bool penta_print_at(const penta_module *module, uint64_t pc, penta_buffer *out);
/* The instructions as a list of objects with pc, offset, bytes, text, mnemonic, operands, and where there are such, target,
 * label, aliases, gas of the block that starts there, file and line. offset and bytes are left out where the file has the
 * code only encoded. Options: function NAME, range A..B, select PATH, and those of penta_print, which change only gas. */
PENTA_API bool penta_code_json(const penta_module *module, const penta_option *options,
                               size_t count, penta_buffer *out, penta_error *err);
/* The place after the instruction at pc, in the order of the code; false: none is at pc, and *next is
 * pc. */
PENTA_API bool penta_next_pc(const penta_module *module, uint64_t pc, uint64_t *next);
/* The instruction whose bytes hold this file offset; false: there is none. */
PENTA_API bool penta_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc);
/* The bytes of the instruction at pc in the file; false: none is there, or the file has it only encoded. */
PENTA_API bool penta_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset,
                               uint64_t *size);

typedef enum penta_part_kind {
    PENTA_PART_CODE,     /* a contiguous range of code; all of them are all the code */
    PENTA_PART_FUNCTION, /* a function in one */
    PENTA_PART_EXPORT,   /* what others may call, or where the program starts */
    PENTA_PART_IMPORT,   /* what it calls: `from` is the number of the host call */
    PENTA_PART_LABEL,    /* a place in one that has a name */
} penta_part_kind;

typedef struct penta_part {
    penta_part_kind kind;
    penta_bytes name;  /* empty only for CODE */
    uint64_t from, to; /* pcs; `to` is after the last; equal to `from`: the end is not known */
} penta_part;
typedef void penta_part_report(void *user, const penta_part *part);

/* In any order; the name is borrowed during the call. */
PENTA_API void penta_parts(const penta_module *module, penta_part_report *report, void *user);
/* A list of objects with kind ("code", "function", "export", "import", "label"), name, from and to. */
PENTA_API bool penta_parts_json(const penta_module *module, penta_buffer *out, penta_error *err);
/* Instructions with their pcs and the names of functions, to read and not to assemble. Options:
 * "function" NAME, or "range" A..B, A.. or ..B (pcs, both included); none: all the code. "select" PATH:
 * only those of which a byte is in the selected parts (penta/views.h). "arrows"
 * utf8|ascii draws jumps between pc and instruction (penta_structure_arrows has them as data). */
PENTA_API bool penta_print_code(const penta_module *module, const penta_option *options,
                                size_t count, penta_buffer *out, penta_error *err);

/* ---- machines ---- */

/* Why a machine stopped, the same in all of them:
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
    PENTA_STOP_FUEL,      /* the host's step budget is spent */
    PENTA_STOP_BREAK,     /* a breakpoint */
    PENTA_STOP_HOST,      /* the program asks the host: detail is the call, args its arguments */
    PENTA_STOP_HALT,      /* args[0]: the value of the program, in formats that have one */
    PENTA_STOP_TRAP,      /* detail: which trap */
    PENTA_STOP_FAULT,     /* a page is missing: args[0] address, args[1] write */
    PENTA_STOP_GAS,       /* out of gas: give more and run again */
    PENTA_STOP_INTERRUPT, /* penta_vm_interrupt */
    PENTA_STOP_DISAGREE,  /* two engines in lock step came to different states */
} penta_stop_kind;

typedef struct penta_stop {
    penta_stop_kind kind;
    uint32_t detail;  /* which host call, or which trap */
    uint64_t pc;      /* of the instruction that the table names */
    uint64_t steps;   /* instructions this call executed; UINT64_MAX: not counted */
    uint64_t args[6]; /* of the host call */
} penta_stop;

PENTA_API const char *penta_stop_name(penta_stop_kind kind); /* "halt"; NULL: no such kind */

/* engine NULL: the format's default. Refuses modules whose container has errors. Programs may take long to
 * compile: when a signal handler or another thread sets *stop, it fails soon (PENTA0017). stop may be NULL. */
PENTA_API penta_vm *penta_vm_new(const penta_module *module, const char *engine,
                                 const penta_option *options, size_t count,
                                 const volatile int *stop, penta_error *err);
PENTA_API void penta_vm_free(penta_vm *vm); /* NULL is fine */
/* Executes at most fuel instructions; UINT64_MAX: no limit. A single step is fuel 1. */
PENTA_API void penta_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
/* Answers the host call that the machine stopped for. False: none waits, or so many results do not
 * fit, and it still waits. */
PENTA_API bool penta_vm_answer(penta_vm *vm, const uint64_t *results, size_t count,
                               penta_error *err);
PENTA_API void penta_vm_interrupt(penta_vm *vm);
/* The engine that runs it: where this processor cannot run the one asked for, another does. */
PENTA_API const char *penta_vm_engine(const penta_vm *vm);
/* The name of the trap or host call that a stop of this machine is about, or NULL. */
PENTA_API const char *penta_vm_detail_name(const penta_vm *vm, const penta_stop *stop);
PENTA_API void penta_vm_describe(const penta_vm *vm, const penta_visitor *visitor);
PENTA_API bool penta_vm_describe_json(const penta_vm *vm, penta_buffer *out, penta_error *err);
/* Warnings about what has run so far: what the format allows, but is hardly what was meant. */
PENTA_API void penta_vm_findings(const penta_vm *vm, penta_report *report, void *user);
/* False: not all of it is mapped, and nothing was copied. */
PENTA_API bool penta_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size);
PENTA_API bool penta_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size);
/* A breakpoint, on or off; false: no instruction starts there, or the machine counts for a profile. */
PENTA_API bool penta_vm_mark(penta_vm *vm, uint64_t pc, bool on);
/* The machine as bytes (docs/snapshots.md). A snapshot that is damaged, or of another program, is
 * refused, and the machine stays as it was. */
PENTA_API bool penta_vm_save(const penta_vm *vm, penta_buffer *out, penta_error *err);
PENTA_API bool penta_vm_load(penta_vm *vm, penta_bytes saved, penta_error *err);

#ifdef __cplusplus
}
#endif

/* penta: one interface to five bytecode formats and the machines that run them.
 *
 * Ownership. Input bytes belong to the caller and must outlive the module opened on them. A
 * module outlives its machines. A penta_buffer starts from zeros, is grown by the library and
 * freed with penta_buffer_free. Strings inside findings, nodes and fields are borrowed for the
 * duration of the callback.
 *
 * Threads. Modules are immutable and may be shared between threads. A machine belongs to one
 * thread at a time; only penta_vm_interrupt may be called from anywhere, signal handlers included.
 *
 * Errors. What can fail takes `penta_error *err` (never NULL) and returns false or NULL. The
 * first failure is kept. Nothing here prints, prompts, exits or changes errno deliberately.
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

PENTA_API const char *penta_version(void); /* "1.2.3" of the library in use */
PENTA_API void penta_buffer_free(penta_buffer *buffer);

/* Formats of this build: names for i in 0 .. penta_format_count()-1, NULL beyond. */
PENTA_API size_t penta_format_count(void);
PENTA_API const char *penta_format_name(size_t i);

/* "KBLOB0009" into text (at least 24 bytes), and "BAD_OPCODE"; "" and NULL for unknown codes. */
PENTA_API void penta_code_text(uint32_t code, char *text);
PENTA_API const char *penta_code_name(uint32_t code);

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

/* ---- files ---- */

typedef struct penta_guess {
    const char *format;
    int confidence; /* 1 .. 100 */
} penta_guess;

/* The formats that could have written these bytes, best first; returns how many (at most max). */
PENTA_API size_t penta_detect(penta_bytes file, penta_guess *guesses, size_t max);

/* Opens broken files too: a damaged module describes itself up to the damage, and
 * penta_validate says what is wrong. format NULL: detect. */
PENTA_API penta_module *penta_open(penta_bytes file, const char *format,
                                   const penta_option *options, size_t count, penta_error *err);
PENTA_API void penta_close(penta_module *module); /* NULL is fine */
PENTA_API const char *penta_module_format(const penta_module *module);
/* The damage, or NULL when the module is whole. */
PENTA_API const penta_error *penta_module_damage(const penta_module *module);

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
typedef void penta_piece(void *user, penta_bytes piece);
PENTA_API bool penta_print_pieces(const penta_module *module, const penta_option *options,
                                  size_t count, penta_piece *take, void *user, penta_error *err);
/* NULL when there was an error; every finding, warnings included, goes to report. */
PENTA_API penta_module *penta_assemble(penta_bytes text, const char *format,
                                       const penta_option *options, size_t count,
                                       penta_report *report, void *user);

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

/* engine NULL: the format's default. Refuses modules whose container has errors. */
PENTA_API penta_vm *penta_vm_new(const penta_module *module, const char *engine,
                                 const penta_option *options, size_t count, penta_error *err);
PENTA_API void penta_vm_free(penta_vm *vm); /* NULL is fine */
/* Executes at most fuel instructions; UINT64_MAX: no limit. A single step is fuel 1. */
PENTA_API void penta_vm_run(penta_vm *vm, uint64_t fuel, penta_stop *stop);
PENTA_API bool penta_vm_answer(penta_vm *vm, const uint64_t *results, size_t count,
                               penta_error *err);
PENTA_API void penta_vm_interrupt(penta_vm *vm);
PENTA_API void penta_vm_describe(const penta_vm *vm, const penta_visitor *visitor);
PENTA_API bool penta_vm_describe_json(const penta_vm *vm, penta_buffer *out, penta_error *err);
/* Warnings about what has run so far: what the format allows, but is hardly what was meant. */
PENTA_API void penta_vm_findings(const penta_vm *vm, penta_report *report, void *user);
PENTA_API bool penta_vm_peek(const penta_vm *vm, uint64_t address, void *into, size_t size);
PENTA_API bool penta_vm_poke(penta_vm *vm, uint64_t address, const void *from, size_t size);
PENTA_API bool penta_vm_mark(penta_vm *vm, uint64_t pc, bool on); /* a breakpoint */
PENTA_API bool penta_vm_save(const penta_vm *vm, penta_buffer *out, penta_error *err);
PENTA_API bool penta_vm_load(penta_vm *vm, penta_bytes saved, penta_error *err);

#ifdef __cplusplus
}
#endif

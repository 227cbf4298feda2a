/* A driver is what the rest of the library knows of a format. An entry that is NULL means that
 * the format has no such operation, and the command line says so. An entry is here when general
 * code calls it without knowing the format; everything else is in the folder of the format. */
#pragma once
#include <stdatomic.h>
#include "base/error.h"
#include "base/options.h"
#include "base/writer.h"
struct source;        /* defined in text/lexer.h */
struct engine;        /* defined in core/engine.h */
struct host;          /* defined in core/host.h */
struct debug_info;    /* defined in core/debug/debug_info.h */
struct layout_record; /* defined in core/layout/layout.h */
struct layout_part;   /* defined in core/layout/parts.h */
struct driver_edit;   /* defined in core/edit/edit.h */
struct driver_nested; /* defined in core/nested.h */

/* Makes another file of a module, as the options say. Reports every finding to `findings`, and
 * returns false when one was an error. */
typedef bool driver_change(const penta_module *module, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings);
struct driver_other {
    unsigned use; /* OPTION_CONVERT, OPTION_SEAL or OPTION_UNSEAL */
    driver_change *make;
};

struct driver {
    const char *name, *title;
    const char *suffix;  /* the ending of files with its assembly text, such as ".kasm" */
    const char *comment; /* the text that starts a comment in assembly text */
    /* The size of an instruction when a pc is the number of an instruction; 0 when a pc counts
     * bytes. */
    unsigned insn_bytes;
    uint16_t number;                  /* the upper half of its rule codes, which must be unique */
    const penta_rule *rules;          /* the last rule has the code 0 */
    const penta_option_info *options; /* the last option has a NULL key */

    /* Tells from the bytes alone how certainly they are this format, from 0 (no) to 100.
     * `evidence` may be NULL. */
    int (*probe)(penta_bytes file, struct writer *evidence);
    /* Parses a file. A broken file becomes a damaged module. Returns NULL only when memory ran
     * out, an option is bad, or the bytes cannot be this format at all. */
    penta_module *(*parse)(penta_bytes file, const penta_option *options, size_t count,
                           penta_error *err);
    void (*verify)(const penta_module *module, struct findings *findings);
    void (*describe)(const penta_module *module, const penta_visitor *visitor);
    void (*info)(const penta_module *module, const penta_visitor *visitor);
    /* Tells what protects the byte at this offset. *end becomes the end of the range for which
     * that holds. `penta hex --coverage` shows it. */
    const char *(*protection)(const penta_module *module, uint64_t offset, uint64_t *end);
    bool (*encode)(const penta_module *module, struct writer *out, penta_error *err);
    bool (*print)(const penta_module *module, const penta_option *options, size_t count,
                  struct writer *out, penta_error *err);
    /* Writes one instruction as text without a newline, for traces and messages. Returns false
     * when none is there. */
    bool (*print_at)(const penta_module *module, uint64_t pc, struct writer *out);
    /* The same with the mnemonic first, and operands after commas. NULL when print_at writes that. */
    bool (*print_mnemonic_at)(const penta_module *module, uint64_t pc, struct writer *out);
    /* What the block that starts at pc costs, by the options of printing, which have been checked. False when none starts
     * there. NULL: there is no gas. */
    bool (*gas_at)(const penta_module *module, uint64_t pc, const penta_option *options,
                   size_t count, uint64_t *gas);
    /* Reports the code and everything in it that has a name, in any order. */
    void (*parts)(const penta_module *module, penta_part_report *report, void *user);
    /* Reports the data of the file in any order: ranges of addresses, without names, and the
     * objects in them that have names. An object whose `to` is equal to `from` reaches to the
     * next object. The entry is NULL when no data has a name. */
    void (*data)(const penta_module *module, penta_part_report *report, void *user);
    /* Tells whether a word of the text names a register or variable, for colours. The entry is NULL
     * when the text has no such names. */
    bool (*is_register)(penta_bytes word);
    /* Returns the pc of the instruction after the one at pc, in the order of the code, or pc
     * itself when none is there. Formats whose instructions are numbered use next_number. */
    uint64_t (*next_pc)(const penta_module *module, uint64_t pc);
    /* Finds the pc of the instruction whose bytes hold this offset of the file, for messages. */
    bool (*pc_of)(const penta_module *module, uint64_t offset, uint64_t *pc);
    /* Finds where the bytes of the instruction at pc start in the file. Returns false when the
     * file has them only compressed or encrypted. */
    bool (*offset_of)(const penta_module *module, uint64_t pc, uint64_t *offset);
    /* Assembles text to bytes. Reports every finding to `findings`, and returns false when one was an error. */
    bool (*assemble)(struct source *source, const penta_option *options, size_t count,
                     struct writer *out, struct findings *findings);
    /* how files of the format are found inside other files, or NULL when they have no magic */
    const struct driver_nested *nested;
    const struct driver_edit *edit; /* what an edit of fields repairs (core/edit/edit.h), or NULL */
    /* The ways to make another file of the same program: in another dialect, byte order or
     * version, encrypted or decrypted (keys come from files that the options name). The list
     * ends with a NULL make. */
    const struct driver_other *others;
    void (*close)(penta_module *module);
    void (*isa)(const penta_visitor *visitor); /* Lists the instructions. */
    const char *isa_legend; /* lines that tell what letters in the list mean, or NULL */
    const struct layout_record
        *records; /* the fixed records; the last has a NULL name; may be NULL */
    /* Tells how a file is made of them. The list ends with a NULL name. It may be NULL. */
    const struct layout_part *layout;

    const struct engine *const *engines; /* The list ends with NULL. Its first engine is the
                                          * default. */
    const penta_trap *traps;             /* the traps of its machines; the last has a NULL name */
    const char *exit_value; /* the meaning of args[0] of a HALT; NULL when programs have no value */
    /* The default host, which answers host calls in run, trace and debug. */
    const struct host *host;
    const struct debug_info *debug; /* finds lines, calls and variables; may be NULL */
};

static inline uint64_t next_number(const penta_module *module, uint64_t pc)
{
    (void)module;
    return pc + 1;
}

enum { MODULE_PASSED_MAX = 8 };

/* The module struct of every format begins with this struct. The format casts it to its own
 * struct in one place. */
struct penta_module {
    const struct driver *driver;
    penta_bytes file;
    penta_error damage; /* its code is 0 when the module is whole */
    bool lenient;       /* It was opened with the option 'lenient'. */
    /* what the parser passed over because of that, and how much of it there is */
    penta_error passed[MODULE_PASSED_MAX];
    size_t passed_count;
    void *owned;       /* bytes of the file that are freed with the module, or NULL */
    atomic_bool sound; /* module_verify has found nothing that keeps a machine from running the
                         * module. */
};
/* Verifies the module and reports the findings. When no finding breaks the container, the module
 * keeps that, so that opening a machine need not verify again. */
void module_verify(const penta_module *module, struct findings *findings);
/* Tells whether the rules of the format may lower findings about the module to warnings: it was
 * opened with 'lenient', and the parser has read it to the end. */
bool module_lenient(const penta_module *module);
/* Lets a parser go on after damage when the module was opened with 'lenient' and the rule is
 * recoverable: keeps *damage for the verification, clears it and returns true. Otherwise
 * returns false. */
bool module_pass_over(penta_module *module, penta_error *damage);
/* Makes a module struct of `bytes` bytes for a file opened with these options. The bytes after the common part are zero. Returns NULL
 * with an error when memory ran out. */
void *module_new(size_t bytes, const struct driver *driver, penta_bytes file,
                 const penta_option *options, size_t count, penta_error *err);

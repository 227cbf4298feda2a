/* What a format is to the rest of the library. A NULL entry means "not for this format", and the
 * command line says so. Entries are here when general code calls them without knowing the format;
 * everything else lives in the format's own folder. */
#pragma once
#include "base/error.h"
#include "base/options.h"
#include "base/writer.h"
struct source;     /* text/lexer.h */
struct engine;     /* core/engine.h */
struct host;       /* core/host.h */
struct debug_info; /* core/debug/debug_info.h */

/* Makes another file of a module, as the options say; every finding goes to `findings`, and false
 * when one was an error. */
typedef bool driver_change(const penta_module *module, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings);
struct driver_other {
    unsigned use; /* OPTION_CONVERT, OPTION_SEAL or OPTION_UNSEAL */
    driver_change *make;
};

struct driver {
    const char *name, *title;
    const char *suffix;               /* of its assembly text, ".kasm" */
    const char *comment;              /* what starts a comment in it */
    unsigned insn_bytes;              /* of instructions that are numbered; 0: a pc counts bytes */
    uint16_t number;                  /* upper half of its rule codes; unique */
    const penta_rule *rules;          /* ends with code 0 */
    const penta_option_info *options; /* ends with a NULL key */

    /* 0 no .. 100 certain; evidence may be NULL. Looks at nothing but the bytes. */
    int (*probe)(penta_bytes file, struct writer *evidence);
    /* Accepts what can be represented. NULL only when memory ran out, an option is bad, or the
     * bytes cannot be this format at all; what is broken becomes a damaged module. */
    penta_module *(*parse)(penta_bytes file, const penta_option *options, size_t count,
                           penta_error *err);
    void (*verify)(const penta_module *module, struct findings *findings);
    void (*describe)(const penta_module *module, const penta_visitor *visitor);
    void (*info)(const penta_module *module, const penta_visitor *visitor);
    /* What protects the byte at this offset, and up to where; for penta hex --coverage. */
    const char *(*protection)(const penta_module *module, uint64_t offset, uint64_t *end);
    bool (*encode)(const penta_module *module, struct writer *out, penta_error *err);
    bool (*print)(const penta_module *module, const penta_option *options, size_t count,
                  struct writer *out, penta_error *err);
    /* One instruction as text, without a newline, for traces and diagnostics. False: none there. */
    bool (*print_at)(const penta_module *module, uint64_t pc, struct writer *out);
    /* The code, and whatever has a name in it, in any order. */
    void (*parts)(const penta_module *module, penta_part_report *report, void *user);
    /* Data of the file: ranges of addresses, without names, and the objects in them that have names. In
     * any order; `to` equal to `from`: up to the next object. NULL: nothing in it has a name. */
    void (*data)(const penta_module *module, penta_part_report *report, void *user);
    /* A word of the text that names a register or variable, for colours. NULL: there are none. */
    bool (*is_register)(penta_bytes word);
    /* The pc of the instruction after the one at pc, in the order of the code; pc itself: none is
     * there. next_number where instructions are numbered. */
    uint64_t (*next_pc)(const penta_module *module, uint64_t pc);
    /* The pc of the instruction whose bytes hold this file offset, for diagnostics. */
    bool (*pc_of)(const penta_module *module, uint64_t offset, uint64_t *pc);
    /* Where the bytes of the instruction at pc start in the file. False: the file has them only encoded. */
    bool (*offset_of)(const penta_module *module, uint64_t pc, uint64_t *offset);
    /* Text to bytes. Every finding goes to `findings`; false when one was an error. */
    bool (*assemble)(struct source *source, const penta_option *options, size_t count,
                     struct writer *out, struct findings *findings);
    /* Other files of the same program: another dialect, byte order or version; encrypted, and back
     * (keys come from files that the options name). Ends with a NULL make. */
    const struct driver_other *others;
    void (*close)(penta_module *module);
    void (*isa)(const penta_visitor *visitor); /* the instructions, as a list */
    const char *isa_legend;                    /* what letters in it mean, in lines; or NULL */

    const struct engine *const *engines; /* NULL-terminated; the first is the default */
    const penta_trap *traps;             /* of its machines; ends with a NULL name */
    const char *exit_value;         /* what args[0] of a HALT is; NULL: programs have no value */
    const struct host *host;        /* answers host calls for run, trace, debug */
    const struct debug_info *debug; /* lines, calls and variables; NULL: none */
};

static inline uint64_t next_number(const penta_module *module, uint64_t pc)
{
    (void)module;
    return pc + 1;
}

/* A format's own module struct begins with this; its code casts down in one place. */
struct penta_module {
    const struct driver *driver;
    penta_bytes file;
    penta_error damage; /* code 0: whole */
    void *owned;        /* file bytes to free with the module, or NULL */
};
/* Such a struct of so many bytes, zeros after its beginning; NULL with an error: no memory. */
void *module_new(size_t bytes, const struct driver *driver, penta_bytes file, penta_error *err);

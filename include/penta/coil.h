/* COIL objects beyond penta.h, whose rules about errors, buffers, NULL and options hold: building
 * them in memory, linking, what machines ask their hosts.
 *
 * Building: types, variables, instructions, labels; then an object, which a machine can run at once.
 * A builder belongs to one thread. It keeps the first error: later calls
 * do nothing, and penta_coil_builder_finish reports it. */
#pragma once
#include "penta/link.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_coil_builder penta_coil_builder;

/* Operands and types are written as in the text form ("i32 5", "%x", "@loop", "struct{1:i8,
 * 2:f64}": docs/formats/coil/README.md). The other kinds save the caller from printing names and
 * numbers. */
typedef enum penta_coil_kind {
    PENTA_COIL_TEXT,     /* text: any operand of the text form */
    PENTA_COIL_VARIABLE, /* text: the name of a variable */
    PENTA_COIL_SYMBOL,   /* text: the name of a symbol; its address, or a branch target */
    PENTA_COIL_REGISTER, /* number: 0 to 15 */
    PENTA_COIL_INT,      /* number, of type text ("i32") or, with NULL, what the position takes */
    PENTA_COIL_REAL,     /* real, the same */
} penta_coil_kind;

typedef struct penta_coil_operand {
    penta_coil_kind kind;
    const char *text;
    int64_t number;
    double real;
} penta_coil_operand;

PENTA_API penta_coil_builder *penta_coil_builder_new(bool big_endian); /* NULL: no memory */
PENTA_API void penta_coil_builder_free(penta_coil_builder *builder);   /* NULL is fine */

PENTA_API void penta_coil_builder_section(penta_coil_builder *builder, const char *name);
PENTA_API void penta_coil_builder_function(penta_coil_builder *builder, const char *name,
                                           bool global);
PENTA_API void penta_coil_builder_end(penta_coil_builder *builder); /* of the function */
/* A label here: in a function, names that start with '.' are its own. */
PENTA_API void penta_coil_builder_label(penta_coil_builder *builder, const char *name);
PENTA_API void penta_coil_builder_variable(penta_coil_builder *builder, const char *name,
                                           const char *type);
PENTA_API void penta_coil_builder_insn(penta_coil_builder *builder, const char *mnemonic,
                                       const penta_coil_operand *operands, size_t count);
PENTA_API void penta_coil_builder_data(penta_coil_builder *builder, const void *bytes, size_t size);
PENTA_API void penta_coil_builder_zero(penta_coil_builder *builder, uint64_t size);

/* Any directive of the text form: ".align 16", ".extern f", ".addr @table". */
PENTA_API void penta_coil_builder_directive(penta_coil_builder *builder, const char *directive);

/* The object; close it with penta_close. NULL: err says why. All findings go to report, which may
 * be NULL. */
PENTA_API penta_module *penta_coil_builder_finish(penta_coil_builder *builder, penta_report *report,
                                                  void *user, penta_error *err);
/* ---- linking ---- */

/* Whether the file is an object, or an archive whose first member is one. */
PENTA_API bool penta_coil_links(penta_bytes file);
/* Links objects to one file, appended to out; a list of sections and symbols is appended to map,
 * which may be NULL. Objects are taken in the order given. Options: relocatable (the result can be
 * linked again), entry (the name of the function that starts the program). Every finding goes to
 * report, which may be NULL; false when one was an error, and then out and map are unchanged. */
PENTA_API bool penta_coil_link(const penta_object *objects, size_t count,
                               const penta_option *options, size_t option_count, penta_buffer *out,
                               penta_buffer *map, penta_link_report *report, void *user);

/* ---- native code ---- */

/* Compiles a relocatable little-endian object to x86-64 code for the system's linker: an ELF object,
 * or with the option "emit" = "asm" text for its assembler, appended to out. Nothing of it is checked
 * when it runs. docs/formats/coil/native.md has the rules for calls, and what needs -lpenta_coil. stop: as of
 * penta_vm_new; may be NULL. */
PENTA_API bool penta_coil_compile(const penta_module *module, const penta_option *options,
                                  size_t count, const volatile int *stop, penta_buffer *out,
                                  penta_error *err);

/* ---- machines ---- */

/* The value of register V0..V15 of a machine. */
PENTA_API uint64_t penta_coil_register_get(const penta_vm *vm, unsigned number);

/* What the compiler made of the program of a machine of engine "jit". */
typedef struct penta_coil_compilation {
    uint32_t functions, interpreted; /* interpreted: those without native code */
    uint32_t instructions, native_bytes;
    uint64_t nanoseconds; /* of processor time that the compiler took */
    uint64_t work;        /* steps of the compiler, which bound it: COIL 7.16.4 */
    uint32_t simple;      /* functions that take too many of them at level 2: they are of level 1 */
} penta_coil_compilation;

/* False: the machine has no compiled code. */
PENTA_API bool penta_coil_compiled(const penta_vm *vm, penta_coil_compilation *result);
/* The passes of the compiler in their order, by number; NULL: no more. */
PENTA_API const char *penta_coil_pass_name(size_t number);
/* Compiles the program again and appends each function to out as text, as it is after the pass. */
PENTA_API bool penta_coil_pass_text(const penta_vm *vm, const char *pass, penta_buffer *out,
                                    penta_error *err);

/* What a PENTA_STOP_HOST asks for: its detail, and its args in this order. */
enum {
    PENTA_COIL_OUT = 1,    /* port, value, type opcode; takes no result */
    PENTA_COIL_IN = 2,     /* port; takes one result */
    PENTA_COIL_VENDOR = 3, /* extended opcode, operand count, first four operands */
};
/* Vendor instructions ask the host in a machine opened with the option "vendor" = "host"; otherwise
 * they trap UNSUPPORTED. An operand is its value, extended to 64 bits by its type, or, where it is
 * no scalar, its address in guest memory. With one result the first operand is set. */

#ifdef __cplusplus
}
#endif

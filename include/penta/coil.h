/* Offers what COIL objects have beyond penta.h, whose rules about errors, buffers, NULL and
 * options hold: building them in memory, linking them, compiling them to native code, and the
 * registers, compiled code and host requests of machines.
 *
 * A builder gets types, variables, instructions and labels, and then makes an object, which a
 * machine can run at once. A builder belongs to one thread. It keeps the first error: later
 * calls do nothing, and penta_coil_builder_finish reports it. */
#pragma once
#include "penta/link.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_coil_builder penta_coil_builder;

/* A penta_coil_kind says how an operand is given. Operands and types may be written as in the
 * text form ("i32 5", "%x", "@loop", "struct{1:i8, 2:f64}": docs/formats/coil/README.md). The
 * other kinds save the caller from printing names and numbers. */
typedef enum penta_coil_kind {
    PENTA_COIL_TEXT,     /* `text` is any operand of the text form. */
    PENTA_COIL_VARIABLE, /* `text` is the name of a variable. */
    /* `text` is the name of a symbol, which stands for its address or is the target of a branch. */
    PENTA_COIL_SYMBOL,
    PENTA_COIL_REGISTER, /* `number` is the number of a register, 0 to 15. */
    /* `number` is an integer whose type is `text` ("i32"), or, when that is NULL, the type that
     * the position takes. */
    PENTA_COIL_INT,
    PENTA_COIL_REAL, /* `real` is a floating-point number, with a type as for PENTA_COIL_INT. */
} penta_coil_kind;

typedef struct penta_coil_operand {
    penta_coil_kind kind;
    const char *text;
    int64_t number;
    double real;
} penta_coil_operand;

/* Returns NULL when memory ran out. */
PENTA_API penta_coil_builder *penta_coil_builder_new(bool big_endian);
PENTA_API void penta_coil_builder_free(penta_coil_builder *builder); /* `builder` may be NULL. */

PENTA_API void penta_coil_builder_section(penta_coil_builder *builder, const char *name);
PENTA_API void penta_coil_builder_function(penta_coil_builder *builder, const char *name,
                                           bool global);
PENTA_API void penta_coil_builder_end(penta_coil_builder *builder); /* Ends the function. */
/* Puts a label here. In a function, names that start with '.' belong to that function alone. */
PENTA_API void penta_coil_builder_label(penta_coil_builder *builder, const char *name);
PENTA_API void penta_coil_builder_variable(penta_coil_builder *builder, const char *name,
                                           const char *type);
PENTA_API void penta_coil_builder_insn(penta_coil_builder *builder, const char *mnemonic,
                                       const penta_coil_operand *operands, size_t count);
PENTA_API void penta_coil_builder_data(penta_coil_builder *builder, const void *bytes, size_t size);
PENTA_API void penta_coil_builder_zero(penta_coil_builder *builder, uint64_t size);

/* Adds any directive of the text form, such as ".align 16", ".extern f" or ".addr @table". */
PENTA_API void penta_coil_builder_directive(penta_coil_builder *builder, const char *directive);

/* Returns the object, which penta_close frees, or NULL with an error. All findings go to
 * `report`, which may be NULL. */
PENTA_API penta_module *penta_coil_builder_finish(penta_coil_builder *builder, penta_report *report,
                                                  void *user, penta_error *err);
/* The functions below link objects. */

/* Tells whether a file is an object, or an archive whose first member is one. */
PENTA_API bool penta_coil_links(penta_bytes file);
/* Links objects to one file, which is appended to `out`. A list of sections and symbols is
 * appended to `map`, which may be NULL. Objects are taken in the order given. The options are
 * relocatable (the result can be linked again) and entry (the name of the function that starts
 * the program). Every finding goes to `report`, which may be NULL. Returns false when one was an
 * error; `out` and `map` are unchanged then. */
PENTA_API bool penta_coil_link(const penta_object *objects, size_t count,
                               const penta_option *options, size_t option_count, penta_buffer *out,
                               penta_buffer *map, penta_link_report *report, void *user);

/* The function below makes native code. */

/* Compiles a relocatable little-endian object to x86-64 code for the system's linker, and
 * appends it to `out`: an ELF object, or with the option "emit" = "asm" text for an assembler.
 * The code checks nothing when it runs. docs/formats/coil/native.md has the rules for calls, and
 * says what needs -lpenta_coil. `stop` is as for penta_vm_new and may be NULL. */
PENTA_API bool penta_coil_compile(const penta_module *module, const penta_option *options,
                                  size_t count, const volatile int *stop, penta_buffer *out,
                                  penta_error *err);

/* The declarations below are about machines. */

/* Returns the value of register V0 .. V15 of a machine. */
PENTA_API uint64_t penta_coil_register_get(const penta_vm *vm, unsigned number);

/* A penta_coil_compilation tells what the compiler made of the program of a machine of engine
 * "jit". */
typedef struct penta_coil_compilation {
    uint32_t functions, interpreted; /* interpreted: how many functions have no native code */
    uint32_t instructions, native_bytes;
    uint64_t nanoseconds; /* how much processor time the compiler took */
    uint64_t work;        /* how many steps the compiler made, which are limited (COIL 7.16.4) */
    /* `simple` says how many functions were compiled at level 1, because level 2 would take too
     * many steps. */
    uint32_t simple;
} penta_coil_compilation;

/* Gives the compilation of a machine's program. Returns false when the machine has no compiled
 * code. */
PENTA_API bool penta_coil_compiled(const penta_vm *vm, penta_coil_compilation *result);
/* Returns the name of a pass of the compiler, in their order, or NULL when there are no more. */
PENTA_API const char *penta_coil_pass_name(size_t number);
/* Compiles the program again and appends each function to `out` as text, as it is after the
 * pass. */
PENTA_API bool penta_coil_pass_text(const penta_vm *vm, const char *pass, penta_buffer *out,
                                    penta_error *err);

/* These are the requests to a host, which the detail of a PENTA_STOP_HOST names. The comments
 * say what its args are. */
enum {
    PENTA_COIL_OUT = 1,    /* args: port, value, type opcode; the answer has no result */
    PENTA_COIL_IN = 2,     /* args: port; the answer has one result */
    PENTA_COIL_VENDOR = 3, /* args: extended opcode, operand count, first four operands */
};
/* Vendor instructions ask the host in a machine that was opened with the option "vendor" =
 * "host"; otherwise they trap UNSUPPORTED. An operand is given as its value, extended to 64 bits
 * by its type, or, where it is no scalar, as its address in guest memory. If the answer has one
 * result, the first operand is set to it. */

#ifdef __cplusplus
}
#endif

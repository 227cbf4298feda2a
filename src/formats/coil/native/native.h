/* Makes objects for the system's linker from COIL objects (COIL 7.19). It uses the compiler of
 * jit/, with different code for calls, traps and memory. Registers with a fixed meaning:
 *
 *     R15   the thread's machine (runtime.h): V6 to V15, and what calls of the runtime need
 *     RBP   the function's frame: its variables in memory, slots for the runtime, spilled values
 *
 * V0 to V5 are in registers when one COIL function calls another. C functions and C callers use the
 * System V rules (calls.c, entries.c). Memory is that of the process, and nothing is checked. An
 * instruction without code of its own is executed by the interpreter's function in the runtime
 * library.
 *
 * lower_native.c makes SSA form, compile.c goes through the functions, and elf.c has the object. */
#pragma once
#include "base/long_work.h"
#include "coil/format/proto.h"
#include "coil/jit/jit.h"
#include "coil/jit/left_to_native.h"
#include "coil/native/elf.h"

struct coil_native {
    const struct coil_module *m;
    struct coil_vm *vm;
    struct coil_elf elf;
    struct ssa_code code;
    struct ssa_work work;      /* work done for the function that is being compiled */
    const volatile int *stop;  /* flag of the caller that stops the compiler, or NULL */
    struct long_work *between; /* counts work outside of functions and looks at `stop` */
    uint8_t *memory;           /* memory that holds the machine code */
    size_t capacity;
    uint8_t *touched; /* per function: how many registers from V0 on it takes and gives back */
    uint8_t *entered; /* per function: 1 if C may call it, or its address is taken */
    /* Per symbol of the module: 1 + its number in the object, or 0 if it has none yet. */
    uint32_t *symbols;
    uint32_t *function_symbols; /* per function: the number of its symbol in the object */
    /* Symbols defined elsewhere, such as those of the C library, that generated code uses. */
    uint32_t *named;
    size_t named_count, named_capacity;
    struct coil_proto *protos;
    uint32_t *proto_of; /* per symbol of the module: 1 + its prototype, or 0 if it has none */
    size_t proto_count, proto_capacity;
    uint32_t *labels; /* cells whose address is taken and that do not begin a function */
    size_t label_count, label_capacity;
    uint32_t *shadows;  /* per section with code: the symbol of a section with its bytes, or 0 */
    uint32_t *sections; /* per section of the module: its section in the object, or 0 */
    /* If the entry of the program has another name, this is the additional symbol main, else 0. */
    uint32_t main;
    uint32_t text;    /* number of the section with the code */
    uint32_t context; /* the symbol of the thread's machine, or 0 */
    /* This is the symbol of the section with the descriptions of instructions, or 0. */
    uint32_t data;
    uint32_t strings;         /* the symbol of the section with strings, or 0 */
    struct coil_native_kept { /* types that have been described already, found by their address */
        const void *what;
        uint64_t at;
    } * kept;
    size_t kept_count, kept_size;
    /* This is the number of the function that ends the program after a trap. It is larger than
     * the numbers of all other functions. */
    uint32_t trap_function;
    uint32_t absolute; /* a symbol with the value 0, or 0 if there is none yet */
    bool uses_context, uses_trap;
    bool bare_entries; /* true if some entries do not load the machine */
    bool has_lines;    /* true if the object has source lines; nothing is inlined then */
    penta_error *err;
};

struct coil_native_range {   /* where the code of a function is */
    uint32_t from, to, body; /* body: where the function itself begins, after its entry for C */
    uint32_t frame;
    /* These are the return instructions of the function, as a range of indices of `returns` of
     * struct ssa_code. */
    uint32_t first_return, return_count;
};

/* symbols.c and sections.c make the names and the data of the object. */

/* Reads and checks the prototypes, finds the functions that C may call or whose addresses are
 * taken, and gives every function a symbol. */
bool coil_native_symbols(struct coil_native *n);
/* Makes the data of the object with its relocations. */
bool coil_native_sections(struct coil_native *n);
/* Sets the addresses of functions after their code has been made. */
void coil_native_place(struct coil_native *n, const struct coil_native_range *ranges);
struct coil_native_ref { /* an address: that of a symbol of the object, plus a number */
    uint32_t symbol;     /* 0 if the address is only the number */
    bool far;            /* the address is read from the global offset table */
    int64_t addend;
};
struct coil_native_ref coil_native_ref(struct coil_native *n, uint32_t symbol);
struct coil_native_ref coil_native_label(struct coil_native *n, uint32_t cell);
/* Returns the symbol of a name that is defined outside of the object. */
uint32_t coil_native_named(struct coil_native *n, const char *name);
/* Returns the address of a string that is stored in the object. */
struct coil_native_ref coil_native_text(struct coil_native *n, const char *text);
/* Returns the function that begins at a symbol, or UINT32_MAX if there is none. */
uint32_t coil_native_function(const struct coil_native *n, uint32_t symbol);

/* lower_native.c and calls.c compile what jit/lower.c leaves to this folder. */

/* Calls a C function; proto is its prototype or NULL. If `address` is not 0, it is the SSA value
 * of the function's address, otherwise `symbol` is its symbol in the object. This function is in
 * calls.c. */
void coil_native_call(struct coil_lower *l, const struct coil_proto *proto, uint32_t address,
                      uint32_t symbol);
struct coil_native_args {
    uint32_t items[COIL_PROTO_ARGS + 8];
    unsigned count;
};
/* Makes a call of a function of the runtime or of the C library. Returns the value of its
 * result. */
uint32_t coil_native_foreign(struct coil_lower *l, const char *name,
                             const struct coil_native_args *args, bool variadic);
uint32_t coil_native_context(struct coil_lower *l);
uint32_t coil_native_value(struct coil_lower *l, struct coil_native_ref ref);

/* describe_step.c writes an instruction as data for the runtime. */

struct coil_native_ref coil_native_describe(struct coil_native *n, const struct coil_step *s);

/* entries.c makes the code by which C calls a function. */

void coil_native_entry(struct coil_native *n, uint32_t function);
bool coil_native_trap_function(struct coil_native *n, struct ssa_function *f);

/* dwarf.c defines the functions below. */

void coil_native_unwind(struct coil_native *n, const struct coil_native_range *ranges,
                        size_t count);
void coil_native_lines(struct coil_native *n, const struct coil_native_range *ranges, size_t count);

/* compile.c defines the function below. */

/* Compiles a module to an object file. `stop` points to a flag as for penta_vm_new. */
bool coil_native_compile(const struct coil_module *m, bool text, const volatile int *stop,
                         struct writer *out, penta_error *err);

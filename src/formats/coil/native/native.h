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
    struct ssa_work work;      /* work of the function that is being compiled */
    const volatile int *stop;  /* flag that stops the compiler; NULL: none */
    struct long_work *between; /* the work that is not of one function; it looks at `stop` */
    uint8_t *memory;           /* memory for the code */
    size_t capacity;
    uint8_t *touched;  /* per function: how many of V0 to V5 it takes and gives back */
    uint8_t *entered;  /* per function: C may call it, or its address is taken */
    uint32_t *symbols; /* per symbol of the module: its number in the object + 1; 0: not yet */
    uint32_t *function_symbols; /* per function: its symbol in the object */
    uint32_t *named;            /* symbols defined elsewhere, whose names this folder uses */
    size_t named_count, named_capacity;
    struct coil_proto *protos;
    uint32_t *proto_of; /* per symbol of the module: its prototype + 1; 0: none */
    size_t proto_count, proto_capacity;
    uint32_t *labels; /* cells whose address is taken and that do not begin functions */
    size_t label_count, label_capacity;
    uint32_t *shadows;  /* per section of the module with code: a symbol for its bytes, or 0 */
    uint32_t *sections; /* per section of the module: its section of the object, or 0 */
    /* The symbol main, if the program gives its entry another name; 0: none. */
    uint32_t main;
    uint32_t text;            /* the section with the code */
    uint32_t context;         /* the symbol of the thread's machine, or 0 */
    uint32_t data;            /* a symbol for the descriptions of instructions, or 0 */
    uint32_t strings;         /* a symbol for strings, or 0 */
    struct coil_native_kept { /* types that are described already, found by their address */
        const void *what;
        uint64_t at;
    } * kept;
    size_t kept_count, kept_size;
    /* Number of the function that ends the program. It is after all others. */
    uint32_t trap_function;
    uint32_t absolute; /* a symbol with the value 0, or 0 */
    bool uses_context, uses_trap;
    bool bare_entries; /* some entries do not load the machine */
    bool has_lines;    /* it has source lines, so nothing is inlined */
    penta_error *err;
};

struct coil_native_range {   /* the code of a function */
    uint32_t from, to, body; /* body: where the function itself begins, after its entry */
    uint32_t frame;
    /* The return instructions of the function, as indices of `returns` of the code. */
    uint32_t first_return, return_count;
};

/* ---- symbols.c, sections.c: the names and the data of the object ---- */

/* Finds which functions C may call and whose addresses are taken, and gives names to all of
 * them. */
bool coil_native_symbols(struct coil_native *n);
/* Makes the data of the object, with its relocations. */
bool coil_native_sections(struct coil_native *n);
/* Sets the addresses of functions when their code is made. */
void coil_native_place(struct coil_native *n, const struct coil_native_range *ranges);
struct coil_native_ref { /* an address: that of a symbol of the object, plus a number */
    uint32_t symbol;     /* 0: the address is only the number */
    bool far;            /* read from the table of addresses */
    int64_t addend;
};
struct coil_native_ref coil_native_ref(struct coil_native *n, uint32_t symbol);
struct coil_native_ref coil_native_label(struct coil_native *n, uint32_t cell);
/* Returns the symbol for a name that is defined elsewhere. */
uint32_t coil_native_named(struct coil_native *n, const char *name);
/* Returns the address of a string in the object. */
struct coil_native_ref coil_native_text(struct coil_native *n, const char *text);
/* Returns the function that begins at a symbol, or UINT32_MAX if there is none. */
uint32_t coil_native_function(const struct coil_native *n, uint32_t symbol);

/* ---- lower_native.c, calls.c: what lower.c leaves to native code ---- */

/* Calls a C function by a prototype, or NULL. If `address` is not 0, it is a value with the
 * address, else `symbol` is the symbol of the object. (calls.c) */
void coil_native_call(struct coil_lower *l, const struct coil_proto *proto, uint32_t address,
                      uint32_t symbol);
struct coil_native_args {
    uint32_t items[COIL_PROTO_ARGS + 8];
    unsigned count;
};
/* Calls a function of the runtime or of the C library. Returns its result. */
uint32_t coil_native_foreign(struct coil_lower *l, const char *name,
                             const struct coil_native_args *args, bool variadic);
uint32_t coil_native_context(struct coil_lower *l);
uint32_t coil_native_value(struct coil_lower *l, struct coil_native_ref ref);

/* ---- describe_step.c: writes an instruction as data for the runtime ---- */

struct coil_native_ref coil_native_describe(struct coil_native *n, const struct coil_step *s);

/* ---- entries.c: the code by which C calls a function ---- */

void coil_native_entry(struct coil_native *n, uint32_t function);
bool coil_native_trap_function(struct coil_native *n, struct ssa_function *f);

/* ---- dwarf.c ---- */

void coil_native_unwind(struct coil_native *n, const struct coil_native_range *ranges,
                        size_t count);
void coil_native_lines(struct coil_native *n, const struct coil_native_range *ranges, size_t count);

/* ---- compile.c ---- */

/* Compiles a module to an object file. `stop` is a flag as for penta_vm_new. */
bool coil_native_compile(const struct coil_module *m, bool text, const volatile int *stop,
                         struct writer *out, penta_error *err);

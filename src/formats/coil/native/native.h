/* Objects for the system's linker from COIL objects (COIL 7.19): the compiler of jit/, with other ends.
 *
 *     R15   the thread's machine (runtime.h): V6 to V15, and what calls of the runtime need
 *     RBP   the function's frame: its variables in memory, slots for the runtime, spilled values
 *
 * V0 to V5 are in registers where one COIL function calls another; C functions, and C callers, see the
 * System V rules (calls.c, entries.c). Memory is the process's own: nothing is checked. What has no code
 * of its own is done by the interpreter's function for the instruction, in the runtime library.
 *
 * lower_native.c makes SSA form, compile.c goes through the functions, elf.c has the object. */
#pragma once
#include "base/long_work.h"
#include "coil/format/proto.h"
#include "coil/jit/jit.h"
#include "coil/native/elf.h"

struct coil_native {
    const struct coil_module *m;
    struct coil_vm *vm;
    struct coil_elf elf;
    struct ssa_code code;
    struct ssa_work work; /* of the function that is compiled */
    const volatile int *stop;
    struct long_work *between; /* the work that is not of one function; it looks at stop */
    uint8_t *memory;           /* of the code */
    size_t capacity;
    uint8_t *touched;  /* per function: how many of V0 to V5 it takes and gives back */
    uint8_t *entered;  /* per function: C may call it, or its address is taken */
    uint32_t *symbols; /* per symbol of the module: its number in the object + 1; 0: not yet */
    uint32_t *function_symbols; /* per function: its symbol in the object */
    uint32_t *named;            /* symbols that are defined elsewhere, by the names of this file */
    size_t named_count, named_capacity;
    struct coil_proto *protos;
    uint32_t *proto_of; /* per symbol of the module: its prototype + 1; 0: none */
    size_t proto_count, proto_capacity;
    uint32_t *labels; /* cells whose address is taken, without those that begin functions */
    size_t label_count, label_capacity;
    uint32_t *shadows;  /* per section of the module with code: a symbol for its bytes, or 0 */
    uint32_t *sections; /* per section of the module: the one of the object, or 0 */
    uint32_t main;      /* the symbol main, where the program calls its entry otherwise; 0: none */
    uint32_t text;      /* the section of the code */
    uint32_t context;   /* the symbol of the thread's machine, or 0 */
    uint32_t data;      /* a symbol for the descriptions of instructions, or 0 */
    uint32_t strings;   /* a symbol for strings, or 0 */
    struct coil_native_kept { /* types that are described, by their address */
        const void *what;
        uint64_t at;
    } * kept;
    size_t kept_count, kept_size;
    uint32_t trap_function; /* number of the function that ends the program, after all others */
    uint32_t absolute;      /* the symbol with the value 0, or 0 */
    bool uses_context, uses_trap;
    bool bare_entries; /* some do not load the machine */
    bool has_lines;    /* every line keeps its code: nothing is inlined */
    penta_error *err;
};

struct coil_native_range {   /* the code of a function */
    uint32_t from, to, body; /* body: where the function itself begins, after its entry */
    uint32_t frame;
    uint32_t first_return, return_count; /* in the code's returns */
};

/* ---- symbols.c, sections.c: names of the object, and its data ---- */

/* Which functions C may call, whose addresses are taken, and names for all of it. */
bool coil_native_symbols(struct coil_native *n);
bool coil_native_sections(struct coil_native *n); /* data, with its relocations */
/* When the code is there. */
void coil_native_place(struct coil_native *n, const struct coil_native_range *ranges);
struct coil_native_ref { /* an address: of a symbol of the object, and a number */
    uint32_t symbol;     /* 0: the number alone */
    bool far;            /* through the table of addresses */
    int64_t addend;
};
struct coil_native_ref coil_native_ref(struct coil_native *n, uint32_t symbol);
struct coil_native_ref coil_native_label(struct coil_native *n, uint32_t cell);
uint32_t coil_native_named(struct coil_native *n, const char *name); /* defined elsewhere */
struct coil_native_ref coil_native_text(struct coil_native *n,
                                        const char *text); /* in the object */
/* The cells of a function that computed jumps may lead to; free them. */
bool coil_native_labels(const struct coil_native *n, uint32_t function, uint32_t **cells,
                        uint32_t *count);
/* The function that begins at a symbol; UINT32_MAX: none. */
uint32_t coil_native_function(const struct coil_native *n, uint32_t symbol);

/* ---- lower_native.c, calls.c: what lower.c leaves to us ---- */

uint32_t coil_native_address(struct coil_lower *l, uint32_t symbol); /* of the module */
void coil_native_step(struct coil_lower *l);
void coil_native_port(struct coil_lower *l);
void coil_native_branch(struct coil_lower *l, uint8_t condition, uint32_t yes, uint32_t no);
void coil_native_clear(struct coil_lower *l, uint64_t bytes);
void coil_native_leave(struct coil_lower *l); /* the program ends here */
/* A jump or call that only its operand decides, and those to other functions. False: it is none. */
bool coil_native_indirect(struct coil_lower *l, uint32_t next);
bool coil_native_jumps(const struct coil_program *p, uint32_t cell); /* to a computed address */
/* Operand i of the instruction, however it is given: its value in its own type. */
uint32_t coil_native_operand(struct coil_lower *l, unsigned i);
/* calls.c: by a prototype, or NULL; `address` is a value, or 0: the symbol of the object. */
void coil_native_call(struct coil_lower *l, const struct coil_proto *proto, uint32_t address,
                      uint32_t symbol);
struct coil_native_args {
    uint32_t items[COIL_PROTO_ARGS + 8];
    unsigned count;
};
/* Calls a function of the runtime or of the C library; the result, or 0 for SSA_VOID. */
uint32_t coil_native_foreign(struct coil_lower *l, const char *name,
                             const struct coil_native_args *args, bool variadic);
uint32_t coil_native_context(struct coil_lower *l);
uint32_t coil_native_value(struct coil_lower *l, struct coil_native_ref ref);

/* ---- describe_step.c: an instruction as data for the runtime ---- */

struct coil_native_ref coil_native_describe(struct coil_native *n, const struct coil_step *s);

/* ---- entries.c: how C calls a function ---- */

void coil_native_entry(struct coil_native *n, uint32_t function);
bool coil_native_trap_function(struct coil_native *n, struct ssa_function *f);

/* ---- dwarf.c ---- */

void coil_native_unwind(struct coil_native *n, const struct coil_native_range *ranges,
                        size_t count);
void coil_native_lines(struct coil_native *n, const struct coil_native_range *ranges, size_t count);

/* ---- compile.c ---- */

/* stop: as of penta_vm_new_until. */
bool coil_native_compile(const struct coil_module *m, bool text, const volatile int *stop,
                         struct writer *out, penta_error *err);

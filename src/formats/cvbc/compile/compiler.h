/* The files of the compiler share these structs and functions. A sketch becomes words (text/),
 * then a tree with types (parse/, by the rules of tree/operators.c), then instructions (code/):
 * places of variables, code, a file. compile.c runs all of it; library/ has functions that are
 * written in the language of sketches. */
#pragma once
#include "cvbc/compile/compile.h"
#include "cvbc/compile/text/lexer.h"
#include "cvbc/compile/text/names.h"
#include "cvbc/compile/text/sources.h"
#include "cvbc/compile/tree/tree.h"
#include "base/array.h"
#include "base/suggest.h"

enum { ERRORS_MAX = 20, HEIGHT_MAX = 1000, LINE_WORDS = 64, POOL_WORDS = 1024 };

struct emitted { /* an instruction; to_label: immediate is the number of a label */
    uint8_t opcode, flags;
    bool to_label;
    uint32_t immediate, line;
    uint32_t place; /* 1 plus the offset in the sketch of the call that it carries out, or 0 */
};
struct region { /* the instructions of a loop; rounds: how often it runs, or 0 if unknown */
    uint32_t first, last, rounds;
};
struct found_function { /* a definition found by the first pass over the words */
    size_t word;        /* the word at which its declaration begins */
    penta_bytes name;
    bool used;
};
struct text_place { /* a literal whose characters are read by their address */
    penta_bytes text;
    uint32_t address;
};

struct compiler {
    const struct cvbc_compilation *how;
    struct sources sources;
    struct words words;
    size_t pos;     /* index of the next word */
    size_t library; /* index of the first word of the library */
    /* Size of the sketch and its headers; the text of the library comes after them. */
    uint32_t source_size;
    /* `told` are the findings of the caller, to which those in `findings` are passed. */
    struct findings *findings, *told;
    struct arena arena;
    bool failed; /* true if memory has run out */
    /* Spare memory for an item of the tree, used from the time when memory has run out. */
    union {
        struct node node;
        struct symbol symbol;
        struct function function;
        struct record record;
        struct type type;
        struct jump_label label;
    } spare;
    unsigned errors, nesting, parameter_lists;

    /* The fields below are about names. */
    struct symbol **symbols;
    size_t symbol_count, symbol_capacity;
    struct name_index symbol_names;
    struct found_function *found;
    size_t found_count, found_capacity, found_library;
    struct name_index found_names;
    struct record **records;
    size_t record_count, record_capacity;
    struct function **functions;
    size_t function_count, function_capacity;
    struct symbol **lasting; /* variables that exist as long as the program, in order */
    size_t lasting_count, lasting_capacity;
    struct node **modes; /* the pins that pinMode has as arguments */
    size_t mode_count, mode_capacity;
    struct symbol **locals; /* variables that exist only while their function runs, in order */
    size_t local_count, local_capacity;

    /* The fields below are about the function that is being parsed or compiled. */
    struct function *inside;  /* NULL in an initialiser outside of functions */
    struct node **breakables; /* the loops and switches around the current statement */
    size_t breakable_count, breakable_capacity;

    /* Pointers reach this memory: LINE_WORDS words of each array, from array `memory_first` to
     * the last one. */
    bool memory, strings_used;
    bool interrupts;    /* true if the sketch attaches a handler */
    uint32_t pins_told; /* the pins that were reported as not declared, as bits */
    uint32_t place;     /* the place of the instructions that come, as struct emitted has it */
    bool portable_told; /* true if it was reported that an instruction is not portable */
    /* This is true if a pointer may read numbers with another sign than they were written with. */
    bool mixed;
    uint32_t slots, arrays, array_words[CVBC_ARRAYS], memory_first, memory_words, heap_first;

    /* The fields below are about the code. */
    struct emitted *code;
    size_t code_count, code_capacity;
    uint32_t *labels; /* per label: the instruction after it */
    size_t label_count, label_capacity;
    struct region *loops;
    size_t loop_count, loop_capacity;
    struct text_place *texts;
    size_t text_count, text_capacity;
    uint32_t text_end;
    penta_bytes *strings;
    size_t string_count, string_capacity;
    struct code_loop *loop;
    int32_t depth;        /* number of words that were pushed since the start of the function */
    uint32_t line;        /* line of the source for the next instructions */
    int32_t loaded;       /* depth of the stack below which the value of NODE_LOADED is */
    uint32_t load, store; /* labels of the functions that read and write memory by address */
    size_t body;          /* the first instruction of the current function */
};

/* compile.c has words, errors and memory. */
const struct word *compiler_word(const struct compiler *c);
/* Tells whether the next word is this name. */
bool compiler_is(const struct compiler *c, const char *name);
bool compiler_sees(const struct compiler *c, uint32_t sign);
bool compiler_accept(struct compiler *c, uint32_t sign);
bool compiler_expect(struct compiler *c, uint32_t sign, const char *what);
bool compiler_error(struct compiler *c, uint32_t code, uint32_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports an unknown name; "did you mean" is followed by the nearest name in scope. */
bool compiler_unknown(struct compiler *c, const struct word *name, const char *what, bool is_type);
/* Reports an error that is complete. */
void compiler_report(struct compiler *c, penta_error *err);
/* Offers a name for "did you mean". Names with __ belong to the library and are left out. */
void compiler_offer(struct compiler *c, struct suggest *near, penta_bytes name);
/* Reports that a struct has no such member, with the nearest one. Returns false. */
bool compiler_no_member(struct compiler *c, const struct record *r, const struct word *name);
/* Returns the names that are always known, such as HIGH, one by one; NULL after the last. */
const char *compiler_known_name(size_t i);
/* Goes one level of nesting deeper. Returns false when that is too deep, which it reports, or
 * when the work is over. */
bool compiler_enter(struct compiler *c);
void compiler_leave(struct compiler *c);
bool compiler_no_memory(struct compiler *c); /* records that memory ran out; returns false */
/* Tells whether the work is over. It is called before some words are compiled; if it returns
 * true, the text ends here. */
bool compiler_over(struct compiler *c);
/* Returns memory for one item of the tree, filled with zeros. If memory ran out, it returns the
 * spare item, and the work ends soon. */
void *compiler_new(struct compiler *c, size_t size);
/* Returns NULL if memory ran out. */
void *compiler_array(struct compiler *c, size_t count, size_t size);
penta_bytes compiler_text(const struct compiler *c, const struct word *w);
#define COMPILER_GROW(c, items, count, capacity)                                                   \
    (ARRAY_RESERVE(items, capacity, (count) + 1) || compiler_no_memory(c))
#define WORD_ARG(c, w)                                                                             \
    (int)((w)->size > 40 ? 40 : (w)->size), (const char *)(c)->words.text.data + (w)->offset

/* scope.c handles names and their scopes. */
struct symbol *scope_add(struct compiler *c, const struct word *name, enum symbol_kind kind,
                         const struct type *type);
struct symbol *scope_find(struct compiler *c, const struct word *name);
bool scope_twice(const struct compiler *c, const struct word *name, size_t scope);
/* Tells whether a struct, union or enum with this name is declared in the scope. */
bool scope_tag_twice(const struct compiler *c, const struct word *name, size_t scope);
void scope_close(struct compiler *c, size_t scope);
void scope_find_functions(struct compiler *c, size_t from, bool library);
/* Returns a function of the library, which is compiled because something needs it, or NULL if
 * there is none. */
struct function *scope_library(struct compiler *c, const char *name);
void scope_want(struct compiler *c, struct function *f); /* records that the function is called */

/* types_read.c defines the functions below. */
struct specifiers { /* the words before a declared name */
    const struct type *type;
    bool is_static, is_typedef, is_constant;
};
bool compiler_is_type(struct compiler *c, const struct word *w);
bool compiler_specifiers(struct compiler *c, struct specifiers *out);
/* Reads * & ( ) [ ] and a name around a type. *name becomes NULL if there is no name.
 * `parameters` gets the names of the parameters of a function, and may be NULL. */
struct parameter_names {
    const struct word *at[256];
    uint32_t count;
};
bool compiler_declarator(struct compiler *c, const struct type *base, const struct word **name,
                         const struct type **type, struct parameter_names *names);
/* Reads the type of a conversion. */
bool compiler_type_name(struct compiler *c, const struct type **out);
/* Reports a word that the language does not have. */
bool compiler_refused(struct compiler *c, const struct word *w);
/* Offers int, byte and similar words. */
void compiler_type_words(struct suggest *near);
const struct type *type_pointer_to(struct compiler *c, const struct type *of);

/* declarations.c defines the functions below. */
bool compiler_top_level(struct compiler *c);
/* Reads a local declaration. Appends a STATE_DECLARE to the block for each variable that is not
 * static. */
bool compiler_local_declaration(struct compiler *c, size_t scope, struct node *block);
bool compiler_parse_body(struct compiler *c, struct function *f, struct parameter_names *names);
/* Reads a function whose declaration begins at a word: only its head, or all of it if `body` is
 * true. */
bool compiler_function_at(struct compiler *c, size_t word, bool body);
/* initialisers.c defines the function below. */
bool compiler_initialise(struct compiler *c, struct symbol *s);

/* statements.c defines the functions below. */
bool compiler_block(struct compiler *c, struct node *block);
void compiler_recover(struct compiler *c); /* skips to the end of a statement */
void node_add(struct compiler *c, struct node *to, struct node *item);

/* expressions.c reads expressions. Its functions never return NULL; after an error they return a
 * NODE_WRONG. */
/* Reads an expression, which may contain commas. */
struct node *compiler_expression(struct compiler *c);
struct node *compiler_assignment(struct compiler *c); /* reads an expression without commas */
bool compiler_constant_expression(struct compiler *c, uint32_t *value);
/* Reads a string literal; adjacent strings become one. */
bool compiler_literal(struct compiler *c, penta_bytes *text);
bool compiler_declares(struct compiler *c); /* tells whether a declaration begins here */

/* calls.c and printing.c define the functions below. */
struct node *compiler_call(struct compiler *c, const struct word *name);
struct node *call_host(struct compiler *c, const char *function, const struct word *name,
                       struct node *const *values, uint32_t count);
/* Makes a call of a function of the library. `name` is the name for messages. */
struct node *compiler_library_call(struct compiler *c, const char *function,
                                   const struct word *name, struct node *const *values,
                                   uint32_t count);
struct node *compiler_method(struct compiler *c, struct node *object, const struct word *name);
/* Tells whether a word is an object such as Serial or Serial1. */
bool compiler_is_object(struct compiler *c, const struct word *w);
struct node *compiler_object_method(struct compiler *c, const struct word *object);

/* busses.c reads the methods of Wire and SPI. */
bool busses_is(const struct compiler *c, const struct word *w);
struct node *busses_method(struct compiler *c, const struct word *object);
/* Reads values in parentheses, ( a, b ). It is an error if there are more than `most`. */
bool compiler_values(struct compiler *c, struct node **values, uint32_t most, uint32_t *count);

/* operators.c checks expressions and makes their nodes. */
struct node *node_new(struct compiler *c, enum node_kind kind, uint32_t offset);
struct node *node_wrong(struct compiler *c);
struct node *node_number(struct compiler *c, const struct type *t, uint32_t value, uint32_t offset);
struct node *node_text(struct compiler *c, penta_bytes text, uint32_t offset);
struct node *node_variable(struct compiler *c, struct symbol *s, uint32_t offset);
struct node *node_value(struct compiler *c, struct node *n); /* makes a value of an object */
/* Makes a condition: a word that is 0 or not. */
struct node *node_truth(struct compiler *c, struct node *n);
struct node *node_convert(struct compiler *c, struct node *n, const struct type *to);
/* Does what node_convert does if C converts implicitly. Otherwise it reports an error: "argument
 * 1 of f is .., not .." */
struct node *node_assignable(struct compiler *c, struct node *n, const struct type *to,
                             const char *what);
struct node *node_unary(struct compiler *c, uint32_t sign, struct node *a, uint32_t offset);
struct node *node_binary(struct compiler *c, uint32_t sign, struct node *a, struct node *b,
                         uint32_t offset);
struct node *node_logical(struct compiler *c, bool either, struct node *a, struct node *b,
                          uint32_t offset);
struct node *node_choice(struct compiler *c, struct node *a, struct node *b, struct node *d,
                         uint32_t offset);
struct node *node_assign(struct compiler *c, uint32_t sign, struct node *a, struct node *b,
                         uint32_t offset);
struct node *node_step(struct compiler *c, bool up, bool post, struct node *a, uint32_t offset);
/* Makes object = value. In `value`, NODE_LOADED stands for the old value of the object. */
struct node *node_update(struct compiler *c, struct node *object, struct node *value,
                         uint32_t offset);
struct node *node_address(struct compiler *c, struct node *a, uint32_t offset);
struct node *node_at(struct compiler *c, struct node *a, uint32_t offset);
struct node *node_index(struct compiler *c, struct node *a, struct node *b, uint32_t offset);
struct node *node_member(struct compiler *c, struct node *a, const struct word *name, bool arrow);
struct node *node_helper(struct compiler *c, const char *name, const struct type *type,
                         struct node *a, struct node *b, uint32_t offset);
bool node_has_place(const struct node *n);
bool node_is_known(const struct node *n);

/* layout.c defines the function below. */
void compiler_layout(struct compiler *c);

/* code.c emits instructions. */
void code_emit(struct compiler *c, uint8_t opcode, uint8_t flags, uint32_t immediate);
/* Emits an instruction and counts its words on the stack. */
void code_op(struct compiler *c, uint8_t opcode, uint32_t immediate);
void code_constant(struct compiler *c, uint32_t value);
uint32_t code_label(struct compiler *c); /* makes a new label, which is placed later */
void code_put(struct compiler *c, uint32_t label);
void code_jump(struct compiler *c, uint8_t opcode, uint32_t label);
void code_call(struct compiler *c, uint32_t label);
void code_trap(struct compiler *c); /* emits code that ends the program with MEMORY_BOUNDS */
void code_printf(struct compiler *c, penta_bytes text, uint32_t count);
uint32_t code_text_address(struct compiler *c, penta_bytes text);
void code_frame_load(struct compiler *c, int32_t word);
void code_frame_store(struct compiler *c, int32_t word);
/* code/places.c defines the functions below. */
struct place {
    enum { PLACE_SLOT, PLACE_FRAME, PLACE_ARRAY, PLACE_MEMORY } kind;
    uint32_t array;
    int32_t at;   /* number of a slot, word of the frame, or index in the array */
    bool dynamic; /* true if the index, or for PLACE_MEMORY the address, is on the stack */
};
void code_place(struct compiler *c, const struct node *n, struct place *p);
struct place code_place_of(const struct symbol *s, uint32_t word);
void code_address(struct compiler *c, const struct node *n);
/* Removes the index or address from the stack. */
void code_load(struct compiler *c, const struct place *p);
/* Stores the word that is below the index or address, and removes both from the stack. */
void code_store(struct compiler *c, const struct place *p);
/* code/values.c defines the functions below. */
void code_value(struct compiler *c, const struct node *n);
void code_bound(struct compiler *c, const struct type *from, const struct type *to);
/* Makes instructions that leave nothing on the stack. */
void code_effects(struct compiler *c, const struct node *n);
void code_assign(struct compiler *c, const struct node *n, bool wanted);
/* code/records.c defines the functions below. */
void code_record_assign(struct compiler *c, const struct node *n, bool wanted);
void code_record_value(struct compiler *c, const struct node *n);
void code_string_release(struct compiler *c); /* used for Strings instead of POP */
bool code_string_owned(const struct node *n);
void code_string_assign(struct compiler *c, const struct node *n, bool wanted);
void code_string_value(struct compiler *c, const struct node *n, bool owned);
/* code/calls.c defines the functions below. */
void code_calls(struct compiler *c, const struct node *n);
void code_print(struct compiler *c, const struct node *n);
/* code/statements.c defines the functions below. */
void code_statement(struct compiler *c, const struct node *n);
void code_declare(struct compiler *c, const struct symbol *s);
void code_function(struct compiler *c, struct function *f);
/* code/memory.c defines the function below. */
void code_memory(struct compiler *c);

/* start.c makes the function with which the machine starts. */
void compiler_start(struct compiler *c);
/* interrupts.c makes the calls of handlers (CVBC 16.5.0.3). compiler_handlers marks the functions
 * that handlers may call. code_poll makes code that calls a handler if there was an edge.
 * code_delay makes a delay that handlers interrupt; it returns false if there are none. */
void compiler_handlers(struct compiler *c);
void code_poll(struct compiler *c);
bool code_delay(struct compiler *c, const struct node *n);
/* output.c defines the function below. */
void compiler_output(struct compiler *c, struct cvbc_build *b, struct writer *debug);

/* library/base.c, library/float.c and library/string.c have the source text of the library. */
extern const char *const cvbc_library_base, *const cvbc_library_float, *const cvbc_library_string;
/* These are the names of the calls that are not in the library; the list ends with NULL. */
extern const char *const compiler_call_names[];

/* The tree of a sketch consists of expressions with their types, and of statements. The parser
 * makes it, operators.c checks it and computes constants while it is made, layout.c gives places
 * to the variables, and the files of code/ make instructions from it. */
#pragma once
#include "cvbc/compile/tree/types.h"

enum node_kind {
    NODE_WRONG,    /* an expression with an error, which has been reported */
    NODE_NUMBER,   /* number: a constant, or the bits of a float */
    NODE_TEXT,     /* text: a literal; its value is the pointer to its first character */
    NODE_VARIABLE, /* the variable `symbol` */
    NODE_FUNCTION, /* the number of `function`, as a pointer to it */
    NODE_MEMBER,   /* a: a record; number: the word where the member begins */
    NODE_INDEX,    /* element b of the array a */
    NODE_AT,       /* the object that the pointer a points to */
    NODE_ADDRESS,  /* the address of object a, or of its first element */
    NODE_LOADED,   /* in an update: the old value of the variable, which is on the stack */
    NODE_UNARY,    /* the result of `opcode` for operand a */
    NODE_BINARY,   /* the result of `opcode` for a and b; flag: the result is negated */
    NODE_BOTH,     /* a && b; with flag: a || b */
    NODE_CHOICE,   /* the expression a ? b : c */
    /* A = b; flag: b is an update with NODE_LOADED in it; post: the result is the old value. */
    NODE_ASSIGN,
    NODE_CONVERT, /* a, limited to the range of the number type */
    NODE_COMMA,   /* the expression a, b */
    NODE_CALL,    /* the call function(items) */
    NODE_CALL_AT, /* the call (*a)(items) through a pointer */
    NODE_HOST,    /* the host instruction `opcode` with the arguments `items` */
    NODE_PRINT,   /* prints `text` with `items`, by PRINTF */
    /* NODE_HEAP is the address of the first word of the memory for Strings; with flag, of the
     * word after the last. */
    NODE_HEAP,

    STATE_BLOCK,   /* a block with the statements `items` */
    STATE_VALUE,   /* the expression a, computed for its effects */
    STATE_DECLARE, /* declares `symbol`, with its initial values */
    STATE_IF,      /* the statement if (a) b else c */
    STATE_WHILE,   /* the statement while (a) b */
    STATE_DO,      /* the statement do b while (a) */
    /* For (items[0]; a; c) b; items[0] may be NULL; number: its rounds, or 0 if unknown. */
    STATE_FOR,
    STATE_SWITCH, /* switch (a) b; items: its cases */
    STATE_CASE,   /* case number; flag: default */
    STATE_BREAK,
    STATE_CONTINUE,
    STATE_RETURN, /* returns the value a, or nothing if a is NULL */
    STATE_LABEL,  /* defines the label `label` */
    STATE_GOTO,   /* the statement goto `label` */
};
struct node {
    uint8_t kind, opcode;
    bool flag, post;
    uint16_t height; /* height of the tree below the node, which limits the recursion over it */
    uint32_t line, offset;
    const struct type *type;
    uint32_t number;
    uint32_t count; /* number of nodes in items */
    uint32_t place; /* for a switch: the word of the frame that holds its value */
    struct node *a, *b, *c, **items;
    penta_bytes text;
    struct symbol *symbol;
    struct function *function;
    struct jump_label *label;
};
struct jump_label {
    penta_bytes name;
    bool defined;
    /* `target` is the number of the label in the code, and `offset` is where it was first named. */
    uint32_t target, offset;
    struct jump_label *next;
};
struct initial { /* the initial value of one word of an object */
    uint32_t word;
    const struct type *type;
    struct node *value;
};

enum symbol_kind { SYMBOL_VARIABLE, SYMBOL_FUNCTION, SYMBOL_CONSTANT, SYMBOL_TYPE, SYMBOL_WRONG };
enum storage { STORAGE_NONE, STORAGE_SLOT, STORAGE_FRAME, STORAGE_ARRAY };
struct symbol {
    penta_bytes name;
    enum symbol_kind kind;
    const struct type *type;
    /* This is true if it exists as long as the program: it is static or outside of functions. */
    bool lives;
    bool parameter; /* true if the caller pushed its words */
    bool addressed; /* true if something may point to it */
    bool changed;   /* true if something other than its initialiser assigns to it */
    bool reference; /* true if it is a reference; its word is the address of the object */
    bool known;     /* true for a constant, whose value is `number` */
    bool hidden;    /* true if its scope has ended */
    bool library, file_scope;
    bool is_tag; /* true for the name of a struct, union or enum, which other names may share */
    uint32_t number, offset, line;
    struct function *function; /* the function itself, or for a local variable its function */
    struct initial *initials;
    size_t initial_count, initial_capacity;
    /* This is the variable's place: a slot, a word of the frame (negative for parameters), or an
     * array and its first word there. An object of more than 64 words continues in the arrays
     * that follow. */
    enum storage storage;
    int32_t place;
    uint32_t array;
    uint32_t first, last; /* the instructions in which it is in scope */
};
struct function {
    penta_bytes name;
    const struct type *type; /* NULL until the function is declared */
    struct symbol **parameters;
    struct node *body; /* NULL until the function is defined */
    size_t word;       /* index of the word where its declaration begins */
    uint32_t offset, index, label, entry, end;
    uint32_t parameter_words, result_words;
    /* These count the words of its locals: the most at any time, and those of the open scopes. */
    uint32_t frame, frame_now;
    /* This many locals have the type String; their words come after the others. */
    uint32_t strings;
    uint32_t line, last_line;
    bool library, addressed, wanted;
    bool in_handler; /* true if it is a handler of interrupts, or a handler may call it */
    bool in_place;   /* true if the result takes the place of the first argument */
    struct function **calls;
    size_t call_count, call_capacity;
    struct jump_label *labels;
    struct node *indirect; /* a call through a pointer in this function, or NULL */
};

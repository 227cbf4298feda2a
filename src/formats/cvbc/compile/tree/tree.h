/* The tree of a sketch: expressions with their types, and statements. The parser makes it, operators.c checks and
 * folds while it is made, layout.c gives the variables places, and code_*.c makes instructions of it. */
#pragma once
#include "cvbc/compile/tree/types.h"

enum node_kind {
    NODE_WRONG,    /* an error, which is reported */
    NODE_NUMBER,   /* number: a value that is known, also the bits of a float */
    NODE_TEXT,     /* text: a literal, the pointer to its first character */
    NODE_VARIABLE, /* symbol */
    NODE_FUNCTION, /* function: its number as a pointer */
    NODE_MEMBER,   /* a: a record; number: the word of the member */
    NODE_INDEX,    /* a: an array, b: the index */
    NODE_AT,       /* a: a pointer */
    NODE_ADDRESS,  /* a: what has a place; also the first element of an array */
    NODE_LOADED,   /* in an update: the value that the variable has, which lies on the stack */
    NODE_UNARY,    /* opcode of a */
    NODE_BINARY,   /* a opcode b; flag: the result is negated */
    NODE_BOTH,     /* a && b; flag: a || b */
    NODE_CHOICE,   /* a ? b : c */
    NODE_ASSIGN, /* a = b; flag: b is an update with NODE_LOADED in it; post: leaves the old value */
    NODE_CONVERT, /* a, bounded to the number type */
    NODE_COMMA,   /* a, b */
    NODE_CALL,    /* function(items) */
    NODE_CALL_AT, /* (*a)(items) */
    NODE_HOST,    /* the instruction opcode with items */
    NODE_PRINT,   /* prints text with items: PRINTF */
    NODE_HEAP,    /* the address of the first word for Strings; flag: of the word after the last */

    STATE_BLOCK,   /* items */
    STATE_VALUE,   /* a: an expression for its effects */
    STATE_DECLARE, /* symbol with its initial values */
    STATE_IF,      /* if (a) b else c */
    STATE_WHILE,   /* while (a) b */
    STATE_DO,      /* do b while (a) */
    STATE_FOR,    /* for (items[0]; a; c) b; items[0] may be NULL; number: its rounds, 0: unknown */
    STATE_SWITCH, /* switch (a) b; items: its cases */
    STATE_CASE,   /* number; flag: default */
    STATE_BREAK,
    STATE_CONTINUE,
    STATE_RETURN, /* a, or NULL */
    STATE_LABEL,  /* label */
    STATE_GOTO,   /* label */
};
struct node {
    uint8_t kind, opcode;
    bool flag, post;
    uint16_t height; /* of the tree below: bounds the recursion of those who walk it */
    uint32_t line, offset;
    const struct type *type;
    uint32_t number;
    uint32_t count; /* of items */
    uint32_t place; /* of a switch: the word of the frame that holds its value */
    struct node *a, *b, *c, **items;
    penta_bytes text;
    struct symbol *symbol;
    struct function *function;
    struct jump_label *label;
};
struct jump_label {
    penta_bytes name;
    bool defined;
    uint32_t target, offset; /* the number of the label in the code; where it was named first */
    struct jump_label *next;
};
struct initial { /* one word of an object at its start */
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
    bool lives;     /* as long as the program: of file scope, or static */
    bool parameter; /* its words were pushed by the caller */
    bool addressed; /* something may point to it */
    bool changed;   /* something assigns to it, other than its initialiser */
    bool reference; /* it holds the address of what it names */
    bool known;     /* a constant: number is its value */
    bool hidden;    /* its scope has ended */
    bool library, file_scope;
    uint32_t number, offset, line;
    struct function *function; /* the function, or the one that it is a local of */
    struct initial *initials;
    size_t initial_count, initial_capacity;
    /* Where it is: a slot, a word of the frame (negative for parameters), or an array and its first word there. An
     * object of more than 64 words goes on in the arrays that follow. */
    enum storage storage;
    int32_t place;
    uint32_t array;
    uint32_t first, last; /* the instructions in which it is in scope */
};
struct function {
    penta_bytes name;
    const struct type *type; /* NULL until it is declared */
    struct symbol **parameters;
    struct node *body; /* NULL until it is defined */
    size_t word;       /* where its declaration begins in the source */
    uint32_t offset, index, label, entry, end;
    uint32_t parameter_words, result_words;
    uint32_t frame, frame_now; /* words of locals: most, and in the scopes that are open */
    uint32_t strings;          /* locals of type String, whose words follow the others */
    uint32_t line, last_line;
    bool library, addressed, wanted;
    bool in_place; /* the result takes the place of the first argument */
    struct function **calls;
    size_t call_count, call_capacity;
    struct jump_label *labels;
    struct node *indirect; /* a call through a pointer */
};

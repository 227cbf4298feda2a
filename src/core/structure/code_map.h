/* Declares the code map: all the code of a module as a list of instructions that is cut into
 * blocks and functions. It is built once from what a driver tells about single instructions.
 * Profiler, coverage, graphs and listings share it. */
#pragma once
#include "base/arena.h"
#include "core/driver.h"
#include "penta/structure.h"

struct code_insn {
    uint64_t pc, next; /* `next` is the place after the instruction. */
    uint32_t block;
    bool starts_block, starts_function;
    penta_branch branch;
};

struct code_map {
    const penta_module *module;
    struct code_insn *insns; /* in the order of their pcs */
    size_t count, capacity;
    penta_block *blocks; /* in the order of their pcs */
    size_t block_count;
    penta_function *functions; /* in the order of their pcs; each block belongs to one function */
    size_t function_count;
    struct arena names;
};

/* Builds the map. Returns NULL with an error when the module is damaged or has no code, or
 * memory ran out. */
struct code_map *code_map_new(const penta_module *module, penta_error *err);
void code_map_free(struct code_map *map); /* `map` may be NULL. */
/* Returns the number of the instruction at pc, or map->count when none starts there. */
size_t code_map_find(const struct code_map *map, uint64_t pc);

/* Defines what the driver.c of every format needs: the tables of its .def files, and the entries of
 * struct driver that every format has.
 *
 *     #define FORMAT coil
 *     #define RULE(...) RULE_ROW(COIL_, __VA_ARGS__)
 *     #include "core/driver_tables.h"            coil_rules, coil_traps, options, layout
 *     static const struct engine *const engines[] = {&coil_interp, NULL};
 *     const struct driver coil_driver = {
 *         DRIVER_ROW(coil, COIL_FORMAT, "COIL intermediate language object", ".casm", ";"),
 *         .next_pc = coil_next_pc,               and what else it has
 *     }; */
#include "core/driver.h"
#include "core/engine.h"
#include "core/layout/parts.h"

#define TABLE_JOIN(format, what) format##_##what
#define TABLE_NAME(format, what) TABLE_JOIN(format, what)
#define TABLE_QUOTE(path) #path
/* clang-format must not add blanks here: they would become part of the name of the file. */
/* clang-format off */
#define TABLE_PATH(format, what) TABLE_QUOTE(format/what.def)
/* clang-format on */
#define TABLE_FILE(format, what) TABLE_PATH(format, what)

const penta_rule TABLE_NAME(FORMAT, rules)[] = {
#include TABLE_FILE(FORMAT, rules)
    {0}};

const penta_trap TABLE_NAME(FORMAT, traps)[] = {
#define TRAP(...) TRAP_ROW(__VA_ARGS__)
#include TABLE_FILE(FORMAT, traps)
    {0}};

static const penta_option_info options[] = {
#define OPTION(...) OPTION_ROW(__VA_ARGS__),
#include "core/options.def"
#include TABLE_FILE(FORMAT, options)
    {.key = NULL}};

static const struct layout_part layout[] = {
#define STRUCT(name, meaning, order) {NULL, #name, NULL, NULL, NULL, NULL, meaning, order},
#define PART(owner, name, type, count, place, condition, meaning)                                  \
    {#owner, #name, type, count, place, condition, meaning, NULL},
#include TABLE_FILE(FORMAT, parts)
    {.name = NULL}};

extern const struct debug_info TABLE_NAME(FORMAT, debug); /* defined in vm/debug.c */
extern const struct driver_edit TABLE_NAME(FORMAT, edit); /* defined in format/edit.c */

#define DRIVER_ROW(own, own_number, own_title, own_suffix, own_comment)                            \
    .name = #own, .number = own_number, .title = own_title, .suffix = own_suffix,                  \
    .comment = own_comment, .rules = own##_rules, .traps = own##_traps, .options = options,        \
    .layout = layout, .engines = engines, .probe = own##_probe, .parse = own##_parse,              \
    .verify = own##_verify, .describe = own##_describe, .info = own##_info,                        \
    .encode = own##_encode, .print = own##_print, .print_at = own##_print_at,                      \
    .parts = own##_parts, .pc_of = own##_pc_of, .offset_of = own##_offset_of,                      \
    .close = own##_close, .host = &own##_host, .debug = &own##_debug, .edit = &own##_edit

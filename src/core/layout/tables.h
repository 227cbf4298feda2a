/* Makes the tables that describe the records in LAYOUT_FILE. One .c file of each format includes it. */
/* clang-format off */
#define RECORD(r) const struct layout_field LAYOUT(r##_fields)[] = {
#define FIELD(r, bits, name, kind, meaning) {#name, bits / 8, PENTA_##kind, meaning},
#define BYTES(r, count, name, meaning) {#name, count, PENTA_RAW, meaning},
#define END(r) {NULL, 0, PENTA_RAW, NULL}};
/* clang-format on */
#include LAYOUT_FILE

const struct layout_record LAYOUT(records)[] = {
#define RECORD(r) {#r, LAYOUT(r##_fields)},
#define FIELD(r, bits, name, kind, meaning)
#define BYTES(r, count, name, meaning)
#define END(r)
#include LAYOUT_FILE
    {NULL, NULL}};

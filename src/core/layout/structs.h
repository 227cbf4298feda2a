/* Makes structs, sizes, readers and writers of the records in LAYOUT_FILE (core/layout/layout.h). It has no include
 * guard: each format includes it once, from its own header. */
#define RECORD(r) struct LAYOUT(r) {
#define FIELD(r, bits, name, kind, meaning) uint##bits##_t name;
#define BYTES(r, count, name, meaning) uint8_t name[count];
#define END(r)                                                                                     \
    }                                                                                              \
    ;
#include LAYOUT_FILE

#define RECORD(r) enum { LAYOUT(r##_bytes) = 0
#define FIELD(r, bits, name, kind, meaning) +bits / 8
#define BYTES(r, count, name, meaning) +count
#define END(r)                                                                                     \
    }                                                                                              \
    ;
#include LAYOUT_FILE

#define RECORD(r)                                                                                  \
    static inline void LAYOUT(r##_read)(struct reader * in, struct LAYOUT(r) * out)                \
    {
#define FIELD(r, bits, name, kind, meaning) out->name = (uint##bits##_t)reader_uint(in, bits / 8);
#define BYTES(r, count, name, meaning)                                                             \
    {                                                                                              \
        const uint8_t *p = reader_take(in, count);                                                 \
        if (p) memcpy(out->name, p, count);                                                        \
    }
#define END(r) }
#include LAYOUT_FILE

#define RECORD(r)                                                                                  \
    static inline void LAYOUT(r##_write)(struct writer * out, const struct LAYOUT(r) * in)         \
    {
#define FIELD(r, bits, name, kind, meaning) writer_uint(out, in->name, bits / 8);
#define BYTES(r, count, name, meaning) writer_bytes(out, in->name, count);
#define END(r) }
#include LAYOUT_FILE

#define RECORD(r) extern const struct layout_field LAYOUT(r##_fields)[];
#define FIELD(r, bits, name, kind, meaning)
#define BYTES(r, count, name, meaning)
#define END(r)
#include LAYOUT_FILE

extern const struct layout_record LAYOUT(records)[];

/* Writes the four Trinity files: headers and code for the registers of a board, and a
 * description as JSON. */
#include "cvbc/host/trinity.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/json/json_write.h"

const char *const cvbc_trinity_names[TRINITY_FILES] = {"trinity_board.h", "trinity_pins.hpp",
                                                       "trinity.ld", "trinity_board.json"};

enum { PWM_OUT = 9 }; /* a value of pin_function */
enum { PORT_STRIDE = 0x400, STM32 = 1, FLASH_PAGE_KB = 2 };
#define AHB2ENR UINT32_C(0x4002104C)
#define FLASH_ORIGIN UINT32_C(0x08000000)
#define RAM_ORIGIN UINT32_C(0x20000000)

/* These are the offsets of the GPIO registers. */
enum {
    MODER = 0x00,
    OTYPER = 0x04,
    OSPEEDR = 0x08,
    PUPDR = 0x0c,
    IDR = 0x10,
    BSRR = 0x18,
    AFRL = 0x20
};

struct firmware {
    struct cvbc_board board;
    /* The record of the first container, extended by the needs of the others. */
    struct cvbc_core core;
    struct cvbc_pin *pins; /* pins of all containers, sorted by port and pin */
    size_t pin_count;
    int16_t logical[256];   /* per logical pin: its index in `pins`, or -1 */
    uint8_t (*digests)[32]; /* digests of the containers, in sorted order */
    size_t digest_count;
    uint32_t stack;
};

static int by_place(const void *a, const void *b)
{
    const struct cvbc_pin *x = a, *y = b;
    int port = x->port_identifier - y->port_identifier;
    return port ? port : x->pin_number - y->pin_number;
}

static int by_digest(const void *a, const void *b) { return memcmp(a, b, 32); }

static struct cvbc_pin *pin_at(const struct firmware *f, uint8_t port, uint8_t pin)
{
    struct cvbc_pin key = {.port_identifier = port, .pin_number = pin};
    return bsearch(&key, f->pins, f->pin_count, sizeof *f->pins, by_place);
}

/* Finds the place that a logical pin has on the board (CVBC 19.5). */
static bool trinity_place(const struct firmware *f, struct cvbc_pin *pin, penta_error *err)
{
    if (pin->port_identifier != CVBC_PORT_LOGICAL) return true;
    unsigned n = pin->pin_number;
    const struct cvbc_board_pin *at = n < CVBC_LOGICAL_PINS ? &f->board.logical[n] : NULL;
    if (!at || !at->there)
        return error_at(err, CVBC_TARGET, 0, "logical pin %u, which %s does not have", n,
                        f->board.name);
    pin->port_identifier = at->place.port;
    pin->pin_number = at->place.pin;
    if (pin->pin_function == PWM_OUT) pin->pin_alternate_function = at->alternate;
    return true;
}

static bool add_pins(struct firmware *f, const struct cvbc_module *m, penta_error *err)
{
    for (size_t i = 0; i < m->meta.pin_count; i++) {
        struct cvbc_pin placed = m->meta.pins[i], *pin = &placed;
        if (!trinity_place(f, pin, err)) return false;
        const struct cvbc_pin *known = pin_at(f, pin->port_identifier, pin->pin_number);
        if (known && memcmp(known, pin, sizeof *pin))
            return error_at(err, CVBC_TARGET, 0, "two containers use pin %u of port %u differently",
                            pin->pin_number, pin->port_identifier);
        if (known) continue;
        if (pin->port_identifier > 25)
            return error_at(err, CVBC_TARGET, 0, "port %u has no letter", pin->port_identifier);
        f->pins[f->pin_count++] = *pin;
        qsort(f->pins, f->pin_count, sizeof *f->pins, by_place);
    }
    return true;
}

static bool trinity_add(struct firmware *f, const struct cvbc_module *m, bool first,
                        penta_error *err)
{
    const struct cvbc_core *c = &m->meta.core;
    if (first) f->core = *c;
    if (c->target_architecture != f->core.target_architecture ||
        c->target_family != f->core.target_family || c->target_variant != f->core.target_variant)
        return error_at(err, CVBC_TARGET, 0, "the containers name different targets");
    f->core.target_features |= c->target_features;
    if (c->min_flash_kb > f->core.min_flash_kb) f->core.min_flash_kb = c->min_flash_kb;
    if (c->min_ram_kb > f->core.min_ram_kb) f->core.min_ram_kb = c->min_ram_kb;
    const struct cvbc_opened *o = cvbc_open(m);
    if (o->failure.code) {
        *err = o->failure;
        return false;
    }
    if (c->max_stack_depth_words > f->stack) f->stack = c->max_stack_depth_words;
    if (o->program.head.stack_size_required > f->stack)
        f->stack = o->program.head.stack_size_required;
    cvbc_digest(m->base.file, f->digests[f->digest_count++]);
    return add_pins(f, m, err);
}

static bool map_logical(struct firmware *f, const struct cvbc_module *m, penta_error *err)
{
    for (unsigned logical = 0; logical < 256; logical++) {
        size_t record;
        if (!cvbc_board_record(&m->meta, logical, &record)) continue;
        struct cvbc_pin pin = m->meta.pins[record];
        if (!trinity_place(f, &pin, err)) return false;
        const struct cvbc_pin *p = pin_at(f, pin.port_identifier, pin.pin_number);
        if (!p) continue;
        int16_t index = (int16_t)(p - f->pins);
        if (f->logical[logical] >= 0 && f->logical[logical] != index)
            return error_at(err, CVBC_TARGET, 0, "two containers map logical pin %u differently",
                            logical);
        f->logical[logical] = index;
    }
    return true;
}

static bool find_board(struct firmware *f, const struct cvbc_board *board, penta_error *err)
{
    if (board) f->board = *board;
    for (size_t i = 0; !board && cvbc_board_name(i); i++) {
        if (!cvbc_board_find(cvbc_board_name(i), &f->board, err)) return false;
        if (f->board.architecture == f->core.target_architecture &&
            f->board.family == f->core.target_family && f->board.variant == f->core.target_variant)
            return true;
    }
    return board || error_at(err, CVBC_TARGET, 0,
                             "no known board is variant 0x%04x; name one with option 'board'",
                             f->core.target_variant);
}

static bool has_registers(const struct firmware *f)
{
    return f->board.gpio && f->core.target_family == STM32;
}

static uint32_t base_of(const struct firmware *f, const struct cvbc_pin *pin)
{
    return has_registers(f) ? (uint32_t)f->board.gpio + pin->port_identifier * PORT_STRIDE : 0;
}

static void set_bits(struct writer *w, uint32_t address, unsigned shift, uint32_t mask,
                     uint32_t value)
{
    writer_print(w, "    trinity_set(0x%08" PRIX32 "u, 0x%08" PRIX32 "u, 0x%08" PRIX32 "u);\n",
                 address, mask << shift, value << shift);
}

static void print_init(struct writer *w, const struct firmware *f, const struct cvbc_pin *pin)
{
    static const uint8_t moder[] = {0, 0, 1, 2, 3};
    uint32_t base = base_of(f, pin);
    unsigned n = pin->pin_number, port = pin->port_identifier;
    set_bits(w, AHB2ENR, port, 1, 1);
    writer_print(w, "    *(volatile uint32_t *)(uintptr_t)0x%08" PRIX32 "u = 0x%08" PRIX32 "u;\n",
                 base + BSRR, pin->pin_initial_state ? UINT32_C(1) << n : UINT32_C(1) << (n + 16));
    set_bits(w, base + OTYPER, n, 1, pin->pin_flags & 1);
    set_bits(w, base + OSPEEDR, 2 * n, 3, pin->pin_drive_strength & 3);
    set_bits(w, base + PUPDR, 2 * n, 3, pin->pin_pull <= 2 ? pin->pin_pull : 0);
    if (pin->pin_mode == 3)
        set_bits(w, base + AFRL + (n >= 8 ? 4 : 0), 4 * (n % 8), 15,
                 pin->pin_alternate_function & 15);
    set_bits(w, base + MODER, 2 * n, 3, moder[pin->pin_mode <= 4 ? pin->pin_mode : 0]);
}

static bool trinity_usable(const struct firmware *f, const struct cvbc_pin *pin)
{
    return has_registers(f) && pin->pin_number < 16;
}

static void print_pin(struct writer *w, const struct firmware *f, const struct cvbc_pin *pin)
{
    char name[16];
    uint32_t base = base_of(f, pin), bit = UINT32_C(1) << (pin->pin_number & 15);
    snprintf(name, sizeof name, "p%c%u", 'a' + pin->port_identifier, pin->pin_number);
    writer_print(w,
                 "\nstatic inline void trinity_%s_write(int level)\n{\n"
                 "    *(volatile uint32_t *)(uintptr_t)0x%08" PRIX32 "u = level ? 0x%08" PRIX32
                 "u : 0x%08" PRIX32 "u;\n}\n",
                 name, base + BSRR, bit, bit << 16);
    writer_print(w,
                 "static inline int trinity_%s_read(void)\n{\n"
                 "    return (int)((*(volatile uint32_t *)(uintptr_t)0x%08" PRIX32
                 "u >> %u) & 1u);\n}\n",
                 name, base + IDR, pin->pin_number);
    writer_print(w, "static inline void trinity_%s_init(void)\n{\n", name);
    print_init(w, f, pin);
    writer_text(w, "}\n");
}

static void print_h(struct writer *w, const struct firmware *f)
{
    const struct cvbc_core *c = &f->core;
    writer_text(w, "/* Generated by penta board generate; do not edit. */\n#pragma once\n#include "
                   "<stdint.h>\n\n");
    writer_print(
        w,
        "#define TRINITY_TARGET_ARCHITECTURE %uu\n#define TRINITY_TARGET_FAMILY       %uu\n"
        "#define TRINITY_TARGET_VARIANT      0x%04Xu\n#define TRINITY_FEATURES            "
        "0x%08Xu\n",
        c->target_architecture, c->target_family, c->target_variant, (unsigned)c->target_features);
    for (unsigned bit = 0; bit < 16; bit++)
        writer_print(w, "#define TRINITY_HAS_%-15s %u\n", cvbc_feature(bit),
                     c->target_features >> bit & 1);
    writer_print(
        w,
        "#define TRINITY_MIN_FLASH_KB        %uu\n#define TRINITY_MIN_RAM_KB          %uu\n"
        "#define TRINITY_STACK_WORDS         %uu\n#define TRINITY_PIN_COUNT           %zuu\n\n",
        (unsigned)c->min_flash_kb, (unsigned)c->min_ram_kb, (unsigned)f->stack, f->pin_count);
    writer_text(
        w,
        "typedef struct {\n    uint32_t base;\n    uint8_t port, pin, function, mode, pull, drive, "
        "initial, flags;\n    uint16_t hz;\n    uint32_t alternate;\n} trinity_pin_t;\n\n");
    if (f->pin_count) {
        writer_text(w, "static const trinity_pin_t trinity_pins[TRINITY_PIN_COUNT] = {\n");
        for (size_t i = 0; i < f->pin_count; i++) {
            const struct cvbc_pin *p = &f->pins[i];
            writer_print(w, "    { 0x%08" PRIX32 "u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %uu },\n",
                         base_of(f, p), p->port_identifier, p->pin_number, p->pin_function,
                         p->pin_mode, p->pin_pull, p->pin_drive_strength, p->pin_initial_state,
                         p->pin_flags, p->pin_frequency_hz, (unsigned)p->pin_alternate_function);
        }
        writer_text(w, "};\n");
    }
    if (!has_registers(f)) {
        writer_text(
            w, "\n/* Register code is not available for this family: the table above is all. */\n");
        return;
    }
    writer_text(
        w, "\n/* The bits of mask become those of value. */\n"
           "static inline void trinity_set(uint32_t address, uint32_t mask, uint32_t value)\n{\n"
           "    volatile uint32_t *reg = (volatile uint32_t *)(uintptr_t)address;\n"
           "    *reg = (*reg & ~mask) | value;\n}\n");
    for (size_t i = 0; i < f->pin_count; i++)
        if (trinity_usable(f, &f->pins[i])) print_pin(w, f, &f->pins[i]);
    writer_text(w, "\nstatic inline void trinity_board_init(void)\n{\n");
    for (size_t i = 0; i < f->pin_count; i++)
        if (trinity_usable(f, &f->pins[i]))
            writer_print(w, "    trinity_p%c%u_init();\n", 'a' + f->pins[i].port_identifier,
                         f->pins[i].pin_number);
    writer_text(w, "}\n");
}

static void print_hpp(struct writer *w, const struct firmware *f)
{
    writer_text(
        w,
        "// Generated by penta board generate; do not edit.\n#pragma once\n#include <cstdint>\n\n"
        "namespace trinity {\n");
    if (has_registers(f))
        writer_text(w,
                    "template <std::uintptr_t Base, unsigned Pin> struct stm32_pin {\n"
                    "    static_assert(Pin < 16, \"STM32 ports have 16 pins\");\n"
                    "    static constexpr std::uint32_t mask = 1u << Pin;\n"
                    "    static volatile std::uint32_t &reg(std::uintptr_t off) "
                    "{ return *reinterpret_cast<volatile std::uint32_t *>(Base + off); }\n"
                    "    static void write(bool level) { reg(0x18) = level ? mask : mask << 16; }\n"
                    "    static bool read() { return (reg(0x10) & mask) != 0; }\n};\n");
    else
        writer_text(w, "// Register code is not available for this family.\n");
    for (size_t i = 0; i < f->pin_count; i++) {
        const struct cvbc_pin *p = &f->pins[i];
        const char *function = cvbc_name("pin_function", p->pin_function),
                   *mode = cvbc_name("pin_mode", p->pin_mode);
        if (trinity_usable(f, p))
            writer_print(w, "using P%c%u = stm32_pin<0x%08" PRIX32 "u, %u>; // %s %s, initial %s\n",
                         'A' + p->port_identifier, p->pin_number, base_of(f, p), p->pin_number,
                         function ? function : "?", mode ? mode : "?",
                         p->pin_initial_state ? "high" : "low");
    }
    writer_text(
        w,
        "template <unsigned LogicalPin> struct logical_pin; // undeclared pins do not compile\n");
    for (unsigned i = 0; i < 256; i++)
        if (f->logical[i] >= 0 && trinity_usable(f, &f->pins[f->logical[i]]))
            writer_print(w, "template <> struct logical_pin<%u> : P%c%u {};\n", i,
                         'A' + f->pins[f->logical[i]].port_identifier,
                         f->pins[f->logical[i]].pin_number);
    writer_text(w, "} // namespace trinity\n");
}

static void print_ld(struct writer *w, const struct firmware *f)
{
    writer_text(w, "/* Generated by penta board generate; do not edit. */\n");
    if (!has_registers(f) || f->board.flash_kb <= FLASH_PAGE_KB) {
        writer_text(w, "/* A memory map is not available for this family. */\n");
        return;
    }
    uint64_t flash = f->board.flash_kb - FLASH_PAGE_KB;
    writer_print(w,
                 "MEMORY\n{\n  FLASH    (rx)  : ORIGIN = 0x%08" PRIX32 ", LENGTH = %" PRIu64 "K\n"
                 "  BYTECODE (r)   : ORIGIN = 0x%08" PRIX32 ", LENGTH = %dK\n"
                 "  RAM      (rwx) : ORIGIN = 0x%08" PRIX32 ", LENGTH = %" PRIu64 "K\n}\n",
                 FLASH_ORIGIN, flash, (uint32_t)(FLASH_ORIGIN + flash * 1024), FLASH_PAGE_KB,
                 RAM_ORIGIN, f->board.ram_kb);
    writer_print(w,
                 "ASSERT(LENGTH(FLASH) + LENGTH(BYTECODE) >= %uK, \"program needs %u KB flash\")\n"
                 "ASSERT(LENGTH(RAM) >= %uK, \"program needs %u KB RAM\")\n",
                 (unsigned)f->core.min_flash_kb, (unsigned)f->core.min_flash_kb,
                 (unsigned)f->core.min_ram_kb, (unsigned)f->core.min_ram_kb);
}

static void trinity_upper(struct json *j, const char *key, const char *word)
{
    char text[40] = "";
    for (size_t i = 0; word && word[i] && i + 1 < sizeof text; i++)
        text[i] = (char)toupper((unsigned char)word[i]);
    json_text(j, key, word ? text : NULL);
}

static void print_json(struct writer *w, const struct firmware *f)
{
    const struct cvbc_core *c = &f->core;
    struct json j = {.out = w};
    char text[32];
    json_object(&j, NULL);
    json_object(&j, "target");
    trinity_upper(&j, "architecture", cvbc_name("target_architecture", c->target_architecture));
    trinity_upper(&j, "family", cvbc_name("target_family", c->target_family));
    trinity_upper(&j, "variant", f->board.name);
    snprintf(text, sizeof text, "0x%04x", c->target_variant);
    json_text(&j, "code", text);
    json_end(&j);
    json_list(&j, "features");
    for (unsigned bit = 0; bit < 16; bit++)
        if (c->target_features >> bit & 1) json_text(&j, NULL, cvbc_feature(bit));
    json_end(&j);
    json_uint(&j, "min_flash_kb", c->min_flash_kb);
    json_uint(&j, "min_ram_kb", c->min_ram_kb);
    json_list(&j, "pins");
    for (size_t i = 0; i < f->pin_count; i++) {
        const struct cvbc_pin *p = &f->pins[i];
        char port[2] = {(char)('A' + p->port_identifier), 0};
        json_object(&j, NULL);
        json_text(&j, "port", port);
        json_uint(&j, "pin", p->pin_number);
        trinity_upper(&j, "function", cvbc_name("pin_function", p->pin_function));
        trinity_upper(&j, "mode", cvbc_name("pin_mode", p->pin_mode));
        trinity_upper(&j, "pull", cvbc_name("pin_pull", p->pin_pull));
        json_uint(&j, "drive", p->pin_drive_strength);
        json_uint(&j, "initial", p->pin_initial_state);
        snprintf(text, sizeof text, "0x%08" PRIX32, base_of(f, p));
        json_text(&j, "base", text);
        json_end(&j);
    }
    json_end(&j);
    json_object(&j, "logical_pins");
    for (unsigned i = 0; i < 256; i++) {
        if (f->logical[i] < 0) continue;
        char key[8];
        const struct cvbc_pin *p = &f->pins[f->logical[i]];
        snprintf(key, sizeof key, "%u", i);
        snprintf(text, sizeof text, "P%c%u", 'A' + p->port_identifier, p->pin_number);
        json_text(&j, key, text);
    }
    json_end(&j);
    json_uint(&j, "stack_words", f->stack);
    json_list(&j, "sources");
    for (size_t i = 0; i < f->digest_count; i++) {
        json_object(&j, NULL);
        json_hex(&j, "sha256", (penta_bytes){f->digests[i], 32});
        json_end(&j);
    }
    json_finish(&j);
}

bool cvbc_trinity(const struct cvbc_module *const *files, size_t count,
                  const struct cvbc_board *board, struct writer out[TRINITY_FILES],
                  penta_error *err)
{
    struct firmware f = {0};
    size_t pins = 1;
    for (size_t i = 0; i < count; i++) pins += files[i]->meta.pin_count;
    for (unsigned i = 0; i < 256; i++) f.logical[i] = -1;
    f.pins = calloc(pins, sizeof *f.pins);
    f.digests = calloc(count + 1, sizeof *f.digests);
    bool ok = (f.pins && f.digests) || error_at(err, BASE_MEMORY, 0, "no memory for the board");
    if (count) f.core = files[0]->meta.core;
    ok = ok && find_board(&f, board, err);
    for (size_t i = 0; ok && i < count; i++) ok = trinity_add(&f, files[i], !i, err);
    for (size_t i = 0; ok && i < count; i++) ok = map_logical(&f, files[i], err);
    if (ok) {
        qsort(f.digests, f.digest_count, sizeof *f.digests, by_digest);
        print_h(&out[TRINITY_H], &f);
        print_hpp(&out[TRINITY_HPP], &f);
        print_ld(&out[TRINITY_LD], &f);
        print_json(&out[TRINITY_JSON], &f);
        for (int i = 0; i < TRINITY_FILES; i++) ok = ok && writer_ok(&out[i], err);
    }
    free(f.pins);
    free(f.digests);
    return ok;
}

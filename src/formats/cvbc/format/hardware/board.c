/* Checks whether a program fits a board (CVBC 19.3), and finds the pins of a program. */
#include "cvbc/format/hardware/board.h"
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "cvbc/format/hardware/hardware.h"

/* The functions below check whether a program fits. */

static const char *board_named(const char *field, uint64_t value)
{
    const char *name = cvbc_name(field, value);
    return name ? name : "unknown";
}

/* Reports each instance or channel of a mask that the board does not have. Bit 0 is number
 * `first`, because UARTs, I2Cs, SPIs and timers are counted from 1 (CVBC 3.6). */
static void check_instances(const struct cvbc_core *c, const struct cvbc_board *b, uint64_t at,
                            struct findings *f)
{
    const struct {
        const char *name;
        unsigned first;
        uint64_t offset, mask, count;
    } all[] = {{"UART", 1, 18, c->uart_instances_mask, b->uarts},
               {"I2C", 1, 19, c->i2c_instances_mask, b->i2cs},
               {"SPI", 1, 20, c->spi_instances_mask, b->spis},
               {"timer", 1, 21, c->timer_instances_mask, b->timers},
               {"ADC channel", 0, 22, c->adc_channels_mask, b->adc_channels},
               {"DAC channel", 0, 23, c->dac_channels_mask, b->dac_channels},
               {"interrupt priority", 0, 24, c->interrupt_priority_mask, b->priorities},
               {"DMA channel", 0, 26, c->dma_channels_mask, b->dma_channels}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned bit = 0; bit < 16; bit++) {
            if (!(all[i].mask >> bit & 1) || bit < all[i].count) continue;
            unsigned first = all[i].first, last = first + (unsigned)all[i].count - 1;
            if (all[i].count)
                findings_add(f, CVBC_TARGET, at + all[i].offset, NULL, "%s %u, %s has %u to %u",
                             all[i].name, first + bit, b->name, first, last);
            else
                findings_add(f, CVBC_TARGET, at + all[i].offset, NULL, "%s %u, %s has none",
                             all[i].name, first + bit, b->name);
        }
    if (c->max_interrupt_latency_us && c->max_interrupt_latency_us < b->latency_us)
        findings_add(f, CVBC_TARGET, at + 80, NULL, "interrupts within %u us, %s may take %u",
                     c->max_interrupt_latency_us, b->name, (unsigned)b->latency_us);
}

static void check_target(const struct cvbc_module *m, const struct cvbc_board *b,
                         struct findings *f)
{
    const struct cvbc_core *c = &m->meta.core;
    uint64_t at = cvbc_offset(m, m->metadata.data);
    if (c->target_architecture && c->target_architecture != b->architecture)
        findings_add(f, CVBC_TARGET, at, NULL,
                     "the program is for architecture %s, board %s has %s",
                     board_named("target_architecture", c->target_architecture), b->name,
                     board_named("target_architecture", b->architecture));
    if (c->target_family && c->target_family != b->family)
        findings_add(f, CVBC_TARGET, at + 1, NULL,
                     "the program is for family %s, board %s is of %s",
                     board_named("target_family", c->target_family), b->name,
                     board_named("target_family", b->family));
    if (c->target_variant && c->target_variant != b->variant)
        findings_add(f, CVBC_TARGET, at + 2, NULL, "variant 0x%04x, %s is 0x%04x",
                     c->target_variant, b->name, (unsigned)b->variant);
    for (unsigned bit = 0; bit < 32; bit++)
        if (c->target_features >> bit & 1 && !(b->features >> bit & 1))
            findings_add(f, CVBC_TARGET, at + 4, NULL, "feature %s%.*u, which %s does not have",
                         cvbc_feature(bit) ? cvbc_feature(bit) : "number ",
                         cvbc_feature(bit) ? 0 : 1, cvbc_feature(bit) ? 0 : bit, b->name);
    check_instances(c, b, at, f);
    if (c->min_flash_kb > b->flash_kb)
        findings_add(f, CVBC_TARGET, at + 8, NULL, "%u KB of flash, %s has %u",
                     (unsigned)c->min_flash_kb, b->name, (unsigned)b->flash_kb);
    if (c->min_ram_kb > b->ram_kb)
        findings_add(f, CVBC_TARGET, at + 12, NULL, "%u KB of RAM, %s has %u",
                     (unsigned)c->min_ram_kb, b->name, (unsigned)b->ram_kb);
    if (c->max_heap_bytes > b->ram_kb * 1024)
        findings_add(f, CVBC_TARGET, at + 72, NULL, "%u bytes of heap, %s has %u KB of RAM",
                     (unsigned)c->max_heap_bytes, b->name, (unsigned)b->ram_kb);
}

static void check_dependencies(const struct cvbc_module *m, const struct cvbc_board *b,
                               struct findings *f)
{
    enum { REQUIRED = 3 };
    uint64_t at =
        cvbc_offset(m, m->metadata.data) + cvbc_core_bytes + m->meta.pin_count * cvbc_pin_bytes;
    for (size_t i = 0; i < m->meta.dependency_count; i++, at += cvbc_dependency_bytes) {
        const struct cvbc_dependency *d = &m->meta.dependencies[i];
        bool there = d->criticality != REQUIRED;
        for (size_t k = 0; k < b->library_count && !there; k++) {
            const struct cvbc_library *l = &b->libraries[k];
            there = !strncmp(l->name, (const char *)d->lib_name, sizeof d->lib_name) &&
                    (l->major > d->min_version_major ||
                     (l->major == d->min_version_major && l->minor >= d->min_version_minor));
        }
        if (!there)
            findings_add(f, CVBC_TARGET, at, NULL,
                         "library %.15s %u.%u is required, %s does not have it",
                         (const char *)d->lib_name, (unsigned)d->min_version_major,
                         (unsigned)d->min_version_minor, b->name);
    }
}

void cvbc_board_check(const struct cvbc_module *m, const struct cvbc_board *b, uint64_t stack,
                      struct findings *f)
{
    if (b->any || m->metadata.size < cvbc_core_bytes) return;
    check_target(m, b, f);
    uint64_t at = cvbc_offset(m, m->metadata.data) + cvbc_core_bytes;
    for (size_t i = 0; i < m->meta.pin_count; i++, at += cvbc_pin_bytes) {
        const struct cvbc_pin *pin = &m->meta.pins[i];
        if (pin->port_identifier == CVBC_PORT_LOGICAL) {
            bool there = !b->maps ||
                         (pin->pin_number < CVBC_LOGICAL_PINS && b->logical[pin->pin_number].there);
            if (!there)
                findings_add(f, CVBC_TARGET, at, NULL, "logical pin %u, which %s does not have",
                             pin->pin_number, b->name);
        } else if (pin->port_identifier >= b->ports || pin->pin_number >= b->pins)
            findings_add(f, CVBC_TARGET, at, NULL, "pin %c%u, %s has ports A to %c of %u pins",
                         'A' + pin->port_identifier % 26, pin->pin_number, b->name,
                         (char)('A' + (b->ports ? b->ports - 1 : 0) % 26), (unsigned)b->pins);
    }
    check_dependencies(m, b, f);
    cvbc_board_uses(m, b, f);
    if (m->meta.core.max_stack_depth_words > stack)
        findings_add(f, CVBC_TARGET, cvbc_offset(m, m->metadata.data) + 68, NULL,
                     "a stack of %u words, the machine has %llu",
                     (unsigned)m->meta.core.max_stack_depth_words, (unsigned long long)stack);
}

/* Finds a pin in the TLVs of the custom metadata (CVBC 3.11), where type 1 has pairs {logical
 * pin, pin record}. *maps becomes true if there are such pairs. */
static bool pin_of_custom(const struct cvbc_metadata *m, unsigned logical, size_t *record,
                          bool *maps)
{
    penta_bytes c = m->custom;
    for (size_t at = 0; at + 4 <= c.size;) {
        unsigned type = bytes_get16(c.data + at), size = bytes_get16(c.data + at + 2);
        if (size > c.size - at - 4) return false;
        for (size_t i = 0; type == 1 && i + 1 < size; i += 2) {
            *maps = true;
            if (c.data[at + 4 + i] != logical || c.data[at + 5 + i] >= m->pin_count) continue;
            *record = c.data[at + 5 + i];
            return true;
        }
        at += 4 + size;
    }
    return false;
}

bool cvbc_board_mapped(const struct cvbc_metadata *m, unsigned logical, size_t *record)
{
    bool maps = false;
    return pin_of_custom(m, logical, record, &maps);
}

bool cvbc_board_record(const struct cvbc_metadata *m, unsigned logical, size_t *record)
{
    size_t found = 0;
    bool maps = false;
    if (pin_of_custom(m, logical, record, &maps)) return true;
    if (maps && m->enforced) return false; /* If there is a map, only its pins are declared. */
    for (size_t i = 0; i < m->pin_count; i++)
        if (m->pins[i].pin_number == logical) {
            *record = i;
            found++;
        }
    return found == 1;
}

/* Computes where the areas of a program are in guest memory: its data, stack and auxiliary data. */
#include "pvm/format/layout.h"
#include "base/number.h"

static const uint64_t top = UINT64_C(1) << 32;
enum { ZONE = 1 << 16 };

static bool layout_polkavm(const struct pvm_program *p, uint64_t aux, uint32_t page,
                           struct pvm_layout *out)
{
    uint64_t ro = ZONE, rw = ro + round_up(p->ro_size, ZONE) + ZONE;
    uint64_t aux_at = top - ZONE - round_up(aux, ZONE), stack_top = aux_at - ZONE;
    uint64_t low = rw + round_up(p->rw_size, ZONE) + ZONE,
             stack_zone = round_up(p->stack_size, ZONE);
    if (aux > top / 2 || stack_zone > stack_top || low > stack_top - stack_zone) return false;
    uint64_t heap_base = rw + p->rw_size;
    *out = (struct pvm_layout){.ro = (uint32_t)ro,
                               .ro_length = round_up(p->ro_size, page),
                               .rw = (uint32_t)rw,
                               .rw_length = round_up(p->rw_size, page),
                               .stack_top = (uint32_t)stack_top,
                               .stack_length = round_up(p->stack_size, page),
                               .stack = (uint32_t)(stack_top - round_up(p->stack_size, page)),
                               .aux = (uint32_t)aux_at,
                               .aux_length = round_up(aux, page),
                               .heap_base = heap_base,
                               .heap_max = (stack_top - stack_zone - low) +
                                           (rw + round_up(p->rw_size, ZONE) - heap_base)};
    return true;
}

static bool layout_spi(const struct pvm_program *p, uint64_t arguments, struct pvm_layout *out)
{
    const uint64_t input = UINT64_C(1) << 24;
    uint64_t rw = 2 * ZONE + round_up(p->ro_size, ZONE);
    uint64_t rw_length = round_up(p->rw_data.size, PVM_PAGE) + (uint64_t)p->heap_pages * PVM_PAGE;
    uint64_t stack_top = top - 2 * ZONE - input,
             heap = p->rw_data.size + (uint64_t)p->heap_pages * PVM_PAGE;
    if (5 * ZONE + round_up(p->ro_size, ZONE) + round_up(heap, ZONE) +
                round_up(p->stack_size, ZONE) + input >
            top ||
        arguments > input)
        return false;
    *out = (struct pvm_layout){.ro = ZONE,
                               .ro_length = round_up(p->ro_size, PVM_PAGE),
                               .rw = (uint32_t)rw,
                               .rw_length = rw_length,
                               .stack_top = (uint32_t)stack_top,
                               .stack_length = round_up(p->stack_size, PVM_PAGE),
                               .stack = (uint32_t)(stack_top - round_up(p->stack_size, PVM_PAGE)),
                               .aux = (uint32_t)(top - ZONE - input),
                               .aux_length = round_up(arguments, PVM_PAGE),
                               .heap_base = rw + rw_length,
                               .heap_max = stack_top - round_up(p->stack_size, ZONE) - ZONE -
                                           (rw + rw_length)};
    return true;
}

bool pvm_layout(const struct pvm_program *p, uint64_t aux_size, uint32_t page,
                struct pvm_layout *out, penta_error *err)
{
    bool generic = p->dialect == PVM_JAM && !p->spi;
    if (generic) {
        *out = (struct pvm_layout){0};
        return true;
    }
    if (p->dialect == PVM_JAM ? layout_spi(p, aux_size, out)
                              : layout_polkavm(p, aux_size, page, out))
        return true;
    return error_at(err, BASE_LIMIT, 0,
                    "data, stack and aux area do not fit 4 GiB of guest memory");
}

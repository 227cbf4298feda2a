/* Has the numbers of dynamics.def, and reads the option that changes them. */
#include "base/suggest.h"
#include "tvmr/host/domain_state.h"
#include <stdlib.h>

static const struct {
    const char *name;
    int32_t start, least, most;
} dynamics[TVMR_DYNAMICS] = {
#define DYNAMIC(id, name, start, least, most, meaning) [DYNAMIC_##id] = {name, start, least, most},
#include "tvmr/host/dynamics.def"
};

const char *tvmr_dynamic_name(size_t i) { return i < TVMR_DYNAMICS ? dynamics[i].name : NULL; }

void tvmr_dynamics_start(struct tvmr_domain *w)
{
    for (size_t i = 0; i < TVMR_DYNAMICS; i++) w->dynamics[i] = dynamics[i].start;
}

/* Sets a number from an item NAME=N of the list. */
static bool set_one(struct tvmr_domain *w, penta_bytes item, penta_error *err)
{
    const uint8_t *equals = item.size ? memchr(item.data, '=', item.size) : NULL;
    size_t size = equals ? (size_t)(equals - item.data) : item.size, i = 0;
    struct suggest near = {.word = bytes_slice(item, 0, size)};
    while (i < TVMR_DYNAMICS && !bytes_equal(near.word, bytes_of(dynamics[i].name)))
        suggest_offer(&near, dynamics[i++].name);
    if (i == TVMR_DYNAMICS) {
        error_at(err, BASE_OPTION_VALUE, 0,
                 "option 'dynamics': '%.*s' is none of the host's numbers",
                 BYTES_ARG(near.word, 40));
        return near.best ? error_note(err, "did you mean '%s'?", near.best) : false;
    }
    int64_t value = 0;
    bool good = size + 1 < item.size && item.size - size <= 11;
    for (size_t k = size + 1; good && k < item.size; k++) {
        good = item.data[k] >= '0' && item.data[k] <= '9';
        value = value * 10 + item.data[k] - '0';
    }
    if (!good || value < dynamics[i].least || value > dynamics[i].most)
        return error_at(err, BASE_OPTION_VALUE, 0, "option 'dynamics': %s is %d to %d",
                        dynamics[i].name, dynamics[i].least, dynamics[i].most);
    w->dynamics[i] = (int32_t)value;
    return true;
}

bool tvmr_domain_dynamics(struct tvmr_domain *w, const char *list, penta_error *err)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        if (!set_one(w, (penta_bytes){(const uint8_t *)list, n}, err)) return false;
        list += n + (list[n] == ',');
    }
    return true;
}

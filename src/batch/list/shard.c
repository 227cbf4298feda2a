/* Divides sources among shards. A heap of loads finds the shard with the least load, in a time
 * that grows with the logarithm of the number of shards. */
#include "batch/list/shard.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/number.h"

enum { SHARD_FILE_COST = 4096 }; /* A small file costs as much as this many bytes of a large one. */

bool shard_parse(const char *text, struct shard *out, penta_error *err)
{
    char copy[48];
    *out = (struct shard){0};
    if (!text || !*text) return true;
    snprintf(copy, sizeof copy, "%s", text);
    char *slash = strchr(copy, '/');
    if (slash) *slash = 0;
    if (slash && strlen(text) < sizeof copy && number_parse(copy, &out->number) &&
        number_parse(slash + 1, &out->count) && out->number < out->count && out->count <= SHARD_MAX)
        return true;
    error_at(err, BASE_OPTION_VALUE, 0, "option 'shard': '%.40s' is no shard", text);
    return error_note(err, "K/N: K from 0 to N-1, N at most %d", SHARD_MAX);
}

void shard_free(struct shard *s)
{
    free(s->loads);
    s->loads = NULL;
}

static bool shard_loads_start(struct shard *s, penta_error *err)
{
    if (s->loads) return true;
    s->loads = zeros_new(s->count * 2 * sizeof *s->loads, "shards", err);
    for (uint64_t i = 0; s->loads && i < s->count; i++) s->loads[2 * i + 1] = i;
    return s->loads != NULL;
}

static bool shard_less(const uint64_t *a, const uint64_t *b)
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

/* Moves the root of the heap down to its place after its load has grown. */
static void shard_sink(struct shard *s)
{
    uint64_t at = 0;
    for (;;) {
        uint64_t least = at;
        for (uint64_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->count; child++)
            if (shard_less(s->loads + 2 * child, s->loads + 2 * least)) least = child;
        if (least == at) return;
        for (int i = 0; i < 2; i++) {
            uint64_t kept = s->loads[2 * at + (uint64_t)i];
            s->loads[2 * at + (uint64_t)i] = s->loads[2 * least + (uint64_t)i];
            s->loads[2 * least + (uint64_t)i] = kept;
        }
        at = least;
    }
}

bool shard_takes(struct shard *s, uint64_t position, bool sized, uint64_t size, bool *mine,
                 penta_error *err)
{
    *mine = true;
    if (!s->count) return true;
    if (!sized) {
        *mine = position % s->count == s->number;
        return true;
    }
    if (!shard_loads_start(s, err)) return false;
    *mine = s->loads[1] == s->number;
    uint64_t cost = size > UINT64_MAX / 4 / SHARD_MAX ? UINT64_MAX / 4 / SHARD_MAX : size;
    s->loads[0] += cost + SHARD_FILE_COST;
    shard_sink(s);
    return true;
}

bool shard_settle(const char *given, uint64_t planned, char text[48], penta_error *err)
{
    static const char *const variables[] = {"SLURM_ARRAY_TASK_ID", "OMPI_COMM_WORLD_RANK",
                                            "PMI_RANK", "JOB_COMPLETION_INDEX"};
    const char *slash = strchr(given, '/'), *number = given, *from = NULL;
    size_t size = slash ? (size_t)(slash - given) : strlen(given);
    if (size == 4 && !memcmp(given, "auto", 4)) {
        for (size_t i = 0; !from && i < sizeof variables / sizeof *variables; i++)
            from = getenv(variables[i]);
        if (!from) {
            error_at(err, BASE_OPTION_VALUE, 0,
                     "option 'shard': no scheduler has told the number of this shard");
            return error_note(err, "auto takes it from SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK, "
                                   "PMI_RANK or JOB_COMPLETION_INDEX");
        }
        number = from;
        size = strlen(from);
    }
    struct shard parsed;
    if (slash)
        snprintf(text, 48, "%.*s%s", (int)(size < 20 ? size : 20), number, slash);
    else if (planned)
        snprintf(text, 48, "%.*s/%llu", (int)(size < 20 ? size : 20), number,
                 (unsigned long long)planned);
    else {
        error_at(err, BASE_OPTION_VALUE, 0, "option 'shard': the number of shards is not known");
        return error_note(err, "K/N or auto/N says it; batch submit writes it beside the results");
    }
    return shard_parse(text, &parsed, err);
}

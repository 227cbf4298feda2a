/* Finds the word nearest to a misspelt one by edit distance. */
#include "base/suggest.h"
#include <ctype.h>
#include <string.h>

enum { WORD_MAX = 40 };

/* Returns the edit distance of two short words. A swap of two neighbouring letters, the
 * commonest slip, counts as one edit. */
static unsigned edit_distance(const uint8_t *a, size_t m, const uint8_t *b, size_t n)
{
    unsigned char row[3][WORD_MAX + 1];
    for (size_t j = 0; j <= n; j++) row[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned char *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        now[0] = (unsigned char)i;
        for (size_t j = 1; j <= n; j++) {
            int x = tolower(a[i - 1]), y = tolower(b[j - 1]);
            unsigned best = up[j - 1] + (x != y ? 1u : 0u);
            if (up[j] + 1u < best) best = up[j] + 1u;
            if (now[j - 1] + 1u < best) best = now[j - 1] + 1u;
            if (i > 1 && j > 1 && x == tolower(b[j - 2]) && y == tolower(a[i - 2]) &&
                up2[j - 2] + 1u < best)
                best = up2[j - 2] + 1u;
            now[j] = (unsigned char)best;
        }
    }
    return row[m % 3][n];
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    size_t n = strlen(candidate);
    if (!s->word.size || s->word.size > WORD_MAX || n > WORD_MAX) return;
    size_t longer = s->word.size > n ? s->word.size : n,
           shorter = s->word.size > n ? n : s->word.size;
    if ((longer - shorter) * 3 > longer + 1)
        return; /* The distance is at least the difference of the lengths. */
    unsigned d = edit_distance(s->word.data, s->word.size, (const uint8_t *)candidate, n);
    /* A word with more than about one slip in three letters is not near. */
    if (d * 3 > longer + 1) return;
    if (!s->best || d < s->distance) {
        s->best = candidate;
        s->distance = d;
    }
}

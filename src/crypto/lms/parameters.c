/* Finds parameter sets in the table of lms.def, by number or by their names as text. A name has
 * the height of the tree, the bits of a digit, and the bytes of a hash where they are not 32. */
#include "crypto/lms/lms.h"

static const struct lms_parameters trees[] = {
#define LMS_TREE(type, name, bytes, levels) {.tree = type, .hash = bytes, .height = levels},
#include "crypto/lms/lms.def"
};
static const struct lms_parameters one_time[] = {
#define LMS_OTS(type, name, bytes, bits, count, left)                                              \
    {.ots = type, .hash = bytes, .digit = bits, .chains = count, .shift = left},
#include "crypto/lms/lms.def"
};
enum { TREES = sizeof trees / sizeof *trees, ONE_TIME = sizeof one_time / sizeof *one_time };

static bool parameters_join(const struct lms_parameters *tree, const struct lms_parameters *ots,
                            struct lms_parameters *out)
{
    if (tree->hash != ots->hash) return false;
    *out = *ots;
    out->tree = tree->tree;
    out->height = tree->height;
    return true;
}

bool lms_parameters_find(uint32_t tree, uint32_t ots, struct lms_parameters *out)
{
    for (size_t i = 0; i < TREES; i++)
        for (size_t k = 0; trees[i].tree == tree && k < ONE_TIME; k++)
            if (one_time[k].ots == ots) return parameters_join(&trees[i], &one_time[k], out);
    return false;
}

/* Reads a letter and a number of at most two digits. */
static bool letter_number(penta_bytes *text, char letter, unsigned *out)
{
    size_t n = 1;
    *out = 0;
    if (!text->size || text->data[0] != (uint8_t)letter) return false;
    for (; n < text->size && n < 3 && text->data[n] >= '0' && text->data[n] <= '9'; n++)
        *out = *out * 10 + text->data[n] - '0';
    *text = (penta_bytes){text->data + n, text->size - n};
    return n > 1;
}

static bool slash_take(penta_bytes *text)
{
    if (!text->size || text->data[0] != '/') return false;
    *text = (penta_bytes){text->data + 1, text->size - 1};
    return true;
}

bool lms_parameters_read(penta_bytes text, struct lms_parameters *out)
{
    unsigned height, digit, hash = 32;
    if (!letter_number(&text, 'h', &height) || !slash_take(&text) ||
        !letter_number(&text, 'w', &digit))
        return false;
    if (text.size && (!slash_take(&text) || !letter_number(&text, 'n', &hash))) return false;
    for (size_t i = 0; i < TREES && !text.size; i++)
        for (size_t k = 0; trees[i].hash == hash && trees[i].height == height && k < ONE_TIME; k++)
            if (one_time[k].digit == digit && parameters_join(&trees[i], &one_time[k], out))
                return true;
    return false;
}

void lms_parameters_write(const struct lms_parameters *p, struct writer *out)
{
    writer_print(out, "h%u/w%u", p->height, p->digit);
    if (p->hash != 32) writer_print(out, "/n%u", p->hash);
}

size_t lms_public_size(const struct lms_parameters *p) { return 4 + 4 + LMS_ID + p->hash; }

size_t lms_signature_size(const struct lms_parameters *p)
{
    return 4 + 4 + (size_t)(1 + p->chains) * p->hash + 4 + (size_t)p->height * p->hash;
}

/* A struct lms_tree is the private half of one LMS tree. Its one-time keys follow from a seed
 * (RFC 8554, appendix A), so that nothing but the seed is secret. Making a tree takes 2^height
 * one-time keys. The upper half of its nodes, the crown, is kept, so that a signature needs only
 * those one-time keys that lie below one node of the crown. */
#pragma once
#include "base/long_work.h"
#include "crypto/lms/lms.h"

struct lms_tree {
    struct lms_parameters p;
    uint8_t id[LMS_ID], seed[LMS_HASH_MAX];
};

/* The crown has 2^lms_crown_depth nodes of p->hash bytes. */
static inline unsigned lms_crown_depth(const struct lms_parameters *p)
{
    return (p->height + 1) / 2;
}
static inline size_t lms_crown_size(const struct lms_parameters *p)
{
    return (size_t)p->hash << lms_crown_depth(p);
}

/* Computes the crown. Returns false when the work was ended. */
bool lms_tree_crown(const struct lms_tree *tree, uint8_t *crown, struct long_work *work);
/* Writes the public key of the tree. */
void lms_tree_public(const struct lms_tree *tree, const uint8_t *crown, struct writer *out);
/* Signs with the one-time key q. The caller has made sure that q signs nothing else, ever. */
void lms_tree_sign(const struct lms_tree *tree, const uint8_t *crown, uint32_t q,
                   penta_bytes message, struct writer *out);
/* Derives the tree of the next level below leaf q: its identifier and seed. */
void lms_tree_below(const struct lms_tree *tree, uint32_t q, const struct lms_parameters *p,
                    struct lms_tree *out);

/* Makes LMS trees from seeds and signs with their leaves (RFC 8554, 4.3, 4.5, 5.3 and appendix
 * A). The random value of a signature follows from the seed, too, so that signing the same
 * message again gives the same bytes. */
#include "crypto/lms/tree.h"
#include <string.h>
#include "base/bytes.h"

/* These values stand in place of a chain's number where something else is derived from the seed. */
enum lms_derived { DERIVED_RANDOM = 0xfffd, DERIVED_SEED = 0xfffe, DERIVED_ID = 0xffff };

/* Derives a secret from the seed: the start of chain `what`, or one of lms_derived. */
static void tree_derive(const struct lms_tree *tree, uint32_t q, unsigned what,
                        uint8_t out[LMS_HASH_MAX])
{
    uint8_t block[LMS_ID + 7 + LMS_HASH_MAX];
    memcpy(block, tree->id, LMS_ID);
    bytes_put_big(block + LMS_ID, q, 4);
    bytes_put_big(block + LMS_ID + 4, what, 2);
    block[LMS_ID + 6] = 0xff;
    memcpy(block + LMS_ID + 7, tree->seed, tree->p.hash);
    hash_sha256((penta_bytes){block, LMS_ID + 7 + tree->p.hash}, out);
    secret_wipe(block, sizeof block);
}

static void tree_leaf(const struct lms_tree *tree, uint32_t q, uint8_t out[LMS_HASH_MAX])
{
    const struct lms_parameters *p = &tree->p;
    const penta_bytes none = {0};
    uint8_t ends[LMS_CHAINS_MAX * LMS_HASH_MAX], value[LMS_HASH_MAX];
    for (unsigned i = 0; i < p->chains; i++) {
        tree_derive(tree, q, i, value);
        lms_chain(p, tree->id, q, i, 0, lms_steps(p), value);
        memcpy(ends + (size_t)i * p->hash, value, p->hash);
    }
    lms_hash(tree->id, q, LMS_KEY, (penta_bytes){ends, (size_t)p->chains * p->hash}, none, value);
    lms_hash(tree->id, (1u << p->height) + q, LMS_LEAF, (penta_bytes){value, p->hash}, none, out);
}

static void tree_join(const struct lms_tree *tree, uint32_t node, const uint8_t *left,
                      const uint8_t *right, uint8_t out[LMS_HASH_MAX])
{
    lms_hash(tree->id, node, LMS_NODE, (penta_bytes){left, tree->p.hash},
             (penta_bytes){right, tree->p.hash}, out);
}

/* Goes up from node `at`, whose value is in `value`, as far as it is a right child. The left
 * child that ends the way is kept on the stack, which has one node for each of `levels`. After
 * the last of the nodes, `value` is the one above them. `path`, unless NULL, gets the values of
 * nodes that are siblings of the way from node `own` up. */
static void tree_climb(const struct lms_tree *tree, uint32_t at, unsigned levels, uint32_t own,
                       uint8_t *path, uint8_t stack[][LMS_HASH_MAX], uint8_t value[LMS_HASH_MAX])
{
    unsigned hash = tree->p.hash;
    for (unsigned level = 0; level < levels; level++, at /= 2) {
        if (path && at == (own >> level ^ 1)) memcpy(path + (size_t)level * hash, value, hash);
        if (!(at & 1)) {
            memcpy(stack[level], value, hash);
            return;
        }
        tree_join(tree, at / 2, stack[level], value, value);
    }
}

/* Computes the node `node` of the tree, which is `levels` above the leaves, from its leaves,
 * left to right. `path`, unless NULL, gets the siblings of the way from leaf q up to the node.
 * False: the work was ended. */
static bool tree_node(const struct lms_tree *tree, uint32_t node, unsigned levels, uint32_t q,
                      uint8_t *path, struct long_work *work, uint8_t out[LMS_HASH_MAX])
{
    uint8_t stack[LMS_HEIGHT_MAX][LMS_HASH_MAX];
    const struct lms_parameters *p = &tree->p;
    uint32_t first = (node << levels) - (1u << p->height);
    uint64_t units = (uint64_t)p->chains * lms_steps(p) + 8;
    for (uint32_t i = 0; i < 1u << levels; i++) {
        if (long_work_over(work, units)) return false;
        tree_leaf(tree, first + i, out);
        tree_climb(tree, (node << levels) + i, levels, (1u << p->height) + q, path, stack, out);
    }
    return true;
}

bool lms_tree_crown(const struct lms_tree *tree, uint8_t *crown, struct long_work *work)
{
    unsigned depth = lms_crown_depth(&tree->p), hash = tree->p.hash;
    uint8_t value[LMS_HASH_MAX];
    for (uint32_t i = 0; i < 1u << depth; i++) {
        if (!tree_node(tree, (1u << depth) + i, tree->p.height - depth, 0, NULL, work, value))
            return false;
        memcpy(crown + (size_t)i * hash, value, hash);
    }
    return true;
}

/* Computes the node `node`, which is in the crown or above it, from the crown. */
static void crown_node(const struct lms_tree *tree, const uint8_t *crown, uint32_t node,
                       uint8_t out[LMS_HASH_MAX])
{
    uint8_t stack[LMS_HEIGHT_MAX][LMS_HASH_MAX];
    unsigned levels = lms_crown_depth(&tree->p), hash = tree->p.hash;
    /* how many levels the node is above the crown */
    for (uint32_t n = node; n > 1; n /= 2) levels--;
    uint32_t first = (node << levels) - (1u << lms_crown_depth(&tree->p));
    for (uint32_t i = 0; i < 1u << levels; i++) {
        memcpy(out, crown + (size_t)(first + i) * hash, hash);
        tree_climb(tree, (node << levels) + i, levels, 0, NULL, stack, out);
    }
}

void lms_tree_public(const struct lms_tree *tree, const uint8_t *crown, struct writer *out)
{
    uint8_t number[4], root[LMS_HASH_MAX];
    bytes_put_big(number, tree->p.tree, 4);
    writer_bytes(out, number, 4);
    bytes_put_big(number, tree->p.ots, 4);
    writer_bytes(out, number, 4);
    writer_bytes(out, tree->id, LMS_ID);
    crown_node(tree, crown, 1, root);
    writer_bytes(out, root, tree->p.hash);
}

/* Writes the random value and the chains of the one-time signature. */
static void tree_sign_once(const struct lms_tree *tree, uint32_t q, penta_bytes message,
                           struct writer *out)
{
    const struct lms_parameters *p = &tree->p;
    uint8_t value[LMS_HASH_MAX], hash[LMS_HASH_MAX], digits[LMS_CHAINS_MAX];
    tree_derive(tree, q, DERIVED_RANDOM, value);
    writer_bytes(out, value, p->hash);
    lms_hash(tree->id, q, LMS_MESSAGE, (penta_bytes){value, p->hash}, message, hash);
    lms_digits(p, hash, digits);
    for (unsigned i = 0; i < p->chains; i++) {
        tree_derive(tree, q, i, value);
        lms_chain(p, tree->id, q, i, 0, digits[i], value);
        writer_bytes(out, value, p->hash);
    }
}

void lms_tree_sign(const struct lms_tree *tree, const uint8_t *crown, uint32_t q,
                   penta_bytes message, struct writer *out)
{
    const struct lms_parameters *p = &tree->p;
    uint8_t number[4], path[LMS_HEIGHT_MAX * LMS_HASH_MAX], value[LMS_HASH_MAX];
    unsigned below = p->height - lms_crown_depth(p);
    bytes_put_big(number, q, 4);
    writer_bytes(out, number, 4);
    bytes_put_big(number, p->ots, 4);
    writer_bytes(out, number, 4);
    tree_sign_once(tree, q, message, out);
    bytes_put_big(number, p->tree, 4);
    writer_bytes(out, number, 4);
    uint32_t node = (1u << p->height) + q;
    tree_node(tree, node >> below, below, q, path, NULL, value);
    writer_bytes(out, path, (size_t)below * p->hash);
    for (node >>= below; node > 1; node /= 2) {
        crown_node(tree, crown, node ^ 1, value);
        writer_bytes(out, value, p->hash);
    }
}

void lms_tree_below(const struct lms_tree *tree, uint32_t q, const struct lms_parameters *p,
                    struct lms_tree *out)
{
    uint8_t value[LMS_HASH_MAX];
    out->p = *p;
    tree_derive(tree, q, DERIVED_SEED, out->seed);
    tree_derive(tree, q, DERIVED_ID, value);
    memcpy(out->id, value, LMS_ID);
}

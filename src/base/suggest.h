/* "did you mean": the nearest of some words, or NULL when none is near enough. */
#pragma once
#include "penta/penta.h"

struct suggest {
    penta_bytes word;
    const char *best; /* NULL: nothing near */
    unsigned distance;
};

/* Offer every candidate once, then read best. Letters compare without case. */
void suggest_offer(struct suggest *s, const char *candidate);

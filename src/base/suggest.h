/* Finds the word for "did you mean": the nearest of some words, when one is near enough. */
#pragma once
#include "penta/penta.h"

struct suggest {
    penta_bytes word;
    const char *best; /* the nearest word so far, or NULL when none is near */
    unsigned distance;
};

/* A caller offers every candidate once and then reads `best`. Letters are compared without case. */
void suggest_offer(struct suggest *s, const char *candidate);

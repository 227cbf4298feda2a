/* The three files about kernel blob vectors share these functions. */
#pragma once
#include "conform/trial.h"
#include "gpu/host/emulator.h"

bool trial_status(struct trial *t, gpu_status expected, gpu_status got);

/* Tells whether root is a list with an object that has the key. */
bool list_with(const struct json_object *root, const char *key);

/* Defines the structs of penta/structure.h. */
#pragma once
#include "core/structure/code_map.h"

struct penta_structure {
    struct code_map *map;
};

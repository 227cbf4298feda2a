/* Grows and frees a program that is being made of instructions (assembly.h). */
#include "pvm/code/assembly.h"
#include <stdlib.h>
#include "base/array.h"

bool pvm_add_item(struct pvm_assembly *a, struct pvm_item item)
{
    if (!ARRAY_GROW(a->items, a->capacity, a->count, a->s->err)) return false;
    a->items[a->count++] = item;
    return true;
}

size_t pvm_hex_parts(struct pvm_assembly *a, struct writer *parts[static 10])
{
    struct pvm_hex *all[] = {&a->ro_data, &a->rw_data,  &a->metadata, &a->strings, &a->lines,
                             &a->ranges,  &a->trailing, &a->mask,     &a->file};
    size_t count = 0;
    for (; count < sizeof all / sizeof *all; count++) parts[count] = &all[count]->bytes;
    parts[count++] = &a->raw;
    return count;
}

void pvm_assembly_free(struct pvm_assembly *a)
{
    struct writer *parts[10];
    for (size_t i = 0, n = pvm_hex_parts(a, parts); i < n; i++) writer_free(parts[i]);
    writer_free(&a->code);
    writer_free(&a->code_mask);
    writer_free(&a->code_table);
    free(a->items);
    free(a->table);
    free(a->taken);
    free(a->imports);
    free(a->import_given);
    free(a->exports);
    free(a->export_places);
    free(a->sections);
    free(a->varints);
    labels_free(&a->labels);
}

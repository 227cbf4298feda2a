/* Replaces elf.c in builds without libelf, which cannot link. */
#include "pvm/link/link.h"

bool link_read_elf(struct link *l, const char *name, penta_bytes file, bool lazy)
{
    (void)name;
    (void)file;
    (void)lazy;
    link_report(l, BASE_UNKNOWN_FORMAT, LINK_NONE, 0, NULL, "this build reads no ELF files");
    return false;
}

void link_close_elf(struct link_object *object) { (void)object; }

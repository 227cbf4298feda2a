/* What the linkers of penta/pvm.h and penta/coil.h share. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_object {
    const char *name;  /* for findings and maps; borrowed, like the bytes, during the call */
    penta_bytes bytes; /* an object, or an archive (.a) of objects */
    bool member;       /* as those of an archive: taken when it defines what is missing */
} penta_object;

/* A finding and the object it is about: NULL when about none; for a member of an archive
 * "ARCHIVE(MEMBER)". */
typedef void penta_link_report(void *user, const char *object, const penta_error *finding);

#ifdef __cplusplus
}
#endif

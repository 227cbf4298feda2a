/* Declares what the linkers of penta/pvm.h and penta/coil.h share. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct penta_object {
    /* `name` is the name for findings and maps; it is borrowed during the call, as the bytes
     * are. */
    const char *name;
    penta_bytes bytes; /* an object, or an archive (.a) of objects */
    /* The object counts as a member of an archive: it is taken when it defines what is missing. */
    bool member;
} penta_object;

/* A function of this type gets a finding and the name of the object that it is about. For a
 * member of an archive the name is "ARCHIVE(MEMBER)"; it is NULL when the finding is about no
 * object. */
typedef void penta_link_report(void *user, const char *object, const penta_error *finding);

#ifdef __cplusplus
}
#endif

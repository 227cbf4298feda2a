/* Replaces metadata.c in builds without a JSON reader. Metadata is then kept but not read. */
#include "tvmr/tvmr.h"

bool tvmr_card_read(penta_bytes json, struct tvmr_card *card, struct arena *arena, penta_error *err)
{
    (void)json, (void)card, (void)arena, (void)err;
    return true;
}

bool tvmr_metadata_read(penta_bytes json, struct tvmr_meta *meta, struct arena *arena,
                        penta_error *err)
{
    (void)json, (void)meta, (void)arena, (void)err;
    return true;
}

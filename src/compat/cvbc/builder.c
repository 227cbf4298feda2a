/* Implements the functions cvbc_builder_*, which make a file from its parts. If one fails, the
 * builder keeps the error, and later calls fail too. */
#include "compat/cvbc/handles.h"

struct cvbc_builder {
    penta_cvbc_builder *inner;
    cvbc_core_metadata_t core;
    bool has_code;
    cvbc_status status;
};

cvbc_builder *cvbc_builder_new(void)
{
    penta_error err;
    cvbc_builder *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->inner = penta_cvbc_builder_new(&err);
    if (b->inner) return b;
    free(b);
    return NULL;
}

void cvbc_builder_free(cvbc_builder *b)
{
    if (b) penta_cvbc_builder_free(b->inner);
    free(b);
}

static cvbc_status builder_keep(cvbc_builder *b, bool ok, const penta_error *err)
{
    if (!b->status && !ok) b->status = status_of(err);
    return b->status;
}

static cvbc_status builder_misused(cvbc_builder *b)
{
    if (!b->status) b->status = CVBC_ERR_ARG;
    return b->status;
}

static bool is_byte(int v) { return v >= 0 && v <= 255; }

cvbc_status cvbc_builder_set_target(cvbc_builder *b, int architecture, int family, int variant,
                                    uint32_t features, uint32_t min_flash_kb, uint32_t min_ram_kb)
{
    if (!is_byte(architecture) || !is_byte(family) || variant < 0 || variant > UINT16_MAX)
        return builder_misused(b);
    b->core.target_architecture = (uint8_t)architecture;
    b->core.target_family = (uint8_t)family;
    b->core.target_variant = (uint16_t)variant;
    b->core.target_features = features;
    b->core.min_flash_kb = min_flash_kb;
    b->core.min_ram_kb = min_ram_kb;
    return b->status;
}

cvbc_status cvbc_builder_set_metadata(cvbc_builder *b, const cvbc_core_metadata_t *metadata)
{
    b->core = *metadata;
    return b->status;
}

cvbc_status cvbc_builder_add_pin(cvbc_builder *b, const cvbc_pin_config_t *pin)
{
    penta_error err;
    return builder_keep(b, penta_cvbc_builder_pin(b->inner, bytes_at(pin, sizeof *pin), &err),
                        &err);
}

cvbc_status cvbc_builder_add_dependency(cvbc_builder *b, const cvbc_dependency_t *dependency)
{
    penta_error err;
    return builder_keep(
        b, penta_cvbc_builder_dependency(b->inner, bytes_at(dependency, sizeof *dependency), &err),
        &err);
}

cvbc_status cvbc_builder_add_hint(cvbc_builder *b, int type, int priority, const void *data,
                                  size_t size)
{
    penta_error err;
    if (!is_byte(type) || !is_byte(priority)) return builder_misused(b);
    return builder_keep(b,
                        penta_cvbc_builder_hint(b->inner, (uint8_t)type, (uint8_t)priority,
                                                bytes_at(data, size), &err),
                        &err);
}

cvbc_status cvbc_builder_set_custom(cvbc_builder *b, const void *data, size_t size)
{
    penta_error err;
    return builder_keep(b, penta_cvbc_builder_custom(b->inner, bytes_at(data, size), &err), &err);
}

cvbc_status cvbc_builder_set_bytecode(cvbc_builder *b, const vm_instruction_t *code, size_t count,
                                      size_t entry)
{
    penta_error err;
    if (b->has_code || entry > UINT16_MAX || count > UINT16_MAX) return builder_misused(b);
    b->has_code = true;
    return builder_keep(
        b,
        penta_cvbc_builder_code(b->inner, bytes_at(code, count * sizeof *code), &err) &&
            penta_cvbc_builder_entry(b->inner, (uint32_t)entry, &err),
        &err);
}

cvbc_status cvbc_builder_add_string(cvbc_builder *b, const char *text)
{
    penta_error err;
    size_t size = 0;
    while (text[size]) size++;
    return builder_keep(b, penta_cvbc_builder_string(b->inner, bytes_at(text, size), &err), &err);
}

cvbc_status cvbc_builder_set_debug(cvbc_builder *b, const void *section, size_t size)
{
    penta_error err;
    return builder_keep(b, penta_cvbc_builder_debug(b->inner, bytes_at(section, size), &err), &err);
}

cvbc_status cvbc_builder_set_build(cvbc_builder *b, uint64_t timestamp, uint32_t build_number,
                                   bool deterministic)
{
    penta_cvbc_builder_stamp(b->inner, timestamp, 0, build_number, deterministic);
    return b->status;
}

cvbc_status cvbc_builder_set_signing_key(cvbc_builder *b, const cvbc_key *key,
                                         bool embed_public_key, int hash)
{
    penta_error err;
    penta_cvbc_signing how = {
        .key = view_of(&key->pem), .external = !embed_public_key, .hash = (uint32_t)hash};
    return builder_keep(b, penta_cvbc_builder_sign(b->inner, &how, &err), &err);
}

cvbc_status cvbc_builder_set_encryption(cvbc_builder *b, int algorithm, int derivation,
                                        const uint8_t *secret, size_t size)
{
    penta_error err;
    penta_cvbc_sealing how = {.secret = bytes_at(secret, size),
                              .cipher = (uint32_t)algorithm,
                              .derivation = (uint32_t)derivation};
    return builder_keep(b, penta_cvbc_builder_seal(b->inner, &how, &err), &err);
}

cvbc_status cvbc_builder_set_compression(cvbc_builder *b, bool compress, bool force)
{
    penta_cvbc_builder_compress(b->inner, compress, force);
    return b->status;
}

cvbc_status cvbc_builder_finish(cvbc_builder *b, uint8_t **data, size_t *size)
{
    penta_error err;
    penta_buffer out = {0};
    *data = NULL;
    *size = 0;
    if (b->status) return b->status;
    if (!penta_cvbc_builder_core(b->inner, bytes_at(&b->core, sizeof b->core), &err) ||
        !penta_cvbc_builder_finish(b->inner, &out, &err))
        /* The builder does not keep this error: the caller may add what is missing and try
         * again. */
        return status_of(&err);
    *data = out.data;
    *size = out.size;
    return CVBC_OK;
}

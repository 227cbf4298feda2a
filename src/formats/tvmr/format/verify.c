/* Checks the rules for images, in the order of the loader (TVMR 5). */
#include "tvmr/format/verify.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t tvmr_insn_offset(const struct tvmr_module *m, size_t index)
{
    if (m->inner)
        return tvmr_insn_offset(m->inner, index) + (tvmr_insn_decoded(m) ? 0 : m->card.at);
    return (m->legacy ? m->tern_code : m->header.instr_offset) + index * TVMR_INSN;
}

bool tvmr_insn_decoded(const struct tvmr_module *m)
{
    return m->inner ? tvmr_insn_decoded(m->inner) : !m->legacy && tvmr_decoded(m);
}

void verify_report(struct pass *p, uint32_t code, uint64_t at, bool decoded, const char *format,
                   ...)
{
    penta_error e = {.code = code, .offset = at, .decoded = decoded};
    const penta_rule *rule = rule_find(p->f->rules, code);
    if (rule) e.severity = rule->severity;
    va_list args;
    va_start(args, format);
    vsnprintf(e.message, sizeof e.message, format, args);
    va_end(args);
    findings_pass(p->f, &e);
}

/* Reports a finding at a place of the header. */
#define HEAD(code, offset, ...) verify_report(p, code, offset, false, __VA_ARGS__)

/* The functions below check the header and the sections. */

static void verify_header(struct pass *p)
{
    const struct tvmr_header *h = &p->m->header;
    if (h->version != TVMR_VERSION)
        HEAD(TVMR_VERSION_NUMBER, 4, "version %u, expected 1", h->version);
    if (h->flags & ~7u) HEAD(TVMR_FLAGS, 6, "flags 0x%04x, only bits 0 to 2 are defined", h->flags);
    if (h->reserved)
        HEAD(TVMR_RESERVED, 0x28, "reserved bytes 0x%016llx, expected 0",
             (unsigned long long)h->reserved);
}

static void verify_tern(struct pass *p)
{
    const uint8_t *file = p->m->base.file.data;
    uint64_t end = tvmr_insn_offset(p->m, p->m->count);
    if (bytes_get16(file + 4) != 2)
        HEAD(TVMR_VERSION_NUMBER, 4, "legacy version %u, expected 2", bytes_get16(file + 4));
    if (bytes_get64(file + 0x14) != p->m->tern_mix)
        HEAD(TVMR_CHECKSUM, 0x14, "checksum %016llx, the bytes have %016llx",
             (unsigned long long)bytes_get64(file + 0x14), (unsigned long long)p->m->tern_mix);
    if (bytes_get32(file + 0x1c))
        HEAD(TVMR_RESERVED, 0x1c, "reserved bytes 0x%08x, expected 0", bytes_get32(file + 0x1c));
    if (end < p->m->base.file.size)
        HEAD(TVMR_TRAILING, end, "%zu bytes after the image", p->m->base.file.size - (size_t)end);
    for (size_t i = 0; i < p->m->loss_count; i++)
        HEAD(TVMR_LEGACY_LOST, tvmr_insn_offset(p->m, p->m->losses[i].index),
             "instruction %u loses its %s", (unsigned)p->m->losses[i].index, p->m->losses[i].what);
}

static void verify_checksum(struct pass *p)
{
    const struct tvmr_module *m = p->m;
    if (m->checksum == m->header.checksum) return;
    if (m->mixed && m->accept_mix) {
        HEAD(TVMR_CHECKSUM_MIX, 0x20, "the checksum is that of the upstream writer");
        return;
    }
    HEAD(TVMR_CHECKSUM, 0x20, "checksum %016llx, the bytes have %016llx%s",
         (unsigned long long)m->header.checksum, (unsigned long long)m->checksum,
         m->mixed ? " (it is the upstream mix: option 'accept-mix')" : "");
}

static void verify_registers(struct pass *p)
{
    const struct tvmr_module *m = p->m;
    bool seen[256] = {false};
    char name[8];
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        tvmr_register_name(r->reg, name);
        if (!utf8_valid(r->key))
            AT(TVMR_UTF8, r->offset + r->size - r->key.size, "the key of %s is not UTF-8", name);
        if (!tvmr_type_find(r->type)) {
            if (r->type < 0x0100)
                AT(TVMR_TYPE, r->offset + 1, "%s has the unknown type 0x%04x", name, r->type);
            else
                AT(TVMR_TYPE_USER, r->offset + 1, "%s has the type 0x%04x of a user", name,
                   r->type);
        }
        if (r->flags & ~(TVMR_ALLOCATED | TVMR_FROZEN))
            AT(TVMR_REGISTER_FLAGS, r->offset + 3,
               "%s has the flags 0x%02x, bits 0 and 1 are defined", name, r->flags);
        if (r->reg == TVMR_NULL) AT(TVMR_REGDEF, r->offset, "0xff is the null register");
        if (seen[r->reg]) AT(TVMR_REGDEF_TWICE, r->offset, "%s is defined again", name);
        seen[r->reg] = true;
    }
}

static void verify_extensions(struct pass *p)
{
    const struct tvmr_module *m = p->m;
    uint8_t seen[8192] = {0};
    for (size_t i = 0; i < m->ext_count; i++) {
        uint16_t id = m->exts[i].id;
        uint64_t at = tvmr_header_bytes + 8 * i;
        if (id == 0 || id == 0xffff)
            AT(TVMR_EXT, at, "0x%04x is no extension", id);
        else if (seen[id / 8] >> (id & 7) & 1)
            AT(TVMR_EXT, at, "extension 0x%04x is named twice", id);
        seen[id / 8] |= (uint8_t)(1u << (id & 7));
    }
}

static void verify_container(struct pass *p)
{
    const struct tvmr_module *m = p->m;
    verify_checksum(p);
    if (m->base.damage.code == TVMR_REGDEF || m->base.damage.code == TVMR_LAYOUT) {
        findings_pass(p->f, &m->base.damage);
        return;
    }
    verify_registers(p);
    verify_extensions(p);
    if (m->metadata_error.code) findings_pass(p->f, &m->metadata_error);
    if (m->base.damage.code)
        findings_pass(p->f, &m->base.damage);
    else if (m->trailing.size)
        AT(TVMR_TRAILING, m->image.size - m->trailing.size, "%zu bytes after the image",
           m->trailing.size);
    if (m->tail.size)
        HEAD(TVMR_TRAILING, m->base.file.size - m->tail.size, "%zu bytes after the envelope",
             m->tail.size);
}

void tvmr_verify(const penta_module *module, struct findings *f)
{
    const struct tvmr_module *m = tvmr_module(module);
    struct pass pass = {m, f};
    uint32_t damage = module->damage.code;
    if (m->is_weights) {
        tvmr_weights_verify(m, f);
        return;
    }
    if (m->is_card) {
        tvmr_card_verify(m, f);
        return;
    }
    if (m->legacy) {
        if (damage) {
            findings_pass(f, &module->damage);
            return;
        }
        verify_tern(&pass);
        verify_registers(&pass);
        verify_program(&pass);
        return;
    }
    if (m->header_size == tvmr_header_bytes) verify_header(&pass);
    if (damage && !m->exts) { /* Nothing after the header can be read then. */
        findings_pass(f, &module->damage);
        return;
    }
    verify_container(&pass);
    if (!damage) verify_program(&pass);
}

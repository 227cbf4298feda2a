/* Writes the code by which C calls a COIL function. This entry saves the registers that C expects
 * to keep, finds the thread's machine, moves arguments to V registers by the prototype, and the
 * result back:
 *     [rbp - 8] .. [rbp - 40]    rbx r12 r13 r14 r15
 *     [rsp] .. [rsp + 63]        V0 to V7, while arguments are taken */
#include "base/array.h"
#include "coil/native/native.h"
#include "coil/runtime/runtime.h"
#include "x64/sse.h"

enum { KEPT = 5, SPACE = 72, TAKEN = 8 };
static const enum x64_reg kept[KEPT] = {RBX, R12, R13, R14, R15};
static const enum x64_reg integers[] = {RDI, RSI, RDX, RCX, R8, R9};

static struct x64_mem entries_at(enum x64_reg base, int32_t disp)
{
    return (struct x64_mem){.base = (int8_t)base, .index = X64_NONE, .disp = disp};
}

static void entries_reloc(struct coil_native *n, uint32_t symbol, uint32_t type)
{
    coil_elf_reloc(&n->elf, n->text,
                   (struct coil_elf_reloc){x64_here(&n->code.e), symbol, type, -4});
    x64_put(&n->code.e, 0, 4);
}

/* Loads r15 with the address of the machine in the thread's memory: fs:0 plus the machine's
 * offset. */
static void load_context(struct coil_native *n)
{
    struct x64 *e = &n->code.e;
    if (!n->context) {
        uint32_t section = coil_elf_section(&n->elf, ".tbss.coil", COIL_ELF_NOBITS,
                                            COIL_ELF_ALLOC | COIL_ELF_WRITE | COIL_ELF_TLS, 16);
        if (section) n->elf.sections[section].zeros = sizeof(struct coil_vm);
        n->context = coil_elf_symbol(&n->elf, bytes_of(COIL_RT_MACHINE),
                                     (struct coil_elf_symbol){.section = section,
                                                              .size = sizeof(struct coil_vm),
                                                              .type = COIL_ELF_TLS_SYMBOL,
                                                              .bind = COIL_ELF_WEAK});
    }
    x64_put(e, 0x3c8b4c64, 4); /* The bytes encode mov r15, fs:[0]. */
    x64_put(e, 0x25, 1);
    x64_put(e, 0, 4);
    x64_put(e, 0x3d034c, 3); /* The bytes encode add r15, [rip + ...]. */
    entries_reloc(n, n->context, COIL_ELF_GOTTPOFF);
}

/* Extends the low bits of rax to the 64-bit form of a type. */
static void entries_extend(struct x64 *e, uint8_t type)
{
    switch (type) {
    case COIL_T_INT8: x64_movsx8(e, X64, RAX, RAX); break;
    case COIL_T_UNT8: x64_movzx8(e, RAX, RAX); break;
    case COIL_T_INT16: x64_movsx16(e, X64, RAX, RAX); break;
    case COIL_T_UNT16: x64_movzx16(e, X32, RAX, RAX); break;
    case COIL_T_INT32: x64_movsxd(e, RAX, RAX); break;
    case COIL_T_UNT32:
    case COIL_T_FP32: x64_mov(e, X32, RAX, RAX); break;
    default: break;
    }
}

static void take_arguments(struct coil_native *n, const struct coil_proto *proto, bool entry)
{
    struct x64 *e = &n->code.e;
    unsigned count = proto ? proto->count : entry ? 0 : COIL_PASSED, ints = 0, floats = 0;
    int32_t above = 16; /* offset of the arguments on the caller's stack */
    for (unsigned i = 0; i < count && i < TAKEN; i++) {
        uint8_t type = proto ? proto->types[i] : COIL_T_INT64;
        bool real = coil_types[type].family == COIL_F_REAL;
        if (real && floats < 8)
            x64_movq_from(e, type == COIL_T_FP64 ? X64 : X32, RAX, floats++);
        else if (!real && ints < 6)
            x64_mov(e, X64, RAX, integers[ints++]);
        else
            x64_mov_load(e, X64, RAX, entries_at(RBP, above)), above += 8;
        entries_extend(e, type);
        x64_mov_store(e, X64, entries_at(RSP, 8 * (int32_t)i), RAX);
    }
    /* At the start of a program all these registers must be zero. */
    if (entry)
        for (unsigned i = count; i < COIL_PASSED; i++)
            x64_mov_store_imm(e, X64, entries_at(RSP, 8 * (int32_t)i), 0);
    n->bare_entries |= !n->uses_context;
    if (n->uses_context) load_context(n);
    for (unsigned i = COIL_PASSED; i < count && i < TAKEN && n->uses_context; i++) {
        x64_mov_load(e, X64, RAX, entries_at(RSP, 8 * (int32_t)i));
        x64_mov_store(e, X64, entries_at(R15, (int32_t)(offsetof(struct coil_vm, v) + 8 * i)), RAX);
    }
    /* rax is V0 and comes last, because the code above uses it as scratch register. */
    for (unsigned i = COIL_PASSED; i-- > 0;)
        if (i < count || entry)
            x64_mov_load(e, X64, (enum x64_reg)ssa_param_registers[i],
                         entries_at(RSP, 8 * (int32_t)i));
}

/* Returns the prototype that any name of the function has, or NULL. */
static const struct coil_proto *proto_of(const struct coil_native *n, uint32_t function)
{
    for (size_t i = 0; i < n->proto_count; i++)
        if (coil_native_function(n, n->protos[i].symbol) == function) return &n->protos[i];
    return NULL;
}

void coil_native_entry(struct coil_native *n, uint32_t function)
{
    struct x64 *e = &n->code.e;
    struct ssa_code *c = &n->code;
    const struct coil_proto *proto = proto_of(n, function);
    uint8_t result = proto ? proto->result : COIL_T_INT64;
    x64_push(e, RBP);
    x64_mov(e, X64, RBP, RSP);
    for (int i = 0; i < KEPT; i++) x64_push(e, kept[i]);
    x64_sub_imm(e, X64, RSP, SPACE);
    take_arguments(n, proto, function == n->vm->program.entry);
    if (ARRAY_RESERVE(c->calls, c->call_capacity, c->call_count + 1)) {
        x64_put(e, 0xe8, 5);
        c->calls[c->call_count++] = (struct ssa_call){x64_here(e) - 4, function};
    } else {
        c->failed = true;
    }
    /* If no function writes V0, its value is zero. */
    if (!n->touched[function]) x64_xor(e, X32, RAX, RAX);
    if (result == COIL_T_FP64 || result == COIL_T_FP32)
        x64_movq_to(e, result == COIL_T_FP64 ? X64 : X32, 0, RAX);
    else if (result != COIL_T_VOID)
        entries_extend(e, result);
    x64_lea(e, X64, RSP, entries_at(RBP, -8 * KEPT));
    for (int i = KEPT; i-- > 0;) x64_pop(e, kept[i]);
    x64_pop(e, RBP);
    if (ARRAY_RESERVE(c->returns, c->return_capacity, c->return_count + 1))
        c->returns[c->return_count++] = x64_here(e);
    else
        c->failed = true;
    x64_ret(e);
    x64_nop(e, -x64_here(e) & 15);
}

/* Makes the function that ends the program after a trap: it writes output that is still
 * buffered, writes a line to standard error, and exits with code 20. */
bool coil_native_trap_function(struct coil_native *n, struct ssa_function *f)
{
    static const char format[] = "trap %s, code %ld\n";
    struct coil_lower l = {.native = n, .f = f};
    struct coil_native_args none = {.count = 1}, say = {.count = 4}, code = {.count = 1};
    ssa_block(f);
    ssa_start(f, 0);
    for (unsigned i = 0; i < 2; i++) {
        say.items[2 + i] = ssa_op1(f, SSA_PARAM, SSA_INT, 0);
        if (say.items[2 + i]) f->insns[say.items[2 + i]].imm = i;
    }
    none.items[0] = ssa_const(f, 0);
    coil_native_foreign(&l, "fflush", &none, false);
    say.items[0] = ssa_const(f, 2);
    say.items[1] = coil_native_value(&l, coil_native_text(n, format));
    coil_native_foreign(&l, "dprintf", &say, true);
    code.items[0] = ssa_const(f, 20);
    coil_native_foreign(&l, "_exit", &code, false);
    ssa_effect(f, SSA_LEAVE, 0);
    return !f->failed;
}

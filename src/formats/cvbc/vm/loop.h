/* The loop of the interpreter. interp.c includes this file three times: with all checks, without
 * the checks that the verifier has proved needless, and with guards. It defines LOOP (the name),
 * CHECKED and FETCH_BELOW (the instruction under a breakpoint). There is no include guard.
 *
 *  `in` points to the current instruction, and `sp` to the first free word. An instruction that
 * fails leaves `in` unchanged, and its step is not counted. An underflow empties the stack, as
 * if the operands that exist had been popped first. */
#define NEED(n)                                                                                    \
    if (CHECKED && sp - base < (n)) goto underflow
#define ROOM                                                                                       \
    if (CHECKED && sp == roof) goto overflow
#define BINARY(expression)                                                                         \
    {                                                                                              \
        NEED(2);                                                                                   \
        int32_t b = sp[-1], a = sp[-2];                                                            \
        sp--;                                                                                      \
        sp[-1] = (int32_t)(expression);                                                            \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define PUSH(value)                                                                                \
    {                                                                                              \
        ROOM;                                                                                      \
        *sp = (value);                                                                             \
        sp++;                                                                                      \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define GUARDED(wrong, trap, expression)                                                           \
    {                                                                                              \
        NEED(2);                                                                                   \
        sp -= 2;                                                                                   \
        if (wrong) FAULT(trap);                                                                    \
        *sp = (expression);                                                                        \
        sp++;                                                                                      \
        in++;                                                                                      \
        NEXT;                                                                                      \
    }
#define FAULT(number)                                                                              \
    {                                                                                              \
        vm->error = (number);                                                                      \
        goto fault;                                                                                \
    }
#define GOTO                                                                                       \
    {                                                                                              \
        if (CHECKED && in->imm >= count) FAULT(CVBC_TRAP_INVALID_JUMP);                            \
        in = code + in->imm;                                                                       \
        NEXT;                                                                                      \
    }
#define UNSIGNED(x) ((uint32_t)(x))

static void LOOP(struct cvbc_vm *vm, uint64_t fuel, penta_stop *stop)
{
#if THREADED
    static const void *const entry[CVBC_DOES] = {
#define OP(code, name, ...) [CVBC_DO_##name] = &&on_CVBC_DO_##name,
#include "cvbc/isa.def"
        [CVBC_DO_BAD] = &&on_CVBC_DO_BAD,
        [CVBC_DO_PUSH_S] = &&on_CVBC_DO_PUSH_S,
        [CVBC_DO_PUSH_W] = &&on_CVBC_DO_PUSH_W,
        [CVBC_DO_STORE_ARRAY_V] = &&on_CVBC_DO_STORE_ARRAY_V,
#define FUSED(name, ...) [CVBC_DO_##name] = &&on_CVBC_DO_##name,
#include "cvbc/fused.def"
        [CVBC_DO_END] = &&on_CVBC_DO_END,
        [CVBC_DO_BREAK] = &&on_CVBC_DO_BREAK,
        [CVBC_DO_COUNT] = &&on_CVBC_DO_COUNT,
        [CVBC_DO_FUEL] = &&on_CVBC_DO_FUEL};
#endif
    const struct cvbc_insn *code = vm->code, *in = code + vm->pc;
    int32_t *base = vm->stack + CVBC_GUARD, *roof = base + vm->capacity, *sp = base + vm->sp;
    const uint32_t count = vm->count;
    uint64_t granted = 0,
             /* `granted` counts the steps that were allowed so far, and `left` those that are
              * left. */
        left = 0;
    uint8_t op = CVBC_DO_FUEL;
    if (fuel && vm->at_break &&
        in->op == CVBC_DO_BREAK) { /* This executes the instruction that has the breakpoint. */
        op = FETCH_BELOW(vm->clean + vm->pc);
        granted = 1;
    }
    if (fuel) vm->at_break = false;

    /* clang-format off */
    for (;;) {
        DISPATCH(op) {
        CASE(CVBC_DO_PUSH): PUSH(in->imm);
        CASE(CVBC_DO_PUSH_S): PUSH((int16_t)in->imm);
        CASE(CVBC_DO_PUSH_W): {
            NEED(1);
            sp[-1] = (int32_t)((uint32_t)in->imm << 16 | (UNSIGNED(sp[-1]) & 0xffff));
            in++;
            NEXT;
        }
        CASE(CVBC_DO_POP): {
            NEED(1);
            sp--;
            in++;
            NEXT;
        }
        CASE(CVBC_DO_ADD): BINARY(UNSIGNED(a) + UNSIGNED(b));
        CASE(CVBC_DO_SUB): BINARY(UNSIGNED(a) - UNSIGNED(b));
        CASE(CVBC_DO_MUL): BINARY(UNSIGNED(a) * UNSIGNED(b));
        CASE(CVBC_DO_DIV): GUARDED(!sp[1], CVBC_TRAP_DIVISION_BY_ZERO, cvbc_div(sp[0], sp[1]))
        CASE(CVBC_DO_MOD): GUARDED(!sp[1], CVBC_TRAP_DIVISION_BY_ZERO, cvbc_mod(sp[0], sp[1]))
        CASE(CVBC_DO_EQ):
        CASE(CVBC_DO_EQ_S): BINARY(a == b);
        CASE(CVBC_DO_NE):
        CASE(CVBC_DO_NE_S): BINARY(a != b);
        CASE(CVBC_DO_LT):
        CASE(CVBC_DO_LT_S): BINARY(a < b);
        CASE(CVBC_DO_GT):
        CASE(CVBC_DO_GT_S): BINARY(a > b);
        CASE(CVBC_DO_LE): BINARY(UNSIGNED(a) <= UNSIGNED(b));
        CASE(CVBC_DO_GE): BINARY(UNSIGNED(a) >= UNSIGNED(b));
        CASE(CVBC_DO_LE_S): BINARY(a <= b);
        CASE(CVBC_DO_GE_S): BINARY(a >= b);
        CASE(CVBC_DO_AND): BINARY(a && b);
        CASE(CVBC_DO_OR): BINARY(a || b);
        CASE(CVBC_DO_NOT): {
            NEED(1);
            sp[-1] = !sp[-1];
            in++;
            NEXT;
        }
        CASE(CVBC_DO_BITWISE_AND): BINARY(a & b);
        CASE(CVBC_DO_BITWISE_OR): BINARY(a | b);
        CASE(CVBC_DO_BITWISE_XOR): BINARY(a ^ b);
        CASE(CVBC_DO_BITWISE_NOT): {
            NEED(1);
            sp[-1] = ~sp[-1];
            in++;
            NEXT;
        }
        CASE(CVBC_DO_SHIFT_LEFT): GUARDED(UNSIGNED(sp[1]) > 31, CVBC_TRAP_EXECUTION_FAILED, (int32_t)(UNSIGNED(*sp) << sp[1]))
        CASE(CVBC_DO_SHIFT_RIGHT): GUARDED(UNSIGNED(sp[1]) > 31, CVBC_TRAP_EXECUTION_FAILED, *sp >> sp[1])
        CASE(CVBC_DO_JMP): GOTO;
        CASE(CVBC_DO_JMP_TRUE): {
            NEED(1);
            if (*--sp) GOTO;
            in++;
            NEXT;
        }
        CASE(CVBC_DO_JMP_FALSE): {
            NEED(1);
            if (!*--sp) GOTO;
            in++;
            NEXT;
        }
        CASE(CVBC_DO_CALL): {
            if (CHECKED && in->imm >= count) FAULT(CVBC_TRAP_INVALID_JUMP);
            ROOM;
            *sp++ = (int32_t)(in - code) + 1;
            in = code + in->imm;
            NEXT;
        }
        CASE(CVBC_DO_RET): {
            if (sp == base) goto completed;
            uint32_t to = UNSIGNED(*--sp);
            if (to >= count) FAULT(CVBC_TRAP_INVALID_JUMP);
            in = code + to;
            if (CHECKED && vm->base.counts && !vm->places[to]) counts_resume(vm->base.counts, to);
            NEXT;
        }
        CASE(CVBC_DO_LOAD_GLOBAL):
            if (in->imm >= CVBC_GLOBALS) FAULT(CVBC_TRAP_MEMORY_BOUNDS);
            PUSH(vm->globals[in->imm]);
        CASE(CVBC_DO_STORE_GLOBAL): {
            NEED(1);
            sp--;
            if (in->imm >= CVBC_GLOBALS) FAULT(CVBC_TRAP_MEMORY_BOUNDS);
            vm->globals[in->imm] = *sp;
            in++;
            NEXT;
        }
        CASE(CVBC_DO_LOAD_LOCAL):
            if (CHECKED && in->imm >= sp - base) FAULT(CVBC_TRAP_MEMORY_BOUNDS);
            PUSH(sp[-1 - (int32_t)in->imm]);
        CASE(CVBC_DO_STORE_LOCAL): {
            NEED(1);
            sp--;
            if (CHECKED && in->imm >= sp - base) FAULT(CVBC_TRAP_MEMORY_BOUNDS);
            sp[-1 - (int32_t)in->imm] = *sp;
            in++;
            NEXT;
        }
        CASE(CVBC_DO_LOAD_ARRAY): {
            NEED(1);
            int32_t *element = cvbc_element(vm, in->imm, *--sp);
            if (!element) FAULT(CVBC_TRAP_MEMORY_BOUNDS);
            *sp++ = *element;
            in++;
            NEXT;
        }
#define STORE_ELEMENT(index, value)                                                                \
    NEED(2);                                                                                       \
    sp -= 2;                                                                                       \
    int32_t *element = cvbc_element(vm, in->imm, sp[index]);                                       \
    if (!element) FAULT(CVBC_TRAP_MEMORY_BOUNDS);                                                  \
    *element = sp[value];                                                                          \
    in++;                                                                                          \
    NEXT
        CASE(CVBC_DO_STORE_ARRAY): { STORE_ELEMENT(1, 0); }
        CASE(CVBC_DO_STORE_ARRAY_V): { STORE_ELEMENT(0, 1); }
#undef STORE_ELEMENT
        CASE(CVBC_DO_CREATE_ARRAY): {
            NEED(1);
            if (!cvbc_create(vm, in->imm, *--sp)) FAULT(CVBC_TRAP_MEMORY_BOUNDS);
            in++;
            NEXT;
        }
        CASE(CVBC_DO_MILLIS):
        CASE(CVBC_DO_MICROS):
        CASE(CVBC_DO_PENDING):
        CASE(CVBC_DO_TAKE):
            ROOM;
            vm->arg_count = 0;
            goto host;
        CASE(CVBC_DO_DELAY):
        CASE(CVBC_DO_DIGITAL_READ):
        CASE(CVBC_DO_NO_TONE):
        CASE(CVBC_DO_SERIAL_AVAILABLE):
        CASE(CVBC_DO_SERIAL_READ):
        CASE(CVBC_DO_SERIAL_PEEK):
        CASE(CVBC_DO_I2C_END):
        CASE(CVBC_DO_I2C_AVAILABLE):
        CASE(CVBC_DO_I2C_READ):
        CASE(CVBC_DO_I2C_PEEK):
        CASE(CVBC_DO_DETACH):
        CASE(CVBC_DO_INTERRUPTS):
        CASE(CVBC_DO_WAIT):
        CASE(CVBC_DO_ANALOG_READ): {
            NEED(1);
            vm->args[0] = *--sp;
            vm->arg_count = 1;
            goto host;
        }
        CASE(CVBC_DO_DIGITAL_WRITE):
        CASE(CVBC_DO_ANALOG_WRITE):
        CASE(CVBC_DO_SERIAL_WRITE):
        CASE(CVBC_DO_I2C_BEGIN):
        CASE(CVBC_DO_I2C_WRITE):
        CASE(CVBC_DO_SPI_TRANSFER):
        CASE(CVBC_DO_PIN_MODE): {
            NEED(2);
            sp -= 2;
            vm->args[0] = sp[0];
            vm->args[1] = sp[1];
            vm->arg_count = 2;
            goto host;
        }
        CASE(CVBC_DO_I2C_REQUEST):
        CASE(CVBC_DO_ATTACH):
        CASE(CVBC_DO_TONE): {
            NEED(3);
            sp -= 3;
            for (int i = 0; i < 3; i++) vm->args[i] = sp[i];
            vm->arg_count = 3;
            goto host;
        }
        CASE(CVBC_DO_PRINTF): {
            NEED(1);
            int32_t n = *--sp;
            if (n < 0 || n > CVBC_HOST_ARGS) FAULT(CVBC_TRAP_INVALID_OPCODE);
            NEED(n);
            sp -= n;
            for (int32_t i = 0; i < n; i++) vm->args[i] = sp[i];
            vm->arg_count = (uint32_t)n;
            goto host;
        }
/* This executes four steps as one if none of their checks can fail and there is fuel for all of
 * them. */
#define FUSED(name, first, second, third, fourth, action)                                          \
        CASE(CVBC_DO_##name): {                                                                    \
            if (CHECKED || left < 3) AS(CVBC_DO_##first);                                          \
            const int32_t X = in[0].imm, Y = in[1].imm, T = in[3].imm;                             \
            bool taken = false;                                                                    \
            (void)X, (void)Y;                                                                      \
            action;                                                                                \
            left -= 3;                                                                             \
            in = taken ? code + T : in + 4;                                                        \
            NEXT;                                                                                  \
        }
#include "cvbc/fused.def"
        CASE(CVBC_DO_HALT):
            goto completed;
        CASE(CVBC_DO_END):
            /* The end of the program is not an instruction, so it takes no fuel. */
            left++;
            vm->ran_off = true;
            goto completed;
        CASE(CVBC_DO_BREAK):
            left++;
            stop->kind = PENTA_STOP_BREAK;
            vm->at_break = true;
            goto out;
        CASE(CVBC_DO_COUNT):
            counts_arrive(vm->base.counts, vm->places[in - code], (uint64_t)(sp - base));
            op = vm->clean[in - code].op;
            continue;
        CASE(CVBC_DO_FUEL): {
            uint64_t more = fuel - granted;
            stop->kind = vm->base.guards.hit ? PENTA_STOP_BREAK : PENTA_STOP_FUEL;
            if (!more || vm->base.guards.hit) goto out;
            if (atomic_exchange_explicit(&vm->base.interrupt, false, memory_order_relaxed)) {
                stop->kind = PENTA_STOP_INTERRUPT;
                goto out;
            }
            left = more < SLICE ? more : SLICE;
            granted += left;
            NEXT;
        }
        CASE(CVBC_DO_BAD):
            FAULT(CVBC_TRAP_INVALID_OPCODE);
        }
    }
    /* clang-format on */
underflow:
    sp = base;
    vm->error = CVBC_TRAP_STACK_UNDERFLOW;
    goto fault;
overflow:
    vm->error = CVBC_TRAP_STACK_OVERFLOW;
fault:
    left++;
    vm->final = true;
    goto out;
completed:
    vm->final = vm->ended = true;
    goto out;
host:
    vm->waiting = true;
out:
    vm->pc = (uint32_t)(in - code);
    vm->sp = (uint32_t)(sp - base);
    stop->steps = granted - left;
}
#undef NEED
#undef ROOM
#undef BINARY
#undef PUSH
#undef FAULT
#undef GUARDED
#undef GOTO
#undef UNSIGNED

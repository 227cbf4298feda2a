/* Uses jump tables, tables of functions, and computed goto. */
#include "export.h"

static int operation_add(int a, int b) { return a + b; }
static int operation_sub(int a, int b) { return a - b; }
static int operation_mul(int a, int b) { return a * b; }
static int (*const operations[])(int, int) = {operation_add, operation_sub, operation_mul,
                                              operation_add};
int (*volatile chosen)(int, int) = operation_sub;

static __attribute__((noinline)) int classify(u32 n)
{
    switch (n) {
    case 0: return 17;
    case 1: return -3;
    case 2: return 1000000;
    case 3: return (int)n * 7;
    case 4: return 99;
    case 5: return -1;
    case 6: return 0x12345;
    case 7: return 8;
    case 8: return (int)(n ^ 0x55);
    default: return -100;
    }
}

static __attribute__((noinline)) u64 threaded(const unsigned char *code)
{
    static const void *const labels[] = {&&inc, &&twice, &&neg, &&done};
    u64 value = 1;
    goto *labels[*code++];
inc:
    value += 5;
    goto *labels[*code++];
twice:
    value *= 2;
    goto *labels[*code++];
neg:
    value = ~value;
    goto *labels[*code++];
done:
    return value;
}

u64 run(void)
{
    static const unsigned char code[] = {0, 1, 2, 0, 1, 1, 2, 0, 3};
    u64 sum = threaded(code);
    for (u32 i = 0; i < 12; i++) sum = sum * 31 + (u64)(long long)classify(i);
    for (u32 i = 0; i < 4; i++) sum = sum * 31 + (u64)(long long)operations[i]((int)i * 100, 7);
    return sum * 31 + (u64)(long long)chosen(3, 9);
}

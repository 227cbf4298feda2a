/* Uses globals of every kind, and pointers between them. */
#include "export.h"

struct node {
    const struct node *next;
    int value;
    const char *name;
};
static const struct node third = {0, 3, "third"}, second = {&third, 2, "second"};
const struct node first = {&second, 1, "first"};
static int table[64], counter = 40;
short narrow[] = {-1, 2, -3, 4};
static unsigned char bytes[5] = {250, 251, 252, 253, 254};
extern int missing __attribute__((weak));
int shared;
static int *volatile middle = &table[32];

static __attribute__((noinline)) int next(void) { return ++counter; }

u64 run(void)
{
    u64 sum = &missing ? 1 : 2;
    for (const struct node *n = &first; n; n = n->next) {
        sum = sum * 131 + (u64)n->value;
        for (const char *c = n->name; *c; c++) sum = sum * 131 + (u64)*c;
    }
    for (int i = 0; i < 64; i++) table[i] = next() * i;
    for (int i = -32; i < 32; i++) sum = sum * 3 + (u64)(long long)middle[i];
    for (int i = 0; i < 4; i++) sum = sum * 5 + (u64)(long long)narrow[i];
    for (int i = 0; i < 5; i++) sum = sum * 7 + bytes[i];
    shared += (int)sum;
    return sum ^ (u64)(long long)shared;
}

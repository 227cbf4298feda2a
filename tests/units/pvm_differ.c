/* Runs random PolkaVM programs on the interpreter and the compiler. differ.h has the options.
 * With --cover, exit status 3 means that some instruction or pattern was never executed. */
#include "differ.h"
#include "pvm_trial.h"

static struct tally tally;

static void pvm_differ_list(const struct program *p)
{
    fprintf(stderr, "isa %s, %u bytes:\n", pvm_isas[p->isa].name, (unsigned)p->size);
    for (uint32_t pc = 0; pc < p->size; pc++) {
        struct pvm_insn in;
        if (!pvm_starts(&p->view, pc)) continue;
        pvm_decode(&p->view, pc, &in);
        fprintf(stderr, "%5u  %-34s", pc, in.op ? pvm_ops[in.op].name : "invalid");
        fprintf(stderr, " a=%u b=%u d=%u imm=0x%llx,0x%llx target=%u\n", in.a, in.b, in.d,
                (unsigned long long)in.imm1, (unsigned long long)in.imm2, in.target);
    }
}

static void list_last(void) { pvm_differ_list(&trial_program); }

void trial_failed(const char *what, const struct program *p)
{
    fprintf(stderr, "does not hold: %s\n", what);
    pvm_differ_list(p);
    differ_failed("the engines differ");
}

/* Mixes the bits, so that programs with neighbouring numbers have nothing in common. */
static uint64_t pvm_differ_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) | 1;
}

static bool program_trial(uint64_t seed, uint64_t number, bool cover)
{
    (void)cover;
    struct choices c = {.state = pvm_differ_mix(seed * UINT64_C(0x9e3779b97f4a7c15) + number)};
    return trial_run(&c, &tally);
}

int main(int argc, char **argv)
{
    static const struct differ differ = {"pvm_differ", "--cover", program_trial, list_last};
    bool cover = false;
    int status = differ_run(&differ, argc, argv, &cover);
    if (status) return status;
    unsigned missing = tally_print(&tally, stdout);
    printf("%llu machines\n", (unsigned long long)tally.machines);
    return cover && missing ? 3 : 0;
}

/* The look at what a function may take, and at the flag: every 2^16 steps, some hundred microseconds. */
#include "ssa/work.h"

enum { LOOK = 1 << 16 };

bool ssa_work_look(struct ssa_work *w)
{
    if (w->done > w->most || (w->stop && *w->stop)) w->over = true;
    w->look = w->over ? 0 : w->done + LOOK;
    if (w->look > w->most && !w->over) w->look = w->most + 1;
    return !w->over;
}

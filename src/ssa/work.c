/* Checks whether a function has taken more work than it may, and whether the flag that stops the
 * compiler is set. ssa_work_do calls this every 2^16 steps, which is after some hundred
 * microseconds. */
#include "ssa/work.h"

enum { LOOK = 1 << 16 };

bool ssa_work_look(struct ssa_work *w)
{
    if (w->done > w->most || (w->stop && *w->stop)) w->over = true;
    w->look = w->over ? 0 : w->done + LOOK;
    if (w->look > w->most && !w->over) w->look = w->most + 1;
    return !w->over;
}

#ifndef CONTROL_H
#define CONTROL_H
#define TRIPLE(x) ((x)*3)
#define HEADER_NAME "header"
int header_value(int v) { return TRIPLE(v) + 1; }
#endif

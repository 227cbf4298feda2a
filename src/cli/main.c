/* Has the entry of the tool, which only calls cli_main. Programs of the tests are linked without
 * this file. */
#include "cli/cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }

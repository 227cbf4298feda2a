/* The entry of the tool. Everything else is in cli_main, which tests load without this file. */
#include "cli/cli.h"

int main(int argc, char **argv) { return cli_main(argc, argv); }

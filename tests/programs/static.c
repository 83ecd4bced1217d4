/* Linked statically: no runtime can be preloaded. */
#include "work.h"

int main(int argc, char **argv)
{
	burn_ms(10);
	printf("static %s\n", argc > 1 ? argv[1] : "");
	return 6;
}

/* Linked with early.c's library; prints its CPU time, as the kernel has it, in ns. */
#include "work.h"

void early_join(void);

int main(void)
{
	early_join();
	burn_ms(100);
	printf("%llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

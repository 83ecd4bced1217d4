/* The library that is loaded and unloaded again and again. */
#include "../work.h"

__attribute__((visibility("default"))) uint64_t loaded_work(uint64_t x);

uint64_t loaded_work(uint64_t x)
{
	volatile uint64_t kept = spin(x, 20000);

	return kept;
}

// HYBRID_SCOPE: 100 times an exception passes through three scopes; 100 times they end alone.
#include <hybrid/hybrid.h>
#include <cstdio>
#include <stdexcept>

static int caught;

__attribute__((noinline)) static void third(bool fail)
{
	HYBRID_SCOPE("third");
	if (fail)
		throw std::runtime_error("on purpose");
}

__attribute__((noinline)) static void second(bool fail)
{
	HYBRID_SCOPE_FUNCTION();
	third(fail);
}

__attribute__((noinline)) static void first(bool fail)
{
	HYBRID_SCOPE("first");
	try {
		HYBRID_SCOPE("attempt");
		second(fail);
	} catch (const std::exception &) {
		caught++;
	}
}

int main()
{
	for (int i = 0; i < 200; i++)
		first(i % 2);
	std::printf("caught %d\n", caught);
	return 0;
}

// Exceptions thrown through many frames, in a loop.
#include <stdexcept>

extern "C" {
#include "corpus.h"
}

namespace
{
struct cleans {
	uint64_t *count;
	~cleans()
	{
		++*count;
	}
};

NOINLINE uint64_t throws(unsigned depth, uint64_t *count)
{
	cleans guard{count};

	if (!depth)
		throw std::runtime_error("on purpose");
	return throws(depth - 1, count) + 1;
}
} // namespace

extern "C" void case_exceptions(void)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < 20; i++)
		try {
			throws(10, &count);
		} catch (const std::runtime_error &) {
			corpus_work(i);
		}
	CHECK(count == 20 * 11);
}

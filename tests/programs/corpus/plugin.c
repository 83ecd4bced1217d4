#include "plugin.h"

__attribute__((visibility("default"))) uint64_t plugin_one(uint64_t x)
{
	return x * 3;
}

__attribute__((visibility("default"))) uint64_t plugin_two(uint64_t x)
{
	return x ^ plugin_one(x);
}

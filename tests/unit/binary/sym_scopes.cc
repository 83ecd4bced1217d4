/* Names with scopes; marks as in sym_inline.c. */
#include <map>
#include <string>
#include <vector>

#define MARK(name) __asm__ volatile(".globl " name "\n" name ": nop" ::: "memory")

namespace space
{
template <class T> struct Box {
	std::map<T, std::vector<std::string>> all;
	__attribute__((noinline)) int put(T key, const std::string &text)
	{
		MARK("mark_template"); /* LINE mark_template */
		all[key].push_back(text);
		return (int)all.size();
	}
};

namespace
{
__attribute__((noinline)) int hidden(int x)
{
	MARK("mark_hidden"); /* LINE mark_hidden */
	return x * 2;
}

struct Local {
	int v;
	__attribute__((always_inline)) inline int folded(int x)
	{
		MARK("mark_folded"); /* LINE mark_folded */
		return x + v;
	}
};
} // namespace

template int Box<int>::put(int, const std::string &);

static __attribute__((noinline)) int overloaded(double x)
{
	MARK("mark_static"); /* LINE mark_static */
	return (int)x;
}

/* A class without a name that ends with a named one: the function behind is in neither. */
static struct {
	struct Last {
		int b;
	};
} unnamed;

static __attribute__((noinline)) int behind(int n)
{
	decltype(unnamed)::Last last = {n};

	MARK("mark_behind"); /* LINE mark_behind */
	return last.b + (int)sizeof(unnamed);
}

int work(int n)
{
	Box<int> box;
	Local local{n};
	auto closure = [&](int y) __attribute__((noinline))
	{
		MARK("mark_lambda"); /* LINE mark_lambda */
		return y + n;
	};
	return box.put(n, "x") + hidden(n) + local.folded(n) /* LINE folded-call */
	       + closure(n) + overloaded(n) + behind(n);
}
} // namespace space

int main(int argc, char **)
{
	return space::work(argc) & 1;
}

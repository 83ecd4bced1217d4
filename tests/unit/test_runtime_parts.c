/* Parts of the runtime that need no measured process: reading memory, CFI expressions, the filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>

#include "runtime/cfi.h"
#include "runtime/filter.h"
#include "runtime/memory.h"

/* Two pages, of which the second cannot be read. */
static char *half_readable(void)
{
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at + 4096, 4096, PROT_NONE), 0);
	memset(at, 7, 4096);
	return at;
}

static void test_readable(void **state)
{
	char *at = half_readable();

	assert_true(memory_readable((uintptr_t)at));
	assert_true(memory_readable((uintptr_t)at + 4095));
	assert_false(memory_readable((uintptr_t)at + 4096));
	assert_false(memory_readable(0)); /* a null set is not read by the kernel, and would pass */
	assert_false(memory_readable(8));
	assert_false(memory_readable(UINTPTR_MAX - 7));
	assert_false(memory_readable(0x800000000000)); /* not an address of x86-64 */
	munmap(at, 8192);
}

static void test_copy(void **state)
{
	char *at = half_readable(), to[64] = "";

	assert_true(memory_copy(to, (uintptr_t)at + 4096 - 64, 64));
	assert_int_equal(to[63], 7);
	assert_false(memory_copy(to, (uintptr_t)at + 4096 - 63, 64));
	assert_false(memory_copy(to, 8, 8));
	munmap(at, 8192);
}

/* Addresses that a register used for something else can lead to, on a stack of known and of unknown bounds.
 */
static void test_stack_reads(void **state)
{
	char *at = half_readable();
	struct cfi_stack known = {(uintptr_t)at + 1024, (uintptr_t)at + 4096, 0}, unknown = {0, 0, 0};
	struct cfi_stack *stacks[] = {&known, &unknown};
	const volatile uintptr_t bad[] = {(uintptr_t)at + 4096, (uintptr_t)at + 4089, 0, 8, 4096,
		UINTPTR_MAX - 7, UINTPTR_MAX, UINTPTR_MAX - 4000};
	uint64_t v;

	for (int i = 0; i < 2; i++) {
		assert_true(cfi_read(stacks[i], (uintptr_t)at + 4088, &v));
		assert_int_equal(v, 0x0707070707070707);
		assert_true(cfi_read(stacks[i], (uintptr_t)at, &v)); /* below the known part, but there */
		assert_true(cfi_read(stacks[i], (uintptr_t)at + 3, &v));
		for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
			assert_false(cfi_read(stacks[i], bad[n], &v));
	}
	munmap(at, 8192);
}

static bool evaluate(const uint8_t *p, size_t length, uint64_t *ret_v)
{
	struct cfi_regs regs = {.known = 1u << CFI_RSP | 1u << CFI_RIP};
	struct cfi_stack stack = {0, 0, 0};

	regs.value[CFI_RSP] = 1000;
	regs.value[CFI_RIP] = 0x40100b;
	return cfi_evaluate(p, length, &regs, &stack, NULL, ret_v);
}

static void test_expressions(void **state)
{
	/* What binutils writes for PLT stubs: rsp + 8, and 8 more in the second half of a stub. */
	static const uint8_t plt[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
		DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	static const uint8_t negative[] = {DW_OP_const1s, 0x9c, DW_OP_breg7, 0x7c, DW_OP_plus};
	static const uint8_t skip[] = {
		DW_OP_lit1, DW_OP_lit5, DW_OP_swap, DW_OP_bra, 1, 0, DW_OP_lit9, DW_OP_dup, DW_OP_mul};
	static const uint8_t back[] = {DW_OP_skip, 0xfd, 0xff};
	static const uint8_t cut[] = {DW_OP_const8u, 1, 2};
	static const uint8_t empty_stack[] = {DW_OP_plus};
	static const uint8_t unknown_register[] = {DW_OP_breg3, 0};
	static const uint8_t null[] = {DW_OP_lit0, DW_OP_deref};
	uint8_t deep[64];
	uint64_t v;

	assert_true(evaluate(plt, sizeof(plt), &v));
	assert_int_equal(v, 1016);
	assert_true(evaluate(negative, sizeof(negative), &v));
	assert_int_equal(v, 1000 - 4 - 100);
	assert_true(evaluate(skip, sizeof(skip), &v));
	assert_int_equal(v, 25);
	assert_false(evaluate(back, sizeof(back), &v));
	assert_false(evaluate(cut, sizeof(cut), &v));
	assert_false(evaluate(empty_stack, sizeof(empty_stack), &v));
	assert_false(evaluate(unknown_register, sizeof(unknown_register), &v));
	assert_false(evaluate(null, sizeof(null), &v));
	assert_false(evaluate(NULL, 0, &v));
	memset(deep, DW_OP_lit1, sizeof(deep));
	assert_false(evaluate(deep, sizeof(deep), &v));
}

/* Any bytes: an answer or none, but no fault. */
static void test_random_expressions(void **state)
{
	uint8_t p[24];
	uint64_t v;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		for (size_t n = 0; n < sizeof(p); n++)
			p[n] = (uint8_t)rand();
		evaluate(p, sizeof(p), &v);
	}
}

static void test_qualified_names(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{"_ZN2ns4type6methodEi", "ns::type::method"},
		{"_ZNK2ns4type3getEv", "ns::type::get"},
		{"_Z4freev", "free"},
		{"_ZN4typeC2Ev", "type::type"},
		{"_ZSt4sortIPiEvT_S1_", "std::sort"},
		{"_ZN3boxIiE3putEi", "box"},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(filter_qualified(cases[i].symbol, name, sizeof(name)));
		assert_string_equal(name, cases[i].name);
	}
	assert_false(filter_qualified("main", name, sizeof(name)));
	assert_false(filter_qualified("_ZN99999shortE", name, sizeof(name)));
	assert_false(filter_qualified("_Z", name, sizeof(name)));
	assert_false(filter_qualified("_ZN2ns4type6methodEi", name, 8));
}

static void with_filter(const char *text)
{
	char path[] = "/tmp/hybrid-filter-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_true(filter_load(path));
	unlink(path);
}

static void test_filter(void **state)
{
	with_filter("exclude tiny*\n# a comment\n  include tiny_but_hot # and another\nexclude "
		    "ns::*::get\nexclude ?x");
	assert_true(filter_excludes("tiny_get"));
	assert_true(filter_excludes("tiny"));
	assert_false(filter_excludes("tiny_but_hot"));
	assert_false(filter_excludes("main"));
	assert_true(filter_excludes("_ZNK2ns4type3getEv"));
	assert_false(filter_excludes("_ZNK2ns4type3putEv"));
	assert_true(filter_excludes("ax"));
	assert_false(filter_excludes("aax"));
	with_filter("include solve*\n");
	assert_false(filter_excludes("solve_all"));
	assert_true(filter_excludes("main"));
	assert_false(filter_load("/nonexistent/filter"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readable),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_stack_reads),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_random_expressions),
		cmocka_unit_test(test_qualified_names),
		cmocka_unit_test(test_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

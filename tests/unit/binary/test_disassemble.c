/* Instructions against objdump's, of what the test was compiled to. */
#include "sym_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/disassemble.h"

struct lines {
	char text[20000];
	unsigned count;
	struct instruction last, jump, call;
};

static int put(void *data, const struct instruction *instruction)
{
	struct lines *lines = data;
	size_t at = strlen(lines->text);

	snprintf(lines->text + at, sizeof(lines->text) - at, "%llx %s\n",
		(unsigned long long)instruction->address, instruction->mnemonic);
	lines->count++;
	lines->last = *instruction;
	if (instruction->jump && instruction->target)
		lines->jump = *instruction;
	if (instruction->call && instruction->target)
		lines->call = *instruction;
	return 0;
}

/* The code of a function of a program in the test's directory. */
static void disassemble_function(const char *program, const char *function, struct lines *lines)
{
	struct hyb_symbols *symbols = sym_plain();
	struct hyb_module module = sym_module(program);
	uint64_t start = 0, end = 0;
	uint8_t bytes[4096];
	struct hyb_code code;
	struct hyb_error error;

	memset(lines, 0, sizeof(*lines));
	assert_true(hyb_symbols_extent(symbols, &module, sym_address_of(program, function), &start, &end));
	assert_true(end - start <= sizeof(bytes));
	assert_int_equal(
		hyb_symbols_code(symbols, &module, start, bytes, (size_t)(end - start), &code, &error), 0);
	assert_int_equal(disassemble(&code, bytes, start, false, put, lines), 0);
	hyb_symbols_close(symbols);
}

static void test_against_objdump(void **state)
{
	static struct lines lines;
	char *expected;

	(void)state;
	if (disassemble_missing())
		skip();
	assert_true(sym_run("printf '%%s\\n' 'int g(int); int f(int n) { int s = 0;"
			    "for (int i = 0; i < n; i++) if (g(i)) s += i * 3; return s; }'"
			    "'__attribute__((noinline)) int g(int i) { __asm__(\"\"); return i & 5; }'"
			    "'int main(int c, char **v) { return f(c); }' >small.c && "
			    "gcc -O1 -fno-stack-protector -fcf-protection=none -o small small.c"));
	disassemble_function("small", "f", &lines);
	assert_true(lines.count > 8);
	expected = sym_output("objdump -d -M intel --no-show-raw-insn --disassemble=f small |"
			      "sed -n 's/^ *\\([0-9a-f]*\\):\\t\\([a-z0-9]*\\).*/\\1 \\2/p'");
	assert_string_equal(lines.text, expected);
	free(expected);
	assert_int_equal(lines.call.target, sym_address_of("small", "g"));
	assert_true(lines.jump.target >= sym_address_of("small", "f"));
}

static int stop_at_once(void *data, const struct instruction *instruction)
{
	++*(unsigned *)data;
	return 7;
}

/* What is no instruction is shown as bytes, to the last one; what is no machine is said. */
static void test_junk(void **state)
{
	static struct lines lines;
	struct hyb_code code = {.size = 3, .machine = 62, .wide = true};
	static const uint8_t junk[] = {0x06, 0x90, 0x0f};
	unsigned seen = 0;

	(void)state;
	if (disassemble_missing())
		skip();
	assert_int_equal(disassemble(&code, junk, 16, false, put, &lines), 0);
	assert_string_equal(lines.text, "10 .byte\n11 nop\n12 .byte\n");
	assert_string_equal(lines.last.operands, "0x0f");
	assert_int_equal(disassemble(&code, junk, 16, true, stop_at_once, &seen), 7);
	assert_int_equal(seen, 1);
	code.machine = 0xfffe;
	assert_int_equal(disassemble(&code, junk, 16, false, put, &lines), HYB_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_objdump),
		cmocka_unit_test(test_junk),
	};

	return cmocka_run_group_tests(tests, sym_set_up, sym_tear_down);
}

/*
 * Reads code objects from stdin, each as four u32 (format, first line, instructions, bytes of the
 * table) and the table; writes the line of each of the instructions as a u32.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/python/lines.h"

struct code {
	uint32_t format, first_line, instructions, len;
};

static int write_lines(const struct code *code)
{
	uint8_t *table = malloc(code->len ? code->len : 1);
	int result = -1;

	if (table && fread(table, 1, code->len, stdin) == code->len) {
		for (uint32_t i = 1; i <= code->instructions; i++) {
			uint32_t line = python_line(code->format, table, code->len, code->first_line, i);

			fwrite(&line, sizeof(line), 1, stdout);
		}
		result = 0;
	}
	free(table);
	return result;
}

int main(void)
{
	struct code code;

	while (fread(&code, sizeof(code), 1, stdin) == 1)
		if (write_lines(&code))
			return 1;
	return fflush(stdout) ? 1 : 0;
}

#include "lines.h"

#include <limits.h>
#include <stdbool.h>

#include "base/varint.h"
#include "format/format.h"

#define NO_LINE INT64_MIN
#define UNIT 2 /* bytes of an instruction without its argument's extensions and caches */

/* Codes of locations; those below are columns on the same line. */
enum location {
	LOCATION_ONE_LINE = 10, /* to 12: the line changes by the code minus this */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* Pairs of bytes: the address grows by the first, then the line changes by the second. */
static int64_t lnotab_line(const uint8_t *p, const uint8_t *end, int64_t line, uint64_t wanted)
{
	for (uint64_t address = 0; end - p >= 2; p += 2) {
		address += p[0];
		if (address > wanted)
			break;
		line += (int8_t)p[1];
	}
	return line;
}

/* Pairs of bytes: the line changes by the second, and holds for the first bytes of instructions. */
static int64_t linetable_line(const uint8_t *p, const uint8_t *end, int64_t line, uint64_t wanted)
{
	uint64_t address = 0;

	for (; end - p >= 2; p += 2) {
		bool none = (int8_t)p[1] == -128;

		if (!none)
			line += (int8_t)p[1];
		address += p[0];
		if (address > wanted)
			return none ? NO_LINE : line;
	}
	return NO_LINE;
}

/* A signed number of six bits a byte, least significant first; 0 if it does not end in 36 bits. */
static int64_t location_number(const uint8_t *p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned shift = 0; p < end && shift < 36; shift += 6) {
		v |= (uint64_t)(*p & 0x3f) << shift;
		if (!(*p++ & 0x40))
			return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
	}
	return 0;
}

static int64_t location_difference(unsigned code, const uint8_t *p, const uint8_t *end)
{
	if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS)
		return code - LOCATION_ONE_LINE;
	return code == LOCATION_NO_COLUMNS || code == LOCATION_LONG ? location_number(p, end) : 0;
}

/* Entries begin with a byte that has bit 7 set: code and units - 1. Their first number is the change of the
 * line. */
static int64_t locations_line(const uint8_t *p, const uint8_t *end, int64_t line, uint64_t wanted)
{
	uint64_t address = 0;

	while (p < end) {
		unsigned code = *p >> 3 & 15;

		address += ((*p++ & 7u) + 1) * UNIT;
		line += location_difference(code, p, end);
		if (address > wanted)
			return code == LOCATION_NONE ? NO_LINE : line;
		while (p < end && !(*p & 0x80))
			p++;
	}
	return NO_LINE;
}

unsigned python_line(
	unsigned format, const uint8_t *table, size_t len, unsigned first_line, uint32_t instruction)
{
	uint64_t wanted = ((uint64_t)instruction - 1) * UNIT;
	int64_t line = NO_LINE;

	if (!instruction)
		return first_line;
	if (format == PYTHON_LINES_LNOTAB)
		line = lnotab_line(table, table + len, first_line, wanted);
	else if (format == PYTHON_LINES_LINETABLE)
		line = linetable_line(table, table + len, first_line, wanted);
	else if (format == PYTHON_LINES_LOCATIONS)
		line = locations_line(table, table + len, first_line, wanted);
	return line > 0 && line <= INT_MAX ? (unsigned)line : 0;
}

#include "viewer/timeline/axis.h"

#include <inttypes.h>
#include <stdio.h>

struct axis axis_make(uint64_t from, uint64_t to, unsigned most)
{
	static const unsigned factors[] = {2, 5, 10};
	uint64_t power = 1, step = 1;

	for (unsigned i = 0; (to - from) / step >= most && power < UINT64_MAX / 100; i++) {
		step = power * factors[i % 3];
		if (i % 3 == 2)
			power *= 10;
	}
	return (struct axis){(from + step - 1) / step * step, step};
}

const char *axis_text(uint64_t time, uint64_t step, char text[AXIS_TEXT])
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	unsigned u = 0, digits = 0;
	uint64_t place;

	while (u < 3 && (time ? time : step) < units[u].ns)
		u++;
	for (place = units[u].ns; place > step && place >= 10 && digits < 9; place /= 10)
		digits++;
	if (digits)
		snprintf(text, AXIS_TEXT, "%" PRIu64 ".%0*" PRIu64 " %s", time / units[u].ns, (int)digits,
			time % units[u].ns / place, units[u].name);
	else
		snprintf(text, AXIS_TEXT, "%" PRIu64 " %s", time / units[u].ns, units[u].name);
	return text;
}

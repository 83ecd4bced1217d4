/*
 * Derived metrics: expressions over what was measured, as in
 *
 *     PAPI_TOT_INS / PAPI_TOT_CYC
 *     (rusage::minor_faults + rusage::major_faults) * 4096 / time
 *
 * made of names, decimal numbers, + - * / and parentheses, with their usual precedence. Where a name may
 * stand, the longest of the known ones that fits is taken; so a name with a '-' in it needs no quotes, as
 * long as there are blanks around what is meant as a minus. "..." is always a name. An expression is parsed
 * once and then evaluated for each node on the sums of that node; results are never summed.
 *
 * Pure: neither prints nor reads files; one thread at a time.
 */
#ifndef HYB_DERIVE_H
#define HYB_DERIVE_H

#include <stdbool.h>
#include <stddef.h>

/* What may stand in an expression, in the order of the values it is evaluated on. */
struct derive_names {
	const char *const *names;
	const bool *ratios; /* values of the parts do not add up to that of the whole; NULL: all do */
	size_t count;
};

struct derive_error {
	size_t at; /* bytes from the beginning of the text */
	bool unknown; /* there stands a name that is not known */
	char text[200];
};

struct derive;

/* Names are not kept. On failure NULL and *ret_error, of which `at` may be the end of the text. */
struct derive *derive_parse(
	const char *text, const struct derive_names *names, struct derive_error *ret_error);
void derive_free(struct derive *derive); /* accepts NULL */

/* Its value, or NAN where that is not defined: after a division by 0, or of a value that is not. */
double derive_evaluate(const struct derive *derive, const double *values);

/* The values of parts do not add up to that of the whole: it is no sum of names times numbers. */
bool derive_is_ratio(const struct derive *derive);

/* Whether the value depends on the name with that index. */
bool derive_uses(const struct derive *derive, size_t name);

#endif

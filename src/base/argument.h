/* Options: what getopt_long() refuses, and values that several programs have. */
#ifndef HYB_ARGUMENT_H
#define HYB_ARGUMENT_H

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_TEXT 256

/* The long name of the option with that `val`; NULL: there is none. */
const char *argument_name(const struct option *options, int value);

/* getopt_long(). '?': `text` says what is wrong, with names that are near; an empty value is wrong, too. */
int argument_next(int argc, char *const *argv, const char *shorts, const struct option *options,
	char text[ARGUMENT_TEXT]);

/* ---- Values. Each function: NULL, or what a user is to give instead. */

static inline const char *argument_number(const char *value, unsigned long most, uint32_t *ret)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > most)
		return "a whole number from 1";
	*ret = (uint32_t)n;
	return NULL;
}

static inline const char *argument_percentage(const char *value, double *ret)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !(v >= 0 && v <= 100))
		return "a percentage from 0 to 100";
	*ret = v;
	return NULL;
}

/* 1 always (also NULL: --color alone), 0 never, -1 as the output is. */
static inline const char *argument_colour(const char *value, int *ret)
{
	if (!value || !strcmp(value, "always"))
		*ret = 1;
	else if (!strcmp(value, "never"))
		*ret = 0;
	else if (!strcmp(value, "auto"))
		*ret = -1;
	else
		return "auto, always or never";
	return NULL;
}

#endif

/* Finds the names that are spelt most like a given one, to suggest them in a message. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NEAREST_MOST 3u /* names that a message suggests */
#define NEAREST_LONGEST 255u /* letters of a name that are compared */

/* Letters to be changed, added or left out to make `a` of `b`, whatever their case. */
static inline unsigned nearest_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[NEAREST_LONGEST + 1];

	n = n < NEAREST_LONGEST ? n : NEAREST_LONGEST;
	m = m < NEAREST_LONGEST ? m : NEAREST_LONGEST;
	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
			unsigned best = corner + !same;

			corner = row[j];
			best = corner + 1 < best ? corner + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[m];
}

/* The edit distance of `name`, or of what stands in it behind "::", from what was written; 0 also if `name`
 * contains it. */
static inline unsigned nearest_score(const char *written, const char *name)
{
	const char *behind = strstr(name, "::");
	unsigned whole = nearest_distance(written, name),
		 part = behind ? nearest_distance(written, behind + 2) : whole;

	return strcasestr(name, written) ? 0 : whole < part ? whole : part;
}

/*
 * Stores the indices of up to `most` names that are near enough to be suggested, nearest first; returns how
 * many.
 */
static inline size_t nearest_names(
	const char *written, const char *const *names, size_t count, size_t *ret_indices, size_t most)
{
	unsigned enough = (unsigned)(strlen(written) / 3) + 1;
	size_t found = 0;

	for (size_t i = 0; *written && i < count; i++) {
		unsigned score = nearest_score(written, names[i]);
		size_t at = found;

		if (score > enough)
			continue;
		for (; at && nearest_score(written, names[ret_indices[at - 1]]) > score; at--)
			if (at < most)
				ret_indices[at] = ret_indices[at - 1];
		if (at < most)
			ret_indices[at] = i;
		found += found < most;
	}
	return found;
}

/* Appends "; similar: A, B" to the text of `size` bytes, if there are such names. Whether there are. */
static inline bool nearest_put(
	char *text, size_t size, const char *written, const char *const *names, size_t count)
{
	size_t near[NEAREST_MOST], found = nearest_names(written, names, count, near, NEAREST_MOST),
				   used = strlen(text);

	for (size_t i = 0; i < found && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%.100s", i ? ", " : "; similar: ", names[near[i]]);
	return found > 0;
}

#endif

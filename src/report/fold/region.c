/* Which region --fold means. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "fold.h"

#define NAMED 8u /* candidates that an error names */

/* Regions that differ in name or place. */
struct candidate {
	const struct profile_node *node; /* the first of them */
	uint64_t time;
};

struct search {
	const char *wanted;
	struct candidate *candidates; /* most time first */
	size_t candidate_count;
	struct hyb_error *err;
};

const char *report_fold_label(const struct profile_node *n, char text[FOLD_LABEL])
{
	bool probe = n->kind == PROFILE_PROBE, place = *n->file && n->line;

	if (!place)
		snprintf(text, FOLD_LABEL, "%s", n->name);
	else if (probe)
		snprintf(text, FOLD_LABEL, "%.380s (%.100s:%u)", n->name, path_base(n->file), n->line);
	else
		snprintf(text, FOLD_LABEL, "%.380s:%.100s:%u", n->name, path_base(n->file), n->line);
	return text;
}

/* Whether `wanted` is "name", "name file:line" or "name (file:line)", the file with or without directories.
 */
static bool is_exact(const struct profile_node *n, const char *wanted)
{
	const char *const files[] = {n->file, path_base(n->file)};
	size_t length = strlen(n->name);
	char place[600];

	if (strncmp(wanted, n->name, length))
		return false;
	wanted += length;
	if (!*wanted)
		return true;
	for (int i = 0; i < 2; i++) {
		snprintf(place, sizeof(place), " %.500s:%u", files[i], n->line);
		if (!strcmp(wanted, place))
			return true;
		snprintf(place, sizeof(place), " (%.500s:%u)", files[i], n->line);
		if (!strcmp(wanted, place))
			return true;
	}
	return false;
}

static bool is_part(const struct profile_node *n, const char *wanted)
{
	return strstr(n->name, wanted);
}

static bool is_any(const struct profile_node *n, const char *wanted)
{
	return true;
}

static bool is_same(const struct profile_node *a, const struct profile_node *b)
{
	return a->name == b->name && a->file == b->file && a->line == b->line;
}

static int by_time(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* All probes of the profile that was finished, for their times. */
static int find_candidates(struct search *m, const struct profile *profile)
{
	const struct profile_node *nodes = profile_nodes(profile);

	for (size_t i = 1; i < profile_count(profile); i++) {
		size_t c = 0;

		if (nodes[i].kind != PROFILE_PROBE || !nodes[i].calls)
			continue;
		while (c < m->candidate_count && !is_same(m->candidates[c].node, &nodes[i]))
			c++;
		if (c == m->candidate_count) {
			if (!ARRAY_ADD(m->candidates, m->candidate_count, (struct candidate){&nodes[i], 0}))
				return HYB_ENOMEM;
		}
		m->candidates[c].time += nodes[i].inclusive;
	}
	if (m->candidate_count)
		qsort(m->candidates, m->candidate_count, sizeof(*m->candidates), by_time);
	return 0;
}

/* The candidates that fit, as many as there is room for. */
static void name_candidates(const struct search *m,
	bool (*fits)(const struct profile_node *n, const char *wanted), char *text, size_t size)
{
	const char *wanted = m->wanted;
	char label[FOLD_LABEL];
	size_t used = 0, shown = 0, count = 0;

	*text = 0;
	for (size_t i = 0; i < m->candidate_count; i++) {
		if (!fits(m->candidates[i].node, wanted))
			continue;
		count++;
		report_fold_label(m->candidates[i].node, label);
		if (shown == NAMED || used + strlen(label) + 40 > size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", shown++ ? ", " : "", label);
	}
	if (count > shown)
		snprintf(text + used, size - used, " and %zu more", count - shown);
}

static size_t count_fitting(const struct search *m,
	bool (*fits)(const struct profile_node *n, const char *wanted), const struct profile_node **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < m->candidate_count; i++)
		if (fits(m->candidates[i].node, m->wanted)) {
			*ret = m->candidates[i].node;
			count++;
		}
	return count;
}

static bool was_sampled(const struct profile *profile, const char *name)
{
	const struct profile_node *nodes = profile_nodes(profile);

	for (size_t i = 1; i < profile_count(profile); i++)
		if (nodes[i].kind != PROFILE_PROBE && !strcmp(nodes[i].name, name))
			return true;
	return false;
}

static void fail_unknown(struct search *m, const struct profile *profile)
{
	const char *wanted = m->wanted;
	char names[300];

	name_candidates(m, is_any, names, sizeof(names));
	if (!m->candidate_count)
		error_set(m->err, HYB_EEMPTY,
			"--fold %.100s: no region was measured, and only regions have instances: mark "
			"regions in the program, see hybrid_api(3)",
			wanted);
	else if (was_sampled(profile, wanted))
		error_set(m->err, HYB_EEMPTY,
			"--fold %.100s: that was only sampled, and only regions have instances, as %s",
			wanted, names);
	else
		error_set(
			m->err, HYB_EEMPTY, "--fold %.100s: there is no such region, but %s", wanted, names);
}

/* Exact names first, then parts of them. */
static const struct profile_node *choose(struct search *m, const struct profile *profile)
{
	bool (*const rules[])(const struct profile_node *n, const char *wanted) = {is_exact, is_part};
	const struct profile_node *found = NULL;
	char names[300];

	for (size_t i = 0; i < 2; i++) {
		size_t count = count_fitting(m, rules[i], &found);

		if (count == 1)
			return found;
		if (!count)
			continue;
		name_candidates(m, rules[i], names, sizeof(names));
		error_set(m->err, HYB_EEMPTY, "--fold %.100s: that may be %s; give one of them", m->wanted,
			names);
		return NULL;
	}
	fail_unknown(m, profile);
	return NULL;
}

const struct profile_node *report_fold_region(
	const struct profile *profile, const char *wanted, struct hyb_error *err)
{
	struct search search = {.wanted = wanted, .err = err};
	const struct profile_node *found = NULL;

	error_set(err, HYB_ENOMEM, "out of memory");
	if (!find_candidates(&search, profile))
		found = choose(&search, profile);
	free(search.candidates);
	return found;
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "converters/formats.h"
#include "profile/metrics/figures.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/wrap.h"
#include "format/format.h"
#include "session/session.h"

static int find_metric(const char *name, struct convert_profile *p, struct hyb_error *err)
{
	char known[300] = "time", similar[200] = "";
	const char *names[HYB_METRICS_MAX]; /* files of several runs may have more together */
	size_t count = 0;

	p->weight = SIZE_MAX;
	if (!name || !strcmp(name, "time"))
		return HYB_OK;
	for (size_t i = 0; i < p->metric_count; i++) {
		size_t n = strlen(known);

		if (!strcmp(p->metrics[i].name, name)) {
			p->weight = i;
			return HYB_OK;
		}
		snprintf(known + n, sizeof(known) - n, ", %s", p->metrics[i].name);
		if (count < HYB_METRICS_MAX)
			names[count++] = p->metrics[i].name;
	}
	nearest_put(similar, sizeof(similar), name, names, count);
	return error_set(err, HYB_EFORMAT, "--metric %.100s was not measured%s; measured are %s", name,
		similar, known);
}

uint64_t convert_own(const struct convert_profile *p, uint32_t node)
{
	int64_t own;

	if (p->weight == SIZE_MAX)
		return profile_alone(&p->nodes[node]);
	own = p->values[node * p->metric_count + p->weight].exclusive;
	return own > 0 ? (uint64_t)own : 0;
}

uint64_t convert_all(const struct convert_profile *p, uint32_t node)
{
	int64_t all;

	if (p->weight == SIZE_MAX)
		return profile_whole(&p->nodes[node]);
	all = p->values[node * p->metric_count + p->weight].inclusive;
	return all > 0 ? (uint64_t)all : 0;
}

bool convert_is_own_line(const struct convert_profile *p, uint32_t node)
{
	const struct profile_node *n = &p->nodes[node], *above = &p->nodes[n->parent];

	return above->kind == PROFILE_PROBE && n->name == above->name && n->file == above->file &&
	       (n->kind == PROFILE_LEAF || n->kind == PROFILE_INTERMEDIATE);
}

static bool is_same_frame(const struct profile_node *a, const struct profile_node *b)
{
	return a->name == b->name && a->file == b->file && a->module == b->module && a->line == b->line;
}

static void fold_way(struct convert_way *way, const struct profile_node *nodes)
{
	size_t kept = 0;

	for (size_t i = 0; i < way->count; i++) {
		size_t same = 0;

		while (same < kept && !is_same_frame(&nodes[way->nodes[same]], &nodes[way->nodes[i]]))
			same++;
		way->nodes[same] = way->nodes[i];
		kept = same + 1;
	}
	way->count = kept;
}

int convert_way_find(
	struct convert_way *way, const struct convert_profile *p, uint32_t top, uint32_t node, bool fold)
{
	size_t count = 0;

	for (uint32_t i = node; i != top; i = p->nodes[i].parent)
		if (count++ == way->room && !ARRAY_ROOM(way->nodes, way->room++))
			return HYB_ENOMEM;
	way->count = count;
	for (uint32_t i = node; i != top; i = p->nodes[i].parent)
		way->nodes[--count] = i;
	if (fold)
		fold_way(way, p->nodes);
	return HYB_OK;
}

uint32_t convert_next(const struct convert_profile *p, uint32_t node, size_t *level)
{
	if (p->nodes[node].first_child) {
		++*level;
		return p->nodes[node].first_child;
	}
	while (node && !p->nodes[node].next_sibling) {
		node = p->nodes[node].parent;
		--*level;
	}
	return node ? p->nodes[node].next_sibling : 0;
}

/*
 * Which nodes stay, and how many: what is below the threshold goes, but for what has something above it
 * below, as a metric that goes up and down may. Of locations apart each is the whole for itself.
 */
static size_t choose(const struct convert_profile *p, const struct convert_job *job, bool *stays)
{
	const double share = job->bounds.threshold / 100;
	size_t count = 0;
	uint32_t top = 0;

	for (uint32_t i = 1; i < p->count; i++) {
		bool is_top = job->by_location && !p->nodes[i].parent;

		top = is_top ? i : top;
		stays[i] = is_top || (double)convert_all(p, i) >= share * (double)convert_all(p, top);
	}
	stays[0] = true;
	for (size_t i = p->count; i-- > 0;) {
		stays[p->nodes[i].parent] |= stays[i];
		count += stays[i];
	}
	return count;
}

/* What belongs to a node alone goes to another one; calls do not, as nobody called that one in them. */
static void give(struct convert_profile *p, uint32_t from, uint32_t to)
{
	const struct profile_node *n = &p->nodes[from];
	const struct profile_value *values = p->values ? &p->values[from * p->metric_count] : NULL;
	struct profile_value *sums = p->values ? &p->kept_values[to * p->metric_count] : NULL;

	p->kept[to].exclusive += n->exclusive;
	p->kept[to].blocked += n->blocked;
	p->kept[to].ready += n->ready;
	p->kept[to].idle_alone += n->idle_alone;
	p->kept[to].samples += n->samples;
	p->kept[to].messages += n->messages;
	p->kept[to].sent += n->sent;
	p->kept[to].received += n->received;
	for (size_t k = 0; values && k < p->metric_count; k++) {
		wrap_add(&sums[k].exclusive, values[k].exclusive);
		sums[k].samples += values[k].samples;
	}
}

/* Copies what stays; nodes stand depth first, so that `last`, by node its last child so far, links them. */
static void keep(struct convert_profile *p, const bool *stays, uint32_t *map, uint32_t *last)
{
	const size_t width = p->values ? p->metric_count : 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		struct profile_node *n = &p->kept[count];
		uint32_t parent = map[p->nodes[i].parent];

		if (!stays[i]) {
			map[i] = parent;
			give(p, i, parent);
			continue;
		}
		map[i] = count;
		*n = p->nodes[i];
		n->parent = parent;
		n->first_child = n->next_sibling = 0;
		if (width)
			memcpy(&p->kept_values[count * width], &p->values[i * width],
				width * sizeof(*p->values));
		if (count && last[parent])
			p->kept[last[parent]].next_sibling = count;
		else if (count)
			p->kept[parent].first_child = count;
		last[parent] = count;
		last[count++] = 0;
	}
}

static void note_left_out(const struct convert_job *job, const struct convert_profile *p, size_t left_out)
{
	char counts[2][FIGURE_SIZE];

	convert_note(job,
		"%s of %s call paths are left out, each below %g %% of %s%s: what they had, but for calls, "
		"is their callers'",
		figure_number(left_out, counts[0]), figure_number(p->count, counts[1]), job->bounds.threshold,
		job->by_location ? "its thread's " : "all ",
		p->weight == SIZE_MAX ? "time" : p->metrics[p->weight].name);
}

/* Puts the tree that the threshold leaves in place of the whole one. */
static int apply_threshold(const struct convert_job *job, struct convert_profile *p)
{
	const size_t width = p->values ? p->metric_count : 0;
	bool *stays = calloc(p->count, sizeof(*stays));
	uint32_t *map = calloc(p->count, sizeof(*map)), *last = calloc(p->count, sizeof(*last));
	size_t count = stays ? choose(p, job, stays) : p->count;
	int r = stays && map && last ? HYB_OK : HYB_ENOMEM;

	if (!r && count < p->count) {
		p->kept = malloc(count * sizeof(*p->kept));
		p->kept_values = width ? malloc(count * width * sizeof(*p->kept_values)) : NULL;
		r = p->kept && (!width || p->kept_values) ? HYB_OK : HYB_ENOMEM;
	}
	if (!r && p->kept) {
		keep(p, stays, map, last);
		note_left_out(job, p, p->count - count);
		p->nodes = p->kept;
		p->values = p->kept_values;
		p->count = count;
	}
	free(stays);
	free(map);
	free(last);
	return r;
}

static int make(const struct convert_job *job, struct convert_profile *p, struct hyb_error *err)
{
	struct profile_options options = {.mode = job->mode,
		.split_locations = job->by_location,
		.select = job->bounds.select,
		.data = job->bounds.data};
	int r = session_name(job->experiment, NULL, &p->symbols, err);

	if (!r)
		r = session_merge(
			&(struct session_input){job->experiment, p->symbols}, 1, &options, &p->profile, err);
	if (r)
		return r;
	p->nodes = profile_nodes(p->profile);
	p->count = profile_count(p->profile);
	p->values = profile_values(p->profile);
	p->metrics = profile_metrics(p->profile, &p->metric_count);
	r = find_metric(job->metric, p, err);
	if (!r)
		p->whole = convert_all(p, 0);
	if (!r && job->bounds.threshold > 0 && apply_threshold(job, p))
		r = convert_no_memory(err);
	return r ? r : convert_check(job, err);
}

int convert_profile_make(const struct convert_job *job, struct convert_profile *ret, struct hyb_error *err)
{
	int r;

	*ret = (struct convert_profile){0};
	r = make(job, ret, err);
	if (r)
		convert_profile_release(ret);
	return r;
}

void convert_profile_release(struct convert_profile *p)
{
	free(p->kept);
	free(p->kept_values);
	profile_free(p->profile);
	hyb_symbols_close(p->symbols);
	*p = (struct convert_profile){0};
}

#include "viewer/model/locations.h"

#include <stdlib.h>
#include <string.h>

struct placing {
	const struct snapshot *snapshot;
	struct locations *locations;
	const struct job *job;
	size_t at; /* location that was asked about last */
};

static bool takes_part(void *data, const struct hyb_location_info *location)
{
	struct placing *p = data;

	return snapshot_has(p->snapshot, location, &p->at) && !atomic_load(&p->job->stop);
}

static void find_tops(struct placing *p)
{
	size_t count;
	const struct profile_part *parts = profile_parts(p->locations->profile, &count);

	for (size_t i = 0; i < count; i++)
		if (snapshot_has(p->snapshot, parts[i].location, &p->at))
			p->locations->top[p->at] = parts[i].nodes[0];
}

int locations_make(
	struct locations *l, const struct snapshot *snapshot, const struct job *job, struct hyb_error *err)
{
	struct placing placing = {snapshot, l, job, 0};
	struct profile_options options = {
		.mode = snapshot->query.mode,
		.python_internals = snapshot->query.python_internals,
		.mpi_internals = snapshot->query.mpi_internals,
		.split_locations = true,
		.select = takes_part,
		.parts = true,
		.data = &placing,
	};
	int r;

	*l = (struct locations){.count = snapshot->location_count};
	l->top = calloc(l->count + 1, sizeof(*l->top));
	if (!l->top) {
		*err = (struct hyb_error){HYB_ENOMEM, "out of memory"};
		return HYB_ENOMEM;
	}
	r = session_merge(snapshot->opened, snapshot->base_from, &options, &l->profile, err);
	if (!r)
		find_tops(&placing);
	return r;
}

void locations_release(struct locations *l)
{
	profile_free(l->profile);
	free(l->top);
	*l = (struct locations){0};
}

/* --------------------------------------------------------------- finding */

static bool is_same(const struct profile_node *a, const struct profile_node *b)
{
	return a->kind == b->kind && a->line == b->line && !strcmp(a->name, b->name) &&
	       !strcmp(a->file, b->file);
}

static uint32_t child_like(const struct profile_node *nodes, uint32_t parent, const struct profile_node *like)
{
	uint32_t child = nodes[parent].first_child;

	while (child && !is_same(&nodes[child], like))
		child = nodes[child].next_sibling;
	return child;
}

static void add_value(const struct locations *l, uint32_t node, bool outermost, struct location_value *value,
	struct profile_value *metrics)
{
	const struct profile_node *n = &profile_nodes(l->profile)[node];
	const struct profile_value *values = profile_values(l->profile);
	size_t count;

	value->inclusive += outermost ? n->inclusive : 0;
	value->exclusive += n->exclusive + n->blocked;
	value->samples += n->samples;
	value->calls += n->calls;
	if (!metrics || !values)
		return;
	profile_metrics(l->profile, &count);
	for (size_t m = 0; m < count; m++) {
		const struct profile_value *v = &values[node * count + m];

		metrics[m].inclusive += outermost ? v->inclusive : 0;
		metrics[m].exclusive += v->exclusive;
		metrics[m].samples += v->samples;
	}
}

static void find_node(const struct locations *l, const struct snapshot *snapshot, uint32_t node,
	size_t metric_count, struct location_value *values, struct profile_value *metrics)
{
	const struct profile_node *nodes = profile_nodes(snapshot->profile),
				  *split = profile_nodes(l->profile);
	size_t depth = 0;
	uint32_t *path;

	for (uint32_t i = node; i; i = nodes[i].parent)
		depth++;
	path = malloc((depth + 1) * sizeof(*path));
	if (!path)
		return;
	for (uint32_t i = node, d = (uint32_t)depth; i; i = nodes[i].parent)
		path[--d] = i;
	for (size_t i = 0; i < l->count; i++) {
		uint32_t at = l->top[i];

		for (size_t d = 0; at && d < depth; d++)
			at = child_like(split, at, &nodes[path[d]]);
		if (at)
			add_value(l, at, true, &values[i], metrics ? &metrics[i * metric_count] : NULL);
	}
	free(path);
}

static bool is_of(const struct profile_node *n, const struct focus *focus)
{
	if (!*focus->name) /* a file, with all that is in it */
		return !strcmp(n->file, focus->file);
	return !strcmp(n->name, focus->name) && !strcmp(n->file, focus->file) &&
	       (!focus->line || focus->line == n->line) && !strcmp(n->module, focus->module);
}

/* Parents come before children, so one pass knows of each node its location, and what is above it. */
static void find_function(const struct locations *l, const struct focus *focus, size_t metric_count,
	struct location_value *values, struct profile_value *metrics)
{
	const struct profile_node *nodes = profile_nodes(l->profile);
	size_t count = profile_count(l->profile);
	uint32_t *location = calloc(count, sizeof(*location)); /* 1 + index */
	bool *inside = calloc(count, sizeof(*inside));

	for (size_t i = 0; location && i < l->count; i++)
		if (l->top[i])
			location[l->top[i]] = (uint32_t)i + 1;
	for (uint32_t i = 1; location && inside && i < count; i++) {
		uint32_t parent = nodes[i].parent;
		bool found;

		if (!location[i])
			location[i] = location[parent];
		if (!location[i] || !parent)
			continue;
		found = is_of(&nodes[i], focus);
		inside[i] = found || inside[parent];
		if (found)
			add_value(l, i, !inside[parent], &values[location[i] - 1],
				metrics ? &metrics[(location[i] - 1) * metric_count] : NULL);
	}
	free(location);
	free(inside);
}

void locations_find(const struct locations *l, const struct snapshot *snapshot, const struct focus *focus,
	struct location_value *ret_values, struct profile_value *ret_metrics)
{
	uint32_t node = focus_node(focus, snapshot);
	size_t metrics;

	profile_metrics(l->profile, &metrics);
	memset(ret_values, 0, l->count * sizeof(*ret_values));
	if (ret_metrics)
		memset(ret_metrics, 0, l->count * metrics * sizeof(*ret_metrics));
	if (!focus->kind || node == 0)
		find_node(l, snapshot, 0, metrics, ret_values, ret_metrics);
	else if (node != NO_NODE)
		find_node(l, snapshot, node, metrics, ret_values, ret_metrics);
	else
		find_function(l, focus, metrics, ret_values, ret_metrics);
}

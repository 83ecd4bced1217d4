#include "profile/metrics/metric_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/wrap.h"
#include "format/format.h"
#include "profile/metrics/growth.h"
#include "profile/times.h"

/* -------------------------------------------------------------- adding */

/* Of two texts the same one in whatever order they come. */
static const char *join_text(const char *a, const char *b)
{
	return strcmp(a, b) < 0 ? b : a;
}

struct metric *metric_sums_row(struct metric_sums *metrics, const struct profile_metric *like, uint32_t place)
{
	struct metric *row = metrics->rows, *end = row + metrics->count;
	struct profile_metric *to;

	while (row < end && row->what.name != like->name)
		row++;
	if (row == end) {
		if (!ARRAY_ROOM(metrics->rows, metrics->count))
			return NULL;
		row = &metrics->rows[metrics->count++];
		*row = (struct metric){.what = *like, .place = place};
		row->what.processes = 0;
	}
	to = &row->what;
	row->place = place < row->place ? place : row->place;
	to->unit = join_text(to->unit, like->unit);
	to->description = join_text(to->description, like->description);
	to->level |= like->level;
	to->estimated |= like->estimated;
	to->shared |= like->shared;
	to->process_wide |= like->process_wide;
	to->period = like->period > to->period ? like->period : to->period;
	return row;
}

/* Whether the metric is placed by the values that samples read, not by the number of samples. */
static bool is_placed(const struct hyb_metric *m)
{
	return (m->level || m->uneven) && !m->period;
}

/* The row of a process's metric, or NULL when memory is out. */
static struct metric *row_of(
	struct metric_sums *metrics, struct strings *strings, const struct hyb_process *process, size_t index)
{
	const struct hyb_metric *m = &process->metrics[index];
	struct profile_metric like = {.name = strings_get(strings, m->name),
		.unit = strings_get(strings, m->unit),
		.description = strings_get(strings, m->description),
		.level = m->level,
		.estimated = m->estimated,
		.shared = !m->period && !is_placed(m),
		.process_wide = m->process_wide,
		.period = m->period};

	if (!like.name || !like.unit || !like.description)
		return NULL;
	return metric_sums_row(metrics, &like, (uint32_t)index);
}

int metric_sums_add_process(
	struct metric_sums *metrics, struct strings *strings, const struct hyb_process *process)
{
	for (size_t i = 0; i < process->metric_count; i++) {
		struct metric *row = row_of(metrics, strings, process, i);

		if (!row)
			return HYB_ENOMEM;
		row->what.processes++;
	}
	return 0;
}

/* What is known of a metric in a location. */
struct known {
	const struct hyb_location_info *location;
	size_t index; /* of the metric in its process */
	uint64_t period; /* of its overflow, or 0 */
	unsigned source; /* by whose samples it is shared out: as that of time, or by its own overflow */
	int64_t *exclusive; /* by node */
};

static uint64_t overflows_of(const struct known *g, size_t i)
{
	const struct hyb_node_info *n = &g->location->nodes[i];

	return g->period && n->overflows && n->type != HYB_TYPE_MESSAGE ? n->overflows[g->index] : 0;
}

/* What the samples of a node stand for. */
static uint64_t samples_of(const struct known *g, size_t i, uint64_t *ret_period)
{
	*ret_period = g->period ? g->period : times_period(g->location);
	if (g->period)
		return overflows_of(g, i);
	return g->source == HYB_SOURCE_NONE || g->location->nodes[i].type == HYB_TYPE_MESSAGE
		       ? 0
		       : g->location->nodes[i].samples;
}

static int add_node(
	struct metric *row, const struct known *g, const struct metric_sums_target *to, uint32_t i)
{
	uint32_t own = to->own[i];
	uint64_t period, samples = samples_of(g, i, &period);

	if (g->exclusive[i] &&
		share_add_time(&row->growth, to->program, g->source, own, (uint64_t)g->exclusive[i]))
		return HYB_ENOMEM;
	if (samples && share_add_samples(&row->growth, to->program, g->source, own, samples, period))
		return HYB_ENOMEM;
	if (overflows_of(g, i) &&
		share_add_time(&row->samples, NULL, SHARE_IN_PLACE, own, overflows_of(g, i)))
		return HYB_ENOMEM;
	return 0;
}

/* The same for the rank. What shrinks counts as 0. */
static int add_spread(const struct known *g, const struct metric_sums_target *to, uint32_t i)
{
	uint64_t period, samples = samples_of(g, i, &period), weight;
	struct spread_now now = {.amount = g->exclusive[i] > 0 ? (uint64_t)g->exclusive[i] : 0};

	if (__builtin_mul_overflow(samples, period ? period : 1, &weight))
		weight = UINT64_MAX;
	now.weight = weight;
	if (!now.amount && !now.weight && !g->location->nodes[i].calls)
		return 0;
	return spreads_add(to->spreads, to->tree, to->own[i], &now);
}

/* Whether the metric is the one whose spread over ranks is wanted. */
static bool is_spread(const struct metric *row, const struct metric_sums_target *to)
{
	return to->spreads && to->spread_name && !strcmp(row->what.name, to->spread_name);
}

static int add_growth(struct metric *row, const struct known *g, const struct metric_sums_target *to)
{
	bool spread = is_spread(row, to);
	int r = 0;

	for (uint32_t i = 0; !r && i < g->location->node_count; i++) {
		if (g->location->nodes[i].type == HYB_TYPE_MESSAGE)
			continue;
		r = add_node(row, g, to, i);
		if (!r && spread)
			r = add_spread(g, to, i);
	}
	return r;
}

/* Called with the growth of a place. */
struct placing {
	struct metric *row;
	const struct metric_sums_target *to;
	bool spread;
};

static int add_in_place(void *data, uint32_t node, int64_t amount)
{
	const struct placing *p = data;
	struct spread_now now = {.fixed = amount > 0 ? (uint64_t)amount : 0};

	if (share_add_time(&p->row->growth, NULL, SHARE_IN_PLACE, node, (uint64_t)amount))
		return HYB_ENOMEM;
	return p->spread && now.fixed ? spreads_add(p->to->spreads, p->to->tree, node, &now) : 0;
}

/* Reads the location's events if one of its metrics needs them. */
static int read_growth(
	struct growth *growth, const struct hyb_location_info *location, const struct metric_sums_target *to)
{
	const struct hyb_process *process = location->process;
	bool needed = false;

	growth_init(growth, location, to->tree, to->own);
	for (size_t i = 0; i < process->metric_count; i++)
		needed |=
			is_placed(&process->metrics[i]) && (to->speaks || !process->metrics[i].process_wide);
	return needed && to->experiment ? growth_read(growth, to->experiment) : 0;
}

static int add_metric(struct metric *row, const struct known *g, const struct growth *growth,
	const struct metric_sums_target *to)
{
	struct placing placing = {row, to, is_spread(row, to)};

	return is_placed(&g->location->process->metrics[g->index])
		       ? growth_place(growth, g->index, g->exclusive, add_in_place, &placing)
		       : add_growth(row, g, to);
}

int metric_sums_add_location(struct metric_sums *metrics, const struct hyb_location_info *location,
	const struct metric_sums_target *to)
{
	const struct hyb_process *process = location->process;
	struct known g = {.location = location};
	struct growth growth;
	int r;

	if (!process->metric_count)
		return 0;
	g.exclusive = calloc(location->node_count, sizeof(*g.exclusive));
	if (!g.exclusive)
		return HYB_ENOMEM;
	r = read_growth(&growth, location, to);
	for (g.index = 0; !r && g.index < process->metric_count; g.index++) {
		const struct hyb_metric *m = &process->metrics[g.index];
		struct metric *row = row_of(metrics, to->strings, process, g.index);

		if (row && m->process_wide && !to->speaks)
			continue;
		g.period = m->period;
		g.source = m->period ? SHARE_BY_OVERFLOW : location->source;
		r = row ? times_of_metric(location, g.index, g.exclusive) : HYB_ENOMEM;
		if (!r)
			r = add_metric(row, &g, &growth, to);
	}
	growth_release(&growth);
	free(g.exclusive);
	return r;
}

/* ------------------------------------------------------------ finishing */

static int compare_rows(const void *pa, const void *pb)
{
	const struct metric *a = pa, *b = pb;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return strcmp(a->what.name, b->what.name);
}

int values_move(struct profile_value **values, size_t metrics, const uint32_t *map, size_t count)
{
	struct profile_value *moved;

	if (!metrics || !*values)
		return 0;
	moved = calloc(count, metrics * sizeof(*moved));
	if (!moved)
		return HYB_ENOMEM;
	for (size_t i = 0; i < count; i++)
		memcpy(moved + map[i] * metrics, *values + i * metrics, metrics * sizeof(*moved));
	free(*values);
	*values = moved;
	return 0;
}

int metric_sums_move(struct metric_sums *metrics, const uint32_t *map, size_t count)
{
	for (size_t k = 0; k < metrics->count; k++)
		if (share_move(&metrics->rows[k].growth, map) || share_move(&metrics->rows[k].samples, map))
			return HYB_ENOMEM;
	return values_move(&metrics->values, metrics->count, map, count);
}

/* Fills the column of a metric; its shares are of no use any more. */
static int finish_row(struct metric_sums *metrics, size_t k, size_t count, const uint32_t *probe)
{
	struct metric *row = &metrics->rows[k];
	uint64_t *growth = calloc(count, sizeof(*growth)), *samples = calloc(count, sizeof(*samples));
	int r = HYB_ENOMEM;

	if (growth && samples && !share_out(&row->growth, probe, count, true, growth) &&
		!share_out(&row->samples, probe, count, false, samples)) {
		for (size_t i = 0; i < count; i++) {
			metrics->values[i * metrics->count + k] = (struct profile_value){
				.exclusive = (int64_t)growth[i], .samples = samples[i]};
			row->what.samples += samples[i];
		}
		r = 0;
	}
	free(growth);
	free(samples);
	share_release(&row->growth);
	share_release(&row->samples);
	return r;
}

void metric_sums_sum(
	struct profile_value *values, size_t metrics, const struct profile_node *nodes, size_t count)
{
	for (size_t v = 0; v < count * metrics; v++)
		values[v].inclusive = values[v].exclusive;
	for (size_t i = count; i-- > 1;)
		for (size_t k = 0; k < metrics; k++)
			wrap_add(&values[nodes[i].parent * metrics + k].inclusive,
				values[i * metrics + k].inclusive);
}

int metric_sums_finish(struct metric_sums *metrics, const struct tree *tree, const uint32_t *probe)
{
	size_t count = metrics->count;
	int r = 0;

	if (!count)
		return 0;
	qsort(metrics->rows, count, sizeof(*metrics->rows), compare_rows);
	metrics->finished = calloc(count, sizeof(*metrics->finished));
	metrics->values = calloc(tree->count, count * sizeof(*metrics->values));
	if (!metrics->finished || !metrics->values)
		return HYB_ENOMEM;
	for (size_t k = 0; !r && k < count; k++) {
		r = finish_row(metrics, k, tree->count, probe);
		metrics->finished[k] = metrics->rows[k].what;
	}
	metric_sums_sum(metrics->values, count, tree->nodes, tree->count);
	return r;
}

void metric_sums_release(struct metric_sums *metrics)
{
	for (size_t k = 0; k < metrics->count; k++) {
		share_release(&metrics->rows[k].growth);
		share_release(&metrics->rows[k].samples);
	}
	free(metrics->rows);
	free(metrics->finished);
	free(metrics->values);
	*metrics = (struct metric_sums){0};
}

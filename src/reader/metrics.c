#include "base/wrap.h"
#include "reader/metrics.h"

#include <stdlib.h>

#define HEAD (sizeof(struct hyb_chunk) + sizeof(struct hyb_metrics))

static const int64_t no_values[HYB_METRICS_MAX];
static const uint64_t no_overflows[HYB_METRICS_MAX];

/* ------------------------------------------------------------------ chunks */

static const struct chunk *find_chunk(
	const struct process *p, struct chunk **chunks, size_t count, uint64_t serial)
{
	const struct chunk *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (chunks[i]->kind != HYB_CHUNK_METRICS || chunks[i]->serial != serial)
			continue;
		if (found)
			damage_add(p->damage, p->file->path, chunks[i]->offset,
				"the values of metrics of thread %u are there twice", chunks[i]->location);
		else
			found = chunks[i];
	}
	return found;
}

/* Reads the rows of at most `levels` levels, as many as there are. */
static void load_levels(struct metrics *m, const struct chunk *chunk, size_t levels)
{
	const struct process *p = m->process;
	size_t width = p->info.metric_count, row = width * sizeof(*m->entered), room;
	struct hyb_metrics head = {0};
	int64_t n;

	file_read(p->file, chunk->offset + sizeof(struct hyb_chunk), &head, sizeof(head));
	if (!head.width)
		return; /* not written yet */
	if (head.width != width) {
		damage_add(p->damage, p->file->path, chunk->offset,
			"thread %u has values of %u metrics, its process has %zu", chunk->location,
			head.width, width);
		m->sound = false;
		return;
	}
	if (!chunk->serial)
		memcpy(m->last, head.last, sizeof(m->last));
	room = chunk->size > HEAD ? (chunk->size - HEAD) / row : 0;
	n = file_read(p->file, chunk->offset + HEAD, m->entered + m->levels * width,
		(levels < room ? levels : room) * row);
	m->levels += n > 0 ? (size_t)n / row : 0;
}

int metrics_load(struct metrics *m, const struct process *p, struct chunk **chunks, size_t count,
	const struct hyb_open *stack, size_t depth, uint64_t last)
{
	const struct chunk *first = find_chunk(p, chunks, count, 0),
			   *second = find_chunk(p, chunks, count, 1);
	size_t width = p->info.metric_count;

	*m = (struct metrics){.process = p, .sound = width != 0};
	if (!width) {
		if (first)
			damage_add(p->damage, p->file->path, first->offset,
				"thread %u has values of metrics, its process has none", first->location);
		return HYB_OK;
	}
	m->entered = calloc(depth + !depth, width * sizeof(*m->entered));
	m->open = malloc((depth + !depth) * sizeof(*m->open));
	if (!m->entered || !m->open)
		return HYB_ENOMEM;
	if (first)
		load_levels(m, first, depth < HYB_STACK_FIRST ? depth : HYB_STACK_FIRST);
	if (m->levels == HYB_STACK_FIRST && depth > HYB_STACK_FIRST && second)
		load_levels(m, second, depth - HYB_STACK_FIRST);
	/* A thread that was killed before it had begun has none. */
	m->lost = m->sound && m->levels < depth && (m->levels || depth > 1);
	if (m->lost)
		damage_add(p->damage, p->file->path, first ? first->offset : chunks[0]->offset,
			"thread %u has no values for %zu of %zu open regions", chunks[0]->location,
			depth - m->levels, depth);
	/* The innermost region may have been entered behind the last reading. */
	if (depth && m->levels == depth && stack[depth - 1].enter > last)
		memcpy(m->last, m->entered + (depth - 1) * width, width * sizeof(*m->last));
	return HYB_OK;
}

void metrics_release(struct metrics *m)
{
	free(m->entered);
	free(m->open);
}

/* ------------------------------------------------------------------- nodes */

bool metrics_fill_node(const struct process *p, struct hyb_node_info *node, const uint8_t *raw)
{
	size_t width = p->info.metric_count, next = width;
	const uint64_t *from = (const uint64_t *)raw;
	uint64_t *overflows, any = 0;
	int64_t *values;

	node->values = no_values;
	node->overflows = no_overflows;
	if (node->type <= HYB_TYPE_FUNCTION) {
		values = arena_alloc(p->arena, width * sizeof(*values));
		if (!values)
			return false;
		memcpy(values, from, width * sizeof(*values));
		node->values = values;
	}
	for (size_t i = 0; i < p->overflow_count; i++)
		any |= from[width + i];
	if (!any)
		return true;
	overflows = arena_alloc(p->arena, width * sizeof(*overflows));
	if (!overflows)
		return false;
	for (size_t i = 0; i < width; i++)
		overflows[i] = p->metrics[i].period ? from[next++] : 0;
	node->overflows = overflows;
	return true;
}

void metrics_add_open(struct metrics *m, struct hyb_node_info *nodes, uint32_t index, size_t level)
{
	const struct hyb_metric *metrics = m->process->metrics;
	size_t width = m->process->info.metric_count;
	int64_t *values = (int64_t *)nodes[index].values; /* a probe's are its own */

	if (!values)
		return;
	if (level >= m->levels && m->lost)
		nodes[index].values = NULL;
	if (level >= m->levels)
		return;
	for (size_t i = 0; i < width; i++) {
		int64_t grown = wrap_sub(m->last[i], m->entered[level * width + i]);

		if (grown > 0 || metrics[i].level)
			wrap_add(&values[i], grown);
	}
	m->open[m->open_count++] = index;
}

int metrics_finish(const struct metrics *m, const struct hyb_location_info *info, struct hyb_node_info *nodes)
{
	const struct hyb_metric *metrics = m->process->metrics;
	size_t width = m->process->info.metric_count;
	int64_t *below; /* of each probe: what the nearest probes below it have counted */
	bool *open;
	int error;

	if (!m->open_count)
		return HYB_OK;
	below = calloc(info->node_count, width * sizeof(*below));
	open = calloc(info->node_count, sizeof(*open));
	for (size_t i = 0; open && i < m->open_count; i++)
		open[m->open[i]] = true;
	for (size_t i = below && open ? info->node_count : 0; i-- > 0;) {
		int64_t *values = (int64_t *)nodes[i].values;
		size_t above = nodes[nodes[i].parent].probe;

		if (!values || nodes[i].probe != i)
			continue;
		for (size_t k = 0; k < width; k++) {
			if (open[i] && !metrics[k].level && values[k] < below[i * width + k])
				values[k] = below[i * width + k];
			if (i)
				wrap_add(&below[above * width + k], values[k]);
		}
	}
	error = below && open ? HYB_OK : HYB_ENOMEM;
	free(below);
	free(open);
	return error;
}

#include "profile/pack/pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/pack/pack_fields.h"
#include "profile/pack/pack_mpi.h"
#include "profile/state.h"

#define MAGIC 0x70726f66u

static const struct field node_fields[] = {
	FIELD(struct profile_node, calls, FIELD_SUM),
	FIELD(struct profile_node, skipped, FIELD_SUM),
	FIELD(struct profile_node, samples, FIELD_SUM),
	FIELD(struct profile_node, exclusive, FIELD_SUM),
	FIELD(struct profile_node, blocked, FIELD_SUM),
	FIELD(struct profile_node, ready, FIELD_SUM),
	FIELD(struct profile_node, messages, FIELD_SUM),
	FIELD(struct profile_node, sent, FIELD_SUM),
	FIELD(struct profile_node, received, FIELD_SUM),
	FIELD(struct profile_node, least, FIELD_LEAST),
	FIELD(struct profile_node, most, FIELD_MOST),
	FIELD(struct profile_node, place, FIELD_MOST),
};

/* All but what profile_finish() computes: wall, blocked, waits, ready, achieved; and experiments. */
static const struct field quality_fields[] = {
	FIELD(struct profile_quality, processes, FIELD_SUM),
	FIELD(struct profile_quality, locations, FIELD_SUM),
	FIELD(struct profile_quality, programs, FIELD_SUM),
	FIELD(struct profile_quality, thread_wall, FIELD_SUM),
	FIELD(struct profile_quality, cpu, FIELD_SUM),
	FIELD(struct profile_quality, taken, FIELD_SUM),
	FIELD(struct profile_quality, samples, FIELD_SUM),
	FIELD_ARRAY(struct profile_quality, dropped, FIELD_SUM),
	FIELD_ARRAY(struct profile_quality, partial, FIELD_SUM),
	FIELD_ARRAY(struct profile_quality, faults, FIELD_SUM),
	FIELD(struct profile_quality, frames, FIELD_SUM),
	FIELD(struct profile_quality, guessed, FIELD_SUM),
	FIELD(struct profile_quality, handler_time, FIELD_SUM),
	FIELD(struct profile_quality, probe_calls, FIELD_SUM),
	FIELD(struct profile_quality, probe_time, FIELD_SUM),
	FIELD(struct profile_quality, skipped_time, FIELD_SUM),
	FIELD(struct profile_quality, python_calls, FIELD_SUM),
	FIELD(struct profile_quality, python_skipped, FIELD_SUM),
	FIELD(struct profile_quality, python_time, FIELD_SUM),
	FIELD(struct profile_quality, left_out_calls, FIELD_SUM),
	FIELD(struct profile_quality, left_out_time, FIELD_SUM),
	FIELD_ARRAY(struct profile_quality, cost, FIELD_SUM),
	FIELD(struct profile_quality, slowed, FIELD_SUM),
	FIELD(struct profile_quality, events, FIELD_SUM),
	FIELD(struct profile_quality, events_lost, FIELD_SUM),
	FIELD(struct profile_quality, trace_bytes, FIELD_SUM),
	FIELD(struct profile_quality, file_bytes, FIELD_SUM),
	FIELD(struct profile_quality, trace_stopped, FIELD_LEAST),
	FIELD(struct profile_quality, threads_lost, FIELD_SUM),
	FIELD(struct profile_quality, regions_lost, FIELD_SUM),
	FIELD(struct profile_quality, names_cut, FIELD_SUM),
	FIELD(struct profile_quality, demoted_nodes, FIELD_SUM),
	FIELD(struct profile_quality, skipped_calls, FIELD_SUM),
	FIELD(struct profile_quality, open_regions, FIELD_SUM),
	FIELD_ARRAY(struct profile_quality, python, FIELD_SUM),
	FIELD(struct profile_quality, gil_wait, FIELD_SUM),
	FIELD(struct profile_quality, gil_waits, FIELD_SUM),
	FIELD(struct profile_quality, damage, FIELD_SUM),
	FIELD(struct profile_quality, ranks, FIELD_SUM),
	FIELD(struct profile_quality, mpi_calls, FIELD_SUM),
	FIELD(struct profile_quality, mpi_time, FIELD_SUM),
	FIELD_ARRAY(struct profile_quality, mpi, FIELD_SUM),
	FIELD(struct profile_quality, clocks, FIELD_SUM),
	FIELD(struct profile_quality, clock_error, FIELD_MOST),
	FIELD(struct profile_quality, rate, FIELD_MOST),
	FIELD(struct profile_quality, sources, FIELD_BITS),
};
static_assert(sizeof(struct profile_quality) == 864, "a new field goes into the list above");
static_assert(sizeof(struct profile_node) == 192, "a new field goes into the list above");

/* ----------------------------------------------------------------- trees */

/* Above the kind. */
enum node_flag { NODE_GUESS = 8, NODE_DEMOTED = 16, NODE_PYTHON = 32, NODE_MPI = 64, NODE_IDLES = 128 };
#define NODE_KIND 7u

static void put_tree(struct blob *to, const struct pack_texts *texts, const struct tree *tree)
{
	blob_put(to, tree->count);
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct profile_node *n = &tree->nodes[i];

		blob_put(to, n->kind | (n->guess ? NODE_GUESS : 0) | (n->demoted ? NODE_DEMOTED : 0) |
				     (n->python ? NODE_PYTHON : 0) | (n->mpi ? NODE_MPI : 0) |
				     (n->idles ? NODE_IDLES : 0));
		blob_put(to, i - n->parent);
		pack_put_text(to, texts, n->name);
		pack_put_text(to, texts, n->file);
		pack_put_text(to, texts, n->module);
		pack_put_text(to, texts, n->program);
		blob_put(to, n->line);
		fields_put(to, n, node_fields, FIELD_COUNT(node_fields));
	}
}

/* The node of the tree that node i of the bytes is; UINT32_MAX: memory is out, or they are damaged. */
static uint32_t find_node(struct blob_reader *from, const struct pack_texts *texts, struct tree *tree,
	const uint32_t *map, uint32_t i)
{
	unsigned flags = (unsigned)blob_get(from);
	uint64_t up = blob_get(from);
	struct profile_node like = {.kind = flags & NODE_KIND,
		.guess = flags & NODE_GUESS,
		.python = flags & NODE_PYTHON,
		.mpi = flags & NODE_MPI,
		.idles = flags & NODE_IDLES};
	const char *runs;
	uint32_t node = 0;

	like.name = pack_get_text(from, texts);
	like.file = pack_get_text(from, texts);
	like.module = pack_get_text(from, texts);
	runs = pack_get_text(from, texts);
	like.line = (unsigned)blob_get(from);
	if (i &&
		(!up || up > i || !like.name || !like.file || !like.module || like.kind > PROFILE_INCOMPLETE))
		from->at = NULL;
	if (!from->at)
		return UINT32_MAX;
	if (i) {
		node = tree_child(tree, map[i - up], &like);
		if (!node)
			return UINT32_MAX;
	}
	if (runs)
		tree->nodes[node].program = runs;
	tree->nodes[node].demoted |= !!(flags & NODE_DEMOTED);
	return node;
}

/* *ret_map: by node of the bytes that of the tree; to be freed, also on failure. */
static int merge_tree(struct blob_reader *from, const struct pack_texts *texts, struct tree *tree,
	uint32_t **ret_map, size_t *ret_count)
{
	size_t count = blob_get_count(from);
	uint32_t *map = calloc(count + 1, sizeof(*map));

	*ret_map = map;
	*ret_count = count;
	if (!map)
		return HYB_ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		map[i] = find_node(from, texts, tree, map, i);
		if (map[i] == UINT32_MAX)
			return from->at ? HYB_ENOMEM : 0;
		fields_get(from, &tree->nodes[map[i]], node_fields, FIELD_COUNT(node_fields));
	}
	return 0;
}

/* ------------------------------------------------------- values by node */

static void put_share(struct blob *to, const struct pack_texts *texts, const struct share *share)
{
	const struct share_row *rows = share->rows.rows;

	blob_put(to, share->rows.count);
	for (size_t i = 0; i < share->rows.count; i++) {
		pack_put_text(to, texts, rows[i].program);
		blob_put(to, rows[i].source);
		blob_put(to, rows[i].node);
		blob_put(to, rows[i].amount);
		blob_put(to, rows[i].weight);
	}
}

static int merge_share(struct blob_reader *from, const struct pack_texts *texts, struct share *share,
	const uint32_t *map, size_t nodes)
{
	for (size_t left = blob_get_count(from); from->at && left; left--) {
		const char *program = pack_get_text(from, texts);
		uint64_t source = blob_get(from), node = blob_get(from);
		uint64_t amount = blob_get(from), weight = blob_get(from);

		if (source >= SHARE_SOURCES || node >= nodes)
			from->at = NULL;
		if (!from->at)
			return 0;
		if (share_add_time(share, program, (unsigned)source, map[node], amount) ||
			(weight && share_add_samples(share, program, (unsigned)source, map[node], weight, 1)))
			return HYB_ENOMEM;
	}
	return 0;
}

enum metric_flag { METRIC_LEVEL = 1, METRIC_ESTIMATED = 2, METRIC_PROCESS_WIDE = 4, METRIC_SHARED = 8 };

static void put_metrics(struct blob *to, const struct pack_texts *texts, const struct metric_sums *metrics)
{
	blob_put(to, metrics->count);
	for (size_t k = 0; k < metrics->count; k++) {
		const struct metric *row = &metrics->rows[k];
		const struct profile_metric *m = &row->what;

		pack_put_text(to, texts, m->name);
		pack_put_text(to, texts, m->unit);
		pack_put_text(to, texts, m->description);
		blob_put(to, (m->level ? METRIC_LEVEL : 0) | (m->estimated ? METRIC_ESTIMATED : 0) |
				     (m->process_wide ? METRIC_PROCESS_WIDE : 0) |
				     (m->shared ? METRIC_SHARED : 0));
		blob_put(to, m->period);
		blob_put(to, m->processes);
		blob_put(to, row->place);
		put_share(to, texts, &row->growth);
		put_share(to, texts, &row->samples);
	}
}

static int merge_metric(struct blob_reader *from, const struct pack_texts *texts, struct profile *p,
	const uint32_t *map, size_t nodes)
{
	struct profile_metric like = {.name = pack_get_text(from, texts)};
	struct metric *row;
	uint64_t flags, processes;
	int r;

	like.unit = pack_get_text(from, texts);
	like.description = pack_get_text(from, texts);
	flags = blob_get(from);
	like.level = flags & METRIC_LEVEL;
	like.estimated = flags & METRIC_ESTIMATED;
	like.process_wide = flags & METRIC_PROCESS_WIDE;
	like.shared = flags & METRIC_SHARED;
	like.period = blob_get(from);
	processes = blob_get(from);
	if (!like.name || !like.unit || !like.description)
		from->at = NULL;
	if (!from->at)
		return 0;
	row = metric_sums_row(&p->metrics, &like, (uint32_t)blob_get(from));
	if (!row)
		return HYB_ENOMEM;
	row->what.processes += processes;
	r = merge_share(from, texts, &row->growth, map, nodes);
	return r ? r : merge_share(from, texts, &row->samples, map, nodes);
}

static int merge_metrics(struct blob_reader *from, const struct pack_texts *texts, struct profile *p,
	const uint32_t *map, size_t nodes)
{
	int r = 0;

	for (size_t left = blob_get_count(from); !r && from->at && left; left--)
		r = merge_metric(from, texts, p, map, nodes);
	return r;
}

static void put_spreads(struct blob *to, const struct spreads *spreads, size_t nodes)
{
	size_t count = spreads->count < nodes ? spreads->count : nodes;

	blob_put(to, count);
	for (size_t i = 0; i < count; i++)
		pack_put_spread(to, &spreads->rows[i]);
}

static int merge_spreads(struct blob_reader *from, struct profile *p, const uint32_t *map, size_t nodes)
{
	size_t count = blob_get_count(from);

	if (count > nodes)
		from->at = NULL;
	if (from->at && count && spreads_cover(&p->mpi.spreads, &p->tree))
		return HYB_ENOMEM;
	for (size_t i = 0; from->at && i < count; i++) {
		struct profile_spread spread = pack_get_spread(from);

		spread_merge(&p->mpi.spreads.rows[map[i]], &spread);
	}
	return 0;
}

/* ------------------------------------------------------------ the others */

static void put_spans(struct blob *to, const struct profile *p)
{
	blob_put(to, p->span_count);
	for (size_t i = 0; i < p->span_count; i++) {
		blob_put(to, zigzag(p->spans[i].first));
		blob_put(to, zigzag(p->spans[i].last));
	}
}

static int merge_spans(struct blob_reader *from, struct profile *p)
{
	size_t count = blob_get_count(from);

	for (size_t i = 0; from->at && i < count; i++) {
		struct profile_span span = {.first = unzigzag(blob_get(from))}, *own;

		span.last = unzigzag(blob_get(from));
		own = profile_span(p, i);
		if (!own)
			return HYB_ENOMEM;
		own->first = span.first < own->first ? span.first : own->first;
		own->last = span.last > own->last ? span.last : own->last;
	}
	return 0;
}

static void put_seen(struct blob *to, const struct pack_texts *texts, const struct row_map *seen)
{
	const struct identity *rows = seen->rows;

	blob_put(to, seen->count);
	for (size_t i = 0; i < seen->count; i++) {
		pack_put_text(to, texts, rows[i].host);
		blob_put(to, rows[i].pid);
		blob_put(to, rows[i].experiment);
	}
}

/* Processes that are in both were counted twice. */
static int merge_seen(struct blob_reader *from, const struct pack_texts *texts, struct profile *p)
{
	for (size_t left = blob_get_count(from); from->at && left; left--) {
		struct identity identity = {.host = pack_get_text(from, texts)};
		size_t count = p->seen.count;

		identity.pid = blob_get(from);
		identity.experiment = blob_get(from);
		if (!row_map_row(&p->seen, &identity))
			return HYB_ENOMEM;
		p->quality.processes -= p->seen.count == count;
	}
	return 0;
}

static void put_unresolved(struct blob *to, const struct pack_texts *texts, const struct profile *p)
{
	const struct nameless *rows = p->nameless.rows;
	const struct codes *codes = &p->codes;

	for (size_t i = 0; i < p->nameless.count; i++) {
		pack_put_text(to, texts, rows[i].module);
		blob_put(to, rows[i].address);
		blob_put(to, rows[i].call);
		blob_put(to, rows[i].samples);
	}
	for (size_t i = 0; i < codes->map.room; i++) {
		const struct code *code = codes->map.slots[i].item;

		if (!code || !code->unresolved || !code->shown)
			continue;
		pack_put_text(to, texts, code->module_path);
		blob_put(to, code->address);
		blob_put(to, code->call);
		blob_put(to, code->samples);
	}
	blob_put(to, 0);
}

static int merge_unresolved(struct blob_reader *from, const struct pack_texts *texts, struct profile *p)
{
	for (;;) {
		struct nameless *row, key = {.module = pack_get_text(from, texts)};

		if (!key.module)
			return 0;
		key.address = blob_get(from);
		key.call = blob_get(from);
		row = row_map_row(&p->nameless, &key);
		if (!row)
			return HYB_ENOMEM;
		row->samples += blob_get(from);
	}
}

/* -------------------------------------------------------------- profiles */

void profile_pack(const struct profile *p, struct blob *to)
{
	struct pack_texts texts = {0};

	if (pack_texts_sort(&p->strings, &texts)) {
		to->failed = true;
		return;
	}
	blob_put(to, MAGIC);
	blob_put(to, texts.count);
	for (size_t i = 0; i < texts.count; i++)
		blob_put_text(to, texts.texts[i]);
	put_tree(to, &texts, &p->awaits);
	put_tree(to, &texts, &p->tree);
	put_share(to, &texts, &p->share);
	put_metrics(to, &texts, &p->metrics);
	put_spreads(to, &p->mpi.spreads, p->tree.count);
	pack_put_mpi(to, &texts, &p->mpi);
	put_unresolved(to, &texts, p);
	put_seen(to, &texts, &p->seen);
	put_spans(to, p);
	fields_put(to, &p->quality, quality_fields, FIELD_COUNT(quality_fields));
	blob_put(to, MAGIC);
	free(texts.texts);
}

static int merge_all(struct blob_reader *from, const struct pack_texts *texts, struct profile *p)
{
	uint32_t *map = NULL;
	size_t nodes = 0;
	int r = merge_tree(from, texts, &p->awaits, &map, &nodes);

	free(map);
	map = NULL;
	if (r || merge_tree(from, texts, &p->tree, &map, &nodes) ||
		merge_share(from, texts, &p->share, map, nodes) ||
		merge_metrics(from, texts, p, map, nodes) || merge_spreads(from, p, map, nodes) ||
		pack_merge_mpi(from, texts, &p->strings, &p->mpi) || merge_unresolved(from, texts, p) ||
		merge_seen(from, texts, p) || merge_spans(from, p))
		r = HYB_ENOMEM;
	else
		fields_get(from, &p->quality, quality_fields, FIELD_COUNT(quality_fields));
	free(map);
	return r;
}

int profile_merge(struct profile *p, struct blob_reader *from)
{
	struct pack_texts texts = {0};
	int r;

	if (blob_get(from) != MAGIC)
		from->at = NULL;
	r = pack_texts_get(from, &p->strings, &texts);
	if (!r)
		r = merge_all(from, &texts, p);
	if (!r && blob_get(from) != MAGIC)
		from->at = NULL;
	free(texts.texts);
	return r;
}

#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/state.h"

#define FEW_SAMPLES 10u /* fewer are no measure of a time */

struct profile *profile_new(const struct profile_options *options)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (options)
		p->options = *options;
	p->codes.strings = &p->strings;
	p->codes.mode = p->options.mode;
	if (tree_init(&p->tree, "[total]") || tree_init(&p->awaits, "")) {
		profile_free(p);
		return NULL;
	}
	p->tree.nodes[0].file = p->tree.nodes[0].module = strings_get(&p->strings, "");
	if (!p->tree.nodes[0].file) {
		profile_free(p);
		return NULL;
	}
	return p;
}

/* The node under which a location goes; 0 is the root, UINT32_MAX: memory is out. */
static uint32_t find_top(struct profile *p, const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;
	struct profile_node like = {.kind = PROFILE_PROBE};
	char name[160], image[32] = "";
	uint32_t top;

	if (!p->options.split_locations)
		return 0;
	if (process->image)
		snprintf(image, sizeof(image), ".%" PRIu32, process->image);
	snprintf(name, sizeof(name), "process %" PRIu32 "%s thread %" PRIu32 "%s%.64s", process->pid, image,
		location->tid, *location->name ? " " : "", location->name);
	like.name = strings_get(&p->strings, name);
	like.file = strings_get(&p->strings, "");
	like.module = strings_get(&p->strings, process->file);
	if (!like.name || !like.file || !like.module)
		return UINT32_MAX;
	top = tree_child(&p->tree, 0, &like);
	return top ? top : UINT32_MAX;
}

static void add_probes(struct profile_quality *q, const struct hyb_location_info *location)
{
	uint64_t calls = 0;

	for (size_t i = 1; i < location->node_count; i++) {
		const struct hyb_node_info *n = &location->nodes[i];

		if (n->type > HYB_TYPE_FUNCTION)
			continue;
		calls += n->calls;
		if (n->type == HYB_TYPE_REGION && n->region->kind == HYB_REGION_WAIT &&
			!strcmp(n->region->name, PROFILE_GIL)) {
			q->gil_waits += n->calls;
			q->gil_wait += n->inclusive;
		}
		q->demoted_nodes += n->demoted;
		q->skipped_calls += n->skipped;
	}
	q->probe_calls += calls;
	q->probe_time += (uint64_t)((unsigned __int128)calls * location->process->probe_cost / 1024);
}

static void add_quality(struct profile_quality *q, const struct hyb_location_info *location)
{
	q->locations++;
	q->thread_wall += location->nodes[0].inclusive;
	q->cpu += location->cpu;
	q->samples += location->samples;
	q->taken += location->source == HYB_SOURCE_WALL ? location->samples : location->taken;
	for (size_t i = 0; i < 16; i++)
		q->dropped[i] += location->dropped[i];
	for (size_t i = 0; i < 8; i++) {
		q->python[i] += location->python[i];
		q->partial[i] += location->partial[i];
		q->faults[i] += location->faults[i];
	}
	q->frames += location->frames;
	q->guessed += location->guessed;
	q->handler_time += location->handler_time;
	q->slowed += location->slowed;
	q->events += location->events;
	q->events_lost += location->events_lost;
	q->open_regions += location->open;
	if (location->source < 32)
		q->sources |= 1u << location->source;
	add_probes(q, location);
}

/* Adds what coroutines waited. */
static int add_awaits(struct profile *p, const struct hyb_location_info *location)
{
	for (size_t i = 1; i < location->node_count; i++) {
		const struct hyb_node_info *n = &location->nodes[i];
		const struct hyb_region *region = location->nodes[n->parent].region;
		struct profile_node like = {.kind = PROFILE_PROBE};
		uint32_t row;

		if (n->type != HYB_TYPE_AWAIT || !n->calls)
			continue;
		like.name = strings_get(&p->strings, region->name);
		like.file = strings_get(&p->strings, region->file);
		like.module = strings_get(&p->strings, "");
		like.line = region->line;
		if (!like.name || !like.file || !like.module)
			return HYB_ENOMEM;
		row = tree_child(&p->awaits, 0, &like);
		if (!row)
			return HYB_ENOMEM;
		p->awaits.nodes[row].calls += n->calls;
		p->awaits.nodes[row].exclusive += n->inclusive;
	}
	return 0;
}

/* Where the interpreter of a process is, if it had one. */
static int find_interpreter(struct profile *p, const struct hyb_process *process, struct merge *merge)
{
	for (size_t i = 0; i < process->metadata_count; i++) {
		if (strcmp(process->metadata[i].key, "hybrid.python.module"))
			continue;
		merge->interpreter = strings_get(&p->strings, process->metadata[i].value);
		merge->weave = !p->options.python_internals;
		return merge->interpreter ? 0 : HYB_ENOMEM;
	}
	return 0;
}

int profile_add_location(
	struct profile *p, const struct hyb_location_info *location, const struct resolver *resolver)
{
	struct merge merge = {
		.mode = p->options.mode,
		.tree = &p->tree,
		.strings = &p->strings,
		.codes = &p->codes,
		.share = &p->share,
	};
	uint32_t top = find_top(p, location);

	if (top == UINT32_MAX || find_interpreter(p, location->process, &merge) || add_awaits(p, location))
		return HYB_ENOMEM;
	add_quality(&p->quality, location);
	return merge_location(&merge, location, resolver, top);
}

void profile_add_process(struct profile *p, const struct hyb_process *process, bool again)
{
	struct profile_quality *q = &p->quality;

	q->processes += !again;
	q->programs++;
	q->trace_bytes += process->trace_bytes;
	q->file_bytes += process->file_size;
	q->threads_lost += process->threads_lost;
	q->regions_lost += process->regions_lost;
	q->names_cut += process->names_cut;
	if (process->rate > q->rate)
		q->rate = process->rate;
	if (process->trace_stopped) {
		uint64_t after =
			process->trace_stopped > process->start ? process->trace_stopped - process->start : 1;

		if (!q->trace_stopped || after < q->trace_stopped)
			q->trace_stopped = after;
	}
}

/* In FUNCTION mode lines merge with their routine: what was sampled is known only now. */
static void name_kinds(struct profile *p)
{
	if (p->options.mode != PROFILE_FUNCTION)
		return;
	for (size_t i = 0; i < p->tree.count; i++)
		if (p->tree.nodes[i].kind == PROFILE_INTERMEDIATE && p->tree.nodes[i].samples)
			p->tree.nodes[i].kind = PROFILE_LEAF;
}

static int compare_unresolved(const void *pa, const void *pb)
{
	const struct profile_unresolved *a = pa, *b = pb;

	return (a->samples < b->samples) - (a->samples > b->samples);
}

static int by_module(const void *pa, const void *pb)
{
	uintptr_t a = (uintptr_t)((const struct profile_unresolved *)pa)->module;
	uintptr_t b = (uintptr_t)((const struct profile_unresolved *)pb)->module;

	return (a > b) - (a < b);
}

static int sum_unresolved(struct profile *p)
{
	const struct codes *codes = &p->codes;
	struct profile_unresolved *rows = calloc(codes->count + 1, sizeof(*rows));
	size_t count = 0, kept = 0;

	if (!rows)
		return HYB_ENOMEM;
	for (size_t i = 0; i < codes->slot_count; i++)
		if (codes->slots[i] && codes->slots[i]->unresolved && codes->slots[i]->shown)
			rows[count++] = (struct profile_unresolved){
				codes->slots[i]->module_path, 1, codes->slots[i]->samples};
	qsort(rows, count, sizeof(*rows), by_module);
	for (size_t i = 0; i < count; i++) {
		if (kept && rows[kept - 1].module == rows[i].module) {
			rows[kept - 1].addresses++;
			rows[kept - 1].samples += rows[i].samples;
		} else {
			rows[kept++] = rows[i];
		}
	}
	qsort(rows, kept, sizeof(*rows), compare_unresolved);
	p->unresolved = rows;
	p->unresolved_count = kept;
	return 0;
}

/* What probes waited for anything but the GIL. */
static uint64_t sum_blocked(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->tree.count; i++) {
		const struct profile_node *n = &p->tree.nodes[i];

		if (n->kind != PROFILE_PROBE || strcmp(n->name, PROFILE_GIL))
			sum += n->blocked;
	}
	return sum;
}

/*
 * A call on a path that is new, or cold, takes many times what was calibrated:
 * samples that hit our own code know, unless they are few. Those by wall time say nothing of CPU time.
 */
static uint64_t probe_time(const struct profile_quality *q, uint64_t taken)
{
	uint64_t inside = q->dropped[HYB_DROP_IN_PROBE], sampled;

	if (!q->probe_calls || inside < FEW_SAMPLES || q->sources & (1u << HYB_SOURCE_WALL))
		return q->probe_time;
	sampled = (uint64_t)((unsigned __int128)q->cpu * inside / (taken + inside));
	return sampled > q->probe_time ? sampled : q->probe_time;
}

int profile_finish(struct profile *p, struct hyb_error *err)
{
	struct profile_quality *q = &p->quality;
	uint64_t base = q->sources & (1u << HYB_SOURCE_WALL) ? q->thread_wall : q->cpu;
	uint64_t taken = q->slowed ? q->taken : q->samples;
	int r;

	q->achieved = base ? (double)taken * 1e9 / (double)base : 0;
	q->probe_time = probe_time(q, taken);
	r = share_out(&p->share, &p->tree);
	share_release(&p->share);
	if (!r) {
		tree_sum(&p->tree);
		name_kinds(p);
		tree_sum(&p->awaits);
		r = tree_arrange(&p->tree, p->options.sort, NULL, NULL);
	}
	if (!r)
		r = tree_arrange(&p->awaits, PROFILE_SORT_INCLUSIVE, NULL, NULL);
	p->quality.blocked = sum_blocked(p);
	if (!r)
		r = sum_unresolved(p);
	if (r) {
		err->code = r;
		snprintf(err->text, sizeof(err->text), "out of memory with %zu nodes", p->tree.count);
	}
	return r;
}

size_t profile_count(const struct profile *p)
{
	return p->tree.count;
}

const struct profile_node *profile_nodes(const struct profile *p)
{
	return p->tree.nodes;
}

const struct profile_quality *profile_quality(const struct profile *p)
{
	return &p->quality;
}

const struct profile_unresolved *profile_unresolved(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->unresolved_count;
	return p->unresolved;
}

const struct profile_node *profile_awaits(const struct profile *p, size_t *ret_count)
{
	*ret_count = p->awaits.count - 1;
	return p->awaits.nodes + 1;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	tree_release(&p->tree);
	tree_release(&p->awaits);
	share_release(&p->share);
	codes_release(&p->codes);
	strings_release(&p->strings);
	free(p->unresolved);
	free(p);
}

#include "reader/process.h"

#include <stdlib.h>

/* NODES by offset, since parents stand in front; TRACE by serial, which is the order in time. */
static int compare_chunks(const void *a, const void *b)
{
	const struct chunk *x = *(struct chunk *const *)a, *y = *(struct chunk *const *)b;

	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == HYB_CHUNK_TRACE && x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int sort_chunks(struct process *p)
{
	size_t count = p->file.chunk_count;

	p->sorted = malloc((count + 1) * sizeof(*p->sorted));
	if (!p->sorted)
		return HYB_ENOMEM;
	for (size_t i = 0; i < count; i++)
		p->sorted[i] = &p->file.chunks[i];
	qsort(p->sorted, count, sizeof(*p->sorted), compare_chunks);
	return HYB_OK;
}

static int fill_info(struct process *p, struct hyb_experiment *experiment)
{
	const struct hyb_header *h = &p->file.header;
	const struct clock *clock = &p->clock;
	const char *host = arena_string(p->arena, h->host, strnlen(h->host, sizeof(h->host)));
	const char *path = arena_string(p->arena, p->file.path, strlen(p->file.path));
	bool known_rate = !clock->fraction && clock->whole == 1;

	if (!host || !path)
		return HYB_ENOMEM;
	p->info = (struct hyb_process){
		.experiment = experiment,
		.file = path,
		.host = host,
		.pid = h->pid,
		.ppid = h->ppid,
		.image = h->image,
		.state = h->state,
		.source = h->source,
		.rate = h->rate,
		.trace_events = h->trace_events != 0,
		.tick_ns = known_rate ? 1.0 : (double)clock->whole + (double)clock->fraction / 0x1p64,
		.start = clock_time(clock, h->first.tick),
		.realtime = (int64_t)(h->realtime - h->first.mono),
		.trace_bytes = h->trace_bytes,
		.trace_stopped = h->trace_stopped ? clock_time(clock, h->trace_stopped) : 0,
		.threads_lost = h->threads_lost,
		.regions_lost = h->regions_lost,
		.names_cut = h->names_cut,
		.probe_cost = clock_span(clock, h->probe_cost),
		.file_size = p->file.size,
	};
	return HYB_OK;
}

/* The header's word, or the last moment at which it was certainly there. */
static void fill_end(struct process *p)
{
	const struct hyb_header *h = &p->file.header;
	uint64_t end = clock_time(&p->clock, h->end ? h->end : h->last.tick);

	for (size_t i = 0; i < p->info.location_count && !h->end; i++)
		if (p->info.locations[i].end > end)
			end = p->info.locations[i].end;
	p->info.end = end > p->info.start ? end : p->info.start;
}

static int load(struct process *p, struct hyb_experiment *experiment)
{
	const struct hyb_header *h = &p->file.header;
	int error;

	if (!clock_init(&p->clock, &h->first, &h->last))
		damage_add(p->damage, p->file.path, offsetof(struct hyb_header, first),
			"the clock went backwards: times are ticks");
	error = fill_info(p, experiment);
	if (!error)
		error = sort_chunks(p);
	if (!error)
		error = process_load_defs(p);
	if (!error)
		error = process_load_locations(p);
	if (!error)
		fill_end(p);
	return error;
}

int process_open(const char *path, struct hyb_experiment *experiment, struct arena *arena,
	struct damage *damage, struct process **ret, struct hyb_error *err)
{
	struct process *p = calloc(1, sizeof(*p));
	int error;

	if (!p)
		return error_set(err, HYB_ENOMEM, "%s: out of memory", path);
	p->arena = arena;
	p->damage = damage;
	error = file_open(&p->file, path, damage, err);
	if (error) {
		free(p);
		return error;
	}
	error = load(p, experiment);
	if (error) {
		error_set(err, error, "%s: out of memory", path);
		process_close(p);
		return error;
	}
	*ret = p;
	return HYB_OK;
}

void process_close(struct process *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->info.location_count; i++) {
		free(p->locations[i].nodes);
		free(p->locations[i].spans);
		free(p->locations[i].index);
	}
	free(p->locations);
	free(p->info.locations);
	free(p->module_index);
	free(p->regions);
	free(p->counters);
	free(p->texts);
	free(p->modules);
	free(p->metadata);
	free(p->notes);
	free(p->children);
	free(p->sorted);
	file_release(&p->file);
	free(p);
}

/* All kinds of entries begin with their id. */
static const void *find(const void *array, size_t count, size_t size, uint64_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const void *at = (const char *)array + middle * size;
		uint64_t there = *(const uint64_t *)at;

		if (there == id)
			return at;
		if (there < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct hyb_region *process_region(const struct process *p, uint64_t id)
{
	const struct def_region *def = find(p->regions, p->region_count, sizeof(*def), id);

	return def ? &def->region : NULL;
}

const struct def_counter *process_counter(const struct process *p, uint64_t id)
{
	return find(p->counters, p->counter_count, sizeof(*p->counters), id);
}

const char *process_text(const struct process *p, uint64_t id)
{
	const struct def_text *def = find(p->texts, p->text_count, sizeof(*def), id);

	return def ? def->text : NULL;
}

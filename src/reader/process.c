#include "reader/process.h"

#include <stdlib.h>

/* Bytes of the file that are its own. */
static uint64_t own_size(const struct process *p)
{
	uint64_t size = p->number ? 0 : p->file->size;

	for (size_t i = 0; i < p->chunk_count && p->number; i++)
		size += p->chunks[i]->size;
	return size;
}

static void fill_info(struct process *p, struct hyb_experiment *experiment)
{
	const struct hyb_header *h = &p->header;
	const struct clock *clock = &p->clock;
	bool known_rate = !clock->fraction && clock->whole == 1;

	p->info = (struct hyb_process){
		.experiment = experiment,
		.file = p->file->path,
		.host = h->host,
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
		.rank = HYB_RANK_NONE,
		.clock_domain = h->clock_domain,
		.file_size = own_size(p),
		.cpu_start = h->cpu_start,
		.cpu_ready = h->cpu_ready,
		.cpu_end = h->cpu_end,
		.cpu_children = h->cpu_children,
		.pid_namespace = h->pid_namespace,
	};
	for (size_t i = 0; i < HYB_PROBE_SLOTS; i++)
		p->info.call_cost[i] = clock_span(clock, h->call_cost[i]);
}

/* The tick at which the process ended: as the header has it, or else the last moment at which it was
 * certainly there. */
static void fill_end(struct process *p)
{
	const struct hyb_header *h = &p->header;
	uint64_t end = clock_time(&p->clock, h->end ? h->end : h->last.tick);

	for (size_t i = 0; i < p->info.location_count && !h->end; i++)
		if (p->info.locations[i].end > end)
			end = p->info.locations[i].end;
	p->info.end = end > p->info.start ? end : p->info.start;
}

static int load(struct process *p, struct hyb_experiment *experiment)
{
	const struct hyb_header *h = &p->header;
	int error;

	if (!clock_init(&p->clock, &h->first, &h->last))
		damage_add(p->damage, p->file->path, offsetof(struct hyb_header, first),
			"the clock went backwards: times are ticks");
	fill_info(p, experiment);
	error = process_load_defs(p);
	if (!error)
		error = process_load_locations(p);
	if (!error)
		fill_end(p);
	return error;
}

struct process *process_open(const struct process_source *source)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->arena = source->arena;
	p->damage = source->damage;
	p->file = source->file;
	p->header = *source->header;
	p->number = source->number;
	p->chunks = source->chunks;
	p->chunk_count = source->chunk_count;
	if (!load(p, source->experiment))
		return p;
	process_close(p);
	return NULL;
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
	free(p->ended);
	free(p->programs);
	free(p->handles);
	free(p->offsets);
	free(p->names);
	free(p);
}

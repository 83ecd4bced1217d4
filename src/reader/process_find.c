/* Definitions of a process by their ids. */
#include "reader/process.h"

bool process_grows(const struct process *p)
{
	return p->header.state == HYB_STATE_RUNNING && file_grows(p->file, (uint16_t)p->number);
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

const struct hyb_handle *process_handle(const struct process *p, uint32_t id)
{
	size_t low = 0, high = p->info.handle_count;

	/* As a rule they are 1, 2, 3 ... */
	if (id - 1 < high && p->handles[id - 1].id == id)
		return &p->handles[id - 1];
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->handles[middle].id == id)
			return &p->handles[middle];
		if (p->handles[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

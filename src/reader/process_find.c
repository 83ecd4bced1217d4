/* Definitions of a process by their ids. */
#include "reader/process.h"
#include "base/search.h"

bool process_grows(const struct process *p)
{
	return p->header.state == HYB_STATE_RUNNING && file_grows(p->file, (uint16_t)p->number);
}

/* All kinds of entries begin with their id. */
static const void *find(const void *array, size_t count, size_t size, uint64_t id)
{
	const char *items = array;
	size_t at = SEARCH(i, count, *(const uint64_t *)(items + i * size) < id);

	return at < count && *(const uint64_t *)(items + at * size) == id ? items + at * size : NULL;
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
	size_t count = p->info.handle_count, at = id - 1;

	/* As a rule they are 1, 2, 3 ... */
	if (at >= count || p->handles[at].id != id)
		at = SEARCH(i, count, p->handles[i].id < id);
	return at < count && p->handles[at].id == id ? &p->handles[at] : NULL;
}

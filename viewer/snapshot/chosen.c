#include "base/hash.h"
#include "viewer/snapshot/chosen.h"

#include <stdlib.h>
#include <string.h>

struct chosen_key {
	uint64_t host; /* hash of its name */
	uint64_t experiment; /* number of the path */
	uint32_t pid, image, rank, id; /* id: of the location */
};

static struct chosen_key key_of(size_t experiment, const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;

	return (struct chosen_key){hash_text(HASH_START, process->host), experiment, process->pid,
		process->image, process->rank, location->id};
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct chosen_key));
}

/* Which of the experiments has it. */
static size_t experiment_of(const struct snapshot *s, const struct hyb_location_info *location)
{
	size_t e = 0;

	while (e + 1 < s->base_from && s->opened[e].experiment != location->process->experiment)
		e++;
	return e;
}

int chosen_make(struct chosen *chosen, const struct snapshot *s, const struct query *query)
{
	struct chosen_key *keys;
	size_t count = 0;

	*chosen = (struct chosen){0};
	if (!s || !query->selected)
		return 0;
	keys = calloc(s->location_count + 1, sizeof(*keys));
	if (!keys)
		return HYB_ENOMEM;
	for (size_t i = 0; i < s->location_count && i < query->selected_count; i++)
		if (query->selected[i])
			keys[count++] = key_of(experiment_of(s, s->locations[i]), s->locations[i]);
	qsort(keys, count, sizeof(*keys), compare);
	*chosen = (struct chosen){keys, count};
	return 0;
}

int chosen_copy(struct chosen *to, const struct chosen *from)
{
	*to = *from;
	if (!from->keys)
		return 0;
	to->keys = calloc(from->count + 1, sizeof(*to->keys));
	if (!to->keys)
		return HYB_ENOMEM;
	memcpy(to->keys, from->keys, from->count * sizeof(*to->keys));
	return 0;
}

void chosen_release(struct chosen *chosen)
{
	free(chosen->keys);
	*chosen = (struct chosen){0};
}

static void apply(
	const struct chosen *chosen, size_t e, const struct hyb_process *process, struct query *query)
{
	for (size_t i = 0; i < process->location_count; i++) {
		const struct chosen_key key = key_of(e, &process->locations[i]);

		query->selected[query->selected_count++] =
			bsearch(&key, chosen->keys, chosen->count, sizeof(key), compare) != NULL;
	}
}

int chosen_apply(const struct chosen *chosen, const struct inputs *inputs, struct query *query)
{
	size_t count = 0;

	query->selected_count = 0;
	if (!chosen->keys)
		return 0;
	for (size_t e = 0; e < inputs->base_from; e++)
		for (size_t i = 0; i < hyb_process_count(inputs->opened[e].experiment); i++)
			count += hyb_process_at(inputs->opened[e].experiment, i)->location_count;
	query->selected = calloc(count + 1, sizeof(bool));
	if (!query->selected)
		return HYB_ENOMEM;
	for (size_t e = 0; e < inputs->base_from; e++)
		for (size_t i = 0; i < hyb_process_count(inputs->opened[e].experiment); i++)
			apply(chosen, e, hyb_process_at(inputs->opened[e].experiment, i), query);
	return 0;
}

/*
 * Clocks of several hosts. The processes of a clock domain read the same clock, so that one line corrects all
 * of them and leaves the order of what they did among themselves: through the best measurement at the start
 * of one of them and the best at an end. Before and after these the shift stays: a line through two moments
 * that are close would lead far off.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "reader/experiment.h"

/* The correction of a domain. */
struct line {
	struct clock_shift shift;
	uint64_t error;
};

/* By world, rank 0 in front, then by domain. Processes of no world come first. */
static int compare_members(const void *a, const void *b)
{
	const struct hyb_process *x = *(struct hyb_process *const *)a, *y = *(struct hyb_process *const *)b;

	if (x->world != y->world)
		return x->world < y->world ? -1 : 1;
	if (!x->rank != !y->rank)
		return x->rank ? 1 : -1;
	return x->clock_domain < y->clock_domain ? -1 : x->clock_domain > y->clock_domain;
}

static const struct hyb_clock_offset *better(
	const struct hyb_clock_offset *a, const struct hyb_clock_offset *b)
{
	if (!a || (b && (b->error < a->error || (b->error == a->error && b->time < a->time))))
		return b;
	return a;
}

/* The best of the members' first measurements beside rank 0, and whose it is, and of their last; NULL: none.
 */
static void find_measured(struct process **members, size_t count, const struct hyb_clock_offset **ret_begin,
	const struct hyb_clock_offset **ret_end, const struct process **ret_who)
{
	*ret_begin = *ret_end = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct hyb_process *p = &members[i]->info;
		const struct hyb_clock_offset *first = NULL, *last = NULL;

		for (size_t k = 0; k < p->offset_count; k++) {
			if (p->offsets[k].reference)
				continue;
			if (first)
				last = &p->offsets[k];
			else
				first = &p->offsets[k];
		}
		if (first && better(*ret_begin, first) == first)
			*ret_who = members[i];
		*ret_begin = better(*ret_begin, first);
		*ret_end = better(*ret_end, last);
	}
}

static struct line constant(const struct hyb_clock_offset *at)
{
	return (struct line){{at->time, at->time, at->offset, at->offset, 0}, at->error};
}

/* False: the clock of these processes was not measured. */
static bool find_line(struct process **members, size_t count, struct line *ret)
{
	const struct hyb_clock_offset *begin, *end;
	const struct process *who = NULL;
	unsigned __int128 change;
	uint64_t distance;

	find_measured(members, count, &begin, &end, &who);
	if (!begin)
		return false;
	*ret = constant(begin);
	if (!end || end->time <= begin->time)
		return true;
	distance = end->time - begin->time;
	change = end->offset > begin->offset ? (__int128)end->offset - begin->offset
					     : (__int128)begin->offset - end->offset;
	if (change > distance / 2) {
		if (who->file)
			damage_add(who->damage, who->file->path, 0,
				"two comparisons of the clock differ by %llu in %llu ns: only the better one "
				"is used",
				(unsigned long long)change, (unsigned long long)distance);
		*ret = constant(better(begin, end));
		ret->error = change > ret->error ? (uint64_t)change : ret->error;
		return true;
	}
	ret->shift.until = end->time;
	ret->shift.last = end->offset;
	/* Rounded up, so that whole results are hit and not missed by one. */
	ret->shift.slope = (uint64_t)(((change << 64) + distance - 1) / distance);
	ret->error = end->error > begin->error ? end->error : begin->error;
	return true;
}

/* Moves all that is known of the process; its trace follows by its clock. */
static void correct(struct process *p, const struct line *line)
{
	const struct clock_shift *shift = &line->shift;
	struct hyb_process *info = &p->info;

	p->clock.shift = *shift;
	p->corrected = true;
	info->clock_error = line->error;
	info->clock_shift_start = clock_shift_at(shift, info->start);
	info->clock_shift_end = clock_shift_at(shift, info->end);
	info->realtime = (int64_t)((uint64_t)info->realtime - (uint64_t)info->clock_shift_start);
	info->start = clock_shifted(shift, info->start);
	info->end = clock_shifted(shift, info->end);
	if (info->trace_stopped)
		info->trace_stopped = clock_shifted(shift, info->trace_stopped);
	for (size_t i = 0; i < info->note_count; i++)
		p->notes[i].time = clock_shifted(shift, p->notes[i].time);
	for (size_t i = 0; i < info->child_count; i++)
		p->children[i].time = clock_shifted(shift, p->children[i].time);
	for (size_t i = 0; i < info->location_count; i++) {
		info->locations[i].start = clock_shifted(shift, info->locations[i].start);
		info->locations[i].end = clock_shifted(shift, info->locations[i].end);
	}
}

/* Processes that are no ranks, as the shell that started one, have the clock of their domain too. */
static void correct_others(struct process **others, size_t count, uint64_t domain, const struct line *line)
{
	size_t low = SEARCH(i, count, others[i]->info.clock_domain < domain);

	for (; low < count && others[low]->info.clock_domain == domain; low++)
		if (!others[low]->corrected)
			correct(others[low], line);
}

/* The members of one domain. `zero`: rank 0 of their world, or NULL if it is not there. */
static void correct_domain(struct process **members, size_t count, const struct process *zero,
	struct process **others, size_t other_count)
{
	uint64_t domain = members[0]->info.clock_domain;
	struct line line;

	if (zero && domain && domain == zero->info.clock_domain)
		return;
	if (find_line(members, count, &line)) {
		for (size_t i = 0; i < count; i++)
			correct(members[i], &line);
		if (domain)
			correct_others(others, other_count, domain, &line);
		return;
	}
	for (size_t i = 0; i < count && zero; i++)
		members[i]->info.clock_error = HYB_TIME_UNKNOWN;
}

static void correct_world(struct process **members, size_t count, struct process **others, size_t other_count)
{
	const struct process *zero = members[0]->info.rank ? NULL : members[0];
	size_t i = 0;

	while (i < count && !members[i]->info.rank)
		i++;
	while (i < count) {
		uint64_t domain = members[i]->info.clock_domain;
		size_t first = i;

		/* Of unknown domains each may be another one. */
		do
			i++;
		while (domain && i < count && members[i]->info.clock_domain == domain);
		correct_domain(members + first, i - first, zero, others, other_count);
	}
}

/* What other processes have to know of this one. */
static bool is_needed(const struct hyb_process *info)
{
	return info->world && (!info->rank || info->offset_count);
}

void experiment_pack_clocks(const struct hyb_experiment *e, struct blob *to)
{
	for (size_t i = 0; i < e->process_count; i++) {
		const struct hyb_process *info = &e->processes[i]->info;

		if (!is_needed(info))
			continue;
		blob_put(to, info->world);
		blob_put(to, info->rank);
		blob_put(to, info->clock_domain);
		blob_put(to, info->offset_count);
		blob_put_bytes(to, info->offsets, info->offset_count * sizeof(*info->offsets));
	}
}

/* Processes of which no more is known than their clocks. */
struct strangers {
	struct process *processes;
	size_t count;
};

static void strangers_release(struct strangers *strangers)
{
	for (size_t i = 0; i < strangers->count; i++)
		free(strangers->processes[i].offsets);
	free(strangers->processes);
}

/* One that was packed. 0 or HYB_ENOMEM. */
static int get_stranger(struct blob_reader *from, struct strangers *strangers)
{
	struct process *p;
	size_t size;

	if (!ARRAY_ROOM(strangers->processes, strangers->count))
		return HYB_ENOMEM;
	p = &strangers->processes[strangers->count];
	*p = (struct process){.info.world = blob_get(from)};
	p->info.rank = (uint32_t)blob_get(from);
	p->info.clock_domain = blob_get(from);
	p->info.offset_count = blob_get_count(from);
	size = p->info.offset_count * sizeof(*p->offsets);
	if (!from->at || size > (size_t)(from->end - from->at)) {
		from->at = NULL;
		return HYB_OK;
	}
	p->offsets = malloc(size + 1);
	if (!p->offsets)
		return HYB_ENOMEM;
	memcpy(p->offsets, from->at, size);
	from->at += size;
	p->info.offsets = p->offsets;
	strangers->count++;
	return HYB_OK;
}

static void correct_all(struct process **members, size_t count)
{
	size_t others = 0;

	qsort(members, count, sizeof(*members), compare_members);
	while (others < count && !members[others]->info.world)
		others++;
	for (size_t i = others, first; i < count;) {
		for (first = i; i < count && members[i]->info.world == members[first]->info.world;)
			i++;
		correct_world(members + first, i - first, members, others);
	}
}

int experiment_correct_clocks(struct hyb_experiment *e, struct blob_reader *from)
{
	size_t count = 0;
	struct strangers strangers = {0};
	struct process **members;
	int r = HYB_OK;

	while (!r && from && from->at && from->at < from->end)
		r = get_stranger(from, &strangers);
	members = malloc((e->process_count + strangers.count + 1) * sizeof(*members));
	if (!members)
		r = HYB_ENOMEM;
	for (size_t i = 0; !r && i < e->process_count; i++)
		members[count++] = e->processes[i];
	for (size_t i = 0; !r && i < strangers.count; i++)
		members[count++] = &strangers.processes[i];
	if (!r)
		correct_all(members, count);
	strangers_release(&strangers);
	free(members);
	return r;
}

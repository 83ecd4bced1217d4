#include "tools/report_account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/format.h"

/* Images of processes, by host, pid and start. */
struct images {
	const struct hyb_process **list;
	size_t count;
};

static int compare(const void *pa, const void *pb)
{
	const struct hyb_process *a = *(const struct hyb_process *const *)pa,
				 *b = *(const struct hyb_process *const *)pb;
	int d = strcmp(a->host, b->host);

	if (d || a->pid != b->pid)
		return d ? d : a->pid < b->pid ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* The last image of that process before that moment; images->count: it was not measured. */
static size_t find(const struct images *images, const char *host, uint32_t pid, uint64_t time)
{
	const struct hyb_process wanted = {.host = host, .pid = pid, .start = time}, *key = &wanted;
	size_t low = 0, high = images->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare(&images->list[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && images->list[low - 1]->pid == pid && !strcmp(images->list[low - 1]->host, host)
		       ? low - 1
		       : images->count;
}

/* Whether image `i` goes on with the process of the one before: the pid may be another process's later. */
static bool goes_on(const struct images *images, size_t i)
{
	const struct hyb_process *p = images->list[i], *before = i ? images->list[i - 1] : NULL;

	return before && before->pid == p->pid && !strcmp(before->host, p->host) &&
	       before->state == HYB_STATE_EXEC && p->cpu_start >= before->cpu_end;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t of_threads(const struct hyb_process *p)
{
	uint64_t cpu = 0;

	for (size_t i = 0; i < p->location_count; i++)
		cpu += p->locations[i].cpu;
	return cpu;
}

/* What a process had used when its last image was seen last. */
static uint64_t used(const struct hyb_process *p)
{
	return p->cpu_end ? p->cpu_end : (p->image ? p->cpu_start : 0) + of_threads(p);
}

static uint64_t of_children(const struct hyb_process *p)
{
	uint64_t cpu = 0;

	for (size_t i = 0; i < p->ended_count; i++)
		cpu += p->ended[i].cpu;
	return p->cpu_children > cpu ? p->cpu_children : cpu;
}

static uint64_t take(uint64_t *rest, uint64_t most)
{
	uint64_t taken = most < *rest ? most : *rest;

	*rest -= taken;
	return taken;
}

/* Threads count what they ran before the measurement, if they were there: what no thread has is left. */
static void add_image(struct account *a, const struct images *images, size_t i)
{
	const struct hyb_process *p = images->list[i];
	uint64_t threads = of_threads(p), begin = goes_on(images, i) ? images->list[i - 1]->cpu_end : 0;
	uint64_t rest = less(less(p->cpu_end, begin), threads);

	a->threads += threads;
	a->before += take(&rest, less(p->cpu_start, begin));
	a->beginning += take(&rest, less(p->cpu_ready, p->cpu_start));
	a->others += rest;
}

/* The last word on what that process executed. */
static const struct hyb_program *find_program(
	const struct images *images, const char *host, const struct hyb_ended *e)
{
	const struct hyb_program *found = NULL;

	for (size_t i = 0; i < images->count; i++) {
		const struct hyb_process *p = images->list[i];

		for (size_t j = 0; j < p->program_count; j++)
			if (p->programs[j].pid == e->pid && p->programs[j].time <= e->time &&
				(!found || p->programs[j].time > found->time) && !strcmp(p->host, host))
				found = &p->programs[j];
	}
	return found;
}

/* Of measured processes that one which was not measured started, for they are counted already. */
static uint64_t of_measured_children(const struct images *images, const char *host, uint32_t pid)
{
	uint64_t cpu = 0;

	for (size_t i = 0; i < images->count; i++) {
		const struct hyb_process *p = images->list[i];

		if (p->ppid == pid && !strcmp(p->host, host) &&
			(i + 1 == images->count || !goes_on(images, i + 1)))
			cpu += used(p) + of_children(p);
	}
	return cpu;
}

static int add_unmeasured(struct account *a, const struct images *images, const char *host,
	const struct hyb_ended *e, uint64_t cpu)
{
	const struct hyb_program *program = find_program(images, host, e);
	const char *path = program ? program->path : NULL;
	unsigned why = program ? program->unmeasured : HYB_UNMEASURED_NOT_KNOWN;
	size_t i = 0;

	while (i < a->program_count && (a->programs[i].why != why || !a->programs[i].path != !path ||
					       (path && strcmp(a->programs[i].path, path) != 0)))
		i++;
	if (i == a->program_count) {
		if (!ARRAY_ROOM(a->programs, a->program_count))
			return HYB_ENOMEM;
		a->programs[a->program_count++] = (struct account_program){.path = path, .why = why};
	}
	a->programs[i].processes++;
	cpu = less(cpu, of_measured_children(images, host, e->pid));
	a->programs[i].cpu += cpu;
	a->unmeasured += cpu;
	return 0;
}

/* Somebody waited for it. A process that was measured may have ended as a program that was not. */
static int add_end(
	struct account *a, const struct images *images, const char *host, const struct hyb_ended *e)
{
	size_t i = find(images, host, e->pid, e->time);
	const struct hyb_process *p;
	uint64_t rest;

	if (i == images->count)
		return add_unmeasured(a, images, host, e, e->cpu);
	p = images->list[i];
	rest = less(e->cpu, used(p) + of_children(p));
	if (p->state == HYB_STATE_EXEC)
		return add_unmeasured(a, images, host, e, rest);
	a->after += rest;
	return 0;
}

static uint64_t number(const struct hyb_experiment *e, const char *key)
{
	const char *value = hyb_experiment_value(e, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

static int compare_programs(const void *pa, const void *pb)
{
	const struct account_program *a = pa, *b = pb;

	return (a->cpu < b->cpu) - (a->cpu > b->cpu);
}

/* All that hybrid-run waited for, and in it the process that it started. */
static int add_command(struct account *a, const struct hyb_experiment *e, const struct images *images)
{
	uint64_t total = number(e, "user_ns") + number(e, "system_ns");
	const struct hyb_process *first = hyb_process_at(e, 0);
	struct hyb_ended end = {.time = UINT64_MAX, .cpu = total, .pid = first->pid};

	a->total += total;
	if (hyb_experiment_value(e, "ranks") || !first->cpu_start)
		return 0;
	for (size_t i = 0; i < images->count;
		i++) /* not the command's own: what started it was not measured */
		for (size_t j = 0; j < images->list[i]->ended_count; j++)
			if (images->list[i]->ended[j].pid == first->pid)
				return 0;
	return add_end(a, images, first->host, &end);
}

static int add_experiment(struct account *a, const struct hyb_experiment *e)
{
	size_t count = hyb_process_count(e);
	struct images images = {malloc((count + 1) * sizeof(*images.list)), count};
	int r = images.list ? 0 : HYB_ENOMEM;

	a->known &= count && hyb_experiment_value(e, "user_ns");
	for (size_t i = 0; !r && i < count; i++) {
		images.list[i] = hyb_process_at(e, i);
		a->known &= images.list[i]->cpu_start != 0;
	}
	if (!r && a->known) {
		qsort(images.list, count, sizeof(*images.list), compare);
		for (size_t i = 0; i < count; i++)
			add_image(a, &images, i);
		for (size_t i = 0; !r && i < count; i++)
			for (size_t j = 0; !r && j < images.list[i]->ended_count; j++)
				r = add_end(a, &images, images.list[i]->host, &images.list[i]->ended[j]);
		if (!r)
			r = add_command(a, e, &images);
	}
	free(images.list);
	return r;
}

int account_make(const struct report_inputs *inputs, struct account *ret)
{
	struct account a = {.known = inputs->count && !report_selects(inputs->options)};
	int r = 0;

	for (size_t e = 0; !r && a.known && e < inputs->count; e++)
		r = add_experiment(&a, inputs->items[e].experiment);
	a.unseen = less(a.total, a.threads + a.before + a.beginning + a.others + a.after + a.unmeasured);
	if (a.program_count)
		qsort(a.programs, a.program_count, sizeof(*a.programs), compare_programs);
	*ret = a;
	return r;
}

void account_release(struct account *a)
{
	free(a->programs);
	a->programs = NULL;
}

/* "exit 3" or "signal SIGKILL" of the command. */
static bool status_of_command(const struct hyb_experiment *e, int *ret_status)
{
	const char *text = hyb_experiment_value(e, "status");
	int status;

	if (!text || sscanf(text, "exit %d", &status) != 1)
		return false;
	*ret_status = (status & 0xff) << 8;
	return true;
}

bool account_status(const struct hyb_process *process, int *ret_status)
{
	const struct hyb_experiment *e = process->experiment;
	const struct hyb_process *first = hyb_process_at(e, 0);

	for (size_t i = 0; i < hyb_process_count(e); i++) {
		const struct hyb_process *p = hyb_process_at(e, i);

		for (size_t j = 0; j < p->ended_count; j++)
			if (p->ended[j].pid == process->pid && p->ended[j].time >= process->start &&
				!strcmp(p->host, process->host)) {
				*ret_status = p->ended[j].status;
				return true;
			}
	}
	return first->pid == process->pid && !strcmp(first->host, process->host) &&
	       !hyb_experiment_value(e, "ranks") && status_of_command(e, ret_status);
}

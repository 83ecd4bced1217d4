#include "quality/account.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/launch.h"
#include "base/path.h"
#include "format/format.h"
#include "quality/images.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The CPU time of a process when its last image was last seen. */
static uint64_t used(const struct image *p)
{
	return p->cpu_end ? p->cpu_end : (p->number ? p->cpu_start : 0) + p->cpu_threads;
}

static uint64_t of_children(const struct image *p)
{
	uint64_t cpu = 0;

	for (size_t i = 0; i < p->end_count; i++)
		cpu += p->ends[i].end.cpu;
	return p->cpu_children > cpu ? p->cpu_children : cpu;
}

static uint64_t take(uint64_t *rest, uint64_t most)
{
	uint64_t taken = most < *rest ? most : *rest;

	*rest -= taken;
	return taken;
}

/* Threads that existed before the measurement count their time from before it; the rest is returned. */
static void add_image(struct account *a, const struct images *images, size_t i)
{
	const struct image *p = &images->list[i];
	uint64_t begin = images_goes_on(images, i) ? p[-1].cpu_end : 0;
	uint64_t rest = less(less(p->cpu_end, begin), p->cpu_threads);

	a->threads += p->cpu_threads;
	a->before += take(&rest, less(p->cpu_start, begin));
	a->beginning += take(&rest, less(p->cpu_ready, p->cpu_start));
	a->others += rest;
}

/* The last record in the file of `p` about what a process executed; or `found`. */
static const struct hyb_program *find_program(
	const struct image *p, const struct hyb_ended *e, const struct hyb_program *found)
{
	for (size_t j = 0; j < p->program_count; j++)
		if (p->programs[j].pid == e->pid && p->programs[j].time <= e->time &&
			(!found || p->programs[j].time > found->time))
			found = &p->programs[j];
	return found;
}

/* Of measured processes for which a program that was not measured waited, for they are counted already. */
static uint64_t of_measured_children(
	const struct images *images, const struct image *parent, const struct hyb_ended *e)
{
	size_t count;
	const size_t *children = images_children(images, parent->experiment, parent->host, e->pid, &count);
	uint64_t cpu = 0;

	for (size_t i = 0; i < count && e->pid; i++) {
		const struct image *p = &images->list[images_last(images, children[i])];

		if (!p->waited && p->start <= e->time &&
			(parent->hybrid_run || p->pid_namespace == parent->pid_namespace))
			cpu += used(p) + of_children(p);
	}
	return cpu;
}

/* The same of ranks, for which a launcher that began then waited by processes of its own, not measured
 * either. */
static uint64_t of_ranks(
	const struct images *images, const struct image *parent, const struct hyb_ended *e, uint64_t begun)
{
	uint64_t cpu = 0;

	for (size_t i = 0; i < images->count; i++) {
		const struct image *p = &images->list[i];

		if (!p->hybrid_run && !p->waited && images_last(images, i) == i && p->ppid != e->pid &&
			p->start >= begun && p->start <= e->time && p->experiment == parent->experiment &&
			!strcmp(p->host, parent->host) && !images_has_parent(images, p))
			cpu += used(p) + of_children(p);
	}
	return cpu;
}

static int add_unmeasured(struct account *a, const char *path, unsigned why, uint64_t cpu)
{
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
	a->programs[i].cpu += cpu;
	a->unmeasured += cpu;
	return 0;
}

/* A parent waited for it. A process that was measured may have ended in a program that was not. */
static int add_end(struct account *a, const struct images *images, const struct image *parent,
	const struct hyb_ended *e, size_t i)
{
	const struct image *p = i == NO_IMAGE ? NULL : &images->list[i];
	const struct hyb_program *program = find_program(parent, e, NULL);
	uint64_t rest = p ? less(e->cpu, used(p) + of_children(p)) : e->cpu;
	unsigned why = HYB_UNMEASURED_NOT_KNOWN;
	const char *path;

	if (p && p->state != HYB_STATE_EXEC) {
		a->after += rest;
		return 0;
	}
	program = p ? find_program(p, e, program) : program;
	path = program ? program->path : p ? p->became : NULL;
	rest = less(rest, of_measured_children(images, parent, e));
	if (program && program->unmeasured) {
		why = program->unmeasured;
	} else if (path && launch_is_launcher(path_base(path))) {
		why = HYB_UNMEASURED_LAUNCHER;
		rest = less(rest, of_ranks(images, parent, e, program ? program->time : p ? p->end : 0));
	}
	return add_unmeasured(a, path, why, rest);
}

static int compare_programs(const void *pa, const void *pb)
{
	const struct account_program *a = pa, *b = pb;

	return (a->cpu < b->cpu) - (a->cpu > b->cpu);
}

/* No process of the experiment waited for it: it still runs, or ended as the child of another one. */
static bool is_left(const struct images *images, size_t i)
{
	const struct image *p = &images->list[i];

	return !p->hybrid_run && !p->waited && images_last(images, i) == i;
}

int account_make(const struct images *images, struct account *ret)
{
	struct account a = {.known = true};
	uint64_t parts, left = 0;
	int r = 0;

	for (size_t i = 0; !r && i < images->count; i++) {
		const struct image *p = &images->list[i];

		if (p->hybrid_run)
			a.total += p->cpu_children;
		else
			add_image(&a, images, i);
		left += is_left(images, i) ? used(p) + of_children(p) : 0;
		for (size_t j = 0; !r && j < p->end_count; j++)
			r = add_end(&a, images, p, &p->ends[j].end, p->ends[j].image);
	}
	parts = a.threads + a.before + a.beginning + a.others + a.after + a.unmeasured;
	a.unseen = less(a.total, parts);
	a.unwaited = take(&left, less(parts, a.total)); /* others are in it, by an unmeasured parent */
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

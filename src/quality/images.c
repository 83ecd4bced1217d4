#include "quality/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/status.h"
#include "format/format.h"
#include "format/words.h"
#include "profile/running.h"

/* ---------------------------------------------------------------- adding */

static int add_end(struct image *image, const struct hyb_ended *end)
{
	return ARRAY_ADD(image->ends, image->end_count, (struct image_end){*end, NO_IMAGE}) ? 0 : HYB_ENOMEM;
}

static int add_program(struct image *image, struct hyb_program program, struct strings *strings)
{
	program.path = strings_get(strings, program.path);
	if (!program.path || !ARRAY_ROOM(image->programs, image->program_count))
		return HYB_ENOMEM;
	image->programs[image->program_count++] = program;
	return 0;
}

/* Room for one more, which has only its host. NULL: memory is out. */
static struct image *add_image(struct images *images, const char *host, struct strings *strings)
{
	host = strings_get(strings, host);
	if (!host || !ARRAY_ROOM(images->list, images->count))
		return NULL;
	images->list[images->count] = (struct image){.host = host};
	return &images->list[images->count++];
}

int images_add(struct images *images, const struct hyb_process *p, size_t experiment, bool selected,
	struct strings *strings)
{
	struct image *image = add_image(images, p->host, strings);
	int r = 0;

	if (!image)
		return HYB_ENOMEM;
	image->experiment = experiment;
	image->pid_namespace = p->pid_namespace;
	image->pid = p->pid;
	image->ppid = p->ppid;
	image->number = p->image;
	image->state = p->state;
	image->selected = selected;
	image->running = process_is_running(p);
	image->start = p->start;
	image->end = p->end;
	image->cpu_start = p->cpu_start;
	image->cpu_ready = p->cpu_ready;
	image->cpu_end = p->cpu_end;
	image->cpu_children = p->cpu_children;
	for (size_t i = 0; i < p->location_count; i++)
		image->cpu_threads += p->locations[i].cpu;
	for (size_t i = 0; i < p->child_count; i++)
		if (p->children[i].kind == HYB_CHILD_EXEC && p->state == HYB_STATE_EXEC)
			image->became = strings_get(strings, p->children[i].path);
	for (size_t i = 0; !r && i < p->ended_count; i++)
		r = add_end(image, &p->ended[i]);
	for (size_t i = 0; !r && i < p->program_count; i++)
		r = add_program(image, p->programs[i], strings);
	return r;
}

static uint64_t number(const struct hyb_experiment *e, const char *key)
{
	const char *value = hyb_experiment_value(e, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

/* Why the command could not be measured, as hybrid-run saw it before. */
static unsigned unmeasured(const struct hyb_experiment *e)
{
	const char *why = hyb_experiment_value(e, "unmeasured");
	unsigned found = HYB_UNMEASURED_NOT_KNOWN;

	for (unsigned i = 0; why && word_known(&words_unmeasured, i); i++)
		if (!strcmp(word_key(&words_unmeasured, i), why))
			found = i;
	return found;
}

/* A process that hybrid-run waited for. */
static int add_waited(struct image *image, uint32_t pid, uint64_t cpu, const char *status,
	const struct hyb_experiment *e, struct strings *strings)
{
	const struct hyb_ended end = {UINT64_MAX, cpu, pid, status_read(status)};
	const char *program = hyb_experiment_value(e, "program");
	int r = add_end(image, &end);

	if (r || !program)
		return r;
	return add_program(image, (struct hyb_program){0, pid, unmeasured(e), program}, strings);
}

/* "rank NUMBER HOST PID WALL_NS USER_NS SYSTEM_NS STATUS [COMMAND]": each had a hybrid-run of its own. */
static int add_rank(struct images *images, const struct hyb_experiment *e, size_t experiment,
	const char *text, struct strings *strings)
{
	unsigned long long user, system;
	char host[128], status[28];
	struct image *image;
	unsigned pid;

	if (sscanf(text, "%*u %127s %u %*u %llu %llu %27[^\n]", host, &pid, &user, &system, status) != 5)
		return 0;
	image = add_image(images, host, strings);
	if (!image)
		return HYB_ENOMEM;
	image->hybrid_run = true;
	image->experiment = experiment;
	image->cpu_children = user + system;
	return add_waited(image, pid, user + system, status, e, strings);
}

int images_add_command(
	struct images *images, const struct hyb_experiment *e, size_t experiment, struct strings *strings)
{
	const char *status = hyb_experiment_value(e, "status"), *host = hyb_experiment_value(e, "host");
	size_t count;
	const struct hyb_text_pair *values = hyb_experiment_values(e, &count);
	struct image *image;
	int r = 0;

	if (!status || !host || !hyb_experiment_value(e, "user_ns"))
		return 0;
	for (size_t i = 0; !r && i < count; i++)
		if (!strcmp(values[i].key, "rank"))
			r = add_rank(images, e, experiment, values[i].value, strings);
	if (r || hyb_experiment_value(e, "ranks"))
		return r;
	image = add_image(images, host, strings);
	if (!image)
		return HYB_ENOMEM;
	image->hybrid_run = true;
	image->experiment = experiment;
	image->cpu_children = number(e, "user_ns") + number(e, "system_ns");
	return add_waited(image, (uint32_t)number(e, "pid"), image->cpu_children, status, e, strings);
}

void images_release(struct images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		free(images->list[i].ends);
		free(images->list[i].programs);
	}
	free(images->list);
	free(images->by_parent);
	*images = (struct images){0};
}

/* --------------------------------------------------------------- packing */

static void pack_image(const struct image *image, struct blob *blob)
{
	const uint64_t numbers[] = {image->experiment, image->pid_namespace, image->pid, image->ppid,
		image->number, image->state, image->selected, image->running, image->start, image->end,
		image->cpu_start, image->cpu_ready, image->cpu_end, image->cpu_children, image->cpu_threads};

	blob_put_text(blob, image->host);
	blob_put_text(blob, image->became ? image->became : "");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		blob_put(blob, numbers[i]);
	blob_put(blob, image->end_count);
	for (size_t i = 0; i < image->end_count; i++) {
		blob_put(blob, image->ends[i].end.time);
		blob_put(blob, image->ends[i].end.cpu);
		blob_put(blob, image->ends[i].end.pid);
		blob_put(blob, (uint32_t)image->ends[i].end.status);
	}
	blob_put(blob, image->program_count);
	for (size_t i = 0; i < image->program_count; i++) {
		blob_put(blob, image->programs[i].time);
		blob_put(blob, image->programs[i].pid);
		blob_put(blob, image->programs[i].unmeasured);
		blob_put_text(blob, image->programs[i].path);
	}
}

void images_pack(const struct images *images, struct blob *blob)
{
	blob_put(blob, images->count);
	for (size_t i = 0; i < images->count; i++)
		pack_image(&images->list[i], blob);
}

static int unpack_children(struct image *image, struct blob_reader *from, struct strings *strings)
{
	int r = 0;

	for (size_t left = blob_get_count(from); !r && left; left--) {
		struct hyb_ended end = {.time = blob_get(from)};

		end.cpu = blob_get(from);
		end.pid = (uint32_t)blob_get(from);
		end.status = (int)(uint32_t)blob_get(from);
		r = add_end(image, &end);
	}
	for (size_t left = blob_get_count(from); !r && left; left--) {
		struct hyb_program program = {.time = blob_get(from)};

		program.pid = (uint32_t)blob_get(from);
		program.unmeasured = (unsigned)blob_get(from);
		program.path = blob_get_text(from);
		r = add_program(image, program, strings);
	}
	return r;
}

static int unpack_image(struct images *images, struct blob_reader *from, struct strings *strings)
{
	struct image *image = add_image(images, blob_get_text(from), strings);
	const char *became = blob_get_text(from);

	if (!image)
		return HYB_ENOMEM;
	image->became = *became ? strings_get(strings, became) : NULL;
	image->experiment = (size_t)blob_get(from);
	image->pid_namespace = blob_get(from);
	image->pid = (uint32_t)blob_get(from);
	image->ppid = (uint32_t)blob_get(from);
	image->number = (uint32_t)blob_get(from);
	image->state = (unsigned)blob_get(from);
	image->selected = blob_get(from) != 0;
	image->running = blob_get(from) != 0;
	image->start = blob_get(from);
	image->end = blob_get(from);
	image->cpu_start = blob_get(from);
	image->cpu_ready = blob_get(from);
	image->cpu_end = blob_get(from);
	image->cpu_children = blob_get(from);
	image->cpu_threads = blob_get(from);
	return unpack_children(image, from, strings);
}

int images_merge(struct images *images, struct blob_reader *from, struct strings *strings)
{
	int r = 0;

	for (size_t left = blob_get_count(from); !r && left; left--)
		r = unpack_image(images, from, strings);
	return r;
}

/* -------------------------------------------------------------- relating */

static int compare_places(const struct image *a, const struct image *b)
{
	return a->experiment != b->experiment ? COMPARE(a->experiment, b->experiment)
					      : strcmp(a->host, b->host);
}

static int compare_numbers(const struct image *a, const struct image *b)
{
	int d = compare_places(a, b);

	if (!d)
		d = COMPARE(a->pid_namespace, b->pid_namespace);
	return d ? d : COMPARE(a->pid, b->pid);
}

static int compare_images(const void *pa, const void *pb)
{
	const struct image *a = pa, *b = pb;
	int d = compare_numbers(a, b);

	return d ? d : COMPARE(a->start, b->start);
}

bool images_goes_on(const struct images *images, size_t i)
{
	const struct image *p = &images->list[i], *before = i ? p - 1 : NULL;

	/* The number may be another process's later. */
	return before && !compare_numbers(before, p) && before->state == HYB_STATE_EXEC &&
	       p->cpu_start >= before->cpu_end;
}

size_t images_last(const struct images *images, size_t i)
{
	while (i + 1 < images->count && images_goes_on(images, i + 1))
		i++;
	return i;
}

/* The last image that a process of this number and namespace had before that moment, or NO_IMAGE. */
static size_t find(const struct images *images, const struct image *where, uint32_t pid, uint64_t time)
{
	struct image key = *where;
	size_t low;

	key.pid = pid;
	key.start = time;
	low = SEARCH(i, images->count, compare_images(&images->list[i], &key) <= 0);
	return low && !compare_numbers(&images->list[low - 1], &key) ? low - 1 : NO_IMAGE;
}

bool images_has_parent(const struct images *images, const struct image *p)
{
	return find(images, p, p->ppid, p->start) != NO_IMAGE;
}

static int compare_parents(const struct image *a, const struct image *b)
{
	int d = compare_places(a, b);

	return d ? d : COMPARE(a->ppid, b->ppid);
}

static int compare_firsts(const void *pa, const void *pb, void *data)
{
	const struct images *images = data;
	const struct image *a = &images->list[*(const size_t *)pa], *b = &images->list[*(const size_t *)pb];
	int d = compare_parents(a, b);

	return d ? d : COMPARE(a->start, b->start);
}

const size_t *images_children(
	const struct images *images, size_t experiment, const char *host, uint32_t pid, size_t *ret_count)
{
	const struct image key = {.experiment = experiment, .host = host, .ppid = pid};
	size_t low = SEARCH(
		i, images->first_count, compare_parents(&images->list[images->by_parent[i]], &key) < 0);
	size_t end = SEARCH(
		i, images->first_count, compare_parents(&images->list[images->by_parent[i]], &key) <= 0);

	*ret_count = end - low;
	return images->by_parent + low;
}

/* Each process is waited for once: a later process with the same number is another one, and was not
 * measured. */
static void found(struct images *images, struct image_end *end, size_t i)
{
	if (i == NO_IMAGE || images->list[i].waited)
		return;
	end->image = i;
	end->end.pid = images->list[i].pid;
	images->list[i].waited = true;
	images->list[i].status = end->end.status;
}

/*
 * The child that ended last of those for whom nobody else has waited: its number is not known if the C
 * library waited, and is another one in the namespace of which it is the first process.
 */
static size_t find_unclaimed(
	const struct images *images, const struct image *parent, const struct hyb_ended *end)
{
	size_t count, best = NO_IMAGE;
	const size_t *children =
		images_children(images, parent->experiment, parent->host, end->pid ? 0 : parent->pid, &count);

	for (size_t i = 0; i < count; i++) {
		size_t last = images_last(images, children[i]);
		const struct image *p = &images->list[last];

		if (!p->waited && p->start <= end->time && p->cpu_end <= end->cpu &&
			(p->pid_namespace == parent->pid_namespace) == !end->pid &&
			(best == NO_IMAGE || p->end > images->list[best].end))
			best = last;
	}
	return best;
}

/* Of any namespace: that of hybrid-run is not known. Without a number it is the one that began first. */
static size_t find_command(const struct images *images, const struct image *hybrid_run, uint32_t pid)
{
	size_t best = NO_IMAGE;

	for (size_t i = 0; i < images->count; i++) {
		const struct image *p = &images->list[i];

		if (!p->hybrid_run && (!pid || p->pid == pid) && !compare_places(p, hybrid_run) &&
			(best == NO_IMAGE || p->start < images->list[best].start))
			best = i;
	}
	return best == NO_IMAGE ? best : images_last(images, best);
}

/* First parents that know the number of the process that they waited for; then the C library; then
 * hybrid-run. */
enum waiter { BY_NUMBER, HIDDEN, COMMAND };

static void relate_ends(struct images *images, struct image *p, enum waiter waiter)
{
	for (size_t j = 0; j < p->end_count && p->hybrid_run == (waiter == COMMAND); j++) {
		struct image_end *end = &p->ends[j];

		if (waiter == COMMAND)
			found(images, end, find_command(images, p, end->end.pid));
		else if (waiter == BY_NUMBER && end->end.pid)
			found(images, end, find(images, p, end->end.pid, end->end.time));
		else if (waiter == HIDDEN && end->image == NO_IMAGE)
			found(images, end, find_unclaimed(images, p, &end->end));
	}
}

int images_relate(struct images *images)
{
	if (!images->count)
		return 0;
	images->by_parent = calloc(images->count, sizeof(*images->by_parent));
	if (!images->by_parent)
		return HYB_ENOMEM;
	qsort(images->list, images->count, sizeof(*images->list), compare_images);
	for (size_t i = 0; i < images->count; i++)
		if (!images->list[i].hybrid_run && !images_goes_on(images, i))
			images->by_parent[images->first_count++] = i;
	qsort_r(images->by_parent, images->first_count, sizeof(*images->by_parent), compare_firsts, images);
	for (enum waiter waiter = BY_NUMBER; waiter <= COMMAND; waiter++)
		for (size_t i = 0; i < images->count; i++)
			relate_ends(images, &images->list[i], waiter);
	return 0;
}

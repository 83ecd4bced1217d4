/* Events of several locations merged by time. */
#include <stdlib.h>

#include "reader/experiment.h"
#include "reader/stream.h"

struct entry {
	struct hyb_event event; /* the stream's next */
	size_t order; /* of its location, for equal times */
	struct stream stream;
};

struct hyb_events {
	struct entry *entries;
	size_t entry_count;
	struct entry **heap; /* the earliest first; NULL for a single location */
	size_t heap_count;
	bool advance; /* the first of the heap was handed out */
};

static bool earlier(const struct entry *a, const struct entry *b)
{
	return a->event.time != b->event.time ? a->event.time < b->event.time : a->order < b->order;
}

static void sift_down(struct hyb_events *events, size_t at)
{
	struct entry **heap = events->heap, *moved = heap[at];
	size_t count = events->heap_count, child;

	while ((child = at * 2 + 1) < count) {
		if (child + 1 < count && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static int fill_heap(struct hyb_events *events)
{
	events->heap = malloc(events->entry_count * sizeof(*events->heap));
	if (!events->heap)
		return HYB_ENOMEM;
	for (size_t i = 0; i < events->entry_count; i++) {
		struct entry *entry = &events->entries[i];
		int result = stream_next(&entry->stream, &entry->event);

		if (result < 0)
			return result;
		if (result)
			events->heap[events->heap_count++] = entry;
	}
	for (size_t i = events->heap_count / 2; i-- > 0;)
		sift_down(events, i);
	return HYB_OK;
}

static int add_stream(struct hyb_events *events, const struct hyb_location_info *location, bool complete)
{
	struct entry *entry = &events->entries[events->entry_count];

	entry->order = events->entry_count++;
	return stream_init(&entry->stream, location, complete);
}

/* Locations without a trace would only cost memory. */
static int add_all(struct hyb_events *events, const struct hyb_experiment *experiment, bool complete)
{
	int error = HYB_OK;

	for (size_t i = 0; i < experiment->process_count; i++) {
		const struct process *process = experiment->processes[i];

		for (size_t k = 0; k < process->info.location_count && !error; k++)
			if (process->locations[k].trace_count)
				error = add_stream(events, &process->info.locations[k], complete);
	}
	return error;
}

static size_t count_locations(const struct hyb_experiment *experiment)
{
	size_t count = 0;

	for (size_t i = 0; i < experiment->process_count; i++)
		count += experiment->processes[i]->info.location_count;
	return count;
}

struct hyb_events *hyb_events_open(struct hyb_experiment *experiment,
	const struct hyb_location_info *location, bool complete, struct hyb_error *err)
{
	struct hyb_events *events = calloc(1, sizeof(*events));
	size_t most = location ? 1 : count_locations(experiment);
	int error = HYB_ENOMEM;

	if (events)
		events->entries = calloc(most + 1, sizeof(*events->entries));
	if (events && events->entries)
		error = location ? add_stream(events, location, complete)
				 : add_all(events, experiment, complete);
	if (!error && events->entry_count > 1)
		error = fill_heap(events);
	if (error) {
		hyb_events_close(events);
		error_set(err, (enum hyb_result)error, "%s: out of memory", experiment->path);
		return NULL;
	}
	return events;
}

static int next_merged(struct hyb_events *events, struct hyb_event *ret)
{
	struct entry *first;

	if (events->advance) {
		int result;

		first = events->heap[0];
		result = stream_next(&first->stream, &first->event);
		if (result < 0)
			return result;
		if (!result)
			events->heap[0] = events->heap[--events->heap_count];
		if (events->heap_count)
			sift_down(events, 0);
	}
	events->advance = events->heap_count > 0;
	if (!events->advance)
		return 0;
	*ret = events->heap[0]->event;
	return 1;
}

int hyb_events_next(struct hyb_events *events, struct hyb_event *ret)
{
	if (events->heap)
		return next_merged(events, ret);
	return events->entry_count ? stream_next(&events->entries[0].stream, ret) : 0;
}

void hyb_events_close(struct hyb_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->entry_count; i++)
		stream_release(&events->entries[i].stream);
	free(events->entries);
	free(events->heap);
	free(events);
}

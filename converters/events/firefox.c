/*
 * The Firefox Profiler: the tree of call paths is its table of stacks. A thread has its samples, each
 * weighing the time that it stands for; one that took none has a sample for each stretch of time between two
 * enters or leaves instead, with its length. Calls of regions and of MPI are markers as well.
 */
#include "converters/events/firefox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "converters/formats.h"
#include "format/format.h"
#include "base/error.h"

#define METRICS 16u /* counters with higher numbers are the program's */
#define COUNTERS 4096u
#define TOO_MANY 3000000u

uint32_t firefox_text(struct firefox *f, const char *text)
{
	uint64_t key = (uintptr_t)text;

	return row_map_number(&f->texts, &key);
}

/* ---------------------------------------------------------------- one thread */

/* Which samples weigh: those of the clock, or where there is none those that the first overflow took. */
static void choose_samples(struct firefox *f)
{
	const struct hyb_location_info *info = f->location->info;

	f->clockless = info->source == HYB_SOURCE_EVENT;
	f->sampled = info->samples && f->job->samples != CONVERT_NONE;
	f->overflow = 0;
	for (uint32_t i = 0; f->clockless && i < info->process->metric_count && !f->overflow; i++)
		if (info->process->metrics[i].period)
			f->overflow = i + 1;
}

static int begin(void *data, const struct events_location *location, uint64_t time)
{
	struct firefox *f = data;

	f->location = location;
	f->begun = f->last = time;
	f->sample_count = f->marker_count = f->depth = 0;
	choose_samples(f);
	return 0;
}

static int add_sample(struct firefox *f, uint64_t time, uint32_t node, uint64_t weight)
{
	return ARRAY_ADD(f->samples, f->sample_count, (struct firefox_sample){time, weight, node})
		       ? 0
		       : HYB_ENOMEM;
}

/* The stretch of time that ends here. */
static int end_stretch(struct firefox *f, uint64_t time)
{
	uint64_t from = f->last;

	f->last = time;
	if (f->sampled || !f->depth || time == from)
		return 0;
	return add_sample(f, from, f->open[f->depth - 1].node, time - from);
}

static int sample(void *data, uint64_t time, uint32_t node, const struct hyb_event *event)
{
	struct firefox *f = data;
	uint64_t each = f->clockless ? 1 : f->location->info->period;

	if (!f->sampled || event->overflow != f->overflow)
		return 0;
	return add_sample(f, time, node, event->weight * each);
}

static int enter(void *data, uint64_t time, uint32_t node)
{
	struct firefox *f = data;
	int r = end_stretch(f, time);

	return ARRAY_ADD(f->open, f->depth, (struct firefox_open){node, time}) ? r : HYB_ENOMEM;
}

static int add_marker(struct firefox *f, uint64_t start, uint64_t end, const char *text, uint8_t category)
{
	uint32_t index = firefox_text(f, text);

	if (index == ROW_NONE || !ARRAY_ROOM(f->markers, f->marker_count))
		return HYB_ENOMEM;
	f->markers[f->marker_count++] = (struct firefox_marker){start, end, index, category};
	return 0;
}

/* Functions are seen in stacks; regions, and calls of MPI, one by one. */
static bool is_marked(const struct firefox *f, uint32_t node)
{
	uint8_t kind = f->walk.kinds[node];

	return kind && kind != HYB_REGION_FUNCTION && kind != HYB_REGION_PYTHON;
}

static int leave(void *data, uint64_t time, uint32_t node)
{
	struct firefox *f = data;
	int r = end_stretch(f, time);
	uint64_t start = f->open[--f->depth].time;

	if (r || !is_marked(f, node))
		return r;
	return add_marker(
		f, start, time, f->walk.nodes[node].name, (uint8_t)events_category_of(&f->walk, node));
}

static int marker(void *data, uint64_t time, const char *text)
{
	struct firefox *f = data;
	const char *own = strings_get(&f->walk.strings, text);

	return own ? add_marker(f, time, time, own, EVENTS_CATEGORIES) : HYB_ENOMEM;
}

static int put_counter(
	void *data, uint64_t time, const struct events_counter *counter, union events_value value)
{
	struct firefox *f = data;
	const struct hyb_process *process = f->location->info->process;
	struct firefox_counter *own;

	if (counter->number >= COUNTERS) { /* the program makes up names without end */
		f->walk.beyond++;
		return 0;
	}
	while (f->own_count <= counter->number) {
		if (!ARRAY_ADD(f->own, f->own_count, (struct firefox_counter){0}))
			return HYB_ENOMEM;
	}
	own = &f->own[counter->number];
	own->name = counter->name;
	own->unit = counter->unit;
	own->level = counter->number >= METRICS || counter->real || process->metrics[counter->number].level;
	return ARRAY_ADD(own->points, own->count,
		       (struct firefox_point){time, counter->real ? value.real : (double)value.integer})
		       ? 0
		       : HYB_ENOMEM;
}

/* ------------------------------------------------------------------- columns */

/* The values of a column, each written by one of the functions below. */
static void put_column(
	struct firefox *f, const char *key, size_t count, void (*put)(struct firefox *f, size_t i))
{
	json_array(&f->json, key);
	for (size_t i = 0; i < count; i++)
		put(f, i);
	json_end(&f->json);
}

static void put_stack(struct firefox *f, size_t i)
{
	if (f->samples[i].node)
		json_number(&f->json, NULL, f->samples[i].node - 1);
	else
		json_null(&f->json, NULL);
}

static void put_sample_time(struct firefox *f, size_t i)
{
	json_decimal(&f->json, NULL, f->samples[i].time, MILLISECONDS);
}

static void put_weight(struct firefox *f, size_t i)
{
	if (f->sampled && f->clockless)
		json_number(&f->json, NULL, f->samples[i].weight);
	else
		json_decimal(&f->json, NULL, f->samples[i].weight, MILLISECONDS);
}

static void put_samples(struct firefox *f)
{
	json_line(&f->json);
	json_object(&f->json, "samples");
	put_column(f, "stack", f->sample_count, put_stack);
	put_column(f, "time", f->sample_count, put_sample_time);
	put_column(f, "weight", f->sample_count, put_weight);
	json_text(&f->json, "weightType", f->sampled && f->clockless ? "samples" : "tracing-ms");
	json_number(&f->json, "length", f->sample_count);
	json_end(&f->json);
}

/* It is no stretch of time. */
static bool is_instant(const struct firefox *f, size_t i)
{
	return f->markers[i].category == EVENTS_CATEGORIES;
}

static void put_marker_data(struct firefox *f, size_t i)
{
	json_object(&f->json, NULL);
	json_text(&f->json, "type", is_instant(f, i) ? "Marker" : "Call");
	json_end(&f->json);
}

static void put_marker_text(struct firefox *f, size_t i)
{
	json_number(&f->json, NULL, f->markers[i].text);
}

static void put_marker_start(struct firefox *f, size_t i)
{
	json_decimal(&f->json, NULL, f->markers[i].start, MILLISECONDS);
}

static void put_marker_end(struct firefox *f, size_t i)
{
	if (is_instant(f, i))
		json_null(&f->json, NULL);
	else
		json_decimal(&f->json, NULL, f->markers[i].end, MILLISECONDS);
}

static void put_marker_phase(struct firefox *f, size_t i)
{
	json_number(&f->json, NULL, !is_instant(f, i));
}

static void put_marker_category(struct firefox *f, size_t i)
{
	json_number(&f->json, NULL, f->markers[i].category);
}

static void put_markers(struct firefox *f)
{
	json_line(&f->json);
	json_object(&f->json, "markers");
	put_column(f, "data", f->marker_count, put_marker_data);
	put_column(f, "name", f->marker_count, put_marker_text);
	put_column(f, "startTime", f->marker_count, put_marker_start);
	put_column(f, "endTime", f->marker_count, put_marker_end);
	put_column(f, "phase", f->marker_count, put_marker_phase);
	put_column(f, "category", f->marker_count, put_marker_category);
	json_number(&f->json, "length", f->marker_count);
	json_end(&f->json);
}

static const char *pid_text(const struct firefox *f, char text[16])
{
	snprintf(text, 16, "%" PRIu32, f->location->pid);
	return text;
}

static void put_names(struct firefox *f, uint64_t end)
{
	const struct hyb_location_info *info = f->location->info;
	struct json *json = &f->json;
	char text[300], pid[16];

	events_thread_name(info, text, sizeof(text));
	json_text(json, "name", text);
	events_process_name(info->process, text, sizeof(text));
	json_text(json, "processName", text);
	json_text(json, "processType", "default");
	json_bool(json, "isMainThread", f->location->first);
	json_text(json, "pid", pid_text(f, pid));
	json_number(json, "tid", f->location->tid);
	json_decimal(json, "processStartupTime", f->begun, MILLISECONDS);
	json_null(json, "processShutdownTime");
	json_decimal(json, "registerTime", f->begun, MILLISECONDS);
	json_decimal(json, "unregisterTime", end, MILLISECONDS);
	json_array(json, "pausedRanges");
	json_end(json);
	json_bool(json, "showMarkersInTimeline", true);
}

/* What goes up only is given as what it grew by, a level as its changes: both are sums of what is written. */
static void save_counter(struct firefox *f, const struct firefox_counter *counter)
{
	struct json *json = &f->counters;
	double before = counter->level ? 0 : counter->points[0].value;
	char pid[16];

	json_row(json);
	json_text(json, "name", counter->name);
	json_text(json, "category", "");
	json_text(json, "description", "");
	json_text(json, "pid", pid_text(f, pid));
	json_number(json, "mainThreadIndex", f->threads);
	json_object(json, "display");
	json_text(json, "graphType", counter->level ? "line-accumulated" : "line-rate");
	json_text(json, "unit", *counter->unit == 'B' ? "bytes" : "");
	json_text(json, "color", "grey");
	json_null(json, "markerSchemaLocation");
	json_number(json, "sortWeight", 50);
	json_text(json, "label", counter->name);
	json_end(json);
	json_object(json, "samples");
	json_array(json, "time");
	for (size_t i = 0; i < counter->count; i++)
		json_decimal(json, NULL, counter->points[i].time, MILLISECONDS);
	json_end(json);
	json_array(json, "count");
	for (size_t i = 0; i < counter->count; i++) {
		json_real(json, NULL, counter->points[i].value - before, 17);
		before = counter->points[i].value;
	}
	json_end(json);
	json_number(json, "length", counter->count);
	json_end(json);
	json_end(json);
}

static void release_counters(struct firefox *f)
{
	for (size_t i = 0; i < f->own_count; i++)
		free(f->own[i].points);
	free(f->own);
	f->own = NULL;
	f->own_count = 0;
}

/* The profiler reads a file whole, into a browser. */
static void count(struct firefox *f)
{
	bool before = f->rows > TOO_MANY;

	f->rows += f->sample_count + f->marker_count;
	if (!before && f->rows > TOO_MANY)
		convert_note(f->job,
			"these are more than 3,000,000 samples and markers, at which the Firefox Profiler "
			"gives up: take --to perfetto, or less with --from, --until or --ranks");
}

static int end(void *data, uint64_t time)
{
	struct firefox *f = data;

	count(f);
	json_row(&f->json);
	put_names(f, time);
	put_samples(f);
	put_markers(f);
	json_end(&f->json);
	for (size_t i = 0; i < f->own_count; i++)
		if (f->own[i].count)
			save_counter(f, &f->own[i]);
	release_counters(f);
	f->threads++;
	return 0;
}

/* ----------------------------------------------------------------------- all */

/* Moves what was kept in a file of its own to where it belongs. */
static int put_counters(struct firefox *f)
{
	FILE *kept = f->counters.out;
	char buffer[16384];
	size_t n;

	if (fflush(kept) || ferror(kept)) /* which rewind() forgets */
		return HYB_EIO;
	json_list(&f->json, "counters");
	rewind(kept);
	while ((n = fread(buffer, 1, sizeof(buffer), kept)) > 0)
		fwrite(buffer, 1, n, f->json.out);
	json_end(&f->json);
	return ferror(kept) ? HYB_EIO : 0;
}

static int run(struct firefox *f, struct hyb_error *err)
{
	const struct events_sink sink = {
		.begin = begin,
		.enter = enter,
		.leave = leave,
		.sample = sample,
		.counter = put_counter,
		.marker = marker,
		.end = end,
		.data = f,
	};
	int r;

	json_object(&f->json, NULL);
	json_array(&f->json, "libs");
	json_end(&f->json);
	json_list(&f->json, "threads");
	r = events_walk_run(&f->walk, &sink, err);
	if (r)
		return r;
	json_end(&f->json);
	if (put_counters(f))
		return error_set(err, HYB_EIO,
			"what is put aside in %s for a while cannot be written there or read again",
			P_tmpdir);
	if (firefox_put_shared(f))
		return convert_no_memory(err);
	firefox_put_meta(f); /* with what was left out */
	json_end(&f->json);
	fputc('\n', f->json.out);
	return convert_check(f->job, err);
}

int firefox_write(const struct convert_job *job, struct hyb_error *err)
{
	struct firefox f = {.job = job,
		.json = {.out = job->file},
		.counters = {.out = tmpfile()},
		.texts = {.row_size = sizeof(uint64_t), .key_size = sizeof(uint64_t)}};
	int r;

	if (!f.counters.out)
		return error_set(
			err, HYB_EIO, "there is no room for a file in %s: %s", P_tmpdir, strerror(errno));
	r = events_walk_make(job, job->mode, &f.walk, err);
	if (!r)
		r = run(&f, err);
	release_counters(&f);
	free(f.samples);
	free(f.markers);
	free(f.open);
	row_map_release(&f.texts);
	events_walk_release(&f.walk);
	fclose(f.counters.out);
	return r;
}

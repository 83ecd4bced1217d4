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

void firefox_put_time(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%06u", ns / 1000000, (unsigned)(ns % 1000000));
}

uint32_t firefox_text(struct firefox *f, const char *text)
{
	uint64_t key = (uintptr_t)text;
	uint64_t *row = table_row(&f->texts, &key);

	return row ? (uint32_t)(row - (uint64_t *)f->texts.rows) : UINT32_MAX;
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
	if (!ARRAY_ROOM(f->samples, f->sample_count))
		return HYB_ENOMEM;
	f->samples[f->sample_count++] = (struct firefox_sample){time, weight, node};
	return 0;
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

	if (!ARRAY_ROOM(f->open, f->depth))
		return HYB_ENOMEM;
	f->open[f->depth++] = (struct firefox_open){node, time};
	return r;
}

static int add_marker(struct firefox *f, uint64_t start, uint64_t end, const char *text, uint8_t category)
{
	uint32_t index = firefox_text(f, text);

	if (index == UINT32_MAX || !ARRAY_ROOM(f->markers, f->marker_count))
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
		if (!ARRAY_ROOM(f->own, f->own_count))
			return HYB_ENOMEM;
		f->own[f->own_count++] = (struct firefox_counter){0};
	}
	own = &f->own[counter->number];
	own->name = counter->name;
	own->unit = counter->unit;
	own->level = counter->number >= METRICS || counter->real || process->metrics[counter->number].level;
	if (!ARRAY_ROOM(own->points, own->count))
		return HYB_ENOMEM;
	own->points[own->count++] =
		(struct firefox_point){time, counter->real ? value.real : (double)value.integer};
	return 0;
}

/* ------------------------------------------------------------------- columns */

/* Numbers of a column, each written by one of the functions below. */
static void put_column(
	struct firefox *f, const char *key, size_t count, void (*put)(struct firefox *f, size_t i))
{
	fprintf(f->out, "\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputc(',', f->out);
		put(f, i);
	}
	fputs("],", f->out);
}

static void put_stack(struct firefox *f, size_t i)
{
	if (f->samples[i].node)
		fprintf(f->out, "%" PRIu32, f->samples[i].node - 1);
	else
		fputs("null", f->out);
}

static void put_sample_time(struct firefox *f, size_t i)
{
	firefox_put_time(f->out, f->samples[i].time);
}

static void put_weight(struct firefox *f, size_t i)
{
	if (f->sampled && f->clockless)
		fprintf(f->out, "%" PRIu64, f->samples[i].weight);
	else
		firefox_put_time(f->out, f->samples[i].weight);
}

static void put_samples(struct firefox *f)
{
	fputs("\"samples\":{", f->out);
	put_column(f, "stack", f->sample_count, put_stack);
	put_column(f, "time", f->sample_count, put_sample_time);
	put_column(f, "weight", f->sample_count, put_weight);
	fprintf(f->out, "\"weightType\":\"%s\",\"length\":%zu},\n",
		f->sampled && f->clockless ? "samples" : "tracing-ms", f->sample_count);
}

static void put_marker_data(struct firefox *f, size_t i)
{
	fputs(f->markers[i].category == EVENTS_CATEGORIES ? "{\"type\":\"Marker\"}" : "{\"type\":\"Call\"}",
		f->out);
}

static void put_marker_text(struct firefox *f, size_t i)
{
	fprintf(f->out, "%" PRIu32, f->markers[i].text);
}

static void put_marker_start(struct firefox *f, size_t i)
{
	firefox_put_time(f->out, f->markers[i].start);
}

static void put_marker_end(struct firefox *f, size_t i)
{
	if (f->markers[i].category == EVENTS_CATEGORIES)
		fputs("null", f->out);
	else
		firefox_put_time(f->out, f->markers[i].end);
}

static void put_marker_phase(struct firefox *f, size_t i)
{
	fputc(f->markers[i].category == EVENTS_CATEGORIES ? '0' : '1', f->out);
}

static void put_marker_category(struct firefox *f, size_t i)
{
	fprintf(f->out, "%u", f->markers[i].category);
}

static void put_markers(struct firefox *f)
{
	fputs("\"markers\":{", f->out);
	put_column(f, "data", f->marker_count, put_marker_data);
	put_column(f, "name", f->marker_count, put_marker_text);
	put_column(f, "startTime", f->marker_count, put_marker_start);
	put_column(f, "endTime", f->marker_count, put_marker_end);
	put_column(f, "phase", f->marker_count, put_marker_phase);
	put_column(f, "category", f->marker_count, put_marker_category);
	fprintf(f->out, "\"length\":%zu}", f->marker_count);
}

static void put_names(const struct firefox *f, uint64_t end)
{
	const struct hyb_location_info *info = f->location->info;
	char text[300];

	fputs(f->threads ? ",\n{\"name\":" : "\n{\"name\":", f->out);
	events_thread_name(info, text, sizeof(text));
	json_string(f->out, text);
	fputs(",\"processName\":", f->out);
	events_process_name(info->process, text, sizeof(text));
	json_string(f->out, text);
	fprintf(f->out,
		",\"processType\":\"default\",\"isMainThread\":%s,\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32,
		f->location->first ? "true" : "false", f->location->pid, f->location->tid);
	fputs(",\"processStartupTime\":", f->out);
	firefox_put_time(f->out, f->begun);
	fputs(",\"processShutdownTime\":null,\"registerTime\":", f->out);
	firefox_put_time(f->out, f->begun);
	fputs(",\"unregisterTime\":", f->out);
	firefox_put_time(f->out, end);
	fputs(",\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n", f->out);
}

/* What goes up only is given as what it grew by, a level as its changes: both are sums of what is written. */
static void save_counter(struct firefox *f, const struct firefox_counter *counter)
{
	FILE *out = f->counters;
	double before = counter->level ? 0 : counter->points[0].value;

	fputs(f->any_counter ? ",\n{\"name\":" : "\n{\"name\":", out);
	f->any_counter = true;
	json_string(out, counter->name);
	fprintf(out,
		",\"category\":\"\",\"description\":\"\",\"pid\":\"%" PRIu32 "\",\"mainThreadIndex\":%zu",
		f->location->pid, f->threads);
	fprintf(out, ",\"display\":{\"graphType\":\"%s\",\"unit\":\"%s\",\"color\":\"grey\"",
		counter->level ? "line-accumulated" : "line-rate", *counter->unit == 'B' ? "bytes" : "");
	fputs(",\"markerSchemaLocation\":null,\"sortWeight\":50,\"label\":", out);
	json_string(out, counter->name);
	fputs("},\"samples\":{\"time\":[", out);
	for (size_t i = 0; i < counter->count; i++) {
		fputs(i ? "," : "", out);
		firefox_put_time(out, counter->points[i].time);
	}
	fputs("],\"count\":[", out);
	for (size_t i = 0; i < counter->count; i++) {
		fprintf(out, "%s%.17g", i ? "," : "", counter->points[i].value - before);
		before = counter->points[i].value;
	}
	fprintf(out, "],\"length\":%zu}}", counter->count);
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
		convert_say(f->job,
			"these are more than 3,000,000 samples and markers, at which the Firefox Profiler "
			"gives up: take --to perfetto, or less with --from, --until or --ranks");
}

static int end(void *data, uint64_t time)
{
	struct firefox *f = data;

	count(f);
	put_names(f, time);
	put_samples(f);
	put_markers(f);
	fputc('}', f->out);
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
	char buffer[16384];
	size_t n;

	if (fflush(f->counters) || ferror(f->counters)) /* which rewind() forgets */
		return HYB_EIO;
	fputs("],\n\"counters\":[", f->out);
	rewind(f->counters);
	while ((n = fread(buffer, 1, sizeof(buffer), f->counters)) > 0)
		fwrite(buffer, 1, n, f->out);
	fputs("],\n", f->out);
	return ferror(f->counters) ? HYB_EIO : 0;
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

	fputs("{\"libs\":[],\n\"threads\":[", f->out);
	r = events_walk_run(&f->walk, &sink, err);
	if (r)
		return r;
	if (put_counters(f))
		return error_set(err, HYB_EIO,
			"what is put aside in %s for a while cannot be written there or read again",
			P_tmpdir);
	if (firefox_put_shared(f))
		return convert_no_memory(err);
	fputs(",\n", f->out);
	firefox_put_meta(f); /* with what was left out */
	fputs("}\n", f->out);
	return convert_check(f->job, err);
}

int firefox_write(const struct convert_job *job, struct hyb_error *err)
{
	struct firefox f = {.job = job,
		.out = job->file,
		.counters = tmpfile(),
		.texts = {.row_size = sizeof(uint64_t), .key_size = sizeof(uint64_t)}};
	int r;

	if (!f.counters)
		return error_set(
			err, HYB_EIO, "there is no room for a file in %s: %s", P_tmpdir, strerror(errno));
	r = events_walk_make(job, job->mode, &f.walk, err);
	if (!r)
		r = run(&f, err);
	release_counters(&f);
	free(f.samples);
	free(f.markers);
	free(f.open);
	table_release(&f.texts);
	events_walk_release(&f.walk);
	fclose(f.counters);
	return r;
}

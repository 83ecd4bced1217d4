/* One file of an import: its processes, and the threads of each, one after the other. */
#include "otf2_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "otf2_thread.h"

#define EVENTS_AT_ONCE (1u << 20)
#define SECOND 1000000000u

static const char *const left_out_names[LEFT_COUNT] = {
	[LEFT_FLUSH] = "BufferFlush",
	[LEFT_FORK] = "Fork and Join",
	[LEFT_LOCK] = "locks",
	[LEFT_TASK] = "tasks",
	[LEFT_TEAM] = "ThreadTeam",
	[LEFT_THREAD] = "ThreadCreate, Begin, Wait and End",
	[LEFT_IO] = "I/O handles",
	[LEFT_UNKNOWN] = "unknown to libotf2",
};

__attribute__((format(printf, 3, 4))) static void note(
	struct import *im, enum hyb_severity severity, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hyb_write_note(im->w, im->d->offset, severity, text);
}

/* ----------------------------------------------------------------- threads */

static const struct job_limit *limit_of(const struct job *job, uint32_t location)
{
	for (uint32_t i = job->limit_count; i-- > 0;)
		if (job->limits[i].location == location)
			return &job->limits[i];
	return NULL;
}

/* How numbers of this location stand to those of the archive, and its clock to the others'. May be missing.
 */
static void read_local_definitions(OTF2_Reader *reader, OTF2_LocationRef ref)
{
	OTF2_DefReader *defs = OTF2_Reader_GetDefReader(reader, ref);
	uint64_t count;

	if (!defs)
		return;
	OTF2_Reader_ReadAllLocalDefinitions(reader, defs, &count);
	OTF2_Reader_CloseDefReader(reader, defs);
}

/* At most `limit` events. Returns what libotf2 returns when it ends early. */
static OTF2_ErrorCode read_events(
	struct import *im, OTF2_Reader *reader, OTF2_EvtReader *events, uint64_t limit, uint64_t *ret_count)
{
	OTF2_EvtReaderCallbacks *callbacks = import_callbacks();
	OTF2_ErrorCode error = OTF2_ERROR_MEM_ALLOC_FAILED;
	uint64_t count = 0, want = 0;

	if (callbacks)
		error = OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, im);
	OTF2_EvtReaderCallbacks_Delete(callbacks);
	/* Behind the end libotf2 would read on. */
	while (!error && count == want && *ret_count < limit && !import_stopped(im)) {
		want = limit - *ret_count < EVENTS_AT_ONCE ? limit - *ret_count : EVENTS_AT_ONCE;
		error = OTF2_Reader_ReadLocalEvents(reader, events, want, &count);
		*ret_count += count;
	}
	return error;
}

/* What is wrong with the thread that is read. */
__attribute__((format(printf, 2, 3))) static void note_thread(struct import *im, const char *format, ...)
{
	char text[384];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	note(im, HYB_NOTE_WARNING, "thread \"%s\" of \"%s\": %s", defs_string(im->d, im->location->name),
		defs_string(im->d, im->process->name), text);
}

static void read_thread(struct import *im, OTF2_Reader *reader, const struct job_limit *limit)
{
	OTF2_ErrorCode error = OTF2_SUCCESS;
	OTF2_EvtReader *events = NULL;
	uint64_t count = 0;

	if (!limit || !limit->skipped) {
		read_local_definitions(reader, im->location_ref);
		events = OTF2_Reader_GetEvtReader(reader, im->location_ref);
	}
	if (events) {
		error = read_events(im, reader, events, limit ? limit->events : UINT64_MAX, &count);
		OTF2_Reader_CloseEvtReader(reader, events);
	}
	thread_end(im);
	if (import_stopped(im))
		return;
	if (limit)
		note_thread(im,
			"libotf2 fails behind event %" PRIu64 " of %" PRIu64
			": what follows is missing; the archive is damaged",
			count, im->location->events);
	else if (!events && im->location->events)
		note_thread(im, "its %" PRIu64 " events are missing: no file of them can be read",
			im->location->events);
	else if (error)
		note_thread(im, "its events end behind number %" PRIu64 " of %" PRIu64 ": %s", count,
			im->location->events, OTF2_Error_GetDescription(error));
	else if (count < im->location->events)
		note_thread(
			im, "only %" PRIu64 " of %" PRIu64 " events are there", count, im->location->events);
}

/* --------------------------------------------------------------- processes */

/* Ticks in ns. */
static bool to_ns(const struct defs *d, uint64_t ticks, uint64_t *ret)
{
	unsigned __int128 ns = (unsigned __int128)ticks * SECOND / d->resolution;

	*ret = (uint64_t)ns;
	return ns <= UINT64_MAX / 4;
}

/* The clock: two moments so far apart that ticks between them are exact. */
static void set_clock(const struct defs *d, struct hyb_header *header, uint64_t start)
{
	uint64_t seconds = d->length / d->resolution + 1, mono, offset;

	header->clock = d->resolution == SECOND ? HYB_CLOCK_MONOTONIC : HYB_CLOCK_TSC;
	header->first = header->last = (struct hyb_anchor){start, start};
	if (!to_ns(d, start, &mono) || !to_ns(d, d->offset, &offset))
		return;
	header->first.mono = header->last.mono = mono;
	if (seconds < UINT64_MAX / 4 / SECOND && start < UINT64_MAX - seconds * d->resolution) {
		header->last.tick += seconds * d->resolution;
		header->last.mono += seconds * SECOND;
	}
	header->realtime = d->realtime ? d->realtime + mono - offset : mono;
}

static struct hyb_header *begin_process(struct import *im, const struct job *job, uint32_t index)
{
	const struct defs *d = im->d;
	const struct generator_def *generator = refs_at(&d->generators, 0);
	struct hyb_header header = {.pid = im->process->pid == UINT64_MAX ? index + 1
									  : (uint32_t)im->process->pid,
				  .state = HYB_STATE_EXITED,
				  .source = generator ? HYB_SOURCE_TIMER : HYB_SOURCE_NONE,
				  .rate = generator && generator->period
						  ? (uint32_t)(SECOND / generator->period)
						  : 0,
				  .trace_events = 1,
				  .trace_limit = UINT64_MAX >> 1,
				  .clock_domain = job->trace | 1},
			  *out;

	set_clock(d, &header, d->offset);
	strncpy(header.host, defs_host(d, im->process), sizeof(header.host) - 1);
	out = hyb_write_process(im->w, &header);
	hyb_write_metadata(im->w, "otf2.creator", job->creator);
	hyb_write_metadata(im->w, "otf2.process", defs_string(d, im->process->name));
	if (im->process->rank != UINT32_MAX)
		hyb_write_world(im->w, &(struct hyb_def_world){.identity = job->trace | 1,
					       .rank = im->process->rank,
					       .size = d->ranks,
					       .tick = d->offset});
	import_define_metrics(im);
	if (job->partial)
		note(im, HYB_NOTE_WARNING,
			"the archive's definitions are damaged: names, communicators or threads may be "
			"missing");
	return out;
}

static void add_note(struct import *im, uint64_t count, const char *key, const char *text)
{
	char number[24];

	if (!count)
		return;
	snprintf(number, sizeof(number), "%" PRIu64, count);
	hyb_write_metadata(im->w, key, number);
	note(im, HYB_NOTE_WARNING, "%s", text);
}

static void end_process(struct import *im)
{
	char names[256] = "", counts[512] = "";
	size_t n = 0, c = 0;

	for (int i = 0; i < LEFT_COUNT; i++) {
		if (!im->left_out[i])
			continue;
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? "; " : "", left_out_names[i]);
		c += (size_t)snprintf(counts + c, sizeof(counts) - c, "%s%" PRIu64 " %s", c ? "; " : "",
			im->left_out[i], left_out_names[i]);
	}
	if (n) {
		hyb_write_metadata(im->w, "otf2.left_out", counts);
		note(im, HYB_NOTE_INFO, "records of the archive that are not shown: %s", names);
	}
	add_note(im, im->backwards, "otf2.backwards",
		"times of events go backwards in the archive: they are moved up");
	add_note(im, im->lost, "otf2.undefined",
		"events refer to regions, communicators or others that the archive does not define: left "
		"out");
}

static bool prepare(struct import *im)
{
	size_t regions = im->d->regions.count + 1;

	im->regions = calloc(regions, sizeof(*im->regions));
	im->frames = calloc(regions, sizeof(*im->frames));
	im->counters = calloc(im->d->members.count + 1, sizeof(*im->counters));
	return im->regions && im->frames && im->counters;
}

/* 0, or an errno. */
static int run_process(const struct job *job, uint32_t index, struct hyb_write *w, OTF2_Reader *reader,
	struct job_state *state)
{
	struct import im = {.d = job->d, .w = w, .progress = &state->events};
	uint64_t start = UINT64_MAX, end = job->d->offset;
	struct hyb_header *header;
	int error;

	im.process = refs_at(&job->d->processes, index);
	im.failed = !prepare(&im);
	header = begin_process(&im, job, index);
	for (uint32_t i = 0; i < im.process->count; i++) {
		uint32_t location = job->d->by_process[im.process->first + i];

		state->done += state->events;
		state->events = 0;
		state->location = location;
		if (!thread_begin(&im, location, i + 1))
			break;
		read_thread(&im, reader, limit_of(job, location));
		if (state->events && im.started < start)
			start = im.started;
		if (im.tick > end)
			end = im.tick;
	}
	end_process(&im);
	if (start != UINT64_MAX)
		set_clock(job->d, header, start);
	header->end = end;
	error = im.failed ? ENOMEM : hyb_write_error(w);
	import_release(&im);
	return error;
}

int job_run(const struct job *job, struct job_state *state)
{
	uint32_t count = (uint32_t)job->d->processes.count;
	OTF2_Reader *reader = OTF2_Reader_Open(job->anchor);
	struct hyb_write *w = hyb_write_new(job->fd, count > job->files);
	int error = w ? 0 : ENOMEM;

	for (uint32_t i = job->number; reader && i < count; i += job->files) {
		const struct process_def *process = refs_at(&job->d->processes, i);

		for (uint32_t k = 0; k < process->count; k++)
			OTF2_Reader_SelectLocation(
				reader, job->d->locations.refs[job->d->by_process[process->first + k]]);
	}
	if (reader) {
		OTF2_Reader_OpenDefFiles(reader);
		OTF2_Reader_OpenEvtFiles(reader);
	}
	for (uint32_t i = job->number; reader && !error && i < count; i += job->files)
		error = run_process(job, i, w, reader, state);
	hyb_write_free(w);
	OTF2_Reader_Close(reader);
	return reader ? error : EIO;
}

/* An OTF2 archive: numbers everything, writes the locations side by side, then the definitions. */
#include "converters/otf2/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <otf2/OTF2_Pthread_Locks.h>

#include "converters/hyb_copy.h"
#include "converters/otf2/state.h"

#define EVENT_CHUNK (1u << 20) /* bytes that a location's writer holds */
#define CHUNKS 2u
#define DEFINITION_CHUNK (4u << 20)

struct workers {
	struct otf2 *o;
	uint32_t *order; /* locations, the longest first */
	atomic_size_t next;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned running; /* under lock */
	struct hyb_error error; /* the first; under lock */
};

static OTF2_FlushType before_flush(
	void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	return OTF2_FLUSH;
}

/* Chunks of a buffer: when no more are to be had OTF2 writes them out, so that memory does not grow. */
struct chunks {
	unsigned count;
	void *chunks[CHUNKS];
};

static void *allocate(void *data, OTF2_FileType type, OTF2_LocationRef location, void **buffer, uint64_t size)
{
	struct chunks *own = *buffer;

	if (!own)
		*buffer = own = calloc(1, sizeof(*own));
	if (!own || own->count == CHUNKS)
		return NULL;
	own->chunks[own->count] = malloc(size);
	return own->chunks[own->count] ? own->chunks[own->count++] : NULL;
}

static void free_all(void *data, OTF2_FileType type, OTF2_LocationRef location, void **buffer, bool final)
{
	struct chunks *own = *buffer;

	while (own && own->count)
		free(own->chunks[--own->count]);
	if (final) {
		free(own);
		*buffer = NULL;
	}
}

static int find_who(struct otf2 *o)
{
	uint32_t location = 0;

	o->process_count = hyb_process_count(o->job->experiment);
	o->processes = calloc(o->process_count + 1, sizeof(*o->processes));
	for (size_t i = 0; i < o->process_count; i++)
		o->location_count += hyb_process_at(o->job->experiment, i)->location_count;
	o->locations = calloc(o->location_count + 1, sizeof(*o->locations));
	if (!o->processes || !o->locations)
		return HYB_ENOMEM;
	for (size_t i = 0; i < o->process_count; i++) {
		struct otf2_process *process = &o->processes[i];

		process->info = hyb_process_at(o->job->experiment, i);
		process->ref = (uint32_t)i;
		process->number = NO_REF;
		process->first = location;
		for (size_t k = 0; k < process->info->location_count; k++) {
			o->locations[location].info = &process->info->locations[k];
			o->locations[location++].process = process;
			o->total += process->info->locations[k].events;
		}
	}
	return 0;
}

/* ---------------------------------------------------------------- events */

static void *work(void *data)
{
	struct workers *workers = data;
	struct otf2 *o = workers->o;
	struct hyb_error err = {0};
	size_t i;

	while ((i = atomic_fetch_add(&workers->next, 1)) < o->location_count && !atomic_load(&o->failed) &&
		!*o->job->stop) {
		int r = otf2_events_write(o, &o->locations[workers->order[i]], &err);

		if (!r)
			continue;
		pthread_mutex_lock(&workers->lock);
		if (!atomic_exchange(&o->failed, r))
			workers->error = err;
		pthread_mutex_unlock(&workers->lock);
	}
	pthread_mutex_lock(&workers->lock);
	workers->running--;
	pthread_cond_signal(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

static void wait_for(struct workers *workers)
{
	struct otf2 *o = workers->o;

	pthread_mutex_lock(&workers->lock);
	while (workers->running) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 200000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&workers->changed, &workers->lock, &until);
		if (o->job->progress)
			o->job->progress(o->job->data, atomic_load(&o->done), o->total);
	}
	pthread_mutex_unlock(&workers->lock);
}

static int compare_lengths(const void *pa, const void *pb, void *data)
{
	const struct otf2 *o = data;
	uint64_t a = o->locations[*(const uint32_t *)pa].info->events;
	uint64_t b = o->locations[*(const uint32_t *)pb].info->events;

	return (a < b) - (a > b);
}

/* Starts at most `wanted` threads; how many. */
static unsigned start_threads(struct workers *workers, pthread_t *threads, unsigned wanted)
{
	unsigned started = 0;

	pthread_mutex_lock(&workers->lock);
	while (started < wanted && !pthread_create(&threads[started], NULL, work, workers))
		started++;
	workers->running = started;
	pthread_mutex_unlock(&workers->lock);
	return started;
}

static int write_events(struct otf2 *o, struct hyb_error *err)
{
	struct workers workers = {
		.o = o, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	unsigned wanted = o->location_count < o->job->threads ? (unsigned)o->location_count : o->job->threads;
	pthread_t *threads = calloc((size_t)wanted + 1, sizeof(*threads));
	unsigned started;

	workers.order = malloc((o->location_count + 1) * sizeof(*workers.order));
	if (!threads || !workers.order) {
		free(threads);
		free(workers.order);
		return HYB_ENOMEM;
	}
	for (uint32_t i = 0; i < o->location_count; i++)
		workers.order[i] = i;
	qsort_r(workers.order, o->location_count, sizeof(*workers.order), compare_lengths, o);
	started = start_threads(&workers, threads, wanted);
	wait_for(&workers);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(workers.order);
	if (wanted && !started)
		return HYB_ENOMEM;
	if (atomic_load(&o->failed))
		*err = workers.error;
	return atomic_load(&o->failed);
}

/* Readers open a file of definitions for each location, too: there is nothing that is not global. */
static int write_local_definitions(struct otf2 *o)
{
	if (OTF2_Archive_OpenDefFiles(o->archive) != OTF2_SUCCESS)
		return HYB_EIO;
	for (size_t i = 0; i < o->location_count && !*o->job->stop; i++) {
		OTF2_DefWriter *out = OTF2_Archive_GetDefWriter(o->archive, i);

		if (!out || OTF2_Archive_CloseDefWriter(o->archive, out) != OTF2_SUCCESS)
			return HYB_EIO;
	}
	return OTF2_Archive_CloseDefFiles(o->archive) == OTF2_SUCCESS ? 0 : HYB_EIO;
}

/* --------------------------------------------------------------- archive */

static int open_archive(struct otf2 *o)
{
	static const OTF2_FlushCallbacks flush = {before_flush, NULL};
	static const OTF2_MemoryCallbacks memory = {allocate, free_all};
	const char *command = hyb_experiment_value(o->job->experiment, "command");

	o->archive = OTF2_Archive_Open(o->job->folder, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK,
		DEFINITION_CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!o->archive || OTF2_Archive_SetFlushCallbacks(o->archive, &flush, NULL) != OTF2_SUCCESS ||
		OTF2_Archive_SetMemoryCallbacks(o->archive, &memory, NULL) != OTF2_SUCCESS ||
		OTF2_Archive_SetSerialCollectiveCallbacks(o->archive) != OTF2_SUCCESS ||
		OTF2_Pthread_Archive_SetLockingCallbacks(o->archive, NULL) != OTF2_SUCCESS ||
		OTF2_Archive_SetCreator(o->archive, "hybrid-convert") != OTF2_SUCCESS ||
		OTF2_Archive_SetDescription(o->archive, command ? command : "") != OTF2_SUCCESS ||
		OTF2_Archive_OpenEvtFiles(o->archive) != OTF2_SUCCESS)
		return HYB_EIO;
	return 0;
}

static void note_count(const struct otf2 *o, const char *format, unsigned long long count)
{
	if (count)
		convert_note(o->job, format, count);
}

static void say_all(struct otf2 *o)
{
	note_count(o, "%llu sends without a receive in the trace were left out",
		atomic_load(&o->totals.lone_sends));
	note_count(o, "%llu receives without a send in the trace were left out",
		atomic_load(&o->totals.lone_receives));
	note_count(o,
		"%llu records of MPI that OTF2 has no words for, or that lack their communicator, were left "
		"out",
		atomic_load(&o->totals.unknown));
	note_count(o,
		"%llu times records are missing from the trace: regions were closed as the records behind "
		"require",
		atomic_load(&o->totals.gaps));
}

/* Writes into the archive, too, what it lacks. 0 or HYB_EIO. */
static int put_notes(const struct otf2 *o)
{
	const struct convert_notes *notes = o->job->notes;
	char name[40];

	for (size_t i = 0; notes && i < notes->count; i++) {
		snprintf(name, sizeof(name), "HYBRID::NOTE_%zu", i + 1);
		if (OTF2_Archive_SetProperty(o->archive, name, notes->lines[i], true) != OTF2_SUCCESS)
			return HYB_EIO;
	}
	return 0;
}

static int write_archive(struct otf2 *o, struct hyb_error *err)
{
	int r = open_archive(o);

	if (!r)
		r = write_events(o, err);
	if (!r && *o->job->stop)
		r = HYB_EIO;
	if (!r && OTF2_Archive_CloseEvtFiles(o->archive) != OTF2_SUCCESS)
		r = HYB_EIO;
	if (!r)
		r = write_local_definitions(o);
	if (!r)
		r = otf2_defs_write(o);
	if (o->markers && OTF2_Archive_CloseMarkerWriter(o->archive, o->markers) != OTF2_SUCCESS && !r)
		r = HYB_EIO;
	if (!r) {
		say_all(o);
		r = put_notes(o);
	}
	if (o->archive && OTF2_Archive_Close(o->archive) != OTF2_SUCCESS && !r)
		r = HYB_EIO;
	return r;
}

static int prepare(struct otf2 *o, struct hyb_error *err)
{
	int r = find_who(o);

	if (!r)
		r = otf2_tree_make(o, err);
	if (!r)
		r = otf2_handles_make(o);
	if (!r)
		r = otf2_metrics_make(o);
	if (!r && o->rank_count)
		r = otf2_match(o, err);
	return r;
}

static void release(struct otf2 *o)
{
	otf2_handles_release(o);
	for (size_t i = 0; i < o->process_count; i++)
		map_release(&o->processes[i].dropped);
	for (size_t i = 0; i < o->location_count; i++)
		for (int k = 0; o->locations && k < 2; k++)
			free(o->locations[i].ends[k].lone);
	otf2_tree_release(o);
	row_map_release(&o->members);
	row_map_release(&o->generators);
	row_map_release(&o->counters);
	strings_release(&o->strings);
	free(o->processes);
	free(o->locations);
}

/* In the process that writes. */
static int write_apart(const struct convert_job *job, struct hyb_error *err)
{
	struct otf2 o = {.job = job, .start = UINT64_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
	int r = prepare(&o, err);

	if (!r)
		r = write_archive(&o, err);
	if (r && !*err->text) {
		err->code = r;
		snprintf(err->text, sizeof(err->text), "%s",
			r == HYB_ENOMEM ? "out of memory" : "the archive cannot be written");
	}
	release(&o);
	return r;
}

int otf2_write(const struct convert_job *job, struct hyb_error *err)
{
	int r = otf2_apart(job, write_apart, err);

	return r ? r : hyb_copy_values(job, err);
}

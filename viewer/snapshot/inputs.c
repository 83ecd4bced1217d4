#include "viewer/snapshot/inputs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "import/input.h"
#include "profile/running.h"

#define READING 300u /* of 1000 that a job counts: so much is the reading of files, */
#define NAMING 800u /* up to here the looking up of names; the rest is for the tree */

/* What callbacks of the reader know. */
struct opening {
	struct job *job;
	volatile sig_atomic_t stop; /* as the job's */
	unsigned from, to; /* permille of what is being done */
	bool live; /* more may begin as long as hybrid-run is at it */
};

/* ------------------------------------------------------------- lifetimes */

static void names_drop(struct names *names)
{
	if (!names || atomic_fetch_sub(&names->references, 1) > 1)
		return;
	hyb_symbols_close(names->symbols);
	free(names);
}

static void source_drop(struct source *source)
{
	if (!source || atomic_fetch_sub(&source->references, 1) > 1)
		return;
	names_drop(source->names); /* in front of the experiment */
	hyb_experiment_close(source->experiment);
	free(source);
}

struct inputs *inputs_keep(struct inputs *inputs)
{
	atomic_fetch_add(&inputs->references, 1);
	return inputs;
}

void inputs_drop(struct inputs *inputs)
{
	if (!inputs || atomic_fetch_sub(&inputs->references, 1) > 1)
		return;
	for (size_t i = 0; i < inputs->count; i++)
		source_drop(inputs->sources[i]);
	free(inputs->sources);
	free(inputs->opened);
	free(inputs);
}

/* --------------------------------------------------------------- opening */

static void show(struct opening *o, uint64_t done, uint64_t total)
{
	o->stop = atomic_load(&o->job->stop);
	if (total)
		atomic_store(&o->job->permille,
			o->from + (unsigned)((double)(o->to - o->from) * (double)done / (double)total));
}

static void show_import(void *data, uint64_t done, uint64_t total)
{
	show(data, done, total);
}

static void show_names(void *data, size_t done, size_t total)
{
	show(data, done, total);
}

static bool is_running(const struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < hyb_process_count(experiment); i++)
		if (process_is_running(hyb_process_at(experiment, i)))
			return true;
	return false;
}

/* Whether the run goes on: hybrid-run has written a beginning, and no end yet. */
static bool has_no_end(const struct hyb_experiment *experiment)
{
	return hyb_experiment_value(experiment, "command") && !hyb_experiment_value(experiment, "status");
}

static struct names *names_new(struct hyb_experiment *experiment, struct opening *o, struct hyb_error *err)
{
	struct hyb_symbols_options options = {.progress = show_names, .data = o, .stop = &o->stop};
	struct names *names = calloc(1, sizeof(*names));

	if (!names) {
		err->code = HYB_ENOMEM;
		snprintf(err->text, sizeof(err->text), "out of memory");
		return NULL;
	}
	atomic_init(&names->references, 1);
	names->symbols = hyb_symbols_open(experiment, &options, err);
	if (names->symbols)
		return names;
	free(names);
	return NULL;
}

/* Names of all code of an experiment: those of `before` are known already. 0, or *err is set. */
static int name(struct source *source, const struct source *before, struct opening *o, struct hyb_error *err)
{
	struct hyb_symbols_options options = {.progress = show_names, .data = o, .stop = &o->stop};
	int r;

	if (before) {
		source->names = before->names;
		atomic_fetch_add(&source->names->references, 1);
		hyb_symbols_attach(source->names->symbols, source->experiment, &options);
	} else {
		source->names = names_new(source->experiment, o, err);
	}
	if (!source->names)
		return err->code;
	r = hyb_symbols_resolve_all(source->names->symbols, err);
	/* what still grows would be written each time */
	if (!r && !source->running && !o->stop)
		hyb_symbols_save(source->names->symbols);
	options = (struct hyb_symbols_options){0}; /* callbacks end with the job */
	hyb_symbols_attach(source->names->symbols, source->experiment, &options);
	return r;
}

static struct source *source_open(
	const char *path, const struct source *before, struct opening *o, struct hyb_error *err)
{
	struct import_watch watch = {.progress = show_import, .data = o, .stop = &o->stop};
	struct source *source = calloc(1, sizeof(*source));
	unsigned from = o->from, to = o->to;

	if (!source) {
		err->code = HYB_ENOMEM;
		snprintf(err->text, sizeof(err->text), "out of memory");
		return NULL;
	}
	atomic_init(&source->references, 1);
	source->read_at = now();
	o->to = from + (to - from) * READING / NAMING;
	if (input_open(path, &watch, &source->experiment, err)) {
		free(source);
		return NULL;
	}
	source->running = is_running(source->experiment);
	/* what ended meanwhile wrote its last words behind us; another program may have followed it */
	source->unfinished =
		source->running || (before && before->running) || (o->live && has_no_end(source->experiment));
	o->from = o->to;
	o->to = to;
	show(o, 0, 1);
	if (!o->stop && !name(source, before, o, err))
		return source;
	source_drop(source);
	return NULL;
}

/* One more of `inputs`; 0, or -1 and *err is set but for a stop. */
static int add(struct inputs *inputs, const struct inputs *before, enum inputs_again again, const char *path,
	struct opening *o, struct hyb_error *err)
{
	size_t i = inputs->count;
	struct source *known = before && i < before->count ? before->sources[i] : NULL;

	if (known && again == INPUTS_UNFINISHED && !known->unfinished) {
		atomic_fetch_add(&known->references, 1);
		inputs->sources[i] = known;
	} else {
		inputs->sources[i] = source_open(path, known, o, err);
	}
	if (!inputs->sources[i])
		return -1;
	inputs->opened[i] =
		(struct session_input){inputs->sources[i]->experiment, inputs->sources[i]->names->symbols};
	if (i < inputs->base_from && inputs->sources[i]->read_at > inputs->read_at)
		inputs->read_at = inputs->sources[i]->read_at;
	inputs->running |= inputs->sources[i]->running;
	inputs->unfinished |= inputs->sources[i]->unfinished;
	inputs->count++;
	return 0;
}

struct inputs *inputs_open(const struct view_options *options, const struct inputs *before,
	enum inputs_again again, struct job *job, char *error, size_t size)
{
	size_t paths = (size_t)options->path_count, count = paths + (options->look.base != NULL);
	struct inputs *inputs = calloc(1, sizeof(*inputs));
	struct opening o = {.job = job, .live = options->live};
	struct hyb_error err = {HYB_ENOMEM, "out of memory"};
	int r = -1;

	if (inputs) {
		atomic_init(&inputs->references, 1);
		inputs->base_from = paths;
		inputs->sources = calloc(count + 1, sizeof(struct source *));
		inputs->opened = calloc(count + 1, sizeof(*inputs->opened));
		r = inputs->sources && inputs->opened ? 0 : -1;
	}
	for (size_t i = 0; !r && i < count; i++) {
		o.from = (unsigned)(NAMING * i / count);
		o.to = (unsigned)(NAMING * (i + 1) / count);
		r = add(inputs, before, again, i < paths ? options->paths[i] : options->look.base, &o, &err);
	}
	if (!r && !atomic_load(&job->stop))
		return inputs;
	snprintf(error, size, "%s", err.text);
	inputs_drop(inputs);
	return NULL;
}

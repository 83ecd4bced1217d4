#include "viewer/model/source_load.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/metrics/figures.h"

static void load_free(struct source_load *load)
{
	if (!load)
		return;
	snapshot_drop(load->snapshot);
	paths_free(load->candidates, load->candidate_count);
	lines_release(&load->lines);
	source_release(&load->source);
	free(load->file);
	free(load->module);
	free(load->path);
	free(load->missing);
	free(load);
}

/* Seconds of real time when the module was made, or (code of Python) when the first process began; 0: not
 * known. */
static int64_t measured_at(const struct source_load *load)
{
	const struct snapshot *snapshot = load->snapshot;
	int64_t start = 0;

	for (size_t i = 0; i < snapshot->location_count; i++) {
		const struct hyb_process *process = snapshot->locations[i]->process;
		int64_t began = ((int64_t)process->start + process->realtime) / 1000000000;

		if (i && snapshot->locations[i - 1]->process == process)
			continue;
		start = !start || began < start ? began : start;
		for (size_t k = 0; !load->python && k < process->module_count; k++)
			if (!strcmp(process->modules[k].path, load->module))
				return process->modules[k].mtime;
	}
	return load->python ? start : 0;
}

static void make_note(struct source_load *load)
{
	const struct source *source = &load->source;
	int64_t measured = measured_at(load);
	char number[FIGURE_SIZE];

	if (measured && source->mtime > measured)
		snprintf(load->note, sizeof(load->note),
			"changed after what was measured %s: lines may differ",
			load->python ? "began" : "was built");
	else if (source->binary)
		snprintf(load->note, sizeof(load->note), "has zero bytes: not a file of text?");
	else if (source->cut)
		snprintf(load->note, sizeof(load->note), "a large file: only the first %s lines are shown",
			figure_number(source->count, number));
}

/* What was looked for in vain. */
static char *describe(const struct source_load *load, const int *errors)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (*load->file == '<') {
		fprintf(out, "%s: code that came from no file\n", load->file);
	} else {
		fprintf(out, "The source is not where it was compiled. Looked for:\n");
		for (size_t i = 0; i < load->candidate_count; i++)
			fprintf(out, "  %s: %s\n", load->candidates[i], strerror(-errors[i]));
		fprintf(out,
			"P asks for OLD=NEW, what its path begins with there and here, or for a folder\n");
		fprintf(out, "to look in; the option --map does the same. What is known of its lines:\n");
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void find(struct source_load *load)
{
	int *errors = calloc(load->candidate_count + 1, sizeof(*errors));
	atomic_bool *stop = &load->job.stop;

	for (size_t i = 0; errors && i < load->candidate_count && !load->path && !atomic_load(stop); i++) {
		errors[i] = source_read(load->candidates[i], stop, &load->source);
		if (!errors[i])
			load->path = strdup(load->candidates[i]);
	}
	if (load->path)
		make_note(load);
	else if (errors && !atomic_load(stop))
		load->missing = describe(load, errors);
	free(errors);
}

static void run(struct job *job)
{
	struct source_load *load = (struct source_load *)((char *)job - offsetof(struct source_load, job));

	if (load->want_lines)
		load->has_lines = !lines_make(load->snapshot->profile, &job->stop, &load->lines);
	find(load);
}

static void done(struct job *job, bool cancelled)
{
	struct source_load *load = (struct source_load *)((char *)job - offsetof(struct source_load, job));

	if (load->owner)
		load->finished(load->owner, cancelled ? NULL : load);
	load_free(load);
}

/* Where a path that is not absolute may begin: where the run began, where the module is, here. */
static char **candidates_of(const struct snapshot *snapshot, const struct paths *paths,
	const struct source_request *request, size_t *ret_count)
{
	const char *slash = strrchr(request->module, '/'), *beside[4];
	char *directory = slash ? strndup(request->module, (size_t)(slash - request->module)) : NULL;
	char **found;
	size_t n = 0;

	if (snapshot->opened_count)
		beside[n++] = hyb_experiment_value(snapshot->opened[0].experiment, "directory");
	if (!n || !beside[0])
		n = 0;
	if (directory)
		beside[n++] = directory;
	beside[n] = NULL;
	found = paths_of(paths, request->file, beside, ret_count);
	free(directory);
	return found;
}

struct source_load *source_load_start(struct work *work, struct snapshot *snapshot, const struct paths *paths,
	const struct source_request *request, void *owner,
	void (*finished)(void *owner, struct source_load *load))
{
	struct source_load *load = calloc(1, sizeof(*load));

	if (!load)
		return NULL;
	load->job.text = "reading source";
	load->job.run = run;
	load->job.done = done;
	load->owner = owner;
	load->finished = finished;
	load->snapshot = snapshot_keep(snapshot);
	load->file = strdup(request->file);
	load->module = strdup(request->module);
	load->python = request->python;
	load->want_lines = request->lines;
	load->candidates = candidates_of(snapshot, paths, request, &load->candidate_count);
	if (!load->file || !load->module || !load->candidates) {
		load_free(load);
		return NULL;
	}
	work_post(work, &load->job);
	return load;
}

void source_load_leave(struct work *work, struct source_load *load)
{
	if (!load)
		return;
	load->owner = NULL;
	work_cancel(work, &load->job);
}

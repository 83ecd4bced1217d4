/* hybrid-convert: hands an experiment on to other tools. */
#include "converters/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "import/input.h"

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

static volatile sig_atomic_t stop; /* the signal that ends us */

static void on_signal(int number)
{
	stop = number;
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal}, before; /* ends waiting for who reads a pipe */

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	signal(SIGXFSZ, SIG_IGN); /* a write that fails is reported as an error */
	sigaction(SIGPIPE, &action, NULL); /* `| head` ends it quietly, whatever was inherited */
}

struct screen {
	const struct convert_options *options;
	struct hyb_experiment *experiment;
	bool progress, quiet;
	bool dirty; /* there is a line to be cleared */
};

static void clear(struct screen *screen)
{
	if (screen->dirty)
		fputs("\r\033[K", stderr);
	screen->dirty = false;
}

static void show_progress(void *data, uint64_t done, uint64_t total)
{
	struct screen *screen = data;

	if (!screen->progress || !total)
		return;
	fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " records, %" PRIu64 " %%", done, total,
		done < total ? done * 100 / total : 100);
	screen->dirty = true;
}

static void print_note(void *data, const char *text)
{
	struct screen *screen = data;

	clear(screen);
	if (!screen->quiet)
		fprintf(stderr, "hybrid-convert: %s\n", text);
}

static int put_quality(void *data, const struct convert_profile *p, struct json *json)
{
	const struct screen *screen = data;

	return convert_put_quality(&screen->options->look.part, screen->experiment, p, &stop, json);
}

static uint64_t count_records(const struct hyb_experiment *experiment)
{
	uint64_t count = 0;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		for (size_t k = 0; k < process->location_count; k++)
			count += process->locations[k].events;
	}
	return count;
}

static bool has_regions(const struct hyb_experiment *experiment)
{
	for (size_t i = 0; i < hyb_process_count(experiment); i++)
		if (hyb_process_at(experiment, i)->trace_events)
			return true;
	return false;
}

/* Whether there is anything to convert. */
static int check(const struct convert_options *options, const struct hyb_experiment *experiment)
{
	if (options->converter->events && !count_records(experiment))
		return convert_failed(
			"%s: has no trace, only a profile; measure again with samples (hybrid-run "
			"-r 1000), or with --trace for exact enters and leaves",
			options->path);
	if (options->converter->events && options->samples == CONVERT_NONE && !has_regions(experiment))
		return convert_failed(
			"%s: has no exact enters and leaves, so that --samples none leaves nothing; "
			"measure again with hybrid-run --trace",
			options->path);
	return 0;
}

static bool is_selected(void *data, const struct hyb_location_info *location)
{
	return selection_has(data, location);
}

/* How much of the experiment takes part, if not all of it; -1: nothing. */
static int check_selection(struct convert_options *options, const struct convert_job *job)
{
	const struct hyb_experiment *experiment = job->experiment;
	uint64_t selected = 0, all = 0;
	char text[500];

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		for (size_t k = 0; k < process->location_count; k++, all++)
			selected += selection_has(&options->look.part, &process->locations[k]);
	}
	if (selected == all)
		return 0;
	if (!selected) {
		selection_nothing(&options->look.part, options->path, text, sizeof(text));
		return convert_failed("%s", text);
	}
	convert_note(job, "%" PRIu64 " of %" PRIu64 " threads are left out", all - selected, all);
	return 0;
}

static unsigned cores(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 && count < 1024 ? (unsigned)count : 1;
}

static int write_output(const struct convert_options *options, struct convert_job *job, struct screen *screen)
{
	struct output output;
	struct hyb_error err;
	int r;

	if (output_begin(&output, options->out, options->converter->kind, options->force))
		return -1;
	job->folder = output.folder;
	job->file = output.file;
	r = options->converter->convert(job, &err);
	clear(screen);
	if (r && !stop && !output_check(&output))
		convert_failed(
			"%s: %s", err.code == HYB_EIO ? output_name(&output) : options->path, err.text);
	else if (!r && !stop)
		r = output_finish(&output);
	if (r || stop)
		output_abandon(&output);
	return r;
}

static int convert(struct convert_options *options, struct hyb_experiment *experiment, struct screen *screen)
{
	struct convert_notes notes = {0};
	struct convert_job job = {
		.experiment = experiment,
		.bounds = {.from = options->from, .to = options->to, .threshold = options->look.threshold},
		.mode = options->look.mode,
		.metric = options->metric,
		.fold = options->fold,
		.samples = options->samples,
		.counters = options->counters,
		.threads = options->threads ? options->threads : cores(),
		.stop = &stop,
		.progress = show_progress,
		.note = print_note,
		.notes = &notes,
		.quality = put_quality,
		.data = screen,
	};
	int r = -1;

	screen->options = options;
	screen->experiment = experiment;
	if (!selection_is_all(&options->look.part)) {
		job.bounds.select = is_selected;
		job.bounds.data = &options->look.part;
	}
	if (!check(options, experiment) && !check_selection(options, &job))
		r = write_output(options, &job, screen);
	convert_notes_release(&notes);
	return r;
}

/* Ends by the signal that asked for it, so that whoever waits for us knows. */
static void end_by_signal(void)
{
	int number = stop;

	signal(number, SIG_DFL);
	raise(number);
}

int main(int argc, char **argv)
{
	struct convert_options options;
	struct hyb_experiment *experiment;
	struct hyb_error err;
	struct screen screen;
	struct import_watch watch = {.progress = show_progress, .data = &screen, .stop = &stop};
	int r = convert_options_parse(&options, argc, argv);

	if (r)
		return r < 0 ? STATUS_USAGE : STATUS_OK;
	catch_signals();
	screen = (struct screen){.progress = !options.quiet && isatty(STDERR_FILENO), .quiet = options.quiet};
	if (input_open(options.path, &watch, &experiment, &err)) {
		clear(&screen);
		convert_failed("%s", err.text);
		return STATUS_FAILED;
	}
	r = convert(&options, experiment, &screen);
	hyb_experiment_close(experiment);
	if (stop)
		end_by_signal();
	return r ? STATUS_FAILED : STATUS_OK;
}

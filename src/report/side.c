#include "side.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/finding.h"
#include "base/now.h"
#include "profile/pack/pack.h"
#include "reader/experiment.h"
#include "quality/facts.h"
#include "files.h"
#include "report/fold/fold.h"
#include "quality/matching.h"

#define SILENT_NS 1000000000 /* what is shorter needs no progress */

/* Of the files of an experiment that a rank was given, or a part of the tree of ranks. */
struct opened {
	size_t processes;
	struct hyb_error first; /* why the first file that cannot be read cannot be read; code 0: all can */
};

/* A rank's part of a side while it is made. */
struct part {
	struct side *side;
	struct opened *opened; /* by experiment */
	bool visible; /* rank 0: a person may wait */
	struct hyb_error error; /* code is not 0: this rank, or one below it in the tree, has failed */
};

/* Keeps the first failure, which is the one that is printed. */
static void fail(struct part *part, int code, const char *text)
{
	if (part->error.code)
		return;
	part->error.code = code ? code : HYB_ENOMEM;
	snprintf(part->error.text, sizeof(part->error.text), "%s", text);
}

/* ---------------------------------------------------------------- opening */

struct progress {
	uint64_t start, last; /* ns; last: of the line on the screen, or 0 */
};

static void show(struct progress *p, const char *what, uint64_t done, uint64_t total)
{
	uint64_t t = now();

	if (t - p->start < SILENT_NS || (p->last && t - p->last < SILENT_NS / 10) || !total)
		return;
	p->last = t;
	fprintf(stderr, "\rhybrid-report: %s, %.0f %%\033[K", what, (double)done * 100 / (double)total);
}

static void show_progress(void *data, size_t done, size_t total)
{
	show(data, "looking up names", done, total);
}

static void show_reading(void *data, uint64_t done, uint64_t total)
{
	show(data, "reading an OTF2 archive", done, total);
}

/* 0, or enum hyb_result with *err set. */
static int open_input(struct part *part, const char *path, const struct files *files, struct opened *opened,
	struct session_input *input)
{
	struct progress progress = {.start = now()};
	struct hyb_symbols_options options = {.data = &progress};
	struct hyb_error *err = &part->error;
	int r;

	if (part->visible && isatty(STDERR_FILENO))
		options.progress = show_progress;
	r = hyb_experiment_open_files(path, files->paths, files->count, &input->experiment, &opened->first);
	if (r) {
		*err = opened->first;
		return r;
	}
	opened->processes = hyb_process_count(input->experiment);
	r = session_name(input->experiment, &options, &input->symbols, err);
	if (progress.last)
		fputs("\r\033[K", stderr);
	return r;
}

static void open_inputs(struct part *part, char *const *paths, const struct files *files, size_t count)
{
	struct report_inputs *inputs = &part->side->inputs;
	struct session_input *items = calloc(count, sizeof(*items));

	inputs->quality.items = items;
	part->opened = calloc(count, sizeof(*part->opened));
	if (!items || !part->opened)
		fail(part, HYB_ENOMEM, "out of memory");
	else
		inputs->quality.count = count;
	for (size_t i = 0; !part->error.code && i < count; i++)
		open_input(part, paths[i], &files[i], &part->opened[i], &items[i]);
}

static void add_all(struct part *part)
{
	struct report_inputs *inputs = &part->side->inputs;
	const struct report_options *o = inputs->options;
	struct profile_options options = report_profile_options(o);

	if (part->error.code || session_add(inputs->quality.items, inputs->quality.count, &options,
					&part->side->profile, &part->error))
		return;
	inputs->quality.facts = facts_gather_part(&inputs->quality);
	if (!inputs->quality.facts)
		fail(part, HYB_ENOMEM, "out of memory");
}

/* ------------------------------------------------------------- the others */

static void put_error(struct blob *to, const struct hyb_error *error)
{
	blob_put(to, (uint64_t) - (int64_t)error->code);
	blob_put_text(to, error->code ? error->text : "");
}

static void get_error(struct blob_reader *from, struct hyb_error *ret)
{
	uint64_t code = blob_get(from);

	ret->code = -(int)code;
	snprintf(ret->text, sizeof(ret->text), "%s", blob_get_text(from));
}

static void give(void *data, struct blob *to)
{
	struct part *part = data;

	put_error(to, &part->error);
	if (part->error.code)
		return;
	for (size_t i = 0; i < part->side->inputs.quality.count; i++) {
		blob_put(to, part->opened[i].processes);
		put_error(to, &part->opened[i].first);
	}
	facts_pack(part->side->inputs.quality.facts, to);
	profile_pack(part->side->profile, to);
}

/* All that a rank has; what is behind it in the order of the files comes behind it here. */
static void take(void *data, const struct blob *blob)
{
	struct part *part = data;
	struct blob_reader from = {blob->data, blob->data + blob->size};
	struct report_inputs *inputs = &part->side->inputs;
	struct hyb_error error;

	get_error(&from, &error);
	if (from.at && error.code)
		fail(part, error.code, error.text);
	if (part->error.code)
		return;
	for (size_t i = 0; i < inputs->quality.count; i++) {
		struct opened *opened = &part->opened[i];

		opened->processes += (size_t)blob_get(&from);
		get_error(&from, &error);
		if (!opened->first.code)
			opened->first = error;
	}
	if (facts_merge(inputs->quality.facts, &from) || profile_merge(part->side->profile, &from))
		fail(part, HYB_ENOMEM, "out of memory");
	if (!from.at)
		fail(part, HYB_EFORMAT, "another rank's part came in pieces: out of memory there?");
}

/* What ranks exchange about clocks: their number, the experiment, and what the reader packed. */
static void put_clocks(const struct part *part, int rank, struct blob *to)
{
	const struct report_inputs *inputs = &part->side->inputs;

	for (size_t i = 0; i < inputs->quality.count; i++) {
		struct blob clocks = {0};

		if (inputs->quality.items[i].experiment)
			experiment_pack_clocks(inputs->quality.items[i].experiment, &clocks);
		blob_put(to, (uint64_t)rank);
		blob_put(to, i);
		blob_put(to, clocks.size);
		blob_put_bytes(to, clocks.data, clocks.size);
		to->failed |= clocks.failed;
		blob_release(&clocks);
	}
}

/* Of experiment e what the others have. */
static struct blob get_clocks(const struct blob *all, int rank, size_t e)
{
	struct blob_reader from = {all->data, all->data + all->size};
	struct blob clocks = {0};

	while (from.at && from.at < from.end) {
		uint64_t whose = blob_get(&from), of = blob_get(&from);
		size_t size = blob_get_count(&from);

		if (from.at && whose != (uint64_t)rank && of == e)
			blob_put_bytes(&clocks, from.at, size);
		from.at = from.at ? from.at + size : NULL;
	}
	return clocks;
}

/* Clocks of several hosts are corrected by what all processes of a host have measured. */
static void correct_clocks(struct part *part, const struct ranks *ranks)
{
	const struct report_inputs *inputs = &part->side->inputs;
	struct blob all = {0};

	put_clocks(part, ranks->rank, &all);
	ranks_exchange(ranks, &all);
	for (size_t i = 0; !part->error.code && i < inputs->quality.count; i++) {
		struct blob others = get_clocks(&all, ranks->rank, i);
		struct blob_reader from = {others.data, others.data + others.size};

		if (others.failed || experiment_correct_clocks(inputs->quality.items[i].experiment, &from))
			fail(part, HYB_ENOMEM, "out of memory");
		blob_release(&others);
	}
	blob_release(&all);
}

static void make_part(struct part *part, const struct ranks *ranks, char *const *paths,
	const struct files *files, size_t count)
{
	open_inputs(part, paths, files, count);
	correct_clocks(part, ranks);
	if (!part->error.code)
		add_all(part);
	ranks_gather(ranks, take, give, part);
}

/* ------------------------------------------------------------------ rank 0 */

/* Computes what needs the files of all ranks. */
static void finish(struct part *part, const struct report_options *o)
{
	struct report_inputs *inputs = &part->side->inputs;
	struct profile *profile = part->side->profile;

	for (size_t i = 0; !part->error.code && i < inputs->quality.count; i++)
		if (!part->opened[i].processes)
			fail(part, part->opened[i].first.code, part->opened[i].first.text);
	if (!part->error.code && facts_finish(inputs->quality.facts, &inputs->quality))
		fail(part, HYB_ENOMEM, "out of memory");
	if (!part->error.code)
		profile_finish(profile, &part->error);
	if (!part->error.code && !selection_is_all(&o->look.part) && !profile_quality(profile)->locations) {
		selection_nothing(&o->look.part, o->paths[0], part->error.text, sizeof(part->error.text));
		part->error.code = HYB_EEMPTY;
	}
}

/* Nothing is open yet. Messages are matched only for views that show them. */
static struct report_inputs inputs_of(const struct report_options *o)
{
	bool asked = o->view == REPORT_QUALITY || o->view == REPORT_UNMATCHED;
	bool never = o->output == REPORT_CSV || o->view == REPORT_FINDINGS;

	return (struct report_inputs){.options = o,
		.quality = {.part = &o->look.part,
			.wish = asked   ? QUALITY_MATCH_ALWAYS
				: never ? QUALITY_MATCH_NEVER
					: QUALITY_MATCH_SMALL}};
}

int side_open(struct side *side, const struct ranks *ranks, const struct report_options *options,
	char *const *paths, size_t count)
{
	struct part part = {.side = side, .visible = true};
	struct progress progress = {.start = now()};
	struct import_watch watch = {
		.progress = isatty(STDERR_FILENO) ? show_reading : NULL, .data = &progress};
	struct files *files = files_share(ranks, paths, count, &watch, &part.error);

	if (progress.last)
		fputs("\r\033[K", stderr);

	side->inputs = inputs_of(options);
	if (files) {
		make_part(&part, ranks, paths, files, count);
		finish(&part, options);
		files_free(files, count);
	}
	free(part.opened);
	return part.error.code ? report_failed(part.error.text) : 0;
}

void side_close(struct side *side)
{
	struct report_inputs *inputs = &side->inputs;

	profile_free(side->profile);
	quality_matching_free(inputs->quality.matching);
	report_fold_free(inputs->fold);
	if (inputs->findings)
		findings_release(inputs->findings);
	free(inputs->findings);
	for (size_t i = 0; i < inputs->quality.count; i++) {
		hyb_symbols_close(inputs->quality.items[i].symbols);
		hyb_experiment_close(inputs->quality.items[i].experiment);
	}
	facts_free(inputs->quality.facts);
	free((void *)inputs->quality.items);
	*side = (struct side){0};
}

void side_dismiss(const struct ranks *ranks)
{
	files_end(ranks);
	ranks_end(ranks);
}

void side_serve(const struct ranks *ranks, const struct report_options *options)
{
	struct files *files;
	char **paths;
	size_t count;

	while (files_receive(ranks, &paths, &files, &count)) {
		struct side side = {.inputs = inputs_of(options)};
		struct part part = {.side = &side};

		make_part(&part, ranks, paths, files, count);
		free(part.opened);
		side_close(&side);
		files_free(files, count);
		hyb_files_free(paths, count);
	}
	ranks_end(ranks);
}

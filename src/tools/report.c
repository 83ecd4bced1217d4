/* hybrid-report: prints the profile of one or more experiments. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/report.h"

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

#define SILENT_NS 1000000000 /* what is shorter needs no progress */

struct progress {
	uint64_t start, last; /* ns; last: of the line on the screen, or 0 */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void show_progress(void *data, size_t done, size_t total)
{
	struct progress *p = data;
	uint64_t t = now();

	if (t - p->start < SILENT_NS || (p->last && t - p->last < SILENT_NS / 10) || !total)
		return;
	p->last = t;
	fprintf(stderr, "\rhybrid-report: looking up names, %zu %%\033[K", done * 100 / total);
}

static int failed(const struct hyb_error *err)
{
	fprintf(stderr, "hybrid-report: %s\n", err->text);
	return -1;
}

static int open_input(const char *path, struct report_input *input)
{
	struct progress progress = {.start = now()};
	struct hyb_symbols_options options = {.data = &progress};
	struct hyb_error err = {0};
	int r;

	if (isatty(STDERR_FILENO))
		options.progress = show_progress;
	if (hyb_experiment_open(path, &input->experiment, &err))
		return failed(&err);
	input->symbols = hyb_symbols_open(input->experiment, &options, &err);
	if (!input->symbols)
		return failed(&err);
	r = hyb_symbols_resolve_all(input->symbols, &err);
	if (progress.last)
		fputs("\r\033[K", stderr);
	return r ? failed(&err) : 0;
}

static void inputs_close(struct report_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++) {
		hyb_symbols_close(inputs->items[i].symbols);
		hyb_experiment_close(inputs->items[i].experiment);
	}
	free(inputs->items);
	inputs->items = NULL;
}

static int inputs_open(struct report_inputs *inputs, char *const *paths, size_t count)
{
	inputs->items = calloc(count, sizeof(*inputs->items));
	if (!inputs->items)
		return failed(&(struct hyb_error){.text = "out of memory"});
	for (; inputs->count < count; inputs->count++) {
		if (open_input(paths[inputs->count], &inputs->items[inputs->count])) {
			inputs->count++; /* closed even if it is open by half */
			return -1;
		}
	}
	return 0;
}

static int make_profile(const struct report_inputs *inputs, struct profile **ret)
{
	const struct report_options *o = inputs->options;
	struct profile_options options = {.mode = o->mode,
		.sort = o->sort,
		.split_locations = o->split,
		.python_internals = o->python_internals};
	struct hyb_error err = {.text = "out of memory"};
	struct profile *profile;
	int r = 0;

	if (o->process || o->thread) {
		options.select = report_is_selected;
		options.data = (void *)o;
	}
	profile = profile_new(&options);
	if (!profile)
		return failed(&err);
	for (size_t i = 0; !r && i < inputs->count; i++)
		r = profile_add(profile, inputs->items[i].experiment, inputs->items[i].symbols, &err);
	if (!r)
		r = profile_finish(profile, &err);
	if (!r && options.select && !profile_quality(profile)->locations) {
		snprintf(err.text, sizeof(err.text),
			"no such process or thread in %.300s; --flat=thread shows which there are",
			o->paths[0]);
		r = -1;
	}
	if (r) {
		profile_free(profile);
		return failed(&err);
	}
	*ret = profile;
	return 0;
}

/* The view itself, as text, JSON or CSV. 0 or HYB_ENOMEM. */
static int print_nodes(
	struct style *style, const struct report_options *o, const struct profile_node *nodes, size_t count)
{
	switch (o->output) {
	case REPORT_JSON:
		return report_json_tree(style->out, o, nodes, count);
	case REPORT_CSV:
		return report_csv_tree(style->out, o, nodes, count);
	case REPORT_TEXT:
		break;
	}
	return report_tree(style, o, nodes, count);
}

static int print_tree(struct style *style, const struct report_options *o, const struct profile *profile)
{
	int r = o->output == REPORT_TEXT ? report_hot(style, profile) : 0;

	return r ? r : print_nodes(style, o, profile_nodes(profile), profile_count(profile));
}

static int print_reverse(struct style *style, const struct report_options *o, const struct profile *profile)
{
	struct profile_tree tree;
	int r = profile_reverse(profile, &tree);

	if (r)
		return r;
	r = print_nodes(style, o, tree.nodes, tree.count);
	profile_tree_release(&tree);
	return r;
}

static int print_flat(struct style *style, const struct report_options *o, const struct profile *profile)
{
	struct profile_flat flat;
	int r = profile_flat(profile, o->by, o->sort, &flat);

	if (r)
		return r;
	if (o->output == REPORT_JSON)
		report_json_rows(style->out, o, &flat);
	else if (o->output == REPORT_CSV)
		report_csv_rows(style->out, o, &flat);
	else
		report_flat(style, o, &flat);
	profile_flat_release(&flat);
	return 0;
}

static int print_diff(struct style *style, const struct report_options *o, const struct profile *base,
	const struct profile *profile)
{
	struct profile_diff *diff = profile_diff_new(base, profile);
	int r;

	if (!diff)
		return HYB_ENOMEM;
	if (o->output == REPORT_JSON)
		r = report_json_diff(style->out, o, diff);
	else if (o->output == REPORT_CSV)
		r = report_csv_diff(style->out, o, diff);
	else
		r = report_diff(style, o, diff);
	profile_diff_free(diff);
	return r;
}

/* Where a report comes from: what is shown, and what it is compared with. */
struct side {
	struct report_inputs inputs;
	struct profile *profile;
};

static int side_open(struct side *side, const struct report_options *o, char *const *paths, size_t count)
{
	side->inputs.options = o;
	return inputs_open(&side->inputs, paths, count) || make_profile(&side->inputs, &side->profile) ? -1
												       : 0;
}

static void side_close(struct side *side)
{
	profile_free(side->profile);
	inputs_close(&side->inputs);
}

static void print_qualities(
	struct style *style, const struct report_options *o, const struct side *base, const struct side *side)
{
	if (o->output == REPORT_JSON) {
		report_json_begin(style->out);
		report_json_quality(style->out, "quality", &side->inputs, side->profile);
		if (o->base)
			report_json_quality(style->out, "base_quality", &base->inputs, base->profile);
	} else if (o->output == REPORT_TEXT) {
		if (o->base) {
			fputs("before:\n", style->out);
			report_quality(style, &base->inputs, base->profile);
			fputs("\nafter:\n", style->out);
		}
		report_quality(style, &side->inputs, side->profile);
	}
}

static int print_report(const struct report_options *o, const struct side *base, const struct side *side)
{
	struct style style;
	int r = 0;

	style_init(&style, o);
	print_qualities(&style, o, base, side);
	if (o->view == REPORT_QUALITY)
		r = 0;
	else if (o->base)
		r = print_diff(&style, o, base->profile, side->profile);
	else if (o->view == REPORT_REVERSE)
		r = print_reverse(&style, o, side->profile);
	else if (o->view == REPORT_FLAT)
		r = print_flat(&style, o, side->profile);
	else
		r = print_tree(&style, o, side->profile);
	if (o->view != REPORT_QUALITY && !o->base && o->output == REPORT_TEXT)
		report_awaits(&style, side->profile);
	if (o->view != REPORT_QUALITY && !o->base && o->output == REPORT_JSON)
		report_json_awaits(style.out, side->profile);
	if (o->output == REPORT_JSON)
		report_json_end(style.out);
	if (r)
		return failed(&(struct hyb_error){.text = "out of memory"});
	if (fflush(style.out) || ferror(style.out)) {
		fprintf(stderr, "hybrid-report: cannot write standard output: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct report_options options;
	struct side base = {0}, side = {0};
	int r;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_DFL); /* `| head` ends it quietly, whatever was inherited */
	r = report_options_parse(&options, argc, argv);
	if (r)
		return r < 0 ? STATUS_USAGE : STATUS_OK;
	if (options.base)
		r = side_open(&base, &options, (char *const *)&options.base, 1);
	if (!r)
		r = side_open(&side, &options, options.paths, (size_t)options.path_count);
	if (!r)
		r = print_report(&options, &base, &side);
	side_close(&side);
	side_close(&base);
	return r ? STATUS_FAILED : STATUS_OK;
}

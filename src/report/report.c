/* hybrid-report: prints the profile of one or more experiments. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report/fold/fold.h"
#include "import/input.h"
#include "quality/matching.h"
#include "sheet.h"
#include "side.h"

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

/* A tree or a table as text, JSON or CSV. 0 or HYB_ENOMEM. */
static int print_nodes(struct style *style, struct sheet *sheet)
{
	switch (sheet->options->output) {
	case REPORT_JSON:
		return (sheet->is_tree ? report_json_tree : report_json_rows)(&style->json, sheet);
	case REPORT_CSV:
		return (sheet->is_tree ? report_csv_tree : report_csv_rows)(style->out, sheet);
	case REPORT_TEXT:
		break;
	}
	return (sheet->is_tree ? report_tree : report_flat)(style, sheet);
}

/* Whether rows are ordered by the first metric that was asked for. */
static bool is_ordered(const struct report_options *o, const struct column_set *set)
{
	return set->shown_count && o->sort <= PROFILE_SORT_EXCLUSIVE;
}

static struct sheet sheet_of(
	const struct report_options *o, const struct column_set *set, const struct profile *profile)
{
	return (struct sheet){.options = o,
		.set = set,
		.nodes = profile_nodes(profile),
		.values = profile_values(profile),
		.count = profile_count(profile),
		.is_tree = true};
}

static int print_sheet(struct style *style, struct sheet *sheet)
{
	int r = sheet_make(sheet);

	if (!r)
		r = print_nodes(style, sheet);
	sheet_release(sheet);
	return r;
}

static int print_tree(struct style *style, const struct report_options *o, const struct column_set *set,
	struct profile *profile)
{
	const struct report_over over = {.spreads = profile_spreads(profile),
		.ranks = profile_quality(profile)->ranks,
		.metric = *o->over_metric ? o->over_metric : NULL};
	struct sheet sheet;
	double *weights;
	int r = o->output == REPORT_TEXT ? report_hot(style, o, set, profile) : 0;

	if (!r && is_ordered(o, set)) {
		weights = sheet_weights(sheet_of(o, set, profile), o->sort == PROFILE_SORT_EXCLUSIVE);
		r = weights ? profile_order(profile, weights) : HYB_ENOMEM;
		free(weights);
	}
	if (r)
		return r;
	sheet = sheet_of(o, set, profile);
	sheet.over = o->over_ranks ? &over : NULL;
	return print_sheet(style, &sheet);
}

/* A reverse tree, or a table. */
static int print_view(struct style *style, const struct report_options *o, const struct column_set *set,
	const struct profile *profile)
{
	struct sheet sheet = {.options = o, .set = set, .is_tree = o->view == REPORT_REVERSE};
	struct profile_tree view;
	double *weights;
	int r = sheet.is_tree ? profile_reverse(profile, &view)
			      : profile_flat(profile, o->by, o->sort, &view);

	if (r)
		return r;
	sheet.count = view.count;
	sheet.nodes = view.nodes;
	sheet.values = view.values;
	if (is_ordered(o, set)) {
		weights = sheet_weights(sheet, !sheet.is_tree && o->sort != PROFILE_SORT_INCLUSIVE);
		r = !weights ? HYB_ENOMEM
			     : (sheet.is_tree ? profile_tree_order : profile_flat_order)(&view, weights);
		free(weights);
		sheet.nodes = view.nodes;
		sheet.values = view.values;
	}
	if (!r)
		r = print_sheet(style, &sheet);
	profile_tree_release(&view);
	return r;
}

static int print_diff(struct style *style, const struct report_options *o, const struct column_set *set,
	struct profile_diff *diff)
{
	struct difference d;
	int r = difference_make(&d, o, diff, set);

	if (r)
		return r;
	r = print_nodes(style, &d.after);
	difference_release(&d);
	return r;
}

static void print_qualities(
	struct style *style, const struct report_options *o, const struct side *base, const struct side *side)
{
	if (o->output == REPORT_JSON) {
		json_object(&style->json, NULL);
		json_text(&style->json, "hybrid", HYBRID_VERSION);
		quality_json(&style->json, "quality", &side->inputs.quality, side->profile);
		if (o->look.base)
			quality_json(&style->json, "base_quality", &base->inputs.quality, base->profile);
	} else if (o->output == REPORT_TEXT) {
		if (o->look.base) {
			fputs("before:\n", style->out);
			report_quality(style, &base->inputs.quality, base->profile);
			fputs("\nafter:\n", style->out);
		}
		report_quality(style, &side->inputs.quality, side->profile);
	}
}

static void print_fold(struct style *style, const struct report_options *o, const struct report_fold *fold)
{
	if (o->output == REPORT_JSON)
		report_fold_json(&style->json, fold);
	else if (o->output == REPORT_CSV)
		report_fold_csv(style->out, fold);
	else
		report_fold_text(style, fold);
}

/* What columns are made of: of a difference what both sides have. */
static const struct profile_metric *metrics_of(
	const struct side *side, const struct profile_diff *diff, size_t *ret_count)
{
	return diff ? profile_diff_metrics(diff, ret_count) : profile_metrics(side->profile, ret_count);
}

static int choose_columns(struct column_set *set, const struct report_options *o, const struct side *side,
	const struct profile_diff *diff)
{
	size_t count;
	const struct profile_metric *metrics = metrics_of(side, diff, &count);

	return report_columns(set, o, metrics, count);
}

/* `diff`: NULL without a base. */
static int print_report(const struct report_options *o, const struct side *base, const struct side *side,
	struct profile_diff *diff, const struct column_set *set)
{
	struct style style;
	size_t count;
	int r = 0;

	style_init(&style, o);
	print_qualities(&style, o, base, side);
	if (o->output == REPORT_JSON)
		report_json_metrics(&style.json, set, metrics_of(side, diff, &count));
	if (o->view == REPORT_QUALITY)
		r = 0;
	else if (o->look.base)
		r = print_diff(&style, o, set, diff);
	else if (o->view == REPORT_REVERSE || o->view == REPORT_FLAT)
		r = print_view(&style, o, set, side->profile);
	else if (o->view == REPORT_MPI)
		r = report_mpi(&style, o, side->profile);
	else if (o->view == REPORT_MESSAGES)
		r = report_messages(&style, o, side->profile);
	else if (o->view == REPORT_RANKS)
		r = report_ranks(&style, o, side->profile);
	else if (o->view == REPORT_UNMATCHED)
		report_unmatched(&style, o, &side->inputs.quality);
	else if (o->view == REPORT_FOLD)
		print_fold(&style, o, side->inputs.fold);
	else if (o->view == REPORT_FINDINGS)
		report_findings(&style, o, &side->inputs, side->profile);
	else
		r = print_tree(&style, o, set, side->profile);
	if (o->view <= REPORT_FLAT && !o->look.base && o->output == REPORT_TEXT)
		report_awaits(&style, side->profile);
	if (o->view <= REPORT_FLAT && !o->look.base && o->output == REPORT_JSON)
		report_json_awaits(&style.json, side->profile);
	if (o->output == REPORT_JSON) {
		json_end(&style.json);
		fputc('\n', style.out);
	}
	if (r)
		return report_failed("out of memory");
	if (fflush(style.out) || ferror(style.out)) {
		fprintf(stderr, "hybrid-report: cannot write standard output: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

/* Messages between all ranks: by rank 0 alone, from all files. */
static int match(struct side *side, const struct ranks *ranks)
{
	if (!side->profile) /* there is nothing to compare with */
		return 0;
	side->inputs.quality.matching = quality_matching_make(&side->inputs.quality, ranks->mpi, NULL);
	return side->inputs.quality.matching ? 0 : HYB_ENOMEM;
}

/* 0, or -1 after a line on stderr. */
static int fold(struct side *side)
{
	const struct report_options *o = side->inputs.options;
	struct hyb_error err;
	char text[600];

	side->inputs.fold = report_fold_make(&side->inputs, side->profile, &err);
	if (!side->inputs.fold)
		return *err.text ? report_failed(err.text) : -1;
	if (!o->fold_svg || !report_fold_svg(side->inputs.fold, o->fold_svg))
		return 0;
	snprintf(text, sizeof(text), "cannot write %.400s: %s", o->fold_svg, strerror(errno));
	return report_failed(text);
}

/* 0, or -1 after a line on stderr. */
static int find(struct side *side)
{
	struct hyb_error err;

	if (!report_findings_make(&side->inputs, side->profile, &err))
		return 0;
	return report_failed(err.code ? err.text : "out of memory");
}

/* What rank 0, or the only one, does. */
static int report(const struct report_options *options, const struct ranks *ranks)
{
	struct side base = {0}, side = {0};
	struct profile_diff *diff = NULL;
	struct column_set set = {0};
	const struct profile_metric *metrics;
	bool wrong = false;
	size_t count;
	int r = 0;

	if (options->look.base)
		r = side_open(&base, ranks, options, (char *const *)&options->look.base, 1);
	if (!r)
		r = side_open(&side, ranks, options, options->paths, (size_t)options->path_count);
	side_dismiss(ranks);
	if (!r && (match(&base, ranks) || match(&side, ranks)))
		r = report_failed("out of memory");
	if (!r && options->view == REPORT_FOLD)
		r = fold(&side);
	if (!r && options->view == REPORT_FINDINGS)
		r = find(&side);
	if (!r && options->look.base) {
		diff = profile_diff_new(base.profile, side.profile);
		r = diff ? 0 : report_failed("out of memory");
	}
	if (!r && options->list_metrics) {
		metrics = metrics_of(&side, diff, &count);
		report_list_metrics(metrics, count);
	} else if (!r) {
		r = choose_columns(&set, options, &side, diff);
		wrong = r;
	}
	if (!r && !options->list_metrics)
		r = print_report(options, &base, &side, diff, &set);
	columns_release(&set);
	profile_diff_free(diff);
	side_close(&side);
	side_close(&base);
	return wrong ? STATUS_USAGE : r ? STATUS_FAILED : STATUS_OK;
}

/* Its files are of one process only. */
static bool has_archive(const struct report_options *o)
{
	bool found = o->look.base && input_is_archive(o->look.base);

	for (int i = 0; !found && i < o->path_count; i++)
		found = input_is_archive(o->paths[i]);
	return found;
}

int main(int argc, char **argv)
{
	struct report_options options;
	struct ranks ranks;
	int r;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_DFL); /* `| head` ends it quietly, whatever was inherited */
	ranks_find(&ranks);
	if (ranks.rank && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
		return STATUS_FAILED; /* rank 0 speaks for all */
	r = report_options_parse(&options, argc, argv);
	if (r)
		return r < 0 && !ranks.rank ? STATUS_USAGE : STATUS_OK;
	/* Folding and analyses need all files at hand. */
	if (options.serial || has_archive(&options) || options.view >= REPORT_FOLD)
		ranks_alone(&ranks);
	else
		ranks_begin(&ranks);
	if (ranks.idle)
		return STATUS_OK;
	if (!ranks.rank)
		return report(&options, &ranks);
	side_serve(&ranks, &options);
	return STATUS_OK;
}

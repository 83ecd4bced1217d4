#include "fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "format/format.h"
#include "report/sheet.h"

struct making {
	const struct report_inputs *inputs;
	struct report_fold *fold;
	const struct profile_part *parts; /* their nodes: what of them is below the region */
	size_t part_count, next;
	struct hyb_error *err;
};

/* ---------------------------------------------------------------------- places */

static bool is_selected(void *data, const struct hyb_location_info *location)
{
	const struct making *m = data;

	return selection_has(&m->inputs->options->look.part, location);
}

/* A profile that needs no figures, and so is not finished. */
static int add_inputs(struct making *m)
{
	struct profile_options options = report_profile_options(m->inputs->options);
	int r;

	options.spreads = options.traffic = options.split_locations = options.split_ranks = false;
	options.select = is_selected;
	options.parts = true;
	options.data = m;
	r = session_add(
		m->inputs->quality.items, m->inputs->quality.count, &options, &m->fold->profile, m->err);
	if (r)
		return r;
	m->parts = profile_parts(m->fold->profile, &m->part_count);
	return 0;
}

static bool is_region(const struct report_fold *fold, const struct profile_node *n)
{
	return n->kind == PROFILE_PROBE && !strcmp(n->name, fold->region.name) &&
	       !strcmp(n->file, fold->region.file) && n->line == fold->region.line;
}

/* Puts what is below the region on its call paths together; elsewhere is FOLD_NOWHERE. */
static int find_below(struct making *m)
{
	struct report_fold *fold = m->fold;
	const struct profile_node *nodes = profile_nodes(fold->profile);
	size_t count = profile_count(fold->profile);
	uint32_t *to = malloc((count + 1) * sizeof(*to));
	int r = to ? 0 : HYB_ENOMEM;

	for (size_t i = 0; !r && i < count; i++) {
		to[i] = i ? to[nodes[i].parent] : FOLD_NOWHERE;
		if (to[i] != FOLD_NOWHERE) {
			to[i] = tree_child(&fold->below, to[i], &nodes[i]);
			r = to[i] ? 0 : HYB_ENOMEM;
		} else if (is_region(fold, &nodes[i])) {
			to[i] = 0;
		}
	}
	for (size_t l = 0; !r && l < m->part_count; l++)
		for (size_t i = 0; i < m->parts[l].location->node_count; i++)
			m->parts[l].nodes[i] = to[m->parts[l].nodes[i]];
	free(to);
	return r;
}

/* Called for each part in the order of `parts`, in two passes. */
static const uint32_t *places_of(void *data, const struct hyb_location_info *location)
{
	struct making *m = data;

	for (size_t i = 0; i < m->part_count; i++) {
		const struct profile_part *p = &m->parts[(m->next + i) % m->part_count];

		if (p->location != location)
			continue;
		m->next += i + 1;
		return p->nodes;
	}
	return NULL;
}

/* ---------------------------------------------------------------------- making */

static int fold_region(struct making *m)
{
	size_t count = m->inputs->quality.count;
	struct hyb_experiment **experiments = calloc(count, sizeof(struct hyb_experiment *));
	struct fold_request request = {.spread = m->inputs->options->fold_spread,
		.places = places_of,
		.data = m,
		.place_count = (uint32_t)m->fold->below.count,
		.region = 0,
		.along = m->inputs->options->fold_along};
	int r = HYB_ENOMEM;

	if (experiments) {
		for (size_t i = 0; i < count; i++)
			experiments[i] = m->inputs->quality.items[i].experiment;
		r = fold_make(experiments, count, &request, &m->fold->fold, m->err);
	}
	free(experiments);
	return r ? r : report_fold_columns(m->fold, m->inputs->options->look.metric_count > 0);
}

/* Whether there is anything to show. */
static int check(struct making *m)
{
	const struct fold *fold = &m->fold->fold;
	char n[FIGURE_SIZE];

	if (!fold->kept.count && !fold->aside.count)
		return error_set(m->err, HYB_EEMPTY,
			"--fold %.100s: none of its instances is in the trace with its start and its end; "
			"measure with hybrid-run --trace",
			m->inputs->options->fold);
	if (fold->samples)
		return 0;
	return error_set(m->err, HYB_EEMPTY,
		"--fold %.100s: no sample was taken in %s instance%s%s; sample more often (hybrid-run -r), "
		"or run longer",
		m->inputs->options->fold, figure_number(fold->kept.count, n), text_plural(fold->kept.count),
		fold->aside.count ? ", others were set aside (--fold-outliers 0 takes all)" : "");
}

/* The line about what is wrong was printed. */
static int choose_columns(struct making *m, const struct profile *profile)
{
	size_t count;
	const struct profile_metric *metrics = profile_metrics(profile, &count);
	int r = report_columns(&m->fold->set, m->inputs->options, metrics, count);

	return r == -1 ? error_set(m->err, HYB_EEMPTY, "%s", "") : r;
}

/* The metric that is to be taken for time is there, and grows as time does. */
static int check_along(struct making *m)
{
	const char *wanted = m->inputs->options->fold_along;
	bool known = !wanted, timely = !wanted;
	const char *names[HYB_METRICS_MAX];
	size_t count = 0;
	char similar[256] = "";

	for (size_t i = 0; i < m->inputs->quality.count; i++)
		for (size_t p = 0; p < hyb_process_count(m->inputs->quality.items[i].experiment); p++) {
			const struct hyb_process *process =
				hyb_process_at(m->inputs->quality.items[i].experiment, p);

			for (size_t k = 0; wanted && k < process->metric_count; k++) {
				const struct hyb_metric *metric = &process->metrics[k];

				if (count < HYB_METRICS_MAX)
					names[count++] = metric->name;
				if (strcmp(metric->name, wanted) != 0)
					continue;
				known = true;
				timely |= !metric->level && !strcmp(metric->unit, "ns");
			}
		}
	if (!known) {
		nearest_put(similar, sizeof(similar), wanted, names, count);
		return error_set(m->err, HYB_EEMPTY,
			"--fold-along %.100s: that was not measured%s; measure with hybrid-run -m %.100s",
			wanted, similar, wanted);
	}
	if (!timely)
		return error_set(m->err, HYB_EEMPTY,
			"--fold-along %.200s: that is no time; give one in ns, as perf::TASK-CLOCK", wanted);
	return 0;
}

static int make(struct making *m, const struct profile *profile)
{
	const struct profile_node *region;
	int r = tree_init(&m->fold->below, "");

	if (!r)
		r = choose_columns(m, profile);
	if (!r)
		r = check_along(m);
	if (r)
		return r;
	region = report_fold_region(profile, m->inputs->options->fold, m->err);
	if (!region)
		return m->err->code;
	m->fold->region = *region;
	r = add_inputs(m);
	if (!r)
		r = find_below(m);
	if (!r)
		r = fold_region(m);
	return r ? r : check(m);
}

struct report_fold *report_fold_make(
	const struct report_inputs *inputs, const struct profile *profile, struct hyb_error *err)
{
	struct report_fold *fold = calloc(1, sizeof(*fold));
	struct making m = {.inputs = inputs, .fold = fold, .err = err};
	int r;

	err->code = 0;
	if (fold)
		fold->along = inputs->options->fold_along;
	r = fold ? make(&m, profile) : HYB_ENOMEM;
	if (!r)
		return fold;
	if (!err->code)
		error_set(err, r, "out of memory");
	report_fold_free(fold);
	return NULL;
}

void report_fold_free(struct report_fold *fold)
{
	if (!fold)
		return;
	fold_release(&fold->fold);
	tree_release(&fold->below);
	columns_release(&fold->set);
	profile_free(fold->profile);
	free(fold->columns);
	free(fold);
}

/* -------------------------------------------------------------------- questions */

double report_fold_seconds(const struct report_fold *fold)
{
	const struct fold_durations *kept = &fold->fold.kept;

	return kept->count ? (double)kept->sum / (double)kept->count / 1e9 : 0;
}

const char *report_fold_path(const struct report_fold *fold, uint32_t place, char *text, size_t size)
{
	size_t at = size - 1;

	text[at] = 0;
	for (uint32_t i = place;; i = fold->below.nodes[i].parent) {
		const char *name = i ? fold->below.nodes[i].name : fold->region.name;
		const char *between = i == place ? "" : " > ";
		size_t length = strlen(name) + strlen(between);

		if ((i != place && !i) || length > at)
			break;
		at -= length;
		memcpy(text + at, name, strlen(name));
		memcpy(text + at + strlen(name), between, strlen(between));
		if (!i || !fold->below.nodes[i].parent)
			break;
	}
	return memmove(text, text + at, size - at);
}

const struct fold_place *report_fold_hot(const struct report_fold *fold, unsigned row, double *ret_share)
{
	const struct fold_place *best = NULL;

	for (size_t i = 0; i < fold->fold.place_count; i++) {
		const struct fold_place *p = &fold->fold.places[i];

		if (p->rows[row] > (best ? best->rows[row] : 0))
			best = p;
	}
	*ret_share = best ? best->rows[row] / fold->fold.rows[row] : 0;
	return best;
}

/* The curve, between its knots. */
static double value_at(const struct fold_curve *c, double x)
{
	double at = fmin(fmax(x, 0), 1) * FOLD_KNOTS;
	unsigned k = at < FOLD_KNOTS ? (unsigned)at : FOLD_KNOTS - 1;

	return c->at[k] + (c->at[k + 1] - c->at[k]) * (at - k);
}

double report_fold_rise(const struct report_fold_column *column, double x, double width)
{
	const struct fold_curve *c = column->curve;
	unsigned row = x + width / 2 < 1 ? (unsigned)((x + width / 2) * FOLD_ROWS) : FOLD_ROWS - 1;

	if (!c)
		return column->rate[row];
	if (column->kind == FOLD_LEVEL)
		return value_at(c, x + width / 2);
	return (value_at(c, x + width) - value_at(c, x)) / width;
}

const char *report_fold_number(double v, char text[FIGURE_SIZE])
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
	double size = fabs(v);
	unsigned u = 0;

	if (isnan(v)) {
		snprintf(text, FIGURE_SIZE, "-");
		return text;
	}
	for (; size >= 999.5 && u < 6; u++) {
		size /= 1000;
		v /= 1000;
	}
	if (!u && size && size < 0.0995)
		snprintf(text, FIGURE_SIZE, "%.2g", v);
	else
		snprintf(text, FIGURE_SIZE, "%.*f%s", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, v, units[u]);
	return text;
}

/* The metrics of --fold: measured, and derived of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

/* The metric of that name, where the region ran; NULL: none, or it is what is taken for time. */
static const struct fold_metric *find_metric(const struct report_fold *fold, const char *name)
{
	for (size_t i = 0; i < fold->fold.metric_count; i++) {
		const struct fold_metric *m = &fold->fold.metrics[i];

		if (m->metric && !strcmp(m->metric->name, name))
			return fold->along && !strcmp(name, fold->along) ? NULL : m;
	}
	return NULL;
}

static void add_measured(struct report_fold *fold, const struct fold_metric *from)
{
	struct report_fold_column *to = &fold->columns[fold->column_count++];

	*to = (struct report_fold_column){
		.name = "CPU", .unit = "s", .kind = FOLD_TIME, .curve = &from->curve};
	if (from->metric) {
		to->name = from->metric->name;
		to->unit = from->metric->unit;
		to->kind = from->metric->level ? FOLD_LEVEL : FOLD_GROWTH;
		to->estimated = from->metric->estimated;
	}
	memcpy(to->rate, from->curve.rate, sizeof(to->rate));
	memcpy(to->low, from->curve.low, sizeof(to->low));
	memcpy(to->high, from->curve.high, sizeof(to->high));
}

/* What each column of the set is in a row of the mean instance. */
static void evaluate(const struct report_fold *fold, unsigned row, double *values)
{
	const struct column_set *set = &fold->set;
	double seconds = report_fold_seconds(fold) / FOLD_ROWS;
	const unsigned step = FOLD_KNOTS / FOLD_ROWS;

	for (size_t i = 0; i < set->count; i++) {
		const struct fold_metric *m = i < set->metrics ? find_metric(fold, set->items[i].name) : NULL;

		if (i == set->metrics || (fold->along && !strcmp(set->items[i].name, fold->along)))
			values[i] = i == set->metrics ? seconds : seconds * 1e9;
		else if (set->items[i].derive)
			values[i] = derive_evaluate(set->items[i].derive, values);
		else if (!m)
			values[i] = NAN;
		else if (m->metric->level)
			values[i] = m->curve.at[(row + 1) * step] - m->curve.at[row * step];
		else
			values[i] = m->curve.rate[row] * seconds;
	}
}

static int add_derived(struct report_fold *fold, size_t column)
{
	const struct column *from = &fold->set.items[column];
	struct report_fold_column *to = &fold->columns[fold->column_count++];
	double *values = calloc(fold->set.count, sizeof(*values));

	if (!values)
		return HYB_ENOMEM;
	*to = (struct report_fold_column){.name = from->name,
		.unit = from->unit,
		.kind = FOLD_LEVEL,
		.estimated = from->estimated,
		.derived = true};
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		evaluate(fold, row, values);
		to->rate[row] = values[column];
		to->low[row] = to->high[row] = NAN;
	}
	free(values);
	return 0;
}

int report_fold_columns(struct report_fold *fold, bool chosen)
{
	const struct column_set *set = &fold->set;
	const struct fold *f = &fold->fold;
	int r = 0;

	fold->columns = calloc(f->metric_count + set->shown_count + 1, sizeof(*fold->columns));
	if (!fold->columns)
		return HYB_ENOMEM;
	for (size_t i = 0; i < f->metric_count; i++)
		if (!f->metrics[i].metric || (!chosen && find_metric(fold, f->metrics[i].metric->name)))
			add_measured(fold, &f->metrics[i]);
	for (size_t i = 0; !r && i < set->shown_count; i++) {
		const struct column *c = &set->items[set->shown[i]];
		const struct fold_metric *m = c->derive ? NULL : find_metric(fold, c->name);

		if (c->derive)
			r = add_derived(fold, set->shown[i]);
		else if (m)
			add_measured(fold, m);
	}
	return r;
}

#include "analysis/fold/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/array.h"
#include "base/error.h"
#include "format/format.h"

#define CPU 0 /* number of the fit of CPU time */

struct sample {
	uint64_t since; /* ns after the instance began */
	uint32_t place;
	uint32_t weight;
};

/* The instance that is open in a location. */
struct instance {
	bool open;
	uint64_t start, end; /* ns; end: as far as is known */
	uint64_t last; /* time of its last sample */
	bool valued; /* `grown` and `enter` are known */
	int64_t enter[HYB_METRICS_MAX], grown[HYB_METRICS_MAX]; /* by metric of the process */
	struct sample *samples;
	int64_t *values; /* HYB_METRICS_MAX for each sample: grown since the start; levels: as they were */
	size_t count;
};

struct gather {
	const struct fold_request *request;
	struct fold *fold;
	bool second; /* of both passes: limits are known */
	uint64_t *durations; /* first pass: of all instances */
	size_t duration_count;
	uint64_t number; /* of instances */
	double known; /* seconds: of all instances that can be, where only sampled ones are seen */
	struct fold_fit **fits; /* by fold->metrics, and CPU time first */
	const struct hyb_metric **metrics; /* by fit; CPU: NULL */
	size_t fit_count;
	uint32_t *rows; /* by place: index + 1 in fold->places */
	/* of the location */
	const struct hyb_location_info *location;
	const uint32_t *places;
	uint32_t *outer; /* by node: the outermost node of the region at or above it, or 0 */
	size_t fit_of[HYB_METRICS_MAX]; /* by metric of its process */
	size_t along; /* metric of its process that is the time; HYB_METRICS_MAX: none */
	bool clocked, on_cpu; /* samples are of a clock; of one that stands still when the thread does */
	struct instance instance;
};

/* ------------------------------------------------------------------ instances */

static bool is_along(const struct gather *g)
{
	return g->along < HYB_METRICS_MAX;
}

/* ns, of an instance that has ended. */
static uint64_t duration_of(const struct gather *g)
{
	const struct instance *in = &g->instance;

	if (!is_along(g))
		return in->end - in->start;
	return in->grown[g->along] > 0 ? (uint64_t)in->grown[g->along] : 0;
}

static void count_duration(struct fold_durations *d, uint64_t ns)
{
	d->least = d->count && d->least < ns ? d->least : ns;
	d->most = d->most > ns ? d->most : ns;
	d->sum += ns;
	d->count++;
}

static struct fold_place *place_of(struct gather *g, uint32_t place)
{
	struct fold *fold = g->fold;

	if (!g->rows[place]) {
		if (!ARRAY_ROOM(fold->places, fold->place_count))
			return NULL;
		fold->places[fold->place_count] = (struct fold_place){.place = place};
		g->rows[place] = (uint32_t)++fold->place_count;
	}
	return &fold->places[g->rows[place] - 1];
}

static int fold_sample(struct gather *g, const struct sample *s, const int64_t *values, double duration)
{
	const struct instance *in = &g->instance;
	const struct hyb_process *process = g->location->process;
	double since = is_along(g) ? (double)values[g->along] : (double)s->since;
	double x = duration > 0 ? fmin(fmax(since / duration, 0), 1) : 0.5;
	double weight = (double)s->weight * (g->clocked ? (double)g->location->period / 1e9 : 1);
	unsigned row = x < 1 ? (unsigned)(x * FOLD_ROWS) : FOLD_ROWS - 1;
	struct fold_place *place = place_of(g, s->place);

	if (!place)
		return HYB_ENOMEM;
	place->rows[row] += weight;
	place->weight += weight;
	g->fold->rows[row] += weight;
	g->fold->samples += s->weight;
	if (g->on_cpu)
		fold_fit_point(g->fits[CPU], g->number, x, weight, 0);
	for (size_t m = 0; in->valued && m < process->metric_count; m++)
		fold_fit_point(g->fits[g->fit_of[m]], g->number, x, (double)values[m], (double)in->grown[m]);
	return HYB_OK;
}

/* What is known of a whole instance, samples or not. */
static void fold_whole(struct gather *g, double seconds)
{
	const struct instance *in = &g->instance;
	const struct hyb_process *process = g->location->process;

	if (g->on_cpu)
		fold_fit_instance(g->fits[CPU], g->number, seconds, 0);
	for (size_t m = 0; in->valued && m < process->metric_count; m++) {
		struct fold_fit *fit = g->fits[g->fit_of[m]];

		fold_fit_instance(fit, g->number, seconds, (double)in->grown[m]);
		if (process->metrics[m].level && process->trace_events) {
			fold_fit_point(fit, g->number, 0, (double)in->enter[m], 0);
			fold_fit_point(fit, g->number, 1, (double)(in->enter[m] + in->grown[m]), 0);
		}
	}
}

static int fold_instance(struct gather *g)
{
	struct fold *fold = g->fold;
	const struct instance *in = &g->instance;
	uint64_t duration = duration_of(g);
	int r = HYB_OK;

	if (duration < fold->lower || duration > fold->upper) {
		count_duration(&fold->aside, duration);
		if (!g->location->process->trace_events)
			g->known -= (double)duration / 1e9;
		return HYB_OK;
	}
	count_duration(&fold->kept, duration);
	if (g->location->process->trace_events)
		fold->traced = true;
	else
		fold->untraced = true;
	fold->sampled += in->count > 0;
	fold_whole(g, (double)duration / 1e9);
	for (size_t i = 0; !r && i < in->count; i++)
		r = fold_sample(g, &in->samples[i], &in->values[i * HYB_METRICS_MAX], (double)duration);
	return r;
}

static int end_instance(struct gather *g)
{
	struct instance *in = &g->instance;
	int r = HYB_OK;

	if (!in->open)
		return HYB_OK;
	in->open = false;
	g->number++;
	if (is_along(g) && !in->valued) {
		g->fold->incomplete += g->second;
		in->count = 0;
		return HYB_OK;
	}
	if (g->second)
		r = fold_instance(g);
	else if (ARRAY_ROOM(g->durations, g->duration_count))
		g->durations[g->duration_count++] = duration_of(g);
	else
		r = HYB_ENOMEM;
	in->count = 0;
	return r;
}

static void abandon(struct gather *g)
{
	if (g->instance.open)
		g->fold->incomplete += g->second;
	g->instance.open = false;
	g->instance.count = 0;
}

/* Room for a sample and its values. */
static struct sample *new_sample(struct instance *in, int64_t **ret_values)
{
	if (!ARRAY_ROOM(in->samples, in->count) ||
		!array_room(&in->values, in->count, HYB_METRICS_MAX * sizeof(*in->values)))
		return NULL;
	*ret_values = &in->values[in->count * HYB_METRICS_MAX];
	return &in->samples[in->count++];
}

static int add_sample(struct gather *g, const struct hyb_event *e, uint64_t since)
{
	struct instance *in = &g->instance;
	size_t count = g->location->process->metric_count;
	const bool traced = g->location->process->trace_events;
	const int64_t *values = traced ? e->values : e->since_values;
	struct sample *s;
	int64_t *to;

	in->last = e->time;
	if (!g->second)
		return HYB_OK;
	s = new_sample(in, &to);
	if (!s)
		return HYB_ENOMEM;
	*s = (struct sample){since, g->places[e->node], e->weight};
	if (s->place >= g->request->place_count)
		s->place = g->request->region;
	in->valued = in->valued && (values || !count);
	for (size_t m = 0; in->valued && m < count; m++) {
		if (g->location->process->metrics[m].level)
			to[m] = e->values ? e->values[m] : 0;
		else
			to[m] = traced ? values[m] - in->enter[m] : values[m];
	}
	return HYB_OK;
}

/* ---------------------------------------------------------- with all regions */

static void begin_traced(struct gather *g, const struct hyb_event *e)
{
	struct instance *in = &g->instance;
	size_t size = g->location->process->metric_count * sizeof(*in->enter);

	abandon(g); /* its LEAVE is missing */
	*in = (struct instance){.open = true,
		.start = e->time,
		.valued = e->values,
		.samples = in->samples,
		.values = in->values};
	if (e->values)
		memcpy(in->enter, e->values, size);
}

static int end_traced(struct gather *g, const struct hyb_event *e)
{
	struct instance *in = &g->instance;

	if (!in->open) {
		g->fold->incomplete += g->second;
		return HYB_OK;
	}
	in->end = e->time > in->start ? e->time : in->start;
	in->valued = in->valued && e->values;
	for (size_t m = 0; in->valued && m < g->location->process->metric_count; m++)
		in->grown[m] = e->values[m] - in->enter[m];
	return end_instance(g);
}

static int take_traced(struct gather *g, const struct hyb_event *e, bool sample)
{
	struct instance *in = &g->instance;
	uint32_t outer = g->outer[e->node];

	if (!outer)
		return HYB_OK;
	if (e->kind == HYB_EVENT_ENTER && outer == e->node)
		begin_traced(g, e);
	else if (e->kind == HYB_EVENT_LEAVE && outer == e->node)
		return end_traced(g, e);
	else if (sample && in->open && e->time >= in->start)
		return add_sample(g, e, e->time - in->start);
	return HYB_OK;
}

/* ------------------------------------------------- with samples alone */

static int begin_untraced(struct gather *g, const struct hyb_event *e)
{
	struct instance *in = &g->instance;
	int r = end_instance(g);

	*in = (struct instance){.open = true,
		.start = e->time - e->since,
		.end = e->time + e->until,
		.valued = e->since_values && e->until_values,
		.samples = in->samples,
		.values = in->values};
	for (size_t m = 0; in->valued && m < g->location->process->metric_count; m++)
		in->grown[m] = e->since_values[m] + e->until_values[m];
	return r;
}

static int take_untraced(struct gather *g, const struct hyb_event *e, bool sample)
{
	uint32_t probe = g->location->nodes[e->node].probe;
	struct instance *in = &g->instance;
	int r = HYB_OK;

	if (!sample || !g->outer[probe])
		return HYB_OK;
	if (g->outer[probe] != probe) {
		g->fold->nested += g->second ? e->weight : 0;
		return HYB_OK;
	}
	if (e->since == HYB_TIME_UNKNOWN || e->until == HYB_TIME_UNKNOWN || e->since > e->time) {
		g->fold->incomplete += g->second;
		return HYB_OK;
	}
	if (!in->open || e->time - e->since >= in->last)
		r = begin_untraced(g, e);
	return r ? r : add_sample(g, e, e->since);
}

/* ------------------------------------------------------------------- locations */

static int take(struct gather *g, const struct hyb_event *e)
{
	bool sample = e->kind == HYB_EVENT_SAMPLE && (!e->overflow || !g->clocked);
	int r;

	if (g->location->process->trace_events) {
		if (e->kind == HYB_EVENT_GAP)
			abandon(g);
		return take_traced(g, e, sample);
	}
	r = e->kind == HYB_EVENT_GAP ? end_instance(g) : HYB_OK;
	return r ? r : take_untraced(g, e, sample);
}

/* Whether the location has what is to be taken for time. */
static bool find_along(struct gather *g)
{
	const struct hyb_process *process = g->location->process;

	g->along = HYB_METRICS_MAX;
	for (size_t m = 0; g->request->along && m < process->metric_count; m++)
		if (!strcmp(process->metrics[m].name, g->request->along))
			g->along = m;
	return !g->request->along || is_along(g);
}

/* Whether the region is there; in which nodes, and what all instances of them last. */
static bool find_region(struct gather *g)
{
	const struct hyb_location_info *l = g->location;
	bool found = false;

	g->outer[0] = 0;
	for (uint32_t i = 1; i < l->node_count; i++) {
		const struct hyb_node_info *n = &l->nodes[i];

		g->outer[i] = g->outer[n->parent];
		if (g->outer[i] || n->probe != i || g->places[i] != g->request->region)
			continue;
		g->outer[i] = i;
		found = true;
		if (!g->second && !l->process->trace_events)
			g->known +=
				is_along(g) ? (double)n->values[g->along] / 1e9 : (double)n->inclusive / 1e9;
	}
	return found;
}

/* The number of the fit of a metric, made if it is not there; `metric` NULL: that of CPU time. -1: no memory.
 */
static long fit_for(struct gather *g, const struct hyb_metric *metric)
{
	size_t i = metric ? 1 : CPU;
	enum fold_kind kind = !metric ? FOLD_TIME : metric->level ? FOLD_LEVEL : FOLD_GROWTH;

	while (metric && i < g->fit_count && strcmp(g->metrics[i]->name, metric->name))
		i++;
	if (i < g->fit_count)
		return (long)i;
	if (!ARRAY_ROOM(g->fits, g->fit_count) || !ARRAY_ROOM(g->metrics, g->fit_count))
		return -1;
	g->metrics[g->fit_count] = metric;
	g->fits[g->fit_count] = fold_fit_new(kind);
	return g->fits[g->fit_count] ? (long)g->fit_count++ : -1;
}

static int begin_location(struct gather *g)
{
	const struct hyb_process *process = g->location->process;
	unsigned source = g->location->source;

	g->clocked = source != HYB_SOURCE_EVENT;
	g->on_cpu = !is_along(g) && (source == HYB_SOURCE_CPU_TIMER || source == HYB_SOURCE_TASK_CLOCK ||
					    source == HYB_SOURCE_TIMER);
	for (size_t m = 0; m < process->metric_count; m++) {
		long fit = fit_for(g, &process->metrics[m]);

		if (fit < 0)
			return HYB_ENOMEM;
		g->fit_of[m] = (size_t)fit;
	}
	return HYB_OK;
}

static int begin(void *data, struct hyb_experiment *experiment, const struct hyb_location_info *l)
{
	struct gather *g = data;

	g->location = l;
	g->places = g->request->places(g->request->data, l);
	if (!g->places || !find_along(g))
		return 1;
	free(g->outer);
	g->outer = malloc(l->node_count * sizeof(*g->outer));
	if (!g->outer)
		return HYB_ENOMEM;
	return find_region(g) ? begin_location(g) : 1;
}

static int step(void *data, const struct hyb_step *step)
{
	return take(data, step->event);
}

static int end(void *data, const struct hyb_totals *totals)
{
	struct gather *g = data;
	int r = g->location->process->trace_events ? 0 : end_instance(g);

	abandon(g);
	return r;
}

static const struct analysis folding = {
	.name = "fold",
	.steps = ANALYSIS_STEP(HYB_STEP_EVENT),
	.apart = true,
	.begin = begin,
	.step = step,
	.end = end,
};

static int read_all(
	struct gather *g, struct hyb_experiment *const *experiments, size_t count, struct hyb_error *err)
{
	int r = HYB_OK;

	g->number = 0;
	for (size_t e = 0; !r && e < count; e++)
		r = analysis_run(experiments[e], &(struct analysis_item){&folding, g}, 1, NULL, err);
	return r;
}

/* --------------------------------------------------------------------- results */

static int by_weight(const void *a, const void *b)
{
	const struct fold_place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static int make_curves(struct gather *g)
{
	struct fold *fold = g->fold;

	fold->metrics = calloc(g->fit_count, sizeof(*fold->metrics));
	if (!fold->metrics)
		return HYB_ENOMEM;
	if (g->known > 0 && fold->untraced && !fold->traced)
		fold_fit_seconds(g->fits[CPU], g->known);
	for (size_t i = 0; i < g->fit_count; i++) {
		struct fold_metric *m = &fold->metrics[fold->metric_count];

		m->metric = g->metrics[i];
		fold_fit_make(g->fits[i], &m->curve);
		if (i != CPU || m->curve.points)
			fold->metric_count++;
	}
	if (fold->place_count)
		qsort(fold->places, fold->place_count, sizeof(*fold->places), by_weight);
	return HYB_OK;
}

static int gather(
	struct gather *g, struct hyb_experiment *const *experiments, size_t count, struct hyb_error *err)
{
	struct fold *fold = g->fold;
	int r;

	g->rows = calloc(g->request->place_count + 1, sizeof(*g->rows));
	if (!g->rows || fit_for(g, NULL) < 0)
		return HYB_ENOMEM;
	r = read_all(g, experiments, count, err);
	if (r)
		return r;
	fold_limits(g->durations, g->duration_count, g->request->spread, &fold->middle, &fold->lower,
		&fold->upper);
	g->second = true;
	r = read_all(g, experiments, count, err);
	return r ? r : make_curves(g);
}

int fold_make(struct hyb_experiment *const *experiments, size_t count, const struct fold_request *request,
	struct fold *ret, struct hyb_error *err)
{
	struct fold fold = {0};
	struct gather g = {.request = request, .fold = &fold};
	int r;

	err->code = HYB_OK;
	r = gather(&g, experiments, count, err);
	for (size_t i = 0; i < g.fit_count; i++)
		free(g.fits[i]);
	free(g.fits);
	free(g.metrics);
	free(g.rows);
	free(g.durations);
	free(g.outer);
	free(g.instance.samples);
	free(g.instance.values);
	if (!r) {
		*ret = fold;
		return HYB_OK;
	}
	fold_release(&fold);
	return err->code ? r : error_set(err, r, "out of memory");
}

void fold_release(struct fold *fold)
{
	free(fold->metrics);
	free(fold->places);
	*fold = (struct fold){0};
}

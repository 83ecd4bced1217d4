#include "viewer/snapshot/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/metrics/columns_ask.h"
#include "profile/views/select.h"

#define NAMED 800u /* of 1000 that the job counts were counted before */

/* Where the locations of a process begin among all. */
struct start {
	const struct hyb_process *process;
	size_t first;
};

struct making {
	const struct view_options *options;
	struct selection part; /* of the command line */
	struct snapshot *snapshot;
	struct start *starts; /* by address */
	size_t start_count;
	bool base; /* all that the command line chooses */
	bool both; /* columns are of what both sides have */
	struct job *job;
	char *error;
	size_t size;
};

static int fail(struct making *m, const char *text)
{
	snprintf(m->error, m->size, "%s", text);
	return -1;
}

static int out_of_memory(struct making *m)
{
	return fail(m, "out of memory");
}

static bool is_stopped(const struct making *m)
{
	return atomic_load(&m->job->stop);
}

/* ------------------------------------------------------------- locations */

static int compare_starts(const void *pa, const void *pb)
{
	const struct start *a = pa, *b = pb;

	return a->process < b->process ? -1 : a->process > b->process;
}

static void count(const struct snapshot *s, size_t *ret_processes, size_t *ret_locations)
{
	size_t processes = 0, locations = 0;

	for (size_t e = 0; e < s->base_from; e++) {
		struct hyb_experiment *experiment = s->opened[e].experiment;

		for (size_t i = 0; i < hyb_process_count(experiment); i++, processes++)
			locations += hyb_process_at(experiment, i)->location_count;
	}
	*ret_processes = processes;
	*ret_locations = locations;
}

static void list_process(struct making *m, const struct hyb_process *process)
{
	struct snapshot *s = m->snapshot;

	m->starts[m->start_count++] = (struct start){process, s->location_count};
	for (size_t i = 0; i < process->location_count; i++) {
		s->traced |= process->locations[i].events > 0;
		s->locations[s->location_count++] = &process->locations[i];
	}
}

static int list_locations(struct making *m)
{
	struct snapshot *s = m->snapshot;
	size_t processes, locations;

	count(s, &processes, &locations);
	m->starts = calloc(processes + 1, sizeof(*m->starts));
	s->locations = calloc(locations + 1, sizeof(struct hyb_location_info *));
	s->own = calloc(locations + 1, sizeof(uint32_t *));
	if (!m->starts || !s->locations || !s->own)
		return out_of_memory(m);
	for (size_t e = 0; e < s->base_from; e++) {
		struct hyb_experiment *experiment = s->opened[e].experiment;

		for (size_t i = 0; i < hyb_process_count(experiment); i++)
			list_process(m, hyb_process_at(experiment, i));
	}
	if (m->start_count)
		qsort(m->starts, m->start_count, sizeof(*m->starts), compare_starts);
	return 0;
}

static size_t index_of(const struct making *m, const struct hyb_location_info *location)
{
	const struct start key = {location->process, 0};
	const struct start *start =
		bsearch(&key, m->starts, m->start_count, sizeof(*m->starts), compare_starts);

	return start->first + (size_t)(location - location->process->locations);
}

static void show_progress(const struct making *m, size_t location)
{
	unsigned permille = NAMED + (unsigned)((1000 - NAMED) * location / (m->snapshot->location_count + 1));

	if (permille > atomic_load(&m->job->permille))
		atomic_store(&m->job->permille, permille);
}

static bool is_selected(void *data, const struct hyb_location_info *location)
{
	const struct making *m = data;
	const struct query *query = &m->snapshot->query;
	size_t i;

	if (!selection_has(&m->part, location) || is_stopped(m)) /* then nobody looks at it */
		return false;
	if (m->base)
		return true;
	i = index_of(m, location);
	show_progress(m, i);
	return !query->selected || (i < query->selected_count && query->selected[i]);
}

/* -------------------------------------------------------------- profiles */

/* Of the experiments from `from` to below `to`; NULL after fail(). */
static struct profile *merge(struct making *m, size_t from, size_t to)
{
	const struct snapshot *s = m->snapshot;
	const struct profile_options options = {.mode = s->query.mode,
		.python_internals = s->query.python_internals,
		.mpi_internals = s->query.mpi_internals,
		.traffic = true,
		.select = is_selected,
		.data = m,
		.parts = !m->base};
	struct profile *profile;
	struct hyb_error err;

	if (session_merge(s->opened + from, to - from, &options, &profile, &err)) {
		fail(m, err.text);
	} else if (!selection_is_all(&m->part) && !profile_quality(profile)->locations) {
		selection_nothing(&m->part, m->options->paths[0], m->error, m->size);
		profile_free(profile);
		profile = NULL;
	}
	return profile;
}

static void find_own(struct making *m)
{
	struct snapshot *s = m->snapshot;
	size_t count;
	const struct profile_part *parts = profile_parts(s->profile, &count);

	for (size_t i = 0; i < count; i++)
		s->own[index_of(m, parts[i].location)] = parts[i].nodes;
}

static int compare(struct making *m)
{
	struct snapshot *s = m->snapshot;

	if (s->base_from == s->opened_count)
		return 0;
	m->base = true;
	s->base = merge(m, s->base_from, s->opened_count);
	if (!s->base)
		return -1;
	s->diff = profile_diff_new(s->base, s->profile);
	return s->diff ? 0 : out_of_memory(m);
}

/* --------------------------------------------------------------- columns */

/* What a file defines and was not measured is left out silently. */
static void warn(void *data, const char *where, const char *text)
{
	struct making *m = data;

	snprintf(m->error, m->size, "%s%s: %.*s", where, m->both ? ", of what both sides have" : "",
		(int)strcspn(text, "\n"), text);
}

static int ask_columns(
	struct making *m, struct column_set *set, const struct profile_metric *metrics, size_t count)
{
	const struct view_options *o = m->options;
	const struct columns_wanted wanted = {.lists = o->look.metrics,
		.list_count = o->look.metric_count,
		.files = o->look.metrics_files,
		.file_count = o->look.metrics_file_count,
		.warn = warn,
		.data = m};
	int r = columns_ask(set, &wanted, metrics, count);

	return r == HYB_ENOMEM ? out_of_memory(m) : r;
}

static int choose_columns(struct making *m)
{
	struct snapshot *s = m->snapshot;
	size_t count;
	const struct profile_metric *metrics = profile_metrics(s->profile, &count);
	int r = ask_columns(m, &s->columns, metrics, count);

	if (r || !s->diff)
		return r;
	m->both = true;
	metrics = profile_diff_metrics(s->diff, &count);
	return ask_columns(m, &s->diff_columns, metrics, count);
}

/* -------------------------------------------------------------- snapshot */

static int make(struct making *m)
{
	struct snapshot *s = m->snapshot;

	if (list_locations(m))
		return -1;
	s->profile = merge(m, 0, s->base_from);
	if (!s->profile || is_stopped(m))
		return -1;
	find_own(m);
	if (compare(m) || choose_columns(m))
		return -1;
	return snapshot_warn(s, m->options) ? out_of_memory(m) : 0;
}

struct snapshot *snapshot_make(const struct view_options *options, struct inputs *inputs, struct query *query,
	struct job *job, char *error, size_t size)
{
	struct making m = {
		.options = options, .part = options->look.part, .job = job, .error = error, .size = size};
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s) {
		out_of_memory(&m);
		inputs_drop(inputs);
		query_release(query);
		return NULL;
	}
	*s = (struct snapshot){.references = 1,
		.query = *query,
		.inputs = inputs,
		.opened = inputs->opened,
		.opened_count = inputs->count,
		.base_from = inputs->base_from,
		.running = inputs->running,
		.read_at = inputs->read_at};
	*query = (struct query){0};
	m.snapshot = s;
	if (make(&m)) {
		snapshot_drop(s);
		s = NULL;
	}
	free(m.starts);
	return s;
}

struct snapshot *snapshot_keep(struct snapshot *snapshot)
{
	snapshot->references++;
	return snapshot;
}

void snapshot_drop(struct snapshot *s)
{
	if (!s || --s->references)
		return;
	columns_release(&s->columns);
	columns_release(&s->diff_columns);
	profile_diff_free(s->diff);
	profile_free(s->base);
	profile_free(s->profile);
	free(s->own);
	free(s->locations);
	query_release(&s->query);
	inputs_drop(s->inputs);
	free(s);
}

bool snapshot_has(const struct snapshot *snapshot, const struct hyb_location_info *location, size_t *hint)
{
	for (size_t n = 0; n < snapshot->location_count; n++, *hint = (*hint + 1) % snapshot->location_count)
		if (snapshot->locations[*hint] == location)
			return snapshot->own[*hint] != NULL;
	return false;
}

bool is_same_thread(const struct hyb_location_info *a, const struct hyb_location_info *b)
{
	return a->id == b->id && a->process->pid == b->process->pid &&
	       a->process->image == b->process->image && !strcmp(a->process->host, b->process->host);
}

bool query_is(const struct query *a, const struct query *b)
{
	return a->mode == b->mode && a->selected_count == b->selected_count && !a->selected == !b->selected &&
	       (!a->selected || !memcmp(a->selected, b->selected, a->selected_count * sizeof(*a->selected)));
}

int query_copy(struct query *to, const struct query *from)
{
	*to = *from;
	to->selected = NULL;
	if (!from->selected)
		return 0;
	to->selected = malloc(from->selected_count * sizeof(bool) + 1);
	if (!to->selected)
		return HYB_ENOMEM;
	memcpy(to->selected, from->selected, from->selected_count * sizeof(bool));
	return 0;
}

void query_release(struct query *query)
{
	free(query->selected);
	*query = (struct query){0};
}

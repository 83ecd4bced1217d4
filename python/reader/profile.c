/* The profile as rows, in the order in which hybrid-report shows them. */
#include <stdlib.h>

#include "session/session.h"

#include "profile/profile.h"

#include "experiment.h"

PyObject *row_type(void)
{
	static PyStructSequence_Field fields[] = {
		{"parent", "index of the row above; the root's is its own, 0"},
		{"depth", "0 for the root"},
		{"kind", "root, probe, intermediate, leaf or incomplete"},
		{"name", "of the region or function"},
		{"file", "source file, \"\" if not known"},
		{"line", "of a leaf, a call site or a region; else 0"},
		{"module", "path of the program or library, \"\" for regions"},
		{"calls", "of probes"},
		{"skipped", "of the calls those that were only counted"},
		{"samples", "that ended here; of a probe: those without a frame below"},
		{"inclusive", "ns, with all rows below"},
		{"exclusive", "ns that ran (or was not sampled) here"},
		{"blocked", "ns that did not run here: waited, or was ready without a processor"},
		{"ready", "ns, that part of it"},
		{"idle", "ns of `inclusive` that are no part of what 100 % is: blocked outside all probes"},
		{"python", "a frame of Python"},
		{"guess", "no symbol holds the code: the name is its file and address, or a label in front"},
		{"demoted", "called too often for too little time: later calls were only counted"},
		{"metrics_inclusive", "a dict, name of the metric: by how much it grew, with all rows below"},
		{"metrics_exclusive", "the same, here"},
		{NULL, NULL},
	};

	return sequence_type("hybrid.Row", "A row of the profile.", fields);
}

/* Which locations take part. */
struct selection {
	const struct hyb_location_info **locations;
	Py_ssize_t count;
};

static int compare(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;

	return (x > y) - (x < y);
}

static bool selected(void *data, const struct hyb_location_info *location)
{
	const struct selection *s = data;

	return bsearch(&location, s->locations, (size_t)s->count, sizeof(*s->locations), compare);
}

/* From pairs of indices; to be freed with PyMem_Free, also on failure. */
static int selection_init(struct selection *s, struct experiment *e, PyObject *pairs)
{
	Py_ssize_t count = PyTuple_Size(pairs);

	*s = (struct selection){0};
	if (count < 0)
		return -1;
	s->locations = PyMem_Calloc((size_t)count + 1, sizeof(*s->locations));
	if (!s->locations) {
		PyErr_NoMemory();
		return -1;
	}
	for (; s->count < count; s->count++) {
		Py_ssize_t process, location;

		if (!PyArg_ParseTuple(PyTuple_GetItem(pairs, s->count), "nn", &process, &location))
			return -1;
		s->locations[s->count] = experiment_location(e, process, location);
		if (!s->locations[s->count])
			return -1;
	}
	qsort(s->locations, (size_t)count, sizeof(*s->locations), compare);
	return 0;
}

/* Without the GIL: nobody else uses a busy experiment. */
static int compute(struct experiment *e, const struct profile_options *options, struct profile **ret)
{
	struct hyb_error error = {.code = HYB_ENOMEM};
	struct session_input input = {e->handle, e->symbols};
	int r;

	Py_BEGIN_ALLOW_THREADS;
	r = session_merge(&input, 1, options, ret, &error);
	Py_END_ALLOW_THREADS;
	if (r)
		raise_error(e->state, &error);
	return r ? -1 : 0;
}

/* What the rows of one profile share. */
struct rows {
	struct state *state;
	PyObject *cache, *list;
	uint32_t *number; /* by node: of its row */
	const struct profile_metric *metrics;
	size_t metric_count;
	const struct profile_value *values; /* by node, then metric */
};

static PyObject *row_metrics(const struct rows *rows, uint32_t node, bool exclusive)
{
	const struct profile_value *values = rows->values + node * rows->metric_count;
	PyObject *dict = PyDict_New();

	for (size_t k = 0; dict && k < rows->metric_count; k++)
		dict_add(&dict, cached_text(rows->cache, rows->metrics[k].name),
			PyLong_FromLongLong(exclusive ? values[k].exclusive : values[k].inclusive));
	return dict;
}

static PyObject *make_row(
	const struct rows *rows, const struct profile_node *nodes, uint32_t i, uint32_t depth)
{
	const struct profile_node *n = &nodes[i];
	struct filler f = {.row = PyStructSequence_New((PyTypeObject *)rows->state->row_type)};

	if (!f.row)
		return NULL;
	fill_number(&f, rows->number[n->parent]);
	fill_number(&f, depth);
	fill(&f, kind(rows->state->row_kinds, n->kind));
	fill(&f, cached_text(rows->cache, n->name));
	fill(&f, cached_text(rows->cache, n->file));
	fill_number(&f, n->line);
	fill(&f, cached_text(rows->cache, n->module));
	fill_number(&f, n->calls);
	fill_number(&f, n->skipped);
	fill_number(&f, n->samples);
	fill_number(&f, n->inclusive);
	fill_number(&f, n->exclusive);
	fill_number(&f, n->blocked);
	fill_number(&f, n->ready);
	fill_number(&f, n->idle);
	fill(&f, PyBool_FromLong(n->python));
	fill(&f, PyBool_FromLong(n->guess));
	fill(&f, PyBool_FromLong(n->demoted));
	fill(&f, row_metrics(rows, i, false));
	fill(&f, row_metrics(rows, i, true));
	return filled(&f);
}

/* Depth first, siblings in their order. */
static int walk(struct rows *rows, const struct profile_node *nodes)
{
	uint32_t i = 0, depth = 0, count = 0;

	for (;;) {
		rows->number[i] = count++;
		list_add(&rows->list, make_row(rows, nodes, i, depth));
		if (!rows->list)
			return -1;
		if (nodes[i].first_child) {
			i = nodes[i].first_child;
			depth++;
			continue;
		}
		for (; i && !nodes[i].next_sibling; depth--)
			i = nodes[i].parent;
		if (!i)
			return 0;
		i = nodes[i].next_sibling;
	}
}

static PyObject *make_rows(struct state *state, const struct profile *profile)
{
	struct rows rows = {
		.state = state,
		.cache = PyDict_New(),
		.list = PyList_New(0),
		.number = PyMem_Calloc(profile_count(profile), sizeof(uint32_t)),
		.values = profile_values(profile),
	};

	rows.metrics = profile_metrics(profile, &rows.metric_count);

	if (!rows.cache || !rows.list || !rows.number || walk(&rows, profile_nodes(profile)))
		Py_CLEAR(rows.list);
	PyMem_Free(rows.number);
	Py_XDECREF(rows.cache);
	return rows.list || PyErr_Occurred() ? rows.list : PyErr_NoMemory();
}

static PyObject *profile_rows(struct experiment *e, struct profile_options *options, PyObject *pairs)
{
	struct selection selection = {0};
	struct profile *profile = NULL;
	PyObject *rows = NULL;

	if (pairs != Py_None) {
		options->select = selected;
		options->data = &selection;
	}
	if ((pairs == Py_None || !selection_init(&selection, e, pairs)) && !experiment_symbols(e) &&
		!compute(e, options, &profile))
		rows = make_rows(e->state, profile);
	profile_free(profile);
	PyMem_Free(selection.locations);
	return rows;
}

PyObject *experiment_profile(PyObject *self, PyObject *args)
{
	struct experiment *e = (struct experiment *)self;
	struct profile_options options = {0};
	int mode, sort, split, internals;
	PyObject *pairs, *rows;

	if (!PyArg_ParseTuple(args, "iippO", &mode, &sort, &split, &internals, &pairs))
		return NULL;
	options.mode = (enum profile_mode)mode;
	options.sort = (enum profile_sort)sort;
	options.split_locations = split;
	options.python_internals = internals;
	if (experiment_begin(e))
		return NULL;
	rows = profile_rows(e, &options, pairs);
	experiment_end(e);
	return rows;
}

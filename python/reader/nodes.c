/* The call-path nodes of one location. */
#include <string.h>

#include "format/words.h"
#include "experiment.h"

#define MESSAGE_FIELDS 6

PyObject *node_type(void)
{
	static PyStructSequence_Field fields[] = {
		{"parent", "index of the node above; the root's is its own, 0"},
		{"kind", "root, region, function, call, leaf, partial, python, await or message"},
		{"name", "of the region or function; of inlined code the innermost function"},
		{"file", "source file, \"\" if not known"},
		{"line", "0 if not known"},
		{"module", "path of the program or library, \"\" if the node is no code of one"},
		{"address", "of code, in its ELF file; else None"},
		{"calls", "of probes; of an await: how often the coroutine was suspended; of a message: how "
			  "many"},
		{"skipped", "of the calls those that were only counted"},
		{"inclusive",
			"ns, of probes and awaits; of a message: of the calls that waited for one each"},
		{"exclusive", "ns, of probes: without the probes below"},
		{"samples", "that ended exactly here"},
		{"demoted", "called too often for too little time: later calls were only counted"},
		{"guess", "no symbol holds the code: the name is its file and address, or a label in front"},
		{"message",
			"of a message: send, recv, collective, put, get, update, read or write; else None"},
		{"handle", "of a message: id in process.handles; else None"},
		{"peer", "of a message: world rank of peer, root or target; None if none, or of another "
			 "world"},
		{"size", "of a message: n for 2**(n-1) to 2**n - 1 bytes each, 0 for none; else None"},
		{"sent", "of a message: bytes; else None"},
		{"received", "of a message: bytes; else None"},
		{"metrics",
			"of probes: a dict, name of the metric: by how much it grew, inclusive; else None"},
		{NULL, NULL},
	};

	return sequence_type("hybrid.Node", "A node of the call paths of one location.", fields);
}

/* What is shown of a node. */
struct look {
	PyObject *name; /* new reference, or NULL: `text` */
	const char *text, *file, *module;
	unsigned line;
	bool code, guess;
};

static struct look code_look(struct hyb_symbols *symbols, const struct hyb_node_info *node)
{
	size_t count;
	const struct hyb_frame *frame =
		hyb_symbols_lookup(symbols, node->module, node->address, node->type == HYB_TYPE_CALL, &count);
	const char *path = node->module ? node->module->path : "", *slash = strrchr(path, '/');
	struct look look = {.text = frame->function,
		.file = frame->file,
		.line = frame->line,
		.module = path,
		.code = true,
		.guess = frame->guess};

	if (!*frame->function) {
		look.name = PyUnicode_FromFormat("[%s%s%p]", slash ? slash + 1 : path, *path ? "+" : "",
			(void *)(uintptr_t)node->address);
		look.guess = true;
	}
	return look;
}

static struct look node_look(struct hyb_symbols *symbols, const struct hyb_node_info *node, const char *root)
{
	switch ((enum hyb_node_type)node->type) {
	case HYB_TYPE_ROOT:
		return (struct look){.text = root, .file = "", .module = ""};
	case HYB_TYPE_REGION:
	case HYB_TYPE_PYTHON:
		return (struct look){.text = node->region->name,
			.file = node->region->file,
			.module = "",
			.line = node->type == HYB_TYPE_PYTHON ? node->line : node->region->line};
	case HYB_TYPE_PARTIAL:
		return (struct look){.name = PyUnicode_FromFormat(
					     "[incomplete: %s]", word_text(&words_partial, node->reason)),
			.file = "",
			.module = ""};
	case HYB_TYPE_AWAIT:
		return (struct look){.text = "[awaiting]", .file = "", .module = ""};
	case HYB_TYPE_MESSAGE:
		return (struct look){
			.text = node->handle ? node->handle->name : "", .file = "", .module = ""};
	default:
		return code_look(symbols, node);
	}
}

static void fill_message(struct filler *f, struct state *state, const struct hyb_node_info *n)
{
	if (n->type != HYB_TYPE_MESSAGE) {
		for (unsigned i = 0; i < MESSAGE_FIELDS; i++)
			fill_none(f);
		return;
	}
	fill(f, kind(state->message_kinds, n->message));
	fill_handle(f, n->handle);
	fill_rank(f, n->peer);
	fill_number(f, n->size_class);
	fill_number(f, n->sent);
	fill_number(f, n->received);
}

static PyObject *make_node(struct state *state, const struct hyb_process *process,
	const struct hyb_node_info *n, struct look look, uint64_t exclusive, PyObject *cache)
{
	struct filler f = {.row = PyStructSequence_New((PyTypeObject *)state->node_type)};

	if (!f.row) {
		Py_XDECREF(look.name);
		return NULL;
	}
	fill_number(&f, n->parent);
	fill(&f, kind(state->node_kinds, n->type));
	fill(&f, look.name || !look.text ? look.name : cached_text(cache, look.text));
	fill(&f, cached_text(cache, look.file));
	fill_number(&f, look.line);
	fill(&f, cached_text(cache, look.module));
	if (look.code)
		fill_number(&f, n->address);
	else
		fill_none(&f);
	fill_number(&f, n->calls);
	fill_number(&f, n->skipped);
	fill_number(&f, n->inclusive);
	fill_number(&f, exclusive);
	fill_number(&f, n->samples);
	fill(&f, PyBool_FromLong(n->demoted));
	fill(&f, PyBool_FromLong(look.guess));
	fill_message(&f, state, n);
	if (n->values && n->type <= HYB_TYPE_FUNCTION)
		fill(&f, metric_values(process, n->values));
	else
		fill_none(&f);
	return filled(&f);
}

static bool is_probe(const struct hyb_node_info *node)
{
	return node->type == HYB_TYPE_ROOT || node->type == HYB_TYPE_REGION ||
	       node->type == HYB_TYPE_FUNCTION;
}

/* By node: inclusive without the probes below, also those below frames. To be freed. */
static uint64_t *exclusive_times(const struct hyb_location_info *location)
{
	const struct hyb_node_info *nodes = location->nodes;
	uint64_t *times = PyMem_Calloc(location->node_count, sizeof(*times));

	for (size_t i = 0; times && i < location->node_count; i++) {
		uint64_t *above = &times[nodes[nodes[i].parent].probe];

		if (!is_probe(&nodes[i]))
			continue;
		times[i] = nodes[i].inclusive;
		if (i)
			*above -= nodes[i].inclusive < *above ? nodes[i].inclusive : *above;
	}
	return times;
}

static PyObject *make_nodes(struct experiment *e, const struct hyb_location_info *location)
{
	uint64_t *exclusive = exclusive_times(location);
	PyObject *cache = PyDict_New(), *tuple = PyTuple_New((Py_ssize_t)location->node_count);

	for (size_t i = 0; tuple && i < location->node_count; i++) {
		const struct hyb_node_info *n = &location->nodes[i];
		PyObject *node = exclusive && cache ? make_node(e->state, location->process, n,
							      node_look(e->symbols, n, location->name),
							      exclusive[i], cache)
						    : NULL;

		if (!node)
			Py_CLEAR(tuple);
		else
			PyTuple_SetItem(tuple, (Py_ssize_t)i, node);
	}
	PyMem_Free(exclusive);
	Py_XDECREF(cache);
	return tuple || PyErr_Occurred() ? tuple : PyErr_NoMemory();
}

PyObject *experiment_nodes(PyObject *self, PyObject *args)
{
	struct experiment *e = (struct experiment *)self;
	Py_ssize_t process, location;
	const struct hyb_location_info *info;
	PyObject *nodes = NULL;

	if (!PyArg_ParseTuple(args, "nn", &process, &location) || experiment_begin(e))
		return NULL;
	info = experiment_location(e, process, location);
	if (info && !experiment_symbols(e))
		nodes = make_nodes(e, info);
	experiment_end(e);
	return nodes;
}

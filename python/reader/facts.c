/* Processes and locations as dicts. */
#include <stddef.h>

#include "format/words.h"

#include "experiment.h"

enum fact_type {
	FACT_TEXT,
	FACT_U32,
	FACT_U64,
	FACT_SOME, /* u64; None for 0 */
	FACT_RANK, /* u32; None for HYB_RANK_NONE */
	FACT_TIME, /* u64; None for HYB_TIME_UNKNOWN */
	FACT_I64,
	FACT_BOOL,
	FACT_REAL,
	FACT_WORD, /* u32 */
	FACT_COUNTS, /* u64 for each word: a dict */
};

struct fact {
	const char *name;
	size_t offset;
	enum fact_type type;
	const struct words *words;
};

/* The last argument is the type, and perhaps `.words = ...`. */
#define FACT(struct_, name_, ...) \
	{ \
		.name = #name_, .offset = offsetof(struct struct_, name_), .type = __VA_ARGS__ \
	}
#define PROCESS(name_, ...) FACT(hyb_process, name_, __VA_ARGS__)
#define LOCATION(name_, ...) FACT(hyb_location_info, name_, __VA_ARGS__)

static const struct fact process_facts[] = {
	PROCESS(file, FACT_TEXT),
	PROCESS(host, FACT_TEXT),
	PROCESS(pid, FACT_U32),
	PROCESS(ppid, FACT_U32),
	PROCESS(image, FACT_U32),
	PROCESS(state, FACT_WORD, .words = &words_state),
	PROCESS(source, FACT_WORD, .words = &words_source),
	PROCESS(rate, FACT_U32),
	PROCESS(trace_events, FACT_BOOL),
	PROCESS(tick_ns, FACT_REAL),
	PROCESS(start, FACT_U64),
	PROCESS(end, FACT_U64),
	PROCESS(realtime, FACT_I64),
	PROCESS(trace_bytes, FACT_U64),
	PROCESS(trace_stopped, FACT_SOME),
	PROCESS(threads_lost, FACT_U64),
	PROCESS(regions_lost, FACT_U64),
	PROCESS(names_cut, FACT_U64),
	PROCESS(probe_cost, FACT_SOME),
	PROCESS(call_cost, FACT_COUNTS, .words = &words_probe_kind),
	PROCESS(file_size, FACT_U64),
	PROCESS(world, FACT_SOME),
	PROCESS(rank, FACT_RANK),
	PROCESS(world_size, FACT_U32),
	PROCESS(thread_level, FACT_WORD, .words = &words_thread_level),
	PROCESS(clock_domain, FACT_SOME),
	PROCESS(clock_shift_start, FACT_I64),
	PROCESS(clock_shift_end, FACT_I64),
	PROCESS(clock_error, FACT_TIME),
};

static const struct fact location_facts[] = {
	LOCATION(id, FACT_U32),
	LOCATION(tid, FACT_U32),
	LOCATION(name, FACT_TEXT),
	LOCATION(start, FACT_U64),
	LOCATION(end, FACT_U64),
	LOCATION(ended, FACT_BOOL),
	LOCATION(cpu, FACT_U64),
	LOCATION(samples, FACT_U64),
	LOCATION(taken, FACT_U64),
	LOCATION(partial, FACT_COUNTS, .words = &words_partial),
	LOCATION(dropped, FACT_COUNTS, .words = &words_drop),
	LOCATION(faults, FACT_COUNTS, .words = &words_fault),
	LOCATION(python, FACT_COUNTS, .words = &words_python),
	LOCATION(mpi, FACT_COUNTS, .words = &words_mpi),
	LOCATION(frames, FACT_U64),
	LOCATION(guessed, FACT_U64),
	LOCATION(handler_time, FACT_U64),
	LOCATION(cost, FACT_COUNTS, .words = &words_cost),
	LOCATION(left_out, FACT_U64),
	LOCATION(python_left_out, FACT_U64),
	LOCATION(threads, FACT_U64),
	LOCATION(rest, FACT_BOOL),
	LOCATION(period, FACT_U64),
	LOCATION(slowed, FACT_U64),
	LOCATION(events, FACT_U64),
	LOCATION(events_lost, FACT_U64),
	LOCATION(source, FACT_WORD, .words = &words_source),
	LOCATION(open, FACT_U32),
};

/* Takes the reference to the value. */
static int set_item(PyObject *dict, const char *key, PyObject *value)
{
	int error = value ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	return error;
}

static PyObject *word(const struct words *words, unsigned number)
{
	return word_known(words, number) ? PyUnicode_InternFromString(word_key(words, number))
					 : PyUnicode_FromFormat("unknown (%u)", number);
}

static PyObject *counts(const struct words *words, const uint64_t *numbers)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < words->count; i++)
		if (word_known(words, i) &&
			set_item(dict, word_key(words, i), PyLong_FromUnsignedLongLong(numbers[i])))
			Py_CLEAR(dict);
	return dict;
}

static bool is_none(const struct fact *fact, const void *at)
{
	return (fact->type == FACT_SOME && *(const uint64_t *)at == 0) ||
	       (fact->type == FACT_RANK && *(const uint32_t *)at == HYB_RANK_NONE) ||
	       (fact->type == FACT_TIME && *(const uint64_t *)at == HYB_TIME_UNKNOWN);
}

static PyObject *fact_value(const struct fact *fact, const void *at)
{
	if (is_none(fact, at))
		return Py_BuildValue("");
	switch (fact->type) {
	case FACT_TEXT:
		return text(*(const char *const *)at);
	case FACT_U32:
	case FACT_RANK:
		return PyLong_FromUnsignedLong(*(const uint32_t *)at);
	case FACT_SOME:
	case FACT_TIME:
	case FACT_U64:
		return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
	case FACT_I64:
		return PyLong_FromLongLong(*(const int64_t *)at);
	case FACT_BOOL:
		return PyBool_FromLong(*(const bool *)at);
	case FACT_REAL:
		return PyFloat_FromDouble(*(const double *)at);
	case FACT_WORD:
		return word(fact->words, *(const unsigned *)at);
	case FACT_COUNTS:
		return counts(fact->words, at);
	}
	return NULL;
}

#define FACTS(facts_, object_) facts_dict(facts_, sizeof(facts_) / sizeof((facts_)[0]), object_)
static PyObject *facts_dict(const struct fact *facts, size_t count, const void *object)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < count; i++)
		if (set_item(dict, facts[i].name,
			    fact_value(&facts[i], (const char *)object + facts[i].offset)))
			Py_CLEAR(dict);
	return dict;
}

/* ------------------------------------------------------------------ lists */

static PyObject *note(const struct hyb_process *process, size_t i)
{
	const struct hyb_note *n = &process->notes[i];

	return Py_BuildValue(
		"(KNN)", (unsigned long long)n->time, word(&words_severity, n->severity), text(n->text));
}

static PyObject *child(const struct hyb_process *process, size_t i)
{
	const struct hyb_child *c = &process->children[i];

	return Py_BuildValue("(KINN)", (unsigned long long)c->time, (unsigned)c->pid,
		word(&words_child, c->kind), text(c->path));
}

static PyObject *module(const struct hyb_process *process, size_t i)
{
	const struct hyb_module *m = &process->modules[i];
	char hex[2 * sizeof(m->build_id) + 1] = "";

	for (unsigned k = 0; k < m->build_id_len && k < sizeof(m->build_id); k++)
		snprintf(hex + 2 * k, 3, "%02x", m->build_id[k]);
	return Py_BuildValue(
		"(NsKL)", text(m->path), hex, (unsigned long long)m->file_size, (long long)m->mtime);
}

static PyObject *handle(const struct hyb_process *process, size_t i)
{
	const struct hyb_handle *h = &process->handles[i];

	return Py_BuildValue("(INNKKIIII)", (unsigned)h->id, word(&words_handle, h->type), text(h->name),
		(unsigned long long)h->identity, (unsigned long long)h->parent, (unsigned)h->rank,
		(unsigned)h->size, (unsigned)h->remote, (unsigned)h->group);
}

static PyObject *clock_offset(const struct hyb_process *process, size_t i)
{
	const struct hyb_clock_offset *o = &process->offsets[i];

	return Py_BuildValue("(KLKI)", (unsigned long long)o->time, (long long)o->offset,
		(unsigned long long)o->error, (unsigned)o->reference);
}

static PyObject *metric(const struct hyb_process *process, size_t i)
{
	const struct hyb_metric *m = &process->metrics[i];

	return Py_BuildValue("(NNNNNNK)", text(m->name), text(m->unit), text(m->description),
		PyBool_FromLong(m->level), PyBool_FromLong(m->process_wide), PyBool_FromLong(m->estimated),
		(unsigned long long)m->period);
}

static PyObject *pair(const struct hyb_process *process, size_t i)
{
	return Py_BuildValue("(NN)", text(process->metadata[i].key), text(process->metadata[i].value));
}

static PyObject *location(const struct hyb_process *process, size_t i)
{
	return FACTS(location_facts, &process->locations[i]);
}

static PyObject *list_of(const struct hyb_process *process, size_t count,
	PyObject *(*item)(const struct hyb_process *, size_t))
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < count; i++)
		list_add(&list, item(process, i));
	return list;
}

static PyObject *process_dict(const struct hyb_process *p)
{
	PyObject *dict = FACTS(process_facts, p);

	if (dict && (set_item(dict, "notes", list_of(p, p->note_count, note)) ||
			    set_item(dict, "children", list_of(p, p->child_count, child)) ||
			    set_item(dict, "modules", list_of(p, p->module_count, module)) ||
			    set_item(dict, "handles", list_of(p, p->handle_count, handle)) ||
			    set_item(dict, "metrics", list_of(p, p->metric_count, metric)) ||
			    set_item(dict, "offsets", list_of(p, p->offset_count, clock_offset)) ||
			    set_item(dict, "metadata", list_of(p, p->metadata_count, pair)) ||
			    set_item(dict, "locations", list_of(p, p->location_count, location))))
		Py_CLEAR(dict);
	return dict;
}

PyObject *experiment_processes(PyObject *self, PyObject *none)
{
	struct experiment *e = (struct experiment *)self;
	PyObject *list;

	if (experiment_begin(e))
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && i < hyb_process_count(e->handle); i++)
		list_add(&list, process_dict(hyb_process_at(e->handle, i)));
	experiment_end(e);
	return list;
}

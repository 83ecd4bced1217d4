/* hybrid-dump: the events of an experiment by time, in words. */
#include "format/words.h"
#include "base/path.h"
#include "dump.h"

#include <stdlib.h>
#include <string.h>

static void name_node(char *buffer, size_t room, const struct hyb_node_info *node)
{

	switch ((enum hyb_node_type)node->type) {
	case HYB_TYPE_ROOT:
		buffer[0] = 0;
		break;
	case HYB_TYPE_REGION:
		snprintf(buffer, room, "%s", node->region->name);
		break;
	case HYB_TYPE_PYTHON:
		snprintf(buffer, room, "%s:%s:%u", node->region->name, path_base(node->region->file),
			node->line);
		break;
	case HYB_TYPE_AWAIT:
		snprintf(buffer, room, "[awaiting]");
		break;
	case HYB_TYPE_PARTIAL:
		snprintf(buffer, room, "[incomplete: %s]", word_text(&words_partial, node->reason));
		break;
	default:
		dump_code(buffer, room, node->module, node->address);
		break;
	}
}

/* "/solve/libm.so.6+0x1234": the names from below the thread down to the node; NULL when memory is out. */
static char *make_path(const struct hyb_location_info *location, uint32_t node)
{
	uint32_t depth = 0, *chain;
	char *path = NULL, name[HYB_NAME_MAX + 1];
	size_t length;
	FILE *f;

	for (uint32_t i = node; i; i = location->nodes[i].parent)
		depth++;
	chain = malloc((depth + 1) * sizeof(*chain));
	f = open_memstream(&path, &length);
	if (chain && f) {
		for (uint32_t i = node, k = depth; i; i = location->nodes[i].parent)
			chain[--k] = i;
		for (uint32_t k = 0; k < depth; k++) {
			name_node(name, sizeof(name), &location->nodes[chain[k]]);
			fprintf(f, "/%s", name);
		}
		if (!depth)
			putc('/', f);
	}
	if (f && fclose(f)) {
		free(path);
		path = NULL;
	}
	free(chain);
	return path;
}

#define PATHS 4096u /* that are kept, a power of two: memory stays small however many nodes there are */

/* A path at the place of its node, until another one takes the place. */
struct path {
	const struct hyb_location_info *location;
	uint32_t node;
	char *text; /* NULL: none is kept here */
};

/* NULL when memory is out. */
static const char *path_of(struct path *paths, const struct hyb_location_info *location, uint32_t node)
{
	struct path *path = &paths[(node + location->id * 977u) & (PATHS - 1)];

	if (!path->text || path->location != location || path->node != node) {
		free(path->text);
		*path = (struct path){location, node, make_path(location, node)};
	}
	return path->text;
}

static void free_paths(struct path *paths)
{
	for (uint32_t i = 0; paths && i < PATHS; i++)
		free(paths[i].text);
	free(paths);
}

static void show_value(struct out *out, const struct hyb_event *event)
{
	out_text(out, "name", event->text);
	if (event->is_double)
		out_real(out, "value", event->value.real);
	else
		out_signed(out, "value", event->value.integer);
	out_text(out, "unit", event->unit);
}

static void show_sample(struct out *out, const struct hyb_event *event)
{
	out_number(out, "weight", event->weight);
	if (event->since != HYB_TIME_UNKNOWN)
		out_number(out, "since", event->since);
	if (event->until != HYB_TIME_UNKNOWN)
		out_number(out, "until", event->until);
	if (event->blocked)
		out_number(out, "blocked", event->blocked);
	if (event->overflow)
		out_text(out, "overflow", event->location->process->metrics[event->overflow - 1].name);
}

static void show_metrics(struct out *out, const struct hyb_event *event)
{
	const struct hyb_process *p = event->location->process;

	if (event->values)
		out_metrics(out, "values", p->metrics, event->values, p->metric_count);
	if (event->since_values)
		out_metrics(out, "since_values", p->metrics, event->since_values, p->metric_count);
	if (event->until_values)
		out_metrics(out, "until_values", p->metrics, event->until_values, p->metric_count);
}

static bool show_event(struct out *out, const struct hyb_event *event, struct path *paths)
{
	bool mpi = hyb_event_is_mpi(event->kind) || event->kind == HYB_EVENT_UNMEASURED;
	const char *path = NULL;

	if (event->kind <= HYB_EVENT_COMPLETE || mpi) {
		path = path_of(paths, event->location, event->node);
		if (!path)
			return false;
	}
	out_begin(out, "event");
	out_number(out, "time", event->time);
	out_number(out, "pid", event->location->process->pid);
	out_number(out, "location", event->location->id);
	out_word(out, "kind", word_key(&words_event, event->kind));
	if (event->kind == HYB_EVENT_SAMPLE)
		show_sample(out, event);
	else if (event->kind == HYB_EVENT_COUNTER)
		show_value(out, event);
	else if (event->kind == HYB_EVENT_MARKER)
		out_text(out, "text", event->text);
	else if (mpi)
		dump_mpi_event(out, event);
	show_metrics(out, event);
	if (path)
		out_text(out, "path", path);
	out_end(out);
	return true;
}

bool dump_events(struct out *out, struct hyb_experiment *experiment, struct hyb_error *err)
{
	struct hyb_events *events = hyb_events_open(experiment, NULL, true, err);
	struct path *paths = calloc(PATHS, sizeof(*paths));
	struct hyb_event event;
	int result = paths ? HYB_OK : HYB_ENOMEM;

	while (events && !ferror(out->file) && result >= 0) {
		result = hyb_events_next(events, &event);
		if (result <= 0)
			break;
		if (!show_event(out, &event, paths))
			result = HYB_ENOMEM;
	}
	if (events && result < 0)
		error_set(err, HYB_ENOMEM, "%s: out of memory", hyb_experiment_path(experiment));
	hyb_events_close(events);
	free_paths(paths);
	return events && result >= 0;
}

#include "reader_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int help_open_bytes(const void *data, size_t length, struct hyb_experiment **ret, struct hyb_error *err)
{
	int fd = memfd_create("test.hyb", MFD_CLOEXEC), result;
	char path[64];

	if (fd < 0 || write(fd, data, length) != (ssize_t)length)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = hyb_experiment_open(path, ret, err);
	close(fd); /* the reader has a descriptor of its own */
	return result;
}

struct hyb_experiment *help_open(struct writer *w)
{
	struct hyb_experiment *e;
	struct hyb_error err;
	size_t length;
	const uint8_t *data = writer_data(w, &length);

	if (help_open_bytes(data, length, &e, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return e;
}

void help_close(struct hyb_experiment *e, struct writer *w)
{
	hyb_experiment_close(e);
	writer_free(w);
}

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "the reader broke its word: %s\n", what);
	abort();
}

static size_t touch_tree(const struct hyb_location_info *l)
{
	size_t sum = strlen(l->name);

	need(l->node_count >= 1 && l->nodes[0].type == HYB_TYPE_ROOT, "root");
	need(l->end >= l->start, "end");
	for (size_t i = 0; i < l->node_count; i++) {
		const struct hyb_node_info *n = &l->nodes[i];

		need(n->parent < i || !i, "parent");
		need(n->probe <= i && l->nodes[n->probe].type <= HYB_TYPE_FUNCTION, "probe");
		need((n->type == HYB_TYPE_REGION || n->type == HYB_TYPE_PYTHON) == (n->region != NULL),
			"region");
		need(!i || l->nodes[n->parent].type != HYB_TYPE_AWAIT, "awaiting");
		sum += n->region ? strlen(n->region->name) + strlen(n->region->file) : 0;
		sum += n->module ? strlen(n->module->path) : 0;
	}
	return sum;
}

static size_t touch_process(const struct hyb_process *p)
{
	size_t sum = strlen(p->host) + strlen(p->file);

	for (size_t i = 0; i < p->location_count; i++)
		sum += touch_tree(&p->locations[i]);
	for (size_t i = 0; i < p->metadata_count; i++)
		sum += strlen(p->metadata[i].key) + strlen(p->metadata[i].value);
	for (size_t i = 0; i < p->note_count; i++)
		sum += strlen(p->notes[i].text);
	for (size_t i = 0; i < p->child_count; i++)
		sum += strlen(p->children[i].path);
	return sum;
}

size_t help_read_all(struct hyb_experiment *e, bool complete)
{
	struct hyb_events *events = hyb_events_open(e, NULL, complete, NULL);
	size_t count = 0, sum = 0;
	struct hyb_event event;
	uint64_t time = 0;

	for (size_t i = 0; i < hyb_process_count(e); i++)
		sum += touch_process(hyb_process_at(e, i));
	need(events, "events open");
	while (hyb_events_next(events, &event) > 0) {
		need(event.time >= time, "time order");
		need(event.node < event.location->node_count, "node");
		need(event.kind != HYB_EVENT_COUNTER || (event.text && event.unit), "counter");
		need(event.kind != HYB_EVENT_MARKER || event.text, "marker");
		time = event.time;
		count++;
	}
	hyb_events_close(events);
	for (size_t i = 0; i < hyb_damage_count(e) && hyb_damage_text(e, i); i++)
		sum += strlen(hyb_damage_text(e, i));
	need(sum != SIZE_MAX, "sum");
	return count;
}

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

void help_add_mpi(struct writer *w, uint32_t l)
{
	uint64_t region = writer_region(w, "MPI_Waitall", "", 0, HYB_REGION_MPI);
	uint32_t comm, file, root, probe;

	writer_world(w, 0xabcdef, 1, 4);
	comm = writer_handle(w, HYB_HANDLE_COMM, 77, 0, 1, 4, "MPI_COMM_WORLD");
	file = writer_handle(w, HYB_HANDLE_FILE, 78, 77, 1, 4, "out");
	writer_handle_name(w, comm, "all");
	writer_clock(w, 1000, -500, 3);
	writer_clock(w, 2000, -400, 3);
	root = writer_location(w, l, l, 1000);
	probe = writer_node(w, l, root, HYB_NODE_REGION, region);
	writer_message_node(w, l, probe, HYB_MESSAGE(HYB_MESSAGE_SEND, 4, comm, 3), 1, 10, 8, 0);
	writer_message_node(w, l, probe, HYB_MESSAGE(HYB_MESSAGE_READ, 4, file, HYB_PEER_NONE), 1, 10, 0, 8);
	writer_enter(w, l, 1100, probe);
	writer_send(w, l, 1110, comm, 3, 5, 8, 1);
	writer_recv(w, l, 1110, comm, 2, 5, 8, 2);
	writer_request(w, l, 1110, HYB_OTHER_SENT, 1);
	writer_collective(w, l, 1120, comm, 0, 8, 8, 0, HYB_COLLECTIVE_BCAST);
	writer_epoch(w, l, 1130, comm, HYB_PEER_NONE);
	writer_transfer(w, l, 1140, HYB_OTHER_READ, file, 4096, 8, 0);
	writer_failed(w, l, 1150, 15);
	writer_leave(w, l, 1150);
}

uint32_t help_add_metrics(struct writer *w, uint32_t l, bool enters)
{
	uint64_t region = writer_region(w, "metered", "", 0, HYB_REGION_USER);
	uint32_t root, probe, leaf;

	root = writer_location(w, l, l, 1000);
	probe = writer_node(w, l, root, HYB_NODE_REGION, region);
	leaf = writer_node(w, l, probe, HYB_NODE_LEAF, 0x1000);
	memcpy(writer_values_at(w, probe), (int64_t[]){5, 6}, 16);
	writer_overflows_at(w, leaf)[0] = 3;
	writer_open(w, l, probe, 1010);
	memcpy(writer_entered_at(w, l, 1), (int64_t[]){7, 8}, 16);
	memcpy(writer_metrics_at(w, l)->last, (int64_t[]){1000, 9}, 16);
	writer_location_at(w, l)->last = 1030;
	if (enters)
		writer_enter(w, l, 1010, probe);
	writer_read(w, l, (int64_t[]){300, 9});
	writer_cause(w, l, 0, (int64_t[]){293, 1});
	writer_sample(w, l, 1020, leaf, 10, 0, 1);
	writer_trace_break(w, l, false, 1);
	writer_read(w, l, (int64_t[]){1000, 9});
	writer_sample(w, l, 1030, leaf, WRITER_NOT_FIRST, 0, 1);
	if (enters)
		writer_leave(w, l, 1040);
	else
		writer_complete(w, l, 1040, probe);
	return probe;
}

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "the reader broke its word: %s\n", what);
	abort();
}

/* So that a sanitizer sees what cannot be read. */
static size_t touch_values(const struct hyb_process *p, const void *values)
{
	const uint64_t *v = values;
	size_t sum = 0;

	need(!values || p->metric_count, "values of no metrics");
	for (size_t i = 0; values && i < p->metric_count; i++)
		sum += v[i] & 1;
	return sum;
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
		need(!i || l->nodes[n->parent].type < HYB_TYPE_AWAIT, "annex");
		need((n->type == HYB_TYPE_MESSAGE) == (n->message != 0), "message");
		need(n->type != HYB_TYPE_MESSAGE || l->nodes[n->parent].region->mpi, "region of MPI");
		need(n->peer & HYB_RANK_FOREIGN || n->peer < l->process->world_size, "peer");
		sum += n->handle ? strlen(n->handle->name) : 0;
		sum += n->region ? strlen(n->region->name) + strlen(n->region->file) : 0;
		sum += n->module ? strlen(n->module->path) : 0;
		sum += touch_values(l->process, n->values) + touch_values(l->process, n->overflows);
		need(!n->values || n->overflows, "overflows beside values");
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
	for (size_t i = 0; i < p->handle_count; i++) {
		sum += strlen(p->handles[i].name);
		need(p->handles[i].id > (i ? p->handles[i - 1].id : 0), "handles by id");
		need(p->handles[i].rank < p->handles[i].size, "rank in a handle");
	}
	need(p->metric_count <= HYB_METRICS_MAX, "number of metrics");
	for (size_t i = 0; i < p->metric_count; i++)
		sum += strlen(p->metrics[i].name) + strlen(p->metrics[i].unit) +
		       strlen(p->metrics[i].description);
	for (size_t i = 1; i < p->offset_count; i++)
		need(p->offsets[i].time >= p->offsets[i - 1].time, "clock offsets by time");
	need(p->world ? p->rank < p->world_size : p->rank == HYB_RANK_NONE, "rank");
	return sum;
}

static size_t touch_event(const struct hyb_event *e)
{
	const struct hyb_process *p = e->location->process;

	need(e->overflow <= p->metric_count, "metric of an overflow");
	need(!e->values || e->kind <= HYB_EVENT_COMPLETE, "values of an event");
	need(!e->since_values || (e->values && e->since != HYB_TIME_UNKNOWN), "values since");
	need(!e->until_values || (e->values && e->until != HYB_TIME_UNKNOWN), "values until");
	return touch_values(p, e->values) + touch_values(p, e->since_values) +
	       touch_values(p, e->until_values);
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
		need(event.peer & HYB_RANK_FOREIGN || event.peer < event.location->process->world_size,
			"peer of an event");
		need((event.kind == HYB_EVENT_MESSAGE) == (event.message != 0), "message of an event");
		sum += event.handle ? strlen(event.handle->name) : 0;
		sum += touch_event(&event);
		time = event.time;
		count++;
	}
	hyb_events_close(events);
	for (size_t i = 0; i < hyb_damage_count(e) && hyb_damage_text(e, i); i++)
		sum += strlen(hyb_damage_text(e, i));
	need(sum != SIZE_MAX, "sum");
	return count;
}

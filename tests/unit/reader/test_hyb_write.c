/* The writer of files from elsewhere, against the reader. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/varint.h"
#include "format/hyb_write.h"
#include "hybrid/reader.h"

/* A file without a name. */
static int make_file(char *path, size_t size)
{
	char name[] = "/tmp/hyb-write-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

static struct hyb_experiment *open_file(const char *path)
{
	struct hyb_experiment *e;
	struct hyb_error err;

	if (hyb_experiment_open(path, &e, &err))
		fail_msg("%s", err.text);
	assert_int_equal(hyb_damage_count(e), 0);
	return e;
}

static const struct hyb_header header = {.pid = 7,
	.state = HYB_STATE_EXITED,
	.trace_events = 1,
	.first = {1000, 1000},
	.last = {2000, 2000},
	.end = 1900,
	.host = "there"};

/* A thread that enters a region `times` times, 10 ticks each, and reads `metrics` there. */
static void write_thread(
	struct hyb_write *w, uint32_t id, uint64_t region, unsigned times, const int64_t *grow)
{
	struct hyb_node *node;
	int64_t values[2] = {100, 200};
	uint32_t root, number;
	uint64_t tick = 1000;

	hyb_write_location(w, id, 70 + id, tick, "worker");
	hyb_write_root(w, &root);
	node = hyb_write_node(w, root, HYB_NODE_REGION, region, &number);
	for (unsigned i = 0; i < times; i++) {
		hyb_write_enter(w, tick, number, grow ? values : NULL);
		if (grow) {
			values[0] += grow[0];
			values[1] += grow[1];
			hyb_write_values(node)[0] += grow[0];
			hyb_write_values(node)[1] += grow[1];
		}
		hyb_write_leave(w, tick += 10, root, grow ? values : NULL);
		node->count++;
		node->inclusive += 10;
	}
	hyb_write_location_end(w, tick + 5, grow ? values : NULL);
}

/* Counts events, and sees that the metrics grow in each region by what is said. */
static void check_events(struct hyb_experiment *e, unsigned times, const int64_t *grow)
{
	const struct hyb_process *p = hyb_process_at(e, 0);
	struct hyb_events *events = hyb_events_open(e, &p->locations[0], false, NULL);
	unsigned enters = 0, leaves = 0;
	int64_t before[2] = {0};
	struct hyb_event event;

	while (hyb_events_next(events, &event) > 0) {
		if (event.kind == HYB_EVENT_ENTER) {
			assert_int_equal(event.time, 1000 + 10 * enters++);
		} else if (event.kind == HYB_EVENT_LEAVE) {
			assert_int_equal(event.time, 1000 + 10 * ++leaves);
			for (int i = 0; grow && i < 2; i++)
				assert_int_equal(event.values[i] - before[i], grow[i]);
		}
		if (grow)
			memcpy(before, event.values, sizeof(before));
	}
	assert_int_equal(enters, times);
	assert_int_equal(leaves, times);
	hyb_events_close(events);
}

static void test_plain(void **state)
{
	const unsigned times = 100000; /* some chunks */
	char path[64];
	int fd = make_file(path, sizeof(path));
	struct hyb_write *w = hyb_write_new(fd, false);
	const struct hyb_node_info *node;
	const struct hyb_process *p;
	struct hyb_experiment *e;

	hyb_write_process(w, &header);
	write_thread(w, 1, hyb_write_region(w, HYB_REGION_FUNCTION, "work", "work.c", 12), times, NULL);
	assert_int_equal(hyb_write_error(w), 0);
	hyb_write_free(w);
	e = open_file(path);
	p = hyb_process_at(e, 0);
	assert_int_equal(p->pid, 7);
	assert_string_equal(p->host, "there");
	assert_int_equal(p->end, 1900);
	assert_int_equal(p->location_count, 1);
	assert_string_equal(p->locations[0].name, "worker");
	assert_int_equal(p->locations[0].tid, 71);
	assert_int_equal(p->locations[0].nodes[0].inclusive, 10 * times + 5);
	node = &p->locations[0].nodes[1];
	assert_string_equal(node->region->name, "work");
	assert_string_equal(node->region->file, "work.c");
	assert_int_equal(node->region->line, 12);
	assert_int_equal(node->calls, times);
	assert_int_equal(node->inclusive, 10 * times);
	check_events(e, times, NULL);
	hyb_experiment_close(e);
	close(fd);
}

static void test_metrics(void **state)
{
	static const int64_t grow[] = {3, -5};
	const unsigned times = 30000;
	char path[64];
	int fd = make_file(path, sizeof(path));
	struct hyb_write *w = hyb_write_new(fd, false);
	const struct hyb_process *p;
	struct hyb_experiment *e;

	hyb_write_process(w, &header);
	hyb_write_metric(w, &(struct hyb_def_metric){.mode = HYB_METRIC_COUNT}, "faults", "", "page faults");
	hyb_write_metric(w, &(struct hyb_def_metric){.mode = HYB_METRIC_LEVEL}, "memory", "B", "");
	write_thread(w, 1, hyb_write_region(w, HYB_REGION_USER, "work", "", 0), times, grow);
	hyb_write_free(w);
	e = open_file(path);
	p = hyb_process_at(e, 0);
	assert_int_equal(p->metric_count, 2);
	assert_string_equal(p->metrics[0].name, "faults");
	assert_string_equal(p->metrics[0].description, "page faults");
	assert_string_equal(p->metrics[1].unit, "B");
	assert_true(p->metrics[1].level);
	assert_int_equal(p->locations[0].nodes[1].values[0], 3 * times);
	assert_int_equal(p->locations[0].nodes[1].values[1], -5 * (int64_t)times);
	check_events(e, times, grow);
	hyb_experiment_close(e);
	close(fd);
}

/* Two processes, each a rank of the same world. */
static void write_two(struct hyb_write *w)
{
	char longer[HYB_NAME_MAX + 100];
	uint32_t root, frame;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	for (uint32_t rank = 0; rank < 2; rank++) {
		hyb_write_process(w, &header)->pid = 10 + rank;
		hyb_write_world(w, &(struct hyb_def_world){.identity = 5, .rank = rank, .size = 2});
		hyb_write_handle(w,
			&(struct hyb_def_handle){
				.identity = 6, .id = 1, .kind = HYB_HANDLE_COMM, .rank = rank, .size = 2},
			"world");
		hyb_write_location(w, 1, 1, 1000, "");
		hyb_write_root(w, &root);
		hyb_write_node(w, root, HYB_NODE_PYTHON,
			HYB_PYTHON(hyb_write_region(w, HYB_REGION_PYTHON, longer, "f.c", 3), 44), &frame)
			->samples++;
		hyb_write_sample(w, 1003, frame, 3, NULL);
		hyb_write_mpi(w, 1003,
			&(struct mpi_record){
				.what = HYB_OTHER_SEND, .handle = 1, .peer = !rank, .tag = -1, .sent = 99});
		hyb_write_count_real(w, 1004, hyb_write_counter(w, "load", "%", true), 0.5);
		hyb_write_count(w, 1004, hyb_write_counter(w, "items", "", false), -9);
		hyb_write_marker(w, 1005, hyb_write_text(w, "half"));
		hyb_write_location_end(w, 1010, NULL);
	}
}

/* Several processes, messages, samples, counters and markers; names that are too long. */
static void test_several(void **state)
{
	char path[64];
	int fd = make_file(path, sizeof(path));
	struct hyb_write *w = hyb_write_new(fd, true);
	const struct hyb_process *p;
	struct hyb_experiment *e;
	struct hyb_events *events;
	struct hyb_event event;

	write_two(w);
	hyb_write_free(w);
	e = open_file(path);
	assert_int_equal(hyb_process_count(e), 2);
	p = hyb_process_at(e, 1);
	assert_int_equal(p->pid, 11);
	assert_int_equal(p->rank, 1);
	assert_int_equal(p->names_cut, 1);
	assert_int_equal(strlen(p->locations[0].nodes[1].region->name), HYB_NAME_MAX);
	assert_int_equal(p->locations[0].nodes[1].line, 44);
	events = hyb_events_open(e, &p->locations[0], false, NULL);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_SAMPLE);
	assert_int_equal(event.since, 3);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_MESSAGE);
	assert_int_equal(event.peer, 0);
	assert_int_equal(event.tag, -1);
	assert_int_equal(event.sent, 99);
	assert_string_equal(event.handle->name, "world");
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_true(event.is_double && event.value.real == 0.5);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.value.integer, -9);
	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_string_equal(event.text, "half");
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
	hyb_experiment_close(e);
	close(fd);
}

/* No space: the first failure is kept, what follows does no harm. */
static void test_full(void **state)
{
	struct rlimit before, small;
	char path[64];
	int fd = make_file(path, sizeof(path));
	struct hyb_write *w;

	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 100000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	w = hyb_write_new(fd, true);
	for (uint32_t i = 1; i <= 3; i++) {
		hyb_write_process(w, &header);
		write_thread(w, 1, hyb_write_region(w, HYB_REGION_USER, "work", "", 0), 50000, NULL);
	}
	assert_int_equal(hyb_write_error(w), EFBIG);
	hyb_write_free(w);
	setrlimit(RLIMIT_FSIZE, &before);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_several), cmocka_unit_test(test_full)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What hybrid-view opens: snapshots, what is chosen in them, reading again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hyb_writer.h"
#include "profile/running.h"
#include "viewer/snapshot/focus.h"
#include "viewer/model/tree_data.h"
#include "viewer/snapshot/session.h"
#include "viewer/snapshot/live.h"

struct fixture {
	char folder[64], first[96], second[96];
	char *paths[2];
	struct view_options options;
	struct work *work;
	struct session *session;
	struct snapshot *snapshot;
	unsigned delivered, failed;
	char error[600];
};

/* Threads of these ids; thread n calls solve n + 10 times, and step below it. */
static void write_threads(const char *path, const uint32_t *ids, size_t count)
{
	struct writer *w = writer_new();
	uint64_t solve = writer_region(w, "solve", "app.c", 3, HYB_REGION_USER);
	uint64_t step = writer_region(w, "step", "app.c", 9, HYB_REGION_USER);

	for (size_t i = 0; i < count; i++) {
		uint32_t root = writer_location(w, ids[i], 100 + ids[i], 1000), node, below;

		/* so that the order of the threads' nodes is not that of the tree */
		below = writer_node(w, ids[i], root, HYB_NODE_REGION, step);
		writer_node_at(w, below)->count = 1;
		writer_node_at(w, below)->inclusive = 10;
		node = writer_node(w, ids[i], root, HYB_NODE_REGION, solve);
		writer_node_at(w, node)->count = ids[i] + 10;
		writer_node_at(w, node)->inclusive = 500;
		below = writer_node(w, ids[i], node, HYB_NODE_REGION, step);
		writer_node_at(w, below)->count = 2;
		writer_node_at(w, below)->inclusive = 100;
		writer_location_end(w, ids[i], 3000);
	}
	writer_header(w)->state = HYB_STATE_EXITED;
	writer_write(w, path);
	writer_free(w);
}

/* A thread that called early, then, if it did, solve and step below it. */
static void write_early(const char *path, bool solved)
{
	struct writer *w = writer_new();
	uint64_t early = writer_region(w, "early", "app.c", 1, HYB_REGION_USER);
	uint64_t solve = writer_region(w, "solve", "app.c", 3, HYB_REGION_USER);
	uint64_t step = writer_region(w, "step", "app.c", 9, HYB_REGION_USER);
	uint32_t root = writer_location(w, 1, 101, 1000), node;

	node = writer_node(w, 1, root, HYB_NODE_REGION, early);
	node = writer_node(w, 1, node, HYB_NODE_REGION, early);
	writer_node_at(w, node)->count = 1;
	if (solved) {
		node = writer_node(w, 1, root, HYB_NODE_REGION, solve);
		node = writer_node(w, 1, node, HYB_NODE_REGION, step);
		writer_node_at(w, node)->count = 1;
	}
	writer_location_end(w, 1, 3000);
	writer_header(w)->state = HYB_STATE_EXITED;
	writer_write(w, path);
	writer_free(w);
}

static void loaded(void *data, struct snapshot *snapshot, const char *error)
{
	struct fixture *f = data;

	f->delivered += snapshot != NULL;
	f->failed += !snapshot;
	if (!snapshot) {
		snprintf(f->error, sizeof(f->error), "%s", error);
		return;
	}
	snapshot_drop(f->snapshot);
	f->snapshot = snapshot;
}

/* Until something more was said. */
static void wait_more(struct fixture *f)
{
	unsigned before = f->delivered + f->failed;
	struct pollfd fd = {.fd = work_fd(f->work), .events = POLLIN};

	while (f->delivered + f->failed == before) {
		assert_int_equal(poll(&fd, 1, 60000), 1);
		work_finish(f->work);
	}
}

static void load(struct fixture *f, const struct query *query, bool again)
{
	assert_int_equal(session_load(f->session, query, again), 0);
	wait_more(f);
}

static int begin(void **state)
{
	static const uint32_t ids[] = {1, 3};
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/hybrid-session-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->first, sizeof(f->first), "%s/first.hyb", f->folder);
	snprintf(f->second, sizeof(f->second), "%s/second.hyb", f->folder);
	write_threads(f->first, ids, 2);
	write_threads(f->second, ids, 1);
	f->paths[0] = f->first;
	f->paths[1] = f->second;
	f->options = (struct view_options){.paths = f->paths, .path_count = 1};
	f->work = work_new();
	f->session = session_new(&f->options, f->work, loaded, f);
	assert_non_null(f->session);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	char name[160];

	session_free(f->session);
	snapshot_drop(f->snapshot);
	work_free(f->work);
	unlink(f->first);
	unlink(f->second);
	snprintf(name, sizeof(name), "%s.symbols", f->first);
	unlink(name);
	snprintf(name, sizeof(name), "%s.symbols", f->second);
	unlink(name);
	assert_int_equal(rmdir(f->folder), 0);
	free(f);
	return 0;
}

static const struct profile_node *find(const struct profile *profile, const char *name, uint32_t parent)
{
	const struct profile_node *nodes = profile_nodes(profile);

	for (uint32_t i = 1; i < profile_count(profile); i++)
		if (!strcmp(nodes[i].name, name) && nodes[i].parent == parent)
			return &nodes[i];
	return NULL;
}

/* Each node of each thread that takes part is where the tree has its name, below where its parent is. */
static void check_own(const struct snapshot *s)
{
	const struct profile_node *nodes = profile_nodes(s->profile);

	for (size_t i = 0; i < s->location_count; i++)
		for (size_t k = 1; s->own[i] && k < s->locations[i]->node_count; k++) {
			const struct hyb_node_info *own = &s->locations[i]->nodes[k];

			assert_string_equal(nodes[s->own[i][k]].name, own->region->name);
			assert_int_equal(nodes[s->own[i][k]].parent, s->own[i][own->parent]);
		}
}

static void test_snapshot(void **state)
{
	struct fixture *f = *state;
	struct query query = {.mode = PROFILE_ROUTINE};

	load(f, &query, false);
	assert_int_equal(f->snapshot->location_count, 2);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 11 + 13);
	assert_null(f->snapshot->base);
	assert_false(f->snapshot->running);
	assert_string_equal(f->snapshot->warning, "");
	check_own(f->snapshot);
	query.mode = PROFILE_CALLSITE;
	load(f, &query, false);
	assert_int_equal(f->snapshot->query.mode, PROFILE_CALLSITE);
	assert_int_equal(f->snapshot->serial, 2);
	assert_int_equal(session_wait(f->session), -1);
}

/* How old the data are does not depend on when they were merged. */
static void test_read_at(void **state)
{
	struct fixture *f = *state;
	struct query query = {.mode = PROFILE_ROUTINE};
	uint64_t first;

	f->options.look.base = f->second;
	load(f, &query, false);
	first = f->snapshot->read_at;
	assert_true(first > 0);
	query.mode = PROFILE_CALLSITE;
	load(f, &query, false);
	assert_int_equal(f->snapshot->read_at, first);
	load(f, &query, true);
	assert_true(f->snapshot->read_at > first);
}

/* What was chosen stays chosen, wherever it stands when the files are read again. */
static void test_selection(void **state)
{
	static const uint32_t more[] = {1, 2, 3};
	struct fixture *f = *state;
	bool selected[2] = {false, true};
	struct query query = {.selected = NULL};

	load(f, &query, false);
	query.selected = selected;
	query.selected_count = 2;
	load(f, &query, false);
	assert_null(f->snapshot->own[0]);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 13);
	write_threads(f->first, more, 3);
	load(f, &f->snapshot->query, true);
	assert_int_equal(f->snapshot->location_count, 3);
	assert_int_equal(f->snapshot->query.selected_count, 3);
	assert_false(f->snapshot->query.selected[1]);
	assert_true(f->snapshot->query.selected[2]);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 13);
	check_own(f->snapshot);
	f->options.look.part.thread = 102;
	load(f, &(struct query){.mode = PROFILE_ROUTINE}, false);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 12);
}

/* What the cursor is on outlives what told it, and its place in the tree is that of one snapshot only. */
static void test_focus(void **state)
{
	struct fixture *f = *state;
	struct query query = {.mode = PROFILE_ROUTINE};
	struct focus focus = {.kind = PROFILE_PROBE, .line = 9}, same;
	struct snapshot *before;
	const struct profile_node *nodes;
	char name[] = "step", file[] = "app.c";
	uint32_t node;

	load(f, &query, false);
	nodes = profile_nodes(f->snapshot->profile);
	node = (uint32_t)(find(f->snapshot->profile, "solve", 0) - nodes);
	focus.node = (uint32_t)(find(f->snapshot->profile, "step", node) - nodes);
	focus.serial = f->snapshot->serial;
	focus.name = name;
	focus.file = file;
	assert_int_equal(focus_copy(&same, &focus), 0);
	*name = *file = 'x';
	assert_string_equal(same.name, "step");
	assert_string_equal(same.file, "app.c");
	assert_string_equal(same.module, "");
	assert_int_equal(focus_node(&same, f->snapshot), focus.node);
	assert_false(focus_is(&same, &focus));

	before = snapshot_keep(f->snapshot);
	write_early(f->first, true);
	load(f, &query, true);
	assert_int_equal(focus_node(&same, f->snapshot), NO_NODE);
	focus_carry(&same, before, f->snapshot);
	assert_int_equal(focus_node(&same, before), NO_NODE);
	snapshot_drop(before);
	node = focus_node(&same, f->snapshot);
	nodes = profile_nodes(f->snapshot->profile);
	assert_int_not_equal(node, focus.node);
	assert_string_equal(nodes[node].name, "step");
	assert_string_equal(nodes[nodes[node].parent].name, "solve");
	assert_string_equal(same.name, "step");

	before = snapshot_keep(f->snapshot);
	write_early(f->first, false);
	load(f, &query, true);
	focus_carry(&same, before, f->snapshot);
	assert_int_equal(same.kind, 0);
	focus_release(&same);
	snapshot_drop(before);
}

static void test_failure(void **state)
{
	struct fixture *f = *state;
	struct query query = {.mode = PROFILE_ROUTINE};
	char expected[200];

	load(f, &query, false);
	unlink(f->first);
	load(f, &query, true);
	assert_int_equal(f->failed, 1);
	snprintf(expected, sizeof(expected), "%s: cannot be opened: No such file or directory", f->first);
	assert_string_equal(f->error, expected);
	query.mode = PROFILE_CALLSITE; /* what is open is still good */
	load(f, &query, false);
	assert_int_equal(f->delivered, 2);
	f->options.look.part.ranks = "0";
	load(f, &query, false);
	assert_non_null(strstr(f->error, "no such rank in "));
	f->options.look.part.ranks = NULL;
	f->options.look.metrics[0] = "nothing";
	f->options.look.metric_count = 1;
	load(f, &query, false);
	assert_int_equal(strncmp(f->error, "--metric: ", 10), 0);
	assert_int_equal(f->failed, 3);
}

/* Of many questions only the last is answered; one that is under way at the end is not. */
static void test_cancelled(void **state)
{
	struct fixture *f = *state;
	struct query query = {.mode = PROFILE_ROUTINE};
	struct pollfd fd = {.fd = work_fd(f->work), .events = POLLIN};

	for (unsigned i = 0; i < 20; i++) {
		query.mode = i % 2 ? PROFILE_ROUTINE : PROFILE_CALLSITE;
		assert_int_equal(session_load(f->session, &query, i % 3 == 0), 0);
	}
	wait_more(f);
	assert_int_equal(f->delivered, 1);
	assert_int_equal(f->snapshot->query.mode, PROFILE_ROUTINE);
	session_load(f->session, &query, true);
	session_free(f->session);
	f->session = NULL;
	assert_int_equal(poll(&fd, 1, 60000), 1);
	work_finish(f->work);
	assert_int_equal(f->delivered + f->failed, 1);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 11 + 13);
	assert_int_equal(hyb_process_count(f->snapshot->opened[0].experiment), 1);
}

static void test_several_and_base(void **state)
{
	struct fixture *f = *state;
	bool selected[3] = {false, false, true};
	struct query query = {.mode = PROFILE_ROUTINE};

	f->options.path_count = 2;
	f->options.look.base = f->second;
	load(f, &query, false);
	assert_int_equal(f->snapshot->location_count, 3);
	assert_int_equal(f->snapshot->base_from, 2);
	assert_int_equal(f->snapshot->opened_count, 3);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 11 + 13 + 11);
	assert_int_equal(find(f->snapshot->base, "solve", 0)->calls, 11);
	assert_true(profile_diff_count(f->snapshot->diff) > 1);
	query.selected = selected;
	query.selected_count = 3;
	load(f, &query, false);
	assert_int_equal(find(f->snapshot->profile, "solve", 0)->calls, 11);
	assert_int_equal(find(f->snapshot->base, "solve", 0)->calls, 11);
	load(f, &f->snapshot->query, true);
	assert_true(f->snapshot->query.selected[2]);
}

/* What is 100 % stays so, where the time of what is hidden becomes waiting of the root. */
static void test_whole(void **state)
{
	static const enum tree_kind kinds[] = {TREE_CALLS_DOWN, TREE_REVERSED, TREE_FLAT};
	struct fixture *f = *state;
	struct query query = {.mode = PROFILE_ROUTINE};
	const struct profile_node *nodes;
	size_t size;

	load(f, &query, false);
	nodes = profile_nodes(f->snapshot->profile);
	size = profile_count(f->snapshot->profile) * sizeof(*nodes);
	for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(*kinds); i++) {
		struct tree_request request = {.kind = kinds[i / 2], .snapshot = snapshot_keep(f->snapshot)};
		struct tree_data *data;

		request.window = malloc(size);
		memcpy(request.window, nodes, size);
		for (size_t k = 0; k < size / sizeof(*nodes); k++) {
			struct profile_node *node = &request.window[k];

			node->blocked = k ? node->exclusive : node->exclusive / 4;
			node->exclusive -= node->blocked;
		}
		if (i % 2)
			assert_int_equal(hide_add(&request.hide, HIDE_FUNCTION, "solve", "app.c"), 0);
		data = tree_data_make(&request);
		assert_non_null(data);
		assert_int_equal(data->hidden.tree.count > 0, i % 2);
		assert_int_equal(data->source.whole, profile_whole(data->request.window));
		tree_data_free(data);
	}
}

static void test_running(void **state)
{
	char host[65] = "";
	struct timespec mono, real;
	struct hyb_process process = {.state = HYB_STATE_RUNNING, .pid = (uint32_t)getpid(), .host = host};

	gethostname(host, sizeof(host) - 1);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	process.start = (uint64_t)mono.tv_sec * 1000000000 + (uint64_t)mono.tv_nsec;
	process.realtime = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec - (int64_t)process.start;
	assert_true(process_is_running(&process));
	process.realtime -= 1000000000ll * 86400 * 3650; /* of another boot */
	assert_false(process_is_running(&process));
	process.realtime += 1000000000ll * 86400 * 3650;
	process.state = HYB_STATE_EXITED;
	assert_false(process_is_running(&process));
	process.state = HYB_STATE_RUNNING;
	process.host = "elsewhere.example";
	assert_false(process_is_running(&process));
}

/* What cannot be done now is not due at once again. */
static void test_postponed(void **state)
{
	struct live live = {.due = 1};

	assert_int_equal(live_wait(&live), 0);
	live_postpone(&live);
	assert_true(live.due > 1);
	live_read(&live, true, 0);
	assert_true(live.due > 1);
	live_read(&live, false, 0);
	assert_int_equal(live_wait(&live), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_snapshot, begin, end),
		cmocka_unit_test_setup_teardown(test_read_at, begin, end),
		cmocka_unit_test_setup_teardown(test_selection, begin, end),
		cmocka_unit_test_setup_teardown(test_focus, begin, end),
		cmocka_unit_test_setup_teardown(test_failure, begin, end),
		cmocka_unit_test_setup_teardown(test_cancelled, begin, end),
		cmocka_unit_test_setup_teardown(test_several_and_base, begin, end),
		cmocka_unit_test_setup_teardown(test_whole, begin, end),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_postponed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

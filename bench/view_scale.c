/*
 * How long hybrid-view takes from an experiment to its first tree: opens PATH as the viewer does, without a
 * screen, and prints what that took and how large it was.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench.h"
#include "viewer/snapshot/session.h"

struct result {
	struct snapshot *snapshot;
	bool failed;
};

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void loaded(void *data, struct snapshot *snapshot, const char *error)
{
	struct result *result = data;

	if (!snapshot)
		fprintf(stderr, "view_scale: %s\n", error);
	result->failed = !snapshot;
	snapshot_drop(result->snapshot);
	result->snapshot = snapshot;
}

/* Asks, waits, and prints how long it took; 0 or -1. */
static int take(struct session *session, struct work *work, const struct query *query, const char *what,
	struct result *result)
{
	uint64_t wall = now(), cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t before = result->snapshot ? result->snapshot->serial : 0;
	struct pollfd fd = {.fd = work_fd(work), .events = POLLIN};

	if (session_load(session, query, false))
		return -1;
	while (!result->failed && (!result->snapshot || result->snapshot->serial == before)) {
		poll(&fd, 1, -1);
		work_finish(work);
	}
	if (result->failed)
		return -1;
	printf("%s_ms %.0f\n%s_cpu_ms %.0f\n", what, (double)(now() - wall) / 1e6, what,
		(double)(read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	struct view_options options = {.paths = argv + 1, .path_count = argc - 1};
	struct query query = {.mode = PROFILE_ROUTINE};
	struct result result = {0};
	struct work *work = work_new();
	struct session *session = work ? session_new(&options, work, loaded, &result) : NULL;
	uint64_t nodes = 0;
	uint64_t start;
	int r;

	if (argc < 2 || !session) {
		fprintf(stderr, argc < 2 ? "Usage: view_scale PATH...\n" : "view_scale: out of memory\n");
		return 2;
	}
	r = take(session, work, &query, "open", &result);
	query.mode = PROFILE_CALLSITE;
	if (!r)
		r = take(session, work, &query, "mode", &result);
	for (size_t i = 0; !r && i < result.snapshot->location_count; i++)
		nodes += result.snapshot->locations[i]->node_count;
	if (!r)
		printf("locations %zu\nnodes %llu\ntree %zu\npeak_kib %ld\n", result.snapshot->location_count,
			(unsigned long long)nodes, profile_count(result.snapshot->profile), peak_kib());
	start = now();
	snapshot_drop(result.snapshot);
	session_free(session);
	printf("close_ms %.0f\n", (double)(now() - start) / 1e6);
	work_free(work);
	return r ? 1 : 0;
}

/*
 * How fast events are read: 20 million records of one thread, made here, are
 * iterated, counted per node and merged into totals per node.
 *
 *     read_events [MILLIONS [THREADS [FILE [METRICS]]]]
 *
 * With FILE they are only written there, but not with "-". Records have the values of so many metrics.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "hyb_writer.h"
#include "hybrid/reader.h"

#define PROBES 40
#define LEAVES 25 /* of each probe */

struct rng {
	uint64_t state;
};

static uint64_t draw(struct rng *rng)
{
	rng->state ^= rng->state << 13;
	rng->state ^= rng->state >> 7;
	rng->state ^= rng->state << 17;
	return rng->state >> 11;
}

/* A mix as with --trace: enter, two samples, leave. */
/* Time goes on, and metrics grow. */
static void step(struct writer *w, uint32_t location, struct rng *rng, unsigned metrics, int64_t *values)
{
	for (unsigned i = 0; i < metrics; i++)
		values[i] += (int64_t)(draw(rng) % (i % 2 ? 20000 : 100));
	writer_read(w, location, values);
}

static void make_thread(struct writer *w, uint32_t location, uint64_t records, unsigned metrics)
{
	struct rng rng = {88172645463325252u + location};
	uint32_t root = writer_location(w, location, location, 1000), probes[PROBES], leaves[PROBES][LEAVES];
	int64_t values[HYB_METRICS_MAX] = {0};
	uint64_t tick = 1000;

	for (unsigned i = 0; i < PROBES; i++) {
		uint64_t region = writer_region(w, "region", "file.c", i, HYB_REGION_USER);

		probes[i] = writer_node(w, location, root, HYB_NODE_REGION, region);
		for (unsigned k = 0; k < LEAVES; k++)
			leaves[i][k] =
				writer_node(w, location, probes[i], HYB_NODE_LEAF, HYB_CODE(0, i * 100 + k));
	}
	for (uint64_t n = 0; n < records; n += 4) {
		unsigned probe = (unsigned)(draw(&rng) % PROBES);

		step(w, location, &rng, metrics, values);
		writer_enter(w, location, tick += draw(&rng) % 20000, probes[probe]);
		writer_sample(w, location, tick += draw(&rng) % 20000, leaves[probe][draw(&rng) % LEAVES], 77,
			0, 1);
		step(w, location, &rng, metrics, values);
		writer_sample(w, location, tick += draw(&rng) % 20000, leaves[probe][draw(&rng) % LEAVES],
			WRITER_NOT_FIRST, 0, 1);
		writer_leave(w, location, tick += draw(&rng) % 20000);
	}
	writer_location_end(w, location, tick);
}

static void make(const char *path, uint64_t records, unsigned threads, unsigned metrics)
{
	struct writer *w = writer_new();

	writer_header(w)->trace_events = 1;
	for (unsigned i = 0; i < metrics; i++)
		writer_metric(w, "metric", "", "", HYB_METRIC_COUNT, 0, 0);
	for (uint32_t l = 1; l <= threads; l++)
		make_thread(w, l, records / threads, metrics);
	writer_write(w, path);
	writer_free(w);
}

/* Samples per node first, then summed up towards the root: the tree of the trace alone. */
static uint64_t merge(struct hyb_experiment *e, bool complete, uint64_t *ret_samples)
{
	const struct hyb_process *p = hyb_process_at(e, 0);
	struct hyb_events *events = hyb_events_open(e, NULL, complete, NULL);
	uint64_t **totals = calloc(p->location_count, sizeof(*totals)), count = 0;
	struct hyb_event event;

	for (size_t i = 0; i < p->location_count; i++)
		totals[i] = calloc(p->locations[i].node_count, sizeof(**totals));
	for (; hyb_events_next(events, &event) > 0; count++)
		if (event.kind == HYB_EVENT_SAMPLE)
			totals[event.location - p->locations][event.node] += event.weight;
	*ret_samples = 0;
	for (size_t i = 0; i < p->location_count; i++) {
		for (size_t k = p->locations[i].node_count; k-- > 1;)
			totals[i][p->locations[i].nodes[k].parent] += totals[i][k];
		*ret_samples += totals[i][0];
		free(totals[i]);
	}
	free(totals);
	hyb_events_close(events);
	return count;
}

int main(int argc, char **argv)
{
	uint64_t records = (argc > 1 ? strtoull(argv[1], NULL, 10) : 20) * 1000000;
	unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	unsigned metrics = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	char path[] = "/tmp/hyb-bench-XXXXXX";
	int fd;

	if (!threads || threads > 64 || metrics > HYB_METRICS_MAX)
		return 2;
	if (argc > 3 && strcmp(argv[3], "-"))
		return make(argv[3], records, threads, metrics), 0;
	fd = mkstemp(path);
	if (fd < 0)
		return 2;
	make(path, records, threads, metrics);
	for (int complete = 0; complete < 2; complete++) {
		uint64_t best = UINT64_MAX, count = 0, samples = 0;

		for (int round = 0; round < 3; round++) {
			struct hyb_experiment *e;
			uint64_t start = now();

			if (hyb_experiment_open(path, &e, NULL))
				return 1;
			count = merge(e, complete, &samples);
			hyb_experiment_close(e);
			if (now() - start < best)
				best = now() - start;
		}
		printf("%-8s threads %u records %llu samples %llu seconds %.3f records/s %.1f million\n",
			complete ? "complete" : "once", threads, (unsigned long long)count,
			(unsigned long long)samples, (double)best / 1e9, (double)count * 1e3 / (double)best);
	}
	close(fd);
	unlink(path);
	return 0;
}

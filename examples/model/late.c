/*
 * Late senders: how long receives waited for messages that were not sent yet, by rank. Reads a trace with
 * hybrid/model.h; build it with
 *     cc late.c -o late $(pkg-config --cflags --libs hybrid-reader)
 * and measure with hybrid-run --trace.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <hybrid/model.h>

/* ns that a receive without a request waited for its message; 0 also where times are not known. */
static uint64_t wait_of(const struct hyb_end *send, const struct hyb_end *recv)
{
	uint64_t sent = send->started.call.time, from = recv->started.call.time, to = recv->completed.time;

	if (recv->request || sent == HYB_TIME_UNKNOWN || from == HYB_TIME_UNKNOWN || sent <= from)
		return 0;
	return (sent < to ? sent : to) - from;
}

static int read_trace(struct hyb_model *model, uint64_t *waits, uint32_t ranks)
{
	const struct hyb_step *step;
	int more;

	while ((more = hyb_model_next(model, &step)) > 0)
		if (step->kind == HYB_STEP_MATCH) {
			uint32_t rank = step->recv->started.location->process->rank;

			if (rank < ranks)
				waits[rank] += wait_of(step->send, step->recv);
		}
	return more;
}

/* Ranks of the largest world. */
static uint32_t count_ranks(struct hyb_experiment *experiment)
{
	uint32_t ranks = 0;

	for (size_t i = 0; i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);

		ranks = process->world_size > ranks ? process->world_size : ranks;
	}
	return ranks;
}

int main(int argc, char **argv)
{
	struct hyb_experiment *experiment;
	struct hyb_model *model;
	struct hyb_error err = {0};
	uint64_t *waits;
	uint32_t ranks;
	int failed;

	if (argc != 2 || hyb_experiment_open(argv[1], &experiment, &err)) {
		fprintf(stderr, "late: %s\n", argc == 2 ? err.text : "name an experiment");
		return 1;
	}
	ranks = count_ranks(experiment);
	waits = calloc(ranks + 1, sizeof(*waits));
	model = waits ? hyb_model_open(experiment, &err) : NULL;
	failed = model ? read_trace(model, waits, ranks) : -1;
	if (failed)
		fprintf(stderr, "late: %s\n", *err.text ? err.text : "the trace cannot be read");
	else
		printf("%" PRIu64 " messages\n", hyb_model_totals(model)->matched);
	for (uint32_t rank = 0; rank < ranks && !failed; rank++)
		printf("rank %" PRIu32 " waited %.6f s for late senders\n", rank, (double)waits[rank] / 1e9);
	hyb_model_close(model);
	hyb_experiment_close(experiment);
	free(waits);
	return failed ? 1 : 0;
}

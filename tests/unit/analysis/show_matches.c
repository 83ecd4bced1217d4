/*
 * For the end-to-end tests: a line "SENDER N RECEIVER M UNSURE" for each message of an experiment's trace,
 * the N-th that the one thread sent and the M-th that the other received, counted from 0. A thread is
 * RANK.TID.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "hybrid/model.h"

#define RANKS 64u
#define THREADS 64u

struct places {
	uint32_t *nth; /* by pos: of a SEND or RECV among those of its thread */
	size_t count;
	uint32_t sent[RANKS][THREADS], received[RANKS][THREADS];
};

static void count(struct places *p, const struct hyb_event *event)
{
	const struct hyb_process *process = event->location->process;
	uint32_t rank = process->rank % RANKS,
		 thread = (uint32_t)(event->location - process->locations) % THREADS;

	if (!ARRAY_ROOM(p->nth, p->count))
		abort();
	p->nth[p->count] = 0;
	if (event->kind == HYB_EVENT_MESSAGE && event->message == HYB_SEND)
		p->nth[p->count] = p->sent[rank][thread]++;
	else if (event->kind == HYB_EVENT_MESSAGE && event->message == HYB_RECV)
		p->nth[p->count] = p->received[rank][thread]++;
	p->count++;
}

static void show(const struct places *p, const struct hyb_step *step)
{
	const struct hyb_moment *sent = &step->send->started, *received = &step->recv->completed;

	printf("%u.%u %u %u.%u %u %d\n", sent->location->process->rank, sent->location->tid,
		p->nth[sent->pos - 1], received->location->process->rank, received->location->tid,
		p->nth[received->pos - 1], step->unsure);
}

int main(int argc, char **argv)
{
	struct hyb_experiment *experiment;
	struct hyb_error err = {0};
	const struct hyb_step *step;
	struct hyb_model *model = NULL;
	static struct places places;

	if (argc == 2 && !hyb_experiment_open(argv[1], &experiment, &err))
		model = hyb_model_open(experiment, &err);
	if (!model) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while (hyb_model_next(model, &step) > 0) {
		if (step->kind == HYB_STEP_EVENT)
			count(&places, step->event);
		else if (step->kind == HYB_STEP_MATCH)
			show(&places, step);
	}
	hyb_model_close(model);
	hyb_experiment_close(experiment);
	free(places.nth);
	return 0;
}

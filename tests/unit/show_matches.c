/*
 * For the end-to-end tests: a line "SENDER N RECEIVER M" for each message of an experiment's trace, the
 * N-th that the one rank sent and the M-th that the other received, counted from 0.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "hybrid/model.h"

#define RANKS 64u

struct places {
	uint32_t *nth; /* by pos: of a SEND or RECV among those of its rank */
	size_t count;
	uint32_t sent[RANKS], received[RANKS];
};

static void count(struct places *p, const struct hyb_event *event)
{
	uint32_t rank = event->location->process->rank % RANKS;

	if (!ARRAY_ROOM(p->nth, p->count))
		abort();
	p->nth[p->count] = 0;
	if (event->kind == HYB_EVENT_MESSAGE && event->message == HYB_SEND)
		p->nth[p->count] = p->sent[rank]++;
	else if (event->kind == HYB_EVENT_MESSAGE && event->message == HYB_RECV)
		p->nth[p->count] = p->received[rank]++;
	p->count++;
}

static void show(const struct places *p, const struct hyb_end *send, const struct hyb_end *recv)
{
	printf("%u %u %u %u\n", send->started.location->process->rank, p->nth[send->started.pos - 1],
		recv->completed.location->process->rank, p->nth[recv->completed.pos - 1]);
}

int main(int argc, char **argv)
{
	struct hyb_experiment *experiment;
	struct hyb_error err = {0};
	const struct hyb_step *step;
	struct hyb_model *model = NULL;
	struct places places = {0};

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
			show(&places, step->send, step->recv);
	}
	hyb_model_close(model);
	hyb_experiment_close(experiment);
	free(places.nth);
	return 0;
}

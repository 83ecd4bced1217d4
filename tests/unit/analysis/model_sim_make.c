/* Ranks and communicators of a case. */
#include "model_sim.h"

#include <stdlib.h>

#include "format/format.h"

static const char *const names[F_COUNT] = {"", "MPI_Send", "MPI_Ssend", "MPI_Isend", "MPI_Recv", "MPI_Irecv",
	"MPI_Improbe", "MPI_Waitall", "MPI_Bcast", "MPI_Ibcast", "(paused)"};

static void add_to_comm(struct sim *s, uint32_t rank, uint32_t comm, unsigned group)
{
	struct sim_comm *c = &s->comms[comm];
	struct sim_rank *r = &s->ranks[rank];
	struct hyb_handle *handle = &r->handles[r->process.handle_count++];

	*handle = (struct hyb_handle){.identity = 0x1234567 + comm,
		.type = HYB_COMM,
		.name = "",
		.rank = c->size[group],
		.group = group};
	r->handle_of[comm] = handle;
	c->ranks[group][c->size[group]++] = rank;
}

/* The first communicator has all ranks, the others whom they like. */
static void make_comm(struct sim *s, uint32_t comm)
{
	struct sim_comm *c = &s->comms[comm];

	c->groups = s->options->worlds && comm > 2 ? 2 : 1;
	for (uint32_t i = 0; i < s->rank_count; i++) {
		uint32_t rank = comm % 2 ? s->rank_count - 1 - i : i;

		if (comm && sim_draw(s, 4) == 0 && (c->groups == 1 || (i != 0 && i != 1)))
			continue;
		add_to_comm(s, rank, comm, c->groups == 2 ? i % 2 : 0);
	}
	for (uint32_t i = 0; i < s->rank_count; i++) {
		struct hyb_handle *h = (struct hyb_handle *)s->ranks[i].handle_of[comm];

		if (!h)
			continue;
		h->size = c->size[h->group];
		h->remote = c->groups == 2 ? c->size[1 - h->group] : 0;
	}
}

static void make_rank(struct sim *s, uint32_t rank)
{
	struct sim_rank *r = &s->ranks[rank];
	bool second = s->options->worlds && rank % 2;

	r->feeds = true;
	r->process = (struct hyb_process){
		.trace_events = true,
		.state = HYB_STATE_EXITED,
		.end = UINT64_MAX,
		.world = second ? 77 : 66,
		.rank = s->options->worlds ? rank / 2 : rank,
		.follows_pauses = true,
		.thread_level = s->options->threads ? 3 : 0,
		.locations = r->locations,
		.location_count = s->options->threads ? 1 + sim_draw(s, SIM_THREADS) : 1,
		.handles = r->handles,
	};
	for (uint32_t i = 0; i < SIM_THREADS; i++) {
		r->locations[i] = (struct hyb_location_info){
			.process = &r->process, .id = i + 1, .nodes = s->nodes, .node_count = F_COUNT};
		r->threads[i] = (struct sim_thread){.message = SIM_NONE, .receive = SIM_NONE};
	}
}

void sim_make(struct sim *s)
{
	struct hyb_process *processes[SIM_RANKS];
	size_t count = 0;

	for (uint32_t i = 0; i < F_COUNT; i++) {
		s->regions[i] = (struct hyb_region){.name = names[i],
			.file = "",
			.kind = i == F_PAUSED ? HYB_REGION_PAUSED : HYB_REGION_MPI,
			.mpi = i != F_PAUSED};
		s->nodes[i] = (struct hyb_node_info){.probe = i,
			.type = i ? HYB_TYPE_REGION : HYB_TYPE_ROOT,
			.region = i ? &s->regions[i] : NULL};
	}
	s->rank_count = 2 + sim_draw(s, SIM_RANKS - 1);
	for (uint32_t i = 0; i < s->rank_count; i++)
		make_rank(s, i);
	for (uint32_t i = 0; i < SIM_COMMS; i++)
		make_comm(s, i);
	s->victim = sim_draw(s, s->rank_count);
	s->ranks[s->victim].feeds = !s->options->absent;
	for (uint32_t i = 0; i < s->rank_count; i++)
		if (s->ranks[i].feeds)
			processes[count++] = &s->ranks[i].process;
	if (who_gather(&s->model, processes, count))
		abort();
}

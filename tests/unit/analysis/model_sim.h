/*
 * A simulated MPI: ranks that send and receive at random, matched as the standard says by queues of posted
 * receives and unexpected messages, with every event fed into an event model. The truth is the simulator's
 * own, told by `message_at`; of queues by envelope it knows nothing.
 */
#ifndef MODEL_SIM_H
#define MODEL_SIM_H

#include "analysis/model/state.h"

#define SIM_RANKS 6
#define SIM_THREADS 2
#define SIM_COMMS 5
#define SIM_OPS 4096
#define SIM_EVENTS 40000

/* What a case has; all of it at random, from `seed`. */
struct sim_options {
	uint64_t seed;
	unsigned steps;
	bool threads; /* some ranks have two that call at the same time */
	bool alike; /* and their messages have equal envelopes, and one of two sizes */
	bool worlds; /* ranks are of two worlds, and inter-communicators join them */
	bool absent; /* a rank's file is missing */
	bool cut; /* a rank's trace ends in the middle */
	bool pauses; /* threads pause: what they do then is told as unmeasured */
	bool unfinished; /* at the end, receives that have their message are not waited for */
};

struct sim_results {
	uint64_t matched, unsure;
	uint64_t wrong, unsure_wrong;
	uint64_t sends[HYB_LONE_COUNT], receives[HYB_LONE_COUNT];
	/* The truth, of what is in the traces of ranks that have one. */
	uint64_t true_matches; /* both ends are there */
	uint64_t unreceived; /* sends to ranks with a whole trace, that got no receive */
	uint64_t unsent; /* receives of what was sent in a pause */
	uint64_t pending, cancelled; /* receives */
	uint64_t collectives, torn; /* instances, and those whose members were not one call */
	uint64_t reversed, resized, differing, partial;
};

void sim_run(const struct sim_options *options, struct sim_results *ret);

/* ----------------------------------------------------------- the simulator's own */

#define SIM_NONE UINT32_MAX
#define BOTH_GROUPS 2u

/* Functions are nodes; 0 is the root. */
enum function {
	F_SEND = 1,
	F_SSEND,
	F_ISEND,
	F_RECV,
	F_IRECV,
	F_IMPROBE,
	F_WAITALL,
	F_BCAST,
	F_IBCAST,
	F_PAUSED,
	F_COUNT
};
struct sim_comm {
	unsigned groups; /* 1, or 2 of an inter-communicator */
	uint32_t ranks[BOTH_GROUPS][SIM_RANKS];
	uint32_t size[BOTH_GROUPS];
};

struct sim_message {
	uint32_t from, to, comm;
	int tag;
	uint64_t bytes;
	uint64_t request; /* 0: none, or complete */
	bool matched, flying;
};

struct sim_receive {
	uint32_t rank, comm, message; /* NONE: not matched */
	int from, tag; /* or ANY */
	uint64_t request;
	bool open; /* neither complete nor cancelled */
	bool posted;
};

struct sim_thread {
	uint32_t message, receive; /* that its call waits for, or NONE */
	bool paused;
};

struct sim_rank {
	struct hyb_process process;
	struct hyb_location_info locations[SIM_THREADS];
	struct hyb_handle handles[SIM_COMMS];
	const struct hyb_handle *handle_of[SIM_COMMS]; /* NULL: no member */
	struct sim_thread threads[SIM_THREADS];
	uint32_t posted[SIM_OPS], unexpected[SIM_OPS];
	uint32_t posted_count, unexpected_count;
	uint64_t requests;
	uint64_t turns[SIM_COMMS];
	bool feeds; /* its events are in the trace */
};

struct sim {
	const struct sim_options *options;
	struct hyb_model model;
	struct sim_results *results;
	uint64_t random, now;
	struct hyb_region regions[F_COUNT];
	struct hyb_node_info nodes[F_COUNT];
	struct sim_comm comms[SIM_COMMS];
	struct sim_rank ranks[SIM_RANKS];
	uint32_t rank_count, victim;
	struct sim_message messages[SIM_OPS];
	struct sim_receive receives[SIM_OPS];
	uint32_t message_count, receive_count;
	uint32_t message_at[SIM_EVENTS]; /* by pos: of a SEND or RECV event */
	uint8_t ends[SIM_OPS]; /* by message: 1 its SEND, 2 its RECV are in the trace */
};

uint32_t sim_draw(struct sim *s, uint32_t below);
void sim_make(struct sim *s); /* ranks, communicators and the model of them */

#endif

/*
 * Inside the event model. It is fed with events one by one and answers with steps: the reader's merged
 * stream is one source of events, tests are another.
 *
 * Running out of memory sets `failed`, with everything still in order; the next hyb_model_next() returns
 * HYB_ENOMEM.
 */
#ifndef HYB_ANALYSIS_STATE_H
#define HYB_ANALYSIS_STATE_H

#include "base/map.h"
#include "base/arena.h"
#include "hybrid/model.h"

/* Things of one size that come and go. */
struct pool {
	struct arena arena;
	void *spare; /* each points to the next */
};

/* A send or receive that has no partner yet. */
struct op {
	struct hyb_end end; /* first: an end is one of these */
	struct rank *self, *peer; /* peer NULL: not in the experiment, or not known */
	struct op *prev, *next; /* in its channel, or among its rank's receives */
	bool is_send;
	bool pending; /* a receive that is under way */
	bool late; /* its place in the order is in doubt */
	bool unmeasured; /* sent or received in a pause: it has its place in the queue, and no step is made of
			    it */
};

struct op_list {
	struct op *first, *last; /* in the order of their starts */
};

/*
 * Sends without a receive or receives without a send, never both, of one envelope; never empty. Of processes
 * whose threads are in MPI at the same time both: `ops` are the sends then.
 */
struct channel {
	struct map_key key;
	struct op_list ops, receives;
	size_t count, receive_count;
	size_t wanted; /* sends: by receives that were behind pending ones until the end */
	size_t next_try; /* of overlap_settle(), when as many have piled up */
	bool overlaps; /* both */
	uint64_t torn; /* a part was too long, and settled before its end: calls that began before this pos
			  are of it */
};

/* A number of a process whose operation is under way. */
struct request {
	struct map_key key;
	struct hyb_moment started;
	struct request *older, *newer;
	struct op *recv; /* NULL: not a receive */
	struct map_key channel; /* of a send, else 0 */
};

/* A process. */
struct rank {
	const struct hyb_process *info;
	uint32_t number; /* its index */
	struct op_list receives; /* from the first one on that is pending */
	struct track *tracks; /* by location */
	uint64_t until; /* ns: of what began later nothing is known; UINT64_MAX: all is */
	enum hyb_lone why; /* what began there has no end here */
	size_t overtaken; /* receives that were pending for so long that later ones go ahead */
	bool broken; /* a gap was met, or a pause of which nothing is known */
	bool unseen; /* receives failed, or were never complete: which messages they had is not known */
	bool parallel; /* its threads may be in MPI at the same time */
};

/* A location. */
struct track {
	struct hyb_call *stack; /* without the root */
	size_t depth, room;
	struct op *waiting; /* the receive that its call waits for */
};

/* A communicator, by the definitions of all its members. */
struct comm {
	size_t size; /* of both groups */
	size_t expected; /* members whose collective calls can be counted */
	uint64_t world; /* of the last member that was met */
	bool shared; /* by members of several worlds */
};

/* A member's collective calls on a communicator. */
struct turn {
	uint64_t count;
	bool out; /* they cannot be counted any more */
};

struct instance {
	struct hyb_collective public; /* `members` is our own */
	struct hyb_member *members; /* grown by ARRAY_ROOM */
	struct instance *older, *newer;
	const struct comm *comm;
	size_t expected;
};

/* A step that hyb_model_next() is to return. */
struct answer {
	enum hyb_step_kind kind;
	enum hyb_lone lone;
	bool unsure, reversed;
	struct op *send, *recv;
	struct instance *instance;
};

struct hyb_model {
	struct hyb_experiment *experiment;
	struct hyb_events *events;
	struct rank *ranks;
	size_t rank_count;
	struct map processes; /* process: struct rank */
	struct map worlds; /* world, rank: struct rank */
	struct map members; /* communicator, group and rank in it: struct rank */
	struct map comms; /* identity: struct comm */
	struct map turns; /* identity, number of rank: struct turn */
	struct map channels; /* communicator, ranks' numbers, tag: struct channel */
	struct map requests; /* number of rank, request, whether it receives: struct request */
	uint64_t world; /* of the last process that has one */
	bool worlds_differ; /* there are several */
	struct map instances; /* communicator, number: struct instance */
	struct request *oldest_request, *newest_request;
	struct instance *oldest, *newest; /* that are not complete */
	size_t held; /* receives that are done and wait for pending ones in front of them */
	size_t gathered; /* members in all instances */
	struct arena arena; /* what lives as long as the model */
	struct pool ops, channel_pool, request_pool;
	const struct hyb_process *last_process; /* of last_rank: events come in bursts */
	struct rank *last_rank;
	uint64_t pos; /* of the last event */
	struct hyb_event event;
	bool unmeasured; /* it is of a pause */
	struct hyb_moment began; /* where the last event's request did */
	struct hyb_step step; /* the last one returned */
	struct answer emitted; /* what `step` points to, freed with the next one */
	struct answer *answers; /* not returned yet, grown by ARRAY_ROOM */
	size_t answer_count, answer_next;
	struct hyb_totals totals;
	bool flushed, failed;
};

/* who.c: who is who. 0 or HYB_ENOMEM. */
int who_gather(struct hyb_model *model, struct hyb_process *const *processes, size_t count);
struct rank *who_is(struct hyb_model *model, const struct hyb_process *process);
/* The rank that `peer` of an event of `self` is; NULL: not in the experiment. */
struct rank *who_is_peer(const struct hyb_model *model, const struct rank *self,
	const struct hyb_handle *handle, uint32_t peer);

/* Whether members of several worlds agree on what the communicator is. */
bool who_shares(const struct hyb_model *model, const struct hyb_handle *handle);

/* requests.c */
void request_begin(struct hyb_model *model, const struct rank *rank, uint64_t number,
	const struct hyb_moment *started, struct op *recv, const struct map_key *channel);
struct request *request_find(
	const struct hyb_model *model, const struct rank *rank, uint64_t number, bool receives);
void request_end(struct hyb_model *model, struct request *request);

/* messages.c: one function for each event of a message; `moment` is its own. */
void message_sent(struct hyb_model *model, struct rank *rank, const struct hyb_moment *moment);
void message_posted(struct hyb_model *model, struct rank *rank, const struct hyb_moment *moment);
void message_received(
	struct hyb_model *model, struct rank *rank, struct track *track, const struct hyb_moment *moment);
void message_cancelled(struct hyb_model *model, struct request *request);
/* A call that receives begins in one of several threads, or is over without. */
void message_awaited(
	struct hyb_model *model, struct rank *rank, struct track *track, const struct hyb_moment *moment);
void message_given_up(struct hyb_model *model, struct track *track);
void messages_flush(struct hyb_model *model);

/* ends.c: makes the step of a message: with both ends; with one, and the reason; with one, whose reason it
 * finds. The ends are in no list any more. */
void message_matched(struct hyb_model *model, struct op *send, struct op *recv);
void message_without(struct hyb_model *model, struct op *op, enum hyb_lone why);
void message_alone(struct hyb_model *model, struct op *op);
/* Whether it was received before the call began that sent it, for certain. */
bool message_is_reversed(const struct op *send, const struct op *recv);
void message_leaves(struct channel *channel, struct op *op);
void op_insert(struct op_list *list, struct op *op);
void op_unlink(struct op_list *list, struct op *op);
/* By how much times of the two may be wrong, ns; HYB_TIME_UNKNOWN: they are not to be compared. */
uint64_t clock_doubt(const struct rank *a, const struct rank *b);

/* overlap.c: pairs the ends in a channel that `overlaps`: those that no later event can change; all of
 * them. */
void overlap_settle(struct hyb_model *model, struct channel *channel);
void overlap_flush(struct hyb_model *model, struct channel *channel);

/* collectives.c */
void collective_joined(struct hyb_model *model, struct rank *rank, const struct hyb_moment *moment);
/* The rank's collective calls cannot be counted from here on. */
void collectives_break(struct hyb_model *model, const struct rank *rank);
void collectives_flush(struct hyb_model *model);

/* answers.c: the queue of steps, and the memory of what they point to. */
void *pool_take(struct hyb_model *model, struct pool *pool, size_t size); /* zero; NULL: `failed` is set */
void pool_give(struct pool *pool, void *item);
void collective_release(struct instance *instance);
void model_emit(struct hyb_model *model, const struct answer *answer);
bool model_answer(struct hyb_model *model); /* model->step is what follows; false: nothing more */

/* model.c */
void model_feed(struct hyb_model *model, const struct hyb_event *event); /* model->step is its EVENT */
void model_flush(struct hyb_model *model);
void model_release(struct hyb_model *model);

/* In the order in which their calls began; in one call in the order of events. */
static inline bool moment_before(const struct hyb_moment *a, const struct hyb_moment *b)
{
	uint64_t call_a = a->call.pos ? a->call.pos : a->pos, call_b = b->call.pos ? b->call.pos : b->pos;

	return call_a != call_b ? call_a < call_b : a->pos < b->pos;
}

#endif

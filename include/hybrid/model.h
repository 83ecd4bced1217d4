/*
 * hybrid/model.h: the event model. What analyses of traces stand on: the merged
 * events of an experiment (hybrid/reader.h) in order, each with the region
 * instance that it happened in, where its request began, which send a receive
 * got, and who took part in a collective call.
 *
 * Events are numbered 1, 2, 3 ... in the order in which they are handed out (`pos`). One pass, forwards:
 * memory holds the open regions, what was sent and not yet received (or received, where the record of the
 * send comes later), requests under way and collectives that are not complete, within the limits below.
 *
 * Needs a trace with regions (hybrid-run --trace). Objects are owned by the
 * model, which is closed before its experiment; what a step points to, and what
 * the questions below answer, is good until the next step. Strings, locations,
 * nodes and handles are the experiment's, and live as long as that.
 *
 * Failures are enum hyb_result of hybrid/reader.h; behind one, the model is only
 * to be closed. A model is for one thread at a time; an experiment may have
 * several models, each in a thread of its own. Nothing here prints or exits, and
 * nothing is async-signal-safe. examples/model/late.c is a program that uses it.
 */
#ifndef HYBRID_MODEL_H
#define HYBRID_MODEL_H

#include "hybrid/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library hides everything else */

/* An instance of a region: one call. */
struct hyb_call {
	uint64_t pos; /* of its ENTER; 0: that is not in the trace, or the event is in no region */
	uint64_t time; /* ns, of its ENTER; HYB_TIME_UNKNOWN */
	uint32_t node; /* index in the location's nodes; 0: no region */
};

/* Where and when something was recorded. */
struct hyb_moment {
	const struct hyb_location_info *location; /* NULL: not known */
	uint64_t pos, time; /* of the event */
	struct hyb_call call; /* in which it happened; call.time is when a call of MPI began */
};

/* A send or a receive. */
struct hyb_end {
	/* What waits starts and is complete in one call; `completed` of a send with a request is not known.
	 */
	struct hyb_moment started, completed;
	const struct hyb_handle *handle; /* the communicator; NULL: not known */
	const struct hyb_process *partner; /* the peer's; NULL: not in the experiment */
	uint32_t peer; /* world rank or HYB_RANK_* */
	int32_t tag;
	uint64_t bytes, request;
};

/* Why an end has no other one. */
enum hyb_lone {
	HYB_LONE_NONE =
		0, /* nothing is missing: its partner did not do it, or is another program's mistake */
	HYB_LONE_ABSENT = 1, /* the partner's file is not there, or has no trace */
	HYB_LONE_CUT = 2, /* records are missing from the partner's trace (its limit, a gap, a pause) */
	HYB_LONE_KILLED = 3, /* the partner ended without a word, or runs still */
	HYB_LONE_CANCELLED = 4,
	HYB_LONE_PENDING = 5, /* a receive that was never completed: whose message is not known */
	HYB_LONE_UNKNOWN = 6, /* its communicator or peer is not known */
	HYB_LONE_UNSEEN = 7, /* a send: its partner has receives that failed or were never complete, which may
				have it */
	HYB_LONE_COUNT = 8
};

/* One process in a collective call. */
struct hyb_member {
	struct hyb_moment moment; /* of its COLLECTIVE event */
	const struct hyb_handle *handle; /* its own definition of the communicator */
	uint32_t root; /* world rank or HYB_RANK_* */
	unsigned collective; /* what it does: enum hyb_operation of the format; 0: not known */
	uint64_t sent, received; /* bytes */
	uint64_t request; /* 0: the call waited */
};

/* An instance of a collective call: the n-th on its communicator. */
struct hyb_collective {
	uint64_t identity; /* of the communicator */
	uint64_t number; /* 0, 1, 2 ... on it */
	const struct hyb_member *members; /* in the order of their events */
	size_t count;
	size_t missing; /* members of the communicator of which nothing is known */
	bool differ; /* members are in calls that do not belong together: the count is out of step, trust
			nothing */
};

enum hyb_step_kind {
	HYB_STEP_EVENT = 1, /* `event`, `call`, `started` */
	HYB_STEP_MATCH = 2, /* `send` and `recv` are one message */
	HYB_STEP_LONE = 3, /* `send` or `recv`, the other NULL, has no other end: `lone` */
	HYB_STEP_COLLECTIVE = 4, /* `collective` */
};

/*
 * Steps behind an EVENT with the same `pos` follow from it. A message is matched when both ends were seen,
 * and it is certain which receive began first; so its step may come behind later events (a blocking send is
 * recorded when its call is over, often after the receive).
 */
struct hyb_step {
	enum hyb_step_kind kind;
	uint64_t pos;
	const struct hyb_event *event;
	struct hyb_call call; /* the region around the event; of an ENTER the one above */
	const struct hyb_moment
		*started; /* of an event's `request`: where it began; NULL: not known, or none */
	const struct hyb_end *send, *recv;
	enum hyb_lone lone;
	bool reversed; /* MATCH: received before the call that sent it began */
	bool unsure; /* MATCH: behind a gap of either process (or a pause that it does not follow), or in
			doubtful order */
	const struct hyb_collective *collective;
};

struct hyb_totals {
	uint64_t events; /* that were handed out */
	uint64_t matched;
	uint64_t unsure; /* of them */
	uint64_t resized; /* of them, with other bytes received than sent: not to be expected */
	uint64_t reversed; /* of them, received before the call that sent began */
	uint64_t worst; /* ns of the worst of those */
	uint64_t unordered; /* of all matched, between processes whose clocks cannot be compared */
	uint64_t sends[HYB_LONE_COUNT]; /* without a receive */
	uint64_t receives[HYB_LONE_COUNT]; /* without a send */
	uint64_t collectives; /* instances */
	uint64_t partial; /* of them, with members missing */
	uint64_t differing; /* of them */
};

struct hyb_model;

/* NULL and *err on failure, also where the experiment has no trace with regions. */
struct hyb_model *hyb_model_open(struct hyb_experiment *experiment, struct hyb_error *err);

/* 1: *ret_step is the next; 0: no more, and the ends without a partner have been returned; <0: enum
 * hyb_result. */
int hyb_model_next(struct hyb_model *model, const struct hyb_step **ret_step);

/*
 * Moves the model to the state behind event `pos`. If that is behind the current one the model replays the
 * trace from the start, which takes as long as reading up to there. 1, 0 if there are fewer events, or <0.
 */
int hyb_model_seek(struct hyb_model *model, uint64_t pos, const struct hyb_step **ret_step);

/* State behind the last step. The open regions of a location, outermost first, until the next step. */
const struct hyb_call *hyb_model_stack(
	const struct hyb_model *model, const struct hyb_location_info *location, size_t *ret_depth);

/*
 * The messages that were sent and not received yet, in the order of their starts. NULL for either: of or
 * to any. Returns how many; the first `room` of them are stored. Valid until the next step.
 */
size_t hyb_model_queue(const struct hyb_model *model, const struct hyb_process *from,
	const struct hyb_process *to, const struct hyb_end **ret_sends, size_t room);

const struct hyb_totals *hyb_model_totals(const struct hyb_model *model);

/* Accepts NULL. */
void hyb_model_close(struct hyb_model *model);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

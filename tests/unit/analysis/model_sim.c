#include "model_sim.h"

#include <stdlib.h>
#include <string.h>

#define NONE SIM_NONE
#define TAGS 2u
#define ANY (-1)
#define RECENT 64u /* receives that a call may wait for */

uint32_t sim_draw(struct sim *s, uint32_t below)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((s->random >> 33) % below);
}

/* ----------------------------------------------------------------- events */

static void take_match(struct sim *s, const struct hyb_step *step)
{
	uint32_t sent = s->message_at[step->send->started.pos];

	s->results->matched++;
	s->results->unsure += step->unsure;
	*(step->unsure ? &s->results->unsure_wrong : &s->results->wrong) +=
		sent != s->message_at[step->recv->completed.pos] ||
		s->messages[sent].bytes != step->recv->bytes || sent == NONE;
}

static void take_collective(struct sim *s, const struct hyb_collective *c)
{
	s->results->collectives++;
	for (size_t i = 1; i < c->count; i++)
		if (c->members[i].sent != c->members[0].sent) {
			s->results->torn++;
			return;
		}
}

static void take_answers(struct sim *s)
{
	const struct hyb_step *step = &s->model.step;

	while (model_answer(&s->model)) {
		if (step->kind == HYB_STEP_MATCH)
			take_match(s, step);
		else if (step->kind == HYB_STEP_COLLECTIVE)
			take_collective(s, step->collective);
		else
			(step->send ? s->results->sends : s->results->receives)[step->lone]++;
	}
}

/* Feeds it, if the rank's trace has it. `message`: of a SEND or RECV. */
static void feed(struct sim *s, uint32_t rank, uint32_t thread, struct hyb_event event, uint32_t message)
{
	struct sim_rank *r = &s->ranks[rank];

	if (!r->feeds)
		return;
	if (r->threads[thread].paused) {
		if (event.kind == HYB_EVENT_ENTER || event.kind == HYB_EVENT_LEAVE)
			return;
		event.unmeasured = event.kind;
		event.kind = HYB_EVENT_UNMEASURED;
	}
	event.time = s->now;
	event.location = &r->locations[thread];
	if (event.kind == HYB_EVENT_MESSAGE && message != NONE) {
		s->message_at[s->model.pos + 1] = message;
		s->ends[message] |= event.message == HYB_SEND ? 1 : 2;
	}
	model_feed(&s->model, &event);
	take_answers(s);
}

static void enter(struct sim *s, uint32_t rank, uint32_t thread, enum function function)
{
	s->now++;
	feed(s, rank, thread, (struct hyb_event){.kind = HYB_EVENT_ENTER, .node = function}, NONE);
}

static void leave(struct sim *s, uint32_t rank, uint32_t thread, enum function function)
{
	feed(s, rank, thread, (struct hyb_event){.kind = HYB_EVENT_LEAVE, .node = function}, NONE);
}

static void say(struct sim *s, uint32_t rank, uint32_t thread, enum hyb_event_kind kind, uint64_t request)
{
	feed(s, rank, thread, (struct hyb_event){.kind = (uint8_t)kind, .request = request}, NONE);
}

/* How `self` names the process `other` in a communicator. */
static uint32_t peer_name(const struct sim *s, uint32_t self, uint32_t other, uint32_t comm)
{
	const struct sim_comm *c = &s->comms[comm];
	const struct hyb_handle *handle = s->ranks[self].handle_of[comm];
	unsigned group = c->groups == 2 ? 1 - handle->group : 0;

	if (s->ranks[self].process.world == s->ranks[other].process.world)
		return s->ranks[other].process.rank;
	for (uint32_t i = 0; i < c->size[group]; i++)
		if (c->ranks[group][i] == other)
			return HYB_RANK_FOREIGN | i;
	abort();
}

static void say_sent(struct sim *s, uint32_t thread, uint32_t message)
{
	const struct sim_message *m = &s->messages[message];

	feed(s, m->from, thread,
		(struct hyb_event){.kind = HYB_EVENT_MESSAGE,
			.message = HYB_SEND,
			.handle = s->ranks[m->from].handle_of[m->comm],
			.peer = peer_name(s, m->from, m->to, m->comm),
			.tag = m->tag,
			.sent = m->bytes,
			.request = m->request},
		message);
}

static void say_received(struct sim *s, uint32_t thread, uint32_t receive)
{
	struct sim_receive *r = &s->receives[receive];
	const struct sim_message *m = &s->messages[r->message];

	r->open = false;
	feed(s, r->rank, thread,
		(struct hyb_event){.kind = HYB_EVENT_MESSAGE,
			.message = HYB_RECV,
			.handle = s->ranks[r->rank].handle_of[r->comm],
			.peer = peer_name(s, r->rank, m->from, r->comm),
			.tag = m->tag,
			.received = m->bytes,
			.request = r->request},
		r->message);
}

/* --------------------------------------------------------------- matching */

static bool accepts(const struct sim *s, uint32_t receive, uint32_t message)
{
	const struct sim_receive *r = &s->receives[receive];
	const struct sim_message *m = &s->messages[message];

	return r->comm == m->comm && (r->from == ANY || (uint32_t)r->from == m->from) &&
	       (r->tag == ANY || r->tag == m->tag);
}

static void take_out(uint32_t *queue, uint32_t *count, uint32_t at)
{
	memmove(queue + at, queue + at + 1, (--*count - at) * sizeof(*queue));
}

static void match(struct sim *s, uint32_t receive, uint32_t message)
{
	s->receives[receive].message = message;
	s->receives[receive].posted = false;
	s->messages[message].matched = true;
}

static bool match_unexpected(struct sim *s, uint32_t receive)
{
	struct sim_rank *r = &s->ranks[s->receives[receive].rank];

	for (uint32_t i = 0; i < r->unexpected_count; i++)
		if (accepts(s, receive, r->unexpected[i])) {
			match(s, receive, r->unexpected[i]);
			take_out(r->unexpected, &r->unexpected_count, i);
			return true;
		}
	return false;
}

static void post(struct sim *s, uint32_t receive)
{
	struct sim_rank *r = &s->ranks[s->receives[receive].rank];

	if (match_unexpected(s, receive))
		return;
	s->receives[receive].posted = true;
	r->posted[r->posted_count++] = receive;
}

static void arrive(struct sim *s, uint32_t message)
{
	struct sim_rank *r = &s->ranks[s->messages[message].to];

	s->messages[message].flying = false;
	for (uint32_t i = 0; i < r->posted_count; i++)
		if (accepts(s, r->posted[i], message)) {
			match(s, r->posted[i], message);
			take_out(r->posted, &r->posted_count, i);
			return;
		}
	r->unexpected[r->unexpected_count++] = message;
}

/* One message arrives: any, but none overtakes between the same two ranks of a communicator. */
static void deliver(struct sim *s)
{
	uint32_t chosen = sim_draw(s, s->message_count + 1);

	while (chosen < s->message_count && !s->messages[chosen].flying)
		chosen++;
	if (chosen >= s->message_count)
		return;
	for (uint32_t i = 0; i < chosen; i++) {
		const struct sim_message *a = &s->messages[i], *b = &s->messages[chosen];

		if (a->flying && a->from == b->from && a->to == b->to && a->comm == b->comm) {
			arrive(s, i);
			return;
		}
	}
	arrive(s, chosen);
}

/* ---------------------------------------------------------------- actions */

/* A communicator that the rank is in, and somebody to talk to there. */
static uint32_t choose_peer(struct sim *s, uint32_t rank, uint32_t *ret_comm)
{
	const struct hyb_handle *handle;
	const struct sim_comm *c;
	unsigned group;

	do
		*ret_comm = sim_draw(s, SIM_COMMS);
	while (!(handle = s->ranks[rank].handle_of[*ret_comm]));
	c = &s->comms[*ret_comm];
	group = c->groups == 2 ? 1 - handle->group : 0;
	return c->ranks[group][sim_draw(s, c->size[group])];
}

/* Calls that wait are made where they need not do so for ever, or everybody would soon. */
static bool is_awaited(const struct sim *s, uint32_t message)
{
	const struct sim_rank *r = &s->ranks[s->messages[message].to];

	for (uint32_t i = 0; i < r->posted_count; i++)
		if (accepts(s, r->posted[i], message))
			return true;
	return false;
}

static bool is_coming(const struct sim *s, uint32_t receive)
{
	for (uint32_t i = 0; i < s->message_count; i++)
		if (!s->messages[i].matched && s->messages[i].to == s->receives[receive].rank &&
			accepts(s, receive, i))
			return true;
	return false;
}

static void do_send(struct sim *s, uint32_t rank, uint32_t thread)
{
	static const enum function kinds[] = {F_SEND, F_SSEND, F_ISEND};
	enum function f = kinds[sim_draw(s, 3)];
	uint32_t id = s->message_count++;
	struct sim_message *m = &s->messages[id];

	*m = (struct sim_message){.from = rank, .bytes = sim_draw(s, 1u << 30), .flying = true};
	m->to = choose_peer(s, rank, &m->comm);
	/* The order of calls in different threads is nobody's. */
	m->tag = (int)(sim_draw(s, TAGS) + (s->options->alike ? 0 : thread * TAGS));
	if (s->options->alike)
		m->bytes = sim_draw(s, 2);
	if (f == F_SSEND && !is_awaited(s, id))
		f = F_SEND;
	m->request = f == F_ISEND ? ++s->ranks[rank].requests : 0;
	enter(s, rank, thread, f);
	if (f == F_SSEND) {
		s->ranks[rank].threads[thread].message = id;
		return;
	}
	say_sent(s, thread, id);
	leave(s, rank, thread, f);
}

static void do_receive(struct sim *s, uint32_t rank, uint32_t thread)
{
	static const enum function kinds[] = {F_RECV, F_IRECV, F_IRECV, F_IMPROBE};
	enum function f = kinds[sim_draw(s, 4)];
	uint32_t id = s->receive_count++;
	struct sim_receive *r = &s->receives[id];

	*r = (struct sim_receive){.rank = rank, .message = NONE, .open = true};
	r->from = (int)choose_peer(s, rank, &r->comm);
	if (!sim_draw(s, 3))
		r->from = ANY;
	r->tag = sim_draw(s, 2) ? (int)sim_draw(s, s->options->alike ? TAGS : SIM_THREADS * TAGS) : ANY;
	if (f == F_RECV && !is_coming(s, id))
		f = F_IRECV;
	enter(s, rank, thread, f);
	if (f == F_IMPROBE) {
		if (match_unexpected(s, id)) {
			r->request = ++s->ranks[rank].requests;
			say(s, rank, thread, HYB_EVENT_POSTED, r->request);
		} else {
			r->open = false;
		}
	} else {
		post(s, id);
	}
	if (f == F_RECV) {
		s->ranks[rank].threads[thread].receive = id;
		return;
	}
	if (f == F_IRECV) {
		r->request = ++s->ranks[rank].requests;
		say(s, rank, thread, HYB_EVENT_POSTED, r->request);
	}
	leave(s, rank, thread, f);
}

/* One call that waits for some of the requests that can be complete, in any order, and asks for others. */
static void do_wait(struct sim *s, uint32_t rank, uint32_t thread)
{
	enter(s, rank, thread, F_WAITALL);
	for (unsigned tries = 0; s->receive_count && tries < 8; tries++) {
		uint32_t id = s->receive_count - 1 -
			      sim_draw(s, s->receive_count < RECENT ? s->receive_count : RECENT);
		struct sim_receive *r = &s->receives[id];

		if (r->rank != rank || !r->open || !r->request)
			continue;
		if (r->message != NONE)
			say_received(s, thread, id);
		else
			say(s, rank, thread, HYB_EVENT_TESTED, r->request);
	}
	for (unsigned tries = 0; s->message_count && tries < 4; tries++) {
		struct sim_message *m = &s->messages[sim_draw(s, s->message_count)];

		if (m->from != rank || !m->request)
			continue;
		say(s, rank, thread, HYB_EVENT_SENT, m->request);
		m->request = 0;
	}
	leave(s, rank, thread, F_WAITALL);
}

static void do_cancel(struct sim *s, uint32_t rank, uint32_t thread)
{
	struct sim_rank *r = &s->ranks[rank];
	uint32_t at = r->posted_count ? sim_draw(s, r->posted_count) : 0, id;

	if (!r->posted_count || !s->receives[r->posted[at]].request)
		return;
	id = r->posted[at];
	take_out(r->posted, &r->posted_count, at);
	s->receives[id].open = s->receives[id].posted = false;
	s->results->cancelled += r->feeds;
	enter(s, rank, thread, F_WAITALL);
	say(s, rank, thread, HYB_EVENT_CANCELLED, s->receives[id].request);
	leave(s, rank, thread, F_WAITALL);
}

static void join(struct sim *s, uint32_t rank, uint32_t thread, uint32_t comm)
{
	uint64_t number = s->ranks[rank].turns[comm]++, request = number % 2 ? ++s->ranks[rank].requests : 0;
	enum function f = request ? F_IBCAST : F_BCAST;

	enter(s, rank, thread, f);
	feed(s, rank, thread,
		(struct hyb_event){.kind = HYB_EVENT_MESSAGE,
			.message = HYB_COLLECTIVE,
			.handle = s->ranks[rank].handle_of[comm],
			.peer = HYB_RANK_NONE,
			.sent = comm * 1000000 + number,
			.request = request},
		NONE);
	leave(s, rank, thread, f);
}

static void do_collective(struct sim *s, uint32_t rank, uint32_t thread)
{
	uint32_t comm;

	choose_peer(s, rank, &comm);
	join(s, rank, thread, comm);
}

/* True: the thread is in no call. */
static bool go_on(struct sim *s, uint32_t rank, uint32_t thread)
{
	struct sim_thread *t = &s->ranks[rank].threads[thread];

	if (t->message != NONE) {
		if (!s->messages[t->message].matched)
			return false;
		say_sent(s, thread, t->message);
		leave(s, rank, thread, F_SSEND);
		t->message = NONE;
	}
	if (t->receive != NONE) {
		if (s->receives[t->receive].message == NONE)
			return false;
		say_received(s, thread, t->receive);
		leave(s, rank, thread, F_RECV);
		t->receive = NONE;
	}
	return true;
}

/* Begins a pause, or ends it. */
static void do_pause(struct sim *s, uint32_t rank, uint32_t thread)
{
	struct sim_thread *t = &s->ranks[rank].threads[thread];
	bool paused = t->paused;

	t->paused = false;
	if (paused) {
		leave(s, rank, thread, F_PAUSED);
		return;
	}
	enter(s, rank, thread, F_PAUSED);
	t->paused = true;
}

static void act(struct sim *s)
{
	static void (*const actions[])(struct sim *, uint32_t, uint32_t) = {do_send, do_send, do_send,
		do_receive, do_receive, do_receive, do_wait, do_wait, do_cancel, do_collective};
	uint32_t rank = sim_draw(s, s->rank_count);
	uint32_t thread = sim_draw(s, (uint32_t)s->ranks[rank].process.location_count);
	bool goes_on;

	s->now++;
	goes_on = go_on(s, rank, thread);
	if (goes_on && s->options->pauses && !sim_draw(s, 12))
		do_pause(s, rank, thread);
	if (goes_on && s->message_count < SIM_OPS && s->receive_count < SIM_OPS)
		actions[sim_draw(s, sizeof(actions) / sizeof(*actions))](s, rank, thread);
	while (sim_draw(s, 3))
		deliver(s);
}

/* ------------------------------------------------------------------- case */

/* A trace that ends has said so in its header before anybody reads it: so one event knows of the end. */
static void cut(struct sim *s)
{
	struct rank *rank = who_is(&s->model, &s->ranks[s->victim].process);

	s->ranks[s->victim].feeds = false;
	rank->why = HYB_LONE_CUT;
	rank->until = s->now;
}

/* Everybody takes what arrived. */
static void wind_up(struct sim *s)
{
	for (uint32_t i = 0; i < s->rank_count; i++)
		for (uint32_t k = 0; k < s->ranks[i].process.location_count; k++)
			go_on(s, i, k);
	for (uint32_t i = 0; i < s->receive_count && !s->options->unfinished; i++) {
		struct sim_receive *r = &s->receives[i];

		if (!r->open || r->message == NONE || !r->request)
			continue;
		enter(s, r->rank, 0, F_WAITALL);
		say_received(s, 0, i);
		leave(s, r->rank, 0, F_WAITALL);
	}
}

static void finish(struct sim *s)
{
	struct sim_results *results = s->results;

	wind_up(s);
	for (uint32_t c = 0; c < SIM_COMMS; c++) {
		uint64_t most = 0;

		for (uint32_t i = 0; i < s->rank_count; i++)
			if (s->ranks[i].turns[c] > most)
				most = s->ranks[i].turns[c];
		for (uint32_t i = 0; i < s->rank_count; i++)
			while (s->ranks[i].handle_of[c] && s->ranks[i].turns[c] < most)
				join(s, i, 0, c);
	}
	model_flush(&s->model);
	take_answers(s);
	for (uint32_t i = 0; i < s->message_count; i++) {
		results->true_matches += s->ends[i] == 3;
		results->unreceived += s->ends[i] == 1;
		results->unsent += s->ends[i] == 2;
	}
	for (uint32_t i = 0; i < s->receive_count; i++)
		results->pending +=
			s->receives[i].open && s->ranks[s->receives[i].rank].feeds && s->receives[i].request;
	results->reversed = s->model.totals.reversed;
	results->resized = s->model.totals.resized;
	results->differing = s->model.totals.differing;
	results->partial = s->model.totals.partial;
}

void sim_run(const struct sim_options *options, struct sim_results *ret)
{
	struct sim *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	*ret = (struct sim_results){0};
	s->options = options;
	s->results = ret;
	s->random = options->seed * 0x9e3779b97f4a7c15u + 1;
	memset(s->message_at, 0xff, sizeof(s->message_at));
	sim_make(s);
	for (unsigned i = 0; i < options->steps; i++) {
		act(s);
		if (options->cut && i == options->steps / 2)
			cut(s);
	}
	finish(s);
	model_release(&s->model);
	free(s);
}

#include "mpi.h"

#include <string.h>

#include "format/mpi_record.h"
#include "runtime/memory.h"
#include "runtime/probe/probe.h"
#include "runtime/probe/regions.h"

/* The wrapper's frame pointer, in a function that it calls. */
#define WRAPPER_FRAME (*(const uintptr_t *)__builtin_frame_address(0))

/* ------------------------------------------------------------ begin and end */

static uint64_t key_of(struct mpi_function *f)
{
	uint64_t key = __atomic_load_n(&f->key, __ATOMIC_RELAXED);

	if (unlikely(!key || key >> 48 != rt.epoch)) {
		key = region_key(f->name, strlen(f->name), "", 0, HYB_REGION_MPI);
		__atomic_store_n(&f->key, key, __ATOMIC_RELAXED);
	}
	return key;
}

static uintptr_t return_address(uintptr_t frame)
{
	return ((const uintptr_t *)frame)[1];
}

static void stand_in(struct thread *t, uintptr_t frame)
{
	t->mpi.frame = frame;
	t->mpi.back = return_address(frame);
}

/* Opens the region of a call that was made at the tick `at`, or is made now (0). False: no room. */
static PROBE_INLINE bool open_call(
	struct thread *t, struct mpi_function *f, struct unwind_snippet snippet, uint64_t at)
{
	uint64_t key = key_of(f), now = 0;
	const struct mpi_path *path = key ? mpi_path_find(t, key, snippet.fp + 16, &now) : NULL;
	uint32_t node = path ? path->node : 0;

	t->mpi.range = path ? path->range : 0;
	t->mpi.timed = false;
	t->mpi.waits = 0;
	if (node)
		probe_push_at(t, node, snippet, at || rt.metrics ? at : now); /* metrics are read first */
	if (likely(node && t->node == node_at(node))) {
		t->mpi.open = t->top;
		stand_in(t, snippet.fp);
		return true;
	}
	if (node) /* it was pushed as one to be skipped; nobody will leave it */
		t->top->skipped--;
	else
		t->loc->faults[HYB_FAULT_NO_SPACE]++;
	return false;
}

/*
 * MPI does not report which of the requests that a call completed it waited for: each message has the same
 * part of its time, so that parts add up to the call.
 */
static void share_wait(struct thread *t, uint64_t ticks)
{
	for (uint32_t i = 0; i < t->mpi.waits; i++) {
		uint64_t part = ticks / (t->mpi.waits - i);

		node_at(t->mpi.waited[i])->inclusive += part;
		ticks -= part;
	}
	t->mpi.waits = 0;
}

/* Of a call in whose callbacks another one was made the path is not known any more. */
static PROBE_INLINE void note_range(const struct thread *t, uint32_t node, uint64_t ticks)
{
	struct hyb_node *range = t->mpi.range ? node_at(t->mpi.range) : NULL;

	if (!range || range->parent != node)
		return;
	ticks += !ticks;
	if (ticks - 1 < range->least - 1)
		range->least = ticks;
	if (ticks > range->most)
		range->most = ticks;
}

/* Closes the call and what its callbacks left open. */
static void close_call(struct thread *t, uint64_t now)
{
	struct hyb_open *open = t->mpi.open;

	t->mpi.paused = false;
	if (!open)
		return;
	if (t->mpi.waits && !t->mpi.timed)
		share_wait(t, now - open->enter);
	t->mpi.open = NULL;
	while (t->top != open && t->loc->depth > 1) {
		t->loc->faults[HYB_FAULT_NOT_LEFT]++;
		probe_pop(t, now);
	}
	if (t->top != open)
		return;
	note_range(t, open->node, now - open->enter);
	probe_pop(t, now);
}

/* Whether a wrapper with that frame is called by a call of MPI; one whose frame is gone was left by a jump.
 */
static bool is_inside(struct thread *t, uintptr_t frame)
{
	if (!t->mpi.open && !t->mpi.paused)
		return false;
	/* It may have been on a stack of the program's making, which is gone. */
	if (frame < t->mpi.frame && memory_readable(t->mpi.frame + 8) &&
		return_address(t->mpi.frame) == t->mpi.back)
		return true;
	t->loc->mpi[HYB_MPI_ABANDONED]++;
	close_call(t, clock_tick());
	return false;
}

/* Of a call in a pause only what it sends and receives is recorded: messages behind the pause have their
 * order by that. */
static bool begin_paused(struct thread *t, uintptr_t frame)
{
	if (!rt.set.trace_events || t->mpi.open || is_inside(t, frame))
		return false;
	stand_in(t, frame);
	t->mpi.paused = true;
	return true;
}

static PROBE_INLINE bool begin_at(struct mpi_function *f, struct unwind_snippet snippet)
{
	int saved = errno;
	struct thread *t = probe_begin(true);
	bool opened = false;

	if (unlikely(!t)) {
		if (self && self->state == THREAD_PAUSED) {
			self->top->skipped--; /* it is not left either */
			opened = begin_paused(self, snippet.fp);
		}
	} else {
		if (unlikely(is_inside(t, snippet.fp)))
			t->loc->mpi[HYB_MPI_INSIDE]++;
		else
			opened = open_call(t, f, snippet, 0);
		probe_end(t);
	}
	errno = saved;
	return opened;
}

static bool begin(struct mpi_function *f)
{
	return begin_at(f, PROBE_SNIPPET);
}

static bool begin_late(struct mpi_function *f)
{
	struct unwind_snippet snippet = PROBE_SNIPPET;
	struct thread *t = self;

	/* Metrics are what they are now. */
	if (unlikely(!t || rt.metrics || (t->mpi.open && !t->mpi.received) || t->mpi.begun || t->mpi.paused ||
		     (t->state != THREAD_READY && t->state != THREAD_PENDING)))
		return begin_at(f, snippet);
	t->mpi.function = f;
	t->mpi.snippet = snippet;
	t->mpi.begun_at = clock_tick();
	signal_barrier();
	t->mpi.begun = true;
	signal_barrier();
	t->state = THREAD_PENDING;
	return true;
}

static bool inside(void)
{
	return self && (self->mpi.paused || (self->mpi.open && !self->mpi.received));
}

/* The end of a call that was made in a pause. That may be over: the call is of it all the same. */
static bool end_unmeasured(struct thread *t, uintptr_t frame)
{
	if (t->state == THREAD_PAUSED) {
		t->busy_sp = frame;
		t->state = THREAD_BUSY;
		signal_barrier();
	} else if (thread_busy_in(t, frame)) {
		probe_pause(t);
	} else {
		t->mpi.paused = false;
		return false;
	}
	t->mpi.now = clock_tick();
	t->mpi.last = false;
	return true;
}

static void leave_unmeasured(struct thread *t)
{
	t->mpi.paused = false;
	signal_barrier();
	if (atomic_load(&rt.paused)) {
		t->state = THREAD_PAUSED;
		return;
	}
	probe_resume(t);
	probe_end(t);
}

/* Another thread paused all meanwhile: the call began before that, and is recorded as a whole. */
static bool end_paused(struct thread *t, uintptr_t frame)
{
	if (t->state != THREAD_PAUSED || !t->mpi.open)
		return false;
	t->busy_sp = frame;
	t->state = THREAD_BUSY;
	signal_barrier();
	probe_resume(t);
	return true;
}

/* `frame` of the wrapper, which stays busy until leave(). */
static bool end_at(uint64_t now, uintptr_t frame)
{
	struct thread *t = self;

	if (unlikely(t && t->mpi.paused))
		return end_unmeasured(t, frame);
	if (unlikely(!t || (!thread_busy_in(t, frame) && !end_paused(t, frame))))
		return false;
	if (unlikely(!t->mpi.open)) {
		thread_ready(t);
		return false;
	}
	t->mpi.now = now;
	t->mpi.last = false;
	return true;
}

static bool end(void)
{
	return end_at(clock_tick(), WRAPPER_FRAME);
}

static void leave(void)
{
	struct thread *t = self;

	if (unlikely(t->mpi.paused)) {
		leave_unmeasured(t);
		return;
	}
	close_call(t, t->mpi.now);
	probe_end(t);
}

/* -------------------------------------------------------------- what it did */

static void put_record(struct thread *t, struct mpi_record record)
{
	uint8_t tag = (uint8_t)(HYB_RECORD_OTHER | (t->mpi.last ? HYB_OTHER_NOW : 0)), *p;

	record.unmeasured = t->mpi.paused;
	if (!rt.set.trace_events || unlikely(record.unmeasured && !mpi_record_kind(record.what)->ordered))
		return;
	p = t->mpi.last ? trace_begin_together(t, tag) : trace_begin(t, tag, t->mpi.now);
	if (!p)
		return;
	trace_end(t, mpi_record_put(p, &record));
	t->mpi.last = true;
}

static void trace_message(struct thread *t, const struct mpi_message *m)
{
	put_record(t, (struct mpi_record){
			      .what = (uint8_t)mpi_record_of(m->op),
			      .handle = m->handle,
			      .peer = m->peer,
			      .tag = m->tag,
			      .sent = m->sent,
			      .received = m->received,
			      .offset = m->offset,
			      .request = m->request,
			      .operation = m->collective,
		      });
}

static uint32_t size_class(uint64_t bytes)
{
	return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

/* 0: no room. */
static uint32_t message_node(struct thread *t, const struct mpi_message *m)
{
	uint64_t bytes = m->sent > m->received ? m->sent : m->received;
	uint32_t handle = m->handle <= 0xfffff ? m->handle : 0;
	uint64_t key = HYB_MESSAGE(m->op, size_class(bytes) & 63, handle, m->peer);
	uint32_t id = node_probe(t, t->node, t->top->node, HYB_NODE_MESSAGE, key);

	t->loc->faults[HYB_FAULT_TOO_MANY] += !id;
	return id;
}

static void wait_for(struct thread *t, uint32_t node)
{
	if (node && t->mpi.waits < MPI_WAITS)
		t->mpi.waited[t->mpi.waits++] = node;
}

/* In a call that ends at mpi.now. */
static void count_message(struct thread *t, const struct mpi_message *m)
{
	uint32_t id = message_node(t, m);

	if (id) {
		struct hyb_node *node = node_at(id);

		node->count++;
		node->sent += m->sent;
		node->received += m->received;
		if (!m->request && !t->mpi.timed) {
			node->inclusive += t->mpi.now - t->mpi.open->enter;
			t->mpi.timed = true;
		}
		if (m->request && m->op == HYB_MESSAGE_RECV) /* else it only began here */
			wait_for(t, id);
	}
}

static void record_message(struct thread *t, const struct mpi_message *m)
{
	if (likely(!t->mpi.paused))
		count_message(t, m);
	trace_message(t, m);
}

static void message(const struct mpi_message *m)
{
	record_message(self, m);
}

static void waited(const struct mpi_message *m)
{
	if (!self->mpi.paused)
		wait_for(self, message_node(self, m));
}

/* What has a single number. */
static void request(enum hyb_other what, uint64_t number)
{
	struct mpi_record record = {.what = (uint8_t)what};

	record.numbers[mpi_record_kind(what)->numbers[0]] = number;
	put_record(self, record);
}

static void epoch(uint32_t window, uint32_t target)
{
	put_record(self, (struct mpi_record){.what = HYB_OTHER_EPOCH, .handle = window, .peer = target});
}

static void failed(int error)
{
	self->loc->mpi[HYB_MPI_ERRORS] += !self->mpi.paused;
	request(HYB_OTHER_FAILED, (uint32_t)error);
}

static void untracked(void)
{
	if (self && self->state != THREAD_NONE)
		self->loc->mpi[HYB_MPI_UNTRACKED]++;
}

static void end_late(const struct mpi_message *m)
{
	uint64_t now = clock_tick();
	struct thread *t = self;

	if (likely(t && !rt.metrics && t->state == THREAD_READY && t->mpi.open == t->top)) {
		t->mpi.received_at = now;
		t->mpi.has_message = m != NULL;
		if (m)
			t->mpi.message = *m;
		signal_barrier();
		t->mpi.received = true;
		signal_barrier();
		t->state = THREAD_PENDING;
	} else if (end_at(now, WRAPPER_FRAME)) {
		if (m)
			message(m);
		leave();
	}
}

/* Ends the receive that is pending. */
static void finish_receive(struct thread *t)
{
	t->mpi.now = t->mpi.received_at;
	t->mpi.last = false;
	if (t->mpi.has_message)
		record_message(t, &t->mpi.message);
	close_call(t, t->mpi.now);
	t->mpi.received = false;
}

bool thread_catch_up(struct thread *t, uintptr_t frame)
{
	t->busy_sp = frame;
	t->state = THREAD_BUSY;
	signal_barrier();
	if (t->mpi.received)
		finish_receive(t);
	if (t->mpi.begun) {
		t->mpi.begun = false;
		open_call(t, t->mpi.function, t->mpi.snippet, t->mpi.begun_at);
	}
	return true;
}

/* -------------------------------------------------------------- definitions */

static bool is_measuring(void)
{
	return store.header && atomic_load_explicit(&rt.on, memory_order_relaxed);
}

static uint32_t define_handle(const struct mpi_handle *h)
{
	const char *name = h->name ? h->name : "";
	struct hyb_def_handle def = {
		.identity = h->identity,
		.parent = h->parent,
		.kind = h->kind,
		.name_len = (uint16_t)strnlen(name, HYB_NAME_MAX),
		.rank = h->rank,
		.size = h->size,
		.remote = h->remote,
		.group = h->group,
	};

	if (!is_measuring())
		return 0;
	def.id = atomic_fetch_add(&rt.next_handle, 1) + 1;
	return store_define(HYB_DEF_HANDLE, &def, DEF_WITH(name)) ? def.id : 0;
}

static void name_handle(uint32_t id, const char *name)
{
	struct hyb_def_handle_name def = {.id = id, .name_len = (uint16_t)strnlen(name, HYB_NAME_MAX)};

	if (is_measuring())
		store_define(HYB_DEF_HANDLE_NAME, &def, DEF_WITH(name));
}

static void world(uint64_t identity, uint32_t rank, uint32_t size, uint32_t threads)
{
	struct hyb_def_world def = {.identity = identity,
		.rank = rank,
		.size = size,
		.threads = threads,
		.flags = HYB_WORLD_FOLLOWS,
		.tick = clock_tick()};

	if (is_measuring())
		store_define(HYB_DEF_WORLD, &def, NULL);
}

static void define_clock(const struct hyb_def_clock *clock)
{
	if (is_measuring())
		store_define(HYB_DEF_CLOCK, clock, NULL);
}

static void note(enum hyb_severity severity, const char *text)
{
	if (is_measuring())
		store_note(severity, text);
}

static uint64_t clock_domain(void)
{
	return store.header ? store.header->clock_domain : 0;
}

static uint64_t mono(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Found by name: see runtime/mpi/call.h. */
extern const struct hybrid_mpi hybrid_mpi_1;
__attribute__((visibility("default"))) const struct hybrid_mpi hybrid_mpi_1 = {
	.version = 1,
	.size = sizeof(struct hybrid_mpi),
	.begin = begin,
	.begin_late = begin_late,
	.inside = inside,
	.end = end,
	.message = message,
	.request = request,
	.epoch = epoch,
	.failed = failed,
	.leave = leave,
	.end_late = end_late,
	.define_handle = define_handle,
	.name_handle = name_handle,
	.world = world,
	.clock = define_clock,
	.metadata = api_metadata,
	.note = note,
	.untracked = untracked,
	.pause = api_pause,
	.resume = api_resume,
	.clock_domain = clock_domain,
	.mono = mono,
	.waited = waited,
};

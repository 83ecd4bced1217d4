/* What programs call through include/hybrid/hybrid.h. */
#include <math.h>

#include "hybrid/hybrid.h"
#include "probe.h"
#include "runtime/python/frames.h"
#include "regions.h"
#include "runtime/thread_name.h"

#define VALUE_MAX 8000 /* bytes of a metadata value that are kept */

/* The region's key, made at its first use, and again in a forked child. */
static uint64_t define(struct hybrid_region *region)
{
	uint64_t key = region_key(region->name, strlen(region->name), region->file ? region->file : "",
		region->line, region->kind);

	__atomic_store_n(&region->id, key, __ATOMIC_RELEASE);
	return key;
}

static inline uint64_t key_of(struct hybrid_region *region)
{
	uint64_t key = __atomic_load_n(&region->id, __ATOMIC_ACQUIRE);

	return likely(key && key >> 48 == rt.epoch) ? key : define(region);
}

static inline void enter_at(struct hybrid_region *region, struct unwind_snippet snippet)
{
	struct thread *t = probe_begin(true);
	uint64_t key;

	if (!t)
		return;
	key = key_of(region);
	if (likely(key))
		probe_enter(t, HYB_NODE_REGION, key, snippet);
	else
		probe_skip(t, NULL, false);
	probe_end(t);
}

static void enter(struct hybrid_region *region)
{
	enter_at(region, PROBE_SNIPPET);
}

static void enter_frame(struct hybrid_region *region)
{
	struct unwind_snippet snippet = PROBE_SNIPPET;
	uintptr_t frame = python_frame();

	if (frame) {
		snippet.ra = UNWIND_IN_PYTHON;
		snippet.fp = frame;
		if (unlikely(self && self->loc && !self->name.origin) && thread_busy(self)) {
			thread_name_look(self, clock_tick());
			probe_end(self);
		}
	}
	enter_at(region, snippet);
}

static void leave(struct hybrid_region *region)
{
	uint64_t now = clock_tick();
	struct thread *t = probe_begin(false);

	if (!t)
		return;
	probe_leave(t, HYB_NODE_REGION, key_of(region), now);
	probe_end(t);
}

static void enter_name(const char *name, size_t length)
{
	struct thread *t = probe_begin(true);
	uint64_t key;

	if (!t)
		return;
	key = region_key(name, length, "", 0, HYB_REGION_DYNAMIC);
	if (key)
		probe_enter(t, HYB_NODE_REGION, key, PROBE_SNIPPET);
	else
		probe_skip(t, NULL, false);
	probe_end(t);
}

static void leave_name(const char *name, size_t length)
{
	uint64_t now = clock_tick();
	struct thread *t = probe_begin(false);

	if (!t)
		return;
	probe_leave_name(t, name, length, now);
	probe_end(t);
}

static uint64_t counter_id(struct hybrid_counter *counter, uint32_t type)
{
	uint64_t id = __atomic_load_n(&counter->id, __ATOMIC_ACQUIRE);

	if (unlikely(!id || id >> 48 != rt.epoch)) {
		const char *unit = counter->unit ? counter->unit : "";
		struct hyb_def_counter def = {
			.name_len = (uint16_t)strnlen(counter->name, HYB_NAME_MAX),
			.unit_len = (uint16_t)strnlen(unit, HYB_NAME_MAX),
			.type = type,
		};

		id = store_define(HYB_DEF_COUNTER, &def, DEF_WITH(counter->name, unit));
		if (id)
			__atomic_store_n(&counter->id, id | (uint64_t)rt.epoch << 48, __ATOMIC_RELEASE);
	}
	return HYB_REGION_ID(id);
}

static void count_bits(struct hybrid_counter *counter, bool real, uint64_t bits, int64_t whole)
{
	struct thread *t = self;
	uint64_t id;

	if (!t || !thread_busy(t))
		return;
	id = counter_id(counter, real ? 2 : 1);
	if (id)
		trace_counter(t, id, real, bits);
	if (unlikely(rt.metrics))
		metrics_count(t, counter->name, whole);
	thread_ready(t);
}

static void count(struct hybrid_counter *counter, int64_t value)
{
	count_bits(counter, false, (uint64_t)value, value);
}

/* The nearest whole number that a metric can be; 0 for what is none. */
static int64_t whole_of(double value)
{
	if (value >= 0x1p63)
		return INT64_MAX;
	if (value < -0x1p63)
		return INT64_MIN;
	return isnan(value) ? 0 : (int64_t)value;
}

static void count_real(struct hybrid_counter *counter, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	count_bits(counter, true, bits, whole_of(value));
}

static void parameter(const char *key, const char *value)
{
	struct thread *t = self;
	char text[HYB_NAME_MAX + 1];
	size_t key_len = strnlen(key, HYB_NAME_MAX - 1),
	       value_len = strnlen(value, HYB_NAME_MAX - 1 - key_len);
	uint64_t region, now = clock_tick();

	if (!t || !thread_busy(t))
		return;
	if (t->top->skipped & ~HYB_OPEN_SAMPLED) { /* of a region that is not followed */
		thread_ready(t);
		return;
	}
	memcpy(text, key, key_len);
	text[key_len] = '=';
	memcpy(text + key_len + 1, value, value_len);
	region = region_key(text, key_len + 1 + value_len, "", 0, HYB_REGION_PARAMETER);
	if (region) {
		probe_leave_parameter(t, text, key_len + 1, now);
		/* All of the region's frames are below: whoever called us may be none of them. */
		probe_enter(t, HYB_NODE_REGION, region, probe_snippet(t->top));
	}
	probe_end(t);
}

static void parameter_int(const char *key, int64_t value)
{
	char digits[24], *p = digits + sizeof(digits);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	*--p = '\0';
	do
		*--p = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		*--p = '-';
	parameter(key, p);
}

static void marker(const char *text)
{
	struct thread *t = self;
	struct hyb_def_text def = {.len = (uint16_t)strnlen(text, HYB_NAME_MAX)};
	uint64_t id;

	if (!t || !thread_busy(t))
		return;
	id = store_define(HYB_DEF_TEXT, &def, DEF_WITH(text));
	if (id)
		trace_marker(t, id);
	thread_ready(t);
}

void api_pause(void)
{
	struct thread *t = self;

	if (atomic_exchange(&rt.paused, true))
		return;
	atomic_store(&rt.attention, true);
	if (t && thread_busy(t))
		thread_attend(t);
}

void api_resume(void)
{
	struct thread *t = self;

	if (!atomic_exchange(&rt.paused, false))
		return;
	atomic_store(&rt.attention, false);
	if (!atomic_load(&rt.on))
		atomic_store(&rt.attention, true);
	if (!t || t->state != THREAD_PAUSED)
		return;
	t->state = THREAD_BUSY;
	signal_barrier();
	probe_resume(t);
	thread_ready(t);
}

void api_metadata(const char *key, const char *value)
{
	if (store.header && atomic_load(&rt.on))
		store_metadata(key, value, strnlen(value, VALUE_MAX));
}

static void thread_name(const char *name)
{
	struct thread *t = self;

	if (t && t->state != THREAD_NONE)
		thread_name_set(t, name);
}

/* Found by name: see hybrid_api_find_() in hybrid.h. */
extern const struct hybrid_api hybrid_api_1;
__attribute__((visibility("default"))) const struct hybrid_api hybrid_api_1 = {
	.version = 1,
	.size = sizeof(struct hybrid_api),
	.enter = enter,
	.leave = leave,
	.enter_name = enter_name,
	.leave_name = leave_name,
	.count = count,
	.count_real = count_real,
	.parameter = parameter,
	.parameter_int = parameter_int,
	.marker = marker,
	.pause = api_pause,
	.resume = api_resume,
	.metadata = api_metadata,
	.thread_name = thread_name,
	.enter_frame = enter_frame,
};

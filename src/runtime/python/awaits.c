#include "awaits.h"

#include <stddef.h>
#include <string.h>

#include "runtime/runtime.h"

#define ENTRIES 16384u /* a power of two; coroutines that are suspended at a time */
#define NEAR 8u /* entries that one frame may be in */

static struct suspended {
	uintptr_t frame; /* 0: free */
	uintptr_t code;
	uint64_t instruction; /* where it stands, as the frame has it */
	uint64_t tick;
} awaits[ENTRIES];

static struct suspended *entry(uintptr_t frame, uint32_t i)
{
	return &awaits[((uint32_t)((frame * 0x9e3779b97f4a7c15u) >> 40) + i) % ENTRIES];
}

static uint64_t instruction_of(const struct python_layout *l, uintptr_t frame)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)frame + l->frame.instruction,
		l->instruction == PYTHON_POINTER ? sizeof(uint64_t) : sizeof(uint32_t));
	return value;
}

static bool is_suspended(const struct python_layout *l, const char *frame)
{
	const struct {
		uint16_t stack_top, state, before;
	} at = {l->generator.stack_top, l->generator.state, l->generator.state_before};
	int8_t state;

	if (at.stack_top)
		return *(void *const *)(frame + at.stack_top) != NULL;
	state = at.state ? *(const int8_t *)(frame + at.state) : *(const int8_t *)(frame - at.before);
	return state >= l->generator.suspended_min && state <= l->generator.suspended_max;
}

void await_begin(const struct python_layout *l, uintptr_t frame, const void *result, uint64_t now)
{
	struct suspended *e = entry(frame, 0);

	if (!result || !is_suspended(l, (const char *)frame))
		return;
	for (uint32_t i = 0; i < NEAR && e->frame; i++) {
		struct suspended *other = entry(frame, i);

		if (!other->frame || other->tick < e->tick) /* the oldest gives way */
			e = other;
	}
	*e = (struct suspended){
		frame, *(const uintptr_t *)(frame + l->frame.code), instruction_of(l, frame), now};
}

uint64_t await_end(const struct python_layout *l, uintptr_t frame, bool throwing)
{
	for (uint32_t i = 0; i < NEAR; i++) {
		struct suspended *e = entry(frame, i);

		if (e->frame != frame)
			continue;
		e->frame = 0;
		/* A coroutine that was destroyed may have had its frame here: this one begins, elsewhere. */
		if (e->code == *(const uintptr_t *)(frame + l->frame.code) &&
			(throwing || e->instruction == instruction_of(l, frame)))
			return e->tick;
	}
	return 0;
}

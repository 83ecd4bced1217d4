#include "frame.h"

#include <string.h>

#include "python.h"
#include "runtime/memory.h"

#define FRAME_MAX 128u /* bytes of a frame that are looked at */
#define FEW_CHUNKS 8u

/*
 * Whether an address is in the part of the thread's data stack that is in use. A walk goes to
 * older chunks, so it is looked for from the last one on, but not far: a generator's frame is in none.
 */
static bool in_data_stack(struct python_walk *p, const struct python_layout *l, uintptr_t address)
{
	uintptr_t chunk = p->chunk, end = p->chunk_end;

	for (uint32_t i = 0; chunk && i < FEW_CHUNKS; i++) {
		if (address >= chunk + l->chunk.data && address + l->frame.size <= end) {
			p->chunk = chunk;
			p->chunk_end = end;
			return true;
		}
		chunk = python_word(chunk, l->chunk.previous);
		end = chunk ? chunk + python_word(chunk, l->chunk.size) : 0;
	}
	return false;
}

bool python_frame_mapped(struct python_walk *p, const struct python_layout *l, uintptr_t address)
{
	return p->calling || l->chain == PYTHON_FRAME_OBJECTS || /* linked only while whole */
	       in_data_stack(p, l, address) ||
	       (address >= p->stack_lo && address + l->frame.size <= p->stack_hi);
}

/* The bytes of a frame: in place where they must be readable, else copied. NULL: there is no frame. */
static const char *frame_bytes(
	struct python_walk *p, const struct python_layout *l, uintptr_t address, char *copy)
{
	if (!address || address % 8)
		return NULL;
	if (python_frame_mapped(p, l, address))
		return (const char *)address;
	return memory_copy(copy, address, l->frame.size) ? copy : NULL; /* in a generator */
}

uint32_t python_frame_instruction(const struct python_layout *l, const char *bytes, uintptr_t code)
{
	int64_t offset; /* in bytes */
	int32_t number;

	if (l->instruction == PYTHON_POINTER) {
		offset = (int64_t)(python_word((uintptr_t)bytes, l->frame.instruction) - code -
				   l->code.instructions);
	} else {
		memcpy(&number, bytes + l->frame.instruction, sizeof(number));
		offset = l->instruction == PYTHON_OFFSET_UNITS ? (int64_t)number * 2 : number;
	}
	offset = offset < 0 ? 0 : offset / 2 + 1;
	return offset < 0xffffff ? (uint32_t)offset : 0;
}

bool python_frame_read(
	struct python_walk *p, const struct python_layout *l, uintptr_t address, struct python_frame *ret)
{
	char copy[FRAME_MAX];
	const char *bytes = frame_bytes(p, l, address, copy);

	if (!bytes)
		return false;
	ret->code = python_word((uintptr_t)bytes, l->frame.code);
	ret->previous = python_word((uintptr_t)bytes, l->frame.previous);
	ret->instruction = python_frame_instruction(l, bytes, ret->code);
	ret->owner = l->frame.owner ? (uint8_t)bytes[l->frame.owner] : 0;
	ret->entry = l->frame.is_entry && bytes[l->frame.is_entry];
	ret->copied = bytes == copy;
	return true;
}

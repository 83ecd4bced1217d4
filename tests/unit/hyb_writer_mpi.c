/* What calls of MPI leave in a file: definitions, and records. */
#include <string.h>

#include "hyb_writer_parts.h"

void writer_world(struct writer *w, uint64_t identity, uint32_t rank, uint32_t size)
{
	struct hyb_def_world def = {.identity = identity, .rank = rank, .size = size, .tick = 1000};

	writer_def(w, HYB_DEF_WORLD, &def, sizeof(def), NULL, NULL);
}

uint32_t writer_handle_full(struct writer *w, struct hyb_def_handle def, const char *name)
{
	def.id = ++w->handles;
	def.name_len = (uint16_t)strlen(name);
	writer_def(w, HYB_DEF_HANDLE, &def, sizeof(def), name, NULL);
	return def.id;
}

uint32_t writer_handle(struct writer *w, enum hyb_handle_kind kind, uint64_t identity, uint64_t parent,
	uint32_t rank, uint32_t size, const char *name)
{
	struct hyb_def_handle def = {
		.identity = identity, .parent = parent, .kind = (uint16_t)kind, .rank = rank, .size = size};

	return writer_handle_full(w, def, name);
}

void writer_handle_name(struct writer *w, uint32_t handle, const char *name)
{
	struct hyb_def_handle_name def = {.id = handle, .name_len = (uint16_t)strlen(name)};

	writer_def(w, HYB_DEF_HANDLE_NAME, &def, sizeof(def), name, NULL);
}

void writer_clock(struct writer *w, uint64_t mono, int64_t offset, uint64_t error)
{
	struct hyb_def_clock def = {.mono = mono, .offset = offset, .error = error, .rounds = 10};

	writer_def(w, HYB_DEF_CLOCK, &def, sizeof(def), NULL, NULL);
}

/* A record of MPI with its body. */
static void put_other(
	struct writer *w, uint32_t location, uint64_t tick, uint64_t subtype, const void *body, size_t length)
{
	bool now = tick == w->threads[location].tick;
	uint8_t *p =
		writer_begin(w, location, now ? HYB_RECORD_OTHER | HYB_OTHER_NOW : HYB_RECORD_OTHER, tick);

	/* writer_begin() has written a time of 0 in one byte. */
	p = varint_put(varint_put(now ? p - 1 : p, subtype), length);
	must(p + length <= (uint8_t *)w->threads[location].trace + w->threads[location].trace->size);
	memcpy(p, body, length);
	writer_finish(w, location, p + length);
}

static void put_numbers(struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what,
	const uint64_t *numbers, size_t count)
{
	uint8_t body[HYB_RECORD_MAX], *p = body;

	for (size_t i = 0; i < count; i++)
		p = varint_put(p, numbers[i]);
	put_other(w, location, tick, what, body, (size_t)(p - body));
}

void writer_send(struct writer *w, uint32_t location, uint64_t tick, uint32_t handle, uint32_t peer,
	int32_t tag, uint64_t bytes, uint64_t request)
{
	put_numbers(w, location, tick, HYB_OTHER_SEND,
		(uint64_t[]){handle, peer, zigzag(tag), bytes, request}, request ? 5 : 4);
}

void writer_recv(struct writer *w, uint32_t location, uint64_t tick, uint32_t handle, uint32_t peer,
	int32_t tag, uint64_t bytes, uint64_t request)
{
	put_numbers(w, location, tick, HYB_OTHER_RECV,
		(uint64_t[]){handle, peer, zigzag(tag), bytes, request}, request ? 5 : 4);
}

void writer_request(struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what, uint64_t request)
{
	put_numbers(w, location, tick, what, &request, 1);
}

void writer_exchange(struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what, uint32_t handle,
	uint32_t peer, uint64_t sent, uint64_t received, uint64_t request)
{
	put_numbers(w, location, tick, what, (uint64_t[]){handle, peer, sent, received, request},
		request ? 5 : 4);
}

void writer_collective(struct writer *w, uint32_t location, uint64_t tick, uint32_t handle, uint32_t root,
	uint64_t sent, uint64_t received, uint64_t request, uint64_t operation)
{
	put_numbers(w, location, tick, HYB_OTHER_COLLECTIVE,
		(uint64_t[]){handle, root, sent, received, request, operation}, 6);
}

void writer_epoch(struct writer *w, uint32_t location, uint64_t tick, uint32_t window, uint32_t peer)
{
	put_numbers(w, location, tick, HYB_OTHER_EPOCH, (uint64_t[]){window, peer}, 2);
}

void writer_transfer(struct writer *w, uint32_t location, uint64_t tick, enum hyb_other what, uint32_t file,
	uint64_t offset, uint64_t bytes, uint64_t request)
{
	put_numbers(w, location, tick, what, (uint64_t[]){file, offset + 1, bytes, request}, request ? 4 : 3);
}

void writer_failed(struct writer *w, uint32_t location, uint64_t tick, uint64_t error)
{
	put_numbers(w, location, tick, HYB_OTHER_FAILED, &error, 1);
}

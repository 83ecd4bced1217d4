#include "format/mpi_record.h"

#include "hybrid/reader.h"

#define HANDLE MPI_NUMBER_HANDLE
#define PEER MPI_NUMBER_PEER
#define TAG MPI_NUMBER_TAG
#define SENT MPI_NUMBER_SENT
#define RECEIVED MPI_NUMBER_RECEIVED
#define OFFSET MPI_NUMBER_OFFSET
#define ERROR MPI_NUMBER_ERROR
#define REQUEST MPI_NUMBER_REQUEST
#define OPERATION MPI_NUMBER_OPERATION
#define MESSAGE(op_) HYB_EVENT_MESSAGE, HYB_MESSAGE_##op_

/* clang-format off */
static const struct mpi_record_kind kinds[] = {
	[HYB_OTHER_SEND] = {"send", MESSAGE(SEND), true, 4, 5, {HANDLE, PEER, TAG, SENT, REQUEST}},
	[HYB_OTHER_RECV] = {"recv", MESSAGE(RECV), true, 4, 5, {HANDLE, PEER, TAG, RECEIVED, REQUEST}},
	[HYB_OTHER_POSTED] = {"posted", HYB_EVENT_POSTED, 0, true, 1, 1, {REQUEST}},
	[HYB_OTHER_SENT] = {"sent", HYB_EVENT_SENT, 0, true, 1, 1, {REQUEST}},
	[HYB_OTHER_TESTED] = {"tested", HYB_EVENT_TESTED, 0, false, 1, 1, {REQUEST}},
	[HYB_OTHER_CANCELLED] = {"cancelled", HYB_EVENT_CANCELLED, 0, true, 1, 1, {REQUEST}},
	[HYB_OTHER_COLLECTIVE] = {"collective", MESSAGE(COLLECTIVE), true, 4, 6, {HANDLE, PEER, SENT, RECEIVED, REQUEST, OPERATION}},
	[HYB_OTHER_COLLECTED] = {"collected", HYB_EVENT_COLLECTED, 0, true, 1, 1, {REQUEST}},
	[HYB_OTHER_PUT] = {"put", MESSAGE(PUT), false, 4, 5, {HANDLE, PEER, SENT, RECEIVED, REQUEST}},
	[HYB_OTHER_GET] = {"get", MESSAGE(GET), false, 4, 5, {HANDLE, PEER, SENT, RECEIVED, REQUEST}},
	[HYB_OTHER_UPDATE] = {"update", MESSAGE(UPDATE), false, 4, 5, {HANDLE, PEER, SENT, RECEIVED, REQUEST}},
	[HYB_OTHER_EPOCH] = {"epoch", HYB_EVENT_EPOCH, 0, false, 2, 2, {HANDLE, PEER}},
	[HYB_OTHER_READ] = {"read", MESSAGE(READ), false, 3, 4, {HANDLE, OFFSET, RECEIVED, REQUEST}},
	[HYB_OTHER_WRITE] = {"write", MESSAGE(WRITE), false, 3, 4, {HANDLE, OFFSET, SENT, REQUEST}},
	[HYB_OTHER_DONE] = {"done", HYB_EVENT_DONE, 0, true, 1, 1, {REQUEST}},
	[HYB_OTHER_FAILED] = {"failed", HYB_EVENT_FAILED, 0, true, 1, 1, {ERROR}},
	[HYB_OTHER_CREATED] = {"created", HYB_EVENT_CREATED, 0, false, 1, 1, {HANDLE}},
	[HYB_OTHER_FREED] = {"freed", HYB_EVENT_FREED, 0, false, 1, 1, {HANDLE}},
};
/* clang-format on */

const struct mpi_record_kind *mpi_record_kind(uint64_t what)
{
	return what < sizeof(kinds) / sizeof(*kinds) && kinds[what].name ? &kinds[what] : NULL;
}

bool mpi_record_has(const struct mpi_record_kind *kind, enum mpi_number number)
{
	for (unsigned i = 0; i < kind->count; i++)
		if (kind->numbers[i] == number)
			return true;
	return false;
}

enum hyb_other mpi_record_of(enum hyb_message_op op)
{
	static const uint8_t records[] = {
		[HYB_MESSAGE_SEND] = HYB_OTHER_SEND,
		[HYB_MESSAGE_RECV] = HYB_OTHER_RECV,
		[HYB_MESSAGE_COLLECTIVE] = HYB_OTHER_COLLECTIVE,
		[HYB_MESSAGE_PUT] = HYB_OTHER_PUT,
		[HYB_MESSAGE_GET] = HYB_OTHER_GET,
		[HYB_MESSAGE_UPDATE] = HYB_OTHER_UPDATE,
		[HYB_MESSAGE_READ] = HYB_OTHER_READ,
		[HYB_MESSAGE_WRITE] = HYB_OTHER_WRITE,
	};

	return records[op];
}

uint8_t *mpi_record_put(uint8_t *p, const struct mpi_record *r)
{
	const struct mpi_record_kind *kind = &kinds[r->what];
	uint8_t body[HYB_RECORD_MAX], *end = body;
	unsigned count = kind->count;

	while (count > kind->least && !r->numbers[kind->numbers[count - 1]])
		count--;
	if (r->unmeasured)
		*end++ = r->what;
	for (unsigned i = 0; i < count; i++) {
		unsigned number = kind->numbers[i];

		end = varint_put(end, number == TAG ? zigzag(r->tag) : r->numbers[number]);
	}
	return record_put_other(
		p, r->unmeasured ? HYB_OTHER_UNMEASURED : r->what, body, (size_t)(end - body));
}

/* False: too large. */
static bool take(struct mpi_record *r, unsigned number, uint64_t v)
{
	if (number == TAG) {
		r->tag = unzigzag(v);
		return r->tag == (int32_t)r->tag;
	}
	r->numbers[number] = v;
	return v <= UINT32_MAX || (number != HANDLE && number != PEER);
}

int mpi_record_decode(uint64_t subtype, const uint8_t *body, size_t length, struct mpi_record *ret)
{
	struct mpi_record r = {.unmeasured = subtype == HYB_OTHER_UNMEASURED};
	const uint8_t *p = body, *end = body + length;
	const struct mpi_record_kind *kind;

	r.peer = HYB_PEER_NONE;
	if (r.unmeasured)
		p = varint_get(p, end, &subtype);
	kind = mpi_record_kind(subtype);
	if (p && !kind)
		return 0;
	for (unsigned i = 0; p && i < kind->count && (i < kind->least || p < end); i++) {
		uint64_t v = 0;

		p = varint_get(p, end, &v);
		if (!take(&r, kind->numbers[i], v))
			p = NULL;
	}
	if (!p)
		return -1;
	r.what = (uint8_t)subtype;
	*ret = r;
	return 1;
}

#include "reader/mpi_record.h"

#include "base/varint.h"

struct input {
	const uint8_t *p, *end; /* p NULL: something was missing or too large */
};

static uint64_t get(struct input *in)
{
	uint64_t v = 0;

	in->p = varint_get(in->p, in->end, &v);
	return v;
}

static uint32_t get_u32(struct input *in)
{
	uint64_t v = get(in);

	if (v > UINT32_MAX)
		in->p = NULL;
	return (uint32_t)v;
}

static int32_t get_i32(struct input *in)
{
	int64_t v = unzigzag(get(in));

	if (v != (int32_t)v)
		in->p = NULL;
	return (int32_t)v;
}

/* The last number of several kinds may be left out. */
static uint64_t get_request(struct input *in)
{
	return in->p && in->p < in->end ? get(in) : 0;
}

static void get_message(struct input *in, uint64_t subtype, struct mpi_record *r)
{
	uint64_t bytes;

	r->handle = get_u32(in);
	r->peer = get_u32(in);
	r->tag = get_i32(in);
	bytes = get(in);
	*(subtype == HYB_OTHER_SEND ? &r->sent : &r->received) = bytes;
	r->request = get_request(in);
}

/* COLLECTIVE, PUT, GET, UPDATE */
static void get_both_ways(struct input *in, struct mpi_record *r)
{
	r->handle = get_u32(in);
	r->peer = get_u32(in);
	r->sent = get(in);
	r->received = get(in);
	r->request = get_request(in);
}

static void get_transfer(struct input *in, uint64_t subtype, struct mpi_record *r)
{
	uint64_t bytes;

	r->handle = get_u32(in);
	r->offset = get(in) - 1; /* 0, not known, becomes UINT64_MAX */
	bytes = get(in);
	*(subtype == HYB_OTHER_WRITE ? &r->sent : &r->received) = bytes;
	r->request = get_request(in);
}

/* False: a subtype that is not known. */
static bool get_record(struct input *in, uint64_t subtype, struct mpi_record *r)
{
	r->what = (uint8_t)subtype;
	switch (subtype) {
	case HYB_OTHER_SEND:
	case HYB_OTHER_RECV:
		get_message(in, subtype, r);
		return true;
	case HYB_OTHER_COLLECTIVE:
	case HYB_OTHER_PUT:
	case HYB_OTHER_GET:
	case HYB_OTHER_UPDATE:
		get_both_ways(in, r);
		return true;
	case HYB_OTHER_READ:
	case HYB_OTHER_WRITE:
		get_transfer(in, subtype, r);
		return true;
	case HYB_OTHER_POSTED:
	case HYB_OTHER_SENT:
	case HYB_OTHER_TESTED:
	case HYB_OTHER_CANCELLED:
	case HYB_OTHER_COLLECTED:
	case HYB_OTHER_DONE:
		r->request = get(in);
		return true;
	case HYB_OTHER_EPOCH:
		r->handle = get_u32(in);
		r->peer = get_u32(in);
		return true;
	case HYB_OTHER_CREATED:
	case HYB_OTHER_FREED:
		r->handle = get_u32(in);
		return true;
	case HYB_OTHER_FAILED:
		r->error = (int64_t)get(in);
		return true;
	default:
		return false;
	}
}

int mpi_record_decode(uint64_t subtype, const uint8_t *body, size_t length, struct mpi_record *ret)
{
	struct mpi_record r = {.peer = HYB_PEER_NONE, .offset = UINT64_MAX};
	struct input in = {body, body + length};

	r.unmeasured = subtype == HYB_OTHER_UNMEASURED;
	if (r.unmeasured)
		subtype = get(&in);
	if (in.p && !get_record(&in, subtype, &r))
		return 0;
	if (!in.p)
		return -1;
	*ret = r;
	return 1;
}

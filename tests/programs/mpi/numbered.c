/*
 * Random traffic in which every message carries its sender and number: what it tells is "SENDER NUMBER" of
 * each message, in the order in which it got them. All ranks draw the same numbers, so everybody knows who
 * is to get what. argv[1]: rounds.
 */
#include "truth.h"

#define MESSAGES 60
#define COMMS 4

struct message {
	int from, to, comm, tag;
};

struct content {
	long from, number;
	char more[48];
};

enum { SPECIFIC, WILD, PERSISTENT, PROBED, MODES };

struct round {
	struct message messages[MESSAGES];
	struct content out[MESSAGES], in[MESSAGES], probed_in[MESSAGES];
	MPI_Request sends[MESSAGES], receives[MESSAGES];
	MPI_Message taken[MESSAGES];
	int count, send_count, receive_count, probed[COMMS];
	int modes[COMMS], end; /* of this rank */
};

static MPI_Comm comms[COMMS], ring;
static unsigned long long seed = 42;
static long number;

static int draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (unsigned)below);
}

static void got(const struct content *content)
{
	truth("%ld %ld", content->from, content->number);
}

static int rank_in(int comm, int world)
{
	MPI_Group all, some;
	int there;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Comm_group(comms[comm], &some);
	MPI_Group_translate_ranks(all, 1, &world, some, &there);
	MPI_Group_free(&all);
	MPI_Group_free(&some);
	return there;
}

static void plan(struct round *r)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < size; i++) {
		int end = draw(4);

		r->end = i == rank ? end : r->end;
		for (int c = 0; c < COMMS; c++) {
			int mode = draw(MODES);

			r->modes[c] = i == rank ? mode : r->modes[c];
		}
	}
	r->count = 4 + draw(MESSAGES - 4);
	for (int i = 0; i < r->count; i++) {
		struct message *m = &r->messages[i];

		*m = (struct message){draw(size), draw(size), draw(COMMS), draw(2)};
		if (m->comm == 3 && !m->from != !m->to) /* 0 is alone there */
			m->comm = 1;
	}
}

static void post(struct round *r, const struct message *m)
{
	struct content *in = &r->in[r->receive_count];
	MPI_Request *request = &r->receives[r->receive_count];
	MPI_Comm comm = comms[m->comm];

	switch (r->modes[m->comm]) {
	case SPECIFIC:
		MPI_Irecv(in, sizeof(*in), MPI_BYTE, rank_in(m->comm, m->from), m->tag, comm, request);
		break;
	case WILD:
		MPI_Irecv(in, sizeof(*in), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, request);
		break;
	case PERSISTENT:
		MPI_Recv_init(in, sizeof(*in), MPI_BYTE, MPI_ANY_SOURCE, m->tag, comm, request);
		MPI_Start(request);
		break;
	default:
		r->probed[m->comm]++;
		return;
	}
	r->receive_count++;
}

static void send(struct round *r, const struct message *m)
{
	struct content *out = &r->out[r->send_count];
	MPI_Request *request = &r->sends[r->send_count++];
	int to = rank_in(m->comm, m->to), bytes = (int)(16 + number % 5 * 8);
	MPI_Comm comm = comms[m->comm];

	*out = (struct content){.from = rank, .number = number++};
	*request = MPI_REQUEST_NULL;
	switch (number % 4) {
	case 0:
		MPI_Isend(out, bytes, MPI_BYTE, to, m->tag, comm, request);
		break;
	case 1:
		MPI_Issend(out, bytes, MPI_BYTE, to, m->tag, comm, request);
		break;
	case 2:
		MPI_Bsend(out, bytes, MPI_BYTE, to, m->tag, comm);
		break;
	default:
		MPI_Send_init(out, bytes, MPI_BYTE, to, m->tag, comm, request);
		MPI_Startall(1, request);
	}
}

/* Taken in one order and received in the other. */
static void receive_probed(struct round *r)
{
	int count = 0;

	for (int c = 0; c < COMMS; c++)
		for (int i = 0; i < r->probed[c]; i++)
			MPI_Mprobe(
				MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &r->taken[count++], MPI_STATUS_IGNORE);
	while (count-- > 0) {
		struct content *in = &r->probed_in[count];
		MPI_Request request;

		if (count % 2) {
			MPI_Mrecv(in, sizeof(*in), MPI_BYTE, &r->taken[count], MPI_STATUS_IGNORE);
		} else {
			MPI_Imrecv(in, sizeof(*in), MPI_BYTE, &r->taken[count], &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		got(in);
	}
}

static void finish_some(struct round *r)
{
	int indices[MESSAGES], count;

	for (int left = r->receive_count; left > 0; left -= count) {
		MPI_Waitsome(r->receive_count, r->receives, &count, indices, MPI_STATUSES_IGNORE);
		for (int i = 0; i < count; i++)
			got(&r->in[indices[i]]);
	}
}

static void finish_receives(struct round *r)
{
	int index;

	switch (r->end) {
	case 0:
		MPI_Waitall(r->receive_count, r->receives, MPI_STATUSES_IGNORE);
		for (int i = 0; i < r->receive_count; i++)
			got(&r->in[i]);
		break;
	case 1:
		for (int i = 0; i < r->receive_count; i++) {
			MPI_Waitany(r->receive_count, r->receives, &index, MPI_STATUS_IGNORE);
			got(&r->in[index]);
		}
		break;
	case 2:
		finish_some(r);
		break;
	default:
		for (int i = r->receive_count; i-- > 0;) {
			MPI_Wait(&r->receives[i], MPI_STATUS_IGNORE);
			got(&r->in[i]);
		}
	}
}

static void release(MPI_Request *requests, int count)
{
	for (int i = 0; i < count; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&requests[i]);
}

static void play_round(struct round *r)
{
	struct content out = {.from = rank}, in;

	plan(r);
	for (int i = 0; i < r->count; i++)
		if (r->messages[i].to == rank)
			post(r, &r->messages[i]);
	for (int i = 0; i < r->count; i++)
		if (r->messages[i].from == rank)
			send(r, &r->messages[i]);
	receive_probed(r);
	finish_receives(r);
	MPI_Waitall(r->send_count, r->sends, MPI_STATUSES_IGNORE);
	release(r->receives, r->receive_count);
	release(r->sends, r->send_count);
	out.number = number++;
	MPI_Sendrecv(&out, sizeof(out), MPI_BYTE, (rank + 1) % size, 0, &in, sizeof(in), MPI_BYTE,
		(rank + size - 1) % size, 0, ring, MPI_STATUS_IGNORE);
	got(&in);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	static char space[1 << 20];
	static struct round round;

	MPI_Init(&argc, &argv);
	truth_begin();
	MPI_Buffer_attach(space, sizeof(space));
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, !rank, rank, &comms[3]);
	MPI_Comm_dup(MPI_COMM_WORLD, &ring);
	for (int i = atoi(argv[1]); i > 0; i--)
		play_round(&round);
	MPI_Finalize();
	return 0;
}

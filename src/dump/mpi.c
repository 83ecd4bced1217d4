/* hybrid-dump: what MPI did, in nodes, trace records and events. */
#include "format/mpi_record.h"
#include "format/words.h"
#include "dump.h"

/* A rank of the own world or of another one; nothing if there is none. */
static void show_peer(struct out *out, uint32_t peer)
{
	if (peer == HYB_RANK_NONE)
		return;
	if (peer & HYB_RANK_FOREIGN)
		out_number(out, "foreign", peer & ~HYB_RANK_FOREIGN);
	else
		out_number(out, "peer", peer);
}

static void show_bytes(struct out *out, uint64_t sent, uint64_t received)
{
	out_number(out, "sent", sent);
	out_number(out, "received", received);
}

/* Where in a file, and which request, if there is one. */
static void show_rest(struct out *out, uint64_t position, uint64_t request)
{
	if (position != UINT64_MAX)
		out_number(out, "position", position);
	if (request)
		out_number(out, "request", request);
}

void dump_message_key(struct out *out, uint64_t key)
{
	out_word(out, "message", word_key(&words_message, HYB_MESSAGE_OP(key)));
	out_number(out, "size_class", HYB_MESSAGE_SIZE(key));
	out_number(out, "handle", HYB_MESSAGE_HANDLE(key));
	show_peer(out, HYB_MESSAGE_PEER(key));
}

static void show_numbers(struct out *out, const struct mpi_record_kind *kind, const struct mpi_record *mpi)
{
	if (mpi->unmeasured)
		out_flag(out, "unmeasured", true);
	if (mpi_record_has(kind, MPI_NUMBER_HANDLE))
		out_number(out, "handle", mpi->handle);
	show_peer(out, (uint32_t)mpi->peer);
	if (mpi_record_has(kind, MPI_NUMBER_TAG))
		out_signed(out, "tag", mpi->tag);
	if (kind->message)
		show_bytes(out, mpi->sent, mpi->received);
	if (mpi_record_has(kind, MPI_NUMBER_ERROR))
		out_signed(out, "error", mpi->error);
	if (mpi_record_has(kind, MPI_NUMBER_OPERATION))
		out_word(out, "operation", word_key(&words_collective, mpi->operation));
	show_rest(out, mpi->offset - 1, mpi->request);
}

void dump_other(struct out *out, const struct trace_record *record)
{
	struct mpi_record mpi = {.what = (uint8_t)record->id};
	int result = mpi_record_decode(record->id, record->body, record->value, &mpi);
	const struct mpi_record_kind *kind = result ? mpi_record_kind(mpi.what) : NULL;

	if (record->id == HYB_OTHER_METRICS) {
		out_word(out, "kind", "metrics");
		return;
	}
	out_word(out, "kind", kind ? kind->name : result ? "unmeasured" : "other");
	if (!result) {
		out_number(out, "subtype", record->id);
		out_number(out, "bytes", record->value);
	} else if (result < 0) {
		out_flag(out, "damaged", true);
	} else {
		show_numbers(out, kind, &mpi);
	}
}

void dump_mpi_event(struct out *out, const struct hyb_event *event)
{
	unsigned kind = event->unmeasured ? event->unmeasured : event->kind;
	bool message = kind == HYB_EVENT_MESSAGE;

	if (event->unmeasured)
		out_word(out, "was", word_key(&words_event, kind));
	if (message)
		out_word(out, "message", word_key(&words_message, event->message));
	if (event->message == HYB_COLLECTIVE)
		out_word(out, "operation", word_key(&words_collective, event->collective));
	if (event->handle) {
		out_hex(out, "identity", event->handle->identity);
		out_text(out, "handle", event->handle->name);
	}
	show_peer(out, event->peer);
	if (event->message == HYB_SEND || event->message == HYB_RECV)
		out_signed(out, "tag", event->tag);
	if (message)
		show_bytes(out, event->sent, event->received);
	if (kind == HYB_EVENT_FAILED)
		out_signed(out, "error", event->value.integer);
	show_rest(out, event->offset, event->request);
}

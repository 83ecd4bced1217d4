/* hybrid-dump: what MPI did, in nodes, trace records and events. */
#include "format/words.h"
#include "reader/mpi_record.h"
#include "dump.h"

enum fields { ON = 32, WHO = 1, TAG = 2, BYTES = 4, PLACE = 8, ERROR = 16 };

static const struct {
	const char *word;
	unsigned fields;
} others[] = {
	[HYB_OTHER_SEND] = {"send", WHO | TAG | BYTES},
	[HYB_OTHER_RECV] = {"recv", WHO | TAG | BYTES},
	[HYB_OTHER_POSTED] = {"posted", 0},
	[HYB_OTHER_SENT] = {"sent", 0},
	[HYB_OTHER_TESTED] = {"tested", 0},
	[HYB_OTHER_CANCELLED] = {"cancelled", 0},
	[HYB_OTHER_COLLECTIVE] = {"collective", WHO | BYTES},
	[HYB_OTHER_COLLECTED] = {"collected", 0},
	[HYB_OTHER_PUT] = {"put", WHO | BYTES},
	[HYB_OTHER_GET] = {"get", WHO | BYTES},
	[HYB_OTHER_UPDATE] = {"update", WHO | BYTES},
	[HYB_OTHER_EPOCH] = {"epoch", WHO},
	[HYB_OTHER_READ] = {"read", WHO | BYTES | PLACE},
	[HYB_OTHER_WRITE] = {"write", WHO | BYTES | PLACE},
	[HYB_OTHER_DONE] = {"done", 0},
	[HYB_OTHER_FAILED] = {"failed", ERROR},
	[HYB_OTHER_CREATED] = {"created", ON},
	[HYB_OTHER_FREED] = {"freed", ON},
	[HYB_OTHER_UNMEASURED] = {"unmeasured", 0},
};

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

void dump_other(struct out *out, const struct trace_record *record)
{
	struct mpi_record mpi;
	int result = mpi_record_decode(record->id, record->body, record->value, &mpi);
	unsigned fields;

	if (record->id == HYB_OTHER_METRICS) {
		out_word(out, "kind", "metrics");
		return;
	}
	out_word(out, "kind", result ? others[result > 0 ? mpi.what : record->id].word : "other");
	if (!result) {
		out_number(out, "subtype", record->id);
		out_number(out, "bytes", record->value);
	}
	if (result < 0)
		out_flag(out, "damaged", true);
	if (result <= 0)
		return;
	fields = others[mpi.what].fields;
	if (mpi.unmeasured)
		out_flag(out, "unmeasured", true);
	if (fields & WHO) {
		out_number(out, "handle", mpi.handle);
		show_peer(out, mpi.peer);
	}
	if (fields & TAG)
		out_signed(out, "tag", mpi.tag);
	if (fields & BYTES)
		show_bytes(out, mpi.sent, mpi.received);
	if (fields & ERROR)
		out_signed(out, "error", mpi.error);
	show_rest(out, mpi.offset, mpi.request);
}

void dump_mpi_event(struct out *out, const struct hyb_event *event)
{
	unsigned kind = event->unmeasured ? event->unmeasured : event->kind;
	bool message = kind == HYB_EVENT_MESSAGE;

	if (event->unmeasured)
		out_word(out, "was", word_key(&words_event, kind));
	if (message)
		out_word(out, "message", word_key(&words_message, event->message));
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

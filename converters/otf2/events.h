/* The events of one location on their way into its file. One thread. */
#ifndef HYB_OTF2_WRITE_EVENTS_H
#define HYB_OTF2_WRITE_EVENTS_H

#include "converters/otf2/state.h"

#define HELD_MOST 256u

/* What has to wait until the beginning of a call of MPI is written. */
struct held {
	struct hyb_event event; /* its values, if any, are those below */
	int64_t values[16];
};

/* One-sided operations on one rank's window: numbers [done, next) are not complete. */
struct operations {
	uint64_t win, target; /* the key */
	uint64_t next, done;
};

struct writer {
	struct otf2 *o;
	struct otf2_location *location;
	const struct hyb_node_info *nodes;
	const uint32_t *own;
	OTF2_EvtWriter *out;
	enum convert_samples samples;
	bool bad; /* OTF2 could not write */
	uint64_t time; /* of the last event */
	uint32_t current; /* node of the tree that the thread is in */
	struct weave weave;

	/* A call of MPI whose records are still to come. */
	bool holding;
	uint32_t call; /* node of the location */
	struct held *held;
	size_t held_count;
	int64_t failed; /* what MPI returned, for the leave */
	OTF2_AttributeList *attributes;
	struct map requests; /* struct request, by number */
	struct otf2_met met[2]; /* sends, receives */
	struct row_map operations; /* struct operations */
	uint64_t transfers; /* files: number of the next */

	/* Rates, and counters of the program by the address of their name. */
	int64_t last[16];
	uint64_t last_time[2];
	struct row_map counters; /* struct known_counter */
};

#define WRITE(w_, event_, ...) ((w_)->bad |= OTF2_EvtWriter_##event_((w_)->out, __VA_ARGS__) != OTF2_SUCCESS)

/* ---- converters/otf2/mpi.c: the records of a call's begin and end. 0 or HYB_ENOMEM. */
int otf2_mpi_begin(struct writer *w, const struct hyb_event *event);
/* Whether there is a record to write at the end. */
bool otf2_mpi_ends(const struct hyb_event *event);
void otf2_mpi_end(struct writer *w, const struct hyb_event *event);
void otf2_mpi_release(struct writer *w);

/* ---- converters/otf2/values.c: metrics, counters, markers. 0 or HYB_ENOMEM. */
void otf2_write_metrics(struct writer *w, const int64_t *values);
int otf2_write_counter(struct writer *w, const struct hyb_event *event);
int otf2_write_marker(struct writer *w, const struct hyb_event *event);

#endif

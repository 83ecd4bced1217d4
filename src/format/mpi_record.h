/*
 * Bodies of the OTHER records that hold what calls of MPI did. One table lists the name, the numbers and the
 * event of each kind; the writer, the reader and the dump use that table.
 */
#ifndef HYB_MPI_RECORD_H
#define HYB_MPI_RECORD_H

#include "format/record.h"
#include "format/tree.h"

/* The numbers that records have, in the order of struct mpi_record. */
enum mpi_number {
	MPI_NUMBER_HANDLE,
	MPI_NUMBER_PEER,
	MPI_NUMBER_TAG,
	MPI_NUMBER_SENT,
	MPI_NUMBER_RECEIVED,
	MPI_NUMBER_OFFSET,
	MPI_NUMBER_ERROR,
	MPI_NUMBER_REQUEST,
	MPI_NUMBER_OPERATION,
	MPI_NUMBERS
};

struct mpi_record_kind {
	const char *name; /* NULL: no such kind, or none of MPI */
	uint8_t event, message; /* enum hyb_event_kind, enum hyb_message_op */
	bool ordered; /* it affects the order of messages, so it is recorded in pauses, too */
	uint8_t least, count; /* numbers; those behind the first `least` are left out where they are 0 */
	uint8_t numbers[6]; /* enum mpi_number */
};

/* A number that the kind does not have is 0, a peer HYB_PEER_NONE. */
struct mpi_record {
	uint8_t what; /* enum hyb_other; not UNMEASURED, but what it has in it */
	bool unmeasured;
	union {
		uint64_t numbers[MPI_NUMBERS]; /* by enum mpi_number */
		struct {
			uint64_t handle, peer; /* 32 bits */
			int64_t tag; /* 32 bits */
			uint64_t sent, received; /* bytes */
			uint64_t offset; /* + 1; 0: not known */
			int64_t error;
			uint64_t request;
			uint64_t operation; /* enum hyb_operation, or what a newer version knows */
		};
	};
};

/* NULL: not known to this version, or not of MPI. */
const struct mpi_record_kind *mpi_record_kind(uint64_t what);

bool mpi_record_has(const struct mpi_record_kind *kind, enum mpi_number number);

/* The record of a message. */
enum hyb_other mpi_record_of(enum hyb_message_op op);

/* Writes it behind tag and time: at most HYB_RECORD_MAX in all. Returns the byte behind. Async-signal-safe.
 */
uint8_t *mpi_record_put(uint8_t *p, const struct mpi_record *record);

/*
 * 1: *ret is filled; 0: a subtype (enum hyb_other) that is not known; -1: the body is too short or its
 * numbers too large. Bytes behind what is known are left to newer versions.
 */
int mpi_record_decode(uint64_t subtype, const uint8_t *body, size_t length, struct mpi_record *ret);

#endif

/*
 * What libhybrid-papi.so offers: the table `hybrid_papi_1`, found by dlsym. It is the only library of ours
 * that links PAPI and libpfm4; hybrid-run loads it to learn what names mean. Nothing of it is in the measured
 * program: names are handed over as the kernel's encodings (base/metrics.h).
 *
 * One thread at a time, behind start(). Errors: false, and one line without newline in `error`, which names
 * the event and what to do.
 */
#ifndef HYB_PAPI_CALL_H
#define HYB_PAPI_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/metrics.h"

/* Environment of hybrid-run: another library in place of libhybrid-papi.so; empty: none. */
#define PAPI_VARIABLE "HYBRID_PAPI"

/* An event: the sum of its parts. */
struct papi_event {
	char name[256];
	char unit[64]; /* "" for plain numbers */
	char text[512]; /* what it is, one line */
	bool preset;
	unsigned parts;
	struct metric_part part[METRICS_PARTS];
};

/* A part of PAPI. */
struct papi_component {
	const char *name, *text;
	const char *disabled; /* why; NULL: it works */
};

struct hybrid_papi {
	uint32_t version; /* 1 */
	uint32_t size; /* of this structure */

	bool (*start)(char *error, size_t room);

	/* Looks up what the name means. Only the kernel knows whether this machine can count it. */
	bool (*find)(const char *name, struct papi_event *ret, char *error, size_t room);

	/* Whether PAPI knows the name, though it may be of no use here. */
	bool (*known)(const char *name);

	/* Calls each() for all events that find() finds, until it returns false. */
	void (*list)(bool (*each)(void *data, const struct papi_event *event), void *data);

	void (*components)(void (*each)(void *data, const struct papi_component *component), void *data);
};

extern const struct hybrid_papi hybrid_papi_1;

#endif

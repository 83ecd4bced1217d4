/* What is measured besides time: the options -m and -e. */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include "format/format.h"
#include "launch/papi/papi_call.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define METRIC_NAME_MAX 127 /* bytes */

struct metrics {
	struct {
		char name[METRIC_NAME_MAX + 1];
		uint64_t period; /* 0: takes no samples */
	} list[HYB_METRICS_MAX];
	unsigned count;
};

/* A list of names as -m has it, or of NAME@PERIOD as -e. 0, or -1 after a line on stderr. */
int metrics_add_names(struct metrics *metrics, const char *text);
int metrics_add_events(struct metrics *metrics, const char *text);

/* As the options were: "NAME,NAME@PERIOD". */
void metrics_print(const struct metrics *metrics, FILE *out);

/*
 * Finds out that this machine has them. Returns what the runtime reads from METRICS_VARIABLE, to be freed;
 * NULL after a line on stderr. `library`: the path of libhybrid-papi.so, "" if it was not built. *ret_remark:
 * a line for the user, to be freed, or NULL. Where no timer takes samples (`timed`) the first that does is
 * made one that passes as time does, if there is one.
 */
char *metrics_resolve(struct metrics *metrics, bool timed, const char *library, char **ret_remark);

/* PAPI, started; NULL after a line on stderr that begins with `what`. */
const struct hybrid_papi *metrics_papi(const char *library, const char *what);

/* Appends "; similar: A, B" to the text, of those that this machine has. `papi` may be NULL. */
void metrics_suggest(const struct hybrid_papi *papi, const char *name, char *text, size_t size);

/* Prints those that this machine has whose name or description has `filter` in it, if that is not NULL.
 * False, after a line on stderr: there is none. */
bool metrics_show(const char *filter, const char *library);

#endif

/*
 * A profile as functions that call each other: what graphs and tables by function show. Of a function that
 * calls itself, on whatever way, all time counts once: a call of what is open already carries nothing, so
 * that all calls of a function together carry its inclusive time, which is how readers find that.
 */
#ifndef HYB_CALL_GRAPH_H
#define HYB_CALL_GRAPH_H

#include "converters/converter.h"
#include "profile/views/row_map.h"

/* Rows of tables; numbers of functions are those of their rows. */
struct call_function {
	const char *name, *file;
	const char *module; /* of what has no file; else "" */
	const char *object; /* module of its first node: no key */
	uint32_t line; /* where it begins; 0: not known */
	uint64_t calls; /* counted by probes */
};

struct call_edge {
	uint32_t from, to; /* functions */
	uint32_t line; /* of the call, if the profile is one of call sites */
	uint32_t reserved;
	uint64_t calls; /* counted by probes; 0: only seen by samples */
};

struct call_line {
	uint32_t function, line;
};

/* Costs stand apart, `width` of each row: 0 is time in ns, 1 samples, then metrics that only grow. */
struct call_graph {
	struct row_map functions, edges, lines;
	size_t width;
	uint64_t *exclusive, *inclusive; /* by function */
	uint64_t *carried; /* by edge */
	uint64_t *spent; /* by line: exclusive */
	uint64_t *total;
	uint32_t *metrics; /* by cost from 2 on: index of the metric */
};

/* 0 or HYB_ENOMEM; to be released in both cases. Function 0 is the root's. */
int call_graph_make(struct call_graph *graph, const struct convert_profile *p);
void call_graph_release(struct call_graph *graph);

/* Which cost weighs in the profile; SIZE_MAX and *err: a metric that goes up and down has none. */
size_t call_graph_weight(
	const struct call_graph *graph, const struct convert_profile *p, struct hyb_error *err);

#endif

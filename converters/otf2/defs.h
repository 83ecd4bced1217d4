/* Global definitions, each behind those that it refers to. One thread. */
#ifndef HYB_OTF2_WRITE_DEFS_H
#define HYB_OTF2_WRITE_DEFS_H

#include "converters/otf2/state.h"

struct defs {
	struct otf2 *o;
	OTF2_GlobalDefWriter *out;
	struct row_map strings, hosts; /* references by what they are of */
	int failed; /* 0 or enum hyb_result */
};

#define DEFINE(d_, what_, ...) \
	do { \
		if (OTF2_GlobalDefWriter_Write##what_((d_)->out, __VA_ARGS__) != OTF2_SUCCESS && \
			!(d_)->failed) \
			(d_)->failed = HYB_EIO; \
	} while (0)

/* The reference of a text, which is defined when it is asked for first. */
uint32_t otf2_string(struct defs *d, const char *text);

/* ---- converters/otf2/code.c: regions, their groups, calling contexts. */
void otf2_define_code(struct defs *d);

/* ---- converters/otf2/numbers.c: metrics and interrupt generators. */
void otf2_define_numbers(struct defs *d);

/* ---- converters/otf2/comms.c: groups of ranks, communicators, windows, files. */
void otf2_define_handles(struct defs *d);

#endif

/*
 * A record a line: its name, then fields. As text "chunk offset 0x1000 kind
 * defs ...", or as one JSON object. The same calls make both.
 */
#ifndef DUMP_OUT_H
#define DUMP_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "hybrid/reader.h"

struct out {
	FILE *file;
	bool json;
	struct json object; /* the record, if so */
};

void out_begin(struct out *out, const char *record);
void out_number(struct out *out, const char *field, uint64_t value);
void out_signed(struct out *out, const char *field, int64_t value);
void out_real(struct out *out, const char *field, double value);
void out_hex(struct out *out, const char *field, uint64_t value); /* a number in JSON */
void out_flag(struct out *out, const char *field, bool value); /* text: only the field's name, if true */
void out_word(struct out *out, const char *field, const char *word); /* text: without quotes */
void out_text(struct out *out, const char *field,
	const char *text); /* any bytes; what cannot be shown is escaped */
/* Numbers side by side: "1,2,3", or an array. */
void out_list(struct out *out, const char *field, const int64_t *values, size_t count);
/* The values of metrics with their names: pairs, or an object. */
void out_metrics(struct out *out, const char *field, const struct hyb_metric *metrics, const int64_t *values,
	size_t count);
void out_end(struct out *out);

#endif

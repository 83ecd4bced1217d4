/* CSV text: for whatever writes it. */
#ifndef HYB_CSV_H
#define HYB_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes rows: commas and quotes are its own. Zero bytes with `out` begin a text. */
struct csv {
	FILE *out;
	const char *end; /* of a line; NULL: "\n" */
	bool filled; /* something stands in the row */
};

void csv_text(struct csv *csv, const char *text); /* quoted; bytes that are not UTF-8 become U+FFFD */
void csv_plain(struct csv *csv, const char *text); /* a word that needs no quotes, or more cells of such */
void csv_number(struct csv *csv, uint64_t value);
void csv_signed(struct csv *csv, int64_t value);
void csv_empty(struct csv *csv);
void csv_id(struct csv *csv, uint64_t value); /* 16 hexadecimal digits */
/* What is not finite is left empty. So many digits behind the point; so many significant ones (17:
 * exactly). */
void csv_fixed(struct csv *csv, double value, int digits);
void csv_real(struct csv *csv, double value, int digits);
void csv_end(struct csv *csv); /* of the row */

#endif

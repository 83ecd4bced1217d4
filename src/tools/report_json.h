/* JSON text. */
#ifndef HYB_REPORT_JSON_H
#define HYB_REPORT_JSON_H

#include <stdio.h>

/* Bytes of the UTF-8 character at `text`, or 0 if it is none (too long, a surrogate, too large). */
size_t utf8_length(const char *text);

/* A quoted string; bytes that are not UTF-8 become U+FFFD. */
void json_string(FILE *out, const char *text);

#endif

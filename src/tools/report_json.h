/* JSON text. */
#ifndef HYB_REPORT_JSON_H
#define HYB_REPORT_JSON_H

#include <stdio.h>

/* A quoted string; bytes that are not UTF-8 become U+FFFD. */
void json_string(FILE *out, const char *text);

#endif

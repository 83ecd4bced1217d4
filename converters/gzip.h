/* A stream that is compressed as gzip does it, into a file that is open. */
#ifndef HYB_GZIP_H
#define HYB_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* NULL when memory is out. */
struct gzip *gzip_open(FILE *file);

/* Whether the file takes it shows in the file. */
void gzip_write(struct gzip *gzip, const void *bytes, size_t size);

/* Writes what is held back, and frees. Accepts NULL. */
void gzip_close(struct gzip *gzip);

#endif

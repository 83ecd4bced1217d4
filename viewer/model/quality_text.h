/* What hybrid-report says of a measurement before its results, as text. For jobs: reads experiments. */
#ifndef HYB_QUALITY_TEXT_H
#define HYB_QUALITY_TEXT_H

#include "viewer/snapshot/session.h"

/* What is to be said of a snapshot, which must live as long. Takes long where there are messages to match. */
struct quality;

/* NULL: memory is out. If the job is to stop it ends soon, and something is missing. */
struct quality *quality_make(const struct snapshot *snapshot, const struct job *job);
void quality_free(struct quality *quality); /* accepts NULL */

/* Lines in UTF-8 of at most `width` columns, to be freed; NULL: memory is out. A line that begins with '!'
 * warns, any other with ' '. */
char *quality_text(const struct quality *quality, unsigned width);

#endif

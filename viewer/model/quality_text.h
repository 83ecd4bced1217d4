/* How good a measurement is, as text. For jobs: reads experiments. */
#ifndef HYB_QUALITY_TEXT_H
#define HYB_QUALITY_TEXT_H

#include "viewer/snapshot/session.h"

/* The quality of a snapshot, which must live as long. Takes long where there are messages to match. */
struct judgement;

/* NULL: memory is out. If the job is to stop it ends soon, and something is missing. */
struct judgement *judgement_make(const struct snapshot *snapshot, const struct job *job);
void judgement_free(struct judgement *judgement); /* accepts NULL */

/* Lines in UTF-8 of at most `width` columns, to be freed; NULL: memory is out. A line that begins with '!'
 * warns, any other with ' '. */
char *judgement_text(const struct judgement *judgement, unsigned width);

#endif

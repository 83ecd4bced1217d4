/* What hybrid-report says of a measurement before its results, as text. For jobs: reads experiments. */
#ifndef HYB_QUALITY_TEXT_H
#define HYB_QUALITY_TEXT_H

#include "viewer/session.h"

/* Lines in UTF-8 of at most `width` columns, to be freed; NULL: memory is out. A line that begins with '!'
 * warns, any other with ' '. */
char *quality_text(const struct snapshot *snapshot, unsigned width);

#endif

/* Messages of hybrid-run: always on stderr, one line a call. */
#ifndef RUN_MESSAGE_H
#define RUN_MESSAGE_H

/* Writes "hybrid-run: ", the text and a newline with one write, so that lines of others do not mix in.
 * Returns -1, for whoever fails with it. */
int message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

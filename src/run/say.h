/* What hybrid-run has to say: always on stderr, one line a call. */
#ifndef RUN_SAY_H
#define RUN_SAY_H

/* Writes "hybrid-run: ", the text and a newline with one write, so that lines of others do not mix in. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

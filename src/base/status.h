/* What waitpid() says of a process, as people read it. */
#ifndef HYB_STATUS_H
#define HYB_STATUS_H

#define STATUS_SIZE 32

/* "exit 3", "signal SIGSEGV", or "signal 34" where the signal has no name. Returns `text`. */
const char *status_text(int status, char text[STATUS_SIZE]);

/* The reverse: of the beginning of a text. What is no such text counts as "exit 0". */
int status_read(const char *text);

#endif

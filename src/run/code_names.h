/* Names of code that measured processes made at run time: their files are kept in the experiment. */
#ifndef RUN_CODE_NAMES_H
#define RUN_CODE_NAMES_H

#include <stddef.h>
#include <time.h>

/*
 * Copies the file that the value of a HYB_MADE_KEY names into the directory. If its maker has removed it, the
 * copy is made from the link that the runtime has put there. Only a file of this user's that was written
 * after `since` is taken: process ids, and so names, come again.
 */
void code_names_keep(const char *directory, const char *value, size_t length, time_t since);

#endif

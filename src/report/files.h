/* Which rank reads which files: rank 0 lists them and cuts the list, so that all have the same idea of it. */
#ifndef HYB_REPORT_FILES_H
#define HYB_REPORT_FILES_H

#include "import/input.h"
#include "network/ranks.h"

/* A row of the files of an experiment. */
struct files {
	char **paths;
	size_t count;
};

/*
 * Rank 0: lists the files of `count` experiments, sends the other ranks their parts, and returns its own, by
 * experiment; to be freed by files_free(). NULL with *err set: nobody gets anything. Parts
 * are neighbours in the list, about as large as each other, and do not divide what
 * one process ran. `watch`: who waits for OTF2 archives, or NULL.
 */
struct files *files_share(const struct ranks *ranks, char *const *paths, size_t count,
	const struct import_watch *watch, struct hyb_error *err);
void files_free(struct files *files, size_t count); /* accepts NULL */

/*
 * The others: waits for a part. False: there is nothing more to do. *ret_paths are the experiments, to be
 * freed by hyb_files_free(). Ends the process if memory is out: nothing else would wake the other ranks.
 */
bool files_receive(const struct ranks *ranks, char ***ret_paths, struct files **ret_files, size_t *ret_count);

/* Rank 0: files_receive() of all others returns false. */
void files_end(const struct ranks *ranks);

#endif

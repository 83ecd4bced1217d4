/*
 * What the tools open: an experiment, a .hyb file, or an OTF2 archive (its folder, or its anchor file), which
 * is turned into .hyb files that have no name and vanish with who has them open.
 */
#ifndef HYB_INPUT_H
#define HYB_INPUT_H

#include "otf2.h"

/* As hyb_experiment_open(). `watch` may be NULL. */
int input_open(const char *path, const struct import_watch *watch, struct hyb_experiment **ret,
	struct hyb_error *err);

/* As hyb_experiment_files(), but to be freed by input_files_free(), which may be as soon as they are open. */
int input_files(const char *path, const struct import_watch *watch, char ***ret_files, size_t *ret_count,
	struct hyb_error *err);
void input_files_free(char **files, size_t count);

/* Whether it is an archive, by the names of files only. Only the process that opens it can read its files. */
bool input_is_archive(const char *path);

#endif

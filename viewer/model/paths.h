/*
 * Where files of source are, if they are not where they were compiled: maps that the user gives, and what can
 * be tried beside them.
 */
#ifndef HYB_PATHS_H
#define HYB_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Zero bytes are an empty, valid one. */
struct paths {
	struct path_map *maps; /* the last one goes first */
	size_t count;
};

/*
 * "OLD=NEW": what begins with OLD is looked for under NEW; or a directory, in which a file is looked for by
 * ever shorter ends of its path. 0; HYB_ENOMEM; or -EINVAL: neither.
 */
int paths_add(struct paths *paths, const char *map);
void paths_release(struct paths *paths);

/*
 * Where a file may be, likeliest first; `beside` are directories (NULL behind the last) to which a path that
 * is not absolute may be relative. An array to be freed with all in it by paths_free(); NULL: out of memory.
 */
char **paths_of(const struct paths *paths, const char *file, const char *const *beside, size_t *ret_count);
void paths_free(char **candidates, size_t count);

#endif

#include "viewer/model/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "hybrid/reader.h"

struct path_map {
	char *from; /* NULL: `to` is a directory to look in */
	char *to;
};

struct candidates {
	char **items;
	size_t count;
	bool failed; /* memory is out */
};

/* Without slashes at the end, but for the root itself. */
static char *copy_path(const char *path, size_t length)
{
	while (length > 1 && path[length - 1] == '/')
		length--;
	return strndup(path, length);
}

int paths_add(struct paths *paths, const char *map)
{
	const char *equal = strchr(map, '='), *to = equal ? equal + 1 : map;
	struct path_map made = {0};

	if (!*to || equal == map)
		return -EINVAL;
	made.to = copy_path(to, strlen(to));
	made.from = equal ? copy_path(map, (size_t)(equal - map)) : NULL;
	if (!made.to || (equal && !made.from) || !ARRAY_ROOM(paths->maps, paths->count)) {
		free(made.to);
		free(made.from);
		return HYB_ENOMEM;
	}
	paths->maps[paths->count++] = made;
	return 0;
}

void paths_release(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		free(paths->maps[i].from);
		free(paths->maps[i].to);
	}
	free(paths->maps);
	*paths = (struct paths){0};
}

static void add(struct candidates *to, const char *directory, const char *rest)
{
	size_t length = strlen(directory);
	const char *slash = !length || directory[length - 1] == '/' || *rest == '/' || !*rest ? "" : "/";
	char *path;

	if (asprintf(&path, "%s%s%s", directory, slash, rest) < 0) {
		to->failed = true;
		return;
	}
	for (size_t i = 0; i < to->count; i++)
		if (!strcmp(to->items[i], path)) {
			free(path);
			return;
		}
	if (!ARRAY_ROOM(to->items, to->count)) {
		to->failed = true;
		free(path);
		return;
	}
	to->items[to->count++] = path;
}

/* By whole parts of the path; NULL: it does not begin so. */
static const char *behind(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(path, prefix, length))
		return NULL;
	path += length;
	return !*path || *path == '/' || (length && prefix[length - 1] == '/') ? path : NULL;
}

static void add_mapped(struct candidates *to, const struct path_map *map, const char *file)
{
	const char *rest = map->from ? behind(file, map->from) : file;

	if (map->from) {
		if (rest)
			add(to, map->to, rest);
		return;
	}
	for (rest += strspn(rest, "/"); *rest; rest += strspn(rest, "/")) {
		add(to, map->to, rest);
		rest += strcspn(rest, "/");
	}
}

char **paths_of(const struct paths *paths, const char *file, const char *const *beside, size_t *ret_count)
{
	struct candidates found = {0};

	for (size_t i = paths->count; i-- > 0;)
		add_mapped(&found, &paths->maps[i], file);
	if (*file != '/')
		for (; *beside; beside++)
			add(&found, *beside, file);
	add(&found, "", file);
	if (found.failed) {
		paths_free(found.items, found.count);
		return NULL;
	}
	*ret_count = found.count;
	return found.items;
}

void paths_free(char **candidates, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(candidates[i]);
	free(candidates);
}

#include "profile/same_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hybrid/reader.h"

/* A path that has no partner yet. */
struct left {
	const char *path, *end; /* end: its last so many names, NULL: it has fewer */
	const char **same; /* of `from`: where the answer goes; NULL: of `to` */
};

/* The last `names` names of a path, or NULL. */
static const char *end_of(const char *path, size_t names)
{
	const char *at = path + strlen(path);

	for (; names; names--) {
		if (at == path)
			return NULL;
		while (at > path && at[-1] != '/')
			at--;
		if (names > 1 && at > path)
			at--;
	}
	return at;
}

static size_t count_names(const char *path)
{
	size_t count = 1;

	for (; *path; path++)
		count += *path == '/';
	return count;
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct left *a = pa, *b = pb;

	if (!a->end || !b->end)
		return !a->end - !b->end;
	return strcmp(a->end, b->end);
}

/* Pairs the paths that are the only ones of their side with this end; the others move to the front. */
static size_t pair_up(struct left *left, size_t count)
{
	size_t kept = 0, next;

	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && !compare_ends(&left[i], &left[next]);)
			next++;
		if (next - i == 2 && left[i].end && !left[i].same != !left[i + 1].same) {
			const struct left *from = &left[left[i].same ? i : i + 1],
					  *to = &left[left[i].same ? i + 1 : i];

			*from->same = to->path;
			continue;
		}
		for (size_t k = i; k < next; k++)
			left[kept++] = left[k];
	}
	return kept;
}

int same_files(const char *const *from, size_t from_count, const char *const *to, size_t to_count,
	const char **ret_same)
{
	struct left *left = calloc(from_count + to_count + 1, sizeof(*left));
	size_t count = 0, longest = 0;

	if (!left)
		return HYB_ENOMEM;
	for (size_t i = 0; i < from_count; i++) {
		ret_same[i] = NULL;
		left[count++] = (struct left){from[i], from[i], &ret_same[i]};
	}
	for (size_t i = 0; i < to_count; i++)
		left[count++] = (struct left){to[i], to[i], NULL};
	for (size_t i = 0; i < count; i++)
		longest = count_names(left[i].path) > longest ? count_names(left[i].path) : longest;
	qsort(left, count, sizeof(*left), compare_ends);
	count = pair_up(left, count);
	for (size_t names = longest; names && count; names--) {
		for (size_t i = 0; i < count; i++)
			left[i].end = end_of(left[i].path, names);
		qsort(left, count, sizeof(*left), compare_ends);
		count = pair_up(left, count);
	}
	free(left);
	return 0;
}

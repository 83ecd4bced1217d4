#include "files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* All files of all experiments. */
struct list {
	struct files *files; /* by experiment */
	size_t count; /* experiments */
	uint64_t *sizes; /* of the files, one experiment behind the other */
	uint64_t whole; /* their sum */
};

/* Where a rank's part begins or ends. */
struct place {
	size_t experiment, file, number; /* number: of the file among all */
	uint64_t before; /* bytes in front of it */
};

void files_free(struct files *files, size_t count)
{
	for (size_t i = 0; files && i < count; i++)
		input_files_free(files[i].paths, files[i].count);
	free(files);
}

static void list_release(struct list *list)
{
	files_free(list->files, list->count);
	free(list->sizes);
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 1 : (uint64_t)st.st_blocks + 1;
}

static int list_all(struct list *list, char *const *paths, size_t count, const struct import_watch *watch,
	struct hyb_error *err)
{
	size_t total = 0, n = 0;

	list->files = calloc(count, sizeof(*list->files));
	if (!list->files)
		return error_set(err, HYB_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		int r = input_files(paths[i], watch, &list->files[i].paths, &list->files[i].count, err);

		if (r)
			return r;
		list->count++;
		total += list->files[i].count;
	}
	list->sizes = calloc(total, sizeof(*list->sizes));
	if (!list->sizes)
		return error_set(err, HYB_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		for (size_t f = 0; f < list->files[i].count; f++)
			list->whole += list->sizes[n++] = size_of(list->files[i].paths[f]);
	return 0;
}

/* The length of HOST-PID in HOST-PID.IMAGE.hyb: what one process ran has that in common. */
static size_t common_length(const char *path)
{
	size_t n = strlen(path) - strlen(".hyb"), digits = n;

	while (digits && path[digits - 1] >= '0' && path[digits - 1] <= '9')
		digits--;
	return digits && digits < n && path[digits - 1] == '.' ? digits : n;
}

static bool is_together(const char *a, const char *b)
{
	size_t n = strlen(a) > 4 ? common_length(a) : 0;

	return n && strlen(b) > 4 && common_length(b) == n && !memcmp(a, b, n);
}

/* Goes on to the end of a part that reaches up to `limit` bytes. */
static void advance(const struct list *list, struct place *place, uint64_t limit)
{
	while (place->experiment < list->count) {
		const struct files *files = &list->files[place->experiment];
		size_t f = place->file;
		bool together = f && f < files->count && is_together(files->paths[f - 1], files->paths[f]);

		if (f == files->count) {
			place->experiment++;
			place->file = 0;
			continue;
		}
		/* to whom its middle belongs */
		if (!together && place->before + list->sizes[place->number] / 2 >= limit)
			return;
		place->before += list->sizes[place->number++];
		place->file++;
	}
}

/* The files of experiment e from one place to another. */
static struct files cut(const struct list *list, size_t e, const struct place *from, const struct place *to)
{
	size_t first = e < from->experiment ? list->files[e].count : e == from->experiment ? from->file : 0;
	size_t end = e < to->experiment ? list->files[e].count : e == to->experiment ? to->file : 0;

	return (struct files){list->files[e].paths + first, end > first ? end - first : 0};
}

static void send_part(const struct ranks *ranks, int rank, const struct list *list, char *const *paths,
	const struct place *from, const struct place *to)
{
	struct blob blob = {0};

	blob_put(&blob, list->count);
	for (size_t e = 0; e < list->count; e++) {
		struct files files = cut(list, e, from, to);

		blob_put_text(&blob, paths[e]);
		blob_put(&blob, files.count);
		for (size_t f = 0; f < files.count; f++)
			blob_put_text(&blob, files.paths[f]);
	}
	if (blob.failed && blob.size) /* who gets half a list ends all ranks */
		blob.size--;
	ranks_send(ranks, rank, &blob);
	blob_release(&blob);
}

/* Keeps of the list what is in front of `to`. */
static void keep(struct list *list, const struct place *to)
{
	for (size_t e = 0; e < list->count; e++) {
		struct files *files = &list->files[e];
		size_t end = cut(list, e, &(struct place){0}, to).count;

		while (files->count > end)
			free(files->paths[--files->count]);
	}
}

struct files *files_share(const struct ranks *ranks, char *const *paths, size_t count,
	const struct import_watch *watch, struct hyb_error *err)
{
	struct place from = {0}, to, own;
	struct list list = {0};
	struct files *files;

	if (list_all(&list, paths, count, watch, err)) {
		list_release(&list);
		return NULL;
	}
	for (int rank = 0; rank < ranks->size; rank++) {
		to = from;
		advance(&list, &to,
			rank == ranks->size - 1 ? UINT64_MAX
						: (uint64_t)((unsigned __int128)list.whole *
							     (unsigned)(rank + 1) / (unsigned)ranks->size));
		if (rank)
			send_part(ranks, rank, &list, paths, &from, &to);
		else
			own = to;
		from = to;
	}
	keep(&list, &own);
	files = list.files;
	list.files = NULL;
	list_release(&list);
	return files;
}

/* A copy in memory of its own; the process ends where there is none. */
static char *copy_of(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		_exit(1);
	return copy;
}

static void *room(size_t count, size_t size)
{
	void *data = calloc(count + 1, size);

	if (!data)
		_exit(1);
	return data;
}

bool files_receive(const struct ranks *ranks, char ***ret_paths, struct files **ret_files, size_t *ret_count)
{
	struct blob blob = ranks_receive(ranks, 0);
	struct blob_reader from = {blob.data, blob.data + blob.size};

	if (blob.failed)
		_exit(1);
	if (!blob.size) {
		blob_release(&blob);
		return false;
	}
	*ret_count = blob_get_count(&from);
	*ret_paths = room(*ret_count, sizeof(**ret_paths));
	*ret_files = room(*ret_count, sizeof(**ret_files));
	for (size_t e = 0; e < *ret_count; e++) {
		struct files *files = &(*ret_files)[e];

		(*ret_paths)[e] = copy_of(blob_get_text(&from));
		files->count = blob_get_count(&from);
		files->paths = room(files->count, sizeof(*files->paths));
		for (size_t f = 0; f < files->count; f++)
			files->paths[f] = copy_of(blob_get_text(&from));
	}
	if (!from.at)
		_exit(1);
	blob_release(&blob);
	return true;
}

void files_end(const struct ranks *ranks)
{
	for (int rank = 1; rank < ranks->size; rank++)
		ranks_send(ranks, rank, &(struct blob){0});
}

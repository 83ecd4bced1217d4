#include "profile/metrics/columns_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const struct columns_wanted *wanted, const char *where, const char *text)
{
	wanted->warn(wanted->data, where, text);
	return -1;
}

static int unreadable(const struct columns_wanted *wanted, const char *path)
{
	char text[200];

	snprintf(text, sizeof(text), "cannot read it: %s", strerror(errno));
	return wrong(wanted, path, text);
}

/* 0, 1 if it was left out, or -1; both after a message. */
static int define_line(
	struct column_set *set, const struct columns_wanted *wanted, const char *where, const char *line)
{
	struct column_error error;
	char text[sizeof(error.text) + 16];
	size_t column;
	int r = columns_define_line(set, line, &column, &error);

	if (!r && !wanted->list_count && column != SIZE_MAX)
		r = columns_add_shown(set, column, &error);
	if (r > 0) {
		snprintf(text, sizeof(text), "left out: %.*s", (int)strcspn(error.text, "\n"), error.text);
		wanted->warn(wanted->data, where, text);
	} else if (r < 0) {
		wanted->warn(wanted->data, where, error.text);
	}
	return r;
}

static int define_file(struct column_set *set, const struct columns_wanted *wanted, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, where[300];
	size_t room = 0, number = 0;
	int r = 0;

	if (!file)
		return unreadable(wanted, path);
	while (r >= 0 && getline(&line, &room, file) >= 0) {
		snprintf(where, sizeof(where), "%.250s:%zu", path, ++number);
		r = define_line(set, wanted, where, line);
	}
	if (r >= 0 && ferror(file))
		r = unreadable(wanted, path);
	free(line);
	fclose(file);
	return r < 0 ? -1 : 0;
}

int columns_ask(struct column_set *set, const struct columns_wanted *wanted,
	const struct profile_metric *metrics, size_t count)
{
	struct column_error error;
	int r = columns_init(set, metrics, count);

	for (size_t i = 0; !r && i < wanted->file_count; i++)
		r = define_file(set, wanted, wanted->files[i]);
	for (size_t i = 0; !r && i < wanted->list_count; i++)
		if (columns_show(set, wanted->lists[i], &error))
			r = wrong(wanted, "--metric", error.text);
	if (!r && wanted->file_count && !set->shown_count)
		r = wrong(wanted, wanted->files[0], "nothing in it can be derived from what was measured");
	return r;
}

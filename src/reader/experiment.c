#include "reader/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

/* So many files are kept open, so that removing it does no harm; far below any limit on
 * descriptors. */
#define FILES_OPEN 128u

static int out_of_memory(struct hyb_error *err, const char *path)
{
	return error_set(err, HYB_ENOMEM, "%s: out of memory", path);
}

/* The file is kept also if it has no processes: what is added of it points into it. */
static int add_file(struct hyb_experiment *e, const char *path, struct hyb_error *err)
{
	struct file *file;
	int error;

	if (!ARRAY_ROOM(e->files, e->file_count))
		return out_of_memory(err, path);
	file = malloc(sizeof(*file));
	if (!file)
		return out_of_memory(err, path);
	error = file_open(file, path, &e->damage, err);
	if (error) {
		free(file);
		return error;
	}
	e->files[e->file_count++] = file;
	error = experiment_add_processes(e, file, err);
	if (e->file_count > FILES_OPEN)
		file_idle(file);
	return error;
}

static int is_hyb(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".hyb");
}

void hyb_files_free(char **files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(files[i]);
	free(files);
}

static double seconds(const struct hyb_experiment *e, const char *key)
{
	const char *value = hyb_experiment_value(e, key);

	return value ? (double)strtoull(value, NULL, 10) / 1e9 : 0;
}

/* Without measurements there still is what hybrid-run wrote about the run. */
static int is_empty(const char *path, struct hyb_error *err)
{
	struct hyb_experiment e = {0};
	const char *command, *status;
	char *record;

	error_set(err, HYB_EEMPTY, "%s: no measurement in this directory (no .hyb file)", path);
	if (asprintf(&record, "%s/experiment", path) < 0)
		return HYB_EEMPTY;
	if (!experiment_load_values(&e, record)) {
		command = hyb_experiment_value(&e, "command");
		status = hyb_experiment_value(&e, "status");
		if (command && status)
			error_set(err, HYB_EEMPTY,
				"%s: no measurement in this directory: %.200s ended by %s after %.3f s wall, "
				"%.3f s CPU, and left none",
				path, command, status, seconds(&e, "wall_ns"),
				seconds(&e, "user_ns") + seconds(&e, "system_ns"));
	}
	free(record);
	free(e.values);
	arena_release(&e.arena);
	damage_release(&e.damage);
	return HYB_EEMPTY;
}

static int list_directory(const char *path, char ***ret_files, size_t *ret_count, struct hyb_error *err)
{
	struct dirent **names;
	int found = scandir(path, &names, is_hyb, alphasort);
	char **files = found > 0 ? calloc((size_t)found, sizeof(*files)) : NULL;
	size_t count = 0;

	if (found < 0)
		return error_system(err, path, "cannot be read");
	while (files && count < (size_t)found &&
		asprintf(&files[count], "%s/%s", path, names[count]->d_name) >= 0)
		count++;
	for (int i = 0; i < found; i++)
		free(names[i]);
	free(names);
	if (!found)
		return is_empty(path, err);
	if (count < (size_t)found) {
		hyb_files_free(files, count);
		return out_of_memory(err, path);
	}
	*ret_files = files;
	*ret_count = count;
	return HYB_OK;
}

static int list_file(const char *path, char ***ret_files, size_t *ret_count, struct hyb_error *err)
{
	char **files = malloc(sizeof(*files));
	char *file = strdup(path);

	if (!files || !file) {
		free(files);
		free(file);
		return out_of_memory(err, path);
	}
	files[0] = file;
	*ret_files = files;
	*ret_count = 1;
	return HYB_OK;
}

int hyb_experiment_files(const char *path, char ***ret_files, size_t *ret_count, struct hyb_error *err)
{
	struct stat st;

	if (stat(path, &st))
		return error_system(err, path, "cannot be opened");
	if (S_ISDIR(st.st_mode))
		return list_directory(path, ret_files, ret_count, err);
	return list_file(path, ret_files, ret_count, err);
}

/* Files that cannot be read are damage; *err is the first of them. */
static int add_files(struct hyb_experiment *e, char *const *files, size_t count, struct hyb_error *err)
{
	struct hyb_error error;

	for (size_t i = 0; i < count; i++) {
		int code = add_file(e, files[i], &error);

		if (code == HYB_ENOMEM)
			return error_set(err, HYB_ENOMEM, "%s", error.text);
		if (!code)
			continue;
		damage_add(&e->damage, files[i], 0, "left out: %s", error.text);
		if (!err->code)
			*err = error;
	}
	return HYB_OK;
}

/* What hybrid-run wrote stands beside the files. */
static int load_values(struct hyb_experiment *e, struct hyb_error *err)
{
	struct stat st;
	char *values;
	int error;

	if (stat(e->path, &st) || !S_ISDIR(st.st_mode))
		return HYB_OK;
	if (asprintf(&values, "%s/experiment", e->path) < 0)
		return out_of_memory(err, e->path);
	error = experiment_load_values(e, values);
	free(values);
	return error ? out_of_memory(err, e->path) : HYB_OK;
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;
	uint64_t xs = x->info.start + (uint64_t)x->info.realtime;
	uint64_t ys = y->info.start + (uint64_t)y->info.realtime;

	if (xs != ys)
		return xs < ys ? -1 : 1;
	if (x->file != y->file)
		return strcmp(x->file->path, y->file->path);
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(struct hyb_experiment *e)
{
	if (e->process_count)
		qsort(e->processes, e->process_count, sizeof(*e->processes), compare_processes);
}

int hyb_experiment_open_files(const char *path, char *const *files, size_t count, struct hyb_experiment **ret,
	struct hyb_error *err)
{
	struct hyb_experiment *e = calloc(1, sizeof(*e));
	struct hyb_error first = {0};
	int error;

	if (e)
		e->path = strdup(path);
	if (!e || !e->path)
		error = out_of_memory(&first, path);
	else
		error = add_files(e, files, count, &first);
	if (!error)
		error = load_values(e, &first);
	if (err)
		*err = first;
	if (error) {
		hyb_experiment_close(e);
		return error;
	}
	sort(e);
	*ret = e;
	return HYB_OK;
}

int hyb_experiment_open(const char *path, struct hyb_experiment **ret, struct hyb_error *err)
{
	struct hyb_experiment *e = NULL;
	struct hyb_error first;
	size_t count;
	char **files;
	int error = hyb_experiment_files(path, &files, &count, err);

	if (error)
		return error;
	error = hyb_experiment_open_files(path, files, count, &e, &first);
	hyb_files_free(files, count);
	if (!error && experiment_correct_clocks(e, NULL))
		error = out_of_memory(&first, path);
	if (!error && e->process_count) {
		sort(e); /* clocks have changed */
		*ret = e;
		return HYB_OK;
	}
	hyb_experiment_close(e);
	if (err)
		*err = first;
	return first.code;
}

void hyb_experiment_close(struct hyb_experiment *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->process_count; i++)
		process_close(e->processes[i]);
	free(e->processes);
	for (size_t i = 0; i < e->file_count; i++) {
		file_release(e->files[i]);
		free(e->files[i]);
	}
	free(e->files);
	free(e->values);
	arena_release(&e->arena);
	damage_release(&e->damage);
	free(e->path);
	free(e);
}

const char *hyb_experiment_path(const struct hyb_experiment *e)
{
	return e->path;
}

size_t hyb_process_count(const struct hyb_experiment *e)
{
	return e->process_count;
}

struct hyb_process *hyb_process_at(const struct hyb_experiment *e, size_t i)
{
	return i < e->process_count ? &e->processes[i]->info : NULL;
}

const char *hyb_experiment_value(const struct hyb_experiment *e, const char *key)
{
	for (size_t i = 0; i < e->value_count; i++)
		if (!strcmp(e->values[i].key, key))
			return e->values[i].value;
	return NULL;
}

const struct hyb_text_pair *hyb_experiment_values(const struct hyb_experiment *e, size_t *ret_count)
{
	*ret_count = e->value_count;
	return e->values;
}

size_t hyb_damage_count(const struct hyb_experiment *e)
{
	return __atomic_load_n(&e->damage.count, __ATOMIC_RELAXED);
}

const char *hyb_damage_text(const struct hyb_experiment *e, size_t i)
{
	const char *text;

	if (i >= hyb_damage_count(e) || i >= DAMAGE_TEXTS)
		return NULL;
	text = __atomic_load_n(&e->damage.texts[i], __ATOMIC_ACQUIRE);
	return text ? text : "(no memory for the text)";
}

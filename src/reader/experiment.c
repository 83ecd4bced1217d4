#include "reader/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

/* So many processes keep their file open, so that removing it does no harm; far below any limit on
 * descriptors. */
#define FILES_OPEN 128u

static int out_of_memory(struct hyb_error *err, const char *path)
{
	return error_set(err, HYB_ENOMEM, "%s: out of memory", path);
}

static int add_process(struct hyb_experiment *e, const char *path, struct hyb_error *err)
{
	struct process *process;
	int error;

	if (!ARRAY_ROOM(e->processes, e->process_count))
		return out_of_memory(err, path);
	error = process_open(path, e, &e->arena, &e->damage, &process, err);
	if (error)
		return error;
	if (e->process_count >= FILES_OPEN)
		file_idle(&process->file);
	e->processes[e->process_count++] = process;
	return HYB_OK;
}

static int is_hyb(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".hyb");
}

/* Files that cannot be read are damage, as long as one can. */
static int add_named(struct hyb_experiment *e, struct dirent **names, int count, struct hyb_error *err)
{
	struct hyb_error first = {0}, error;

	for (int i = 0; i < count; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", e->path, names[i]->d_name) < 0)
			return out_of_memory(err, e->path);
		error.code = add_process(e, path, &error);
		if (error.code && error.code != HYB_ENOMEM) {
			damage_add(&e->damage, path, 0, "left out: %s", error.text);
			if (!first.code)
				first = error;
		}
		free(path);
		if (error.code == HYB_ENOMEM)
			return error_set(err, HYB_ENOMEM, "%s", error.text);
	}
	if (!e->process_count)
		return error_set(err, (enum hyb_result)first.code, "%s", first.text);
	return HYB_OK;
}

static int open_directory(struct hyb_experiment *e, struct hyb_error *err)
{
	struct dirent **names;
	int count = scandir(e->path, &names, is_hyb, alphasort), error;
	char *values;

	if (count < 0)
		return error_system(err, e->path, "cannot be read");
	if (count)
		error = add_named(e, names, count, err);
	else
		error = error_set(
			err, HYB_EEMPTY, "%s: no measurement in this directory (no .hyb file)", e->path);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	if (error)
		return error;
	if (asprintf(&values, "%s/experiment", e->path) < 0)
		return out_of_memory(err, e->path);
	error = experiment_load_values(e, values);
	free(values);
	return error ? out_of_memory(err, e->path) : HYB_OK;
}

static int compare_processes(const void *a, const void *b)
{
	const struct hyb_process *x = *(struct hyb_process *const *)a, *y = *(struct hyb_process *const *)b;
	uint64_t xs = x->start + (uint64_t)x->realtime, ys = y->start + (uint64_t)y->realtime;

	if (xs != ys)
		return xs < ys ? -1 : 1;
	return strcmp(x->file, y->file);
}

int hyb_experiment_open(const char *path, struct hyb_experiment **ret, struct hyb_error *err)
{
	struct hyb_experiment *e = calloc(1, sizeof(*e));
	struct stat st;
	int error;

	if (e)
		e->path = strdup(path);
	if (!e || !e->path)
		error = out_of_memory(err, path);
	else if (stat(path, &st))
		error = error_system(err, path, "cannot be opened");
	else if (S_ISDIR(st.st_mode))
		error = open_directory(e, err);
	else
		error = add_process(e, path, err);
	if (error) {
		hyb_experiment_close(e);
		return error;
	}
	qsort(e->processes, e->process_count, sizeof(*e->processes), compare_processes);
	*ret = e;
	return HYB_OK;
}

void hyb_experiment_close(struct hyb_experiment *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->process_count; i++)
		process_close(e->processes[i]);
	free(e->processes);
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
	return e->damage.count;
}

const char *hyb_damage_text(const struct hyb_experiment *e, size_t i)
{
	if (i >= e->damage.count || i >= DAMAGE_TEXTS)
		return NULL;
	return e->damage.texts[i] ? e->damage.texts[i] : "(out of memory)";
}

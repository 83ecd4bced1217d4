/*
 * The ranks that failed. Each rank's hybrid-run wrote it into the file `experiment`; if a launcher killed
 * them all before the last one could sum up, it is in the files `ranks-HOST-NUMBER`.
 */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/status.h"
#include "quality/quality.h"

#define LIST_MAX 3 /* that are named */

struct died {
	unsigned rank;
	char host[128], status[32]; /* "signal SIGSEGV", "exit 3" */
};

struct deaths {
	struct died *list;
	size_t count;
};

/* Launchers end the others when one has failed. */
static bool by_itself(const struct died *died)
{
	return strcmp(died->status, "signal SIGTERM") != 0 && strcmp(died->status, "signal SIGKILL") != 0;
}

static void add(struct deaths *deaths, unsigned rank, const char *host, const char *status)
{
	struct died *died;

	if (!strcmp(status, "exit 0") || !ARRAY_ROOM(deaths->list, deaths->count))
		return;
	died = &deaths->list[deaths->count++];
	died->rank = rank;
	snprintf(died->host, sizeof(died->host), "%s", host);
	snprintf(died->status, sizeof(died->status), "%s", status);
}

/* "NUMBER HOST PID WALL_NS USER_NS SYSTEM_NS STATUS [COMMAND]" */
static void read_rank(struct deaths *deaths, const char *text)
{
	char host[128], what[8], which[20], status[32];
	unsigned rank;

	if (sscanf(text, "%u %127s %*s %*s %*s %*s %7s %19s", &rank, host, what, which) != 4 ||
		(strcmp(what, "signal") != 0 && strcmp(what, "exit") != 0))
		return;
	snprintf(status, sizeof(status), "%s %s", what, which);
	add(deaths, rank, host, status);
}

/* "end NUMBER PID PID STATUS ...", the status as wait() has it. */
static void read_end(struct deaths *deaths, const char *line, const char *host)
{
	char text[STATUS_SIZE];
	unsigned rank;
	int status;

	if (sscanf(line, "end %u %*d %*d %d", &rank, &status) != 2)
		return;
	add(deaths, rank, host, status_text(status, text));
}

static void read_file(struct deaths *deaths, const char *folder, const char *name)
{
	const char *begin = name + strlen("ranks-"), *end = strrchr(name, '-');
	char path[PATH_MAX + 256], line[512], host[128];
	FILE *file;

	snprintf(host, sizeof(host), "%.*s", end > begin ? (int)(end - begin) : 0, begin);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		read_end(deaths, line, host);
	if (file)
		fclose(file);
}

static int compare(const void *pa, const void *pb)
{
	const struct died *a = pa, *b = pb;

	if (by_itself(a) != by_itself(b))
		return by_itself(a) ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Ranks that failed by themselves come first; if there are any, the others are left out. */
static struct deaths find(const struct hyb_experiment *experiment)
{
	struct deaths deaths = {0};
	size_t count, n = 0;
	const struct hyb_text_pair *values = hyb_experiment_values(experiment, &count);
	const char *folder = hyb_experiment_path(experiment);
	DIR *dir = opendir(folder);
	struct dirent *entry;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(values[i].key, "rank"))
			read_rank(&deaths, values[i].value);
	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "ranks-", strlen("ranks-")))
			read_file(&deaths, folder, entry->d_name);
	if (dir)
		closedir(dir);
	if (!deaths.count)
		return deaths;
	qsort(deaths.list, deaths.count, sizeof(*deaths.list), compare);
	while (n < deaths.count && by_itself(&deaths.list[n]))
		n++;
	deaths.count = n ? n : deaths.count;
	return deaths;
}

void quality_died(struct remarks *remarks, const struct hyb_experiment *experiment)
{
	struct deaths deaths = find(experiment);
	struct text text = text_begin();

	for (size_t i = 0; i < deaths.count && i < LIST_MAX; i++)
		text_add(&text, "%srank %u on %s ended by %s", i ? "; " : "", deaths.list[i].rank,
			deaths.list[i].host, deaths.list[i].status);
	if (deaths.count > LIST_MAX)
		text_add(&text, "; %zu more", deaths.count - LIST_MAX);
	remarks_add(remarks, true, "failed", &text);
	free(deaths.list);
}

void quality_json_died(struct json *json, const struct hyb_experiment *experiment)
{
	struct deaths deaths = find(experiment);

	json_array(json, "failed_ranks");
	for (size_t i = 0; i < deaths.count; i++) {
		json_object(json, NULL);
		json_number(json, "rank", deaths.list[i].rank);
		json_text(json, "host", deaths.list[i].host);
		json_text(json, "status", deaths.list[i].status);
		json_end(json);
	}
	json_end(json);
	free(deaths.list);
}

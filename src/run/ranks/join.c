#include "join.h"

#include "run/harvest.h"
#include "run/message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER ".hyb-launch-"
#define LAUNCHES 100 /* of one key */
#define TICK_US 2000
#define NAME_TICKS 5000 /* for the first rank to name the directory */
#define LATE_TICKS 750 /* for ranks that have not even begun when all others have ended */
#define PATH_ROOM (PATH_MAX + 64)

static void claim_path(const char *directory, const char *key, char ret[PATH_ROOM])
{
	snprintf(ret, PATH_ROOM, "%s/.launch-%s", directory, key);
}

/* Whether the launch goes on there, as far as can be seen from this host. */
static bool goes_on(const char *directory, const char *key)
{
	struct ranks ranks;
	char claim[PATH_ROOM];
	bool alive;

	claim_path(directory, key, claim);
	if (access(claim, F_OK))
		return false;
	ranks_read(directory, true, &ranks);
	alive = !ranks.dead;
	ranks_release(&ranks);
	return alive;
}

/* And this rank has not been there yet: else it is another launch, of the same key. */
static bool may_join(const char *directory, const struct launch *launch)
{
	struct ranks ranks;
	bool free_place = true;

	if (!goes_on(directory, launch->key))
		return false;
	ranks_read(directory, true, &ranks);
	for (uint32_t i = 0; i < ranks.count; i++)
		free_place &= ranks.list[i].rank != launch->place.rank;
	ranks_release(&ranks);
	return free_place;
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Reads what a marker holds; "" while that is not written. False: there is no such marker. */
static bool read_marker(const char *marker, char ret[PATH_MAX])
{
	FILE *in = fopen(marker, "re");
	size_t length;

	if (!in)
		return false;
	length = fread(ret, 1, PATH_MAX - 1, in);
	ret[length] = 0;
	fclose(in);
	return true;
}

/* The marker appears with its whole content: others read it at any moment. */
static int write_marker(const char *marker, const char *name)
{
	char path[64];
	FILE *out;
	bool failed;

	snprintf(path, sizeof(path), "%s.new", marker);
	out = fopen(path, "we");
	if (!out)
		return -errno;
	failed = fputs(name, out) < 0;
	failed |= fclose(out) != 0;
	if (!failed && !rename(path, marker))
		return 0;
	unlink(path);
	return -EIO;
}

/* Removes the markers of launches that were killed here; of our key they lead the other ranks to ours. */
static void sweep(const char *own_key)
{
	DIR *dir = opendir(".");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char name[PATH_MAX], key[20];

		if (strncmp(entry->d_name, MARKER, sizeof(MARKER) - 1) ||
			sscanf(entry->d_name + sizeof(MARKER) - 1, "%16[0-9a-f].", key) != 1)
			continue;
		if (strcmp(key, own_key) && read_marker(entry->d_name, name) && *name && !goes_on(name, key))
			unlink(entry->d_name);
	}
	closedir(dir);
}

/* The first rank: makes the directory, then the marker by which the others find it. */
static int found(const char *program, const struct launch *launch, const char *marker, struct experiment *e)
{
	char claim[PATH_ROOM];
	int error;

	sweep(launch->key);
	if (experiment_create(NULL, program, e)) {
		unlink(marker);
		return -1;
	}
	claim_path(e->shown, launch->key, claim);
	error = make_file(claim);
	if (!error)
		error = write_marker(marker, e->shown);
	if (!error)
		return 0;
	message("cannot write to %s: %s; make room, or choose another directory with -o", e->shown,
		strerror(-error));
	unlink(claim);
	unlink(marker);
	experiment_discard(e);
	return -1;
}

static int set_path(struct experiment *e, bool joined)
{
	e->joined = joined;
	e->made = false; /* to be removed: others are there */
	e->started = time(NULL);
	if (realpath(e->shown, e->path))
		return 0;
	return message("%s: %s; choose another directory with -o", e->shown, strerror(errno));
}

static int join_default(const char *program, const struct launch *launch, struct experiment *e)
{
	int error = 0, ticks = 0;
	char marker[48];

	for (int n = 0; n < LAUNCHES; ticks = 0, n++) {
		snprintf(marker, sizeof(marker), MARKER "%s.%d", launch->key, n);
		while ((error = make_file(marker)) == -EEXIST) {
			if (!read_marker(marker, e->shown))
				*e->shown = 0; /* gone since, or not for us to read */
			if (*e->shown || ticks++ == NAME_TICKS)
				break;
			usleep(TICK_US);
		}
		if (!error)
			return found(program, launch, marker, e);
		if (error != -EEXIST)
			break;
		if (*e->shown && may_join(e->shown, launch))
			return set_path(e, true);
	}
	return message("cannot create the experiment's directory here: %s; choose another place with -o DIR",
		strerror(-error));
}

static int join_wanted(const char *wanted, const struct launch *launch, struct experiment *e)
{
	char claim[PATH_ROOM];
	int error;

	claim_path(wanted, launch->key, claim);
	snprintf(e->shown, sizeof(e->shown), "%s", wanted);
	for (int i = 0; i < LAUNCHES; i++) {
		if (!access(claim, F_OK)) {
			if (may_join(wanted, launch))
				return set_path(e, true);
			break;
		}
		if (mkdir(wanted, 0777) && errno == EEXIST && !experiment_is_empty(wanted)) {
			if (!access(claim, F_OK))
				continue;
			break;
		}
		error = make_file(claim);
		if (!error)
			return set_path(e, false);
		if (error != -EEXIST)
			return message("cannot create the directory %s: %s; choose another with -o", wanted,
				strerror(-error));
	}
	return message("the directory %s is not empty; choose another with -o, or remove it", wanted);
}

int join_create(const char *wanted, const char *program, const struct launch *launch, struct experiment *ret)
{
	return wanted ? join_wanted(wanted, launch, ret) : join_default(program, launch, ret);
}

/* All ranks are there: nobody needs to find the directory any more. */
static void remove_markers(const struct experiment *e, const struct launch *launch)
{
	char marker[48], name[PATH_MAX];

	for (int n = 0; n < LAUNCHES; n++) {
		snprintf(marker, sizeof(marker), MARKER "%s.%d", launch->key, n);
		if (!read_marker(marker, name))
			break;
		unlink(marker);
		if (!strcmp(name, e->shown))
			break;
	}
}

/* On this host first: most ranks need not look at the others. */
static bool all_have_begun(const struct experiment *e, const struct launch *launch)
{
	struct ranks ranks;
	uint32_t count;

	ranks_read(e->path, true, &ranks);
	count = ranks.count;
	ranks_release(&ranks);
	if (count < launch->local)
		return false;
	ranks_read(e->path, false, &ranks);
	count = ranks.count;
	ranks_release(&ranks);
	return count >= launch->place.size;
}

int join_begin(const struct experiment *e, const struct launch *launch, char **command)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int error = -ENOMEM;

	if (out) {
		experiment_put_words(out, command);
		if (!fclose(out))
			error = ranks_begin(e->path, launch, text);
		free(text);
	}
	if (error)
		return message("cannot write to %s: %s; make room, or choose another directory with -o",
			e->shown, strerror(-error));
	if (all_have_begun(e, launch))
		remove_markers(e, launch);
	return 0;
}

/* Whether all that have begun have ended; `ret` is theirs then. */
static bool all_have_ended(const struct experiment *e, bool here_only, struct ranks *ret)
{
	ranks_read(e->path, here_only, ret);
	if (ret->ended + ret->dead == ret->count && ret->count)
		return true;
	ranks_release(ret); /* but for the counts */
	return false;
}

/* Ranks that have called MPI have all begun. */
static bool has_mpi(const struct experiment *e)
{
	struct harvest harvest;
	bool found;

	harvest_directory(e->path, 0, &harvest);
	found = harvest.rank_count > 0;
	harvest_release(&harvest);
	return found;
}

bool join_end(const struct experiment *e, const struct launch *launch, const struct outcome *outcome,
	struct ranks *ret)
{
	char claim[PATH_ROOM];
	bool mpi = false;
	int error = ranks_end(e->path, launch, outcome);

	if (error)
		message("cannot write to %s: %s; make room", e->shown, strerror(-error));
	claim_path(e->path, launch->key, claim);
	for (int ticks = 0;; ticks++) {
		if (!all_have_ended(e, true, ret))
			return false;
		ranks_release(ret);
		if (!ticks)
			mpi = has_mpi(e); /* and keeps what only this host has */
		if (!all_have_ended(e, false, ret))
			return false;
		if (ret->count >= launch->place.size || ticks == LATE_TICKS || (!ticks && mpi))
			break;
		ranks_release(ret);
		usleep(TICK_US);
	}
	if (!unlink(claim)) {
		remove_markers(e, launch);
		return true;
	}
	ranks_release(ret);
	return false;
}

#include "run/experiment.h"

#include "base/status.h"
#include "format/words.h"
#include "run/message.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM_NAME_MAX 100 /* bytes of it in a directory's name */
#define SAME_SECOND_MAX 1000

bool experiment_is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return true; /* to be refused when something is written there */
	while (empty && (entry = readdir(dir)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	return empty;
}

static int create_wanted(struct experiment *e, const char *wanted)
{
	struct stat st;

	if (!mkdir(wanted, 0777))
		e->made = true;
	else if (errno != EEXIST)
		return message("cannot create the directory %s: %s; choose another with -o", wanted,
			strerror(errno));
	else if (stat(wanted, &st) || !S_ISDIR(st.st_mode))
		return message("%s exists and is not a directory; choose another with -o", wanted);
	else if (!experiment_is_empty(wanted))
		return message("the directory %s is not empty; choose another with -o, or remove it", wanted);
	snprintf(e->shown, sizeof(e->shown), "%s", wanted);
	return 0;
}

static int create_default(struct experiment *e, const char *program)
{
	size_t end = strlen(program), start;
	struct tm tm;
	char date[32];
	int length;

	while (end > 1 && program[end - 1] == '/') /* a directory is a program to Python */
		end--;
	for (start = end; start && program[start - 1] != '/'; start--)
		;

	localtime_r(&e->started, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	length = snprintf(e->shown, sizeof(e->shown), "hyb-%.*s-%s",
		(int)(end - start < PROGRAM_NAME_MAX ? end - start : PROGRAM_NAME_MAX), program + start,
		date);
	for (int i = 2; i < SAME_SECOND_MAX; i++) {
		if (!mkdir(e->shown, 0777)) {
			e->made = true;
			return 0;
		}
		if (errno != EEXIST)
			break;
		snprintf(e->shown + length, sizeof(e->shown) - (size_t)length, "-%d", i);
	}
	return message("cannot create the directory %s here: %s; choose another place with -o DIR", e->shown,
		strerror(errno));
}

int experiment_create(const char *wanted, const char *program, struct experiment *ret)
{
	ret->made = ret->joined = false;
	ret->started = time(NULL);
	if (wanted ? create_wanted(ret, wanted) : create_default(ret, program))
		return -1;
	if (!realpath(ret->shown, ret->path)) {
		message("%s: %s; choose another directory with -o", ret->shown, strerror(errno));
		experiment_discard(ret);
		return -1;
	}
	return 0;
}

char *shell_quote(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
	size_t space = strlen(text) * 4 + 3;
	char *quoted, *p;

	if (*text && !text[strspn(text, plain)])
		return strdup(text);
	p = quoted = malloc(space);
	if (!quoted)
		return NULL;
	*p++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *text;
	}
	strcpy(p, "'");
	return quoted;
}

/* Newlines and backslashes are escaped, so that a line is a line. */
static void put_value(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\')
			fputs("\\\\", out);
		else
			fputc(*text, out);
	}
}

static void put(FILE *out, const char *key, const char *value)
{
	fprintf(out, "%s ", key);
	put_value(out, value);
	fputc('\n', out);
}

static void put_time(FILE *out, const char *key, time_t time)
{
	struct tm tm;
	char text[32];

	gmtime_r(&time, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	put(out, key, text);
}

void experiment_put_words(FILE *out, char **words)
{
	for (; *words; words++) {
		char *word = shell_quote(*words);

		put_value(out, word ? word : "?");
		if (words[1])
			fputc(' ', out);
		free(word);
	}
}

static void put_words(FILE *out, const char *key, char **words)
{
	fprintf(out, "%s ", key);
	experiment_put_words(out, words);
	fputc('\n', out);
}

static void put_surroundings(FILE *out, const char *program)
{
	char text[PATH_MAX];

	put(out, "program", realpath(program, text) ? text : program);
	if (getcwd(text, sizeof(text)))
		put(out, "directory", text);
	if (!gethostname(text, sizeof(text)))
		put(out, "host", text);
}

static void put_outcome(FILE *out, uint64_t wall, uint64_t user, uint64_t system, long rss, int status)
{
	char text[STATUS_SIZE];

	fprintf(out, "wall_ns %llu\nuser_ns %llu\nsystem_ns %llu\nmax_rss_kb %ld\nstatus %s\n",
		(unsigned long long)wall, (unsigned long long)user, (unsigned long long)system, rss,
		status_text(status, text));
	put_time(out, "ended", time(NULL));
}

/* rank NUMBER HOST PID WALL_NS USER_NS SYSTEM_NS STATUS, and where it ran something else than the first:
 * what. */
static void put_rank(FILE *out, const struct rank *rank, const char *command)
{
	char text[STATUS_SIZE];

	fprintf(out, "rank %u %s %d %llu %llu %llu %s", rank->rank, rank->host, (int)rank->program,
		(unsigned long long)rank->wall, (unsigned long long)rank->user,
		(unsigned long long)rank->system, rank->ended ? status_text(rank->status, text) : "lost");
	if (strcmp(rank->command, command))
		fprintf(out, " %s", rank->command);
	fputc('\n', out);
}

/* That of the first rank that failed by itself: launchers end the others then. */
static int launch_status(const struct ranks *ranks)
{
	int killed = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		int status = ranks->list[i].dead ? SIGKILL : ranks->list[i].status;

		if (status && !(WIFSIGNALED(status) &&
				      (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL)))
			return status;
		if (!killed)
			killed = status;
	}
	return killed;
}

static void put_ranks(FILE *out, const struct ranks *ranks)
{
	uint64_t wall = 0, user = 0, system = 0;
	long rss = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct rank *rank = &ranks->list[i];

		wall = rank->wall > wall ? rank->wall : wall;
		rss = rank->max_rss > rss ? rank->max_rss : rss;
		user += rank->user;
		system += rank->system;
	}
	put_outcome(out, wall, user, system, rss, launch_status(ranks));
	fprintf(out, "ranks %u\nhosts %u\n", ranks->count, ranks->hosts);
	for (uint32_t i = 0; i < ranks->count; i++)
		put_rank(out, &ranks->list[i], ranks->list[0].command);
}

static void put_beginning(FILE *out, const struct experiment *e, const struct options *options,
	const struct program *program, char **words)
{
	put(out, "hybrid", HYBRID_VERSION);
	put_words(out, "command", options->command);
	if (words != options->command)
		put_words(out, "ran", words);
	put_surroundings(out, program->path);
	if (program->unmeasured)
		put(out, "unmeasured", word_key(&words_unmeasured, program->unmeasured));
	put_time(out, "started", e->started);
	fputs("options ", out);
	options_print(options, out);
	fputc('\n', out);
	if (options->metrics.count) {
		fputs("metrics ", out);
		metrics_print(&options->metrics, out);
		fputc('\n', out);
	}
}

/* A path below the experiment. The name is short, the path was one of the kernel's: it fits, or open()
 * fails. */
static void path_in(const struct experiment *e, const char *name, char ret[PATH_MAX + 32])
{
	snprintf(ret, PATH_MAX + 32, "%s/%s", e->path, name);
}

static FILE *open_record(const struct experiment *e, const char *mode)
{
	char path[PATH_MAX + 32];

	path_in(e, "experiment", path);
	return fopen(path, mode);
}

/* `out` may be NULL. */
static int close_record(const struct experiment *e, FILE *out)
{
	bool failed = !out || ferror(out);

	if (out)
		failed |= fclose(out) != 0;
	if (failed)
		message("cannot write to %s: %s; make room, or choose another directory with -o", e->shown,
			strerror(errno));
	return failed ? -1 : 0;
}

int experiment_begin(const struct experiment *e, const struct options *options, const struct program *program,
	char **words)
{
	FILE *out = open_record(e, "we");

	if (out)
		put_beginning(out, e, options, program, words);
	return close_record(e, out);
}

/* Removes the files by which ranks found each other. */
static void remove_marks(const struct experiment *e)
{
	char path[PATH_MAX + 32];

	path_in(e, LAUNCH_MEASURED, path);
	unlink(path);
}

int experiment_end(const struct experiment *e, const struct outcome *outcome)
{
	FILE *out = open_record(e, "ae");

	if (out)
		put_outcome(out, outcome->wall, child_ns(&outcome->usage.ru_utime),
			child_ns(&outcome->usage.ru_stime), outcome->usage.ru_maxrss, outcome->status);
	if (out)
		fprintf(out, "pid %d\n", (int)outcome->pid);
	remove_marks(e);
	return close_record(e, out);
}

int experiment_end_ranks(const struct experiment *e, const struct ranks *ranks)
{
	FILE *out = open_record(e, "ae");

	if (out)
		put_ranks(out, ranks);
	if (close_record(e, out))
		return -1;
	ranks_remove(e->path);
	remove_marks(e);
	return 0;
}

int experiment_save_vdso(const struct experiment *e)
{
	const ElfW(Ehdr) *vdso = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	char path[PATH_MAX + 32];
	ssize_t size, written;
	int fd;

	if (!vdso)
		return 0;
	size = (ssize_t)(vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize);
	path_in(e, "vdso.so", path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	written = fd < 0 ? -1 : write(fd, vdso, (size_t)size);
	if (fd >= 0)
		close(fd);
	if (written == size)
		return 0;
	return message("cannot write to %s: %s; make room, or choose another directory with -o", e->shown,
		strerror(written < 0 ? errno : ENOSPC));
}

void experiment_discard(const struct experiment *e)
{
	static const char *const names[] = {"experiment", "vdso.so"};
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(e, names[i], path);
		unlink(path);
	}
	if (e->made)
		rmdir(e->shown);
}

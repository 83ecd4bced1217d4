#include "run/experiment.h"

#include "run/say.h"

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

static bool is_empty(const char *path)
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

	if (!mkdir(wanted, 0777)) {
		e->made = true;
	} else if (errno != EEXIST) {
		say("cannot create the directory %s: %s; choose another with -o", wanted, strerror(errno));
		return -1;
	} else if (stat(wanted, &st) || !S_ISDIR(st.st_mode)) {
		say("%s exists and is not a directory; choose another with -o", wanted);
		return -1;
	} else if (!is_empty(wanted)) {
		say("the directory %s is not empty; choose another with -o, or remove it", wanted);
		return -1;
	}
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
	say("cannot create the directory %s here: %s; choose another place with -o DIR", e->shown,
		strerror(errno));
	return -1;
}

int experiment_create(const char *wanted, const char *program, struct experiment *ret)
{
	ret->made = false;
	ret->started = time(NULL);
	if (wanted ? create_wanted(ret, wanted) : create_default(ret, program))
		return -1;
	if (!realpath(ret->shown, ret->path)) {
		say("%s: %s; choose another directory with -o", ret->shown, strerror(errno));
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

static void put_words(FILE *out, const char *key, char **words)
{
	fputs(key, out);
	for (; *words; words++) {
		char *word = shell_quote(*words);

		fputc(' ', out);
		put_value(out, word ? word : "?");
		free(word);
	}
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

static uint64_t nanoseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static void put_outcome(FILE *out, const struct outcome *outcome)
{
	const char *name;

	fprintf(out, "wall_ns %llu\n", (unsigned long long)outcome->wall);
	fprintf(out, "user_ns %llu\n", (unsigned long long)nanoseconds(&outcome->usage.ru_utime));
	fprintf(out, "system_ns %llu\n", (unsigned long long)nanoseconds(&outcome->usage.ru_stime));
	fprintf(out, "max_rss_kb %ld\n", outcome->usage.ru_maxrss);
	if (WIFSIGNALED(outcome->status)) {
		name = sigabbrev_np(WTERMSIG(outcome->status));
		if (name)
			fprintf(out, "status signal SIG%s\n", name);
		else
			fprintf(out, "status signal %d\n", WTERMSIG(outcome->status));
	} else {
		fprintf(out, "status exit %d\n", WEXITSTATUS(outcome->status));
	}
	put_time(out, "ended", time(NULL));
}

static void put_beginning(FILE *out, const struct experiment *e, const struct options *options,
	const char *program, char **words)
{
	put(out, "hybrid", HYBRID_VERSION);
	put_words(out, "command", options->command);
	if (words != options->command)
		put_words(out, "ran", words);
	put_surroundings(out, program);
	put_time(out, "started", e->started);
	fputs("options ", out);
	options_print(options, out);
	fputc('\n', out);
}

/* A path below the experiment. The name is short, the path was one of the kernel's: it fits or open() says
 * so. */
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
		say("cannot write to %s: %s; make room, or choose another directory with -o", e->shown,
			strerror(errno));
	return failed ? -1 : 0;
}

int experiment_begin(
	const struct experiment *e, const struct options *options, const char *program, char **words)
{
	FILE *out = open_record(e, "we");

	if (out)
		put_beginning(out, e, options, program, words);
	return close_record(e, out);
}

int experiment_end(const struct experiment *e, const struct outcome *outcome)
{
	FILE *out = open_record(e, "ae");

	if (out)
		put_outcome(out, outcome);
	return close_record(e, out);
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
	say("cannot write to %s: %s; make room, or choose another directory with -o", e->shown,
		strerror(written < 0 ? errno : ENOSPC));
	return -1;
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

/* Metrics of the kernel, read by getrusage() and from texts in /proc. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "metrics.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

/* Reads the text, through a descriptor that is opened once and then kept; "" if it cannot be read. */
static void read_text(struct thread *t, enum metrics_text which, char *to, size_t size)
{
	static const char *const paths[METRICS_TEXTS] = {"/proc/thread-self/io", "/proc/self/statm"};
	int *slot = &t->metrics.text[which], fd;
	ssize_t n;

	*to = '\0';
	if (!*slot) {
		fd = sys_open(paths[which], O_RDONLY);
		fd = fd < 0 ? fd : sys_move_high(fd);
		if (fd < 0)
			return;
		*slot = fd + 1;
	}
	n = syscall(SYS_pread64, *slot - 1, to, size - 1, 0);
	metrics_own_call(&t->metrics, false, n);
	if (n > 0)
		to[n] = '\0';
	else /* the program closed it: another one at the next reading */
		*slot = 0;
}

/* The number behind `skip` words that end in one of `ends`; `old` if there is none. */
static int64_t number_in(const char *text, unsigned skip, const char *ends, int64_t old)
{
	int64_t value = 0;

	for (; *text && skip; text++)
		if (strchr(ends, *text))
			skip--;
	while (*text == ' ')
		text++;
	if (*text < '0' || *text > '9')
		return old;
	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (*text - '0');
	return value;
}

void metrics_kernel_read(struct thread *t, unsigned kinds, struct metrics_kernel *ret)
{
	ret->used = kinds & 1u << METRIC_OF_RUSAGE && !syscall(SYS_getrusage, RUSAGE_THREAD, &ret->usage);
	memcpy(ret->own, t->metrics.own, sizeof(ret->own)); /* what the text will have of ours */
	if (kinds & 1u << METRIC_OF_IO)
		read_text(t, METRICS_IO, ret->text[METRICS_IO], sizeof(ret->text[METRICS_IO]));
	if (kinds & 1u << METRIC_OF_MEMORY)
		read_text(t, METRICS_MEMORY, ret->text[METRICS_MEMORY], sizeof(ret->text[METRICS_MEMORY]));
}

int64_t metrics_kernel_field(const struct metrics_kernel *k, const struct metric_word *word, int64_t old)
{
	const long *usage = (const long *)&k->usage;
	int64_t own;

	switch (word->kind) {
	case METRIC_OF_RUSAGE:
		if (!k->used)
			return old;
		if (strcmp(word->unit, "ns"))
			return usage[word->field];
		return (int64_t)usage[word->field] * 1000000000 + (int64_t)usage[word->field + 1] * 1000;
	case METRIC_OF_IO: /* "name: number\n" */
		own = word->field < 4 ? k->own[word->field] : 0;
		return number_in(k->text[METRICS_IO], 2 * word->field + 1, ":\n", old + own) - own;
	case METRIC_OF_MEMORY: /* pages */
		return number_in(k->text[METRICS_MEMORY], word->field, " ", old / HYB_PAGE) * HYB_PAGE;
	default:
		return old;
	}
}

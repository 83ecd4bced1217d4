#include "metrics.h"

#include "launch/metrics.h"
#include "base/nearest.h"
#include "kernel_events.h"
#include "perf.h"
#include "run/message.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOCK_PERIOD_MIN 100000 /* ns, or cycles: about as often as --rate samples at most */
#define NAMES_MAX 8192

/* ----------------------------------------------------------------- options */

/* Names of the kernel's counters are the same in upper and in lower case, and some have two. */
static bool is_same(const char *a, const char *b)
{
	struct papi_event of_a, of_b;

	if (!strcmp(a, b) || (metric_kind(a) == METRIC_OF_PERF && !strcasecmp(a, b)))
		return true;
	return kernel_event_find(a, &of_a) && kernel_event_find(b, &of_b) && !strcmp(of_a.name, of_b.name);
}

static int find(const struct metrics *m, const char *name)
{
	for (unsigned i = 0; i < m->count; i++)
		if (is_same(m->list[i].name, name))
			return (int)i;
	return -1;
}

/* Adds one. 0 or -1 after a line. */
static int add(struct metrics *m, const char *option, const char *name, size_t length, uint64_t period)
{
	char text[METRIC_NAME_MAX + 1];
	int at;

	if (!length || length > METRIC_NAME_MAX || memchr(name, METRICS_ITEM, length) ||
		memchr(name, METRICS_FIELD, length))
		return message("%s: %s; `hybrid-run --list-metrics` shows the names", option,
			length ? "not the name of a metric" : "a name is missing");
	memcpy(text, name, length);
	text[length] = 0;
	if (!strcmp(text, "time"))
		return message("%s time: time is always measured; leave it out", option);
	at = find(m, text);
	if (at >= 0 && (!period || m->list[at].period)) {
		if (!period && m->list[at].period)
			return 0; /* -e NAME@PERIOD implies -m NAME */
		return message("%s %s: it is given twice", option, text);
	}
	if (at < 0 && m->count == HYB_METRICS_MAX)
		return message("%s %s: that is more than %u metrics; measure the others in another run",
			option, text, HYB_METRICS_MAX);
	if (at < 0)
		at = (int)m->count++;
	strcpy(m->list[at].name, text);
	m->list[at].period = period;
	return 0;
}

int metrics_add_names(struct metrics *m, const char *text)
{
	for (;; text++) {
		size_t length = strcspn(text, ",");

		if (memchr(text, '@', length))
			return message("-m %.*s: a period belongs to -e", (int)length, text);
		if (add(m, "-m", text, length, 0))
			return -1;
		text += length;
		if (!*text)
			return 0;
	}
}

/* A whole number above 0 that ends at `end`; 0 if it is none. */
static uint64_t read_period(const char *text, const char *end)
{
	uint64_t value = 0;

	for (; text < end; text++) {
		if (*text < '0' || *text > '9' || value > (INT64_MAX - 9) / 10)
			return 0;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	return value;
}

int metrics_add_events(struct metrics *m, const char *text)
{
	for (;; text++) {
		size_t length = strcspn(text, ",");
		const char *at = memrchr(text, '@', length);
		uint64_t period = at ? read_period(at + 1, text + length) : 0;

		if (!period)
			return message("-e %.*s: give NAME@PERIOD with a whole number above 0, for instance "
				       "perf::PAGE-FAULTS@100",
				(int)length, text);
		if (add(m, "-e", text, (size_t)(at - text), period))
			return -1;
		text += length;
		if (!*text)
			return 0;
	}
}

void metrics_print(const struct metrics *m, FILE *out)
{
	for (unsigned i = 0; i < m->count; i++) {
		fprintf(out, "%s%s", i ? "," : "", m->list[i].name);
		if (m->list[i].period)
			fprintf(out, "@%llu", (unsigned long long)m->list[i].period);
	}
}

/* ------------------------------------------------------------- the machine */

const struct hybrid_papi *metrics_papi(const char *library, const char *what)
{
	const struct hybrid_papi *papi;
	char error[256];
	void *handle;

	if (!*library && getenv(PAPI_VARIABLE)) {
		message("%s: PAPI is not used, for " PAPI_VARIABLE " is set and empty", what);
		return NULL;
	}
	if (!*library) {
		message("%s: this Hybrid was built without PAPI; install libpapi-dev and libpfm4-dev, and "
			"build it anew",
			what);
		return NULL;
	}
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	papi = handle ? dlsym(handle, "hybrid_papi_1") : NULL;
	if (!papi || papi->version != 1 || papi->size < sizeof(*papi)) {
		message("%s: %s cannot be loaded: %s", what, library,
			handle ? "it is of another version" : dlerror());
		return NULL;
	}
	if (papi->start(error, sizeof(error)))
		return papi;
	message("%s: %s", what, error);
	return NULL;
}

struct names {
	const char *list[NAMES_MAX];
	size_t count;
};

static bool collect(void *data, const struct papi_event *event)
{
	struct names *names = data;

	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->list[i], event->name))
			return true;
	if (perf_try(&event->part[0], PERF_COUNT))
		return true;
	names->list[names->count] = strdup(event->name);
	if (names->list[names->count])
		names->count++;
	return names->count < NAMES_MAX;
}

/* Whether it looks like a counter of the program's, whose prefix was forgotten. */
static bool is_bare(const char *name)
{
	return !strchr(name, ':') && strncmp(name, "PAPI_", 5);
}

/* Whether PAPI need not be asked, for it can only be one that Hybrid knows by itself, or cannot be. */
static bool is_own(const char *name, const char *library)
{
	return !strncmp(name, "rusage::", 8) || !strncmp(name, "io::", 4) || !strncmp(name, "memory::", 8) ||
	       (!*library && (is_bare(name) || !strncmp(name, "perf::", 6)));
}

void metrics_suggest(const struct hybrid_papi *papi, const char *name, char *text, size_t size)
{
	static struct names names;
	struct papi_event event;

	for (size_t i = 0; i < METRIC_WORDS; i++)
		names.list[names.count++] = metric_words[i].name;
	for (size_t i = 0; kernel_event_at(i, &event); i++)
		collect(&names, &event);
	if (papi)
		papi->list(collect, &names);
	nearest_put(text, size, name, names.list, names.count);
}

/* `papi` may be NULL: none of its events were meant. */
static void say_unknown(const struct hybrid_papi *papi, const char *name)
{
	char text[NEAREST_MOST * (METRIC_NAME_MAX + 8)] = "";
	bool user = is_bare(name);

	metrics_suggest(papi, name, text, sizeof(text));
	message("%s: no such metric%s; `hybrid-run --list-metrics` shows all%s%s", name, text,
		user ? ", and a counter of the program's own is " METRIC_USER : "", user ? name : "");
}

/* Whether it grows all the time that the thread runs, by a thousand and more in a microsecond. */
static bool is_clock(const struct papi_event *event)
{
	static const char *const presets[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_REF_CYC"};
	const struct metric_part *part = &event->part[0];

	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(event->name, presets[i]))
			return true;
	return !strcmp(event->unit, "ns") ||
	       (part->type == PERF_TYPE_HARDWARE && (part->config == PERF_COUNT_HW_CPU_CYCLES ||
							    part->config == PERF_COUNT_HW_INSTRUCTIONS ||
							    part->config == PERF_COUNT_HW_REF_CPU_CYCLES));
}

/* What a name means: the kernel's own events by our table, all others by PAPI. 0 or -1 after a line. */
static int find_event(
	const struct hybrid_papi **papi, const char *library, const char *name, struct papi_event *ret)
{
	char error[512];

	if (kernel_event_find(name, ret))
		return 0;
	if (kernel_event_modified(name))
		return message("%s: leave out :u and :k; the program is counted with its system calls", name);
	if (is_own(name, library)) {
		say_unknown(NULL, name);
		return -1;
	}
	if (!*papi)
		*papi = metrics_papi(library, name);
	if (!*papi)
		return -1;
	if (!(*papi)->known(name)) {
		say_unknown(*papi, name);
		return -1;
	}
	if ((*papi)->find(name, ret, error, sizeof(error)))
		return 0;
	return message("%s", error);
}

/* Whether it can be counted, and take samples. 0 or -1 after a line. */
static int check_event(const char *name, uint64_t period, const struct papi_event *event)
{
	int result = 0;

	for (unsigned i = 0; i < event->parts && !result; i++)
		result = perf_try(&event->part[i], PERF_COUNT);
	if (result)
		return message("%s: cannot be counted: %s", name, perf_refusal(result, PERF_COUNT));
	if (!period)
		return 0;
	if (event->parts > 1)
		return message(
			"-e %s: it is computed from %u counters; sample by one of them", name, event->parts);
	result = perf_try(&event->part[0], PERF_SAMPLE);
	if (result)
		return message("-e %s: cannot take samples: %s", name, perf_refusal(result, PERF_SAMPLE));
	if (period < CLOCK_PERIOD_MIN && is_clock(event))
		return message("-e %s@%llu: that is too often; it grows all the time: give %d at least", name,
			(unsigned long long)period, CLOCK_PERIOD_MIN);
	return 0;
}

static int check_other(const char *name, enum metric_kind kind, uint64_t period)
{
	if (kind == METRIC_OF_USER && !name[sizeof(METRIC_USER) - 1])
		return message("%s: the counter's name is missing behind it", name);
	if (!period)
		return 0;
	return message("-e %s: cannot take samples: it is read, and nothing interrupts when it grows; "
		       "measure it with -m",
		name);
}

/* --------------------------------------------------- all of them together */

struct event {
	const char *name;
	struct papi_event papi;
};

/* Whether these two fit into one group. */
static bool fit(const struct metric_part *a, const struct metric_part *b)
{
	int leader = perf_open_in_group(a, -1, PERF_COUNT),
	    fd = leader < 0 ? -1 : perf_open_in_group(b, leader, PERF_COUNT);

	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
	return fd >= 0;
}

/* Event `last` did not fit in: because of one of the others, or of their number. */
static void remark(const struct event *events, unsigned last, char **ret)
{
	for (unsigned i = 0; i < last; i++)
		if (!fit(&events[i].papi.part[0], &events[last].papi.part[0])) {
			if (asprintf(ret,
				    "%s and %s cannot be counted at the same time: the kernel counts by "
				    "turns, and values are estimated; for exact ones measure them in two "
				    "runs",
				    events[i].name, events[last].name) < 0)
				*ret = NULL;
			return;
		}
	if (asprintf(ret,
		    "%s is more than the processor counts at once: the kernel counts by turns, and values "
		    "are estimated; for exact ones measure less in a run",
		    events[last].name) < 0)
		*ret = NULL;
}

/*
 * Opens all as the runtime does: in one group, and what does not fit in begins the next one. False after a
 * line; *ret_split: the first that did not fit, or `count`.
 */
static bool try_together(const struct event *events, unsigned count, unsigned *ret_split)
{
	int fds[HYB_METRICS_MAX * METRICS_PARTS], leader = -1, first = -1;
	unsigned open = 0, split = count;
	bool counts = true;

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < events[i].papi.parts; j++) {
			int fd = perf_open_in_group(&events[i].papi.part[j], leader, PERF_COUNT);

			if (fd < 0 && leader >= 0) {
				split = split < i ? split : i;
				fd = leader = perf_open_in_group(&events[i].papi.part[j], -1, PERF_COUNT);
			} else if (leader < 0) {
				first = leader = fd;
			}
			if (fd >= 0)
				fds[open++] = fd;
		}
	if (first >= 0 && split == count)
		counts = perf_counts(first);
	while (open)
		close(fds[--open]);
	*ret_split = split;
	if (!counts)
		message("-m %s ...: the processor's counters are taken, maybe by the kernel's watchdog; "
			"leave a metric out, or write 0 to /proc/sys/kernel/nmi_watchdog",
			events[0].name);
	return counts;
}

static void put_event(FILE *out, const struct papi_event *event, bool estimated)
{
	for (unsigned i = 0; i < event->parts; i++) {
		const struct metric_part *part = &event->part[i];

		fprintf(out, "%c%x:%llx:%llx:%llx", part->sign < 0 ? '-' : '+', part->type,
			(unsigned long long)part->config, (unsigned long long)part->config1,
			(unsigned long long)part->config2);
	}
	fprintf(out, "%c%s%c%s%c%s%c", METRICS_FIELD, estimated ? "e" : "", METRICS_FIELD, event->unit,
		METRICS_FIELD, event->text, METRICS_FIELD);
}

/* `events` are those of the list that are the kernel's, in its order. */
static char *write_list(const struct metrics *m, const struct event *events, bool estimated)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < m->count; i++) {
		fprintf(out, "%s%c%llu%c", m->list[i].name, METRICS_FIELD,
			(unsigned long long)m->list[i].period, METRICS_FIELD);
		if (metric_kind(m->list[i].name) == METRIC_OF_PERF)
			put_event(out, &events++->papi, estimated);
		fputc(METRICS_ITEM, out);
	}
	return fclose(out) ? NULL : text;
}

/*
 * Without a clock (-r 0) time is shared out by the samples of the first metric that takes some: one that
 * passes as time does, if there is one. Both arrays are in the same order of events.
 */
static void put_clock_first(struct metrics *m, struct event *events)
{
	unsigned first = HYB_METRICS_MAX, first_event = 0;

	for (unsigned i = 0, e = 0; i < m->count; i++) {
		if (metric_kind(m->list[i].name) != METRIC_OF_PERF)
			continue;
		if (m->list[i].period && first == HYB_METRICS_MAX) {
			first = i;
			first_event = e;
		}
		if (m->list[i].period && is_clock(&events[e].papi)) {
			__typeof__(m->list[0]) item = m->list[i];
			struct papi_event event = events[e].papi;

			m->list[i] = m->list[first];
			m->list[first] = item;
			events[e].papi = events[first_event].papi;
			events[first_event].papi = event;
			return;
		}
		e++;
	}
}

char *metrics_resolve(struct metrics *m, bool timed, const char *library, char **ret_remark)
{
	static struct event events[HYB_METRICS_MAX];
	const struct hybrid_papi *papi = NULL;
	unsigned count = 0, split = 0;
	char *text;

	*ret_remark = NULL;
	for (unsigned i = 0; i < m->count; i++) {
		const char *name = m->list[i].name;
		enum metric_kind kind = metric_kind(name);

		if (kind != METRIC_OF_PERF) {
			if (check_other(name, kind, m->list[i].period))
				return NULL;
			continue;
		}
		events[count].name = name;
		if (find_event(&papi, library, name, &events[count].papi) ||
			check_event(name, m->list[i].period, &events[count++].papi))
			return NULL;
	}
	if (!timed)
		put_clock_first(m, events); /* names are those of the list's places */
	if (count && !try_together(events, count, &split))
		return NULL;
	if (split < count)
		remark(events, split, ret_remark);
	text = write_list(m, events, split < count);
	if (!text)
		message("no memory");
	return text;
}

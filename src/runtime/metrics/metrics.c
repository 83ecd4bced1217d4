#include "metrics.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/sample/sampler.h"
#include "runtime/sys.h"

#define METRICS_TEXT_MAX 16384

static struct {
	bool asked; /* the variable was read */
	struct metric metric[HYB_METRICS_MAX];
	unsigned count;
	uint8_t event[HYB_METRICS_MAX]; /* indices of those with a period */
	unsigned kinds; /* what there are: bits by enum metric_kind */
	char text[METRICS_TEXT_MAX]; /* what their strings point into */
} all;

const struct metric *metrics_event(unsigned event)
{
	return &all.metric[all.event[event]];
}

uint32_t metrics_event_index(unsigned event)
{
	return all.event[event];
}

/* ------------------------------------------------------------ what was asked */

/* The field that `*rest` begins with; "" behind the last. */
static const char *field(char **rest)
{
	static const char ends[] = {METRICS_FIELD, '\0'};
	const char *text = strsep(rest, ends);

	return text ? text : "";
}

/* False: it is not understood. */
static bool read_code(struct metric *m, const char *code)
{
	int length;

	for (m->parts = 0; *code; code += length) {
		struct metric_part *part = &m->part[m->parts];
		char sign;

		if (m->parts == METRICS_PARTS ||
			sscanf(code, "%c%x:%lx:%lx:%lx%n", &sign, &part->type, &part->config, &part->config1,
				&part->config2, &length) != 5 ||
			(sign != '+' && sign != '-'))
			return false;
		part->sign = sign == '-' ? -1 : 1;
		m->parts++;
	}
	return m->parts || m->kind != METRIC_OF_PERF;
}

static void say_code(const char *name)
{
	char line[256];

	snprintf(line, sizeof(line),
		METRICS_VARIABLE ": the code of %.100s is not understood: it is left out", name);
	store_note(HYB_NOTE_WARNING, line);
}

static void add(char *item)
{
	struct metric *m = &all.metric[all.count];
	char *rest = item;

	if (all.count == HYB_METRICS_MAX) {
		store_note(HYB_NOTE_WARNING, METRICS_VARIABLE " has too many metrics: one is left out");
		return;
	}
	m->name = field(&rest);
	m->kind = metric_kind(m->name);
	m->word = metric_word(m->name);
	m->period = strtoull(field(&rest), NULL, 10);
	if (!read_code(m, field(&rest))) {
		say_code(m->name);
		return;
	}
	m->estimated = *field(&rest) == 'e';
	m->unit = field(&rest);
	m->text = field(&rest);
	if (m->word) {
		m->unit = m->word->unit;
		m->text = m->word->text;
		m->level = m->word->level;
	} else if (m->kind == METRIC_OF_USER)
		m->text = "counted by the program";
	all.kinds |= 1u << m->kind;
	if (m->period && m->parts)
		all.event[rt.events++] = (uint8_t)all.count;
	all.count++;
}

static void ask(void)
{
	static const char ends[] = {METRICS_ITEM, '\0'};
	const char *list = getenv(METRICS_VARIABLE);
	char *rest = all.text, *item;

	all.asked = true;
	if (!list)
		return;
	if (strlen(list) >= sizeof(all.text)) {
		store_note(HYB_NOTE_WARNING, METRICS_VARIABLE " is too long: no metrics are measured");
		return;
	}
	strcpy(all.text, list);
	while ((item = strsep(&rest, ends)))
		if (*item)
			add(item);
}

static uint16_t length_of(const char *text)
{
	return (uint16_t)strnlen(text, HYB_NAME_MAX);
}

/* Whether it does not grow with CPU time: neither CPU time itself nor what the processor counts. */
static bool is_uneven(const struct metric *m)
{
	const struct metric_part *part = &m->part[0];

	if (m->kind == METRIC_OF_RUSAGE)
		return strcmp(m->unit, "ns") != 0;
	if (m->kind != METRIC_OF_PERF)
		return true;
	return part->type == PERF_TYPE_SOFTWARE && part->config != PERF_COUNT_SW_CPU_CLOCK &&
	       part->config != PERF_COUNT_SW_TASK_CLOCK;
}

static void define(unsigned index)
{
	const struct metric *m = &all.metric[index];
	struct hyb_def_metric def = {
		.period = m->period,
		.index = index,
		.mode = m->level ? HYB_METRIC_LEVEL : HYB_METRIC_COUNT,
		.flags = (uint16_t)((m->estimated ? HYB_METRIC_ESTIMATED : 0) |
				    (m->word && m->word->process_wide ? HYB_METRIC_PROCESS : 0) |
				    (is_uneven(m) ? HYB_METRIC_UNEVEN : 0)),
		.name_len = length_of(m->name),
		.unit_len = length_of(m->unit),
		.text_len = length_of(m->text),
	};

	store_define(HYB_DEF_METRIC, &def, DEF_WITH(m->name, m->unit, m->text));
}

void metrics_init(void)
{
	if (!all.asked)
		ask();
	for (unsigned i = 0; i < all.count; i++)
		define(i);
	if (!all.count)
		return;
	rt.metrics = all.count;
	rt.node_cells = HYB_WIDE_CELLS(all.count + rt.events);
	rt.record_max = HYB_RECORD_MAX + HYB_RECORD_METRICS_MAX(all.count);
}

/* ---------------------------------------------------------------- a thread */

static struct hyb_metrics *claim_levels(struct thread *t, uint32_t serial, size_t levels)
{
	size_t size =
		sizeof(struct hyb_chunk) + sizeof(struct hyb_metrics) + levels * rt.metrics * sizeof(int64_t);
	uint32_t whole = (uint32_t)(size + HYB_PAGE - 1) & ~(HYB_PAGE - 1);
	uint64_t at = store_claim(HYB_CHUNK_METRICS, whole, t->loc->id, serial);
	struct hyb_metrics *metrics;

	if (!at)
		return NULL;
	metrics = (struct hyb_metrics *)((char *)store_at(at) + sizeof(struct hyb_chunk));
	metrics->width = rt.metrics;
	t->metrics.entered[serial] = (int64_t *)(metrics + 1);
	((struct hyb_chunk *)store_at(at))->used = whole;
	return metrics;
}

bool metrics_grow(struct thread *t)
{
	return t->metrics.entered[1] || claim_levels(t, 1, HYB_STACK_SECOND);
}

static void open_counters(struct thread *t)
{
	bool refused = false;

	for (unsigned i = 0; i < rt.metrics; i++)
		for (unsigned k = 0; all.metric[i].kind == METRIC_OF_PERF && k < all.metric[i].parts; k++)
			refused |= !perf_counter_open(&t->metrics, i, &all.metric[i].part[k]);
	perf_counters_start(&t->metrics);
	if (refused)
		store_note(HYB_NOTE_WARNING, "a counter could not be opened for a thread, and stays 0 there "
					     "(too many open files, or the kernel's limit of counters)");
}

bool metrics_begin(struct thread *t)
{
	if (!rt.metrics)
		return true;
	open_counters(t);
	t->metrics.state = claim_levels(t, 0, HYB_STACK_FIRST);
	if (!t->metrics.state) {
		perf_counters_close(&t->metrics);
		return false;
	}
	metrics_read(t);
	for (unsigned i = 0; i < rt.metrics; i++)
		if (!all.metric[i].level)
			t->metrics.zero[i] = t->metrics.now[i];
	metrics_enter(t, 0);
	metrics_publish(t);
	memcpy(t->metrics.traced, t->metrics.now, sizeof(t->metrics.traced));
	return true;
}

void metrics_end(struct thread *t)
{
	perf_counters_close(&t->metrics);
	for (unsigned i = 0; i < METRICS_TEXTS; i++)
		if (t->metrics.text[i])
			sys_close(t->metrics.text[i] - 1);
}

void metrics_forget(struct metrics_thread *parent)
{
	for (unsigned i = 0; i < rt.events; i++)
		perf_forget(parent->event[i] - 1);
	for (unsigned i = 0; i < parent->counters; i++)
		parent->counter[i].page = NULL; /* the kernel does not copy that */
	perf_counters_close(parent);
	for (unsigned i = 0; i < METRICS_TEXTS; i++)
		if (parent->text[i])
			sys_close(parent->text[i] - 1);
	memset(parent, 0, sizeof(*parent));
}

/* ----------------------------------------------------------------- readings */

/* The program closed them: their numbers may soon be of files of its own, from which we must not read. */
static void lose_counters(struct metrics_thread *m)
{
	perf_counters_close(m);
	store_note(HYB_NOTE_WARNING, "the program closed the descriptors of a thread's counters: "
				     "they stay what they were then");
}

void metrics_read(struct thread *t)
{
	struct metrics_thread *m = &t->metrics;
	int64_t counted[HYB_METRICS_MAX] = {0};
	struct metrics_kernel kernel;
	bool counts;

	counts = m->counters && perf_counters_read(m, counted);
	if (m->counters && !counts)
		lose_counters(m);
	metrics_kernel_read(t, all.kinds, &kernel);
	for (unsigned i = 0; i < all.count; i++) {
		const struct metric *metric = &all.metric[i];

		if (metric->kind == METRIC_OF_PERF)
			m->now[i] = counts ? counted[i] : m->now[i] + m->zero[i];
		else if (metric->kind == METRIC_OF_USER)
			m->now[i] = m->user[i];
		else
			m->now[i] = metrics_kernel_field(&kernel, metric->word, m->now[i] + m->zero[i]);
		m->now[i] = metrics_growth(m->now[i], m->zero[i]);
	}
}

static int64_t *entered(const struct thread *t, uint32_t level)
{
	bool second = level >= HYB_STACK_FIRST;

	return t->metrics.entered[second] + (level - second * HYB_STACK_FIRST) * rt.metrics;
}

void metrics_enter(struct thread *t, uint32_t level)
{
	metrics_read(t);
	memcpy(entered(t, level), t->metrics.now, rt.metrics * sizeof(int64_t));
}

void metrics_leave(struct thread *t, uint32_t level)
{
	const int64_t *before = entered(t, level);
	uint64_t *sum = (uint64_t *)(node_at(thread_open(t, level)->node) + 1);

	metrics_read(t);
	for (unsigned i = 0; i < rt.metrics; i++)
		sum[i] += (uint64_t)metrics_growth(t->metrics.now[i], before[i]);
}

const int64_t *metrics_entered(const struct thread *t)
{
	return entered(t, t->loc->depth - 1);
}

void metrics_publish(struct thread *t)
{
	memcpy(t->metrics.state->last, t->metrics.now, rt.metrics * sizeof(int64_t));
}

void metrics_overflow(uint32_t node, unsigned event, uint64_t weight)
{
	((uint64_t *)(node_at(node) + 1))[rt.metrics + event] += weight;
}

void metrics_count(struct thread *t, const char *name, int64_t value)
{
	for (unsigned i = 0; i < rt.metrics; i++)
		if (all.metric[i].kind == METRIC_OF_USER &&
			!strcmp(all.metric[i].name + sizeof(METRIC_USER) - 1, name))
			t->metrics.user[i] = value;
}

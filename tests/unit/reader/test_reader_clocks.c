/* Ranks on hosts with clocks of their own: offsets and drifts that are known, times that they must give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hyb_writer.h"
#include "hybrid/reader.h"
#include "reader/clock.h"
#include "reader_help.h"

#define WORLD 0x77u
#define SECOND 1000000000u

/* What happened to a process, in ns of rank 0's clock, and the process's clock beside that one. */
struct host {
	uint64_t domain;
	int64_t ahead; /* ns that it is ahead of rank 0's at its time 0 */
	int64_t drift; /* ns that it goes ahead in a second */
};

static uint64_t on_host(const struct host *host, uint64_t time)
{
	return time + (uint64_t)(host->ahead + host->drift * (int64_t)(time / 1000) / 1000000);
}

/* Begins a process of the file that starts at 100 s, ends at 200 s and has a record at 150 s. */
static void add(struct writer *w, const struct host *host)
{
	uint64_t text;
	struct hyb_header *h;

	writer_process(w);
	h = writer_header(w);
	h->clock_domain = host->domain;
	h->first.tick = h->first.mono = on_host(host, 100ul * SECOND);
	h->last.tick = h->last.mono = h->end = on_host(host, 200ul * SECOND);
	h->realtime = 1700000000ul * SECOND;
	text = writer_text(w, "half way");
	writer_note(w, on_host(host, 120ul * SECOND), HYB_NOTE_INFO, "note");
	writer_child(w, on_host(host, 130ul * SECOND), 5, HYB_CHILD_EXEC, "/bin/true");
	writer_location(w, 1, 1, on_host(host, 100ul * SECOND));
	writer_marker(w, 1, on_host(host, 150ul * SECOND), text);
	writer_location_end(w, 1, on_host(host, 200ul * SECOND));
}

/* What an exchange finds at a moment, if it is off by `wrong`. */
static void measure(struct writer *w, const struct host *host, uint64_t time, int64_t wrong, uint64_t error)
{
	uint64_t own = on_host(host, time);

	writer_clock(w, own, (int64_t)(time - own) + wrong, error);
}

static const struct hyb_process *find_rank(struct hyb_experiment *e, uint32_t rank)
{
	for (size_t i = 0; i < hyb_process_count(e); i++)
		if (hyb_process_at(e, i)->rank == rank)
			return hyb_process_at(e, i);
	fail_msg("no rank %u", rank);
	return NULL;
}

static uint64_t marker_time(struct hyb_experiment *e, const struct hyb_process *p)
{
	struct hyb_events *events = hyb_events_open(e, &p->locations[0], false, NULL);
	struct hyb_event event;

	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, HYB_EVENT_MARKER);
	hyb_events_close(events);
	return event.time;
}

/* All moments of the process as they were on rank 0's clock. */
static void check_times(struct hyb_experiment *e, const struct hyb_process *p)
{
	assert_int_equal(p->start, 100ul * SECOND);
	assert_int_equal(p->end, 200ul * SECOND);
	assert_int_equal(p->notes[0].time, 120ul * SECOND);
	assert_int_equal(p->children[0].time, 130ul * SECOND);
	assert_int_equal(p->locations[0].start, 100ul * SECOND);
	assert_int_equal(p->locations[0].end, 200ul * SECOND);
	assert_int_equal(marker_time(e, p), 150ul * SECOND);
	/* The host's own, as its header has it. */
	assert_int_equal(p->start + (uint64_t)p->realtime, 1700000000ul * SECOND);
}

static const struct host zero = {.domain = 1};

static void test_offset_and_drift(void **state)
{
	static const struct host hosts[] = {
		{2, 5000000000, 0},
		{3, -70000000000, 0},
		{4, 5000000000, 20000},
		{5, -5000, -20000},
		{6, 123456789, 500000},
	};
	struct writer *w = writer_new();
	struct hyb_experiment *e;

	add(w, &zero);
	writer_world(w, WORLD, 0, 6);
	for (uint32_t i = 0; i < 5; i++) {
		add(w, &hosts[i]);
		writer_world(w, WORLD, i + 1, 6);
		measure(w, &hosts[i], 100ul * SECOND, 0, 700);
		measure(w, &hosts[i], 200ul * SECOND, 0, 900);
	}
	e = help_open(w);
	assert_int_equal(hyb_damage_count(e), 0);
	for (uint32_t rank = 0; rank < 6; rank++) {
		const struct hyb_process *p = find_rank(e, rank);

		check_times(e, p);
		if (!rank)
			continue;
		assert_int_equal(p->clock_shift_start, -hosts[rank - 1].ahead - hosts[rank - 1].drift * 100);
		assert_int_equal(p->clock_shift_end, -hosts[rank - 1].ahead - hosts[rank - 1].drift * 200);
		assert_int_equal(p->clock_error, 900);
	}
	assert_int_equal(find_rank(e, 0)->clock_error, 0);
	assert_int_equal(find_rank(e, 0)->clock_shift_end, 0);
	help_close(e, w);
}

/* One measurement: a killed process. Two of them between which it ran for a while before and after. */
static void test_constant(void **state)
{
	static const struct host fixed = {2, 5000000000, 0}, drifting = {3, 0, 1000};
	const struct hyb_process *p;
	struct writer *w = writer_new();
	struct hyb_experiment *e;

	add(w, &zero);
	writer_world(w, WORLD, 0, 3);
	add(w, &fixed);
	writer_world(w, WORLD, 1, 3);
	measure(w, &fixed, 140ul * SECOND, 0, 50);
	add(w, &drifting);
	writer_world(w, WORLD, 2, 3);
	measure(w, &drifting, 120ul * SECOND, 0, 50);
	measure(w, &drifting, 180ul * SECOND, 0, 20);
	e = help_open(w);
	p = find_rank(e, 1);
	check_times(e, p);
	assert_int_equal(p->clock_error, 50);
	p = find_rank(e, 2);
	/* As it was at 120 s and at 180 s, not further. */
	assert_int_equal(p->clock_shift_start, -120000);
	assert_int_equal(p->clock_shift_end, -180000);
	assert_int_equal(p->start, 100ul * SECOND + 100000 - 120000);
	assert_int_equal(p->end, 200ul * SECOND + 200000 - 180000);
	assert_int_equal(marker_time(e, p), 150ul * SECOND);
	help_close(e, w);
}

/* Ranks of one host are corrected alike, by the best of their measurements; so is a shell beside them. */
static void test_same_domain(void **state)
{
	static const struct host host = {2, 5000000000, 20000};
	struct writer *w = writer_new();
	struct hyb_experiment *e;

	add(w, &zero);
	writer_world(w, WORLD, 0, 4);
	for (uint32_t rank = 1; rank < 4; rank++) {
		bool first = rank == 2, last = rank == 3;

		add(w, &host);
		writer_world(w, WORLD, rank, 4);
		measure(w, &host, 101ul * SECOND, first ? 0 : 5000, first ? 100 : 9000);
		measure(w, &host, 199ul * SECOND, last ? 0 : -5000, last ? 200 : 9000);
	}
	add(w, &host);
	e = help_open(w);
	assert_int_equal(hyb_process_count(e), 5);
	for (size_t i = 0; i < 5; i++) {
		const struct hyb_process *p = hyb_process_at(e, i);

		assert_int_equal(marker_time(e, p), 150ul * SECOND);
		if (!p->rank)
			continue;
		assert_int_equal(p->clock_error, 200);
		assert_int_equal(p->clock_shift_start, -5000000000 - 20000 * 101);
		assert_int_equal(p->clock_shift_end, -5000000000 - 20000 * 199);
	}
	help_close(e, w);
}

/* Same clock as rank 0: whatever was measured, nothing is corrected. Another one, not measured: that is said.
 */
static void test_nothing_to_do_and_unknown(void **state)
{
	static const struct host other = {2, 500, 0}, unknown = {0, 0, 0};
	struct writer *w = writer_new();
	const struct hyb_process *p;
	struct hyb_experiment *e;

	add(w, &zero);
	writer_world(w, WORLD, 0, 5);
	add(w, &zero);
	writer_world(w, WORLD, 1, 5);
	writer_clock(w, 100ul * SECOND, 77, 1);
	add(w, &other);
	writer_world(w, WORLD, 2, 5);
	add(w, &unknown);
	writer_world(w, WORLD, 3, 5);
	add(w, &unknown);
	writer_world(w, WORLD, 4, 5);
	writer_clock(w, 100ul * SECOND, 1000, 33);
	e = help_open(w);
	p = find_rank(e, 1);
	check_times(e, p);
	assert_int_equal(p->clock_error, 0);
	assert_int_equal(p->offset_count, 1);
	assert_int_equal(p->offsets[0].offset, 77);
	p = find_rank(e, 2);
	assert_int_equal(p->clock_error, HYB_TIME_UNKNOWN);
	assert_int_equal(p->start, 100ul * SECOND + 500);
	p = find_rank(e, 3);
	assert_int_equal(p->clock_error, HYB_TIME_UNKNOWN);
	p = find_rank(e, 4);
	assert_int_equal(p->clock_error, 33);
	assert_int_equal(p->start, 100ul * SECOND + 1000);
	help_close(e, w);
}

/* Two worlds have a rank 0 each. */
static void test_worlds(void **state)
{
	static const struct host host = {2, 1000, 0}, third = {3, 3000, 0};
	struct writer *w = writer_new();
	struct hyb_experiment *e;

	add(w, &zero);
	writer_world(w, WORLD, 0, 2);
	add(w, &host);
	writer_world(w, WORLD, 1, 2);
	measure(w, &host, 100ul * SECOND, 0, 1);
	add(w, &host);
	writer_world(w, WORLD + 1, 0, 2);
	add(w, &third);
	writer_world(w, WORLD + 1, 1, 2);
	writer_clock(w, 100ul * SECOND, -2000, 1);
	e = help_open(w);
	for (size_t i = 0; i < 4; i++) {
		const struct hyb_process *p = hyb_process_at(e, i);

		assert_int_equal(p->start, 100ul * SECOND + (p->world == WORLD ? 0 : 1000));
	}
	help_close(e, w);
}

/* Measurements that cannot be, at the ends of what the numbers hold. */
static void test_damaged(void **state)
{
	static const struct {
		uint64_t from, until;
		int64_t first, last;
		bool contradict;
	} x[] = {
		{1000, 2000, 0, 501, true},
		{1000, 2000, 0, 500, false},
		{1000, 2000, 0, -501, true},
		{0, UINT64_MAX, INT64_MIN, INT64_MAX, true},
		{0, UINT64_MAX, INT64_MIN, 0, true},
		{5, 5, INT64_MIN, INT64_MAX, false},
		{UINT64_MAX, UINT64_MAX, 3, 4, false},
	};
	static const struct host host = {.domain = 2};

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		struct writer *w = writer_new();
		struct hyb_experiment *e;

		add(w, &zero);
		writer_world(w, WORLD, 0, 2);
		add(w, &host);
		writer_world(w, WORLD, 1, 2);
		writer_clock(w, x[i].from, x[i].first, 1);
		writer_clock(w, x[i].until, x[i].last, 1);
		e = help_open(w);
		help_read_all(e, true);
		assert_int_equal(hyb_damage_count(e), x[i].contradict);
		if (x[i].contradict)
			assert_true(find_rank(e, 1)->clock_error > 500);
		help_close(e, w);
	}
}

/* Times never go back, at any slope. */
static void test_monotone(void **state)
{
	static const struct clock_shift shifts[] = {
		{1000, 1100, 50, 0, 1ul << 63},
		{1000, 1100, -50, 0, 1ul << 63},
		{1000, 1003, 0, -1, UINT64_MAX / 3 + 1},
	};

	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		uint64_t before = 0;

		for (uint64_t time = 900; time < 1200; time++) {
			uint64_t now = clock_shifted(&shifts[i], time);

			assert_true(now >= before);
			before = now;
		}
		assert_int_equal(clock_shift_at(&shifts[i], 1000), shifts[i].first);
		assert_int_equal(clock_shift_at(&shifts[i], 1100), shifts[i].last);
	}
	assert_int_equal(clock_shift_at(&shifts[0], 1050), 25);
	assert_int_equal(clock_shifted(&(struct clock_shift){0, 0, -5, -5, 0}, 3), 0);
	assert_int_equal(clock_shifted(&(struct clock_shift){0, 0, 5, 5, 0}, UINT64_MAX - 3), UINT64_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offset_and_drift),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_same_domain),
		cmocka_unit_test(test_nothing_to_do_and_unknown),
		cmocka_unit_test(test_worlds),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_monotone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Profiles as bytes: whatever is packed where and merged in which order, the result is that of one profile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/pack/pack.h"
#include "profile/state.h"
#include "profile_fixture.h"

#define PROCESSES 13u

static const struct hyb_module nameless_module = {.path = "/opt/stripped.so"};
static const struct fixture_symbol nameless_symbols[] = {
	{&nameless_module, 100, {{.function = "", .file = ""}}, 1, false},
	{&nameless_module, 200, {{.function = "", .file = ""}}, 1, false},
};

/* ------------------------------------------------------------ processes */

/* No two processes have the same list. */
static const struct hyb_metric all_metrics[] = {
	{"faults", "", "", false, false, false, 0, false},
	{"perf::X", "", "", false, false, false, 10, false},
	{"memory", "B", "", true, false, true, 0, false},
	{"user::n", "", "", false, true, false, 0, false},
	{"user::m", "", "things", false, false, false, 7, false},
};

static void add_metrics(struct fixture *f, unsigned number)
{
	size_t first = number % 4, count = number % 5 == 4 ? 0 : 1 + number % (5 - first);
	unsigned seed = number;

	fixture_metrics(f, all_metrics + first, count);
	for (uint32_t i = 0; count && i < f->location.node_count; i++)
		for (size_t k = 0; k < count; k++) {
			seed = seed * 1103515245u + 12345u;
			fixture_grow(
				f, i, k, (int64_t)(seed >> 16) - (all_metrics[first + k].level ? 30000 : 0));
			fixture_overflow(f, i, k, seed >> 8 & 7);
		}
}

static void add_mpi(struct fixture *f, unsigned number, const struct hyb_handle *handle)
{
	uint32_t call = fixture_region(
		f, 0, number % 2 ? "MPI_Send" : "MPI_Recv", HYB_REGION_MPI, 1000 + 77 * number, 3 + number);
	uint32_t message = fixture_code(f, call, HYB_TYPE_MESSAGE, NULL, 0, 0);
	struct hyb_node_info *m = &f->nodes[message];

	((struct hyb_region *)f->nodes[call].region)->mpi = true;
	m->message = number % 2 ? HYB_SEND : HYB_RECV;
	m->peer = (number + 1) % PROCESSES;
	m->handle = handle;
	m->size_class = (uint8_t)(number % 4);
	m->calls = 3 + number;
	m->inclusive = 500 + number;
	m->sent = number % 2 ? 8 * m->calls : 0;
	m->received = number % 2 ? 0 : 8 * m->calls;
}

/* Process `number`: its tree, what it communicated, and how it was measured differ from those of others. */
static void add_process(struct profile *p, unsigned number)
{
	static const struct hyb_handle world = {77, 0, 1, HYB_COMM, "MPI_COMM_WORLD", 0, PROCESSES, 0, 0};
	struct fixture *f = fixture_random(1 + number % 5, 60 + number);
	uint32_t main = fixture_region(f, 0, "main", HYB_REGION_USER, 3000, 1);
	struct profile_span *span;
	uint32_t once, await;
	struct hyb_handle handle = world;

	fixture_symbols(nameless_symbols, 2);
	fixture_code(f, main, HYB_TYPE_LEAF, &nameless_module, number % 3 ? 100 : 200, 1 + number);
	once = fixture_region(f, main, "once", HYB_REGION_USER, number, 9);
	await = fixture_code(f, once, HYB_TYPE_AWAIT, NULL, 0, 0);
	f->nodes[once].demoted = number == 7;
	f->nodes[await].calls = number % 4;
	f->location.source = number % 6 == 5 ? HYB_SOURCE_NONE : HYB_SOURCE_CPU_TIMER + number % 2;
	f->location.period = 1000000 + 333333 * (number % 3);
	f->location.dropped[number % 5] = number;
	f->location.process->host = number % 2 ? "a" : "b";
	f->process.pid = 100 + number;
	f->process.start = 1000 * number;
	f->process.end = 2000000 + 10 * number;
	f->process.rate = 100 * (number % 4);
	f->process.trace_stopped = number > 8 ? f->process.start + 50 * number : 0;
	f->process.world = number % 7 ? 5 : 0;
	f->process.world_size = PROCESSES;
	f->process.rank = f->process.world ? number : HYB_RANK_NONE;
	f->process.clock_shift_start = number == 3 ? -12345 : 0;
	f->process.clock_error = number == 3 ? 70 : 0;
	handle.rank = number;
	handle.name = number == 4 ? "renamed" : world.name;
	f->process.handles = &handle;
	f->process.handle_count = 1;
	add_mpi(f, number, &handle);
	add_metrics(f, number);
	fixture_add(f, p);
	assert_int_equal(profile_end_process(p, &f->process, true), 0);
	span = profile_span(p, number % 2);
	span->first = span->first < 10 - (int64_t)number ? span->first : 10 - (int64_t)number;
	span->last = span->last > 1000 + (int64_t)number ? span->last : 1000 + (int64_t)number;
	fixture_free(f);
	fixture_symbols(NULL, 0);
}

/* ------------------------------------------------------------ as a text */

static void put_spread(FILE *out, const struct profile_spread *s)
{
	fprintf(out, " [%llu %llu %llu %llu %u %u %llx%016llx]", (unsigned long long)s->ranks,
		(unsigned long long)s->total, (unsigned long long)s->least, (unsigned long long)s->most,
		s->least_rank, s->most_rank, (unsigned long long)(s->squares >> 64),
		(unsigned long long)s->squares);
}

static void put_node(FILE *out, const struct profile_node *n, const struct profile_spread *spreads)
{
	fprintf(out, "%u %u %u k%u %d%d%d%d %s %s %s:%u %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
		n->parent, n->first_child, n->next_sibling, n->kind, n->guess, n->demoted, n->python, n->mpi,
		n->name, n->file, n->module, n->line, (unsigned long long)n->calls,
		(unsigned long long)n->skipped, (unsigned long long)n->samples,
		(unsigned long long)n->inclusive, (unsigned long long)n->exclusive,
		(unsigned long long)n->blocked, (unsigned long long)n->messages, (unsigned long long)n->sent,
		(unsigned long long)n->received, (unsigned long long)n->place);
	if (spreads)
		put_spread(out, &spreads[n->spread]);
	fputc('\n', out);
}

static void put_bytes(FILE *out, const char *what, const void *bytes, size_t size)
{
	fprintf(out, "%s", what);
	for (size_t i = 0; i < size; i++)
		fprintf(out, " %02x", ((const uint8_t *)bytes)[i]);
	fputc('\n', out);
}

static void put_metrics(FILE *out, const struct profile *p)
{
	size_t count;
	const struct profile_metric *metrics = profile_metrics(p, &count);

	for (size_t k = 0; k < count; k++)
		fprintf(out, "%s [%s] %s %d%d%d %llu %llu %llu\n", metrics[k].name, metrics[k].unit,
			metrics[k].description, metrics[k].level, metrics[k].process_wide,
			metrics[k].estimated, (unsigned long long)metrics[k].period,
			(unsigned long long)metrics[k].samples, (unsigned long long)metrics[k].processes);
	for (size_t i = 0; i < profile_count(p) * count; i++)
		fprintf(out, "%lld %lld %llu\n", (long long)profile_values(p)[i].inclusive,
			(long long)profile_values(p)[i].exclusive,
			(unsigned long long)profile_values(p)[i].samples);
}

static void put_mpi(FILE *out, const struct profile *p)
{
	size_t count;
	const struct profile_function *functions = profile_functions(p, &count);
	const struct profile_rank *ranks;
	const struct profile_handle *handles;

	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s", functions[i].name);
		put_bytes(out, "", &functions[i].calls, 5 * sizeof(uint64_t));
		put_spread(out, &functions[i].spread);
	}
	ranks = profile_ranks(p, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile_rank r = ranks[i];

		fprintf(out, "rank on %s", r.host);
		r.host = NULL;
		put_bytes(out, "", &r, sizeof(r));
	}
	handles = profile_handles(p, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile_handle h = handles[i];

		fprintf(out, "handle %s", h.name);
		h.name = NULL;
		put_bytes(out, "", &h, sizeof(h));
	}
	for (const struct profile_flow *f = profile_flows(p, &count); count; count--, f++)
		put_bytes(out, "flow", f, sizeof(*f));
	for (const struct profile_volume *v = profile_volumes(p, &count); count; count--, v++)
		put_bytes(out, "volume", v, sizeof(*v));
}

/* Finishes it, and says all that can be asked of it; frees it. */
static char *text_of(struct profile *p)
{
	struct profile_quality quality;
	struct hyb_error err;
	size_t size, count;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(profile_finish(p, &err), 0);
	for (size_t i = 0; i < profile_count(p); i++)
		put_node(out, &profile_nodes(p)[i], profile_spreads(p));
	for (const struct profile_node *n = profile_awaits(p, &count); count; count--, n++)
		put_node(out, n, NULL);
	for (const struct profile_unresolved *u = profile_unresolved(p, &count); count; count--, u++)
		fprintf(out, "unresolved %s %llu %llu\n", u->module, (unsigned long long)u->addresses,
			(unsigned long long)u->samples);
	put_mpi(out, p);
	put_metrics(out, p);
	quality = *profile_quality(p);
	put_bytes(out, "quality", &quality, sizeof(quality));
	fclose(out);
	profile_free(p);
	return text;
}

/* ------------------------------------------------------------- the tests */

static const struct profile_options all_options[] = {
	{.mode = PROFILE_ROUTINE, .spreads = true, .traffic = true},
	{.mode = PROFILE_CALLSITE, .split_ranks = true, .spreads = true, .traffic = true},
	{.mode = PROFILE_FUNCTION, .sort = PROFILE_SORT_SAMPLES},
	{.mode = PROFILE_ROUTINE, .split_locations = true},
	{.mode = PROFILE_ROUTINE, .spreads = true, .spread_metric = "perf::X"},
};

static struct profile *make(const struct profile_options *options, unsigned first, unsigned end)
{
	struct profile *p = profile_new(options);

	assert_non_null(p);
	for (unsigned i = first; i < end; i++)
		add_process(p, i);
	return p;
}

/* Merges one into another through bytes that live no longer than that, and frees it. */
static void join(struct profile *to, struct profile *from)
{
	struct blob blob = {0};
	struct blob_reader reader;

	profile_pack(from, &blob);
	profile_free(from);
	assert_false(blob.failed);
	reader = (struct blob_reader){blob.data, blob.data + blob.size};
	assert_int_equal(profile_merge(to, &reader), 0);
	assert_ptr_equal(reader.at, reader.end);
	memset(blob.data, 0xee, blob.size);
	blob_release(&blob);
}

static void assert_text(struct profile *p, const char *expected)
{
	char *text = text_of(p);
	size_t same = 0;

	while (text[same] && text[same] == expected[same])
		same++;
	if (text[same] || expected[same])
		fail_msg("%.200s\nis not\n%.200s", &text[same], &expected[same]);
	free(text);
}

static void test_any_order(void **state)
{
	for (size_t i = 0; i < sizeof(all_options) / sizeof(*all_options); i++) {
		const struct profile_options *o = &all_options[i];
		char *expected = text_of(make(o, 0, PROCESSES));
		struct profile *p = make(o, 0, 5), *q;

		assert_non_null(strstr(expected, "\nfaults [] "));
		assert_non_null(strstr(expected, "\nuser::m [] things 000 7 "));
		assert_non_null(strstr(expected, "unresolved /opt/stripped.so 2 91\n"));
		join(p, make(o, 5, 9));
		join(p, make(o, 9, PROCESSES));
		assert_text(p, expected);
		p = make(o, 0, 0);
		for (unsigned n = PROCESSES; n-- > 0;)
			join(p, make(o, n, n + 1));
		assert_text(p, expected);
		p = make(o, 8, PROCESSES);
		q = make(o, 3, 8);
		join(q, make(o, 0, 3));
		join(p, q);
		join(p, make(o, 0, 0));
		assert_text(p, expected);
		free(expected);
	}
}

/* Numbers of damaged files are as large as they like: sums of weights stop at the largest. */
static void test_large_numbers(void **state)
{
	struct profile *one = make(all_options, 0, 3), *p = make(all_options, 0, 2),
		       *q = make(all_options, 2, 3);
	struct profile *const all[] = {one, p, q};
	char *expected;

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(share_add_samples(&all[i]->share, NULL, 1, 0, UINT64_MAX / 2 + 9, 1), 0);
		all[i]->tree.nodes[0].calls += UINT64_MAX / 2;
	}
	assert_int_equal(share_add_samples(&one->share, NULL, 1, 0, UINT64_MAX / 2 + 9, 1), 0);
	one->tree.nodes[0].calls += UINT64_MAX / 2;
	expected = text_of(one);
	join(q, p);
	assert_text(q, expected);
	free(expected);
}

/* Cut anywhere, or with any byte changed: it says so or is merged, and nothing is read behind it. */
static void test_damage(void **state)
{
	struct profile *from = make(all_options, 0, 2);
	struct blob blob = {0};

	profile_pack(from, &blob);
	for (size_t size = 0; size < blob.size; size += 1 + blob.size / 300) {
		uint8_t *part = malloc(size + 1);
		struct blob_reader reader = {part, part + size};
		struct profile *p = make(all_options, 0, 0);

		memcpy(part, blob.data, size);
		assert_int_equal(profile_merge(p, &reader), 0);
		assert_null(reader.at);
		profile_free(p);
		free(part);
	}
	for (size_t i = 0; i < blob.size; i += 1 + blob.size / 2000) {
		struct blob_reader reader = {blob.data, blob.data + blob.size};
		struct profile *p = make(all_options, 0, 0);

		blob.data[i] ^= (uint8_t)(1u << i % 8);
		(void)profile_merge(p, &reader);
		profile_free(p);
		blob.data[i] ^= (uint8_t)(1u << i % 8);
	}
	profile_free(from);
	blob_release(&blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* MPI in the merged profile: made by hand, with sums that are known beforehand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/views/views.h"
#include "profile_fixture.h"

static const struct hyb_module mpi_library = {.path = "/usr/lib/libmpich.so.12"};
static const struct hyb_module binding = {.path = "/usr/lib/libmpichfort.so.12"};
static const struct hyb_module wrapper = {.path = "/opt/lib/libhybrid-mpi-mpich.so"};

static const struct fixture_symbol symbols[] = {
	{&mpi_library, 1, {{.function = "progress", .file = "ch4.c", .line = 11}}, 1, false},
	{&mpi_library, 2, {{.function = "poll", .file = "ucx.c", .line = 22}}, 1, false},
	{&binding, 3, {{.function = "mpi_send_", .file = "", .line = 0}}, 1, false},
	{&wrapper, 4, {{.function = "MPI_Send", .file = "", .line = 0}}, 1, false},
};

static int with_symbols(void **state)
{
	fixture_symbols(symbols, sizeof(symbols) / sizeof(*symbols));
	return 0;
}

static void assert_tree(const struct profile *p, const char *expected)
{
	char *text = tree_text(p);

	assert_string_equal(text, expected);
	free(text);
}

static void ran(struct fixture *f, uint32_t node, uint64_t ns)
{
	f->nodes[node].ran = ns;
}

/* main -> MPI_Send (400 ns) with samples in MPI's own code; 600 ns beside it in main. */
static struct fixture *sender(void)
{
	struct fixture *f = fixture_new();
	uint32_t call = fixture_call(f, 0, "main", 3), send;

	fixture_root(f, 1000, 1000);
	f->nodes[0].ran = 600;
	send = fixture_mpi(f, call, "MPI_Send", 400, 10);
	f->nodes[send].ran = 400;
	fixture_code(f, send, HYB_TYPE_LEAF, &mpi_library, 2, 1);
	fixture_code(f, fixture_code(f, send, HYB_TYPE_CALL, &mpi_library, 1, 0), HYB_TYPE_LEAF, &mpi_library,
		2, 3);
	fixture_leaf(f, 0, "main", 4, 6);
	return f;
}

/* What is sampled inside MPI is the time of the call, unless asked for. */
static void test_folded(void **state)
{
	struct profile *p = fixture_profile(sender(), PROFILE_ROUTINE, 1);
	const struct profile_node *send;

	assert_exact(p);
	assert_tree(p, "[total]\n"
		       "  main:4 600\n"
		       "  [main]\n"
		       "    (MPI_Send) 400\n");
	send = find_node(p, PROFILE_PROBE, "MPI_Send", 0);
	assert_true(send->mpi);
	assert_int_equal(send->samples, 4);
	assert_int_equal(send->calls, 10);
	profile_free(p);
}

static struct profile *profile_of(struct fixture *f, const struct profile_options *options)
{
	struct profile *p = profile_new(options);
	struct hyb_error err;

	fixture_add(f, p);
	fixture_free(f);
	assert_int_equal(profile_finish(p, &err), 0);
	assert_exact(p);
	return p;
}

static void test_internals(void **state)
{
	struct profile *p = profile_of(sender(), &(struct profile_options){.mpi_internals = true});
	struct profile_tree reverse;
	bool found = false;

	assert_tree(p, "[total]\n"
		       "  main:4 600\n"
		       "  [main]\n"
		       "    (MPI_Send)\n"
		       "      [progress]\n"
		       "        poll:22 300\n"
		       "      poll:22 100\n");
	assert_int_equal(profile_reverse(p, &reverse), 0);
	for (size_t i = 0; i < reverse.count; i++)
		if (!strcmp(reverse.nodes[i].name, "MPI_Send")) {
			assert_string_equal(reverse.nodes[reverse.nodes[reverse.nodes[i].parent].parent].name,
				reverse.nodes[i].inclusive == 300 ? "poll" : "[total]");
			found = true;
		}
	assert_true(found);
	profile_tree_release(&reverse);
	profile_free(p);
}

/* The shape of FLASH: one barrier below two timers, its inside told apart by them in the reverse tree. */
static void test_barriers(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t guard = fixture_region(f, 0, "guardcell", HYB_REGION_USER, 300, 1);
	uint32_t hydro = fixture_region(f, 0, "hydro", HYB_REGION_USER, 700, 1);
	struct profile *p;
	struct profile_tree reverse;
	const struct profile_node *poll;

	fixture_root(f, 1000, 1000);
	ran(f, fixture_mpi(f, guard, "MPI_Barrier", 300, 1), 300);
	fixture_code(f, (uint32_t)f->location.node_count - 1, HYB_TYPE_LEAF, &mpi_library, 2, 3);
	ran(f, fixture_mpi(f, hydro, "MPI_Barrier", 700, 1), 700);
	fixture_code(f, (uint32_t)f->location.node_count - 1, HYB_TYPE_LEAF, &mpi_library, 2, 7);
	p = profile_of(f, &(struct profile_options){.mpi_internals = true});
	assert_int_equal(profile_reverse(p, &reverse), 0);
	assert_int_equal(reverse.count, 5);
	poll = &reverse.nodes[reverse.nodes[0].first_child];
	assert_string_equal(poll->name, "poll");
	assert_int_equal(poll->inclusive, 1000);
	assert_string_equal(reverse.nodes[2].name, "MPI_Barrier");
	assert_string_equal(reverse.nodes[3].name, "hydro");
	assert_int_equal(reverse.nodes[3].inclusive, 700);
	assert_string_equal(reverse.nodes[4].name, "guardcell");
	assert_int_equal(reverse.nodes[4].inclusive, 300);
	profile_tree_release(&reverse);
	profile_free(p);
}

/* A function of the program that MPI calls (a reduction), and what a region there holds, show. */
static void test_called_back(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t reduce, progress, back;
	struct profile *p;

	fixture_root(f, 1000, 1000);
	reduce = fixture_mpi(f, fixture_call(f, 0, "main", 3), "MPI_Reduce", 1000, 1);
	f->nodes[reduce].ran = 700;
	progress = fixture_code(f, reduce, HYB_TYPE_CALL, &mpi_library, 1, 0);
	fixture_code(f, progress, HYB_TYPE_LEAF, &mpi_library, 2, 2);
	back = fixture_call(f, progress, "my_sum", 50);
	fixture_leaf(f, back, "add", 60, 4);
	fixture_code(f, back, HYB_TYPE_LEAF, &mpi_library, 2, 1);
	fixture_region(f, progress, "in_callback", HYB_REGION_USER, 300, 2);
	p = profile_of(f, NULL);
	assert_tree(p, "[total]\n"
		       "  [main]\n"
		       "    (MPI_Reduce) 200\n"
		       "      [my_sum]\n"
		       "        add:60 400\n"
		       "        poll:22 100\n"
		       "      (in_callback) 300\n");
	profile_free(p);
}

/* MPI's Fortran binding and our wrapper are not between the program and the call. */
static void test_binding(void **state)
{
	struct fixture *f = fixture_new();
	uint32_t call = fixture_call(f, 0, "main", 3);
	uint32_t stub = fixture_code(
		f, fixture_code(f, call, HYB_TYPE_CALL, &binding, 3, 0), HYB_TYPE_CALL, &wrapper, 4, 0);
	struct profile *p;

	fixture_root(f, 1000, 1000);
	f->nodes[0].ran = 600;
	ran(f, fixture_mpi(f, stub, "MPI_Send", 400, 1), 400);
	fixture_leaf(f, fixture_code(f, stub, HYB_TYPE_CALL, &wrapper, 4, 0), "dlsym", 4, 1);
	fixture_leaf(f, 0, "main", 4, 5);
	p = profile_of(f, NULL);
	assert_tree(p, "[total]\n"
		       "  [main]\n"
		       "    (MPI_Send) 400\n"
		       "    [hybrid] 100\n"
		       "  main:4 500\n");
	profile_free(p);
}

/* ---------------------------------------------------------------- messages */

/* The ranks in the order of `first`, `first` + `step` ... */
static struct profile *ring(
	const struct profile_options *options, uint32_t size, uint32_t first, uint32_t step)
{
	struct profile *p = profile_new(options);
	struct hyb_error err;

	for (uint32_t i = 0; i < size; i++) {
		struct fixture *f = fixture_ring((first + i * step) % size, size);

		fixture_add(f, p);
		fixture_free(f);
	}
	assert_int_equal(profile_finish(p, &err), 0);
	if (!options || !options->split_ranks) /* which has an order of its own */
		assert_exact(p);
	return p;
}

static void test_flows(void **state)
{
	struct profile *p = ring(&(struct profile_options){.traffic = true}, 4, 0, 1);
	size_t count;
	const struct profile_flow *flows = profile_flows(p, &count);

	assert_int_equal(count, 4);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(flows[i].from, i);
		assert_int_equal(flows[i].to, (i + 1) % 4);
		assert_int_equal(flows[i].kind, PROFILE_POINT_TO_POINT);
		assert_int_equal(flows[i].sent.messages, i + 1);
		assert_int_equal(flows[i].received.messages, i + 1);
		assert_int_equal(flows[i].sent.bytes, (i + 1) * 100);
		assert_int_equal(flows[i].received.bytes, (i + 1) * 100);
		assert_int_equal(flows[i].sent.time, (i + 1) * 1000);
		assert_int_equal(flows[i].received.time, ((i + 1) % 4 + 1) * 2000);
	}
	profile_free(p);
}

static void test_volumes(void **state)
{
	struct profile *p = ring(&(struct profile_options){.traffic = true}, 4, 0, 1);
	size_t count;
	const struct profile_volume *v = profile_volumes(p, &count);
	const struct profile_handle *handles;

	assert_int_equal(count, 3);
	assert_int_equal(v[0].message, HYB_SEND);
	assert_int_equal(v[0].size_class, 7);
	assert_int_equal(v[0].messages, 10);
	assert_int_equal(v[0].sent, 1000);
	assert_int_equal(v[1].message, HYB_RECV);
	assert_int_equal(v[1].received, 1000);
	assert_int_equal(v[2].message, HYB_COLLECTIVE);
	assert_int_equal(v[2].messages, 4);
	handles = profile_handles(p, &count);
	assert_int_equal(count, 1);
	assert_int_equal(handles[0].identity, 5);
	assert_int_equal(handles[0].members, 4);
	assert_string_equal(handles[0].name, "MPI_COMM_WORLD");
	profile_free(p);
}

/* A get goes from the target, an update both ways; files and collectives are no pairs. */
static void test_one_sided(void **state)
{
	static const struct fixture_message messages[] = {
		{HYB_PUT, 4, NULL, 2, 3, 24, 0, 5},
		{HYB_GET, 4, NULL, 2, 2, 0, 16, 6},
		{HYB_UPDATE, 4, NULL, 1, 1, 8, 8, 7},
		{HYB_READ, 4, NULL, HYB_RANK_NONE, 1, 0, 8, 8},
		{HYB_WRITE, 4, NULL, HYB_RANK_NONE, 1, 8, 0, 9},
	};
	struct profile *p = profile_new(&(struct profile_options){.traffic = true});
	struct fixture *f = fixture_new();
	const struct profile_flow *flows;
	const struct profile_rank *rank;
	struct hyb_error err;
	uint32_t call;
	size_t count;

	fixture_rank(f, FIXTURE_WORLD, 0, 3);
	fixture_root(f, 1000, 1000);
	call = fixture_mpi(f, 0, "MPI_Win_fence", 100, 1);
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		fixture_message(f, call, &messages[i]);
	fixture_add(f, p);
	fixture_free(f);
	assert_int_equal(profile_finish(p, &err), 0);
	flows = profile_flows(p, &count);
	assert_int_equal(count, 4);
	assert_int_equal(flows[0].to, 1);
	assert_int_equal(flows[0].sent.bytes, 8);
	assert_int_equal(flows[1].to, 2);
	assert_int_equal(flows[1].sent.bytes, 24);
	assert_int_equal(flows[1].sent.messages, 3);
	assert_int_equal(flows[2].from, 1);
	assert_int_equal(flows[2].received.bytes, 8);
	assert_int_equal(flows[2].received.time, 0);
	assert_int_equal(flows[3].from, 2);
	assert_int_equal(flows[3].received.bytes, 16);
	assert_int_equal(flows[3].kind, PROFILE_ONE_SIDED);
	rank = profile_ranks(p, &count);
	assert_int_equal(rank->sent, 32);
	assert_int_equal(rank->received, 24);
	profile_free(p);
}

/* ----------------------------------------------------------- over the ranks */

static void test_functions(void **state)
{
	struct profile *p = ring(NULL, 4, 0, 1);
	const struct profile_quality *q = profile_quality(p);
	size_t count;
	const struct profile_function *f = profile_functions(p, &count);
	uint64_t time = 0, calls = 0;

	assert_int_equal(count, 3);
	assert_string_equal(f[0].name, "MPI_Allreduce"); /* as long as MPI_Recv: by name */
	assert_string_equal(f[1].name, "MPI_Recv");
	assert_string_equal(f[2].name, "MPI_Send");
	assert_int_equal(f[2].time, 10000);
	assert_int_equal(f[2].calls, 10);
	assert_int_equal(f[2].sent, 1000);
	assert_int_equal(f[2].spread.ranks, 4);
	assert_int_equal(f[2].spread.least, 1000);
	assert_int_equal(f[2].spread.least_rank, 0);
	assert_int_equal(f[2].spread.most, 4000);
	assert_int_equal(f[2].spread.most_rank, 3);
	assert_int_equal(profile_spread_mean(&f[2].spread, 4), 2500);
	assert_true(fabs(profile_spread_deviation(&f[2].spread, 4) - 1118.03398) < 1e-4);
	assert_true(fabs(profile_spread_imbalance(&f[2].spread, 4) - 60) < 1e-9);
	/* five ranks, of which one does not have it */
	assert_int_equal(profile_spread_least(&f[2].spread, 5), 0);
	assert_int_equal(profile_spread_mean(&f[2].spread, 5), 2000);
	for (size_t i = 0; i < count; i++) {
		time += f[i].time;
		calls += f[i].calls;
	}
	assert_int_equal(time, q->mpi_time);
	assert_int_equal(calls, q->mpi_calls);
	assert_int_equal(q->mpi[HYB_MPI_ERRORS], 6);
	assert_int_equal(q->ranks, 4);
	profile_free(p);
}

static void test_ranks(void **state)
{
	struct profile *p = ring(NULL, 4, 3, 3);
	size_t count;
	const struct profile_rank *r = profile_ranks(p, &count);

	assert_int_equal(count, 4);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(r[i].rank, i);
		assert_int_equal(r[i].size, 4);
		assert_int_equal(r[i].pid, 100 + i);
		assert_string_equal(r[i].host, "node1");
		assert_int_equal(r[i].wall, (i + 1) * 10000);
		assert_int_equal(r[i].cpu, (i + 1) * 7000);
		assert_int_equal(r[i].blocked, (i + 1) * 3000);
		assert_int_equal(r[i].mpi_time, (i + 1) * 5000);
		assert_int_equal(r[i].messages_sent, i + 1);
		assert_int_equal(r[i].sent, (i + 1) * 100 + 8);
		assert_int_equal(r[i].errors, i);
	}
	profile_free(p);
}

/* At every node the ranks' times add up to what the tree says, whichever came first. */
static void assert_spreads(const struct profile *p, uint64_t tolerance)
{
	const struct profile_node *nodes = profile_nodes(p);

	for (size_t i = 0; i < profile_count(p); i++) {
		const struct profile_spread *s = &profile_spreads(p)[nodes[i].spread];
		uint64_t exact = nodes[i].kind == PROFILE_PROBE || !i ? 0 : tolerance;

		assert_true(s->total + exact >= nodes[i].inclusive && s->total <= nodes[i].inclusive + exact);
		assert_true(s->least <= s->most && s->ranks <= profile_quality(p)->ranks);
	}
}

static void test_spreads(void **state)
{
	const struct profile_options options = {.spreads = true};
	struct profile *p = ring(&options, 4, 0, 1), *q = ring(&options, 4, 2, 3);

	assert_spreads(p, 4);
	assert_spreads(q, 4);
	assert_int_equal(profile_count(p), profile_count(q));
	for (size_t i = 0; i < profile_count(p); i++)
		assert_memory_equal(&profile_spreads(p)[profile_nodes(p)[i].spread],
			&profile_spreads(q)[profile_nodes(q)[i].spread], sizeof(struct profile_spread));
	profile_free(p);
	profile_free(q);
}

/* Trees of any shape: what probes have over the ranks is exact. */
static void test_random_spreads(void **state)
{
	for (unsigned seed = 0; seed < 50; seed++) {
		struct profile *p = profile_new(&(struct profile_options){.spreads = true});
		struct hyb_error err;

		for (uint32_t rank = 0; rank < 5; rank++) {
			struct fixture *f = fixture_random(seed * 5 + rank, 40);

			fixture_rank(f, FIXTURE_WORLD, rank, 5);
			fixture_add(f, p);
			fixture_free(f);
		}
		assert_int_equal(profile_finish(p, &err), 0);
		assert_exact(p);
		assert_spreads(p, UINT64_MAX / 4);
		profile_free(p);
	}
}

/* Rank 10 stands behind rank 9, and threads behind their rank. */
static void test_split(void **state)
{
	struct profile *p = ring(&(struct profile_options){.split_ranks = true}, 11, 5, 3);
	uint32_t node = profile_nodes(p)->first_child;
	char name[16];

	for (unsigned i = 0; i < 11; i++, node = profile_nodes(p)[node].next_sibling) {
		snprintf(name, sizeof(name), "rank %u", i);
		assert_string_equal(profile_nodes(p)[node].name, name);
		assert_int_equal(profile_nodes(p)[node].inclusive, (i + 1) * 10000);
	}
	assert_int_equal(node, 0);
	profile_free(p);
}

static void test_split_threads(void **state)
{
	struct profile *p = profile_new(&(struct profile_options){.split_locations = true});
	struct hyb_error err;
	const struct profile_node *nodes;

	for (uint32_t thread = 2; thread; thread--) {
		struct fixture *f = fixture_ring(3, 4);

		f->location.id = thread;
		fixture_add(f, p);
		fixture_free(f);
	}
	assert_int_equal(profile_finish(p, &err), 0);
	nodes = profile_nodes(p);
	assert_string_equal(nodes[nodes->first_child].name, "rank 3");
	assert_string_equal(nodes[nodes[nodes->first_child].next_sibling].name, "rank 3 thread 2");
	profile_free(p);
}

/* The tree of the calls alone: the sums of what is left are those of all calls. */
static void test_tree_of_calls(void **state)
{
	struct profile *p = ring(NULL, 4, 0, 1);
	struct profile_tree tree;

	assert_int_equal(profile_mpi_tree(p, &tree), 0);
	assert_int_equal(tree.count, 5);
	assert_int_equal(tree.nodes[0].inclusive, 50000);
	assert_int_equal(tree.nodes[0].calls, 24);
	assert_int_equal(tree.nodes[0].sent, 1032);
	assert_int_equal(tree.nodes[0].received, 1032);
	assert_int_equal(tree.nodes[0].messages, 24);
	assert_int_equal(tree.nodes[0].least, 500);
	assert_int_equal(tree.nodes[0].most, 8000);
	assert_string_equal(tree.nodes[1].name, "main");
	assert_int_equal(tree.nodes[1].calls, 24);
	for (size_t i = 2; i < tree.count; i++)
		assert_true(tree.nodes[i].mpi);
	profile_tree_release(&tree);
	profile_free(p);
}

/* Ten thousand ranks need no more room in the tree than one. */
static void test_many_ranks(void **state)
{
	struct profile *p = ring(&(struct profile_options){.spreads = true}, 10000, 1, 7);
	size_t count;

	assert_int_equal(profile_count(p), 6);
	assert_spreads(p, 10000);
	assert_int_equal(profile_spreads(p)[profile_nodes(p)->spread].most_rank, 9999);
	profile_ranks(p, &count);
	assert_int_equal(count, 10000);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_internals),
		cmocka_unit_test(test_barriers),
		cmocka_unit_test(test_called_back),
		cmocka_unit_test(test_binding),
		cmocka_unit_test(test_flows),
		cmocka_unit_test(test_volumes),
		cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_spreads),
		cmocka_unit_test(test_random_spreads),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_threads),
		cmocka_unit_test(test_tree_of_calls),
		cmocka_unit_test(test_many_ranks),
	};

	return cmocka_run_group_tests(tests, with_symbols, NULL);
}

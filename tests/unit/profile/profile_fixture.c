#include "profile_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile/state.h"

#define MAX_CODES 256

static const struct hyb_module program = {.path = "/opt/prog"};
static struct hyb_frame codes[MAX_CODES]; /* by address */
static size_t code_count;
static const struct fixture_symbol *more_symbols;
static size_t more_count;

static uint64_t address_of(const char *function, unsigned line)
{
	size_t i;

	for (i = 0; i < code_count; i++)
		if (codes[i].line == line && !strcmp(codes[i].function, function))
			return i;
	assert_true(code_count < MAX_CODES);
	codes[code_count++] = (struct hyb_frame){.function = function, .file = "/src/prog.c", .line = line};
	return i;
}

static const struct hyb_frame *look_up(
	void *data, const struct hyb_module *module, uint64_t address, bool call, size_t *ret_count)
{
	for (size_t i = 0; i < more_count; i++) {
		if (more_symbols[i].module != module || more_symbols[i].address != address)
			continue;
		assert_false(more_symbols[i].exact && call);
		*ret_count = more_symbols[i].count;
		return more_symbols[i].frames;
	}
	assert_ptr_equal(module, &program);
	assert_true(address < code_count);
	*ret_count = 1;
	return &codes[address];
}

void fixture_symbols(const struct fixture_symbol *symbols, size_t count)
{
	more_symbols = symbols;
	more_count = count;
}

static uint32_t add_node(struct fixture *f, uint32_t parent, struct hyb_node_info node)
{
	size_t i = f->location.node_count++;

	if (!(i & (i - 1)))
		f->nodes = realloc(f->nodes, (i ? 2 * i : 1) * sizeof(*f->nodes));
	assert_non_null(f->nodes);
	node.parent = parent;
	node.probe = node.type <= HYB_TYPE_FUNCTION ? (uint32_t)i : f->nodes[parent].probe;
	f->nodes[i] = node;
	f->location.nodes = f->nodes;
	f->location.samples += node.samples;
	return (uint32_t)i;
}

struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->process.file = "7.0.hyb";
	f->process.pid = 7;
	f->process.host = "node1";
	f->process.rank = HYB_RANK_NONE;
	f->location.process = &f->process;
	f->location.id = 1;
	f->location.tid = 7;
	f->location.name = "";
	f->location.source = HYB_SOURCE_CPU_TIMER;
	add_node(f, 0, (struct hyb_node_info){.type = HYB_TYPE_ROOT});
	return f;
}

void fixture_free(struct fixture *f)
{
	for (size_t i = 0; i < f->region_count; i++)
		free(f->regions[i]);
	for (size_t i = 0; i < f->location.node_count; i++) {
		free((void *)f->nodes[i].values);
		free((void *)f->nodes[i].overflows);
	}
	free(f->nodes);
	free(f);
}

void fixture_root(struct fixture *f, uint64_t wall, uint64_t cpu)
{
	f->nodes[0].inclusive = wall;
	f->location.end = wall;
	f->location.cpu = cpu;
}

void fixture_metrics(struct fixture *f, const struct hyb_metric *metrics, size_t count)
{
	f->process.metrics = metrics;
	f->process.metric_count = count;
}

void fixture_grow(struct fixture *f, uint32_t node, size_t metric, int64_t value)
{
	if (!f->nodes[node].values)
		f->nodes[node].values = calloc(16, sizeof(int64_t));
	assert_non_null(f->nodes[node].values);
	((int64_t *)f->nodes[node].values)[metric] = value;
}

void fixture_overflow(struct fixture *f, uint32_t node, size_t metric, uint64_t samples)
{
	if (!f->nodes[node].overflows)
		f->nodes[node].overflows = calloc(16, sizeof(uint64_t));
	assert_non_null(f->nodes[node].overflows);
	((uint64_t *)f->nodes[node].overflows)[metric] = samples;
}

static const struct hyb_region *region_of(struct fixture *f, const char *name, unsigned kind)
{
	struct hyb_region *r;

	for (size_t i = 0; i < f->region_count; i++)
		if (!strcmp(f->regions[i]->name, name) && f->regions[i]->kind == kind)
			return f->regions[i];
	assert_true(f->region_count < 64);
	r = malloc(sizeof(*r));
	assert_non_null(r);
	*r = (struct hyb_region){.name = name, .file = "regions.c", .line = 1, .kind = kind};
	f->regions[f->region_count++] = r;
	return r;
}

uint32_t fixture_region(struct fixture *f, uint32_t parent, const char *name, unsigned kind,
	uint64_t inclusive, uint64_t calls)
{
	return add_node(f, parent,
		(struct hyb_node_info){.type = HYB_TYPE_REGION,
			.region = region_of(f, name, kind),
			.inclusive = inclusive,
			.calls = calls});
}

static const struct hyb_region *function_of(struct fixture *f, const char *name)
{
	struct hyb_region *r = (struct hyb_region *)region_of(f, name, HYB_REGION_PYTHON);

	r->file = "/src/app.py";
	r->python = true;
	return r;
}

uint32_t fixture_python(struct fixture *f, uint32_t parent, const char *function, unsigned line)
{
	return add_node(f, parent,
		(struct hyb_node_info){
			.type = HYB_TYPE_PYTHON, .region = function_of(f, function), .line = line});
}

uint32_t fixture_hooked(
	struct fixture *f, uint32_t parent, const char *function, uint64_t inclusive, uint64_t calls)
{
	function_of(f, function);
	return fixture_region(f, parent, function, HYB_REGION_PYTHON, inclusive, calls);
}

void fixture_rank(struct fixture *f, uint64_t world, uint32_t rank, uint32_t size)
{
	f->process.world = world;
	f->process.rank = rank;
	f->process.world_size = size;
	f->process.pid = 100 + rank;
}

uint32_t fixture_mpi(struct fixture *f, uint32_t parent, const char *name, uint64_t inclusive, uint64_t calls)
{
	struct hyb_region *r = (struct hyb_region *)region_of(f, name, HYB_REGION_MPI);

	r->file = "";
	r->line = 0;
	r->mpi = true;
	return fixture_region(f, parent, name, HYB_REGION_MPI, inclusive, calls);
}

void fixture_message(struct fixture *f, uint32_t parent, const struct fixture_message *message)
{
	add_node(f, parent,
		(struct hyb_node_info){.type = HYB_TYPE_MESSAGE,
			.message = message->kind,
			.size_class = message->size_class,
			.handle = message->handle,
			.peer = message->peer,
			.calls = message->count,
			.sent = message->sent,
			.received = message->received,
			.inclusive = message->time});
}

static const struct hyb_handle world_handle = {
	.identity = 5, .id = 1, .type = HYB_COMM, .name = "MPI_COMM_WORLD", .size = 4};

struct fixture *fixture_ring(uint32_t rank, uint32_t size)
{
	struct fixture *f = fixture_new();
	uint32_t send, recv, reduce, count = rank + 1, from = (rank + size - 1) % size;
	uint64_t unit = 1000 * count;

	fixture_rank(f, FIXTURE_WORLD, rank, size);
	f->process.handles = &world_handle;
	f->process.handle_count = 1;
	f->process.start = 1000;
	f->process.end = 1000 + 10 * unit;
	fixture_root(f, 10 * unit, 7 * unit);
	f->nodes[0].ran = 5 * unit;
	send = fixture_mpi(f, fixture_call(f, 0, "main", 3), "MPI_Send", unit, count);
	recv = fixture_mpi(f, fixture_call(f, 0, "main", 4), "MPI_Recv", 2 * unit, from + 1);
	reduce = fixture_mpi(f, fixture_call(f, 0, "main", 5), "MPI_Allreduce", 2 * unit, 1);
	f->nodes[send].ran = f->nodes[reduce].ran = unit;
	f->nodes[send].least = unit / (count + 1);
	f->nodes[send].most = unit;
	f->nodes[reduce].least = f->nodes[reduce].most = 2 * unit;
	fixture_leaf(f, 0, "main", 9, 5);
	fixture_message(f, send,
		&(struct fixture_message){
			HYB_SEND, 7, &world_handle, (rank + 1) % size, count, count * 100, 0, unit});
	fixture_message(f, recv,
		&(struct fixture_message){
			HYB_RECV, 7, &world_handle, from, from + 1, 0, (from + 1) * 100, 2 * unit});
	fixture_message(f, reduce,
		&(struct fixture_message){
			HYB_COLLECTIVE, 4, &world_handle, HYB_RANK_NONE, 1, 8, 8, 2 * unit});
	f->location.mpi[HYB_MPI_ERRORS] = rank;
	return f;
}

uint32_t fixture_code(struct fixture *f, uint32_t parent, unsigned type, const struct hyb_module *module,
	uint64_t address, uint64_t samples)
{
	return add_node(f, parent,
		(struct hyb_node_info){
			.type = (uint8_t)type, .module = module, .address = address, .samples = samples});
}

uint32_t fixture_call(struct fixture *f, uint32_t parent, const char *function, unsigned line)
{
	return fixture_code(f, parent, HYB_TYPE_CALL, &program, address_of(function, line), 0);
}

uint32_t fixture_leaf(
	struct fixture *f, uint32_t parent, const char *function, unsigned line, uint64_t samples)
{
	return fixture_code(f, parent, HYB_TYPE_LEAF, &program, address_of(function, line), samples);
}

static unsigned dice(unsigned *seed, unsigned sides)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % sides;
}

struct fixture *fixture_random(unsigned seed, unsigned nodes)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	struct fixture *f = fixture_new();
	uint64_t wall = 1000000 + dice(&seed, 30000) * 977, cpu = wall / 100 * dice(&seed, 101);
	uint64_t *left = calloc(nodes + 1, sizeof(*left));

	assert_non_null(left);
	fixture_root(f, wall, cpu);
	left[0] = wall;
	for (unsigned i = 1; i <= nodes; i++) {
		uint32_t parent = dice(&seed, i);
		const char *name = names[dice(&seed, 5)];
		unsigned kind = dice(&seed, 4);

		while (f->nodes[parent].type == HYB_TYPE_LEAF)
			parent = f->nodes[parent].parent;
		if (!kind && f->nodes[parent].type <= HYB_TYPE_REGION) {
			uint64_t time =
				left[parent] / 100 * dice(&seed, 60) + dice(&seed, 7) * (left[parent] > 9);

			left[parent] -= time > left[parent] ? left[parent] : time;
			left[i] = time;
			fixture_region(f, parent, name, 1 + dice(&seed, 2), time, 1 + dice(&seed, 9));
			f->nodes[i].ran = time / 100 * dice(&seed, 110);
			f->nodes[i].samples = dice(&seed, 3);
			f->location.samples += f->nodes[i].samples;
		} else if (kind == 1) {
			fixture_call(f, parent, name, dice(&seed, 3));
		} else if (kind == 2 && i % 7 == 0) {
			fixture_code(f, parent, HYB_TYPE_PARTIAL, NULL, 0, dice(&seed, 2));
		} else {
			fixture_leaf(f, parent, name, dice(&seed, 9), dice(&seed, 13));
		}
	}
	free(left);
	return f;
}

void fixture_add_location(const struct hyb_location_info *location, struct profile *profile)
{
	struct resolver resolver = {look_up, NULL};

	assert_int_equal(profile_add_location(profile, location, &resolver), 0);
}

void fixture_add(struct fixture *f, struct profile *profile)
{
	profile_add_process(profile, &f->process, false);
	fixture_add_location(&f->location, profile);
	assert_int_equal(profile_end_process(profile, &f->process, true), 0);
}

struct profile *fixture_profile(struct fixture *f, enum profile_mode mode, unsigned copies)
{
	struct profile_options options = {.mode = mode};
	struct profile *p = profile_new(&options);
	struct hyb_error err;

	assert_non_null(p);
	for (unsigned i = 0; i < copies; i++)
		fixture_add(f, p);
	assert_int_equal(profile_finish(p, &err), 0);
	fixture_free(f);
	return p;
}

const struct profile_node *seek_node(const struct profile *p, unsigned kind, const char *name, unsigned line)
{
	for (size_t i = 0; i < profile_count(p); i++) {
		const struct profile_node *n = &profile_nodes(p)[i];

		if (n->kind == kind && n->line == line && !strcmp(n->name, name))
			return n;
	}
	return NULL;
}

const struct profile_node *find_node(const struct profile *p, unsigned kind, const char *name, unsigned line)
{
	const struct profile_node *n = seek_node(p, kind, name, line);

	if (!n)
		fail_msg("no node of kind %u with the name %s:%u", kind, name, line);
	return n;
}

static void put_node(FILE *out, const struct profile_node *n, unsigned depth)
{
	static const char *const before[] = {"", "", "(", "[", "", ""}, *const behind[] = {
										"", "", ")", "]", "", ""};

	fprintf(out, "%*s%s%s", 2 * (int)depth, "", before[n->kind], n->name);
	if (n->line && n->kind != PROFILE_PROBE)
		fprintf(out, ":%u", n->line);
	fprintf(out, "%s", behind[n->kind]);
	if (n->exclusive)
		fprintf(out, " %llu", (unsigned long long)n->exclusive);
	if (n->blocked)
		fprintf(out, " +%llu", (unsigned long long)n->blocked);
	fputc('\n', out);
}

char *tree_text(const struct profile *p)
{
	const struct profile_node *nodes = profile_nodes(p);
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < profile_count(p); i++) {
		unsigned depth = 0;

		for (size_t n = i; n; n = nodes[n].parent)
			depth++;
		put_node(out, &nodes[i], depth);
	}
	fclose(out);
	return text;
}

void assert_exact(const struct profile *p)
{
	const struct profile_node *nodes = profile_nodes(p);
	size_t linked = 1;

	for (size_t i = 0; i < profile_count(p); i++) {
		uint64_t sum = nodes[i].exclusive + nodes[i].blocked;
		uint64_t last = UINT64_MAX;

		assert_true(i ? nodes[i].parent < i : nodes[i].parent == 0);
		for (uint32_t c = nodes[i].first_child; c; c = nodes[c].next_sibling) {
			assert_int_equal(nodes[c].parent, i);
			assert_true(nodes[c].inclusive <= last);
			last = nodes[c].inclusive;
			sum += last;
			linked++;
		}
		assert_int_equal(nodes[i].inclusive, sum);
		if (nodes[i].kind == PROFILE_INTERMEDIATE)
			assert_int_equal(nodes[i].exclusive, 0);
	}
	assert_int_equal(linked, profile_count(p));
}

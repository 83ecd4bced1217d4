/*
 * Writes an experiment as RANKS processes of an MPI program would: trees of about NODES nodes, of which some
 * differ from rank to rank, with messages to neighbours and collectives. FILES: 0, a file a process; else so
 * many files, of several processes each. LOCATIONS: threads a rank. Prints what a report has to say of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hyb_writer.h"

#define PHASES 10u
#define CALLS 4u /* functions of MPI in a phase */
#define PERIOD 1000000u /* ns */
#define WORLD 0x1234u
#define HOST 64u /* ranks */

static const char *const functions[CALLS] = {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"};

/* Code to take samples in. */
struct code {
	const char *path;
	uint64_t address, size; /* ELF addresses of the text */
	const uint8_t *build_id;
	unsigned build_id_len;
};

struct totals {
	uint64_t locations, nodes, samples, mpi_calls, messages, bytes, wall;
};

struct rank {
	struct writer *w;
	uint32_t number, ranks, location, module, handle;
	uint64_t phases[PHASES], calls[CALLS]; /* regions */
	struct totals *totals;
};

static void find_build_id(const char *note, size_t size, struct code *code)
{
	for (const char *end = note + size; note + sizeof(ElfW(Nhdr)) < end;) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)note;

		note += sizeof(*n) + ((n->n_namesz + 3) & ~3u);
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4) {
			code->build_id = (const uint8_t *)note;
			code->build_id_len = n->n_descsz;
		}
		note += (n->n_descsz + 3) & ~3u;
	}
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	struct code *code = data;

	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE)
			find_build_id((const char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz, code);
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		code->path = strdup(info->dlpi_name);
		code->address = p->p_vaddr;
		code->size = p->p_memsz;
	}
	return 1;
}

static uint32_t scramble(uint32_t x)
{
	x = (x ^ x >> 15) * 0x2c1b3c6du;
	x = (x ^ x >> 12) * 0x297a2d39u;
	return x ^ x >> 15;
}

/* The n-th address: one node in eight is another one on each of 16 kinds of ranks. */
static uint64_t code_key(const struct rank *r, const struct code *code, uint32_t n)
{
	uint32_t kind = n % 8 ? 0 : scramble(r->number) % 16 + 1;

	return HYB_CODE(r->module, code->address + scramble(n * 17 + kind) % code->size);
}

static struct hyb_node *add_node(
	struct rank *r, uint32_t parent, enum hyb_node_kind kind, uint64_t key, uint32_t *ret)
{
	uint32_t node = writer_node(r->w, r->location, parent, kind, key);

	r->totals->nodes++;
	if (ret)
		*ret = node;
	return writer_node_at(r->w, node);
}

static void add_message(struct rank *r, uint32_t call, unsigned op, uint32_t peer, unsigned size, uint64_t ns)
{
	uint64_t bytes = 100 << size;

	writer_message_node(r->w, r->location, call, HYB_MESSAGE(op, size + 7, r->handle, peer), 100, ns,
		op == HYB_MESSAGE_RECV ? 0 : bytes, op == HYB_MESSAGE_SEND ? 0 : bytes);
	r->totals->nodes++;
	r->totals->messages += 100;
	r->totals->bytes += op == HYB_MESSAGE_COLLECTIVE ? 2 * bytes : bytes;
}

/* Time, ns, that a rank spends in a call of a phase: late ranks let the others wait. */
static uint64_t add_call(struct rank *r, uint32_t phase, unsigned p, unsigned c)
{
	uint64_t ns = 1000000 * (c + 1) + scramble(r->number * 64 + p * CALLS + c) % 1000000;
	uint32_t call, right = (r->number + 1) % r->ranks, left = (r->number + r->ranks - 1) % r->ranks;
	struct hyb_node *n = add_node(r, phase, HYB_NODE_REGION, r->calls[c], &call);

	n->count = 100;
	n->inclusive = ns;
	r->totals->mpi_calls += 100;
	if (c == 0)
		add_message(r, call, HYB_MESSAGE_SEND, right, p, 0);
	else if (c == 1)
		add_message(r, call, HYB_MESSAGE_RECV, left, p, 0);
	else if (c == 3)
		add_message(r, call, HYB_MESSAGE_COLLECTIVE, HYB_PEER_NONE, 3, ns);
	return ns;
}

static uint64_t add_samples(
	struct rank *r, const struct code *code, uint32_t phase, unsigned p, unsigned nodes)
{
	uint32_t frame = phase;
	uint64_t samples = 0;

	for (unsigned i = 0; i < nodes; i++) {
		uint64_t key = code_key(r, code, p * 1000 + i);

		if (i % 5 == 0)
			frame = phase;
		if (i % 5 < 3) {
			add_node(r, frame, HYB_NODE_CALL, key, &frame);
			continue;
		}
		add_node(r, frame, HYB_NODE_LEAF, key, NULL)->samples = 1 + scramble(r->number + i) % 4;
		samples += 1 + scramble(r->number + i) % 4;
	}
	return samples;
}

static void add_thread(struct rank *r, const struct code *code, uint32_t location, unsigned nodes)
{
	uint32_t root = writer_location(r->w, location, writer_header(r->w)->pid + location - 1, 2000);
	uint64_t wall = 0, mpi = 0, samples = 0;
	struct hyb_location *to;

	r->location = location;
	for (unsigned p = 0; p < PHASES && nodes; p++) {
		unsigned rest = nodes / PHASES > 8 ? nodes / PHASES - 8 : 1;
		uint64_t calls = 0, here;
		uint32_t phase;
		struct hyb_node *n = add_node(r, root, HYB_NODE_REGION, r->phases[p], &phase);

		here = add_samples(r, code, phase, p, rest);
		for (unsigned c = 0; c < CALLS; c++)
			calls += add_call(r, phase, p, c);
		n->count = 10;
		n->inclusive = here * PERIOD + calls;
		n->ran = here * PERIOD;
		samples += here;
		wall += n->inclusive;
		mpi += calls;
	}
	to = writer_location_at(r->w, location);
	to->source = HYB_SOURCE_TASK_CLOCK;
	to->period = PERIOD;
	to->samples = to->taken = samples;
	to->cpu = wall - mpi;
	writer_location_end(r->w, location, 2000 + wall);
	r->totals->locations++;
	r->totals->samples += samples;
	r->totals->wall += wall;
}

static void add_rank(struct rank *r, const struct code *code, uint32_t locations, unsigned nodes)
{
	struct hyb_header *h = writer_header(r->w);
	char name[32];

	h->pid = 1000 + r->number;
	h->state = HYB_STATE_EXITED;
	h->source = HYB_SOURCE_TASK_CLOCK;
	h->rate = 1000;
	h->last = (struct hyb_anchor){1000000000, 1000000000};
	h->end = 1000000000;
	snprintf(h->host, sizeof(h->host), "node%u", r->number / HOST);
	h->clock_domain = 1 + r->number / HOST;
	r->module = writer_module(r->w, code->path, code->build_id, code->build_id_len);
	if (r->number >= HOST) { /* another host: each of its ranks has compared clocks with rank 0 */
		writer_clock(r->w, 1000, 5000 * (r->number / HOST), 100 + scramble(r->number) % 50);
		writer_clock(
			r->w, 1000000000, 5000 * (r->number / HOST) + 40, 100 + scramble(r->number) % 60);
	}
	writer_world(r->w, WORLD, r->number, r->ranks);
	r->handle = writer_handle(r->w, HYB_HANDLE_COMM, WORLD + 1, 0, r->number, r->ranks, "MPI_COMM_WORLD");
	for (unsigned p = 0; p < PHASES; p++) {
		snprintf(name, sizeof(name), "phase %u", p);
		r->phases[p] = writer_region(r->w, name, "solver.c", 10 * p + 10, HYB_REGION_USER);
	}
	for (unsigned c = 0; c < CALLS; c++)
		r->calls[c] = writer_region(r->w, functions[c], "", 0, HYB_REGION_MPI);
	for (uint32_t l = 1; l <= locations; l++)
		add_thread(r, code, l, nodes);
}

static void write_all(const char *directory, uint32_t ranks, unsigned nodes, uint32_t files,
	uint32_t locations, const struct code *code, struct totals *totals)
{
	uint32_t done = 0;
	char path[4096];

	for (uint32_t f = 0; f < (files ? files : ranks); f++) {
		uint32_t end = files ? (uint32_t)((uint64_t)ranks * (f + 1) / files) : done + 1;
		struct writer *w = writer_new();

		for (; done < end; done++) {
			struct rank r = {.w = w, .number = done, .ranks = ranks, .totals = totals};

			if (files)
				writer_process(w);
			add_rank(&r, code, locations, nodes);
		}
		if (files)
			snprintf(path, sizeof(path), "%s/node%u.hyb", directory, f);
		else
			snprintf(path, sizeof(path), "%s/node%u-%u.0.hyb", directory, f / HOST, 1000 + f);
		writer_write(w, path);
		writer_free(w);
	}
}

static uint32_t number(const char *text, unsigned long least, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n < least || n > most) {
		fprintf(stderr, "synthetic: %s: give a whole number from %lu to %lu\n", text, least, most);
		exit(2);
	}
	return (uint32_t)n;
}

int main(int argc, char **argv)
{
	struct totals totals = {0};
	struct code code = {0};
	uint32_t ranks, files, locations;
	unsigned nodes;

	if (argc < 3 || argc > 6) {
		fprintf(stderr, "Usage: synthetic DIRECTORY RANKS [NODES [FILES [LOCATIONS]]]\n");
		return 2;
	}
	ranks = number(argv[2], 1, 1000000);
	nodes = argc > 3 ? number(argv[3], 0, 100000) : 500;
	files = argc > 4 ? number(argv[4], 0, ranks) : 0;
	locations = argc > 5 ? number(argv[5], 1, 64) : 1;
	dl_iterate_phdr(find_libc, &code);
	if (mkdir(argv[1], 0777) || !code.path) {
		fprintf(stderr, "synthetic: %s: %s\n", argv[1],
			code.path ? strerror(errno) : "no libc.so here");
		return 1;
	}
	write_all(argv[1], ranks, nodes, files, locations, &code, &totals);
	printf("ranks %u\nlocations %" PRIu64 "\nnodes %" PRIu64 "\nsamples %" PRIu64 "\nmpi_calls %" PRIu64
	       "\nmessages %" PRIu64 "\nbytes %" PRIu64 "\nthread_wall_ns %" PRIu64 "\n",
		ranks, totals.locations, totals.nodes, totals.samples, totals.mpi_calls, totals.messages,
		totals.bytes, totals.wall);
	return 0;
}

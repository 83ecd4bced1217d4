#include "path.h"

#include "runtime/arch/arch.h"
#include "runtime/unwind/modules.h"
#include "runtime/unwind/path.h"
#include "runtime/python/frames.h"
#include "runtime/python/python.h"

/* What MPI itself puts in front of the call, as its interface for Fortran, is no part of the path. */
static void drop_own(struct unwind *u)
{
	while (u->count && !(u->code[u->max - 1] & UNWIND_PYTHON) &&
		modules_is_mpi(HYB_CODE_MODULE(u->code[u->max - 1] & ~UNWIND_EXACT))) {
		u->max--;
		u->count--;
	}
}

/* A word of the stack that the walk read: a return address. */
struct word {
	uintptr_t is;
	uint64_t slot; /* words above cfa - 8 */
};

/* Room for the frames of a path; what there is goes if it is full. */
static uint64_t *make_room(struct mpi_paths *paths, struct mpi_path *p)
{
	const uint32_t most = MPI_PATH_FRAMES * sizeof(struct word) / sizeof(uint64_t) +
			      MPI_PATH_PLACES * sizeof(struct python_place) / sizeof(uint64_t);

	if (paths->used + most > MPI_PATH_ROOM) {
		for (uint32_t i = 0; i < MPI_PATHS; i++)
			paths->path[i].key = 0;
		paths->used = 0;
	}
	p->room = paths->used;
	return paths->room + p->room;
}

/* Keeps where the walk found its return addresses, and the Python frames. False: it would not know them
 * again. */
static bool remember(struct mpi_path *p, struct thread *t, const struct unwind *u)
{
	struct word *word = (struct word *)make_room(&t->mpi.paths, p);
	struct python_place *place = (struct python_place *)(word + u->natives);
	int places = 0;

	if (u->end > UNWIND_OUTERMOST || !u->natives || u->natives > MPI_PATH_FRAMES)
		return false;
	if (u->python && u->python->state)
		places = python_keep(u->python, u, t->top, place, MPI_PATH_PLACES);
	if (places < 0)
		return false;
	for (uint32_t i = 0; i < u->natives; i++) {
		uintptr_t at = u->slot[i];

		word[i] = (struct word){*(const uintptr_t *)at, (at - (p->cfa - 8)) / 8};
	}
	p->count = (uint16_t)u->natives;
	p->place_count = (uint16_t)places;
	p->checked = clock_tick();
	t->mpi.paths.used += (uint32_t)((uint64_t *)(place + places) - (uint64_t *)word);
	return true;
}

static __attribute__((noinline)) void walk(struct thread *t, uint64_t key, uintptr_t cfa, struct mpi_path *p)
{
	struct python_walk python_walk = {0};
	ucontext_t context;
	struct unwind u = {
		.context = &context,
		.python = python_layout() ? &python_walk : NULL,
		.from = cfa,
		.slot = t->slot,
	};
	uint32_t base = t->top->node, node;
	size_t max;

	arch_here(&context);
	modules_update(false);
	path_walk(t, &u);
	max = u.max;
	drop_own(&u);
	node = t->node_count < HYB_PROBE_NODES_MAX ? path_intern(t, &u) : base;
	node = node ? node_intern(t, node, HYB_NODE_REGION, key) : 0;
	p->key = 0;
	u.count += max - u.max;
	u.max = max;
	p->cfa = cfa;
	p->base = base;
	p->node = node;
	p->range = node ? node_intern(t, node, HYB_NODE_RANGE, 0) : 0;
	p->open_sp = t->top->sp;
	p->open_fp = t->top->fp;
	p->python = u.python != NULL;
	if (node && remember(p, t, &u))
		p->key = key;
}

/* Whether the path leads to where it did. */
static bool is_same(struct mpi_path *p, const struct thread *t, struct python_walk *chain, uint64_t *ret_now)
{
	const uintptr_t *words = (const uintptr_t *)p->cfa - 1;
	const struct word *word = (const struct word *)(t->mpi.paths.room + p->room);

	if (p->base != t->top->node || p->open_sp != t->top->sp || p->open_fp != t->top->fp ||
		p->python != (chain != NULL))
		return false;
	for (uint32_t i = 0; i < p->count; i++)
		if (unlikely(words[word[i].slot] != word[i].is))
			return false;
	return !p->place_count || python_same(chain, (const struct python_place *)(word + p->count),
					  p->place_count, &p->checked, ret_now);
}

const struct mpi_path *mpi_path_find(struct thread *t, uint64_t key, uintptr_t cfa, uint64_t *ret_now)
{
	bool known = python_layout();
	struct python_walk chain;
	uint64_t place = unlikely(known) ? python_here(&chain, t->stack_lo, t->stack_hi) : 0;
	uint64_t h = (((const uintptr_t *)cfa)[-1] ^ cfa << 20 ^ place * 0xff51afd7ed558ccdu) *
		     0x9e3779b97f4a7c15u;
	struct mpi_path *p = &t->mpi.paths.path[h >> 32 & (MPI_PATHS - 1)];

	if (unlikely(p->key != key || p->cfa != cfa || !is_same(p, t, known ? &chain : NULL, ret_now)))
		walk(t, key, cfa, p);
	return p;
}

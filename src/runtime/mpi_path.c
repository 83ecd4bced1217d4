#include "mpi_path.h"

#include "modules.h"
#include "path.h"
#include "python/frames.h"
#include "python/python.h"

/* The registers that a walk from the calling function needs. */
static inline __attribute__((always_inline)) void here(ucontext_t *context)
{
	greg_t *r = context->uc_mcontext.gregs;

	__asm__ volatile("movq %%rbx, %0\n\tmovq %%rbp, %1\n\tmovq %%r12, %2\n\tmovq %%r13, %3\n\t"
			 "movq %%r14, %4\n\tmovq %%r15, %5\n\tmovq %%rsp, %6"
			 : "=m"(r[REG_RBX]), "=m"(r[REG_RBP]), "=m"(r[REG_R12]), "=m"(r[REG_R13]),
			 "=m"(r[REG_R14]), "=m"(r[REG_R15]), "=m"(r[REG_RSP]));
	__asm__ volatile("leaq 0(%%rip), %%rax\n\tmovq %%rax, %0" : "=m"(r[REG_RIP]) : : "rax");
}

/* What MPI itself puts in front of the call, as its interface for Fortran, is no part of the path. */
static void drop_own(struct unwind *u)
{
	while (u->count && !(u->code[u->max - 1] & (UNWIND_PYTHON | UNWIND_GAP)) &&
		modules_is_mpi(HYB_CODE_MODULE(u->code[u->max - 1]))) {
		u->max--;
		u->count--;
	}
}

/* Keeps where the walk found its return addresses. */
static void remember(struct mpi_path *p, const struct unwind *u)
{
	uint32_t n = 0;

	for (size_t i = u->max; i-- > u->max - u->count; n++) {
		uintptr_t at = u->sp[i] - 8;

		if (n == MPI_PATH_FRAMES || u->code[i] & (UNWIND_PYTHON | UNWIND_GAP))
			return;
		p->slot[n] = (uint32_t)((at - (p->cfa - 8)) / 8);
		p->word[n] = *(const uintptr_t *)at;
	}
	p->count = n;
}

static __attribute__((noinline)) uint32_t walk(
	struct thread *t, uint64_t key, uintptr_t cfa, struct mpi_path *p)
{
	struct python_walk python_walk = {0};
	ucontext_t context;
	struct unwind u = {
		.context = &context,
		.python = python_layout() ? &python_walk : NULL,
		.from = cfa,
		.sp = t->sp,
	};
	uint32_t base = t->top->node, node;
	size_t max;

	here(&context);
	modules_update(false);
	path_walk(t, &u);
	max = u.max;
	drop_own(&u);
	node = t->node_count < HYB_PROBE_NODES_MAX ? path_intern(t, &u) : base;
	node = node ? node_intern(t, node, HYB_NODE_REGION, key) : 0;
	/* Python runs many functions in one native frame: nothing on the stack would tell them apart. */
	if (!node || python_walk.state)
		return node;
	*p = (struct mpi_path){.key = 0, .cfa = cfa, .base = base, .node = node};
	u.count += max - u.max;
	u.max = max;
	remember(p, &u);
	p->key = p->count ? key : 0;
	return node;
}

uint32_t mpi_path_node(struct thread *t, uint64_t key, uintptr_t cfa)
{
	const uintptr_t *words = (const uintptr_t *)cfa - 1;
	uint64_t h = (words[0] ^ cfa << 20) * 0x9e3779b97f4a7c15u;
	struct mpi_path *p = &t->mpi.paths[h >> 32 & (MPI_PATHS - 1)];

	if (unlikely(p->key != key || p->cfa != cfa || p->base != t->top->node))
		return walk(t, key, cfa, p);
	for (uint32_t i = 0; i < p->count; i++)
		if (unlikely(words[p->slot[i]] != p->word[i]))
			return walk(t, key, cfa, p);
	return p->node;
}

/* Code made at run time: a name for it there is none, but the path through it must not be wrong. */
#include "corpus.h"

#include <sys/mman.h>

static void *emit(const unsigned char *code, size_t size)
{
	void *memory =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	memcpy(memory, code, size);
	return memory;
}

/* push rbp; mov rbp,rsp; 1: dec rdi; jnz 1b; pop rbp; ret */
static const unsigned char frame_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

/* push rbx; sub rsp,16; 1: dec rdi; jnz 1b; add rsp,16; pop rbx; ret */
static const unsigned char leaf_code[] = {
	0x53, 0x48, 0x83, 0xec, 0x10, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};

/* push rbp; mov rbp,rsp; mov rax,rdi; mov rdi,rsi; call rax; pop rbp; ret */
static const unsigned char callback_code[] = {
	0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};

static NOINLINE uint64_t runs_jit(void (*code)(uint64_t))
{
	volatile uint64_t rounds = 100000;

	code(rounds);
	return rounds;
}

void case_jit_frame(void)
{
	static void *code;

	if (!code)
		code = emit(frame_code, sizeof(frame_code));
	for (unsigned i = 0; i < 10; i++)
		runs_jit((void (*)(uint64_t))code);
}

void case_jit_leaf(void)
{
	static void *code;

	if (!code)
		code = emit(leaf_code, sizeof(leaf_code));
	for (unsigned i = 0; i < 10; i++)
		runs_jit((void (*)(uint64_t))code);
}

void case_jit_callback(void)
{
	static void *code;

	if (!code)
		code = emit(callback_code, sizeof(callback_code));
	for (unsigned i = 0; i < 100; i++)
		((uint64_t(*)(uint64_t(*)(uint64_t), uint64_t))code)(corpus_work, i);
}

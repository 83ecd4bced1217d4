/*
 * The unwinding corpus: each case is a function that is hard to unwind through
 * and runs for about a millisecond; the program repeats it for as long as it
 * was told to. The same sources are built by two compilers at three levels,
 * with and without frame pointers.
 */
#ifndef CORPUS_H
#define CORPUS_H

#include "../work.h"

#define ROUNDS 4000u /* for one piece of work: some microseconds */

/* Work that a caller waits for; the address of a local keeps tail calls away. */
uint64_t corpus_work(uint64_t x);

void case_recursion(void);
void case_deep500(void);
void case_deep12000(void);
void case_tail_calls(void);
void case_tiny(void);
void case_noreturn(void);
void case_hot_cold(void);
void case_pointers(void);

void case_alloca(void);
void case_vla(void);
void case_realign(void);
void case_large_frame(void);

void case_handler(void);
void case_altstack(void);
void case_nested_handlers(void);

void case_asm_cfi(void);
void case_asm_expression(void);
void case_asm_leaf(void);
void case_asm_push(void);
void case_asm_frame(void);
void case_asm_callback(void);
void case_asm_switch(void);

void case_jit_frame(void);
void case_jit_leaf(void);
void case_jit_callback(void);

void case_ucontext(void);
void case_longjmp(void);
void case_sigjmp(void);

void case_plt(void);
void case_vdso(void);
void case_strings(void);
void case_malloc(void);
void case_stdio(void);
void case_qsort(void);
void case_dlopen(void);
void case_spawn(void);
void case_threads(void);

void case_exceptions(void);
void case_fortran(void);

#endif

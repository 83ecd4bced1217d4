/* Programs compiled with -finstrument-functions: each function is a probe, named by its address. */
#ifndef HYB_CYG_H
#define HYB_CYG_H

#include <stdint.h>

/* The node key of the function at this address; 0: the filter excludes it. async-signal-safe */
uint64_t cyg_key(uintptr_t function);

/* Keeps a key for an address. start */
void cyg_remember(uintptr_t function, uint64_t key);

/* Forgets keys: code may have been replaced. async-signal-safe */
void cyg_forget(void);

/* Reads the filter and forgets what was cached. start */
void cyg_init(void);

#endif

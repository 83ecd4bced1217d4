/* Machine code as text, by capstone. Pure; any thread. */
#ifndef HYB_DISASSEMBLE_H
#define HYB_DISASSEMBLE_H

#include "hybrid/reader.h"

struct instruction {
	uint64_t address;
	unsigned size; /* bytes */
	bool jump, call;
	uint64_t target; /* of a direct jump or call, else 0 */
	uint64_t slot; /* of one by way of memory at a fixed address: that; else 0 */
	char mnemonic[32], operands[160];
};

/* What is missing to do it ("built without capstone ..."), or NULL. */
const char *disassemble_missing(void);

/*
 * Hands over one instruction after the other, also for bytes that are none (".byte"). `att`: in the syntax of
 * AT&T where there are two. Ends early when `put` is not 0, with its result. 0, HYB_ENOMEM, or HYB_EFORMAT: a
 * machine that is not known here.
 */
int disassemble(const struct hyb_code *code, const uint8_t *bytes, uint64_t address, bool att,
	int (*put)(void *data, const struct instruction *instruction), void *data);

#endif

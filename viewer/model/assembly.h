/*
 * The machine code of a function with the samples that were taken at each instruction, wherever it was called
 * from. For jobs: asks the experiments' symbols.
 */
#ifndef HYB_ASSEMBLY_H
#define HYB_ASSEMBLY_H

#include <stdatomic.h>

#include "base/strings.h"
#include "viewer/snapshot/session.h"

/* Whose code; as struct focus. */
struct assembly_request {
	const char *name, *file, *module;
	unsigned line; /* 0: none */
	uint32_t node; /* of the profile, or UINT32_MAX */
	bool probe; /* `file` is that of its declaration */
	bool att; /* syntax of AT&T */
};

/* An instruction, or the heading in front of the code of a function. */
struct code_item {
	uint64_t address;
	uint64_t target; /* of a jump or call; 0: not known */
	uint64_t samples; /* heading: of all below it */
	uint64_t through; /* taken in what it called (a call); recursion is counted once */
	uint64_t here; /* of `samples`, those of the node that was asked for */
	const char *text; /* "jne 0x401136 <+0x10>"; heading: the function */
	const char *file; /* heading: the module; "" if not known */
	unsigned line;
	uint8_t size, bytes[16]; /* 0: the code could not be read */
	bool heading, jump, call;
	bool of_function; /* code of the function that was asked for, or inlined into it */
	bool own; /* its own code: nothing else is inlined here */
	bool at_line; /* the line that was asked for */
};

/* Zero bytes are an empty, valid one. */
struct assembly {
	struct code_item *items; /* by module and address */
	size_t count;
	uint64_t samples; /* at all instructions that are shown */
	uint64_t own; /* at the function's own ones: its samples in a flat view */
	uint64_t most; /* at one instruction */
	bool inlined; /* there is code that is not of the function: it stands in others, or is a part */
	char problem[600]; /* why instructions are missing, or "" */
	struct strings strings;
};

/* 0, HYB_ENOMEM, or 1 if `stop` was set meanwhile: *ret is then untouched. */
int assembly_make(const struct snapshot *snapshot, const struct assembly_request *request, atomic_bool *stop,
	struct assembly *ret);
void assembly_release(struct assembly *assembly);

#endif

/* The job that makes the machine code of a function. */
#ifndef HYB_ASSEMBLY_LOAD_H
#define HYB_ASSEMBLY_LOAD_H

#include "viewer/model/assembly.h"

struct assembly_load {
	struct job job;
	void *owner; /* NULL: nobody waits any more; the owner cancels the job, too */
	/* Takes `assembly` out of it, if there is a result; NULL: it was cancelled. */
	void (*finished)(void *owner, struct assembly_load *load);
	struct snapshot *snapshot; /* kept */
	struct assembly_request request; /* with strings of its own */
	int result; /* of assembly_make(): 0 or HYB_ENOMEM */
	struct assembly assembly;
};

/* Posts it; NULL: memory is out. It is freed behind finished(). */
struct assembly_load *assembly_load_start(struct work *work, struct snapshot *snapshot,
	const struct assembly_request *request, void *owner,
	void (*finished)(void *owner, struct assembly_load *load));

/* finished() is not called any more. Accepts NULL. */
void assembly_load_leave(struct work *work, struct assembly_load *load);

#endif

/* What the quality block needs beside the profile's sums: facts about processes and files. */
#ifndef HYB_QUALITY_FACTS_H
#define HYB_QUALITY_FACTS_H

#include "base/blob.h"
#include "base/strings.h"
#include "quality/quality.h"
#include "quality/account.h"
#include "quality/images.h"

/* What the runtime said. */
struct fact_note {
	const char *text;
	unsigned severity; /* enum hyb_severity */
	size_t processes; /* that said it */
};

/* What a process said of its Python. */
struct fact_python {
	const char *text;
	size_t programs; /* that said it */
};

#define FACTS_DAMAGE_TEXTS 100u

struct fact_damage {
	size_t count; /* places */
	const char **texts; /* of the first, in the order of the files */
	size_t text_count; /* at most FACTS_DAMAGE_TEXTS */
};

/* What is said of such files. */
#define FACTS_CHANGED "changed since the run, names may be wrong"
#define FACTS_GONE "gone since the run, names may be missing"

/* Each path once. */
struct fact_paths {
	const char **list;
	size_t count;
};

/* Owns its texts. The order of everything is that of the texts, whichever process came first. */
struct facts {
	struct images images; /* of all experiments */
	struct account account;
	size_t killed; /* processes that a signal ended, or that ended without a word */
	int signal; /* that ended all of them; 0: not known, -1: they ended in several ways */
	size_t running; /* still run, on this machine */
	size_t replaced; /* by exec, into what left no measurement of its own */
	size_t stopped; /* measurements that ended early */
	size_t ranks; /* processes of MPI, */
	size_t traced; /* of them with a trace that has regions, */
	uint64_t traced_bytes; /* of so many bytes */
	struct fact_paths changed; /* binaries that are not what they were in the run */
	struct fact_paths gone; /* binaries that are not there any more */
	struct fact_note *notes; /* each text once, the most severe first */
	size_t note_count;
	struct fact_python *pythons; /* each text once */
	size_t python_count;
	struct fact_damage *damage; /* by experiment */
	size_t experiment_count;
	struct strings strings;
};

/* gather.c. NULL when memory is out. */
struct facts *facts_gather(const struct quality *quality);
void facts_free(struct facts *facts); /* accepts NULL */

/*
 * How the killed ended, below that many of a noun: "processes ended by signal SIGSEGV: ...". Returns `text`.
 */
#define FACTS_KILLED_SIZE 96
const char *facts_killed(const struct facts *facts, const char *noun, char text[FACTS_KILLED_SIZE]);

/*
 * The same in two steps, for ranks of which each has a part of the files: what the part says, and what only
 * all parts together do (the account, and how processes ended). The second returns 0 or HYB_ENOMEM.
 */
struct facts *facts_gather_part(const struct quality *quality);
int facts_finish(struct facts *facts, const struct quality *quality);

/*
 * Facts of the same experiments, of processes that another rank looked at: as bytes, and added. Damage
 * is put behind what there is. 0 or HYB_ENOMEM; that the bytes are damaged, `from` tells.
 */
void facts_pack(const struct facts *facts, struct blob *blob);
int facts_merge(struct facts *facts, struct blob_reader *from);

#endif

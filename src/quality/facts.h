/* What the quality block needs beside the profile's sums: facts about processes and files. */
#ifndef HYB_QUALITY_FACTS_H
#define HYB_QUALITY_FACTS_H

#include "base/blob.h"
#include "base/strings.h"
#include "quality/quality.h"
#include "quality/account.h"
#include "quality/images.h"

/* A text that processes or files of theirs have in common. */
struct fact {
	const char *text;
	unsigned severity; /* of notes: enum hyb_severity */
	size_t count; /* who has it */
};

/* Each text once: the most severe first, then in the order of the texts. */
struct fact_list {
	struct fact *list;
	size_t count;
};

#define FACTS_DAMAGE_TEXTS 100u

struct fact_damage {
	size_t count; /* places */
	const char **texts; /* of the first, in the order of the files */
	size_t text_count; /* at most FACTS_DAMAGE_TEXTS */
};

/* The text about such files. */
#define FACTS_CHANGED "changed since the run, names may be wrong"
#define FACTS_GONE "gone since the run, names may be missing"

/* Owns its texts. The order of everything is that of the texts, whichever process came first. */
struct facts {
	struct images images; /* of all experiments */
	struct account account;
	size_t killed; /* processes whose file has no end, and that ended by a signal or in an unknown way */
	int signal; /* that ended all of them; 0: not known, -1: they ended in several ways */
	size_t running; /* still run, on this machine */
	size_t replaced; /* by exec, into a program that left no measurement of its own */
	size_t stopped; /* measurements that ended early */
	size_t ranks; /* processes of MPI, */
	size_t traced; /* of them with a trace that has regions, */
	uint64_t traced_bytes; /* of so many bytes */
	struct fact_list changed; /* binaries that are not what they were in the run */
	struct fact_list gone; /* binaries that are not there any more */
	struct fact_list notes; /* messages of the runtime, by processes */
	struct fact_list pythons; /* what programs recorded about their Python */
	struct fact_damage *damage; /* by experiment */
	size_t experiment_count;
	struct strings strings;
};

/* gather.c. NULL when memory is out. */
struct facts *facts_gather(const struct quality *quality);
void facts_free(struct facts *facts); /* accepts NULL */

/*
 * How the killed processes ended, to be put behind their number: "processes ended by signal SIGSEGV: ...".
 * Returns `text`.
 */
#define FACTS_KILLED_SIZE 96
const char *facts_killed(const struct facts *facts, const char *noun, char text[FACTS_KILLED_SIZE]);

/*
 * The same in two steps, for ranks that each have a part of the files: facts from the part alone, then facts
 * that need all parts (the account, and how processes ended). The second returns 0 or HYB_ENOMEM.
 */
struct facts *facts_gather_part(const struct quality *quality);
int facts_finish(struct facts *facts, const struct quality *quality);

/*
 * Pack the facts into bytes; add such bytes, of processes of the same experiments that another rank read.
 * Descriptions of damage go behind those that are there. 0 or HYB_ENOMEM; damaged bytes show in `from`.
 */
void facts_pack(const struct facts *facts, struct blob *blob);
int facts_merge(struct facts *facts, struct blob_reader *from);

#endif

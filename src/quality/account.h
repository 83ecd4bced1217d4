/*
 * Accounts for the CPU time of the measured command that belongs to no measured thread, from the kernel's
 * times of ended children and from the CPU clocks that processes read at the beginning and the end of their
 * measurement.
 */
#ifndef HYB_QUALITY_ACCOUNT_H
#define HYB_QUALITY_ACCOUNT_H

#include "quality/quality.h"

struct images;

/* A program that was not measured. */
struct account_program {
	const char *path; /* of the experiment; NULL: not known */
	unsigned why; /* enum hyb_unmeasured */
	size_t processes;
	uint64_t cpu; /* ns, with its children that were not measured either */
};

/* CPU time in ns. The parts do not overlap. */
struct account {
	bool known; /* the experiments are whole, and have CPU times from the kernel */
	uint64_t total; /* of the command and all that was waited for, as hybrid-run saw it */
	uint64_t threads; /* measured */
	uint64_t before; /* of measured processes: programs being loaded, and code that ran before our
			    constructor */
	uint64_t beginning; /* of measurements: a cost */
	uint64_t others; /* of threads that were not measured, while measurements ran */
	uint64_t after; /* of measured processes, behind the end of the measurement */
	uint64_t unmeasured; /* sum over the programs */
	uint64_t unseen; /* the rest */
	uint64_t unwaited; /* of measured processes for which nobody waited: in the parts, and not in the
			      total */
	struct account_program *programs; /* the most time first */
	size_t program_count;
};

/* Of related images. account_release() frees what is in *ret. 0 or HYB_ENOMEM. */
int account_make(const struct images *images, struct account *ret);
void account_release(struct account *account);

/* Lines and members of the quality block. */
void quality_account(struct remarks *remarks, const struct account *account);
void quality_json_account(struct json *json, const struct account *account);

#endif

/* What the quality block needs beside the profile's sums: facts about processes and files. */
#ifndef HYB_REPORT_FACTS_H
#define HYB_REPORT_FACTS_H

#include "tools/report.h"

/* What the runtime said. */
struct fact_note {
	const struct hyb_note *note;
	size_t processes; /* that said it */
};

/* What a process said of its Python. */
struct fact_python {
	const char *text;
	size_t programs; /* that said it */
};

struct facts {
	size_t killed; /* processes that ended without a word */
	size_t running; /* still run */
	size_t replaced; /* by exec, into what left no measurement of its own */
	size_t stopped; /* measurements that ended early */
	const char **changed; /* paths of binaries that are not what they were in the run, each once */
	size_t changed_count;
	struct fact_note *notes; /* each text once, the most severe first */
	size_t note_count;
	struct fact_python *pythons; /* each text once */
	size_t python_count;
};

/* 0, or HYB_ENOMEM with *ret_facts untouched. */
int facts_gather(const struct report_inputs *inputs, struct facts *ret_facts);
void facts_release(struct facts *facts);

/* "cpu_timer" for machines, "CPU timer" for people, by enum hyb_source and so on. */
const char *facts_source_key(unsigned source);
const char *facts_source_text(unsigned source);
const char *facts_drop_key(unsigned reason);
const char *facts_drop_text(unsigned reason);
const char *facts_partial_key(unsigned reason);
const char *facts_partial_text(unsigned reason);
const char *facts_severity_key(unsigned severity);
const char *facts_python_key(unsigned outcome);
const char *facts_python_text(unsigned outcome);
const char *facts_fault_key(unsigned fault);
const char *facts_fault_text(unsigned fault);

#endif

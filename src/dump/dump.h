/* hybrid-dump: what it can show, one function each. All print to `out`. */
#ifndef DUMP_H
#define DUMP_H

#include "reader/experiment.h"
#include "out.h"

/* A file of several processes; what dump_header() shows of one it shows of each of them. */
void dump_file(struct out *out, const struct file *file);
void dump_header(struct out *out, const struct process *process);
void dump_chunks(struct out *out, const struct process *process);

/* The following read chunks into `buffer` of HYB_SEGMENT bytes. */
void dump_defs(struct out *out, const struct process *process, void *buffer);
void dump_locations(struct out *out, const struct process *process, void *buffer);
void dump_nodes(struct out *out, const struct process *process, void *buffer);
void dump_trace(struct out *out, const struct process *process, void *buffer);

/* All events of the experiment by time, with the names of their paths. False: *err has the reason. */
bool dump_events(struct out *out, struct hyb_experiment *experiment, struct hyb_error *err);

/* Fields of what MPI did: a MESSAGE node's key, an OTHER record with its kind, an event. */
void dump_message_key(struct out *out, uint64_t key);
void dump_other(struct out *out, const struct trace_record *record);
void dump_mpi_event(struct out *out, const struct hyb_event *event);

/* Field `field` of a code address: "libm.so.6+0x1234", "0x7fff0010". */
void dump_code(char *buffer, size_t room, const struct hyb_module *module, uint64_t address);

#endif

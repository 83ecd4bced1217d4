/*
 * Images of processes, one for each exec, and who waited for whom: as much as accounts and the counts of
 * processes need, of all files of all experiments, also of those that other ranks of hybrid-report have read.
 */
#ifndef HYB_QUALITY_IMAGES_H
#define HYB_QUALITY_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "hybrid/reader.h"
#include "base/strings.h"

#define NO_IMAGE SIZE_MAX

/* A process waited for a child. */
struct image_end {
	struct hyb_ended end; /* its pid is 0 where the C library waited */
	size_t image; /* the child's last one until then; NO_IMAGE: it was not measured */
};

struct image {
	size_t experiment;
	const char *host; /* this and `path` of programs are interned */
	uint64_t pid_namespace;
	uint32_t pid, ppid;
	uint32_t number; /* 0, 1, 2 ... for each exec of the same pid */
	unsigned state; /* enum hyb_state of the format */
	bool hybrid_run; /* no image, but who waited for the command of the experiment, or for its ranks */
	bool selected; /* it takes part */
	bool running; /* still, on this machine */
	bool waited; /* a process of the experiment waited for it, or hybrid-run; */
	int status; /* it ended like this then, as wait() gives it */
	uint64_t start, end; /* ns */
	/* ns of CPU time, as in struct hyb_process; of its threads all together */
	uint64_t cpu_start, cpu_ready, cpu_end, cpu_children, cpu_threads;
	const char *became; /* what it executed at its end, NULL: nothing */
	struct image_end *ends; /* of its children */
	size_t end_count;
	struct hyb_program *programs;
	size_t program_count;
};

/* Zero bytes are an empty, valid one. */
struct images {
	struct image
		*list; /* by experiment, host, namespace, pid and start, once images_relate() was called */
	size_t count;
	size_t *by_parent; /* indices of first images, by experiment, host and parent's pid */
	size_t first_count;
};

/* Texts are interned in `strings`. 0 or HYB_ENOMEM, as all that adds. */
int images_add(struct images *images, const struct hyb_process *process, size_t experiment, bool selected,
	struct strings *strings);

/* hybrid-run, by the experiment's file `experiment`; nothing if it has not seen the end. Once for all files.
 */
int images_add_command(
	struct images *images, const struct hyb_experiment *e, size_t experiment, struct strings *strings);

/* Pack into bytes, and add such bytes; before images_relate(). Damage shows in `from`. */
void images_pack(const struct images *images, struct blob *blob);
int images_merge(struct images *images, struct blob_reader *from, struct strings *strings);

/* Once all are there: puts them in order, and finds whose each end is. */
int images_relate(struct images *images);
void images_release(struct images *images);

/* Whether image `i` is the process of the one before, which executed another program. */
bool images_goes_on(const struct images *images, size_t i);

/*
 * First images of the processes whose parent has that number in the namespaces of the host: *ret_count
 * indices from *images->by_parent on that are returned.
 */
const size_t *images_children(
	const struct images *images, size_t experiment, const char *host, uint32_t pid, size_t *ret_count);

/* Whether a process that was measured started it. */
bool images_has_parent(const struct images *images, const struct image *image);

/* The last image of the process of which `i` is one. */
size_t images_last(const struct images *images, size_t i);

#endif

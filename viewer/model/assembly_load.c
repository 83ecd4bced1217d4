#include "viewer/model/assembly_load.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void load_free(struct assembly_load *load)
{
	snapshot_drop(load->snapshot);
	assembly_release(&load->assembly);
	free((char *)load->request.name);
	free((char *)load->request.file);
	free((char *)load->request.module);
	free(load);
}

static struct assembly_load *load_of(struct job *job)
{
	return (struct assembly_load *)((char *)job - offsetof(struct assembly_load, job));
}

static void run(struct job *job)
{
	struct assembly_load *load = load_of(job);

	load->result = assembly_make(load->snapshot, &load->request, &job->stop, &load->assembly);
}

static void done(struct job *job, bool cancelled)
{
	struct assembly_load *load = load_of(job);

	if (load->owner)
		load->finished(load->owner, cancelled ? NULL : load);
	load_free(load);
}

struct assembly_load *assembly_load_start(struct work *work, struct snapshot *snapshot,
	const struct assembly_request *request, void *owner,
	void (*finished)(void *owner, struct assembly_load *load))
{
	struct assembly_load *load = calloc(1, sizeof(*load));

	if (!load)
		return NULL;
	load->job.text = "disassembling";
	load->job.run = run;
	load->job.done = done;
	load->owner = owner;
	load->finished = finished;
	load->snapshot = snapshot_keep(snapshot);
	load->request = *request;
	load->request.name = strdup(request->name);
	load->request.file = strdup(request->file);
	load->request.module = strdup(request->module);
	if (!load->request.name || !load->request.file || !load->request.module) {
		load_free(load);
		return NULL;
	}
	work_post(work, &load->job);
	return load;
}

void assembly_load_leave(struct work *work, struct assembly_load *load)
{
	if (!load)
		return;
	load->owner = NULL;
	work_cancel(work, &load->job);
}

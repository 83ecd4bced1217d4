/* Definitions of clock, strings, hosts, processes and threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converters/otf2/defs.h"
#include "format/format.h"
#include "profile/origin.h"

uint32_t otf2_string(struct defs *d, const char *text)
{
	struct string {
		const char *text;
		uint64_t ref;
	} * row, key = {strings_get(&d->o->strings, text), 0};

	row = key.text ? row_map_row(&d->strings, &key) : NULL;
	if (!row) {
		d->failed = HYB_ENOMEM;
		return OTF2_UNDEFINED_STRING;
	}
	if (!row->ref) {
		row->ref = d->strings.count;
		DEFINE(d, String, (uint32_t)row->ref - 1, key.text);
	}
	return (uint32_t)row->ref - 1;
}

static void define_clock(struct defs *d)
{
	const struct otf2 *o = d->o;
	const struct hyb_process *first = o->process_count ? o->processes[0].info : NULL;
	uint64_t length = o->end > o->start ? o->end - o->start : 0;
	uint64_t real = first && first->realtime ? (uint64_t)origin_realtime(first, o->start)
						 : OTF2_UNDEFINED_TIMESTAMP;

	DEFINE(d, ClockProperties, 1000000000, o->start, length + 1, real);
}

static void define_attributes(struct defs *d)
{
	DEFINE(d, Attribute, ATTRIBUTE_ERROR, otf2_string(d, "MPI error"),
		otf2_string(d, "what the call of MPI returned"), OTF2_TYPE_INT64);
	DEFINE(d, Attribute, ATTRIBUTE_OFFSET, otf2_string(d, "offset"),
		otf2_string(d, "bytes from the start of the file"), OTF2_TYPE_UINT64);
}

/* Node 0 is all, then one a host. */
static void define_hosts(struct defs *d)
{
	struct otf2 *o = d->o;
	uint32_t count = 1;

	DEFINE(d, SystemTreeNode, 0, otf2_string(d, "machine"), otf2_string(d, "machine"),
		OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	DEFINE(d, SystemTreeNodeDomain, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
	for (size_t i = 0; i < o->process_count; i++) {
		struct otf2_process *process = &o->processes[i];
		const char *host = *process->info->host ? process->info->host : "unknown host";
		struct host {
			uint64_t name, ref;
		} * row, key = {otf2_string(d, host), 0};

		row = row_map_row(&d->hosts, &key);
		if (!row) {
			d->failed = HYB_ENOMEM;
			return;
		}
		if (!row->ref) {
			row->ref = count++;
			DEFINE(d, SystemTreeNode, (uint32_t)row->ref, (uint32_t)key.name,
				otf2_string(d, "node"), 0);
			DEFINE(d, SystemTreeNodeDomain, (uint32_t)row->ref,
				OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
		}
		process->host = (uint32_t)row->ref;
	}
}

static void number_property(struct defs *d, bool group, uint64_t ref, const char *name, uint64_t value)
{
	OTF2_AttributeValue number = {.uint64 = value};

	if (group)
		DEFINE(d, LocationGroupProperty, (uint32_t)ref, otf2_string(d, name), OTF2_TYPE_UINT64,
			number);
	else
		DEFINE(d, LocationProperty, ref, otf2_string(d, name), OTF2_TYPE_UINT64, number);
}

static void text_property(struct defs *d, bool group, uint64_t ref, const char *name, const char *value)
{
	OTF2_AttributeValue text = {.stringRef = otf2_string(d, value)};

	if (group)
		DEFINE(d, LocationGroupProperty, (uint32_t)ref, otf2_string(d, name), OTF2_TYPE_STRING, text);
	else
		DEFINE(d, LocationProperty, ref, otf2_string(d, name), OTF2_TYPE_STRING, text);
}

/* The process that started this one, if it was measured. */
static uint32_t creator_of(const struct otf2 *o, const struct hyb_process *info)
{
	for (uint32_t i = 0; i < o->process_count; i++) {
		const struct hyb_process *other = o->processes[i].info;

		if (other != info && other->pid == info->ppid && !strcmp(other->host, info->host) &&
			other->start <= info->start)
			return i;
	}
	return OTF2_UNDEFINED_LOCATION_GROUP;
}

static void define_process(struct defs *d, const struct otf2_process *process)
{
	const struct hyb_process *info = process->info;
	bool is_rank = info->world && info->rank != HYB_RANK_NONE;
	char name[96];

	if (is_rank)
		snprintf(name, sizeof(name), "MPI Rank %" PRIu32, info->rank);
	else if (info->image)
		snprintf(name, sizeof(name), "Process %" PRIu32 ".%" PRIu32, info->pid, info->image);
	else
		snprintf(name, sizeof(name), "Process %" PRIu32, info->pid);
	DEFINE(d, LocationGroup, process->ref, otf2_string(d, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
		process->host, creator_of(d->o, info));
	number_property(d, true, process->ref, "pid", info->pid);
	number_property(d, true, process->ref, "parent pid", info->ppid);
	if (info->image)
		number_property(d, true, process->ref, "image", info->image);
	text_property(d, true, process->ref, "file", info->file);
	if (info->clock_error)
		number_property(d, true, process->ref, "clock error ns", info->clock_error);
	for (size_t i = 0; i < info->metadata_count; i++)
		text_property(d, true, process->ref, info->metadata[i].key, info->metadata[i].value);
}

static void define_location(struct defs *d, const struct otf2_location *location)
{
	const struct hyb_location_info *info = location->info;
	uint64_t ref = (uint64_t)(location - d->o->locations);
	char name[160];

	if (*info->name && info->id != 1)
		snprintf(name, sizeof(name), "Thread %" PRIu32 " %.100s", info->id, info->name);
	else if (info->id == 1)
		snprintf(name, sizeof(name), "Master thread");
	else
		snprintf(name, sizeof(name), "Thread %" PRIu32, info->id);
	DEFINE(d, Location, ref, otf2_string(d, name), OTF2_LOCATION_TYPE_CPU_THREAD, location->events,
		location->process->ref);
	number_property(d, false, ref, "tid", info->tid);
	number_property(d, false, ref, "pid", info->process->pid);
	if (*info->name)
		text_property(d, false, ref, "name", info->name);
	number_property(d, false, ref, "CPU ns", info->cpu);
	number_property(d, false, ref, "samples", info->samples);
	if (info->events_lost)
		number_property(d, false, ref, "records lost", info->events_lost);
	if (!info->ended && info->process->state == HYB_STATE_RUNNING)
		text_property(d, false, ref, "end", "not recorded: killed, or still running");
}

static void define_who(struct defs *d)
{
	for (size_t i = 0; i < d->o->process_count; i++)
		define_process(d, &d->o->processes[i]);
	for (size_t i = 0; i < d->o->location_count; i++)
		define_location(d, &d->o->locations[i]);
}

int otf2_defs_write(struct otf2 *o)
{
	struct defs d = {.o = o, .out = OTF2_Archive_GetGlobalDefWriter(o->archive)};

	if (!d.out)
		return HYB_EIO;
	d.strings.row_size = d.hosts.row_size = 2 * sizeof(uint64_t);
	d.strings.key_size = d.hosts.key_size = sizeof(uint64_t);
	define_clock(&d);
	otf2_string(&d, "");
	define_attributes(&d);
	define_hosts(&d);
	define_who(&d);
	otf2_define_handles(&d);
	otf2_define_code(&d);
	otf2_define_numbers(&d);
	row_map_release(&d.strings);
	row_map_release(&d.hosts);
	if (OTF2_Archive_CloseGlobalDefWriter(o->archive, d.out) != OTF2_SUCCESS && !d.failed)
		d.failed = HYB_EIO;
	return d.failed;
}

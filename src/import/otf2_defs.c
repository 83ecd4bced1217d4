#include "otf2_defs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/json.h"
#include "format/format.h"

#define BEAT 1024u /* definitions between two signs of life */

/* What every callback returns. */
static OTF2_CallbackCode done(const struct defs *d)
{
	return d->failed ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static void *add(struct defs *d, struct refs *refs, uint64_t ref, size_t item)
{
	void *at = refs_add(refs, ref, item);

	d->failed |= !at;
	if (d->beat && refs->count % BEAT == 0)
		d->beat(d->data);
	return at;
}

#define ADD(table_, type_) ((struct type_ *)add(d, &d->table_, self, sizeof(struct type_)))

/* All of a callback that keeps a definition as it is. */
#define KEEP(table_, type_, ...) \
	struct defs *d = data; \
	type_ *kept = add(d, &d->table_, self, sizeof(*kept)); \
\
	if (kept) \
		*kept = (type_){__VA_ARGS__}; \
	return done(d)

static void *copy(struct defs *d, const void *data, size_t count, size_t size)
{
	void *to = arena_alloc(&d->arena, count * size + 1);

	d->failed |= !to;
	if (to && count)
		memcpy(to, data, count * size);
	return to;
}

/* Names are printed as they are. */
static void clean(char *text)
{
	for (size_t length; *text; text += length) {
		length = utf8_length(text);
		if (length && (unsigned char)*text >= 0x20 && *text != 0x7f)
			continue;
		*text = '?';
		length = 1;
	}
}

static void keep_string(struct defs *d, struct refs *refs, uint64_t ref, const char *text)
{
	const char **at = add(d, refs, ref, sizeof(*at));
	char *own = at && text ? copy(d, text, strlen(text) + 1, 1) : NULL;

	if (!own)
		return;
	clean(own);
	*at = own;
}

static OTF2_CallbackCode on_clock(
	void *data, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
	struct defs *d = data;

	d->resolution = resolution;
	d->offset = offset;
	d->length = length;
	d->realtime = realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime;
	return done(d);
}

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *text)
{
	struct defs *d = data;

	keep_string(d, &d->strings, self, text);
	return done(d);
}

static OTF2_CallbackCode on_node(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
	OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
	struct defs *d = data;
	struct tree_node *node = ADD(nodes, tree_node);

	if (node)
		*node = (struct tree_node){name, class_name, parent, node->host};
	return done(d);
}

static OTF2_CallbackCode on_node_domain(void *data, OTF2_SystemTreeNodeRef self, OTF2_SystemTreeDomain domain)
{
	struct defs *d = data;
	struct tree_node *node = refs_get(&d->nodes, self);

	if (node && domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
		node->host = true;
	return done(d);
}

/* A process that something refers to, perhaps not defined. */
static struct process_def *get_process(struct defs *d, OTF2_LocationGroupRef self)
{
	size_t count = d->processes.count;
	struct process_def *process = ADD(processes, process_def);

	if (process && d->processes.count > count)
		*process = (struct process_def){.name = OTF2_UNDEFINED_STRING,
			.parent = OTF2_UNDEFINED_SYSTEM_TREE_NODE,
			.pid = UINT64_MAX,
			.rank = UINT32_MAX};
	return process;
}

static OTF2_CallbackCode on_group_of_locations(void *data, OTF2_LocationGroupRef self, OTF2_StringRef name,
	OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent, OTF2_LocationGroupRef creator)
{
	struct defs *d = data;
	struct process_def *process = get_process(d, self);

	if (process) {
		process->name = name;
		process->parent = parent;
	}
	return done(d);
}

/* Whole numbers, and texts of digits. */
static bool number_of(const struct defs *d, OTF2_Type type, OTF2_AttributeValue value, uint64_t *ret)
{
	char *end;

	switch (type) {
	case OTF2_TYPE_UINT32:
	case OTF2_TYPE_INT32:
		*ret = value.uint32;
		return true;
	case OTF2_TYPE_UINT64:
	case OTF2_TYPE_INT64:
		*ret = value.uint64;
		return true;
	case OTF2_TYPE_STRING:
		*ret = strtoull(defs_string(d, value.stringRef), &end, 10);
		return end != defs_string(d, value.stringRef) && !*end;
	}
	return false;
}

/* "pid", "PROCESS_ID", "Thread id" ...: who writes archives does not agree. */
static bool is_id_name(const char *name, const char *letters, const char *word)
{
	const char *last = strrchr(name, ':');

	name = last ? last + 1 : name;
	if (!strcasecmp(name, letters))
		return true;
	return !strncasecmp(name, word, strlen(word)) && strlen(name) == strlen(word) + 3 &&
	       !strcasecmp(name + strlen(word) + 1, "id");
}

static OTF2_CallbackCode on_process_property(void *data, OTF2_LocationGroupRef self, OTF2_StringRef name,
	OTF2_Type type, OTF2_AttributeValue value)
{
	struct defs *d = data;
	struct process_def *process = refs_get(&d->processes, self);
	uint64_t number;

	if (process && is_id_name(defs_string(d, name), "pid", "process") &&
		number_of(d, type, value, &number) && number <= UINT32_MAX)
		process->pid = number;
	return done(d);
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
	OTF2_LocationType type, uint64_t events, OTF2_LocationGroupRef group)
{
	struct defs *d = data;
	struct location_def *location = ADD(locations, location_def);

	if (!location || !get_process(d, group))
		return done(d);
	*location = (struct location_def){name, type, events, refs_find(&d->processes, group), UINT64_MAX};
	return done(d);
}

static OTF2_CallbackCode on_location_property(
	void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value)
{
	struct defs *d = data;
	struct location_def *location = refs_get(&d->locations, self);
	uint64_t number;

	if (location && is_id_name(defs_string(d, name), "tid", "thread") &&
		number_of(d, type, value, &number) && number <= UINT32_MAX)
		location->tid = number;
	return done(d);
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
	OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
	OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t line, uint32_t last_line)
{
	struct defs *d = data;
	struct region_def *region = ADD(regions, region_def);

	if (region)
		*region = (struct region_def){name, file, line,
			defs_region_kind(defs_string(d, name), defs_string(d, file), role, paradigm),
			paradigm == OTF2_PARADIGM_SAMPLING};
	d->mpi |= region && region->kind == HYB_REGION_MPI;
	return done(d);
}

/* The processes of MPI_COMM_WORLD, or what comes near; not those of threads. */
static bool is_world(const struct defs *d, const struct group_def *group)
{
	if (group->type != OTF2_GROUP_TYPE_COMM_LOCATIONS || !group->count)
		return false;
	if (group->paradigm == OTF2_PARADIGM_MPI)
		return !d->world.count || d->world.paradigm != OTF2_PARADIGM_MPI;
	return group->paradigm == OTF2_PARADIGM_UNKNOWN && !d->world.count;
}

static OTF2_CallbackCode on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
	OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count, const uint64_t *members)
{
	struct defs *d = data;
	struct group_def *group;

	if (type != OTF2_GROUP_TYPE_LOCATIONS && type < OTF2_GROUP_TYPE_COMM_LOCATIONS)
		return done(d);
	group = ADD(groups, group_def);
	if (group)
		*group = (struct group_def){type, paradigm, count, copy(d, members, count, sizeof(*members))};
	if (group && is_world(d, group))
		d->world = *group; /* some tools use its reference again, for another group */
	return done(d);
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
	OTF2_CommRef parent, OTF2_CommFlag flags)
{
	KEEP(comms, struct comm_def, name, group, OTF2_UNDEFINED_GROUP, parent);
}

static OTF2_CallbackCode on_inter_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a,
	OTF2_GroupRef b, OTF2_CommRef common, OTF2_CommFlag flags)
{
	KEEP(comms, struct comm_def, name, a, b, common);
}

static OTF2_CallbackCode on_window(
	void *data, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
	KEEP(windows, struct window_def, name, comm);
}

static OTF2_CallbackCode on_member(void *data, OTF2_MetricMemberRef self, OTF2_StringRef name,
	OTF2_StringRef text, OTF2_MetricType source, OTF2_MetricMode mode, OTF2_Type type, OTF2_Base base,
	int64_t exponent, OTF2_StringRef unit)
{
	KEEP(members, struct member_def, .name = name, .text = text, .unit = unit, .source = source,
		.mode = mode, .type = type, .base = base, .exponent = exponent);
}

static OTF2_CallbackCode on_class(void *data, OTF2_MetricRef self, uint8_t count,
	const OTF2_MetricMemberRef *members, OTF2_MetricOccurrence occurrence, OTF2_RecorderKind recorder)
{
	KEEP(classes, struct class_def, .strict = occurrence == OTF2_METRIC_SYNCHRONOUS_STRICT,
		.own = occurrence == OTF2_METRIC_SYNCHRONOUS_STRICT || recorder == OTF2_RECORDER_KIND_CPU,
		.count = count, .members = copy(d, members, count, sizeof(*members)));
}

static OTF2_CallbackCode on_instance(void *data, OTF2_MetricRef self, OTF2_MetricRef of,
	OTF2_LocationRef recorder, OTF2_MetricScope scope, uint64_t scope_ref)
{
	KEEP(classes, struct class_def, .of = of, .instance = true,
		.process_wide = scope == OTF2_SCOPE_LOCATION_GROUP);
}

static OTF2_CallbackCode on_parameter(
	void *data, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType type)
{
	KEEP(parameters, OTF2_StringRef, name);
}

static OTF2_CallbackCode on_place(
	void *data, OTF2_SourceCodeLocationRef self, OTF2_StringRef file, uint32_t line)
{
	KEEP(places, struct place_def, file, line);
}

static OTF2_CallbackCode on_context(void *data, OTF2_CallingContextRef self, OTF2_RegionRef region,
	OTF2_SourceCodeLocationRef place, OTF2_CallingContextRef parent)
{
	KEEP(contexts, struct context_def, region, place, parent);
}

static OTF2_CallbackCode on_generator(void *data, OTF2_InterruptGeneratorRef self, OTF2_StringRef name,
	OTF2_InterruptGeneratorMode mode, OTF2_Base base, int64_t exponent, uint64_t period)
{
	struct defs *d = data;
	struct generator_def *generator = ADD(generators, generator_def);
	double ns = (double)period * 1e9;

	for (; base == OTF2_BASE_DECIMAL && exponent < 0 && exponent > -30; exponent++)
		ns /= 10;
	if (generator)
		*generator = (struct generator_def){name,
			mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME && ns < 1e18 ? (uint64_t)(ns + 0.5) : 0,
			strcasestr(defs_string(d, name), "cpu") ? HYB_SOURCE_CPU_TIMER : HYB_SOURCE_TIMER};
	return done(d);
}

static OTF2_CallbackCode on_file(
	void *data, OTF2_IoFileRef self, OTF2_StringRef name, OTF2_SystemTreeNodeRef scope)
{
	KEEP(files, struct file_def, name, OTF2_UNDEFINED_IO_FILE, OTF2_UNDEFINED_COMM);
}

static OTF2_CallbackCode on_file_handle(void *data, OTF2_IoHandleRef self, OTF2_StringRef name,
	OTF2_IoFileRef of, OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm,
	OTF2_IoHandleRef parent)
{
	KEEP(handles, struct file_def, name, of, comm);
}

/* ---------------------------------------------------------------- markers */

static OTF2_CallbackCode on_marker_name(void *data, OTF2_MarkerRef self, const char *group,
	const char *category, OTF2_MarkerSeverity severity)
{
	struct defs *d = data;

	keep_string(d, &d->marker_names, self, category);
	return done(d);
}

static OTF2_CallbackCode on_marker(void *data, OTF2_TimeStamp time, OTF2_TimeStamp duration,
	OTF2_MarkerRef marker, OTF2_MarkerScope scope, uint64_t scope_ref, const char *text)
{
	struct defs *d = data;
	const char **category = refs_get(&d->marker_names, marker);
	char *own;

	if (!ARRAY_ROOM(d->markers, d->marker_count)) {
		d->failed = true;
		return done(d);
	}
	if ((!text || !*text) && category && *category)
		text = *category;
	own = copy(d, text ? text : "", text ? strlen(text) + 1 : 1, 1);
	if (!own)
		return done(d);
	clean(own);
	d->markers[d->marker_count++] = (struct marker_def){time, scope_ref, scope, own};
	return done(d);
}

static int compare_markers(const void *pa, const void *pb)
{
	const struct marker_def *a = pa, *b = pb;

	return a->time < b->time ? -1 : a->time > b->time;
}

/* They may be missing. */
static void read_markers(struct defs *d, OTF2_Reader *reader)
{
	OTF2_MarkerReader *markers = OTF2_Reader_GetMarkerReader(reader);
	OTF2_MarkerReaderCallbacks *callbacks = OTF2_MarkerReaderCallbacks_New();
	uint64_t count;

	if (markers && callbacks) {
		OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks, on_marker_name);
		OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
		if (!OTF2_Reader_RegisterMarkerCallbacks(reader, markers, callbacks, d))
			OTF2_Reader_ReadAllMarkers(reader, markers, &count);
		OTF2_Reader_CloseMarkerReader(reader, markers);
	}
	OTF2_MarkerReaderCallbacks_Delete(callbacks);
	if (d->marker_count)
		qsort(d->markers, d->marker_count, sizeof(*d->markers), compare_markers);
}

/* ---------------------------------------------------------------- reading */

static OTF2_GlobalDefReaderCallbacks *make_callbacks(void)
{
	OTF2_GlobalDefReaderCallbacks *c = OTF2_GlobalDefReaderCallbacks_New();

	if (!c)
		return NULL;
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
	OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_node);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(c, on_node_domain);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_group_of_locations);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(c, on_process_property);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
	OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_location_property);
	OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
	OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
	OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
	OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_inter_comm);
	OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_window);
	OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_member);
	OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_class);
	OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(c, on_instance);
	OTF2_GlobalDefReaderCallbacks_SetParameterCallback(c, on_parameter);
	OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(c, on_place);
	OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_context);
	OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(c, on_generator);
	OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(c, on_file);
	OTF2_GlobalDefReaderCallbacks_SetIoDirectoryCallback(c, on_file);
	OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(c, on_file_handle);
	return c;
}

int defs_read(struct defs *d, OTF2_Reader *reader, bool *ret_partial, const char **why)
{
	OTF2_GlobalDefReader *globals = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks *callbacks = globals ? make_callbacks() : NULL;
	OTF2_ErrorCode error = OTF2_ERROR_FILE_CAN_NOT_OPEN;
	uint64_t count = 0;

	d->resolution = 1000000000;
	if (callbacks) {
		error = OTF2_Reader_RegisterGlobalDefCallbacks(reader, globals, callbacks, d);
		if (!error)
			error = OTF2_Reader_ReadAllGlobalDefinitions(reader, globals, &count);
		OTF2_Reader_CloseGlobalDefReader(reader, globals);
	}
	OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
	if (!error)
		read_markers(d, reader);
	*ret_partial = error;
	if (!d->failed)
		defs_relate(d);
	*why = d->failed ? "out of memory" : error ? OTF2_Error_GetDescription(error) : NULL;
	return d->failed || !d->locations.count ? -1 : 0;
}

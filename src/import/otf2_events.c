/* What the events of an archive mean; those of MPI are in import/otf2_mpi.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "otf2_callback.h"

static void put_parameter(struct import *im, OTF2_ParameterRef parameter, bool is_signed, uint64_t value)
{
	char text[24];

	if (is_signed)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)value);
	else
		snprintf(text, sizeof(text), "%" PRIu64, value);
	thread_parameter(im, parameter, text);
}

/* ----------------------------------------------------------------- metrics */

/* "us", "B", and where values are scaled "10^3 B"; "#" is OTF2's word for plain numbers. */
static const char *unit_of(const struct import *im, const struct member_def *member, char *text, size_t size)
{
	const char *unit = defs_string(im->d, member->unit);

	if (!strcmp(unit, "#"))
		unit = "";
	if (!member->exponent)
		return unit;
	snprintf(text, size, "%s^%" PRId64 " %s", member->base == OTF2_BASE_BINARY ? "2" : "10",
		member->exponent, unit);
	return text;
}

void import_define_metrics(struct import *im)
{
	for (uint32_t i = 0; i < im->d->metric_count; i++) {
		const struct member_def *member = refs_at(&im->d->members, im->d->metrics[i]);
		struct hyb_def_metric def = {
			.mode = defs_is_absolute(member) ? HYB_METRIC_LEVEL : HYB_METRIC_COUNT,
			.flags = member->process_wide ? HYB_METRIC_PROCESS : 0,
		};
		char unit[64];

		hyb_write_metric(im->w, &def, defs_string(im->d, member->name),
			unit_of(im, member, unit, sizeof(unit)), defs_string(im->d, member->text));
	}
}

static void put_counter(struct import *im, uint32_t index, OTF2_Type type, OTF2_MetricValue value)
{
	const struct member_def *member = refs_at(&im->d->members, index);
	bool real = type == OTF2_TYPE_DOUBLE;
	char unit[64];

	if (!im->counters[index])
		im->counters[index] = hyb_write_counter(im->w, defs_string(im->d, member->name),
			unit_of(im, member, unit, sizeof(unit)), real);
	if (real)
		hyb_write_count_real(im->w, im->tick, im->counters[index], value.floating_point);
	else
		hyb_write_count(im->w, im->tick, im->counters[index], value.signed_int);
}

static void put_metric(struct import *im, const struct member_def *member, uint64_t value)
{
	uint32_t slot = member->slot - 1;

	if (defs_is_relative(member))
		value += (uint64_t)im->values[slot];
	thread_value(im, slot, (int64_t)value);
}

static void put_metrics(struct import *im, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
	const OTF2_MetricValue *values)
{
	const struct class_def *class = defs_class(im->d, metric);

	im->lost += !class;
	for (uint32_t i = 0; class && i < class->count && i < count; i++) {
		uint32_t index = refs_find(&im->d->members, class->members[i]);
		const struct member_def *member = refs_at(&im->d->members, index);

		if (!member)
			im->lost++;
		else if (!class->own || !member->slot || types[i] == OTF2_TYPE_DOUBLE)
			put_counter(im, index, types[i], values[i]);
		else
			put_metric(im, member, values[i].unsigned_int);
	}
}

/* ----------------------------------------------------------------- records */

/* What is shown, but for messages and their like. */
#define SHOWN(ROW) \
	ROW(Enter, thread_enter(im, region), OTF2_RegionRef region) \
	ROW(Leave, thread_leave(im, region), OTF2_RegionRef region) \
	ROW(CallingContextEnter, thread_enter_context(im, context), OTF2_CallingContextRef context, \
		uint32_t distance) \
	ROW(CallingContextLeave, thread_leave_context(im, context), OTF2_CallingContextRef context) \
	ROW(CallingContextSample, thread_sample(im, context, generator), OTF2_CallingContextRef context, \
		uint32_t distance, OTF2_InterruptGeneratorRef generator) \
	ROW(MeasurementOnOff, thread_pause(im, mode == OTF2_MEASUREMENT_ON), OTF2_MeasurementMode mode) \
	ROW(ParameterString, thread_parameter(im, parameter, defs_string(im->d, value)), \
		OTF2_ParameterRef parameter, OTF2_StringRef value) \
	ROW(ParameterInt, put_parameter(im, parameter, true, (uint64_t)value), OTF2_ParameterRef parameter, \
		int64_t value) \
	ROW(ParameterUnsignedInt, put_parameter(im, parameter, false, value), OTF2_ParameterRef parameter, \
		uint64_t value) \
	ROW(ProgramBegin, hyb_write_metadata(im->w, "program", defs_string(im->d, name)), \
		OTF2_StringRef name, uint32_t count, const OTF2_StringRef *arguments) \
	ROW(ProgramEnd, NOTHING, int64_t status) \
	ROW(Metric, put_metrics(im, metric, count, types, values), OTF2_MetricRef metric, uint8_t count, \
		const OTF2_Type *types, const OTF2_MetricValue *values)

/* What has no place in a .hyb file is counted. */
#define LEFT_OUT(ROW) \
	ROW(Unknown, im->left_out[LEFT_UNKNOWN]++) \
	ROW(BufferFlush, im->left_out[LEFT_FLUSH]++, OTF2_TimeStamp until) \
	ROW(OmpFork, im->left_out[LEFT_FORK]++, uint32_t threads) \
	ROW(OmpJoin, im->left_out[LEFT_FORK]++) \
	ROW(OmpAcquireLock, im->left_out[LEFT_LOCK]++, uint32_t lock, uint32_t order) \
	ROW(OmpReleaseLock, im->left_out[LEFT_LOCK]++, uint32_t lock, uint32_t order) \
	ROW(OmpTaskCreate, im->left_out[LEFT_TASK]++, uint64_t task) \
	ROW(OmpTaskSwitch, im->left_out[LEFT_TASK]++, uint64_t task) \
	ROW(OmpTaskComplete, im->left_out[LEFT_TASK]++, uint64_t task) \
	ROW(ThreadFork, im->left_out[LEFT_FORK]++, OTF2_Paradigm model, uint32_t threads) \
	ROW(ThreadJoin, im->left_out[LEFT_FORK]++, OTF2_Paradigm model) \
	ROW(ThreadTeamBegin, im->left_out[LEFT_TEAM]++, OTF2_CommRef team) \
	ROW(ThreadTeamEnd, im->left_out[LEFT_TEAM]++, OTF2_CommRef team) \
	ROW(ThreadAcquireLock, im->left_out[LEFT_LOCK]++, OTF2_Paradigm model, uint32_t lock, \
		uint32_t order) \
	ROW(ThreadReleaseLock, im->left_out[LEFT_LOCK]++, OTF2_Paradigm model, uint32_t lock, \
		uint32_t order) \
	ROW(ThreadTaskCreate, im->left_out[LEFT_TASK]++, OTF2_CommRef team, uint32_t thread, \
		uint32_t generation) \
	ROW(ThreadTaskSwitch, im->left_out[LEFT_TASK]++, OTF2_CommRef team, uint32_t thread, \
		uint32_t generation) \
	ROW(ThreadTaskComplete, im->left_out[LEFT_TASK]++, OTF2_CommRef team, uint32_t thread, \
		uint32_t generation) \
	ROW(ThreadCreate, im->left_out[LEFT_THREAD]++, OTF2_CommRef contingent, uint64_t sequence) \
	ROW(ThreadBegin, im->left_out[LEFT_THREAD]++, OTF2_CommRef contingent, uint64_t sequence) \
	ROW(ThreadWait, im->left_out[LEFT_THREAD]++, OTF2_CommRef contingent, uint64_t sequence) \
	ROW(ThreadEnd, im->left_out[LEFT_THREAD]++, OTF2_CommRef contingent, uint64_t sequence) \
	ROW(RmaRequestLock, im->left_out[LEFT_LOCK]++, OTF2_RmaWinRef window, uint32_t rank, uint64_t lock, \
		OTF2_LockType type) \
	ROW(RmaTryLock, im->left_out[LEFT_LOCK]++, OTF2_RmaWinRef window, uint32_t rank, uint64_t lock, \
		OTF2_LockType type) \
	ROW(IoCreateHandle, im->left_out[LEFT_IO]++, OTF2_IoHandleRef file, OTF2_IoAccessMode mode, \
		OTF2_IoCreationFlag creation, OTF2_IoStatusFlag status) \
	ROW(IoDestroyHandle, im->left_out[LEFT_IO]++, OTF2_IoHandleRef file) \
	ROW(IoDuplicateHandle, im->left_out[LEFT_IO]++, OTF2_IoHandleRef from, OTF2_IoHandleRef to, \
		OTF2_IoStatusFlag status) \
	ROW(IoSeek, im->left_out[LEFT_IO]++, OTF2_IoHandleRef file, int64_t request, \
		OTF2_IoSeekOption whence, uint64_t result) \
	ROW(IoChangeStatusFlags, im->left_out[LEFT_IO]++, OTF2_IoHandleRef file, OTF2_IoStatusFlag status) \
	ROW(IoDeleteFile, im->left_out[LEFT_IO]++, OTF2_IoParadigmRef paradigm, OTF2_IoFileRef file) \
	ROW(IoOperationTest, im->left_out[LEFT_IO]++, OTF2_IoHandleRef file, uint64_t matching) \
	ROW(IoOperationIssued, im->left_out[LEFT_IO]++, OTF2_IoHandleRef file, uint64_t matching) \
	ROW(IoAcquireLock, im->left_out[LEFT_LOCK]++, OTF2_IoHandleRef file, OTF2_LockType type) \
	ROW(IoReleaseLock, im->left_out[LEFT_LOCK]++, OTF2_IoHandleRef file, OTF2_LockType type) \
	ROW(IoTryLock, im->left_out[LEFT_LOCK]++, OTF2_IoHandleRef file, OTF2_LockType type)

SHOWN(DEFINE_CALLBACK)
LEFT_OUT(DEFINE_CALLBACK)

OTF2_EvtReaderCallbacks *import_callbacks(void)
{
	OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();

	if (!callbacks)
		return NULL;
	SHOWN(SET_CALLBACK);
	LEFT_OUT(SET_CALLBACK);
	import_set_mpi(callbacks);
	return callbacks;
}

/* Definitions of metrics, counters of the program, and what interrupted it. */
#include <stdio.h>

#include "launch/metrics.h"
#include "converters/otf2/defs.h"

static OTF2_MetricType type_of(uint64_t kind)
{
	switch ((enum metric_kind)kind) {
	case METRIC_OF_PERF:
		return OTF2_METRIC_TYPE_PAPI;
	case METRIC_OF_RUSAGE:
		return OTF2_METRIC_TYPE_RUSAGE;
	case METRIC_OF_USER:
		return OTF2_METRIC_TYPE_USER;
	default:
		return OTF2_METRIC_TYPE_OTHER;
	}
}

static OTF2_MetricMode mode_of(const struct otf2_member *member)
{
	if (member->level)
		return OTF2_METRIC_ABSOLUTE_POINT;
	return member->real ? OTF2_METRIC_ABSOLUTE_LAST : OTF2_METRIC_ACCUMULATED_START;
}

/* "#" is OTF2's word for plain numbers. */
static uint32_t unit_of(struct defs *d, const char *unit, bool rate)
{
	char text[80];

	snprintf(text, sizeof(text), "%.70s%s", *unit ? unit : "#", rate ? "/s" : "");
	return otf2_string(d, text);
}

static void define_members(struct defs *d)
{
	const struct otf2_member *members = d->o->members.rows;
	const struct otf2_counter *counters = d->o->counters.rows;
	uint32_t count = (uint32_t)d->o->members.count;

	for (uint32_t i = 0; i < count; i++)
		DEFINE(d, MetricMember, i, otf2_string(d, members[i].name), otf2_string(d, members[i].text),
			type_of(members[i].kind), mode_of(&members[i]),
			members[i].real ? OTF2_TYPE_DOUBLE : OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, 0,
			unit_of(d, members[i].unit, members[i].real));
	for (uint32_t i = 0; i < d->o->counters.count; i++) {
		DEFINE(d, MetricMember, count + i, otf2_string(d, counters[i].name),
			otf2_string(d, "counter of the program"), OTF2_METRIC_TYPE_USER,
			OTF2_METRIC_ABSOLUTE_POINT, counters[i].real ? OTF2_TYPE_DOUBLE : OTF2_TYPE_INT64,
			OTF2_BASE_DECIMAL, 0, unit_of(d, counters[i].unit, false));
	}
}

static void define_classes(struct defs *d)
{
	struct otf2 *o = d->o;
	uint32_t next = 0;

	for (size_t i = 0; i < o->process_count; i++)
		for (unsigned set = 0; set < 2; set++) {
			const struct otf2_metrics *metrics = &o->processes[i].metrics[set];

			if (!metrics->count || metrics->class_ref < next)
				continue;
			DEFINE(d, MetricClass, metrics->class_ref, (uint8_t)metrics->count, metrics->member,
				OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
			next = metrics->class_ref + 1;
		}
	for (size_t i = 0; i < o->location_count; i++) {
		const struct otf2_location *location = &o->locations[i];

		if (location->shared_metrics != NO_REF)
			DEFINE(d, MetricInstance, location->shared_metrics,
				location->process->metrics[1].class_ref, i, OTF2_SCOPE_LOCATION_GROUP,
				location->process->ref);
	}
	for (uint32_t i = 0; i < o->counters.count; i++) {
		uint32_t member = (uint32_t)o->members.count + i;

		DEFINE(d, MetricClass, o->metric_count + i, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
			OTF2_RECORDER_KIND_CPU);
	}
}

void otf2_define_numbers(struct defs *d)
{
	const struct otf2_generator *generators = d->o->generators.rows;

	define_members(d);
	define_classes(d);
	for (uint32_t i = 0; i < d->o->generators.count; i++)
		DEFINE(d, InterruptGenerator, i, otf2_string(d, generators[i].name),
			generators[i].count ? OTF2_INTERRUPT_GENERATOR_MODE_COUNT
					    : OTF2_INTERRUPT_GENERATOR_MODE_TIME,
			OTF2_BASE_DECIMAL, generators[i].count ? 0 : -9, generators[i].period);
}

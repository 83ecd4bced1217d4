/* Numbers of a location: metrics, counters of the program, and its markers. */
#include "converters/otf2/events.h"

struct known_counter {
	const char *name, *unit; /* the experiment's */
	uint64_t real, ref; /* ref: metric class + 1 */
};

static void write_set(struct writer *w, const struct otf2_metrics *set, uint32_t ref, const int64_t *values,
	uint64_t *last_time)
{
	bool rates = w->o->job->counters == CONVERT_RATE;
	OTF2_MetricValue out[16];

	if (rates && w->time <= *last_time)
		return; /* what has grown meanwhile is in the next rate */
	for (uint32_t i = 0; i < set->count; i++) {
		int64_t value = values[set->index[i]], *last = &w->last[set->index[i]];

		if (rates && !set->level[i]) {
			out[i].floating_point = convert_rate(*last, value, w->time - *last_time);
			*last = value;
		} else {
			out[i].signed_int = value;
		}
	}
	*last_time = w->time;
	WRITE(w, Metric, NULL, w->time, ref, (uint8_t)set->count, set->type, out);
}

void otf2_write_metrics(struct writer *w, const int64_t *values)
{
	const struct otf2_metrics *sets = w->location->process->metrics;

	if (!values)
		return;
	if (sets[0].count)
		write_set(w, &sets[0], sets[0].class_ref, values, &w->last_time[0]);
	if (sets[1].count)
		write_set(w, &sets[1], w->location->shared_metrics, values, &w->last_time[1]);
}

int otf2_write_counter(struct writer *w, const struct hyb_event *event)
{
	OTF2_Type type = event->is_double ? OTF2_TYPE_DOUBLE : OTF2_TYPE_INT64;
	struct known_counter *row, key = {event->text, event->unit, event->is_double, 0};
	OTF2_MetricValue value;

	row = row_map_row(&w->counters, &key);
	if (!row)
		return HYB_ENOMEM;
	if (!row->ref) {
		uint32_t ref = otf2_counter_ref(w->o, event->text, event->unit, event->is_double);

		if (ref == NO_REF)
			return HYB_ENOMEM;
		row->ref = (uint64_t)ref + 1;
	}
	if (event->is_double)
		value.floating_point = event->value.real;
	else
		value.signed_int = event->value.integer;
	WRITE(w, Metric, NULL, w->time, (uint32_t)row->ref - 1, 1, &type, &value);
	return 0;
}

int otf2_write_marker(struct writer *w, const struct hyb_event *event)
{
	struct otf2 *o = w->o;

	pthread_mutex_lock(&o->lock);
	if (!o->markers) {
		o->markers = OTF2_Archive_GetMarkerWriter(o->archive);
		w->bad |= !o->markers || OTF2_MarkerWriter_WriteDefMarker(o->markers, 0, "Hybrid", "Marker",
						 OTF2_SEVERITY_NONE) != OTF2_SUCCESS;
	}
	if (o->markers)
		w->bad |= OTF2_MarkerWriter_WriteMarker(o->markers, event->time, 0, 0,
				  OTF2_MARKER_SCOPE_LOCATION, (uint64_t)(w->location - o->locations),
				  event->text) != OTF2_SUCCESS;
	o->marker_count++;
	pthread_mutex_unlock(&o->lock);
	return 0;
}

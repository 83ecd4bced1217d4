/* The quality block for scripts: every count, also those that are 0. */
#include "base/status.h"
#include "format/words.h"
#include "format/format.h"
#include "quality/facts.h"
#include "quality/matching.h"

void quality_json_reasons(struct json *json, const char *key, const uint64_t *counts, unsigned first,
	unsigned count, const struct words *words)
{
	json_object(json, key);
	for (unsigned i = first; i < count; i++)
		json_number(json, word_key(words, i), counts[i]);
	json_end(json);
}

static void put_experiments(struct json *json, const struct quality *quality)
{
	json_array(json, "experiments");
	for (size_t i = 0; i < quality->count; i++) {
		struct hyb_experiment *e = quality->items[i].experiment;
		const char *command = hyb_experiment_value(e, "command");
		const char *status = hyb_experiment_value(e, "status");

		json_object(json, NULL);
		json_text(json, "path", hyb_experiment_path(e));
		json_text(json, "command", command ? command : "");
		json_text(json, "status", status ? status : "");
		quality_json_died(json, e);
		json_end(json);
	}
	json_end(json);
}

static void put_sampling(struct json *json, const struct profile_quality *q)
{
	json_number(json, "samples", q->samples);
	json_number(json, "taken", q->taken);
	quality_json_reasons(json, "dropped", q->dropped, 0, HYB_DROP_COUNT, &words_drop);
	quality_json_reasons(
		json, "partial", q->partial, HYB_PARTIAL_NO_RULE, HYB_PARTIAL_COUNT, &words_partial);
	json_number(json, "frames", q->frames);
	json_number(json, "frames_guessed", q->guessed);
	json_number(json, "rate_wanted", q->rate);
	json_fixed(json, "rate_achieved", q->achieved, 3);
	json_array(json, "sources");
	for (unsigned s = 0; s < 32; s++)
		if (q->sources & (1u << s))
			json_text(json, NULL, word_key(&words_source, s));
	json_end(json);
	json_number(json, "rate_lowered", q->slowed);
	json_number(json, "handler_ns", q->handler_time);
}

static void put_probes(struct json *json, const struct profile_quality *q)
{
	json_number(json, "probe_calls", q->probe_calls);
	json_number(json, "probe_ns", q->probe_time);
	quality_json_cost(json, q);
	json_number(json, "demoted_nodes", q->demoted_nodes);
	json_number(json, "skipped_calls", q->skipped_calls);
	json_number(json, "open_regions", q->open_regions);
	json_number(json, "regions_lost", q->regions_lost);
	json_number(json, "names_cut", q->names_cut);
	json_number(json, "threads_lost", q->threads_lost);
	quality_json_reasons(json, "faults", q->faults, 0, HYB_FAULT_COUNT, &words_fault);
	json_number(json, "trace_bytes", q->trace_bytes);
	json_number(json, "file_bytes", q->file_bytes);
	json_number(json, "trace_events", q->events);
	json_number(json, "trace_events_lost", q->events_lost);
	json_number(json, "trace_stopped_ns", q->trace_stopped);
}

static void put_unresolved(struct json *json, const struct profile *profile)
{
	size_t count;
	const struct profile_unresolved *rows = profile_unresolved(profile, &count);

	json_array(json, "unresolved");
	for (size_t i = 0; i < count; i++) {
		json_object(json, NULL);
		json_text(json, "module", rows[i].module);
		json_number(json, "addresses", rows[i].addresses);
		json_number(json, "samples", rows[i].samples);
		json_end(json);
	}
	json_end(json);
}

static void put_python(struct json *json, const struct facts *facts, const struct profile_quality *q)
{
	json_object(json, "python");
	json_array(json, "versions");
	for (size_t i = 0; i < facts->pythons.count; i++) {
		json_object(json, NULL);
		json_text(json, "text", facts->pythons.list[i].text);
		json_number(json, "programs", facts->pythons.list[i].count);
		json_end(json);
	}
	json_end(json);
	for (unsigned i = 0; i < HYB_PYTHON_COUNT; i++)
		json_number(json, word_key(&words_python, i), q->python[i]);
	json_number(json, "gil_waits", q->gil_waits);
	json_number(json, "gil_wait_ns", q->gil_wait);
	json_end(json);
}

static void put_paths(struct json *json, const char *name, const struct fact_list *paths)
{
	json_array(json, name);
	for (size_t i = 0; i < paths->count; i++)
		json_text(json, NULL, paths->list[i].text);
	json_end(json);
}

static void put_facts(struct json *json, const struct facts *facts, const struct profile_quality *q)
{
	char status[STATUS_SIZE];

	if (facts->pythons.count)
		put_python(json, facts, q);
	json_number(json, "killed", facts->killed);
	json_text(json, "killed_by", facts->signal > 0 ? status_text(facts->signal, status) : "");
	json_number(json, "running", facts->running);
	json_number(json, "replaced", facts->replaced);
	json_number(json, "stopped", facts->stopped);
	put_paths(json, "changed", &facts->changed);
	put_paths(json, "gone", &facts->gone);
	json_array(json, "notes");
	for (size_t i = 0; i < facts->notes.count; i++) {
		json_object(json, NULL);
		json_text(json, "severity", word_key(&words_severity, facts->notes.list[i].severity));
		json_text(json, "text", facts->notes.list[i].text);
		json_number(json, "processes", facts->notes.list[i].count);
		json_end(json);
	}
	json_end(json);
}

static void put_damage(struct json *json, const struct facts *facts, const struct profile_quality *q)
{
	json_number(json, "damage", q->damage);
	json_array(json, "damage_texts");
	for (size_t e = 0; e < facts->experiment_count; e++)
		for (size_t i = 0; i < facts->damage[e].text_count; i++)
			json_text(json, NULL, facts->damage[e].texts[i]);
	json_end(json);
}

void quality_json(
	struct json *json, const char *key, const struct quality *quality, const struct profile *profile)
{
	const struct profile_quality *q = profile_quality(profile);

	json_line(json);
	json_object(json, key);
	put_experiments(json, quality);
	json_number(json, "processes", q->processes);
	json_number(json, "programs", q->programs);
	json_number(json, "threads", q->locations);
	json_number(json, "wall_ns", q->wall);
	json_number(json, "thread_wall_ns", q->thread_wall);
	json_number(json, "cpu_ns", q->cpu);
	json_number(json, "blocked_ns", q->blocked);
	json_number(json, "ready_ns", q->ready);
	json_object(json, "waits_ns");
	for (unsigned i = 0; i < PROFILE_WAITS; i++)
		json_number(json, word_key(&profile_wait_words, i), q->waits[i]);
	json_end(json);
	put_sampling(json, q);
	put_probes(json, q);
	put_unresolved(json, profile);
	quality_json_mpi(json, profile);
	quality_json_matching(json, quality);
	put_facts(json, quality->facts, q);
	put_damage(json, quality->facts, q);
	quality_json_account(json, &quality->facts->account);
	json_end(json);
}

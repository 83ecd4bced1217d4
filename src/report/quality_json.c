/* The quality block for scripts: every count, also those that are 0. */
#include <inttypes.h>

#include "format/words.h"
#include "base/json.h"
#include "format/format.h"
#include "facts.h"
#include "matching.h"

static void put_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ",\"%s\":%" PRIu64, key, value);
}

static void put_reasons(FILE *out, const char *key, const uint64_t *counts, unsigned first, unsigned count,
	const struct words *words)
{
	fprintf(out, ",\"%s\":{", key);
	for (unsigned i = first; i < count; i++)
		fprintf(out, "%s\"%s\":%" PRIu64, i > first ? "," : "", word_key(words, i), counts[i]);
	fputc('}', out);
}

static void put_experiments(FILE *out, const struct report_inputs *inputs)
{
	fputs("\"experiments\":[", out);
	for (size_t i = 0; i < inputs->count; i++) {
		struct hyb_experiment *e = inputs->items[i].experiment;
		const char *command = hyb_experiment_value(e, "command");
		const char *status = hyb_experiment_value(e, "status");

		fputs(i ? ",{\"path\":" : "{\"path\":", out);
		json_string(out, hyb_experiment_path(e));
		fputs(",\"command\":", out);
		json_string(out, command ? command : "");
		fputs(",\"status\":", out);
		json_string(out, status ? status : "");
		report_json_died(out, e);
		fputc('}', out);
	}
	fputc(']', out);
}

static void put_sampling(FILE *out, const struct profile_quality *q)
{
	const char *comma = "";

	put_number(out, "samples", q->samples);
	put_number(out, "taken", q->taken);
	put_reasons(out, "dropped", q->dropped, 0, HYB_DROP_COUNT, &words_drop);
	put_reasons(out, "partial", q->partial, HYB_PARTIAL_NO_RULE, HYB_PARTIAL_COUNT, &words_partial);
	put_number(out, "frames", q->frames);
	put_number(out, "frames_guessed", q->guessed);
	put_number(out, "rate_wanted", q->rate);
	fprintf(out, ",\"rate_achieved\":%.3f,\"sources\":[", q->achieved);
	for (unsigned s = 0; s < 32; s++) {
		if (!(q->sources & (1u << s)))
			continue;
		fprintf(out, "%s\"%s\"", comma, word_key(&words_source, s));
		comma = ",";
	}
	fputc(']', out);
	put_number(out, "rate_lowered", q->slowed);
	put_number(out, "handler_ns", q->handler_time);
}

static void put_probes(FILE *out, const struct profile_quality *q)
{
	put_number(out, "probe_calls", q->probe_calls);
	put_number(out, "probe_ns", q->probe_time);
	report_json_quality_cost(out, q);
	put_number(out, "demoted_nodes", q->demoted_nodes);
	put_number(out, "skipped_calls", q->skipped_calls);
	put_number(out, "open_regions", q->open_regions);
	put_number(out, "regions_lost", q->regions_lost);
	put_number(out, "names_cut", q->names_cut);
	put_number(out, "threads_lost", q->threads_lost);
	put_reasons(out, "faults", q->faults, 0, HYB_FAULT_COUNT, &words_fault);
	put_number(out, "trace_bytes", q->trace_bytes);
	put_number(out, "file_bytes", q->file_bytes);
	put_number(out, "trace_events", q->events);
	put_number(out, "trace_events_lost", q->events_lost);
	put_number(out, "trace_stopped_ns", q->trace_stopped);
}

static void put_unresolved(FILE *out, const struct profile *profile)
{
	size_t count;
	const struct profile_unresolved *rows = profile_unresolved(profile, &count);

	fputs(",\"unresolved\":[", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",{\"module\":" : "{\"module\":", out);
		json_string(out, rows[i].module);
		put_number(out, "addresses", rows[i].addresses);
		put_number(out, "samples", rows[i].samples);
		fputc('}', out);
	}
	fputc(']', out);
}

static void put_python(FILE *out, const struct facts *facts, const struct profile_quality *q)
{
	fputs(",\"python\":{\"versions\":[", out);
	for (size_t i = 0; i < facts->python_count; i++) {
		fputs(i ? ",{\"text\":" : "{\"text\":", out);
		json_string(out, facts->pythons[i].text);
		put_number(out, "programs", facts->pythons[i].programs);
		fputc('}', out);
	}
	fputc(']', out);
	for (unsigned i = 0; i < HYB_PYTHON_COUNT; i++)
		put_number(out, word_key(&words_python, i), q->python[i]);
	put_number(out, "gil_waits", q->gil_waits);
	put_number(out, "gil_wait_ns", q->gil_wait);
	fputc('}', out);
}

static void put_facts(FILE *out, const struct facts *facts, const struct profile_quality *q)
{
	if (facts->python_count)
		put_python(out, facts, q);
	put_number(out, "killed", facts->killed);
	put_number(out, "running", facts->running);
	put_number(out, "replaced", facts->replaced);
	put_number(out, "stopped", facts->stopped);
	fputs(",\"changed\":[", out);
	for (size_t i = 0; i < facts->changed_count; i++) {
		fputs(i ? "," : "", out);
		json_string(out, facts->changed[i]);
	}
	fputs("],\"notes\":[", out);
	for (size_t i = 0; i < facts->note_count; i++) {
		fprintf(out, "%s{\"severity\":\"%s\",\"text\":", i ? "," : "",
			word_key(&words_severity, facts->notes[i].severity));
		json_string(out, facts->notes[i].text);
		put_number(out, "processes", facts->notes[i].processes);
		fputc('}', out);
	}
	fputc(']', out);
}

static void put_damage(FILE *out, const struct facts *facts, const struct profile_quality *q)
{
	const char *comma = "";

	put_number(out, "damage", q->damage);
	fputs(",\"damage_texts\":[", out);
	for (size_t e = 0; e < facts->experiment_count; e++) {
		for (size_t i = 0; i < facts->damage[e].text_count; i++) {
			fputs(comma, out);
			json_string(out, facts->damage[e].texts[i]);
			comma = ",";
		}
	}
	fputc(']', out);
}

void report_json_quality(
	FILE *out, const char *key, const struct report_inputs *inputs, const struct profile *profile)
{
	const struct profile_quality *q = profile_quality(profile);

	fprintf(out, ",\n\"%s\":{", key);
	put_experiments(out, inputs);
	put_number(out, "processes", q->processes);
	put_number(out, "programs", q->programs);
	put_number(out, "threads", q->locations);
	put_number(out, "wall_ns", q->wall);
	put_number(out, "thread_wall_ns", q->thread_wall);
	put_number(out, "cpu_ns", q->cpu);
	put_number(out, "blocked_ns", q->blocked);
	put_sampling(out, q);
	put_probes(out, q);
	put_unresolved(out, profile);
	report_json_quality_mpi(out, profile);
	report_json_quality_matching(out, inputs);
	put_facts(out, inputs->facts, q);
	put_damage(out, inputs->facts, q);
	report_json_account(out, &inputs->facts->account);
	fputc('}', out);
}

#include "tools/report_facts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "format/format.h"

struct words {
	const char *key, *text;
};

static const struct words sources[] = {
	[HYB_SOURCE_NONE] = {"none", "no sampling"},
	[HYB_SOURCE_CPU_TIMER] = {"cpu_timer", "CPU timer"},
	[HYB_SOURCE_TASK_CLOCK] = {"task_clock", "perf task clock"},
	[HYB_SOURCE_TIMER] = {"timer", "timer"},
	[HYB_SOURCE_WALL] = {"wall", "wall-clock timer"},
};

static const struct words drops[] = {
	[HYB_DROP_IN_PROBE] = {"in_probe", "inside the measurement itself"},
	[HYB_DROP_NO_SPACE] = {"no_space", "no space left"},
	[HYB_DROP_PAUSED] = {"paused", "while paused"},
	[HYB_DROP_IDLE] = {"idle", "the thread had not run"},
	[HYB_DROP_STOPPED] = {"stopped", "the measurement had ended"},
};

static const struct words partials[] = {
	[0] = {"unknown", "no reason given"},
	[HYB_PARTIAL_NO_RULE] = {"no_rule", "code without unwind information"},
	[HYB_PARTIAL_BAD_STACK] = {"bad_stack", "the stack leads nowhere"},
	[HYB_PARTIAL_TOO_DEEP] = {"too_deep", "more frames than are followed"},
};

static const struct words faults[] = {
	[HYB_FAULT_NOT_ENTERED] = {"not_entered", "left without being entered"},
	[HYB_FAULT_NOT_LEFT] = {"not_left", "not left before the region around it"},
	[HYB_FAULT_TOO_DEEP] = {"too_deep", "nested too deeply to follow"},
	[HYB_FAULT_NESTED] = {"nested", "in a signal handler that interrupted a probe"},
	[HYB_FAULT_NO_SPACE] = {"no_space", "no space left"},
	[HYB_FAULT_TOO_MANY] = {"too_many", "on call paths after the first million"},
};

static const struct words pythons[] = {
	[HYB_PYTHON_WOVEN] = {"woven", "with Python frames"},
	[HYB_PYTHON_LOST] = {"lost", "whose outer Python frames are missing"},
	[HYB_PYTHON_UNMATCHED] = {"unmatched", "whose Python frames are not on the native stack"},
	[HYB_PYTHON_RELEASED] = {"released", "of native code without the GIL"},
};

static const struct words severities[] = {
	[HYB_NOTE_INFO] = {"information", ""},
	[HYB_NOTE_WARNING] = {"warning", ""},
	[HYB_NOTE_ERROR] = {"error", ""},
};

#define WORD(table_, i_, field_, else_) \
	((i_) < sizeof(table_) / sizeof(*(table_)) && (table_)[i_].field_ ? (table_)[i_].field_ : (else_))

const char *facts_source_key(unsigned source)
{
	return WORD(sources, source, key, "unknown");
}

const char *facts_source_text(unsigned source)
{
	return WORD(sources, source, text, "a source that this version does not know");
}

const char *facts_drop_key(unsigned reason)
{
	return WORD(drops, reason, key, "unknown");
}

const char *facts_drop_text(unsigned reason)
{
	return WORD(drops, reason, text, "a reason that this version does not know");
}

const char *facts_partial_key(unsigned reason)
{
	return WORD(partials, reason, key, "unknown");
}

const char *facts_partial_text(unsigned reason)
{
	return WORD(partials, reason, text, "a reason that this version does not know");
}

const char *facts_fault_key(unsigned fault)
{
	return WORD(faults, fault, key, "unknown");
}

const char *facts_fault_text(unsigned fault)
{
	return WORD(faults, fault, text, "a reason that this version does not know");
}

const char *facts_python_key(unsigned outcome)
{
	return WORD(pythons, outcome, key, "unknown");
}

const char *facts_python_text(unsigned outcome)
{
	return WORD(pythons, outcome, text, "of a kind that this version does not know");
}

const char *facts_severity_key(unsigned severity)
{
	return WORD(severities, severity, key, "unknown");
}

/* Whether the next image of this process is in the experiment. */
static bool went_on(const struct hyb_process *process)
{
	for (size_t i = 0; i < hyb_process_count(process->experiment); i++) {
		const struct hyb_process *other = hyb_process_at(process->experiment, i);

		if (other->pid == process->pid && other->image > process->image &&
			!strcmp(other->host, process->host))
			return true;
	}
	return false;
}

/* A process of this machine that does not exist any more; of others it is not known. */
static bool is_gone(const struct hyb_process *process)
{
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	return strcmp(host, process->host) || (kill((pid_t)process->pid, 0) && errno == ESRCH);
}

static void count_state(const struct hyb_process *process, struct facts *facts)
{
	switch (process->state) {
	case HYB_STATE_RUNNING:
		if (is_gone(process))
			facts->killed++;
		else
			facts->running++;
		break;
	case HYB_STATE_EXEC:
		facts->replaced += !went_on(process);
		break;
	case HYB_STATE_STOPPED:
		facts->stopped++;
		break;
	}
}

static bool is_changed(const struct hyb_module *module)
{
	struct stat st;

	if (*module->path != '/' || !module->file_size)
		return false;
	if (stat(module->path, &st))
		return errno == ENOENT;
	return (uint64_t)st.st_size != module->file_size || (module->mtime && st.st_mtime != module->mtime);
}

static int gather_changed(const struct hyb_process *process, struct facts *facts)
{
	for (size_t m = 0; m < process->module_count; m++) {
		const char *path = process->modules[m].path;
		size_t i = 0;

		while (i < facts->changed_count && strcmp(facts->changed[i], path))
			i++;
		if (i < facts->changed_count || !is_changed(&process->modules[m]))
			continue;
		if (!ARRAY_ROOM(facts->changed, facts->changed_count))
			return HYB_ENOMEM;
		facts->changed[facts->changed_count++] = path;
	}
	return 0;
}

static bool has_note(const struct hyb_process *process, size_t count, const char *text)
{
	for (size_t n = 0; n < count; n++)
		if (!strcmp(process->notes[n].text, text))
			return true;
	return false;
}

/* Whether this process said it before: in the same program, or in one that an exec replaced. */
static bool is_repeated(const struct hyb_process *process, size_t n)
{
	const char *text = process->notes[n].text;

	if (has_note(process, n, text))
		return true;
	for (size_t i = 0; process->image && i < hyb_process_count(process->experiment); i++) {
		const struct hyb_process *other = hyb_process_at(process->experiment, i);

		if (other->pid == process->pid && other->image < process->image &&
			!strcmp(other->host, process->host) && has_note(other, other->note_count, text))
			return true;
	}
	return false;
}

static int gather_notes(const struct hyb_process *process, struct facts *facts)
{
	for (size_t n = 0; n < process->note_count; n++) {
		const struct hyb_note *note = &process->notes[n];
		size_t i = 0;

		while (i < facts->note_count && strcmp(facts->notes[i].note->text, note->text))
			i++;
		if (i == facts->note_count) {
			if (!ARRAY_ROOM(facts->notes, facts->note_count))
				return HYB_ENOMEM;
			facts->notes[facts->note_count++] = (struct fact_note){.note = note};
		}
		facts->notes[i].processes += !is_repeated(process, n);
	}
	return 0;
}

static int gather_python(const struct hyb_process *process, struct facts *facts)
{
	for (size_t m = 0; m < process->metadata_count; m++) {
		const struct hyb_text_pair *pair = &process->metadata[m];
		size_t i = 0;

		if (strcmp(pair->key, "hybrid.python"))
			continue;
		while (i < facts->python_count && strcmp(facts->pythons[i].text, pair->value))
			i++;
		if (i == facts->python_count) {
			if (!ARRAY_ROOM(facts->pythons, facts->python_count))
				return HYB_ENOMEM;
			facts->pythons[facts->python_count++] = (struct fact_python){.text = pair->value};
		}
		facts->pythons[i].programs++;
	}
	return 0;
}

static int compare_notes(const void *pa, const void *pb)
{
	const struct hyb_note *a = ((const struct fact_note *)pa)->note;
	const struct hyb_note *b = ((const struct fact_note *)pb)->note;

	if (a->severity != b->severity)
		return a->severity < b->severity ? 1 : -1;
	return strcmp(a->text, b->text);
}

static bool takes_part(const struct report_options *options, const struct hyb_process *process)
{
	if (!options->process && !options->thread)
		return true;
	for (size_t i = 0; i < process->location_count; i++)
		if (report_is_selected((void *)options, &process->locations[i]))
			return true;
	return false;
}

int facts_gather(const struct report_inputs *inputs, struct facts *ret_facts)
{
	struct facts facts = {0};
	int r = 0;

	for (size_t e = 0; e < inputs->count; e++) {
		struct hyb_experiment *experiment = inputs->items[e].experiment;

		for (size_t i = 0; !r && i < hyb_process_count(experiment); i++) {
			const struct hyb_process *process = hyb_process_at(experiment, i);

			if (!takes_part(inputs->options, process))
				continue;
			count_state(process, &facts);
			r = gather_changed(process, &facts);
			if (!r)
				r = gather_notes(process, &facts);
			if (!r)
				r = gather_python(process, &facts);
		}
	}
	if (r) {
		facts_release(&facts);
		return r;
	}
	if (facts.note_count)
		qsort(facts.notes, facts.note_count, sizeof(*facts.notes), compare_notes);
	*ret_facts = facts;
	return 0;
}

void facts_release(struct facts *facts)
{
	free(facts->changed);
	free(facts->notes);
	free(facts->pythons);
	*facts = (struct facts){0};
}

/* What the numbers of the quality block are called. */
#include "facts.h"

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
	[HYB_SOURCE_EVENT] = {"event", "overflow of a metric"},
};

static const struct words drops[] = {
	[HYB_DROP_IN_PROBE] = {"in_probe", "inside the measurement itself"},
	[HYB_DROP_NO_SPACE] = {"no_space", "no space left"},
	[HYB_DROP_PAUSED] = {"paused", "while paused"},
	[HYB_DROP_IDLE] = {"idle", "the thread had not run"},
	[HYB_DROP_STOPPED] = {"stopped", "the measurement had ended"},
	[HYB_DROP_NO_STACK] = {"no_stack", "the stack was nearly full"},
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

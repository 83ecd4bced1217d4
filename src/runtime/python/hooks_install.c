/* Setting the hook: what it takes of the interpreter, in which interpreters, and what a call costs then. */
#include <pthread.h>
#include <stdlib.h>

#include "hooks.h"
#include "recursion.h"
#include "runtime/memory.h"
#include "runtime/probe/calibrate.h"
#include "runtime/store.h"
#include "runtime/sys.h"

/* 3.8 has no functions for it. */
static void *get_member(void *interpreter)
{
	return *(void **)((char *)interpreter + python_layout()->interp_eval_frame);
}

static void set_member(void *interpreter, void *function)
{
	*(void **)((char *)interpreter + python_layout()->interp_eval_frame) = function;
}

/* Under the name that it has from 3.12 on, or the one before. */
static void *find(const char *name, const char *old_name)
{
	uintptr_t address = python_symbol(name, NULL);

	return (void *)(address || !old_name ? address : python_symbol(old_name, NULL));
}

/* Warm calls that are run in the caller's evaluation although there is a hook (python/cpython issue 104405).
 */
static const char *find_unseen(unsigned version)
{
	const unsigned long *whole = (const unsigned long *)python_symbol("Py_Version", NULL);

	if (version == 0x030d)
		return "this version of CPython runs __init__ inside of its caller once a call "
		       "is warm: those calls are not counted, samples show them";
	if (version == 0x030b && whole && *whole < 0x030b0400)
		return "this version of CPython (before 3.11.4) runs __getitem__ inside of its caller "
		       "once it is warm: those calls are not counted, samples show them";
	return NULL;
}

/*
 * Whether -X perf is asked for: the interpreter then sets an evaluation function of its own while it
 * starts, ends if there is another one, and forgets perf in a forked child if there is one later.
 */
static bool wants_perf(unsigned version)
{
	char text[8192];
	size_t size = version < 0x030c ? 0 : sys_command_line(text, sizeof(text));

	if (version >= 0x030c && getenv("PYTHONPERFSUPPORT"))
		return true;
	for (const char *p = text; p < text + size; p += strlen(p) + 1)
		if (!strncmp(p, "-Xperf", 6) || (p > text && !strncmp(p, "perf", 4) && p[-2] == 'X'))
			return true;
	return false;
}

/*
 * What a hook takes per call, the interpreter's part with it, cannot be measured without running Python code.
 * It is so many tenths of a call of a demoted region (for a timed one: beside what probes take), as was
 * measured on whole programs; see docs/decisions.md.
 */
static const struct hook_cost {
	uint16_t version; /* and those before */
	int16_t timed, skipped, left_out;
} hook_costs[] = {
	{0x030a, -2, 8, 2},
	{0x030b, 2, 13, 6},
	{0x030c, 4, 15, 9},
	{UINT16_MAX, 6, 15, 10},
};

void hooks_find(void)
{
	const struct python_layout *l = python_layout();

	if (rt.set.python != PYTHON_HOOKS || !l || hooks.standard || wants_perf(l->version))
		return;
	hooks.frame_code = l->frame.code;
	hooks.frame_owner = l->frame.owner;
	hooks.code_extra = l->code.extra;
	if (l->thread.c_recursion)
		recursion_find();
	hooks.own = hooks_function(l);
	hooks.get = l->interp_eval_frame
			    ? get_member
			    : (void *(*)(void *))find("_PyInterpreterState_GetEvalFrameFunc", NULL);
	hooks.set = l->interp_eval_frame
			    ? set_member
			    : (void (*)(void *, void *))find("_PyInterpreterState_SetEvalFrameFunc", NULL);
	hooks.request_index = (int64_t(*)(void (*)(void *)))find(
		"PyUnstable_Eval_RequestCodeExtraIndex", "_PyEval_RequestCodeExtraIndex");
	hooks.set_word =
		(int (*)(void *, int64_t, void *))find("PyUnstable_Code_SetExtra", "_PyCode_SetExtra");
	hooks.allocate = (void *(*)(size_t))find("PyMem_Malloc", NULL);
	hooks.is_initialized = (int (*)(void))find("Py_IsInitialized", NULL);
	hooks.id = (int64_t(*)(void *))find("PyInterpreterState_GetID", NULL);
	modules_find(python.code, &hooks.image);
	hooks.standard = find("_PyEval_EvalFrameDefault", NULL);
	hooks.unseen = find_unseen(l->version);
	calibrate_again();
}

/* Only where what is there is known: another tool's function is called through, by the first interpreter. */
static bool can_hook(void *interpreter)
{
	int64_t id = hooks.id(interpreter), *seen = &hooks.seen[(uint64_t)id % HOOKS_INTERPRETERS];
	void *function = hooks.get(interpreter);

	if (*seen == id + 1 || !function || function == hooks.own)
		return false;
	if (function == hooks.standard ? hooks.next && hooks.next != hooks.standard
				       : hooks.next || python_layout()->interp_eval_frame)
		return false;
	*seen = id + 1;
	return true;
}

/*
 * The state that this thread runs; NULL: not known. Up to 3.10 it may be one that this thread made for a
 * sub-interpreter; if another thread runs that now, its interpreter is hooked from here.
 */
static char *running_state(const struct python_layout *l)
{
	bool has_gil;
	char *state = (char *)python_own_state(&has_gil);
	uintptr_t thread;

	if (!state || has_gil)
		return state;
	state = l->chain == PYTHON_FRAME_OBJECTS ? python.current_state() : NULL;
	return state && memory_copy(&thread, (uintptr_t)state + l->thread.thread_id, sizeof(thread)) &&
			       thread == (uintptr_t)pthread_self()
		       ? state
		       : NULL;
}

void hooks_install(void)
{
	void *interpreter;
	int64_t index;
	char *state;

	if (!hooks.standard || !hooks.get || !hooks.set || !hooks.request_index || !hooks.set_word ||
		!hooks.allocate || !hooks.id || !atomic_load(&rt.on) || !python_is_loaded())
		return;
	state = running_state(python_layout());
	if (hooks.is_initialized && !hooks.is_initialized())
		memset(hooks.seen, 0, sizeof(hooks.seen)); /* they have ended, and others may get their ids */
	interpreter = state ? (void *)python_word((uintptr_t)state, python_layout()->thread.interp) : NULL;
	if (!interpreter || !can_hook(interpreter))
		return;
	index = hooks.request_index(NULL);
	if (index < 0 || (hooks.next && index != hooks.index))
		return;
	hooks.index = index;
	hooks.several = hooks.next;
	if (!hooks.next) {
		hooks.next = hooks.get(interpreter);
		if (hooks.unseen)
			store_note(HYB_NOTE_INFO, hooks.unseen);
	}
	if (python_layout()->thread.c_recursion && *recursion_left(state) > recursion.most)
		recursion.most = *recursion_left(state);
	hooks.set(interpreter, hooks.own);
}

void hooks_end(void)
{
	if (rt.set.python == PYTHON_HOOKS && python_layout() && !hooks.next)
		store_note(HYB_NOTE_WARNING,
			"there was no moment at which the Python interpreter could be hooked: "
			"its functions are in the samples only");
}

void hooks_cost(uint64_t timed, uint64_t skipped, uint64_t *calls)
{
	const struct hook_cost *cost = hook_costs;

	if (!hooks.standard)
		return;
	while (cost->version < python_layout()->version)
		cost++;
	calls[HYB_PROBE_PYTHON] = (uint64_t)((int64_t)timed + (int64_t)skipped * cost->timed / 10);
	calls[HYB_PROBE_PYTHON_SKIPPED] = skipped * (uint64_t)cost->skipped / 10;
	calls[HYB_PROBE_PYTHON_LEFT_OUT] = skipped * (uint64_t)cost->left_out / 10;
}

#include "recursion.h"

#include <string.h>

#include "runtime/probe/probe.h"
#include "runtime/unwind/cache.h"
#include "runtime/unwind/modules.h"

#define FRAMES_MOST 16u
#define INSTRUMENTED_LINE 254 /* opcode: stands for another one */
#define TYPE_ITERNEXT 224 /* tp_iternext of a type */

struct recursion recursion;

/* Functions of the interpreter between a caller's evaluation and the one that it calls. */
static struct passing {
	uintptr_t calls[4]; /* the last: what begins the evaluation in their place, where builds have that */
	uintptr_t code; /* PyEval_EvalCode: beside this one it is met */
	uintptr_t begins[3]; /* functions and generators; what they call begins the evaluation, where they do
				not */
	uintptr_t lookups[2]; /* x[i], x.a: run in the caller's evaluation once they are warm */
	uintptr_t method; /* await calls send() by it, a C function that counts for one */
} passing;

static uintptr_t function_of(const char *name)
{
	uintptr_t address = python_symbol(name, NULL);

	return address ? unwind_rule_at(address).function : 0;
}

void recursion_find(void)
{
	const struct python_layout *l = python_layout();
	uintptr_t generator = python_symbol("PyGen_Type", NULL);

	recursion.left = l->thread.c_recursion;
	recursion.frame = l->thread.frame;
	recursion.cframe = l->thread.cframe;
	recursion.previous = l->frame.previous;
	recursion.owner = l->frame.owner;
	recursion.instruction = l->frame.instruction;
	passing = (struct passing){
		.calls = {function_of("PyObject_Vectorcall"), function_of("PyObject_Call"),
			function_of("_PyObject_Call"), 0},
		.code = function_of("PyEval_EvalCode"),
		.begins = {function_of("_PyFunction_Vectorcall"), function_of("PyIter_Send")},
		.lookups = {function_of("PyObject_GetItem"), function_of("PyObject_GetAttr")},
		.method = function_of("PyObject_VectorcallMethod"),
	};
	if (generator)
		passing.begins[2] = unwind_rule_at(python_word(generator, TYPE_ITERNEXT)).function;
}

static bool is_among(const uintptr_t *functions, size_t count, uintptr_t function)
{
	for (size_t i = 0; i < count; i++)
		if (functions[i] == function)
			return true;
	return false;
}

/* What was judged before is judged again. */
static void learn(uintptr_t function)
{
	passing.calls[3] = function;
	for (size_t i = 0; i < RECURSION_KNOWN; i++)
		atomic_store_explicit(&recursion.known[i], 0, memory_order_relaxed);
}

/* Of the functions between two evaluations, innermost first. */
static int32_t judge(const uintptr_t *functions, size_t count, uint8_t opcode)
{
	const struct python_layout *l = python_layout();
	uintptr_t outermost = count ? functions[count - 1] : 0;
	size_t others = 0;

	if (count > 1 && functions[1] == passing.code && functions[0] != passing.calls[3])
		learn(functions[0]);
	if (count > 1 && is_among(passing.lookups, 2, outermost))
		return RECURSION_UNITS;
	if (count > 1 && outermost == passing.method)
		return RECURSION_UNITS + 1;
	if (count == 1 && (memchr(l->passed_on, opcode, sizeof(l->passed_on)) || opcode == INSTRUMENTED_LINE))
		return RECURSION_UNITS; /* what is there to find a function of Python */
	for (size_t i = 0; i < count; i++)
		others += !is_among(passing.calls, 4, functions[i]) &&
			  !is_among(passing.begins, 3, functions[i]) &&
			  !(i == 0 && count > 1 && is_among(passing.begins, 3, functions[1]));
	return others ? 0 : RECURSION_UNITS;
}

__attribute__((noinline)) int32_t recursion_look(uint32_t place, uintptr_t shim)
{
	struct unwind_snippet s = PROBE_SNIPPET;
	uintptr_t functions[FRAMES_MOST];
	struct module_map own;
	int32_t units = RECURSION_UNITS;
	size_t count = 0;

	if (!modules_find((uintptr_t)recursion_look, &own))
		return units;
	for (unsigned i = 0; i < 2 * FRAMES_MOST; i++) {
		struct unwind_rule rule = unwind_rule_at(s.ra - 1);
		bool ours = s.ra >= own.start && s.ra < own.end, up = unwind_up(&s);

		if ((up && s.sp > shim) || rule.function == python.evaluation) {
			units = judge(functions, count, (uint8_t)place);
			break;
		}
		if (!up)
			break; /* not known: as if it were passed on, so that nothing ends earlier than
				  natively */
		if (ours)
			continue;
		if (count == FRAMES_MOST) {
			units = 0;
			break;
		}
		functions[count++] = rule.function;
	}
	atomic_store_explicit(&recursion.known[(place ^ place >> 10) % RECURSION_KNOWN],
		place << 2 | (uint32_t)units, memory_order_relaxed);
	return units;
}

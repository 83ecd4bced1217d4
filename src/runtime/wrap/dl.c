/*
 * dlopen and dlclose look at the address they return to, to find the caller's
 * search path: they are jumped to by runtime/arch, so that it stays the caller's. All we do is
 * to note that the module table may change.
 */
#include <dlfcn.h>

#include "runtime/unwind/modules.h"
#include "runtime/python/python.h"
#include "wrap.h"

/* Called by the jumps. Returns where to go on. */
__attribute__((used)) void *wrap_dl_target(int closing);

void *wrap_dl_target(int closing)
{
	static void *target[2]; /* looked up once; two threads find the same */

	if (closing)
		modules_closing();
	else
		modules_opening();
	python_look();
	if (closing)
		python_closing();
	else
		python_expect();
	if (!target[closing])
		target[closing] = dlsym(RTLD_NEXT, closing ? "dlclose" : "dlopen");
	return target[closing];
}

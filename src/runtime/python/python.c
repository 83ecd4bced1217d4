#include "python.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>

#include "code.h"
#include "hooks.h"
#include "runtime/memory.h"
#include "runtime/unwind/modules.h"
#include "runtime/store.h"
#include "runtime/sys.h"
#include "runtime/thread.h"
#include "runtime/unwind/cache.h"

struct python python;

#define THREADS_MOST 256u /* of an interpreter that are looked through */

static _Atomic(bool) worth_looking = true;
static _Atomic(bool) opened; /* an object, maybe */

/* ------------------------------------------------------ dynamic symbols */

struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static bool read_dynamic(const struct dl_phdr_info *info, struct dynamic *ret)
{
	const ElfW(Dyn) *d = NULL;

	*ret = (struct dynamic){0};
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		/* The loader has made addresses of them, except in the kernel's page. */
		uintptr_t at =
			d->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + d->d_un.d_ptr : d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			ret->symbols = (const ElfW(Sym) *)at;
		else if (d->d_tag == DT_STRTAB)
			ret->names = (const char *)at;
		else if (d->d_tag == DT_GNU_HASH)
			ret->hash = (const uint32_t *)at;
	}
	return ret->symbols && ret->names && ret->hash;
}

/* By the GNU hash table: buckets of symbols in a row, their hashes beside them, the last with bit 0 set. */
static const ElfW(Sym) * find_symbol(const struct dynamic *d, const char *name)
{
	uint32_t buckets = d->hash[0], first = d->hash[1], bloom = d->hash[2], h = 5381, i;
	const uint32_t *bucket = d->hash + 4 + bloom * (sizeof(ElfW(Addr)) / 4), *chain = bucket + buckets;

	for (const char *p = name; *p; p++)
		h = h * 33 + (uint8_t)*p;
	i = buckets ? bucket[h % buckets] : 0;
	if (i < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *s = &d->symbols[i];

		if ((chain[i - first] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF &&
			!strcmp(d->names + s->st_name, name))
			return s;
		if (chain[i - first] & 1)
			return NULL;
	}
}

struct search {
	const char *name;
	uintptr_t in; /* only in the object that holds this address; 0: in any */
	uintptr_t address;
	size_t size;
};

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return true;
	}
	return false;
}

static int search_object(struct dl_phdr_info *info, size_t size __attribute__((unused)), void *data)
{
	struct search *s = data;
	const ElfW(Sym) * symbol;
	struct dynamic d;

	if ((s->in && !holds(info, s->in)) || !read_dynamic(info, &d))
		return 0;
	symbol = find_symbol(&d, s->name);
	if (!symbol)
		return 0;
	s->address = info->dlpi_addr + symbol->st_value;
	s->size = symbol->st_size;
	return 1;
}

static uintptr_t symbol_in(uintptr_t object, const char *name, size_t *ret_size)
{
	/* Not dlsym: the program's next dlerror() would return our failure. */
	struct search s = {.name = name, .in = object};

	dl_iterate_phdr(search_object, &s);
	if (ret_size)
		*ret_size = s.size;
	return s.address;
}

uintptr_t python_symbol(const char *name, size_t *ret_size)
{
	return symbol_in(python.code, name, ret_size);
}

/* ------------------------------------------------------- the interpreter */

/* major << 8 | minor, and its text; 0: not known. */
static unsigned ask_version(void)
{
	const char *(*tell)(void) = (const char *(*)(void))python_symbol("Py_GetVersion", NULL);
	unsigned major = 0, minor = 0;

	snprintf(python.version, sizeof(python.version), "%s", tell());
	python.version[strcspn(python.version, " ")] = '\0';
	return sscanf(python.version, "%u.%u", &major, &minor) == 2 ? major << 8 | minor : 0;
}

/* What distinguishes this process from others of the same interpreter: all words behind the first. */
static void describe_arguments(void)
{
	char text[HYB_NAME_MAX + 1], *words = text, *end = text + sys_command_line(text, sizeof(text));

	words += strlen(words) + 1;
	while (end > words && !end[-1])
		end--;
	if (words >= end)
		return;
	for (char *p = words; p < end; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	store_metadata("hybrid.python.arguments", words, (size_t)(end - words));
}

static void describe(void)
{
	const char *mode = !python.known                   ? "native samples only"
			   : rt.set.python == PYTHON_HOOKS ? "hooks"
							   : "frames";
	char text[128];
	struct module_map map;

	snprintf(text, sizeof(text), "CPython %s, %s", python.version, mode);
	store_metadata("hybrid.python", text, strlen(text));
	describe_arguments();
	if (!python.known)
		return; /* its frames are what there is to be seen */
	modules_update(true);
	if (!modules_find(python.code, &map) || !modules_path(&map))
		return;
	store_metadata("hybrid.python.module", modules_path(&map), strnlen(modules_path(&map), HYB_NAME_MAX));
}

void python_describe(void)
{
	python_code_reset();
	if (python.code)
		describe();
}

static void find_runtime(void)
{
	size_t size = 0;

	python.runtime = python_symbol("_PyRuntime", &size);
	python.runtime_end = python.runtime + size;
	python.is_ending = (int (*)(void))python_symbol("_Py_IsFinalizing", NULL);
	if (!python.is_ending) /* 3.13 */
		python.is_ending = (int (*)(void))python_symbol("Py_IsFinalizing", NULL);
}

/* Fills in what is known of the interpreter whose code is at python.code. */
static const struct python_layout *examine(unsigned version)
{
	const struct python_layout *l = python_layout_of(version);

	find_runtime();
	python.code_type = python_symbol("PyCode_Type", NULL);
	python.string_type = python_symbol("PyUnicode_Type", NULL);
	python.own_state = (void *(*)(void))python_symbol("PyGILState_GetThisThreadState", NULL);
	python.current_state = (void *(*)(void))python_symbol("_PyThreadState_UncheckedGet", NULL);
	python.main_interpreter = (void *(*)(void))python_symbol("PyInterpreterState_Main", NULL);
	python.evaluation = unwind_rule_at(python_symbol("_PyEval_EvalFrameDefault", NULL)).function;
	if (!l || !python.runtime || !python.code_type || !python.own_state || !python.evaluation ||
		!(l->thread.status ? (void *)python.is_ending : (void *)python.current_state) ||
		!python_layout_fits(l, (const void *)python.code_type, (const void *)python.runtime))
		return NULL;
	python.interpreter_threads = python_layout_threads(l, (const void *)python.runtime);
	return l;
}

void python_end(void)
{
	if (!python.code && rt.set.python == PYTHON_OFF) /* was not looked for */
		python.code = symbol_in(0, "Py_GetVersion", NULL);
	if (python.code && !python.runtime)
		find_runtime();
	atomic_store(&python.ending, true);
}

void python_expect(void)
{
	atomic_store(&opened, true);
	atomic_store(&worth_looking, true);
}

void python_closing(void)
{
	atomic_store(&python.closing, true);
	python_expect();
}

bool python_is_loaded(void)
{
	if (likely(python.stays || !atomic_load_explicit(&python.closing, memory_order_relaxed)))
		return true;
	if (!atomic_load(&python.gone) && memory_readable(python.code))
		return true;
	atomic_store(&python.gone, true);
	python_expect();
	return false;
}

static void found(void)
{
	const struct python_layout *l;
	unsigned version;
	char text[200];

	modules_update(true);
	version = ask_version();
	l = examine(version);
	python.known = l;
	describe();
	if (l) {
		atomic_store(&python.layout, l);
		atomic_store(&python.gone, false);
		hooks_find();
		return;
	}
	snprintf(text, sizeof(text),
		"this build of CPython %s is not known (3.8 to 3.13 are): native code is measured, Python "
		"functions are not shown",
		python.version);
	store_note(HYB_NOTE_WARNING, text);
}

/* Its functions have no frames that could be read here. */
static void look_for_pypy(void)
{
	static bool said;

	if (said || !symbol_in(0, "pypy_main_startup", NULL))
		return;
	said = true;
	store_note(HYB_NOTE_WARNING, "this is PyPy: native code is measured, Python functions are not shown "
				     "(CPython 3.8 to 3.13 are "
				     "known)");
}

/* An interpreter of any version has this function; several in one process: the first that is found. */
static void look(void)
{
	uintptr_t old = python.code, code;

	if (rt.set.python == PYTHON_OFF || !atomic_load(&rt.on) || (old && !atomic_load(&python.closing)) ||
		!atomic_exchange(&worth_looking, false))
		return;
	code = symbol_in(0, "Py_GetVersion", NULL);
	if (!code) {
		atomic_store(&python.gone, true);
		look_for_pypy();
	} else if (code != old || atomic_load(&python.gone)) {
		python.code = code;
		python.stays = !old && !atomic_load(&opened);
		found();
	}
}

void python_look(void)
{
	look();
	hooks_install();
}

/*
 * A member of the thread's own state, which another thread frees at the interpreter's end only:
 * till then it is not worth a system call, of which a wait for the GIL would spend half its time.
 */
static bool read_own(void *to, uintptr_t from, size_t size)
{
	if (!python.is_ending || python.is_ending())
		return memory_copy(to, from, size);
	memcpy(to, (const void *)from, size);
	return true;
}

/* From 3.12 on: the thread's own state is the one that it ran last, in whichever interpreter. */
static const char *latest_state(const struct python_layout *l, uintptr_t own, bool *ret_has_gil)
{
	uint32_t status;

	if (!read_own(&status, own + l->thread.status, sizeof(status)))
		return NULL;
	*ret_has_gil = status & PYTHON_STATE_ACTIVE;
	return (const char *)own;
}

/*
 * Up to 3.11: whether this thread is in the state that runs now, another one than its own: that of a
 * sub-interpreter. Its id is that of the thread that made it, but other threads may run it, too.
 */
static bool is_in(const struct python_layout *l, uintptr_t current, uintptr_t own)
{
	uintptr_t word = 0;

	if (l->thread.cframe) /* lies on the stack of the thread that runs it */
		return self && memory_copy(&word, current + l->thread.cframe, sizeof(word)) &&
		       word >= self->stack_lo && word < self->stack_hi;
	return read_own(&word, own + l->thread.frame, sizeof(word)) && !word &&
	       memory_copy(&word, current + l->thread.thread_id, sizeof(word)) &&
	       word == (uintptr_t)pthread_self();
}

const char *python_own_state(bool *ret_has_gil)
{
	const struct python_layout *l = python_layout();
	uintptr_t own, current, thread = 0;

	*ret_has_gil = false;
	own = python_is_loaded() ? (uintptr_t)python.own_state() : 0;
	if (!own)
		return NULL;
	if (l->thread.status)
		return latest_state(l, own, ret_has_gil);
	current = (uintptr_t)python.current_state();
	if (current == own) {
		*ret_has_gil = true;
		return (const char *)own;
	}
	/* Another thread's, which may end now; or that of a sub-interpreter which this thread runs. */
	if (current && is_in(l, current, own)) {
		*ret_has_gil = true;
		return (const char *)current;
	}
	/* At the interpreter's end the states of threads that still run are freed. */
	if (!read_own(&thread, own + l->thread.thread_id, sizeof(thread)) ||
		thread != (uintptr_t)pthread_self())
		return NULL;
	return (const char *)own;
}

/* The states of the first interpreter's threads are looked through: other threads may end meanwhile. */
static uintptr_t find_in_first(const struct python_layout *l, uintptr_t interpreter)
{
	uintptr_t at, thread;

	if (!memory_copy(&at, interpreter + python.interpreter_threads, sizeof(at)))
		return 0;
	for (uint32_t i = 0; at && i < THREADS_MOST; i++) {
		if (at % sizeof(at) || !memory_copy(&thread, at + l->thread.thread_id, sizeof(thread)))
			return 0;
		if (thread == (uintptr_t)pthread_self())
			return at;
		if (!memory_copy(&at, at + l->thread.next, sizeof(at)))
			return 0;
	}
	return 0;
}

const char *python_outer_state(const char *state)
{
	const struct python_layout *l = python_layout();
	uintptr_t own = (uintptr_t)python.own_state(), first, interpreter;

	if (l->thread.status) {
		first = python.main_interpreter && python.interpreter_threads
				? (uintptr_t)python.main_interpreter()
				: 0;
		interpreter = python_word((uintptr_t)state, l->thread.interp);
		own = first && interpreter != first ? find_in_first(l, first) : 0;
	}
	return own != (uintptr_t)state ? (const char *)own : NULL;
}

/*
 * hybrid/hybrid.h: mark what matters in a program.
 *
 * A program that includes this header needs no library: not when it is linked,
 * not when it runs. Started by `hybrid-run` its probes are measured; started
 * without, each call costs a load and a branch. (glibc before 2.34: link with
 * -ldl, or the program runs but is not measured.)
 *
 *     #include <hybrid/hybrid.h>
 *
 *     void solve(struct grid *g)
 *     {
 *             HYBRID_ENTER("solve");
 *             for (...)
 *                     hybrid_count_real(&residual, r);
 *             HYBRID_LEAVE("solve");
 *     }
 *
 * C++: `HYBRID_SCOPE("solve");` leaves at the end of the scope, also when an
 * exception passes. Fortran: the module in hybrid.f90, installed beside this.
 *
 * Rules:
 *  - Regions nest on each thread. A region is left by the thread that entered
 *    it. Leaving a region closes regions inside it that are still open (counted
 *    as "not left"); leaving one that is not open does nothing (counted).
 *  - Names are kept up to 1023 bytes; of a longer one the end is replaced by a
 *    hash of the whole, so that different names stay different. At most 65535
 *    different names are kept, all later ones share the region "(other names)".
 *    Regions below the 2328th open one are only counted.
 *  - Strings are copied before the call returns. No call fails, allocates from
 *    the heap, takes a lock or changes errno. All may be called from any thread
 *    and from signal handlers; in a handler that interrupted a probe they do
 *    nothing, and that is counted.
 *  - A region that is entered very often for very little time may be demoted
 *    (hybrid-run --demote): it is counted, no longer timed; samples show it.
 */
#ifndef HYBRID_HYBRID_H
#define HYBRID_HYBRID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a region is; values are those of the file format. */
enum hybrid_region_kind {
	HYBRID_USER = 1, /* any stretch of code */
	HYBRID_FUNCTION = 2, /* the whole function that enters it */
	HYBRID_LOOP = 3,
};

/*
 * A region at a place in the source: make it static, initialise it with
 * HYBRID_REGION_INIT. The runtime fills in `id` at first use.
 */
struct hybrid_region {
	const char *name;
	const char *file;
	uint32_t line;
	uint32_t kind; /* enum hybrid_region_kind */
	uint64_t id; /* 0 until first entered; written by the runtime */
};
#define HYBRID_REGION_INIT(name_, kind_) \
	{ \
		name_, __FILE__, __LINE__, kind_, 0 \
	}

/* A value over time: make it static, initialise it with HYBRID_COUNTER_INIT. */
struct hybrid_counter {
	const char *name;
	const char *unit; /* "" if it has none */
	uint64_t id; /* as in struct hybrid_region */
};
#define HYBRID_COUNTER_INIT(name_, unit_) \
	{ \
		name_, unit_, 0 \
	}

/*
 * The runtime's entry points. Only grows; `size` is the bytes that the runtime
 * fills in. For the inline functions below; do not call through it yourself.
 */
struct hybrid_api {
	uint32_t version; /* 1 */
	uint32_t size;
	void (*enter)(struct hybrid_region *region);
	void (*leave)(struct hybrid_region *region);
	void (*enter_name)(const char *name, size_t length);
	void (*leave_name)(const char *name, size_t length);
	void (*count)(struct hybrid_counter *counter, int64_t value);
	void (*count_real)(struct hybrid_counter *counter, double value);
	void (*parameter)(const char *key, const char *value);
	void (*parameter_int)(const char *key, int64_t value);
	void (*marker)(const char *text);
	void (*pause)(void);
	void (*resume)(void);
	void (*metadata)(const char *key, const char *value);
	void (*thread_name)(const char *name);
	/* Since 1.1 (look at `size`): as enter, for a region of the Python frame that called the extension.
	 */
	void (*enter_frame)(struct hybrid_region *region);
};

#if defined(__GNUC__) || defined(__clang__)
/* One pointer in each program and shared object, found once when it is loaded. */
__attribute__((weak, visibility("hidden"))) const struct hybrid_api *hybrid_api_pointer_;
/* Under a name of its own: <dlfcn.h> declares dlsym with other attributes. */
extern void *hybrid_dlsym_(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
void hybrid_api_find_(void);
__attribute__((weak, visibility("hidden"), constructor(101))) void hybrid_api_find_(void)
{
	if (hybrid_dlsym_)
		hybrid_api_pointer_ = (const struct hybrid_api *)hybrid_dlsym_((void *)0, "hybrid_api_1");
}
#else
#error "hybrid.h needs a compiler that knows GNU attributes"
#endif

/* Inlined without optimisation, too: a probe belongs to the function that holds it. */
#define HYBRID_INLINE_ static inline __attribute__((always_inline))

/* clang-format off */
#define HYBRID_CALL_(function_, arguments_) \
	do { \
		const struct hybrid_api *api_ = hybrid_api_pointer_; \
		if (__builtin_expect(api_ != (const struct hybrid_api *)0, 0)) \
			api_->function_ arguments_; \
	} while (0)
/* clang-format on */

/* Whether this process is measured: 1 or 0. */
HYBRID_INLINE_ int hybrid_measured(void)
{
	return hybrid_api_pointer_ != (const struct hybrid_api *)0;
}

/* Enters and leaves a region (not NULL, which the caller keeps); the cheapest probes. */
HYBRID_INLINE_ void hybrid_enter(struct hybrid_region *region)
{
	HYBRID_CALL_(enter, (region));
}

HYBRID_INLINE_ void hybrid_leave(struct hybrid_region *region)
{
	HYBRID_CALL_(leave, (region));
}

/*
 * The same by a name that is made at run time: `length` bytes, which need no NUL and are the caller's. Each
 * call also looks the name up.
 */
HYBRID_INLINE_ void hybrid_enter_name(const char *name, size_t length)
{
	HYBRID_CALL_(enter_name, (name, length));
}

HYBRID_INLINE_ void hybrid_leave_name(const char *name, size_t length)
{
	HYBRID_CALL_(leave_name, (name, length));
}

/*
 * Records the value that a counter has now on this thread: a total, no increment, in the unit given to
 * HYBRID_COUNTER_INIT. The value goes to the trace. As a metric (hybrid-run -m user::NAME; a real number is
 * cut to a whole one) each thread has a total of its own, and regions and samples get its growth.
 */
HYBRID_INLINE_ void hybrid_count(struct hybrid_counter *counter, int64_t value)
{
	HYBRID_CALL_(count, (counter, value));
}

HYBRID_INLINE_ void hybrid_count_real(struct hybrid_counter *counter, double value)
{
	HYBRID_CALL_(count_real, (counter, value));
}

/*
 * Splits the innermost open region of this thread by the value of a parameter: what follows in this instance
 * is below "key=value" in the tree, until the region is left or the key gets another value. Different keys
 * nest in the order of the calls. Both strings end with a NUL.
 */
HYBRID_INLINE_ void hybrid_parameter(const char *key, const char *value)
{
	HYBRID_CALL_(parameter, (key, value));
}

HYBRID_INLINE_ void hybrid_parameter_int(const char *key, int64_t value)
{
	HYBRID_CALL_(parameter_int, (key, value));
}

/* Records the current moment with a text, in the trace of this thread. Each call copies the text to the file.
 */
HYBRID_INLINE_ void hybrid_marker(const char *text)
{
	HYBRID_CALL_(marker, (text));
}

/*
 * Stop and restart the measurement of all threads of the process; calls do not nest. The calling thread stops
 * at once, the others at their next sample. The time between is that of the region "(paused)".
 */
HYBRID_INLINE_ void hybrid_pause(void)
{
	HYBRID_CALL_(pause, ());
}

HYBRID_INLINE_ void hybrid_resume(void)
{
	HYBRID_CALL_(resume, ());
}

/* Keeps a fact about the process in the experiment. Each call adds one, also with the same key. */
HYBRID_INLINE_ void hybrid_metadata(const char *key, const char *value)
{
	HYBRID_CALL_(metadata, (key, value));
}

/* Names the calling thread; the last name counts, and 63 bytes of it are kept. */
HYBRID_INLINE_ void hybrid_thread_name(const char *name)
{
	HYBRID_CALL_(thread_name, (name));
}

/*
 * Enter and leave the region of a constant name. They may stand in different functions, since the region is
 * found by its name.
 */
/* clang-format off */
#define HYBRID_ENTER(name_) \
	do { \
		static struct hybrid_region region_ = HYBRID_REGION_INIT(name_, HYBRID_USER); \
		hybrid_enter(&region_); \
	} while (0)
#define HYBRID_LEAVE(name_) hybrid_leave_name(name_, __builtin_strlen(name_))
/* clang-format on */

#ifdef __cplusplus
}

namespace hybrid
{
/* Enters on construction, leaves on destruction, also when an exception passes. */
class scope
{
      public:
	explicit scope(hybrid_region &region) : region_(region)
	{
		hybrid_enter(&region_);
	}
	~scope()
	{
		hybrid_leave(&region_);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	hybrid_region &region_;
};
} // namespace hybrid

#define HYBRID_JOIN2_(a, b) a##b
#define HYBRID_JOIN_(a, b) HYBRID_JOIN2_(a, b)
#define HYBRID_SCOPE_(name_, kind_) \
	static hybrid_region HYBRID_JOIN_(hybrid_region_, __LINE__) = HYBRID_REGION_INIT(name_, kind_); \
	hybrid::scope HYBRID_JOIN_(hybrid_scope_, __LINE__)(HYBRID_JOIN_(hybrid_region_, __LINE__))
#define HYBRID_SCOPE(name_) HYBRID_SCOPE_(name_, HYBRID_USER)
#define HYBRID_SCOPE_FUNCTION() HYBRID_SCOPE_(__func__, HYBRID_FUNCTION)
#endif

#endif

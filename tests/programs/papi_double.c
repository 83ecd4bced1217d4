/*
 * Stands for a processor with counters, and for the PAPI that knows their names, where there are none: a
 * library to be preloaded. The names are PAPI's, the numbers are not: its presets are clocks and page faults
 * of the kernel, so that what is counted and what interrupts is real. A group holds two counters, and
 * PAPI_L1_DCM does not get along with PAPI_FP_OPS, as on processors where two events need the same counter.
 * With PAPI_DOUBLE_OFF in the environment it is a PAPI that does not know the processor: its part perf_event
 * is off, no name means anything, and the kernel counts as it does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNTERS 2
#define GROUPS 4096

/* --------------------------------------------------------------------- PAPI */

static const struct {
	const char *name, *text, *derived;
	unsigned count;
	const char *natives[4];
} presets[] = {
	{"PAPI_TOT_CYC", "Total cycles", "NOT_DERIVED", 1, {"perf::CPU-CLOCK"}},
	{"PAPI_TOT_INS", "Instructions completed", "NOT_DERIVED", 1, {"perf::TASK-CLOCK"}},
	{"PAPI_L1_DCM", "Level 1 data cache misses", "NOT_DERIVED", 1, {"perf::MINOR-FAULTS"}},
	{"PAPI_FP_OPS", "Floating point operations", "NOT_DERIVED", 1, {"perf::PAGE-FAULTS"}},
	{"PAPI_TLB_DM", "Data translation lookaside buffer misses", "DERIVED_ADD", 2,
		{"perf::MINOR-FAULTS", "perf::MAJOR-FAULTS"}},
	{"PAPI_BR_NTK", "Conditional branch instructions not taken", "DERIVED_SUB", 2,
		{"perf::PAGE-FAULTS", "perf::MAJOR-FAULTS"}},
	{"PAPI_DP_OPS", "Floating point operations, weighted by their width", "DERIVED_POSTFIX", 2,
		{"perf::PAGE-FAULTS", "perf::CPU-CLOCK"}},
	{"PAPI_L3_TCM", "Level 3 cache misses", "NOT_DERIVED", 0, {NULL}},
};
#define PRESETS (int)(sizeof(presets) / sizeof(presets[0]))

static const char *const natives[] = {"perf::CPU-CLOCK", "perf::TASK-CLOCK", "perf::PAGE-FAULTS",
	"perf::MINOR-FAULTS", "perf::MAJOR-FAULTS"};
#define NATIVES (int)(sizeof(natives) / sizeof(natives[0]))

static int is_off(void)
{
	return getenv("PAPI_DOUBLE_OFF") != NULL;
}

static const PAPI_component_info_t components[] = {
	{.name = "perf_event", .description = "counters of the double", .num_cntrs = COUNTERS},
	{.name = "sleeping",
		.description = "a part that is off",
		.disabled = PAPI_ECMP_DISABLED,
		.disabled_reason = "it stands here to be off"},
	{.name = "perf_event",
		.description = "counters of the double",
		.disabled = PAPI_ECMP_DISABLED,
		.disabled_reason = "no default PMU"},
};

int PAPI_library_init(int version)
{
	return version;
}

char *PAPI_strerror(int error)
{
	static char text[] = "an error of the double";

	return text;
}

int PAPI_num_components(void)
{
	return 2;
}

const PAPI_component_info_t *PAPI_get_component_info(int index)
{
	if (is_off() && !index)
		return &components[2];
	return index >= 0 && index < 2 ? &components[index] : NULL;
}

int PAPI_get_event_component(int code)
{
	return 0;
}

int PAPI_event_name_to_code(const char *name, int *ret)
{
	for (int i = 0; i < PRESETS; i++)
		if (!strcmp(name, presets[i].name)) {
			*ret = i | (int)PAPI_PRESET_MASK;
			return PAPI_OK;
		}
	for (int i = 0; i < NATIVES && !is_off(); i++)
		if (!strcasecmp(name, natives[i])) {
			*ret = i | PAPI_NATIVE_MASK;
			return PAPI_OK;
		}
	return PAPI_ENOEVNT;
}

int PAPI_get_event_info(int code, PAPI_event_info_t *ret)
{
	int i = code & 0xff;

	memset(ret, 0, sizeof(*ret));
	if (code & PAPI_NATIVE_MASK) {
		strcpy(ret->symbol, natives[i]);
		return PAPI_OK;
	}
	strcpy(ret->symbol, presets[i].name);
	strcpy(ret->long_descr, presets[i].text);
	strcpy(ret->derived, presets[i].derived);
	ret->count = presets[i].count;
	for (unsigned j = 0; j < presets[i].count; j++)
		strcpy(ret->name[j], presets[i].natives[j]);
	return PAPI_OK;
}

int PAPI_enum_event(int *code, int modifier)
{
	int next = modifier == PAPI_ENUM_FIRST ? 0 : (*code & 0xff) + 1;

	while (next < PRESETS && (is_off() || !presets[next].count))
		next++;
	*code = next | (int)PAPI_PRESET_MASK;
	return next < PRESETS ? PAPI_OK : PAPI_ENOEVNT;
}

int PAPI_enum_cmp_event(int *code, int modifier, int component)
{
	int next = modifier == PAPI_ENUM_FIRST ? 0 : (*code & 0xff) + 1;

	if (component || is_off() || modifier == PAPI_NTV_ENUM_UMASKS || next >= NATIVES)
		return PAPI_ENOEVNT;
	*code = next | PAPI_NATIVE_MASK;
	return PAPI_OK;
}

/* ------------------------------------------------------------ the processor */

static struct {
	uint64_t id; /* of the first, as the kernel numbers it */
	uint64_t config[COUNTERS];
	int count;
} groups[GROUPS];
static int group_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int clash(uint64_t a, uint64_t b)
{
	return (a == PERF_COUNT_SW_PAGE_FAULTS_MIN && b == PERF_COUNT_SW_PAGE_FAULTS) ||
	       (b == PERF_COUNT_SW_PAGE_FAULTS_MIN && a == PERF_COUNT_SW_PAGE_FAULTS);
}

/* The group whose first has this descriptor; NULL: there are too many. */
static int find_group(int leader)
{
	uint64_t id;
	int i;

	if (ioctl(leader, PERF_EVENT_IOC_ID, &id))
		return -1;
	for (i = 0; i < group_count; i++)
		if (groups[i].id == id)
			return i;
	if (group_count == GROUPS)
		return -1;
	groups[i].id = id;
	group_count++;
	return i;
}

/* Whether another one has its place there. */
static int fits(const struct perf_event_attr *attr, int leader)
{
	int group = find_group(leader);

	if (group < 0)
		return 1;
	for (int i = 0; i < groups[group].count; i++)
		if (clash(groups[group].config[i], attr->config))
			return 0;
	return groups[group].count < COUNTERS;
}

static void enter(const struct perf_event_attr *attr, int leader)
{
	int group = find_group(leader);

	if (group >= 0 && groups[group].count < COUNTERS)
		groups[group].config[groups[group].count++] = attr->config;
}

static long open_counter(long (*real)(long, ...), const long *a)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a[0];
	int leader = (int)a[3];
	long fd = -1;

	pthread_mutex_lock(&lock);
	if (leader >= 0 && !fits(attr, leader))
		errno = EINVAL;
	else
		fd = real(SYS_perf_event_open, a[0], a[1], a[2], a[3], a[4]);
	if (fd >= 0)
		enter(attr, leader >= 0 ? leader : (int)fd);
	pthread_mutex_unlock(&lock);
	return fd;
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open && !is_off())
		return open_counter(real, a);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

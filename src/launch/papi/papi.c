#include "papi_call.h"

#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

static bool start(char *error, size_t room)
{
	int result = PAPI_library_init(PAPI_VER_CURRENT);

	if (result == PAPI_VER_CURRENT && pfm_initialize() == PFM_SUCCESS)
		return true;
	snprintf(error, room, "PAPI does not start: %s",
		result > 0 ? "it is of another version than Hybrid was built with" : PAPI_strerror(result));
	return false;
}

static bool is_preset(int code)
{
	return (code & PAPI_PRESET_MASK) && !(code & PAPI_NATIVE_MASK);
}

/* ------------------------------------------------------------- one event */

/* libpfm's words for it: native events of PAPI's component perf_event are libpfm's. */
static bool encode(const char *native, int sign, struct papi_event *event, char *error, size_t room)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t words = {.attr = &attr, .size = sizeof(words)};
	int result = pfm_get_os_event_encoding(native, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &words);

	if (result != PFM_SUCCESS) {
		snprintf(error, room, "%s: libpfm cannot encode %s: %s", event->name, native,
			pfm_strerror(result));
		return false;
	}
	if (attr.exclude_user || attr.exclude_kernel) {
		snprintf(error, room, "%s: leave out :u and :k; the program is counted with its system calls",
			event->name);
		return false;
	}
	event->part[event->parts++] = (struct metric_part){.sign = sign,
		.type = attr.type,
		.config = attr.config,
		.config1 = attr.config1,
		.config2 = attr.config2};
	return true;
}

static bool encode_preset(const PAPI_event_info_t *info, struct papi_event *event, char *error, size_t room)
{
	bool sum = !strcmp(info->derived, "DERIVED_ADD"), difference = !strcmp(info->derived, "DERIVED_SUB");

	if (!info->count) {
		snprintf(error, room, "%s: this processor has no counter for it", event->name);
		return false;
	}
	if ((info->count > 1 && !sum && !difference) || info->count > METRICS_PARTS) {
		snprintf(error, room,
			"%s is computed from %u counters; measure those (%s, %s ...), and derive it in "
			"hybrid-report",
			event->name, info->count, info->name[0], info->name[1]);
		return false;
	}
	for (unsigned i = 0; i < info->count; i++)
		if (!encode(info->name[i], i && difference ? -1 : 1, event, error, room))
			return false;
	return true;
}

static void describe(const PAPI_event_info_t *info, struct papi_event *event)
{
	const char *text = info->long_descr;
	const char *end = strstr(text, ", masks:"); /* all that there are, behind each event */

	snprintf(event->unit, sizeof(event->unit), "%s", info->units);
	snprintf(event->text, sizeof(event->text), "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
	for (char *p = event->text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
}

static bool fill(int code, const PAPI_event_info_t *info, struct papi_event *event, char *error, size_t room)
{
	const PAPI_component_info_t *component = PAPI_get_component_info(PAPI_get_event_component(code));

	event->preset = is_preset(code);
	event->parts = 0;
	if (component && component->disabled) {
		snprintf(error, room, "%s: PAPI's part %s is off: %s", event->name, component->name,
			component->disabled_reason);
		return false;
	}
	if (!component || strcmp(component->name, "perf_event")) {
		snprintf(error, room,
			"%s: PAPI's component %s counts a whole machine, not a thread; no region "
			"can be charged with it",
			event->name, component ? component->name : "?");
		return false;
	}
	if (event->preset ? !encode_preset(info, event, error, room)
			  : !encode(event->name, 1, event, error, room))
		return false;
	describe(info, event);
	return true;
}

static bool known(const char *name)
{
	int code;

	return strlen(name) < sizeof(((struct papi_event *)NULL)->name) &&
	       PAPI_event_name_to_code(name, &code) == PAPI_OK;
}

static bool find(const char *name, struct papi_event *ret, char *error, size_t room)
{
	PAPI_event_info_t info;
	int code;

	if (!known(name) || PAPI_event_name_to_code(name, &code) != PAPI_OK ||
		PAPI_get_event_info(code, &info) != PAPI_OK) {
		snprintf(error, room, "%s: PAPI has no such event", name);
		return false;
	}
	strcpy(ret->name, name);
	return fill(code, &info, ret, error, room);
}

/* ------------------------------------------------------------------- lists */

struct listing {
	bool (*each)(void *data, const struct papi_event *event);
	void *data;
	bool more;
};

static void show(struct listing *listing, int code)
{
	PAPI_event_info_t info;
	struct papi_event event;
	char error[256];

	if (!listing->more || PAPI_get_event_info(code, &info) != PAPI_OK ||
		strlen(info.symbol) >= sizeof(event.name) ||
		/* Long spellings of others, and switches that are not events */
		strstr(info.symbol, "::PERF_COUNT_") || strchr(info.symbol, '='))
		return;
	strcpy(event.name, info.symbol);
	if (fill(code, &info, &event, error, sizeof(error)))
		listing->more = listing->each(listing->data, &event);
}

static void list_natives(struct listing *listing, int component)
{
	int code = PAPI_NATIVE_MASK;

	if (PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component) != PAPI_OK)
		return;
	do {
		int masked = code;

		show(listing, code);
		while (listing->more &&
			PAPI_enum_cmp_event(&masked, PAPI_NTV_ENUM_UMASKS, component) == PAPI_OK)
			show(listing, masked);
	} while (listing->more && PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component) == PAPI_OK);
}

static void list(bool (*each)(void *data, const struct papi_event *event), void *data)
{
	struct listing listing = {.each = each, .data = data, .more = true};
	int code = (int)PAPI_PRESET_MASK;

	if (PAPI_enum_event(&code, PAPI_ENUM_FIRST) == PAPI_OK)
		do
			show(&listing, code);
		while (listing.more && PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL) == PAPI_OK);
	for (int i = 0; i < PAPI_num_components(); i++) {
		const PAPI_component_info_t *info = PAPI_get_component_info(i);

		if (info && !info->disabled && listing.more)
			list_natives(&listing, i);
	}
}

static void components(void (*each)(void *data, const struct papi_component *component), void *data)
{
	for (int i = 0; i < PAPI_num_components(); i++) {
		const PAPI_component_info_t *info = PAPI_get_component_info(i);
		int code = PAPI_NATIVE_MASK;

		if (!info)
			continue;
		if (info->disabled == PAPI_EDELAY_INIT) /* some report an error only when they are used */
			PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, i);
		each(data, &(struct papi_component){
				   .name = info->name,
				   .text = info->description,
				   .disabled = info->disabled ? info->disabled_reason : NULL,
			   });
	}
}

__attribute__((visibility("default"))) const struct hybrid_papi hybrid_papi_1 = {
	.version = 1,
	.size = sizeof(struct hybrid_papi),
	.start = start,
	.find = find,
	.known = known,
	.list = list,
	.components = components,
};

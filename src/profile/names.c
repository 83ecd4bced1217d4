/* What processes and locations are called. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "profile/state.h"

#define NAME_MOST 64u /* bytes of what a thread is called or runs */

static const char *metadata(const struct hyb_process *process, const char *key)
{
	for (size_t i = 0; i < process->metadata_count; i++)
		if (!strcmp(process->metadata[i].key, key))
			return process->metadata[i].value;
	return "";
}

static const char *file_of(const struct hyb_process *process)
{
	return process->module_count ? path_base(process->modules[0].path) : "";
}

const char *profile_program(const struct hyb_process *process)
{
	const char *name = metadata(process, "hybrid.name"), *file = file_of(process);

	name += *name == '-'; /* a shell of a login */
	/* A title with blanks is no name, and a version behind it makes no other program. */
	return !*name || strchr(name, ' ') || !strncmp(file, name, strlen(name)) ? file : name;
}

void profile_name_process(const struct hyb_process *process, char *text, size_t size)
{
	const char *program = profile_program(process), *file = file_of(process);
	char image[16] = "";

	if (process->image)
		snprintf(image, sizeof(image), ".%" PRIu32, process->image);
	if (process->world && process->rank != HYB_RANK_NONE)
		snprintf(text, size, "rank %" PRIu32, process->rank);
	else if (program != file && *file)
		snprintf(text, size, "%.20s (%.20s) %" PRIu32 "%s", program, file, process->pid, image);
	else
		snprintf(text, size, "%.40s %" PRIu32 "%s", *program ? program : "process", process->pid,
			image);
}

/* What Python runs there, "app.py 10" or "-m package"; "": it is no Python's. */
static const char *python_arguments(const struct hyb_process *process)
{
	for (size_t i = 0; i < process->metadata_count; i++) {
		const char *words = process->metadata[i].value;
		size_t first = strcspn(words, " ");

		if (strcmp(process->metadata[i].key, "hybrid.python.arguments") != 0)
			continue;
		while (*words == '/' && first && words[first - 1] != '/')
			first--;
		return *words == '/' ? words + first : words;
	}
	return "";
}

/* A thread: the first of a rank or process is that itself; of a rank the others have their numbers. */
const char *profile_name_location(const struct hyb_location_info *location, char text[PROFILE_LOCATION_NAME])
{
	const struct hyb_process *process = location->process;
	bool is_rank = process->world && process->rank != HYB_RANK_NONE;
	uint32_t number = is_rank ? location->id : location->tid;
	bool first = location->id <= 1 && (is_rank || location->tid == process->pid);
	const char *name = is_rank && first                              ? ""
			   : *location->name || !first || location->rest ? location->name
									 : python_arguments(process);
	size_t length = strnlen(name, NAME_MOST);
	char common[64], thread[24] = "";

	while (name[length] && (name[length] & 0xc0) == 0x80) /* not inside of a character */
		length--;
	profile_name_process(process, common, sizeof(common));
	if (location->rest)
		snprintf(thread, sizeof(thread), " (rest)");
	else if (!first)
		snprintf(thread, sizeof(thread), " thread %" PRIu32, number);
	snprintf(text, PROFILE_LOCATION_NAME, "%s%s%s%.*s", common, thread, *name ? " " : "", (int)length,
		name);
	return text;
}

#include "profile/views/label.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "format/format.h"
#include "profile/views/views.h"

/* The last part of a path; of a package's "__init__.py" and "__main__.py" the last two. */
static const char *short_path(const char *path)
{
	const char *base = strrchr(path, '/'), *above = base;

	if (!base)
		return path;
	if (strncmp(base, "/__init__.", 10) && strncmp(base, "/__main__.", 10))
		return base + 1;
	while (above > path && above[-1] != '/')
		above--;
	return above;
}

struct label label_of(const struct profile_node *n)
{
	return (struct label){n->kind, n->guess, n->python, n->name, n->file, n->module, n->line, n->skipped};
}

/* "libm.so.6+0x10" says where it is. */
static bool names_module(const struct label *label)
{
	const char *module = path_base(label->module);
	size_t n = strlen(module);

	return label->guess && !strncmp(label->name, module, n) && label->name[n] == '+';
}

char *label_place(const struct label *label, bool full_paths)
{
	const char *file = label->file;
	const char *module = full_paths ? label->module : path_base(label->module);
	char *text = NULL;
	int n = -1;

	if (!full_paths)
		file = short_path(file);
	/* Our wrapper of what the program called; code made at run time, where the name is more useful than
	 * the file. */
	if (strstr(module, "libhybrid.so") || !strcmp(module, HYB_MADE_PATH))
		module = "";
	if (label->kind == PROFILE_PROBE && *label->file)
		n = label->line ? asprintf(&text, " (%s:%u)", file, label->line)
				: asprintf(&text, " (%s)", file);
	else if (label->kind != PROFILE_PROBE && *label->file && label->line)
		n = asprintf(&text, ":%s:%u", file, label->line);
	else if ((label->kind == PROFILE_LEAF || label->python) && *label->file)
		n = asprintf(&text, ":%s", file);
	else if (label->kind != PROFILE_PROBE && !*label->file && *module && !names_module(label) &&
		 (*label->name != '[' || !strcmp(label->name, PROFILE_NO_FILE)))
		n = asprintf(&text, " (%s)", module);
	return n < 0 ? NULL : text;
}

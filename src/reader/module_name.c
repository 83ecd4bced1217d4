#include "reader/module_name.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

static const char *behind_last(const char *path, const char *folder)
{
	const char *found = NULL;

	for (; (path = strstr(path, folder)); found = path)
		path += strlen(folder);
	return found;
}

/* Behind ".../lib/python3.11/", or NULL. */
static const char *behind_library(const char *path)
{
	static const char library[] = "/lib/python";

	while ((path = strstr(path, library))) {
		path += sizeof(library) - 1;
		path += strspn(path, "0123456789.");
		if (*path == '/')
			return path + 1;
	}
	return NULL;
}

/* Where the name by which a module is imported begins in its path. If the path does not show it: at the last
 * part, for a package's own files at the last two. */
static const char *find_start(const char *path)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib-dynload/"};
	const char *found, *base = path_base(path);

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		found = behind_last(path, folders[i]);
		if (found)
			return found;
	}
	found = behind_library(path);
	if (found)
		return found;
	if (strncmp(base, "__init__.", 9) && strncmp(base, "__main__.", 9))
		return base;
	for (found = base > path ? base - 1 : base; found > path && found[-1] != '/'; found--)
		;
	return *found == '/' ? base : found;
}

void module_name(const char *file, char *to, size_t size)
{
	static const char frozen[] = "<frozen ", package[] = "/__init__";
	const char *from = *file == '<' ? file + sizeof(frozen) - 1 : find_start(file), *end;
	char text[1024];

	if (!*file || (*file == '<' && strncmp(file, frozen, sizeof(frozen) - 1))) {
		snprintf(to, size, "<module>");
		return;
	}
	end = strrchr(from, *file == '<' ? '>' : '.');
	if (!end || end == from)
		end = from + strlen(from);
	snprintf(text, sizeof(text), "%.*s", (int)(end - from), from);
	if (strlen(text) >= sizeof(package) && !strcmp(text + strlen(text) - (sizeof(package) - 1), package))
		text[strlen(text) - (sizeof(package) - 1)] = '\0';
	for (char *c = text; *c; c++)
		*c = *c == '/' ? '.' : *c;
	snprintf(to, size, "<module %s>", text);
}

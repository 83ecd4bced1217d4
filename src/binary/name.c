#include "binary/name.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The demangler's time grows faster than the name, and nobody reads such names. */
#define MANGLED_MAX 16384

char *sym_demangle(const char *name)
{
	if (name[0] != '_' || strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	return cplus_demangle(name, DMGL_AUTO | DMGL_ANSI);
}

/* Removes the last part of the path that ends at `end`; false if there is none that may go. */
static bool drop_part(char *path, size_t root, size_t *end)
{
	size_t start = *end;

	while (start > root && path[start - 1] != '/')
		start--;
	if (start == *end)
		return root == 1; /* "/.." is "/" */
	if (*end - start == 2 && !memcmp(path + start, "..", 2))
		return false;
	*end = start > root ? start - 1 : start;
	return true;
}

static void collapse(char *path)
{
	size_t root = path[0] == '/', end = root;

	for (const char *part = path + root; *part;) {
		size_t len = strcspn(part, "/");
		bool parent = len == 2 && !memcmp(part, "..", 2);

		if (len && !(len == 1 && part[0] == '.') && !(parent && drop_part(path, root, &end))) {
			if (end > root)
				path[end++] = '/';
			memmove(path + end, part, len);
			end += len;
		}
		part += len;
		part += *part == '/';
	}
	path[end] = '\0';
}

char *sym_normalise_path(const char *directory, const char *file)
{
	bool join = file[0] != '/' && directory && directory[0] == '/';
	size_t room = strlen(file) + (join ? strlen(directory) + 1 : 0) + 1;
	char *path = malloc(room);
	char *p = path;

	if (!path)
		return NULL;
	if (join) {
		p = stpcpy(p, directory);
		*p++ = '/';
	}
	strcpy(p, file);
	/* A name such as "<built-in>" or "" is no path. */
	if (strchr(path, '/'))
		collapse(path);
	return path;
}

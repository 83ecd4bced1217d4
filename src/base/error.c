#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void damage_add(struct damage *damage, const char *path, uint64_t offset, const char *format, ...)
{
	char what[512], *text;
	va_list args;
	size_t at = __atomic_fetch_add(&damage->count, 1, __ATOMIC_RELAXED);

	if (at >= DAMAGE_TEXTS)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (asprintf(&text, "%s: offset 0x%llx: %s", path, (unsigned long long)offset, what) >= 0)
		__atomic_store_n(&damage->texts[at], text, __ATOMIC_RELEASE);
}

void damage_release(struct damage *damage)
{
	for (size_t i = 0; i < DAMAGE_TEXTS; i++)
		free(damage->texts[i]);
	memset(damage, 0, sizeof(*damage));
}

int error_set(struct hyb_error *err, enum hyb_result code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

int error_system(struct hyb_error *err, const char *path, const char *what)
{
	return error_set(
		err, errno == ENOMEM ? HYB_ENOMEM : HYB_EIO, "%s: %s: %s", path, what, strerror(errno));
}

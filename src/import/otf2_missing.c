/* In place of import/otf2.c, where libotf2 was not there. */
#include "base/error.h"
#include "otf2.h"

int otf2_import(const char *anchor, const int *fds, const struct import_watch *watch, unsigned *ret_count,
	struct hyb_error *err)
{
	return error_set(err, HYB_EFORMAT,
		"%s: this build of hybrid cannot read OTF2: build it where libotf2 is installed", anchor);
}

/* hybrid-view: browses experiments in a terminal. */
#include <locale.h>
#include <stdio.h>

#include "viewer/app/app.h"
#include "viewer/app/guard.h"
#include "viewer/app/screen.h"

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

static int view(void *data)
{
	return app_run(data);
}

int main(int argc, char **argv)
{
	struct view_options options;
	const char *missing;
	int r;

	setlocale(LC_CTYPE, "");
	r = view_options_parse(&options, argc, argv);
	if (r)
		return r < 0 ? STATUS_USAGE : STATUS_OK;
	missing = screen_missing();
	if (missing) {
		fprintf(stderr, "hybrid-view: %s\n", missing);
		return STATUS_FAILED;
	}
	return guard_run(view, &options);
}

/* What is on the screen, into a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "viewer/app/app_state.h"

static void write_file(struct app *app, const char *name, int flags)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int error;

	if (!out) {
		app_say(app, INK_BAD, "cannot write %s: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	app_draw(viewer_of(app)); /* without the prompt */
	error = canvas_write(&viewer_of(app)->canvas, out) ? errno : 0;
	if (fclose(out) && !error)
		error = errno;
	if (error)
		app_say(app, INK_BAD, "cannot write %s: %s", name, strerror(error));
	else
		app_say(app, INK_PLAIN, "written to %s", name);
}

static void overwrite(struct app *app, const char *answer)
{
	if (*answer == 'y' || *answer == 'Y')
		write_file(app, viewer_of(app)->file, O_TRUNC);
	else
		app_say(app, INK_PLAIN, "not written");
}

static void named(struct app *app, const char *name)
{
	struct viewer *viewer = viewer_of(app);

	if (!*name)
		return;
	if (access(name, F_OK)) {
		write_file(app, name, O_EXCL);
		return;
	}
	free(viewer->file);
	viewer->file = strdup(name);
	if (viewer->file)
		app_prompt(app, "That file exists. Write over it? (y/n)", "", NULL, overwrite);
	else
		app_say(app, INK_BAD, "out of memory");
}

void app_write(struct app *app, struct pane *pane)
{
	app_prompt(app, "Write the screen to:", "hybrid-view.txt", NULL, named);
}

/*
 * The terminal: the only file that talks to ncurses. Brings a canvas there, and keys, mouse and changes of
 * size from there. One thread, one screen.
 */
#ifndef HYB_SCREEN_H
#define HYB_SCREEN_H

#include <signal.h>
#include <termios.h>

#include "viewer/app/canvas.h"

struct screen {
	bool on;
	bool utf8; /* shows more than ASCII */
	int colours; /* 256, 8, or 0: none */
	uint64_t pressed_at; /* ns; where the mouse was pressed last */
	int pressed_y, pressed_x;
	struct termios modes; /* while it is on */
	sigset_t outside; /* signals that wait while drawing */
};

enum event_kind {
	EVENT_NONE = 0,
	EVENT_KEY, /* `key`: KEY_* of ncurses, or a character of ASCII; Enter is '\n' */
	EVENT_CHARACTER, /* `key`: any other character, for texts */
	EVENT_MOUSE,
	EVENT_RESIZE,
	EVENT_END, /* `key`: SIGTERM, SIGINT or SIGHUP came; from now on always */
};

struct event {
	enum event_kind kind;
	int key;
	int y, x;
	unsigned button; /* MOUSE_*, see pane.h */
};

struct screen_wish {
	bool ascii, mouse;
	int colour; /* 1 always, 0 never, -1 by the terminal and NO_COLOR */
};

/* Without a screen: whether `fd` became readable within so many ms. */
bool screen_settle(int fd, int timeout);

/* What is missing to start one, in one line; NULL: nothing. */
const char *screen_missing(void);

/* After setlocale(). The process ends with a line on stderr if the terminal is not known. */
void screen_start(struct screen *screen, const struct screen_wish *wish);
/* The terminal as it was; accepts one that is not on. */
void screen_stop(struct screen *screen);

void screen_size(const struct screen *screen, int *ret_width, int *ret_height);

/* Shows it. cursor_x: where text is being typed, or -1. */
void screen_show(struct screen *screen, const struct canvas *canvas, int cursor_y, int cursor_x);
/* All of it is written again at the next screen_show(): something else wrote to the terminal. */
void screen_repair(struct screen *screen);

/*
 * Waits until there is an event, or `fd` is readable, or so many ms (-1: any) have passed. EVENT_NONE: look
 * at `fd`.
 */
struct event screen_wait(struct screen *screen, int fd, int timeout);

#endif

/*
 * A pane: a way to look at a snapshot. Each is a file of its own (a family of files where it is large) with a
 * const struct pane_class at its end; the application knows panes by these only. Drawing reads data that
 * update() or a job made; it never makes any. All functions run in the thread that draws.
 */
#ifndef HYB_PANE_H
#define HYB_PANE_H

#include <stddef.h>

#include "viewer/app/canvas.h"

struct app;
struct pane;

/* A list with a cursor, as most panes have. */
struct list {
	size_t cursor, top, count; /* top: first row that is visible */
	int height; /* rows that are visible */
	bool centre; /* list_set() scrolls the cursor to the middle */
};

/* Keeps cursor and top where they are as far as possible. */
void list_set(struct list *list, size_t count, int height);
/* Moves the cursor, so that it is visible; stops at the ends (LONG_MIN, LONG_MAX: goes there). */
void list_move(struct list *list, long rows);

/* Moves the cursor to a row, which stands in the middle from the next list_set() on. */
void list_go(struct list *list, size_t row);

/* Scrolls until the cursor is in the middle, as far as that goes. */
void list_centre(struct list *list);

#define LIST_NONE SIZE_MAX

/* The next row that fits, round the end: behind the cursor (direction 1) or in front of it (-1), or, with
 * `here`, its own. LIST_NONE: there is none. */
size_t list_find(const struct list *list, int direction, bool here, struct pane *pane, struct app *app,
	bool (*fits)(struct pane *pane, struct app *app, size_t row));

#define KEY_CTRL(letter) ((letter)&0x1f)
#define KEY_TEXT 12

/* "F1", "Enter", "^L", "x": a key by its name; the buffer is returned. */
const char *key_text(int key, char text[KEY_TEXT]);

/*
 * A key and what it does: of this table keys are bound, the help screen is made, and the key line at the
 * bottom (those with `label`). Keys are ncurses' (KEY_UP ...) or characters.
 */
struct binding {
	int keys[3]; /* 0: no more */
	const char *label; /* at most 8 columns, or NULL: only in the help */
	const char *text; /* one line of the help */
	void (*run)(struct app *app, struct pane *pane);
};

struct pane_class {
	const char *name; /* "tree": also for --view */
	const char *title; /* "Call tree" */
	int key; /* that goes there */
	bool side; /* stands beside or below another pane and follows its cursor, if there is room */
	size_t size; /* of the pane's struct, whose first member is a struct pane; is zeroed */
	/* 0 or HYB_ENOMEM. May be NULL, as all that follow but draw. */
	int (*init)(struct pane *pane, struct app *app);
	void (*release)(struct pane *pane, struct app *app);
	/* app->snapshot is another one, or app->focus has changed (changed: bits of enum pane_change). Only
	 * called while the pane is visible; bits gather meanwhile. */
	void (*update)(struct pane *pane, struct app *app, unsigned changed);
	/* Why there is nothing to see ("no trace: measure with --trace"), or NULL. */
	const char *(*empty)(struct pane *pane, struct app *app);
	void (*draw)(struct pane *pane, struct app *app, const struct area *area);
	/* The cursor of the list moved. Arrows, pages, Home, End, the wheel and clicks on rows are bound by
	 * the application; a double click does what Enter does. */
	void (*moved)(struct pane *pane, struct app *app);
	/* A click, beside that: row and column in the area that was drawn last; MOUSE_CLICK or _DOUBLE. */
	void (*mouse)(struct pane *pane, struct app *app, int y, int x, unsigned button);
	/* Search: whether a row of the list fits the expression. */
	bool (*fits)(struct pane *pane, struct app *app, size_t row);
	/* Or, if that is not all: goes to the next (direction 1) or previous (-1) place that fits, beginning
	 * with the one of the cursor if `here`. False: there is none. */
	bool (*find)(struct pane *pane, struct app *app, int direction, bool here);
	const struct binding *bindings; /* ends with zeros; go before the application's own */
};

enum pane_change { CHANGED_SNAPSHOT = 1, CHANGED_FOCUS = 2, CHANGED_SIZE = 4 };
enum { MOUSE_CLICK = 1, MOUSE_DOUBLE, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct pane {
	const struct pane_class *class;
	unsigned changed; /* update() is due */
	int height, width; /* of the area drawn last */
	struct list list;
	int first; /* line of that area in which the list's rows begin */
};

/* The row of the list in a line of the area, or LIST_NONE. */
size_t pane_row_at(const struct pane *pane, int y);

extern const struct pane_class tree_pane, reverse_pane, flat_pane, diff_pane, source_pane, assembly_pane,
	locations_pane, timeline_pane, communication_pane, quality_pane, findings_pane, help_pane;

/* All of them, in the order of their tabs. */
extern const struct pane_class *const pane_classes[];
extern const size_t pane_class_count;

#endif

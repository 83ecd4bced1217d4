/* Tables by function, line, file and module: a tree of one level, as far as its rows go. */
#include <curses.h>

#include "viewer/panes/tree.h"

static void next_table(struct app *app, struct pane *pane)
{
	static const enum profile_by next[] = {
		[PROFILE_BY_FUNCTION] = PROFILE_BY_LINE,
		[PROFILE_BY_LINE] = PROFILE_BY_FILE,
		[PROFILE_BY_FILE] = PROFILE_BY_MODULE,
		[PROFILE_BY_MODULE] = PROFILE_BY_FUNCTION,
	};

	tree_of(pane)->by = next[tree_of(pane)->by];
	pane->changed |= CHANGED_SNAPSHOT;
	app_redraw(app);
}

static const struct binding bindings[] = {
	{{KEY_F(3), 'f'}, "By", "by function, line, file or module", next_table},
	{{KEY_F(6), '>'}, "Sort", "order by the next column", tree_key_sort_right},
	{{'<'}, NULL, "order by the column before", tree_key_sort_left},
	{{'I'}, NULL, "turn the order round", tree_key_turn},
	{{KEY_F(4), 't'}, "Thresh", "leave out what is below so many percent", tree_key_threshold},
	{{KEY_F(2), 'c'}, "Columns", "choose columns and metrics", tree_key_columns},
	{{KEY_F(8), 'x'}, "Hide", "hide a module, file, group, function: its time is its caller's",
		tree_key_hide},
	{{'X'}, NULL, "show again all that was hidden", tree_key_show_all},
	{{'m'}, NULL, "mark a line with a letter", tree_key_mark},
	{{'M'}, NULL, "go to a mark", tree_key_to_mark},
	{{'b'}, NULL, "back to where the cursor was before it jumped", tree_key_back},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class flat_pane = {
	.name = "flat",
	.title = "Flat table",
	.key = '3',
	TREE_PANE_FUNCTIONS,
	.bindings = bindings,
};

/* The source with what each of its lines cost, at the line that the cursor of another pane is on. */
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/panes/source.h"

#define SCROLL 16 /* columns */

static struct source_pane *self(struct pane *pane)
{
	return (struct source_pane *)pane;
}

/* -------------------------------------------------------- lines and rows */

static size_t row_of_line(const struct source_pane *p, unsigned line)
{
	size_t row = 0;

	if (p->path)
		return line ? line - 1 : 0;
	while (row < p->cost_count && p->costs[row].line < line)
		row++;
	return row;
}

/* The line of a function that costs most; 0: none is known. */
static unsigned hottest_of(const struct source_pane *p, const char *function)
{
	const struct line_cost *best = NULL;

	for (size_t i = 0; i < p->cost_count; i++) {
		const struct line_cost *cost = &p->costs[i];

		if (!strcmp(cost->name, function) && (!best || cost->exclusive > best->exclusive))
			best = cost;
	}
	return best ? best->line : 0;
}

static void go_to(struct source_pane *p, unsigned line)
{
	list_go(&p->pane.list, row_of_line(p, line));
}

static void find_costs(struct source_pane *p)
{
	p->most = 0;
	p->costs = p->file ? lines_of(&p->lines, p->file, &p->cost_count) : NULL;
	p->cost_count = p->costs ? p->cost_count : 0;
	for (size_t i = 0; i < p->cost_count; i++)
		if (p->costs[i].exclusive > p->most)
			p->most = p->costs[i].exclusive;
}

static void find_wanted(struct source_pane *p)
{
	unsigned line = p->wanted;

	if (!p->go)
		return;
	p->go = false;
	if (!line && p->function)
		line = hottest_of(p, p->function);
	if (!line)
		line = p->declared;
	p->wanted = line;
	if (!line)
		line = lines_hot(p->costs, p->cost_count, 0, 0);
	go_to(p, line ? line : 1);
}

/* ---------------------------------------------------------------- loading */

static void forget_text(struct source_pane *p)
{
	source_release(&p->source);
	free(p->path);
	free(p->missing);
	p->path = p->missing = NULL;
	p->note[0] = '\0';
}

static void finished(void *owner, struct source_load *load)
{
	struct source_pane *p = owner;

	p->load = NULL;
	app_redraw(p->app);
	if (!load)
		return;
	forget_text(p);
	p->path = load->path;
	p->missing = load->missing;
	p->source = load->source;
	memcpy(p->note, load->note, sizeof(p->note));
	load->path = load->missing = NULL;
	load->source = (struct source){0};
	if (load->has_lines) {
		lines_release(&p->lines);
		p->lines = load->lines;
		load->lines = (struct lines){0};
		p->serial = load->snapshot->serial;
		p->called = load->snapshot->query.mode == PROFILE_CALLSITE;
	}
	if (!p->path && !p->missing)
		app_say(p->app, INK_BAD, "no memory for the source");
	find_costs(p);
	if (p->path && p->cost_count && p->costs[p->cost_count - 1].line > p->source.count && !p->source.cut)
		snprintf(p->note, sizeof(p->note), "has fewer lines than were measured: not the same file?");
	find_wanted(p);
}

static void start(struct source_pane *p, struct app *app)
{
	struct source_request request = {p->file, p->module, app->focus.python, true};

	request.lines = p->serial != app->snapshot->serial;
	source_load_leave(app->work, p->load);
	p->load = source_load_start(app->work, app->snapshot, &p->paths, &request, p, finished);
	if (!p->load)
		app_say(app, INK_BAD, "no memory for the source");
}

/* Takes over what the cursor is on; whether the file is another one. */
static bool take_focus(struct source_pane *p, const struct app *app)
{
	const struct focus *focus = &app->focus;
	const struct profile_node *nodes = profile_nodes(app->snapshot->profile);
	bool other = !p->file || strcmp(p->file, focus->file) != 0;
	uint32_t node = focus_node(focus, app->snapshot);

	/* Not where the same is looked at in another snapshot: one may have scrolled. */
	if (!other && focus->line == p->focused && p->function && !strcmp(p->function, focus->name))
		return false;
	free(p->function);
	p->function = strdup(focus->name);
	p->wanted = p->focused = focus->line;
	p->declared = node != NO_NODE ? nodes[node].declared : 0;
	p->go = true;
	if (!other)
		return false;
	free(p->file);
	free(p->module);
	p->file = strdup(focus->file);
	p->module = strdup(focus->module);
	p->left = 0;
	forget_text(p);
	p->costs = NULL;
	p->cost_count = 0;
	return true;
}

static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct source_pane *p = self(pane);
	const struct focus *focus = &app->focus;
	bool other = false;

	if (!app->snapshot || !focus->kind || !*focus->file)
		return;
	if (changed & CHANGED_FOCUS || !p->file)
		other = take_focus(p, app);
	if (!p->file || !p->module)
		return;
	if (other || (p->load ? p->load->snapshot->serial : p->serial) != app->snapshot->serial)
		start(p, app);
	else if (!p->load)
		find_wanted(p);
}

static const char *empty(struct pane *pane, struct app *app)
{
	struct source_pane *p = self(pane);
	const struct focus *focus = &app->focus;

	if (!focus->kind)
		return "no function or line is chosen: put the cursor of another pane on one";
	if (*focus->file)
		return NULL;
	if (focus->kind == PROFILE_ROOT || focus->kind == PROFILE_INCOMPLETE)
		return "no code here: choose a function or a line";
	snprintf(p->why, sizeof(p->why),
		"the source of %.120s is not known: compile it with -g, or install its debug information",
		focus->name);
	return p->why;
}

/* ------------------------------------------------------------------- keys */

static void hot(struct app *app, struct pane *pane, int direction)
{
	struct source_pane *p = self(pane);
	unsigned line = lines_hot(p->costs, p->cost_count, line_of_row(p, p->pane.list.cursor), direction);

	if (line)
		go_to(p, line);
	else
		app_say(app, INK_PLAIN, "no hot line %s",
			direction > 0   ? "below"
			: direction < 0 ? "above"
					: "in this file");
}

static void hot_next(struct app *app, struct pane *pane)
{
	hot(app, pane, 1);
}

static void hot_previous(struct app *app, struct pane *pane)
{
	hot(app, pane, -1);
}

static void hottest(struct app *app, struct pane *pane)
{
	hot(app, pane, 0);
}

static void scroll_left(struct app *app, struct pane *pane)
{
	struct source_pane *p = self(pane);

	p->left = p->left > SCROLL ? p->left - SCROLL : 0;
}

static void scroll_right(struct app *app, struct pane *pane)
{
	struct source_pane *p = self(pane);

	if (p->left < (int)LINE_MAX_SHOWN)
		p->left += SCROLL;
}

/* The part of the profile with the most time at the cursor's line is what is looked at then. */
static void choose(struct app *app, struct pane *pane)
{
	struct source_pane *p = self(pane);
	unsigned line = line_of_row(p, p->pane.list.cursor);
	const struct profile_node *nodes;
	uint32_t best = NO_NODE;
	struct focus focus;

	if (!app->snapshot || !p->file)
		return;
	nodes = profile_nodes(app->snapshot->profile);
	for (uint32_t i = 0; i < profile_count(app->snapshot->profile); i++)
		if (nodes[i].line == line && !strcmp(nodes[i].file, p->file) &&
			(best == NO_NODE || nodes[i].inclusive > nodes[best].inclusive))
			best = i;
	if (best == NO_NODE) {
		app_say(app, INK_PLAIN, "nothing was measured in line %u", line);
		return;
	}
	focus = focus_of_node(app->snapshot, best);
	focus.node = NO_NODE;
	app_focus(app, &focus);
}

static void take_map(struct app *app, const char *text)
{
	struct source_pane *p = NULL;
	int r;

	for (size_t i = 0; i < app->pane_count; i++)
		if (app->panes[i]->class == &source_pane)
			p = self(app->panes[i]);
	if (!p || !*text)
		return;
	r = paths_add(&p->paths, text);
	if (r)
		app_say(app, INK_BAD, r == -EINVAL ? "neither OLD=NEW nor a folder: %s" : "no memory for %s",
			text);
	else if (app->snapshot && p->file && p->module) {
		p->go = true;
		start(p, app);
	}
}

static void ask_map(struct app *app, struct pane *pane)
{
	app_prompt(app, "source is in (OLD=NEW, or a folder): ", "", NULL, take_map);
}

static bool fits(struct pane *pane, struct app *app, size_t row)
{
	const struct source_pane *p = self(pane);
	const char *text;
	regmatch_t range = {0};

	if (row >= row_count(p)) /* there may be another file than was drawn */
		return false;
	text = p->path ? NULL : p->costs[row].name;
	range.rm_eo = (regoff_t)(text ? strlen(text) : source_line(&p->source, row, &text));
	return regexec(app->search, text, 1, &range, REG_STARTEND) == 0;
}

static void draw(struct pane *pane, struct app *app, const struct area *area)
{
	source_draw(self(pane), area);
}

static int init(struct pane *pane, struct app *app)
{
	struct source_pane *p = self(pane);

	p->app = app;
	/* The first that fits is to go first. */
	for (size_t i = app->options->map_count; i-- > 0;)
		if (paths_add(&p->paths, app->options->maps[i]) == HYB_ENOMEM)
			return HYB_ENOMEM;
	return 0;
}

static void release(struct pane *pane, struct app *app)
{
	struct source_pane *p = self(pane);

	forget_text(p);
	lines_release(&p->lines);
	paths_release(&p->paths);
	free(p->file);
	free(p->module);
	free(p->function);
}

static const struct binding bindings[] = {
	{{'\n'}, NULL, "take the line as what is looked at", choose},
	{{']'}, "Hot", "the next hot line (at least a tenth of the hottest)", hot_next},
	{{'['}, NULL, "the previous hot line", hot_previous},
	{{'H'}, NULL, "go to the hottest line of the file", hottest},
	{{KEY_LEFT}, NULL, "scroll left", scroll_left},
	{{KEY_RIGHT}, NULL, "scroll right", scroll_right},
	{{'P'}, "Path", "set where the source is: OLD=NEW, or a folder to look in", ask_map},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class source_pane = {
	.name = "source",
	.title = "Source",
	.key = 's',
	.side = true,
	.size = sizeof(struct source_pane),
	.init = init,
	.release = release,
	.update = update,
	.empty = empty,
	.draw = draw,
	.fits = fits,
	.bindings = bindings,
};

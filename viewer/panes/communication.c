/* Communication: who sent how much to whom as a matrix with heat, the sizes of messages, the largest pairs.
 */
#include <curses.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "profile/mpi/traffic.h"
#include "viewer/app/app.h"

enum measure { MESSAGES = 0, BYTES, TIME, MEASURES };
enum view { MATRIX = 0, SIZES, PAIRS, VIEWS };

static const char *const measure_names[MEASURES] = {"messages", "bytes", "time"};

#define HEAD 2 /* rows above the list */
#define WIDE 8 /* columns of a cell with a number */
#define NARROW 2 /* of one with a digit: how many tenths of the logarithm of the largest */
#define LABEL 10

struct communication_pane {
	struct pane pane;
	struct snapshot *snapshot; /* whose profile's traffic shows: */
	uint64_t *worlds;
	size_t world_count;
	struct traffic_sizes sizes;
	struct profile_flow *pairs; /* NULL: out of memory */
	size_t pair_count;
	enum measure measure;
	enum view view;
	size_t world; /* index */
	struct matrix matrix;
	int columns; /* that it was made for */
	int width; /* of a cell: WIDE or NARROW */
	uint64_t most; /* of its cells */
	size_t column; /* of the cursor */
};

/* ------------------------------------------------------------------ data */

static struct communication_pane *of(struct pane *pane)
{
	return (struct communication_pane *)pane;
}

static bool add_world(struct communication_pane *p, uint64_t world)
{
	for (size_t i = 0; i < p->world_count; i++)
		if (p->worlds[i] == world)
			return true;
	return ARRAY_ADD(p->worlds, p->world_count, world);
}

static void forget_matrix(struct communication_pane *p)
{
	free(p->matrix.cells);
	p->matrix = (struct matrix){0};
	p->columns = 0;
}

static void forget(struct communication_pane *p)
{
	forget_matrix(p);
	snapshot_drop(p->snapshot);
	free(p->worlds);
	free(p->pairs);
	p->snapshot = NULL;
	p->worlds = NULL;
	p->pairs = NULL;
	p->world_count = p->pair_count = 0;
}

static void update(struct pane *pane, struct app *app, unsigned changed)
{
	struct communication_pane *p = of(pane);
	const struct profile_flow *flows;
	bool whole = true;

	if (!app->snapshot || app->snapshot == p->snapshot)
		return;
	forget(p);
	p->snapshot = snapshot_keep(app->snapshot);
	flows = profile_flows(p->snapshot->profile, &p->pair_count);
	p->pairs = traffic_largest(flows, p->pair_count);
	traffic_sum_sizes(p->snapshot->profile, &p->sizes);
	for (size_t i = 0; whole && i < p->pair_count; i++)
		whole = add_world(p, flows[i].world);
	p->world = p->world < p->world_count ? p->world : 0;
	if (!whole || !p->pairs)
		app_say(app, INK_BAD, "out of memory");
	p->pair_count = p->pairs ? p->pair_count : 0;
}

static void release(struct pane *pane, struct app *app)
{
	forget(of(pane));
}

static const char *empty(struct pane *pane, struct app *app)
{
	struct communication_pane *p = of(pane);

	if (!app->snapshot)
		return NULL;
	if (!profile_quality(app->snapshot->profile)->mpi_calls)
		return "no calls of MPI were measured";
	if (p->snapshot && !p->pair_count && p->sizes.first > p->sizes.last)
		return "no messages: the calls of MPI that were measured sent nothing";
	return NULL;
}

/* ---------------------------------------------------------------- figures */

static uint64_t measured(const struct communication_pane *p, const struct profile_side *side)
{
	return p->measure == MESSAGES ? side->messages : p->measure == BYTES ? side->bytes : side->time;
}

static const char *figure(const struct communication_pane *p, uint64_t value, char text[FIGURE_SIZE])
{
	return p->measure == TIME ? figure_duration(value, text) : figure_count(value, text);
}

static double share_of(const struct communication_pane *p, uint64_t value)
{
	return p->most ? (double)value / (double)p->most : 0;
}

static void name_block(const struct matrix *m, size_t i, char text[FIGURE_SIZE])
{
	uint32_t first = m->first + (uint32_t)i * m->block, last = first + m->block - 1;

	last = last < m->last ? last : m->last;
	if (first == last)
		snprintf(text, FIGURE_SIZE, "%" PRIu32, first);
	else
		snprintf(text, FIGURE_SIZE, "%" PRIu32 "-%" PRIu32, first, last);
}

static const char *rank_name(uint32_t rank, char text[FIGURE_SIZE])
{
	if (rank == HYB_RANK_NONE)
		snprintf(text, FIGURE_SIZE, "?");
	else
		snprintf(text, FIGURE_SIZE, "%" PRIu32 "%s", rank & ~HYB_RANK_FOREIGN,
			rank & HYB_RANK_FOREIGN ? "'" : "");
	return text;
}

/* ----------------------------------------------------------------- matrix */

/* Makes it for so many columns of the screen: numbers if there is room for all ranks, else digits. False:
 * there is none. */
static bool have_matrix(struct communication_pane *p, int columns)
{
	uint64_t world = p->world_count ? p->worlds[p->world] : 0;

	if (p->columns != columns) {
		forget_matrix(p);
		if (columns < NARROW || !matrix_range(&p->matrix, p->snapshot->profile, world))
			return false;
		p->width = p->matrix.last - p->matrix.first < (unsigned)columns / WIDE ? WIDE : NARROW;
		if (matrix_fill(&p->matrix, p->snapshot->profile, world, (size_t)(columns / p->width)))
			return false;
		p->columns = columns;
	}
	p->most = 0;
	for (size_t i = 0; i < p->matrix.side * p->matrix.side; i++) {
		uint64_t value = measured(p, &p->matrix.cells[i]);

		p->most = value > p->most ? value : p->most;
	}
	return true;
}

static const struct profile_side *cell_at(const struct communication_pane *p, size_t from, size_t to)
{
	return &p->matrix.cells[from * p->matrix.side + to];
}

static void draw_cell(
	const struct communication_pane *p, const struct area *area, int y, int x, uint64_t value)
{
	unsigned ink = value ? canvas_heat(share_of(p, value)) : INK_DIM;
	char text[FIGURE_SIZE] = ".";

	if (value && p->width == NARROW)
		snprintf(text, sizeof(text), "%d",
			p->most > 1 ? 1 + (int)(log((double)value) / log((double)p->most) * 8) : 9);
	else if (value && p->measure == TIME)
		snprintf(text, sizeof(text), "%.3g", (double)value / 1e6);
	else if (value)
		figure_count(value, text);
	canvas_printf(area, y, x, ink, "%*s", p->width, text);
}

static void draw_cursor(const struct communication_pane *p, const struct area *area)
{
	const struct profile_side *cell = cell_at(p, p->pane.list.cursor, p->column);
	char from[FIGURE_SIZE], to[FIGURE_SIZE], messages[FIGURE_SIZE], bytes[FIGURE_SIZE], time[FIGURE_SIZE];

	name_block(&p->matrix, p->pane.list.cursor, from);
	name_block(&p->matrix, p->column, to);
	canvas_printf(area, area->height - 1, 0, INK_BOLD, "from %s to %s: %s messages, %s bytes, %s", from,
		to, figure_number(cell->messages, messages), figure_number(cell->bytes, bytes),
		figure_duration(cell->time, time));
}

static void draw_head(const struct communication_pane *p, const struct area *area)
{
	char text[FIGURE_SIZE];

	canvas_printf(area, 0, 0, INK_BOLD, "%s%s from rank (row) to rank (column)%s%s",
		measure_names[p->measure], p->measure == TIME ? ", ms" : "",
		p->matrix.block > 1 ? ", in blocks of ranks" : "",
		p->width == NARROW ? "; digits: logarithm, 9 is the most" : "");
	for (size_t c = 0; c < p->matrix.side; c++) {
		name_block(&p->matrix, c, text);
		if (p->width == WIDE)
			canvas_printf(area, 1, LABEL + (int)c * WIDE, INK_DIM, "%*s", WIDE, text);
		else if (c % 8 == 0)
			canvas_text(area, 1, LABEL + 1 + (int)c * NARROW, INK_DIM, text);
	}
}

static void draw_matrix(struct communication_pane *p, const struct area *area)
{
	char text[FIGURE_SIZE];

	if (!have_matrix(p, area->width - LABEL)) {
		canvas_text(area, HEAD, 0, INK_DIM, "no messages from rank to rank");
		return;
	}
	p->column = p->column < p->matrix.side ? p->column : p->matrix.side - 1;
	list_set(&p->pane.list, p->matrix.side, area->height - HEAD - 1);
	draw_head(p, area);
	for (int i = 0; i < p->pane.list.height && p->pane.list.top + (size_t)i < p->matrix.side; i++) {
		size_t row = p->pane.list.top + (size_t)i;

		name_block(&p->matrix, row, text);
		canvas_printf(area, HEAD + i, 0, INK_DIM, "%*s", LABEL, text);
		for (size_t c = 0; c < p->matrix.side; c++)
			draw_cell(p, area, HEAD + i, LABEL + (int)c * p->width,
				measured(p, cell_at(p, row, c)));
		if (row == p->pane.list.cursor)
			canvas_reverse(area, HEAD + i, LABEL + (int)p->column * p->width, p->width);
	}
	draw_cursor(p, area);
}

/* ----------------------------------------------------------- sizes, pairs */

static void draw_sizes(struct communication_pane *p, const struct area *area)
{
	static const char *const names[TRAFFIC_GROUPS] = {
		"sent", "received", "collective", "one-sided", "read", "written"};
	const struct traffic_sizes *s = &p->sizes;
	size_t rows = s->first <= s->last ? s->last - s->first + 1 : 0;
	int x = 8;
	char text[FIGURE_SIZE];

	canvas_printf(area, 0, 0, INK_BOLD, "sizes of messages: %s of each, from that size to the next",
		measure_names[p->measure]);
	canvas_printf(area, 1, 0, INK_DIM, "%8s", "size");
	list_set(&p->pane.list, rows, area->height - HEAD);
	for (unsigned g = 0; g < TRAFFIC_GROUPS; g++) {
		if (!s->sums[g].messages)
			continue;
		canvas_printf(area, 1, x, INK_DIM, "%12s", names[g]);
		for (int i = 0; i < p->pane.list.height && p->pane.list.top + (size_t)i < rows; i++) {
			const struct profile_side *side =
				&s->classes[s->first + p->pane.list.top + (size_t)i][g];
			uint64_t all = measured(p, &s->sums[g]);
			double share = all ? (double)measured(p, side) / (double)all : 0;

			canvas_printf(area, HEAD + i, x, canvas_heat(share), "%12s",
				side->messages ? figure(p, measured(p, side), text) : ".");
			if (area->width >= 120)
				canvas_bar(area, HEAD + i, x + 13, 6, share, canvas_heat(share));
		}
		x += area->width >= 120 ? 20 : 12;
	}
	for (int i = 0; i < p->pane.list.height && p->pane.list.top + (size_t)i < rows; i++)
		canvas_printf(area, HEAD + i, 0, INK_PLAIN, "%8s",
			traffic_size_name(s->first + (unsigned)p->pane.list.top + (unsigned)i, text));
}

static void draw_pairs(struct communication_pane *p, const struct area *area)
{
	canvas_text(area, 0, 0, INK_BOLD, "largest pairs, most bytes first");
	canvas_text(area, 1, 0, INK_DIM, "    from      to    msgs   bytes    mean     sending   receiving");
	list_set(&p->pane.list, p->pair_count, area->height - HEAD);
	for (int i = 0; i < p->pane.list.height && p->pane.list.top + (size_t)i < p->pair_count; i++) {
		const struct profile_flow *f = &p->pairs[p->pane.list.top + (size_t)i];
		struct profile_side side = traffic_of(f);
		char a[FIGURE_SIZE], b[FIGURE_SIZE], n[FIGURE_SIZE], bytes[FIGURE_SIZE], mean[FIGURE_SIZE];
		char sending[FIGURE_SIZE], receiving[FIGURE_SIZE];

		canvas_printf(area, HEAD + i, 0, INK_PLAIN, "%8s%8s%8s%8s%8s%12s%12s%s",
			rank_name(f->from, a), rank_name(f->to, b), figure_count(side.messages, n),
			figure_count(side.bytes, bytes),
			figure_count(side.messages ? side.bytes / side.messages : 0, mean),
			figure_duration(f->sent.time, sending), figure_duration(f->received.time, receiving),
			f->kind == PROFILE_ONE_SIDED ? "  one-sided" : "");
		if (p->pane.list.top + (size_t)i == p->pane.list.cursor)
			canvas_reverse(area, HEAD + i, 0, area->width);
	}
}

static void draw(struct pane *pane, struct app *app, const struct area *area)
{
	static void (*const draws[VIEWS])(struct communication_pane *, const struct area *) = {
		draw_matrix, draw_sizes, draw_pairs};
	struct communication_pane *p = of(pane);

	pane->first = HEAD;
	if (p->snapshot)
		draws[p->view](p, area);
}

/* --------------------------------------------------------------- commands */

static void next_measure(struct app *app, struct pane *pane)
{
	of(pane)->measure = (of(pane)->measure + 1) % MEASURES;
}

static void next_view(struct app *app, struct pane *pane)
{
	of(pane)->view = (of(pane)->view + 1) % VIEWS;
	list_move(&pane->list, LONG_MIN);
}

static void next_world(struct app *app, struct pane *pane)
{
	struct communication_pane *p = of(pane);

	if (p->world_count < 2) {
		app_say(app, INK_PLAIN, "all ranks are of one MPI_COMM_WORLD");
		return;
	}
	p->world = (p->world + 1) % p->world_count;
	forget_matrix(p);
	app_say(app, INK_PLAIN, "MPI_COMM_WORLD %zu of %zu", p->world + 1, p->world_count);
}

static void left(struct app *app, struct pane *pane)
{
	of(pane)->column -= of(pane)->column > 0;
}

static void right(struct app *app, struct pane *pane)
{
	of(pane)->column += of(pane)->column + 1 < of(pane)->matrix.side;
}

static void mouse(struct pane *pane, struct app *app, int y, int x, unsigned button)
{
	struct communication_pane *p = of(pane);

	if (pane_row_at(pane, y) != LIST_NONE && p->view == MATRIX && p->matrix.side && x >= LABEL &&
		(size_t)((x - LABEL) / p->width) < p->matrix.side)
		p->column = (size_t)((x - LABEL) / p->width);
}

static const struct binding bindings[] = {
	{{'c'}, "Measure", "messages, bytes, or time of the calls that carried them", next_measure},
	{{'v'}, "View", "matrix, sizes of messages, or largest pairs", next_view},
	{{'o'}, "World", "the next MPI_COMM_WORLD, where several were measured", next_world},
	{{KEY_LEFT}, NULL, "one column to the left", left},
	{{KEY_RIGHT}, NULL, "one column to the right", right},
	{{0}, NULL, NULL, NULL},
};

const struct pane_class communication_pane = {
	.name = "communication",
	.title = "Communication",
	.key = '6',
	.size = sizeof(struct communication_pane),
	.release = release,
	.update = update,
	.empty = empty,
	.draw = draw,
	.mouse = mouse,
	.bindings = bindings,
};

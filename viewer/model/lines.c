#include "viewer/model/lines.h"

#include <stdlib.h>
#include <string.h>

#include "profile/views/row_map.h"
#include "base/search.h"

#define HOT_PART 10u /* a tenth of the hottest */
#define STOP_STEP 4096u /* nodes */

/* A row of the table while it is made; the key is in front. */
struct row {
	const char *file; /* interned by the profile */
	uint64_t line;
	uint32_t open; /* nodes of it on the way from the root to where the walk is */
	uint64_t most; /* ns of the part that gave the name */
	struct line_cost cost;
};

struct making {
	const struct profile_node *nodes;
	size_t count;
	struct row_map table; /* of struct row */
	uint32_t *row_of; /* by node: its row + 1, 0: none */
};

static struct row *row_at(const struct making *m, uint32_t row)
{
	return (struct row *)m->table.rows + row - 1;
}

static bool has_line(const struct profile_node *n)
{
	return n->line && *n->file &&
	       (n->kind == PROFILE_LEAF || n->kind == PROFILE_PROBE || n->kind == PROFILE_INTERMEDIATE);
}

static void add_own(struct row *row, const struct profile_node *n)
{
	struct line_cost *cost = &row->cost;
	uint64_t own = n->exclusive + n->blocked;

	if (cost->name && (cost->name != n->name || cost->module != n->module))
		cost->several = true;
	if (!cost->name || own > row->most) {
		row->most = own;
		cost->name = n->name;
		cost->module = n->module;
		cost->kind = n->kind;
	}
	cost->file = n->file;
	cost->line = n->line;
	cost->python |= n->python;
	cost->calls += n->calls;
	cost->samples += n->samples;
	cost->exclusive += n->exclusive;
	cost->waited += n->blocked - n->ready;
}

/* Finds each node's row and adds what is the node's own. 0, 1: stopped, or HYB_ENOMEM. */
static int fill(struct making *m, atomic_bool *stop)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct profile_node *n = &m->nodes[i];
		struct row key = {.file = n->file, .line = n->line};
		uint32_t number;

		if (stop && i % STOP_STEP == 0 && atomic_load(stop))
			return 1;
		if (!has_line(n))
			continue;
		number = row_map_number(&m->table, &key);
		if (number == ROW_NONE)
			return HYB_ENOMEM;
		m->row_of[i] = number + 1;
		add_own(row_at(m, number + 1), n);
	}
	return 0;
}

/* Nodes stand depth first: a node's time counts for its line unless it is below another node of that line. */
static void add_inclusive(struct making *m)
{
	uint32_t on = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		const struct profile_node *n = &m->nodes[i];

		for (; i && on != n->parent; on = m->nodes[on].parent)
			if (m->row_of[on])
				row_at(m, m->row_of[on])->open--;
		if (m->row_of[i] && !row_at(m, m->row_of[i])->open++) {
			row_at(m, m->row_of[i])->cost.inclusive += n->inclusive;
			row_at(m, m->row_of[i])->cost.idle += n->idle;
		}
		on = i;
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct line_cost *a = pa, *b = pb;
	int d = a->file == b->file ? 0 : strcmp(a->file, b->file);

	return d ? d : (a->line > b->line) - (a->line < b->line);
}

static int copy(const struct making *m, struct lines *ret)
{
	struct lines lines = {.count = m->table.count, .total = m->count ? profile_whole(m->nodes) : 0};
	bool ok;

	lines.items = calloc(lines.count + 1, sizeof(*lines.items));
	ok = lines.items != NULL;
	for (uint32_t i = 0; ok && i < lines.count; i++) {
		struct line_cost *cost = &lines.items[i];

		*cost = row_at(m, i + 1)->cost;
		cost->file = strings_get(&lines.strings, cost->file);
		cost->name = strings_get(&lines.strings, cost->name);
		cost->module = strings_get(&lines.strings, cost->module);
		ok = cost->file && cost->name && cost->module;
	}
	if (!ok) {
		lines_release(&lines);
		return HYB_ENOMEM;
	}
	qsort(lines.items, lines.count, sizeof(*lines.items), compare);
	*ret = lines;
	return 0;
}

int lines_make(const struct profile *profile, atomic_bool *stop, struct lines *ret)
{
	struct making m = {.nodes = profile_nodes(profile),
		.count = profile_count(profile),
		.table = {.row_size = sizeof(struct row), .key_size = offsetof(struct row, open)}};
	int r = HYB_ENOMEM;

	m.row_of = calloc(m.count + 1, sizeof(*m.row_of));
	if (m.row_of)
		r = fill(&m, stop);
	if (!r) {
		add_inclusive(&m);
		r = copy(&m, ret);
	}
	free(m.row_of);
	row_map_release(&m.table);
	return r;
}

void lines_release(struct lines *lines)
{
	free(lines->items);
	strings_release(&lines->strings);
	*lines = (struct lines){0};
}

/* The first that is not in front of a file's line. */
static size_t lower(const struct line_cost *items, size_t count, const char *file, unsigned line)
{
	const struct line_cost wanted = {.file = file, .line = line};

	return SEARCH(i, count, compare(&items[i], &wanted) < 0);
}

const struct line_cost *lines_of(const struct lines *lines, const char *file, size_t *ret_count)
{
	size_t first = lower(lines->items, lines->count, file, 0), end = first;

	while (end < lines->count && !strcmp(lines->items[end].file, file))
		end++;
	*ret_count = end - first;
	return end > first ? lines->items + first : NULL;
}

const struct line_cost *lines_at(const struct line_cost *of_file, size_t count, unsigned line)
{
	size_t i = count ? lower(of_file, count, of_file->file, line) : 0;

	return i < count && of_file[i].line == line ? &of_file[i] : NULL;
}

/* What a line did itself; where nothing in the file did, what it called. */
static uint64_t heat_of(const struct line_cost *cost, bool own)
{
	return own ? cost->exclusive : cost->inclusive - cost->idle;
}

unsigned lines_hot(const struct line_cost *of_file, size_t count, unsigned line, int direction)
{
	const struct line_cost *best = NULL;
	bool own = false;
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		own |= heat_of(&of_file[i], true) > 0;
	for (size_t i = 0; i < count; i++)
		if (heat_of(&of_file[i], own) > most) {
			most = heat_of(&of_file[i], own);
			best = &of_file[i];
		}
	if (!direction || !best)
		return best ? best->line : 0;
	for (size_t k = 0; k < count; k++) {
		const struct line_cost *at = &of_file[direction > 0 ? k : count - 1 - k];

		if (direction > 0 ? at->line <= line : at->line >= line)
			continue;
		if (heat_of(at, own) >= most / HOT_PART && heat_of(at, own))
			return at->line;
	}
	return 0;
}

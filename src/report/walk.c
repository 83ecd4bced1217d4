#include <stdlib.h>

#include "sheet.h"

/* Levels that are indented; deeper ones stand at the last with their number. */
#define INDENT_MAX 32

/* The first visible node among `i` and the siblings behind it, or 0; *hidden counts those passed over. */
static uint32_t seek_visible(const struct walker *w, uint32_t i, uint32_t *hidden)
{
	for (; i && !sheet_shows(w->sheet, i); i = w->sheet->nodes[i].next_sibling)
		++*hidden;
	return i;
}

/* Makes levels[level + 1] stand in front of the children of the current node. */
static int descend(struct walker *w, size_t *capacity)
{
	unsigned depth = w->sheet->options->depth;
	struct walk_level *below;
	uint32_t child = 0;

	if (w->level + 2 > *capacity) {
		struct walk_level *grown = realloc(w->levels, 2 * *capacity * sizeof(*grown));

		if (!grown)
			return HYB_ENOMEM;
		w->levels = grown;
		*capacity *= 2;
	}
	if (!depth || w->level < depth)
		child = w->sheet->nodes[w->levels[w->level].node].first_child;
	below = &w->levels[w->level + 1];
	*below = (struct walk_level){0};
	below->next = seek_visible(w, child, &below->hidden);
	below->rest = child && w->rest && w->rest(w, w->levels[w->level].node);
	return 0;
}

/* Goes on to the next sibling of a level. False: there is none. */
static bool advance(struct walker *w, struct walk_level *level)
{
	bool first = !level->node;

	if (!level->next)
		return false;
	level->node = level->next;
	level->next = seek_visible(w, w->sheet->nodes[level->node].next_sibling, &level->hidden);
	level->last = !level->next && !level->rest;
	level->only = first && level->last;
	return true;
}

static void finish_level(struct walker *w)
{
	if (w->levels[w->level].rest) {
		w->levels[w->level].last = true;
		w->hidden(w, w->levels[w->level - 1].node, w->levels[w->level].hidden);
	}
	w->level--;
}

int report_walk(struct walker *w)
{
	size_t capacity = 64;
	int r;

	w->levels = calloc(capacity, sizeof(*w->levels));
	if (!w->levels)
		return HYB_ENOMEM;
	w->level = 0;
	w->levels[0].last = true;
	w->enter(w, 0);
	r = descend(w, &capacity);
	w->level = 1;
	while (!r && w->level) {
		if (!advance(w, &w->levels[w->level])) {
			finish_level(w);
			continue;
		}
		w->enter(w, w->levels[w->level].node);
		r = descend(w, &capacity);
		w->level++;
	}
	free(w->levels);
	w->levels = NULL;
	return r;
}

int walk_guides(const struct style *style, const struct walker *w)
{
	static const char *const ascii[] = {"| ", "  ", "|-", "`-"};
	static const char *const lines[] = {"│ ", "  ", "├ ", "└ "};
	const char *const *g = style->utf8 ? lines : ascii;
	int n = 0;

	style_ink(style, INK_DIM);
	for (size_t level = 1; level <= w->level && n < 2 * INDENT_MAX; level++) {
		if (w->levels[level].chained)
			continue;
		fputs(g[(level == w->level ? 2 : 0) + w->levels[level].last], style->out);
		n += 2;
	}
	if (n >= 2 * INDENT_MAX)
		n += fprintf(style->out, "(%zu) ", w->level);
	style_ink(style, INK_PLAIN);
	return n;
}

#include <limits.h>

#include "viewer/app/pane.h"

/* The cursor is in the list and on the screen, and no rows are left empty that could be filled. */
static void settle(struct list *list)
{
	size_t height = list->height > 0 ? (size_t)list->height : 1;

	if (list->cursor >= list->count)
		list->cursor = list->count ? list->count - 1 : 0;
	if (list->top > list->cursor)
		list->top = list->cursor;
	if (list->cursor - list->top >= height)
		list->top = list->cursor - height + 1;
	if (list->top + height > list->count)
		list->top = list->count > height ? list->count - height : 0;
}

void list_set(struct list *list, size_t count, int height)
{
	list->count = count;
	list->height = height;
	if (list->centre && height > 0) {
		list->centre = false;
		list_centre(list);
	} else {
		settle(list);
	}
}

void list_go(struct list *list, size_t row)
{
	list->cursor = row;
	list->centre = true;
}

void list_move(struct list *list, long rows)
{
	size_t far = rows < 0 ? (size_t) - (rows + 1) + 1 : (size_t)rows;

	if (rows < 0)
		list->cursor = far > list->cursor ? 0 : list->cursor - far;
	else
		list->cursor = far >= list->count - (list->count ? list->cursor : 0)
				       ? (list->count ? list->count - 1 : 0)
				       : list->cursor + far;
	settle(list);
}

void list_centre(struct list *list)
{
	size_t half = list->height > 0 ? (size_t)list->height / 2 : 0;

	list->top = list->cursor > half ? list->cursor - half : 0;
	settle(list);
}

size_t list_find(const struct list *list, int direction, bool here, struct pane *pane, struct app *app,
	bool (*fits)(struct pane *pane, struct app *app, size_t row))
{
	size_t count = list->count, row = list->cursor;

	for (size_t i = here ? 0 : 1; i <= count && count; i++) {
		size_t at = direction > 0 ? (row + i) % count : (row + count - i % count) % count;

		if (fits(pane, app, at))
			return at;
	}
	return LIST_NONE;
}

size_t pane_row_at(const struct pane *pane, int y)
{
	const struct list *list = &pane->list;
	size_t row = list->top + (size_t)(y - pane->first);

	return y >= pane->first && y < pane->first + list->height && row < list->count ? row : LIST_NONE;
}

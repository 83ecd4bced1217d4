#include "viewer/app/prompt.h"

#include <curses.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>

#include "viewer/app/pane.h"
#include "viewer/app/utf8.h"

void prompt_open(struct prompt *prompt, const char *question, const char *text)
{
	mbstate_t state = {0};
	wchar_t c;

	*prompt = (struct prompt){.open = true};
	snprintf(prompt->question, sizeof(prompt->question), "%s", question);
	while (prompt->count < PROMPT_MAX && *text) {
		size_t n = mbrtowc(&c, text, strlen(text), &state);

		if (n == 0 || n > MB_LEN_MAX) /* no character of this locale */
			break;
		prompt->characters[prompt->count++] = (uint32_t)c;
		text += n;
	}
	prompt->cursor = prompt->count;
}

static enum prompt_state insert(struct prompt *prompt, uint32_t character)
{
	if (prompt->count == PROMPT_MAX)
		return PROMPT_SAME;
	memmove(prompt->characters + prompt->cursor + 1, prompt->characters + prompt->cursor,
		(prompt->count - prompt->cursor) * sizeof(*prompt->characters));
	prompt->characters[prompt->cursor++] = character;
	prompt->count++;
	return PROMPT_CHANGED;
}

/* The characters from `from` to below the cursor. */
static enum prompt_state cut(struct prompt *prompt, size_t from)
{
	if (from >= prompt->cursor)
		return PROMPT_SAME;
	memmove(prompt->characters + from, prompt->characters + prompt->cursor,
		(prompt->count - prompt->cursor) * sizeof(*prompt->characters));
	prompt->count -= prompt->cursor - from;
	prompt->cursor = from;
	return PROMPT_CHANGED;
}

static size_t word_before(const struct prompt *prompt)
{
	size_t at = prompt->cursor;

	while (at && prompt->characters[at - 1] == ' ')
		at--;
	while (at && prompt->characters[at - 1] != ' ')
		at--;
	return at;
}

static enum prompt_state move_to(struct prompt *prompt, size_t cursor)
{
	if (cursor <= prompt->count)
		prompt->cursor = cursor;
	return PROMPT_SAME;
}

enum prompt_state prompt_key(struct prompt *prompt, const struct event *event)
{
	if (event->kind == EVENT_CHARACTER || (event->key >= 0x20 && event->key < 0x7f))
		return insert(prompt, (uint32_t)event->key);
	switch (event->key) {
	case '\n':
		return PROMPT_DONE;
	case 27:
	case KEY_CTRL('g'):
		return PROMPT_LEFT;
	case KEY_LEFT:
	case KEY_CTRL('b'):
		return move_to(prompt, prompt->cursor - (prompt->cursor > 0));
	case KEY_RIGHT:
	case KEY_CTRL('f'):
		return move_to(prompt, prompt->cursor + 1);
	case KEY_HOME:
	case KEY_CTRL('a'):
		return move_to(prompt, 0);
	case KEY_END:
	case KEY_CTRL('e'):
		return move_to(prompt, prompt->count);
	case KEY_BACKSPACE:
		return cut(prompt, prompt->cursor - (prompt->cursor > 0));
	case KEY_DC:
	case KEY_CTRL('d'):
		if (prompt->cursor == prompt->count)
			return PROMPT_SAME;
		return cut(prompt, prompt->cursor++);
	case KEY_CTRL('u'):
		return cut(prompt, 0);
	case KEY_CTRL('w'):
		return cut(prompt, word_before(prompt));
	case KEY_CTRL('k'):
		prompt->count = prompt->cursor;
		return PROMPT_CHANGED;
	}
	return PROMPT_SAME;
}

/* The characters from `from` to below `to`. */
static const char *text_of(const struct prompt *prompt, size_t from, size_t to, char text[PROMPT_BYTES])
{
	char *end = text;

	for (size_t i = from; i < to; i++)
		end = utf8_put(end, prompt->characters[i]);
	*end = 0;
	return text;
}

const char *prompt_text(const struct prompt *prompt, char text[PROMPT_BYTES])
{
	return text_of(prompt, 0, prompt->count, text);
}

int prompt_draw(const struct prompt *prompt, const struct area *area, int y)
{
	char text[PROMPT_BYTES];
	int x = canvas_text(area, y, 0, INK_BOLD, prompt->question) + 1, room = area->width - x - 1, before;
	size_t from = 0;

	/* Of what does not fit, the end before the cursor shows. */
	while (from < prompt->cursor &&
		canvas_columns(area->canvas, text_of(prompt, from, prompt->cursor, text)) > room)
		from++;
	before = canvas_columns(area->canvas, text_of(prompt, from, prompt->cursor, text));
	canvas_text(area, y, x, INK_PLAIN, text_of(prompt, from, prompt->count, text));
	return x + before;
}

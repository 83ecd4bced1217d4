/* Keys by their names. */
#include <curses.h>
#include <stdio.h>

#include "viewer/app/pane.h"

static const struct {
	int key;
	const char *name;
} names[] = {
	{'\n', "Enter"},
	{'\t', "Tab"},
	{' ', "Space"},
	{27, "Esc"},
	{KEY_UP, "Up"},
	{KEY_DOWN, "Down"},
	{KEY_LEFT, "Left"},
	{KEY_RIGHT, "Right"},
	{KEY_SLEFT, "S-Left"},
	{KEY_SRIGHT, "S-Right"},
	{KEY_PPAGE, "PgUp"},
	{KEY_NPAGE, "PgDn"},
	{KEY_HOME, "Home"},
	{KEY_END, "End"},
	{KEY_IC, "Ins"},
	{KEY_DC, "Del"},
	{KEY_BACKSPACE, "Backsp"},
	{KEY_BTAB, "S-Tab"},
};

const char *key_text(int key, char text[KEY_TEXT])
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].key == key)
			return names[i].name;
	if (key >= KEY_F(1) && key <= KEY_F(24))
		snprintf(text, KEY_TEXT, "F%d", key - KEY_F0);
	else if (key > 0 && key < 32)
		snprintf(text, KEY_TEXT, "^%c", key + 64);
	else
		snprintf(text, KEY_TEXT, "%c", key);
	return text;
}

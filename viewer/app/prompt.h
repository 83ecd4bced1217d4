/* A line in which text is typed. Pure. */
#ifndef HYB_PROMPT_H
#define HYB_PROMPT_H

#include "viewer/app/canvas.h"
#include "viewer/app/screen.h"

#define PROMPT_MAX 512u /* characters */
#define PROMPT_BYTES (PROMPT_MAX * 4u + 1)

enum prompt_state { PROMPT_SAME = 0, PROMPT_CHANGED, PROMPT_DONE, PROMPT_LEFT };

struct prompt {
	bool open;
	char question[80];
	uint32_t characters[PROMPT_MAX];
	size_t count, cursor;
};

void prompt_open(struct prompt *prompt, const char *question, const char *text);
enum prompt_state prompt_key(struct prompt *prompt, const struct event *event);
/* In UTF-8; the buffer is returned. */
const char *prompt_text(const struct prompt *prompt, char text[PROMPT_BYTES]);
/* In line `y` of the area; the cursor's column. */
int prompt_draw(const struct prompt *prompt, const struct area *area, int y);

#endif

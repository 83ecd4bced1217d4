/* A character in UTF-8. */
#ifndef HYB_UTF8_H
#define HYB_UTF8_H

#include <stdint.h>

#define UTF8_MAX 4

/* Behind its bytes, of which there are at most UTF8_MAX. */
static inline char *utf8_put(char *to, uint32_t character)
{
	static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
	unsigned more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;

	*to++ = (char)(leads[more] | character >> 6 * more);
	while (more--)
		*to++ = (char)(0x80 | (character >> 6 * more & 0x3f));
	return to;
}

#endif

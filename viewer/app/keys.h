/* Keys by their names. */
#ifndef HYB_KEYS_H
#define HYB_KEYS_H

#define KEY_TEXT 12

/* "F1", "Enter", "^L", "x"; the buffer is returned. */
const char *key_text(int key, char text[KEY_TEXT]);

#endif

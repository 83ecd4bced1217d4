/* Arrays that grow by one item at a time, without a capacity of their own. */
#ifndef HYB_ARRAY_H
#define HYB_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_FIRST 8u

/*
 * Makes room for item number `count` of the heap array *array, which was only
 * ever grown by this function: it doubles at powers of two. False: memory is
 * out, the array is as it was.
 */
static inline bool array_room(void *array, size_t count, size_t item)
{
	void **at = array, *grown;

	if (count && (count < ARRAY_FIRST || (count & (count - 1))))
		return true;
	if (count > SIZE_MAX / 2 / item)
		return false;
	grown = realloc(*at, (count ? count * 2 : ARRAY_FIRST) * item);
	if (!grown)
		return false;
	*at = grown;
	return true;
}

#define ARRAY_ROOM(array_, count_) array_room(&(array_), count_, sizeof(*(array_)))

/* Puts a value behind the last one, and counts it. False: memory is out. */
#define ARRAY_ADD(array_, count_, ...) \
	(ARRAY_ROOM(array_, count_) ? ((array_)[(count_)++] = (__VA_ARGS__), true) : false)

#endif

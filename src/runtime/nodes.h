/* Call-path nodes of one thread: interned in place, in the mapped file. */
#ifndef HYB_NODES_H
#define HYB_NODES_H

#include "thread.h"

/* Id of the child of `parent`, made if it is new; 0 if there is no room. Owner thread */
uint32_t node_intern(struct thread *t, uint32_t parent, enum hyb_node_kind kind, uint64_t key);

/* The same for a child probe; a loop over one region finds it by a compare. Owner thread */
static inline uint32_t node_probe(
	struct thread *t, struct hyb_node *parent, uint32_t parent_id, enum hyb_node_kind kind, uint64_t key)
{
	uint32_t hot = parent->hot;

	if (likely(hot)) {
		struct hyb_node *node = node_at(hot);

		if (likely(node->key == key && node->kind == kind))
			return hot;
	}
	return parent->hot = node_intern(t, parent_id, kind, key);
}

#endif

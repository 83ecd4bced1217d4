/* What tests of events share: a small tree, and a walk through the events that are expected. */
#ifndef TEST_READER_TREE_H
#define TEST_READER_TREE_H

#include "hyb_writer.h"
#include "hybrid/reader.h"

/* Root, regions a (index 1) and b (2) below it, a leaf in each (3, 4), a leaf in the root (5). */
struct tree {
	struct writer *w;
	uint32_t root, a, b, in_a, in_b, in_root;
};

static inline void grow_tree(struct tree *t, uint32_t location)
{
	uint64_t a = writer_region(t->w, "a", "", 0, HYB_REGION_USER);
	uint64_t b = writer_region(t->w, "b", "", 0, HYB_REGION_USER);

	t->root = writer_location(t->w, location, location, 1000);
	t->a = writer_node(t->w, location, t->root, HYB_NODE_REGION, a);
	t->b = writer_node(t->w, location, t->a, HYB_NODE_REGION, b);
	t->in_a = writer_node(t->w, location, t->a, HYB_NODE_LEAF, 0x10);
	t->in_b = writer_node(t->w, location, t->b, HYB_NODE_LEAF, 0x20);
	t->in_root = writer_node(t->w, location, t->root, HYB_NODE_LEAF, 0x30);
}

/* The next one, of that kind and time. */
static inline struct hyb_event expect_event(struct hyb_events *events, unsigned kind, uint64_t time)
{
	struct hyb_event event;

	assert_int_equal(hyb_events_next(events, &event), 1);
	assert_int_equal(event.kind, kind);
	assert_int_equal(event.time, time);
	return event;
}

/* There is none, also if asked again. Closes. */
static inline void expect_end(struct hyb_events *events)
{
	struct hyb_event event;

	assert_int_equal(hyb_events_next(events, &event), 0);
	assert_int_equal(hyb_events_next(events, &event), 0);
	hyb_events_close(events);
}

#endif

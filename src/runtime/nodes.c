#include "nodes.h"

#include <sys/mman.h>

#define NODES_FIRST 4096u /* bytes of a location's first chunk; doubles up to NODES_LARGE */
#define NODES_LARGE 65536u

static uint32_t hash(uint32_t parent, uint8_t kind, uint64_t key)
{
	uint64_t h = (key ^ (uint64_t)parent << 32 ^ kind) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32);
}

/* A fresh node, not yet linked; 0 if there is no room. */
static uint32_t take(struct thread *t)
{
	if (unlikely(t->node_next_id + rt.node_cells > t->node_end_id)) {
		uint32_t size = NODES_FIRST << (t->node_serial < 4 ? t->node_serial : 4);
		enum hyb_chunk_kind kind = rt.metrics ? HYB_CHUNK_WIDE_NODES : HYB_CHUNK_NODES;
		uint64_t at = store_claim(kind, size, t->loc->id, t->node_serial);

		if (!at)
			return 0;
		t->node_serial++;
		t->node_chunk = store_at(at);
		if (rt.metrics)
			((struct hyb_wide *)(t->node_chunk + 1))->cells = rt.node_cells;
		t->node_chunk->used = HYB_NODES_START;
		t->node_next_id = (uint32_t)((at + HYB_NODES_START) / HYB_NODE_SIZE);
		t->node_end_id = (uint32_t)((at + size) / HYB_NODE_SIZE);
	}
	t->node_chunk->used += rt.node_cells * HYB_NODE_SIZE;
	t->node_next_id += rt.node_cells;
	return t->node_next_id - rt.node_cells;
}

/* Twice the buckets, once there are as many nodes. Keeps the old ones if memory is out. */
static void grow(struct thread *t)
{
	uint32_t count = (t->bucket_mask + 1) * 4;
	uint32_t *buckets = mmap(
		NULL, count * sizeof(*buckets), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buckets == MAP_FAILED)
		return;
	for (uint32_t i = 0; i <= t->bucket_mask; i++) {
		for (uint32_t id = t->buckets[i], next; id; id = next) {
			struct hyb_node *node = node_at(id);
			uint32_t *bucket = &buckets[hash(node->parent, node->kind, node->key) & (count - 1)];

			next = node->chain;
			node->chain = *bucket;
			*bucket = id;
		}
	}
	if (t->buckets != t->first_buckets)
		munmap(t->buckets, (t->bucket_mask + 1) * sizeof(*buckets));
	t->buckets = buckets;
	t->bucket_mask = count - 1;
}

uint32_t node_intern(struct thread *t, uint32_t parent, enum hyb_node_kind kind, uint64_t key)
{
	uint32_t h = hash(parent, kind, key), id;
	struct hyb_node *node;

	for (id = t->buckets[h & t->bucket_mask]; id; id = node->chain) {
		node = node_at(id);
		if (node->key == key && node->parent == parent && node->kind == kind)
			return id;
	}
	/* Samples come at a rate; probes could fill the disk with call paths. */
	if (unlikely(t->node_count >= HYB_PROBE_NODES_MAX) &&
		(kind <= HYB_NODE_FUNCTION || kind >= HYB_NODE_MESSAGE))
		return 0;
	id = take(t);
	if (!id)
		return 0;
	if (++t->node_count > t->bucket_mask)
		grow(t);
	node = node_at(id);
	node->parent = parent;
	node->key = key;
	node->chain = t->buckets[h & t->bucket_mask];
	signal_barrier();
	node->kind = (uint8_t)kind;
	t->buckets[h & t->bucket_mask] = id;
	t->loc->nodes = t->node_count;
	return id;
}

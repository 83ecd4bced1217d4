/*
 * A tree of profile nodes that grows by looking children up, then is summed and
 * put in order once. Everything is iterative: paths may be as deep as memory.
 */
#ifndef HYB_TREE_H
#define HYB_TREE_H

#include "base/row_index.h"
#include "profile/profile.h"

struct tree {
	struct profile_node *nodes;
	size_t count, capacity;
	struct row_index index; /* by parent and identity */
};

/* Makes a tree of one root with that name (not copied). 0 or HYB_ENOMEM. */
int tree_init(struct tree *tree, const char *root_name);
void tree_release(struct tree *tree);

/*
 * The child of `parent` with the identity of `like` (kind, name, file, module,
 * line, guess; strings compared by pointer), made if it is not there; other
 * fields of `like` do not matter. 0 when memory is out.
 */
uint32_t tree_child(struct tree *tree, uint32_t parent, const struct profile_node *like);

/* inclusive = exclusive + blocked + sum of the children's inclusive, everywhere; and idle = idle_alone + that
 * of the children. */
void tree_sum(struct tree *tree);

/*
 * Renumbers the nodes in depth-first order, siblings in the order of `sort`
 * (equal ones by inclusive time, then name, file, line), and links them. What
 * tree_child() makes after it is not linked until the next time. ret_map: NULL, or an array of `count`
 * entries that receives the new index of each old one. With `weight` (by old index) siblings with more of it
 * come first and `sort` is not used. 0 or HYB_ENOMEM.
 */
int tree_arrange(struct tree *tree, enum profile_sort sort, const uint64_t *weight, uint32_t *ret_map);

/* Weights for it that order nodes as these do, NAN last; to be freed. NULL when memory is out. */
uint64_t *tree_weights(const double *weight, size_t count);

/* Calls that were no shorter and no longer than so, ns, are among the node's; 0: not known. */
static inline void tree_extend_range(struct profile_node *node, uint64_t least, uint64_t most)
{
	if (!node->least || (least && least < node->least))
		node->least = least;
	if (most > node->most)
		node->most = most;
}

#endif

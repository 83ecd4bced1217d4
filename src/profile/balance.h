/*
 * In a profile by location, divides among the locations what share.h shares out over all of them, so that the
 * views agree: a location has the time that it ran, and a function the time that it has in the tree without
 * locations. A sample stands for the same time wherever it was taken. A location whose samples stand for more
 * than it ran keeps as much as that of them, and hands the rest on to those whose samples stand for less,
 * most of which have none. So a short location may have time without samples, at the nodes where other
 * locations of its program had samples.
 *
 * Nothing is handed on between locations of different programs.
 */
#ifndef HYB_BALANCE_H
#define HYB_BALANCE_H

#include "profile/share.h"

struct balance {
	struct tree all; /* without locations: below the root the programs */
	uint32_t *all_probe; /* the nearest probe at or above each of its nodes */
	uint32_t *like; /* the node of `all` that a node of the tree is one of */
	uint32_t *probe; /* the nearest probe at or above each node of the tree */
	size_t count; /* of the tree, before nodes were added */
};

/* The tree is one by location, and in an order that does not depend on who was added first. 0 or HYB_ENOMEM;
 * to be released in any case. */
int balance_init(struct balance *balance, const struct tree *tree);

/*
 * Brings what a share has of a source to SHARE_IN_PLACE; nodes for what is handed on are added to the tree.
 * What goes up and down (an amount is negative) is left as it is. 0 or HYB_ENOMEM.
 */
int balance_share(const struct balance *balance, struct tree *tree, struct share *share, unsigned source);

void balance_release(struct balance *balance);

#endif

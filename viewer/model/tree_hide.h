/* Trees without some of their nodes: the time of what is hidden is its caller's. Pure, no screens. */
#ifndef HYB_TREE_HIDE_H
#define HYB_TREE_HIDE_H

#include "profile/views/views.h"
#include "viewer/model/tree_view.h"

#define HIDE_MAX 64u

enum hide_what {
	HIDE_FUNCTION = 0, /* of this name, in this file */
	HIDE_FILE,
	HIDE_MODULE,
	HIDE_GROUP, /* one of hide_groups[] */
};

/* "MPI", "Python", "system" (libraries of /lib and /usr/lib) */
#define HIDE_GROUPS 3u
extern const char *const hide_groups[HIDE_GROUPS];

struct hide_rule {
	enum hide_what what;
	char *name, *file; /* file: of a function */
};

/* Zero bytes are an empty list: nothing is hidden. */
struct hide_list {
	struct hide_rule rules[HIDE_MAX];
	size_t count;
};

/* Copies strings. 0, HYB_ENOMEM, or -1 when it is full. */
int hide_add(struct hide_list *list, enum hide_what what, const char *name, const char *file);
int hide_copy(struct hide_list *to, const struct hide_list *from);
void hide_release(struct hide_list *list);
/* Whether it is code of the program's own: of no library that the system installs, nor of MPI. */
bool node_is_of_user(const struct profile_node *node);
/* The group that a node is of, or NULL. */
const char *hide_group_of(const struct profile_node *node);
/* "module libm.so.6, function f" */
void hide_text(const struct hide_list *list, char *text, size_t size);

/* What is left, in the form of a tree of its own. Its strings are those it was made of. */
struct hidden_tree {
	struct profile_tree tree;
	struct profile_diff_pair *pairs; /* NULL: no difference */
	struct profile_value *before; /* of that; NULL: no metrics */
	uint32_t *origin; /* by node: the one it was, or TREE_NONE if it was several */
};

/*
 * Values of what is hidden go to the nearest node above that is not (its calls go nowhere), its children
 * move up to that and are merged with those that are the same. The root is never hidden. Of a difference
 * (else NULL) `pairs` and, if there are metrics, their values `before`. 0 or HYB_ENOMEM.
 */
int hide_make(const struct profile_view *view, const struct profile_diff_pair *pairs,
	const struct profile_value *before, const struct hide_list *list, struct hidden_tree *ret_tree);
void hidden_tree_release(struct hidden_tree *tree);

#endif

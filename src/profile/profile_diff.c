#include "profile/profile_diff.h"

#include <stdlib.h>

#include "profile/codes.h"
#include "profile/intern.h"
#include "profile/tree.h"

struct profile_diff {
	struct strings strings;
	struct profile_diff_node *nodes;
	size_t count;
};

struct pair {
	struct profile_values before, after;
};

static void add_values(struct profile_values *to, const struct profile_node *from)
{
	to->present = true;
	to->calls += from->calls;
	to->samples += from->samples;
	to->inclusive += from->inclusive;
	to->exclusive += from->exclusive;
	to->blocked += from->blocked;
}

/* Puts one of the profiles into the common tree; pairs[] is by its index. */
static int add_side(struct profile_diff *diff, struct tree *tree, const struct profile *profile,
	struct pair *pairs, bool after)
{
	const struct profile_node *nodes = profile_nodes(profile);
	size_t count = profile_count(profile);
	uint32_t *map = calloc(count, sizeof(*map));
	int r = map ? 0 : HYB_ENOMEM;

	for (size_t i = 0; !r && i < count; i++) {
		struct profile_node like = {
			.kind = nodes[i].kind, .line = nodes[i].line, .python = nodes[i].python};

		like.name = strings_get(&diff->strings, nodes[i].name);
		/* A build in another directory is the same program. */
		like.file = strings_get(&diff->strings, path_base(nodes[i].file));
		like.module = "";
		if (i && like.name && like.file)
			map[i] = tree_child(tree, map[nodes[i].parent], &like);
		if (!like.name || !like.file || (i && !map[i]))
			r = HYB_ENOMEM;
		else
			add_values(after ? &pairs[map[i]].after : &pairs[map[i]].before, &nodes[i]);
	}
	free(map);
	return r;
}

static uint64_t change(const struct pair *pair)
{
	uint64_t a = pair->after.inclusive, b = pair->before.inclusive;

	return a > b ? a - b : b - a;
}

/* Orders the tree by change and copies it out with its values. */
static int make_nodes(struct profile_diff *diff, struct tree *tree, const struct pair *pairs)
{
	uint64_t *weight = calloc(tree->count, sizeof(*weight));
	uint32_t *map = calloc(tree->count, sizeof(*map));
	int r = HYB_ENOMEM;

	diff->nodes = calloc(tree->count, sizeof(*diff->nodes));
	if (!weight || !map || !diff->nodes)
		goto out;
	for (size_t i = 0; i < tree->count; i++)
		weight[i] = change(&pairs[i]);
	for (size_t i = tree->count; i-- > 1;)
		if (weight[i] > weight[tree->nodes[i].parent])
			weight[tree->nodes[i].parent] = weight[i];
	r = tree_arrange(tree, PROFILE_SORT_INCLUSIVE, weight, map);
	if (r)
		goto out;
	diff->count = tree->count;
	for (size_t i = 0; i < tree->count; i++) {
		const struct profile_node *n = &tree->nodes[map[i]];

		diff->nodes[map[i]] = (struct profile_diff_node){
			.parent = n->parent,
			.first_child = n->first_child,
			.next_sibling = n->next_sibling,
			.kind = n->kind,
			.python = n->python,
			.name = n->name,
			.file = n->file,
			.line = n->line,
			.before = pairs[i].before,
			.after = pairs[i].after,
			.change = weight[i],
		};
	}
out:
	free(map);
	free(weight);
	return r;
}

struct profile_diff *profile_diff_new(const struct profile *before, const struct profile *after)
{
	struct profile_diff *diff = calloc(1, sizeof(*diff));
	struct pair *pairs = calloc(profile_count(before) + profile_count(after), sizeof(*pairs));
	struct tree tree = {0};
	const char *root = diff ? strings_get(&diff->strings, profile_nodes(after)->name) : NULL;
	bool ok = pairs && root && !tree_init(&tree, root) && !add_side(diff, &tree, before, pairs, false) &&
		  !add_side(diff, &tree, after, pairs, true) && !make_nodes(diff, &tree, pairs);

	tree_release(&tree);
	free(pairs);
	if (ok)
		return diff;
	profile_diff_free(diff);
	return NULL;
}

void profile_diff_free(struct profile_diff *diff)
{
	if (!diff)
		return;
	strings_release(&diff->strings);
	free(diff->nodes);
	free(diff);
}

size_t profile_diff_count(const struct profile_diff *diff)
{
	return diff->count;
}

const struct profile_diff_node *profile_diff_nodes(const struct profile_diff *diff)
{
	return diff->nodes;
}

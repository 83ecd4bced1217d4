#include "viewer/snapshot/focus.h"

#include <stdlib.h>
#include <string.h>

#include "viewer/model/tree_view.h"

static char *copy_text(const char *text)
{
	return strdup(text ? text : "");
}

int focus_copy(struct focus *copy, const struct focus *focus)
{
	*copy = *focus;
	copy->name = copy_text(focus->name);
	copy->file = copy_text(focus->file);
	copy->module = copy_text(focus->module);
	if (copy->name && copy->file && copy->module)
		return 0;
	focus_release(copy);
	return HYB_ENOMEM;
}

void focus_release(struct focus *copy)
{
	free((char *)copy->name);
	free((char *)copy->file);
	free((char *)copy->module);
	*copy = (struct focus){0};
}

static bool is_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

bool focus_is(const struct focus *a, const struct focus *b)
{
	return a->kind == b->kind && a->python == b->python && a->line == b->line && a->node == b->node &&
	       a->serial == b->serial && is_text(a->name, b->name) && is_text(a->file, b->file) &&
	       is_text(a->module, b->module);
}

struct focus focus_of_node(const struct snapshot *snapshot, uint32_t node)
{
	const struct profile_node *n = &profile_nodes(snapshot->profile)[node];

	return (struct focus){
		n->kind, n->python, n->name, n->file, n->module, n->line, node, snapshot->serial};
}

uint32_t focus_node(const struct focus *focus, const struct snapshot *snapshot)
{
	return focus->serial == snapshot->serial ? focus->node : NO_NODE;
}

/* ----------------------------------------------------- another snapshot */

static uint32_t match_node(const struct snapshot *from, const struct snapshot *to, uint32_t node)
{
	struct match *match = match_new(profile_nodes(from->profile), profile_count(from->profile),
		profile_nodes(to->profile), profile_count(to->profile), from->query.mode != to->query.mode);
	uint32_t found = match ? match_find(match, node) : TREE_NONE;

	match_free(match);
	return found;
}

/* Any node of that function: what is shown of it does not hang on one place in the tree. */
static uint32_t find_function(const struct snapshot *to, const struct focus *focus)
{
	const struct profile_node *nodes = profile_nodes(to->profile);

	for (size_t i = 0; i < profile_count(to->profile); i++)
		if (!strcmp(nodes[i].name, focus->name) && !strcmp(nodes[i].file, focus->file) &&
			!strcmp(nodes[i].module, focus->module))
			return (uint32_t)i;
	return TREE_NONE;
}

/* Lends its strings. */
static bool find(const struct focus *focus, const struct snapshot *from, const struct snapshot *to,
	struct focus *ret_found)
{
	uint32_t place = focus_node(focus, from), node;
	const struct profile_node *n;

	if (!focus->kind)
		return false;
	node = place == NO_NODE ? find_function(to, focus) : match_node(from, to, place);
	if (node == TREE_NONE)
		return false;
	n = &profile_nodes(to->profile)[node];
	*ret_found = *focus;
	ret_found->name = n->name;
	ret_found->file = n->file;
	ret_found->module = n->module;
	ret_found->node = place == NO_NODE ? NO_NODE : node;
	ret_found->serial = to->serial;
	return true;
}

void focus_carry(struct focus *copy, const struct snapshot *from, const struct snapshot *to)
{
	struct focus found, carried = {0};

	if (find(copy, from, to, &found))
		focus_copy(&carried, &found);
	focus_release(copy);
	*copy = carried;
}

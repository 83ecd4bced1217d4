/* What is looked at stays so when the files are read again. */
#include <string.h>

#include "viewer/app_state.h"
#include "viewer/forest.h"

static const struct profile_node *match_node(
	const struct snapshot *from, const struct snapshot *to, uint32_t node, uint32_t *ret_node)
{
	struct match *match = match_new(profile_nodes(from->profile), profile_count(from->profile),
		profile_nodes(to->profile), profile_count(to->profile), from->query.mode != to->query.mode);

	*ret_node = match && node < profile_count(from->profile) ? match_find(match, node) : FOREST_NONE;
	match_free(match);
	return *ret_node == FOREST_NONE ? NULL : &profile_nodes(to->profile)[*ret_node];
}

/* Any node of that function: what is shown of it does not hang on one place in the tree. */
static const struct profile_node *find_function(const struct snapshot *to, const struct focus *focus)
{
	const struct profile_node *nodes = profile_nodes(to->profile);

	for (size_t i = 0; i < profile_count(to->profile); i++)
		if (!strcmp(nodes[i].name, focus->name) && !strcmp(nodes[i].file, focus->file) &&
			!strcmp(nodes[i].module, focus->module))
			return &nodes[i];
	return NULL;
}

void app_carry_focus(struct app *app, const struct snapshot *from, const struct snapshot *to)
{
	struct focus focus = app->focus;
	const struct profile_node *node = NULL;
	uint32_t index = NO_NODE;

	app->focus = (struct focus){.node = NO_NODE};
	if (!from || !focus.kind)
		return;
	if (focus.node != NO_NODE)
		node = match_node(from, to, focus.node, &index);
	else
		node = find_function(to, &focus);
	if (!node)
		return;
	focus.node = index;
	focus.name = node->name;
	focus.file = node->file;
	focus.module = node->module;
	app->focus = focus;
}

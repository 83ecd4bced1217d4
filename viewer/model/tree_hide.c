#include "viewer/model/tree_hide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/wrap.h"
#include "profile/metrics/metric_sums.h"
#include "profile/views/tree.h"

const char *const hide_groups[HIDE_GROUPS] = {"MPI", "Python", "system"};

static bool is_of_system(const char *path)
{
	return !strncmp(path, "/lib", 4) || !strncmp(path, "/usr/lib", 8);
}

/* Files of Python tell themselves; code of the interpreter's own has names like <frozen os>. */
bool node_is_of_user(const struct profile_node *n)
{
	if (n->mpi || is_of_system(n->module) || is_of_system(n->file))
		return false;
	return n->python ? *n->file && *n->file != '<' : *n->module;
}

const char *hide_group_of(const struct profile_node *n)
{
	return n->mpi                    ? hide_groups[0]
	       : n->python               ? hide_groups[1]
	       : is_of_system(n->module) ? hide_groups[2]
					 : NULL;
}

int hide_add(struct hide_list *list, enum hide_what what, const char *name, const char *file)
{
	struct hide_rule *rule = &list->rules[list->count];

	if (list->count == HIDE_MAX)
		return -1;
	*rule = (struct hide_rule){what, strdup(name), strdup(file)};
	if (!rule->name || !rule->file) {
		free(rule->name);
		free(rule->file);
		return HYB_ENOMEM;
	}
	list->count++;
	return 0;
}

int hide_copy(struct hide_list *to, const struct hide_list *from)
{
	int r = 0;

	to->count = 0;
	for (size_t i = 0; !r && i < from->count; i++)
		r = hide_add(to, from->rules[i].what, from->rules[i].name, from->rules[i].file);
	if (r)
		hide_release(to);
	return r;
}

void hide_release(struct hide_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->rules[i].name);
		free(list->rules[i].file);
	}
	list->count = 0;
}

static bool covers(const struct hide_rule *rule, const struct profile_node *n)
{
	const char *group;

	switch (rule->what) {
	case HIDE_FUNCTION:
		return !strcmp(n->name, rule->name) && !strcmp(n->file, rule->file);
	case HIDE_FILE:
		return !strcmp(n->file, rule->name);
	case HIDE_MODULE:
		return !strcmp(n->module, rule->name);
	case HIDE_GROUP:
		break;
	}
	group = hide_group_of(n);
	return group && !strcmp(group, rule->name);
}

static bool hide_covers(const struct hide_list *list, const struct profile_node *n)
{
	for (size_t i = 0; i < list->count; i++)
		if (covers(&list->rules[i], n))
			return true;
	return false;
}

void hide_text(const struct hide_list *list, char *text, size_t size)
{
	static const char *const words[] = {"function ", "file ", "module ", "group "};
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < list->count && used < size; i++) {
		const struct hide_rule *rule = &list->rules[i];
		bool is_path = rule->what == HIDE_FILE || rule->what == HIDE_MODULE;

		used += (size_t)snprintf(text + used, size - used, "%s%s%s", i ? ", " : "", words[rule->what],
			is_path ? path_base(rule->name) : rule->name);
	}
}

/* ------------------------------------------------------------- the tree */

/* While it is made. */
struct making {
	const struct profile_view *view;
	const struct profile_diff_pair *from_pairs;
	const struct profile_value *from_before;
	const struct hide_list *list;
	struct tree tree;
	uint32_t *map; /* by node: the one that has its values */
	struct profile_value *values, *before;
	struct profile_diff_pair *pairs;
	uint32_t *origin;
};

static void add_metrics(struct profile_value *to, const struct profile_value *from, size_t metrics)
{
	for (size_t k = 0; k < metrics; k++) {
		wrap_add(&to[k].exclusive, from[k].exclusive);
		to[k].samples += from[k].samples;
	}
}

static void add_alone(struct profile_values *to, const struct profile_values *from, bool hidden)
{
	to->present |= from->present && !hidden;
	to->calls += hidden ? 0 : from->calls;
	to->samples += from->samples;
	to->exclusive += from->exclusive;
	to->blocked += from->blocked;
	to->ready += from->ready;
	to->idle_alone += from->idle_alone;
	to->idle += from->idle_alone;
}

/* What is a node's own, without what is below it. */
static void add_node(struct making *m, uint32_t i, bool hidden)
{
	const struct profile_node *n = &m->view->nodes[i];
	struct profile_node *to = &m->tree.nodes[m->map[i]];
	size_t metrics = m->view->metrics;

	to->samples += n->samples;
	to->exclusive += n->exclusive;
	to->blocked += n->blocked;
	to->ready += n->ready;
	to->idle_alone += n->idle_alone;
	if (m->values)
		add_metrics(m->values + m->map[i] * metrics, m->view->values + i * metrics, metrics);
	if (m->before)
		add_metrics(m->before + m->map[i] * metrics, m->from_before + i * metrics, metrics);
	if (m->pairs) {
		add_alone(&m->pairs[m->map[i]].before, &m->from_pairs[i].before, hidden);
		add_alone(&m->pairs[m->map[i]].after, &m->from_pairs[i].after, hidden);
	}
	if (hidden)
		return;
	to->calls += n->calls;
	to->skipped += n->skipped;
	to->demoted |= n->demoted;
	to->messages += n->messages;
	to->sent += n->sent;
	to->received += n->received;
	tree_extend_range(to, n->least, n->most);
	to->place = n->place;
	m->origin[m->map[i]] = m->origin[m->map[i]] == UINT32_MAX - 1 ? i : TREE_NONE;
}

static int place_nodes(struct making *m)
{
	const struct profile_node *nodes = m->view->nodes;

	for (uint32_t i = 1; i < m->view->count; i++) {
		m->map[i] = m->map[nodes[i].parent];
		if (!hide_covers(m->list, &nodes[i]))
			m->map[i] = tree_child(&m->tree, m->map[i], &nodes[i]);
		else if (!m->map[i])
			continue; /* its values are the root's */
		if (!m->map[i])
			return HYB_ENOMEM;
	}
	return 0;
}

static int add_values(struct making *m)
{
	size_t count = m->tree.count, metrics = m->view->values ? m->view->metrics : 0;

	m->origin = calloc(count, sizeof(*m->origin));
	m->values = metrics ? calloc(count, metrics * sizeof(*m->values)) : NULL;
	m->before = metrics && m->from_before ? calloc(count, metrics * sizeof(*m->before)) : NULL;
	m->pairs = m->from_pairs ? calloc(count, sizeof(*m->pairs)) : NULL;
	if (!m->origin || (metrics && !m->values) || (m->from_before && !m->before) ||
		(m->from_pairs && !m->pairs))
		return HYB_ENOMEM;
	for (size_t i = 0; i < count; i++)
		m->origin[i] = UINT32_MAX - 1; /* none so far */
	for (uint32_t i = 0; i < m->view->count; i++)
		add_node(m, i, i && hide_covers(m->list, &m->view->nodes[i]));
	return 0;
}

static void sum_side(struct profile_values *to, const struct profile_values *from)
{
	to->inclusive += from->inclusive;
	to->idle += from->idle;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void sum_pairs(struct making *m)
{
	struct profile_diff_pair *p = m->pairs;
	size_t count = m->tree.count;

	for (size_t i = 0; i < count; i++) {
		p[i].before.inclusive = p[i].before.exclusive + p[i].before.blocked;
		p[i].after.inclusive = p[i].after.exclusive + p[i].after.blocked;
	}
	for (size_t i = count; i-- > 1;) {
		sum_side(&p[m->tree.nodes[i].parent].before, &p[i].before);
		sum_side(&p[m->tree.nodes[i].parent].after, &p[i].after);
	}
	for (size_t i = 0; i < count; i++)
		p[i].change = (double)apart(p[i].after.inclusive, p[i].before.inclusive);
	for (size_t i = count; i-- > 1;)
		if (p[i].change > p[m->tree.nodes[i].parent].change)
			p[m->tree.nodes[i].parent].change = p[i].change;
}

/* Depth-first order, and all that is by node with it. */
static int arrange(struct making *m)
{
	size_t count = m->tree.count;
	uint32_t *map = calloc(count, sizeof(*map)), *origin = calloc(count, sizeof(*origin));
	struct profile_diff_pair *pairs = m->pairs ? calloc(count, sizeof(*pairs)) : NULL;
	int r = map && origin && (pairs || !m->pairs)
			? tree_arrange(&m->tree, PROFILE_SORT_INCLUSIVE, NULL, map)
			: HYB_ENOMEM;

	if (!r)
		r = values_move(&m->values, m->values ? m->view->metrics : 0, map, count);
	if (!r)
		r = values_move(&m->before, m->before ? m->view->metrics : 0, map, count);
	for (size_t i = 0; !r && i < count; i++) {
		origin[map[i]] = m->origin[i];
		if (pairs)
			pairs[map[i]] = m->pairs[i];
	}
	free(map);
	free(m->origin);
	free(m->pairs);
	m->origin = origin;
	m->pairs = pairs;
	return r;
}

int hide_make(const struct profile_view *view, const struct profile_diff_pair *pairs,
	const struct profile_value *before, const struct hide_list *list, struct hidden_tree *ret_tree)
{
	struct making m = {
		.view = view, .from_pairs = pairs, .from_before = view->values ? before : NULL, .list = list};
	int r = tree_init(&m.tree, view->nodes[0].name);

	if (r)
		return r;
	m.tree.nodes[0].module = view->nodes[0].module;
	m.tree.nodes[0].file = view->nodes[0].file;
	m.map = calloc(view->count, sizeof(*m.map));
	r = m.map ? place_nodes(&m) : HYB_ENOMEM;
	if (!r)
		r = add_values(&m);
	if (!r) {
		tree_sum(&m.tree);
		if (m.values)
			metric_sums_sum(m.values, view->metrics, m.tree.nodes, m.tree.count);
		if (m.before)
			metric_sums_sum(m.before, view->metrics, m.tree.nodes, m.tree.count);
		if (m.pairs)
			sum_pairs(&m);
		r = arrange(&m);
	}
	free(m.map);
	*ret_tree = (struct hidden_tree){{.nodes = m.tree.nodes,
						 .values = m.values,
						 .count = m.tree.count,
						 .metrics = m.values ? view->metrics : 0},
		m.pairs, m.before, m.origin};
	row_index_release(&m.tree.index);
	if (r)
		hidden_tree_release(ret_tree);
	return r;
}

void hidden_tree_release(struct hidden_tree *hidden)
{
	profile_tree_release(&hidden->tree);
	free(hidden->pairs);
	free(hidden->before);
	free(hidden->origin);
	*hidden = (struct hidden_tree){0};
}

#include "viewer/model/tree_data.h"

#include <stdlib.h>
#include <string.h>
#include "base/path.h"

void tree_request_release(struct tree_request *request)
{
	hide_release(&request->hide);
	snapshot_drop(request->snapshot);
	free(request->window);
	request->snapshot = NULL;
	request->window = NULL;
}

void tree_data_free(struct tree_data *d)
{
	if (!d)
		return;
	hidden_tree_release(&d->hidden);
	profile_tree_release(&d->reversed);
	profile_tree_release(&d->rows);
	free(d->nodes);
	free(d->child_calls);
	match_free(d->match);
	tree_request_release(&d->request);
	free(d);
}

/* ------------------------------------------------------------ the stages */

/* All of time, or a window of it, of which metrics are not known. */
static struct profile_view view_of(const struct tree_request *request)
{
	struct profile_view view = profile_view(request->snapshot->profile);

	view.sort = PROFILE_SORT_INCLUSIVE;
	if (request->window) {
		view.nodes = request->window;
		view.values = NULL;
		view.metrics = 0;
	}
	return view;
}

static int make_difference(struct tree_data *d, struct profile_view *view)
{
	const struct profile_diff *diff = d->request.snapshot->diff;

	if (!diff)
		return HYB_ENOMEM;
	d->pairs = profile_diff_pairs(diff);
	*view = (struct profile_view){.nodes = profile_diff_nodes(diff),
		.count = profile_diff_count(diff),
		.sort = PROFILE_SORT_INCLUSIVE};
	view->values = profile_diff_after(diff);
	profile_diff_metrics(diff, &view->metrics);
	return 0;
}

static int take_hidden_out(struct tree_data *d, struct profile_view *view)
{
	int r;

	if (!d->request.hide.count)
		return 0;
	r = hide_make(view, d->pairs, d->pairs ? profile_diff_before(d->request.snapshot->diff) : NULL,
		&d->request.hide, &d->hidden);
	if (r)
		return r;
	view->nodes = d->hidden.tree.nodes;
	view->values = d->hidden.tree.values;
	view->count = d->hidden.tree.count;
	view->metrics = d->hidden.tree.metrics;
	return 0;
}

static int turn_upside_down(struct tree_data *d, struct profile_view *view)
{
	int r = profile_view_reverse(view, &d->reversed);

	if (r)
		return r;
	view->nodes = d->reversed.nodes;
	view->values = d->reversed.values;
	view->count = d->reversed.count;
	return 0;
}

static struct profile_node node_of_row(struct profile_node row, enum profile_by by)
{
	const char *name = row.name;

	if (by == PROFILE_BY_MODULE || by == PROFILE_BY_FILE)
		row.name = path_base(name);
	if (by == PROFILE_BY_MODULE && *name != '[')
		row.module = name;
	if (by == PROFILE_BY_FILE && *name != '[')
		row.file = name;
	return row;
}

/* A table as a tree of two levels. */
static int make_flat(struct tree_data *d, struct profile_view *view)
{
	const struct profile_node *root = &view->nodes[0];
	size_t metrics = view->metrics;
	struct profile_value *values;
	int r = profile_view_flat(view, d->request.by, PROFILE_SORT_INCLUSIVE, &d->rows);

	if (r)
		return r;
	d->nodes = calloc(d->rows.count + 1, sizeof(*d->nodes));
	if (!d->nodes)
		return HYB_ENOMEM;
	d->nodes[0] = (struct profile_node){.kind = PROFILE_ROOT,
		.name = root->name,
		.file = root->file,
		.module = root->module,
		.inclusive = root->inclusive,
		.idle = root->idle,
		.first_child = d->rows.count > 0};
	for (size_t i = 0; i < d->rows.count; i++) {
		d->nodes[i + 1] = node_of_row(d->rows.nodes[i], d->request.by);
		d->nodes[i + 1].next_sibling = i + 1 < d->rows.count ? (uint32_t)i + 2 : 0;
	}
	if (d->rows.values && metrics) {
		values = realloc(d->rows.values, (d->rows.count + 1) * metrics * sizeof(*values));
		if (!values)
			return HYB_ENOMEM;
		d->rows.values = values;
		memmove(values + metrics, values, d->rows.count * metrics * sizeof(*values));
		memcpy(values, view->values, metrics * sizeof(*values));
	}
	view->nodes = d->nodes;
	view->values = d->rows.values;
	view->count = d->rows.count + 1;
	return 0;
}

/* ------------------------------------------------------------- the whole */

/* Of the tree with all that is in it: what is hidden gives its waiting to the root perhaps. */
static uint64_t whole_of(const struct tree_data *d, const struct profile_view *view)
{
	return d->pairs ? profile_diff_whole(d->request.snapshot->diff) : profile_whole(view->nodes);
}

static int make_source(struct tree_data *d, const struct profile_view *view, uint64_t whole)
{
	const struct snapshot *snapshot = d->request.snapshot;
	struct tree_source *s = &d->source;

	*s = (struct tree_source){.nodes = view->nodes,
		.count = view->count,
		.values = view->values,
		.columns = d->pairs ? &snapshot->diff_columns : &snapshot->columns,
		.pairs = d->hidden.pairs ? d->hidden.pairs : d->pairs,
		.before = d->hidden.before ? d->hidden.before
			  : d->pairs       ? profile_diff_before(snapshot->diff)
					   : NULL,
		.whole = whole,
		.flat = d->request.kind == TREE_FLAT,
		.reverse = d->request.kind == TREE_REVERSED};
	d->child_calls = calloc(view->count, sizeof(*d->child_calls));
	if (!d->child_calls)
		return HYB_ENOMEM;
	s->child_calls = d->child_calls;
	for (size_t i = view->count; i-- > 0;) {
		const struct profile_node *n = &view->nodes[i];

		s->blocked |= n->blocked > 0;
		s->ready = n->ready > s->ready ? n->ready : s->ready;
		s->calls |= n->calls > 0;
		s->samples |= n->samples > 0;
		if (i)
			d->child_calls[n->parent] += n->kind == PROFILE_PROBE ? n->calls : d->child_calls[i];
	}
	return 0;
}

struct tree_data *tree_data_make(struct tree_request *request)
{
	struct tree_data *d = calloc(1, sizeof(*d));
	struct profile_view view = {0};
	uint64_t whole = 0;
	int r = 0;

	if (!d)
		return NULL;
	d->request = *request;
	*request = (struct tree_request){.kind = request->kind};
	if (d->request.kind == TREE_DIFFERENCE)
		r = make_difference(d, &view);
	else
		view = view_of(&d->request);
	if (!r) {
		whole = whole_of(d, &view);
		r = take_hidden_out(d, &view);
	}
	if (!r && d->request.kind == TREE_REVERSED)
		r = turn_upside_down(d, &view);
	if (!r && d->request.kind == TREE_FLAT)
		r = make_flat(d, &view);
	if (!r)
		r = make_source(d, &view, whole);
	if (!r)
		return d;
	*request = d->request; /* the reference is dropped in the other thread */
	d->request = (struct tree_request){.kind = request->kind};
	tree_data_free(d);
	return NULL;
}

uint32_t tree_data_origin(struct tree_data *d, uint32_t node)
{
	const struct profile *profile = d->request.snapshot->profile;
	const struct profile_diff *diff = d->request.snapshot->diff;

	if (d->request.kind == TREE_REVERSED || d->request.kind == TREE_FLAT)
		return TREE_NONE;
	if (d->hidden.origin)
		node = d->hidden.origin[node];
	if (node == TREE_NONE || d->request.kind != TREE_DIFFERENCE)
		return node;
	if (!d->match)
		d->match = match_new(profile_diff_nodes(diff), profile_diff_count(diff),
			profile_nodes(profile), profile_count(profile), false);
	return d->match ? match_find(d->match, node) : TREE_NONE;
}

#include "profile/views/profile_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "base/wrap.h"
#include "profile/same_files.h"
#include "profile/views/tree.h"

struct profile_diff {
	struct strings strings;
	struct profile_node *nodes;
	struct profile_diff_pair *pairs; /* by node */
	size_t count;
	struct profile_metric *metrics; /* that both have */
	size_t metric_count;
	struct profile_value *before, *after; /* by node, then metric; NULL: there are none */
};

/* Paths of a side, by address, and what they are called in the tree. */
struct paths {
	const char **all, **same;
	size_t count;
};

/* One of the profiles while the tree is made. */
struct side {
	const struct profile *profile;
	struct paths files, modules;
	uint32_t *map; /* by node: the one in the tree */
};

/* ----------------------------------------------------------------- paths */

static int compare_addresses(const void *pa, const void *pb)
{
	uintptr_t a = (uintptr_t) * (const char *const *)pa, b = (uintptr_t) * (const char *const *)pb;

	return (a > b) - (a < b);
}

static const char *file_of(const struct profile_node *n)
{
	return n->file;
}

static const char *module_of(const struct profile_node *n)
{
	return n->module;
}

static int list_paths(struct paths *paths, const struct profile *profile, struct strings *strings,
	const char *(*get)(const struct profile_node *n))
{
	const struct profile_node *nodes = profile_nodes(profile);
	size_t count = profile_count(profile), listed = 0;

	paths->all = calloc(count, sizeof(*paths->all));
	paths->same = calloc(count, sizeof(*paths->same));
	if (!paths->all || !paths->same)
		return HYB_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *path = strings_get(strings, get(&nodes[i]));

		if (!path)
			return HYB_ENOMEM;
		if (!listed || path != paths->all[listed - 1]) /* neighbours are often of one file */
			paths->all[listed++] = path;
	}
	qsort(paths->all, listed, sizeof(*paths->all), compare_addresses);
	for (size_t i = 0; i < listed; i++)
		if (!i || paths->all[i] != paths->all[i - 1])
			paths->all[paths->count++] = paths->all[i];
	return 0;
}

/* What has an end in common is called as it is after; what has none keeps its name. */
static int name_files(struct paths *before, struct paths *after)
{
	int r = same_files(before->all, before->count, after->all, after->count, before->same);

	if (r)
		return r;
	memcpy(after->same, after->all, after->count * sizeof(*after->all));
	for (size_t i = 0; i < before->count; i++)
		if (!before->same[i])
			before->same[i] = before->all[i];
	return 0;
}

/* But modules of one side only have none: a program may be called otherwise after. */
static int name_modules(struct paths *before, struct paths *after)
{
	int r = same_files(before->all, before->count, after->all, after->count, before->same);

	if (!r)
		r = same_files(after->all, after->count, before->all, before->count, after->same);
	for (size_t i = 0; !r && i < before->count; i++)
		before->same[i] = before->same[i] ? before->same[i] : "";
	for (size_t i = 0; !r && i < after->count; i++)
		after->same[i] = after->same[i] ? after->all[i] : "";
	return r;
}

static const char *name_of(const struct paths *paths, const char *path)
{
	const char **at = bsearch(&path, paths->all, paths->count, sizeof(*paths->all), compare_addresses);

	return paths->same[at - paths->all];
}

static int list_side(struct side *side, struct strings *strings)
{
	int r = list_paths(&side->files, side->profile, strings, file_of);

	return r ? r : list_paths(&side->modules, side->profile, strings, module_of);
}

static void release_side(struct side *side)
{
	free(side->files.all);
	free(side->files.same);
	free(side->modules.all);
	free(side->modules.same);
	free(side->map);
}

/* ------------------------------------------------------------------ tree */

static const char none[] = ""; /* of modules: names are compared by address */

/* Puts a profile into the common tree. */
static int place(struct side *side, struct strings *strings, struct tree *tree)
{
	const struct profile_node *nodes = profile_nodes(side->profile);
	size_t count = profile_count(side->profile);

	side->map = calloc(count, sizeof(*side->map));
	if (!side->map)
		return HYB_ENOMEM;
	for (size_t i = 1; i < count; i++) {
		struct profile_node like = {.kind = nodes[i].kind,
			.line = nodes[i].line,
			.python = nodes[i].python,
			.idles = nodes[i].idles,
			.name = strings_get(strings, nodes[i].name),
			.file = strings_get(strings, nodes[i].file),
			.module = strings_get(strings, nodes[i].module)};

		if (!like.name || !like.file || !like.module)
			return HYB_ENOMEM;
		like.module = *like.file ? none : name_of(&side->modules, like.module);
		if (!*like.module)
			like.module = none;
		like.file = name_of(&side->files, like.file);
		side->map[i] = tree_child(tree, side->map[nodes[i].parent], &like);
		if (!side->map[i])
			return HYB_ENOMEM;
	}
	return 0;
}

static void add_values(struct profile_diff *diff, const struct side *side, bool after)
{
	const struct profile_node *from = profile_nodes(side->profile);

	for (size_t i = 0; i < profile_count(side->profile); i++, from++) {
		struct profile_node *n = &diff->nodes[side->map[i]];
		struct profile_diff_pair *pair = &diff->pairs[side->map[i]];
		struct profile_values *to = after ? &pair->after : &pair->before;

		n->guess |= from->guess;
		to->present = true;
		to->calls += from->calls;
		to->skipped += from->skipped;
		to->samples += from->samples;
		to->inclusive += from->inclusive;
		to->exclusive += from->exclusive;
		to->blocked += from->blocked;
		to->ready += from->ready;
		to->idle += from->idle;
		to->idle_alone += from->idle_alone;
		if (!after)
			continue;
		n->calls = to->calls;
		n->samples = to->samples;
		n->inclusive = to->inclusive;
		n->exclusive = to->exclusive;
		n->blocked = to->blocked;
		n->ready = to->ready;
		n->idle = to->idle;
		n->idle_alone = to->idle_alone;
	}
}

/* By how much inclusive times changed, by node of the tree. */
static uint64_t *weigh(const struct side sides[2], size_t count)
{
	uint64_t *weight = calloc(count, sizeof(*weight));

	for (int s = 0; weight && s < 2; s++) {
		const struct profile_node *nodes = profile_nodes(sides[s].profile);

		for (size_t i = 0; i < profile_count(sides[s].profile); i++)
			weight[sides[s].map[i]] += s ? nodes[i].inclusive : -nodes[i].inclusive;
	}
	for (size_t i = 0; weight && i < count; i++) /* times are far below 2^63 */
		weight[i] = weight[i] >> 63 ? -weight[i] : weight[i];
	return weight;
}

/* Orders the tree by change, takes its nodes and gives them their values. */
static int make_nodes(struct profile_diff *diff, struct tree *tree, struct side sides[2])
{
	uint64_t *weight = weigh(sides, tree->count);
	uint32_t *map = calloc(tree->count, sizeof(*map));
	int r = HYB_ENOMEM;

	diff->count = tree->count;
	diff->pairs = calloc(diff->count, sizeof(*diff->pairs));
	if (!weight || !map || !diff->pairs)
		goto out;
	for (size_t i = diff->count; i-- > 1;)
		if (weight[i] > weight[tree->nodes[i].parent])
			weight[tree->nodes[i].parent] = weight[i];
	r = tree_arrange(tree, PROFILE_SORT_INCLUSIVE, weight, map);
	if (r)
		goto out;
	diff->nodes = tree->nodes;
	tree->nodes = NULL;
	for (size_t i = 0; i < diff->count; i++)
		diff->pairs[map[i]].change = (double)weight[i];
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < profile_count(sides[s].profile); i++)
			sides[s].map[i] = map[sides[s].map[i]];
		add_values(diff, &sides[s], s);
	}
out:
	free(map);
	free(weight);
	return r;
}

/* --------------------------------------------------------------- metrics */

/* Where a metric of that name is, or SIZE_MAX. */
static size_t find_metric(const struct profile_metric *metrics, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(metrics[i].name, name))
			return i;
	return SIZE_MAX;
}

/* Those that both have: in `after`; ret_at[] has their indices in `before` and in `after`. */
static int find_metrics(struct profile_diff *diff, const struct side sides[2], size_t *ret_at[2])
{
	size_t counts[2];
	const struct profile_metric *before = profile_metrics(sides[0].profile, &counts[0]);
	const struct profile_metric *after = profile_metrics(sides[1].profile, &counts[1]);

	diff->metrics = calloc(counts[1] + 1, sizeof(*diff->metrics));
	ret_at[0] = calloc(counts[1] + 1, sizeof(**ret_at));
	ret_at[1] = calloc(counts[1] + 1, sizeof(**ret_at));
	if (!diff->metrics || !ret_at[0] || !ret_at[1])
		return HYB_ENOMEM;
	for (size_t i = 0; i < counts[1]; i++) {
		size_t there = find_metric(before, counts[0], after[i].name);
		struct profile_metric *m = &diff->metrics[diff->metric_count];

		if (there == SIZE_MAX)
			continue;
		ret_at[0][diff->metric_count] = there;
		ret_at[1][diff->metric_count++] = i;
		*m = after[i];
		m->estimated |= before[there].estimated;
		m->shared |= before[there].shared;
		m->name = strings_get(&diff->strings, m->name);
		m->unit = strings_get(&diff->strings, m->unit);
		m->description = strings_get(&diff->strings, m->description);
		if (!m->name || !m->unit || !m->description)
			return HYB_ENOMEM;
	}
	return 0;
}

/* NULL when memory is out. */
static struct profile_value *add_metrics(
	const struct profile_diff *diff, const struct side *side, const size_t *at)
{
	struct profile_value *values = calloc(diff->count, diff->metric_count * sizeof(*values));
	const struct profile_value *all = profile_values(side->profile);
	size_t count;

	profile_metrics(side->profile, &count);
	for (size_t i = 0; values && i < profile_count(side->profile); i++)
		for (size_t k = 0; k < diff->metric_count; k++) {
			struct profile_value *to = &values[side->map[i] * diff->metric_count + k];
			const struct profile_value *from = &all[i * count + at[k]];

			wrap_add(&to->inclusive, from->inclusive);
			wrap_add(&to->exclusive, from->exclusive);
			to->samples += from->samples;
		}
	return values;
}

static int make_metrics(struct profile_diff *diff, const struct side sides[2])
{
	size_t *at[2] = {NULL, NULL};
	int r = find_metrics(diff, sides, at);

	if (!r && diff->metric_count) {
		diff->before = add_metrics(diff, &sides[0], at[0]);
		diff->after = add_metrics(diff, &sides[1], at[1]);
		r = diff->before && diff->after ? 0 : HYB_ENOMEM;
	}
	free(at[0]);
	free(at[1]);
	return r;
}

/* ----------------------------------------------------------------- whole */

static int make(struct profile_diff *diff, struct tree *tree, struct side sides[2])
{
	const char *root = strings_get(&diff->strings, profile_nodes(sides[1].profile)->name);
	int r = root ? tree_init(tree, root) : HYB_ENOMEM;

	for (int s = 0; !r && s < 2; s++)
		r = list_side(&sides[s], &diff->strings);
	if (!r)
		r = name_files(&sides[0].files, &sides[1].files);
	if (!r)
		r = name_modules(&sides[0].modules, &sides[1].modules);
	for (int s = 0; !r && s < 2; s++)
		r = place(&sides[s], &diff->strings, tree);
	if (!r)
		r = make_nodes(diff, tree, sides);
	return r ? r : make_metrics(diff, sides);
}

struct profile_diff *profile_diff_new(const struct profile *before, const struct profile *after)
{
	struct profile_diff *diff = calloc(1, sizeof(*diff));
	struct side sides[2] = {{.profile = before}, {.profile = after}};
	struct tree tree = {0};
	int r = diff ? make(diff, &tree, sides) : HYB_ENOMEM;

	tree_release(&tree);
	release_side(&sides[0]);
	release_side(&sides[1]);
	if (!r)
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
	free(diff->pairs);
	free(diff->metrics);
	free(diff->before);
	free(diff->after);
	free(diff);
}

uint64_t profile_diff_whole(const struct profile_diff *diff)
{
	const struct profile_values *before = &diff->pairs->before, *after = &diff->pairs->after;
	const struct profile_values *root = before->inclusive ? before : after;

	return root->inclusive - root->idle;
}

size_t profile_diff_count(const struct profile_diff *diff)
{
	return diff->count;
}

const struct profile_node *profile_diff_nodes(const struct profile_diff *diff)
{
	return diff->nodes;
}

const struct profile_diff_pair *profile_diff_pairs(const struct profile_diff *diff)
{
	return diff->pairs;
}

const struct profile_metric *profile_diff_metrics(const struct profile_diff *diff, size_t *ret_count)
{
	*ret_count = diff->metric_count;
	return diff->metrics;
}

const struct profile_value *profile_diff_before(const struct profile_diff *diff)
{
	return diff->before;
}

const struct profile_value *profile_diff_after(const struct profile_diff *diff)
{
	return diff->after;
}

/* ----------------------------------------------------------------- order */

static int compare_changes(const void *pa, const void *pb, void *data)
{
	const struct profile_diff *diff = data;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (diff->nodes[a].parent != diff->nodes[b].parent)
		return diff->nodes[a].parent < diff->nodes[b].parent ? -1 : 1;
	if (diff->pairs[a].change != diff->pairs[b].change)
		return diff->pairs[a].change > diff->pairs[b].change ? -1 : 1;
	return a < b ? -1 : a > b;
}

int profile_diff_order(struct profile_diff *diff, const double *change)
{
	struct profile_node *nodes = diff->nodes;
	uint32_t *list = calloc(diff->count, sizeof(*list));

	if (!list)
		return HYB_ENOMEM;
	for (uint32_t i = 0; i < diff->count; i++) {
		diff->pairs[i].change = isnan(change[i]) ? 0 : fabs(change[i]);
		nodes[i].first_child = 0;
		list[i] = i;
	}
	for (size_t i = diff->count; i-- > 1;)
		if (diff->pairs[i].change > diff->pairs[nodes[i].parent].change)
			diff->pairs[nodes[i].parent].change = diff->pairs[i].change;
	qsort_r(list + 1, diff->count - 1, sizeof(*list), compare_changes, diff);
	for (size_t i = diff->count; i-- > 1;) { /* the last sibling first */
		nodes[list[i]].next_sibling = nodes[nodes[list[i]].parent].first_child;
		nodes[nodes[list[i]].parent].first_child = list[i];
	}
	free(list);
	return 0;
}

/* The time of each thread in the functions with most time, from a profile with a tree for each thread. */
#include <stdlib.h>

#include "converters/formats.h"
#include "converters/html/page.h"
#include "base/strings.h"
#include "profile/views/row_map.h"

struct function { /* row of a table */
	const char *name, *file, *module; /* interned; the key, with: */
	uint64_t line;
	uint32_t number, reserved; /* 1, 2 ...: in the table of functions, plus one */
};

struct locations {
	struct html *html;
	struct convert_profile apart;
	struct strings strings;
	struct row_map known;
	size_t functions, count; /* compared, so many locations */
	uint64_t *inclusive, *exclusive; /* [function * count + location]; own: ran and blocked */
};

static struct function *find(struct locations *l, const struct profile_node *row)
{
	struct function key = {.name = strings_get(&l->strings, row->name),
		.file = strings_get(&l->strings, row->file),
		.module = strings_get(&l->strings, row->module),
		.line = row->line};

	return key.name && key.file && key.module ? row_map_row(&l->known, &key) : NULL;
}

/* Those that stand first in the table of the page. */
static int know_functions(struct locations *l)
{
	for (size_t i = 0; i < l->functions; i++) {
		struct function *f = find(l, &l->html->functions.nodes[i]);

		if (!f)
			return HYB_ENOMEM;
		if (!f->number)
			f->number = (uint32_t)i + 1;
	}
	return HYB_OK;
}

/* The tree of the thread whose node is `top`, up to `end`, as one of its own. */
static int take_location(struct locations *l, size_t location, uint32_t top, uint32_t end)
{
	const struct profile_node *nodes = l->apart.nodes;
	struct profile_view view = {.count = end - top};
	struct profile_node *own = malloc(view.count * sizeof(*own));
	struct profile_tree flat = {0};
	int r = own ? HYB_OK : HYB_ENOMEM;

	for (uint32_t i = 0; own && i < view.count; i++) {
		own[i] = nodes[top + i];
		own[i].parent = i ? own[i].parent - top : 0;
	}
	view.nodes = own;
	if (!r)
		r = profile_view_flat(&view, PROFILE_BY_FUNCTION, PROFILE_SORT_EXCLUSIVE, &flat);
	for (size_t i = 0; !r && i < flat.count; i++) {
		const struct profile_node *row = &flat.nodes[i];
		const struct function *f = find(l, row);
		size_t at = f && f->number ? (f->number - 1) * l->count + location : 0;

		r = f ? HYB_OK : HYB_ENOMEM;
		if (!f || !f->number)
			continue;
		l->inclusive[at] += row->inclusive;
		l->exclusive[at] += row->exclusive + row->blocked;
	}
	profile_tree_release(&flat);
	free(own);
	return r;
}

static int take_all(struct locations *l, struct hyb_error *err)
{
	const struct profile_node *nodes = l->apart.nodes;
	size_t i = 0;

	for (uint32_t top = nodes[0].first_child; top && i < l->count; top = nodes[top].next_sibling, i++) {
		uint32_t next = nodes[top].next_sibling;

		if (take_location(l, i, top, next ? next : (uint32_t)l->apart.count))
			return convert_no_memory(err);
		if (convert_check(l->html->job, err))
			return err->code;
	}
	return HYB_OK;
}

static void put_matrix(const struct locations *l, const char *key, const uint64_t *values)
{
	struct json *json = &l->html->json;

	json_list(json, key);
	for (size_t i = 0; i < l->functions; i++) {
		json_list(json, NULL);
		for (size_t k = 0; k < l->count; k++)
			json_number(json, NULL, values[i * l->count + k]);
		json_end(json);
	}
	json_end(json);
}

static void put(const struct locations *l)
{
	const struct profile_node *nodes = l->apart.nodes;
	struct json *json = &l->html->json;
	uint32_t top = nodes[0].first_child;

	json_line(json);
	json_object(json, "locations");
	json_array(json, "names");
	for (size_t i = 0; i < l->count; i++, top = nodes[top].next_sibling)
		json_text(json, NULL, nodes[top].name);
	json_end(json);
	json_array(json, "totals");
	top = nodes[0].first_child;
	for (size_t i = 0; i < l->count; i++, top = nodes[top].next_sibling)
		json_number(json, NULL, nodes[top].inclusive);
	json_end(json);
	put_matrix(l, "inclusive", l->inclusive);
	put_matrix(l, "exclusive", l->exclusive);
	json_end(json);
}

/* How many of the threads and functions are compared; those with most time are. */
static void bound(struct locations *l)
{
	const struct convert_job *job = l->html->job;
	const struct profile_node *nodes = l->apart.nodes;

	for (uint32_t top = nodes[0].first_child; top; top = nodes[top].next_sibling)
		l->count++;
	if (l->count > HTML_ROWS) {
		l->count = HTML_ROWS;
		convert_note(job, "only the 2,000 threads with most time are compared");
	}
	l->functions = l->html->functions.count;
	if (l->functions > HTML_FUNCTIONS)
		l->functions = HTML_FUNCTIONS;
	if (l->count && l->functions > HTML_CELLS / l->count) {
		l->functions = HTML_CELLS / l->count;
		convert_note(job, "threads are compared by the %zu functions with most time of their own",
			l->functions);
	}
}

static int make(struct locations *l, struct hyb_error *err)
{
	size_t cells;

	bound(l);
	cells = l->functions * l->count + 1;
	l->inclusive = calloc(cells, sizeof(*l->inclusive));
	l->exclusive = calloc(cells, sizeof(*l->exclusive));
	if (!l->inclusive || !l->exclusive || know_functions(l))
		return convert_no_memory(err);
	return take_all(l, err);
}

int html_put_locations(struct html *html, struct hyb_error *err)
{
	struct convert_job job = *html->job;
	struct locations l = {.html = html,
		.known = {
			.row_size = sizeof(struct function), .key_size = offsetof(struct function, number)}};
	int r;

	job.by_location = true;
	job.bounds.threshold = -1;
	job.metric = NULL;
	r = convert_profile_make(&job, &l.apart, err);
	if (r)
		return r;
	r = make(&l, err);
	if (!r)
		put(&l);
	free(l.inclusive);
	free(l.exclusive);
	row_map_release(&l.known);
	strings_release(&l.strings);
	convert_profile_release(&l.apart);
	return r;
}

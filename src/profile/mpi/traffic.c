#include "profile/mpi/traffic.h"
#include "base/search.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_inside(const struct profile_flow *f, uint64_t world)
{
	return f->world == world && !((f->from | f->to) & HYB_RANK_FOREIGN);
}

bool matrix_range(struct matrix *m, const struct profile *profile, uint64_t world)
{
	size_t count, ranks;
	const struct profile_flow *flows = profile_flows(profile, &count);
	const struct profile_rank *rows = profile_ranks(profile, &ranks);

	*m = (struct matrix){.first = UINT32_MAX};
	for (size_t i = 0; i < count; i++) {
		uint32_t a = flows[i].from, b = flows[i].to;

		if (!is_inside(&flows[i], world))
			continue;
		m->first = a < m->first ? a : m->first;
		m->first = b < m->first ? b : m->first;
		m->last = a > m->last ? a : m->last;
		m->last = b > m->last ? b : m->last;
	}
	if (m->first == UINT32_MAX)
		return false;
	/* ranks that were silent show, too */
	for (size_t i = 0; i < ranks; i++) {
		if (rows[i].world != world || !rows[i].selected)
			continue;
		m->first = rows[i].rank < m->first ? rows[i].rank : m->first;
		m->last = rows[i].rank > m->last ? rows[i].rank : m->last;
	}
	return true;
}

int matrix_fill(struct matrix *m, const struct profile *profile, uint64_t world, size_t columns)
{
	size_t count, ranks = (size_t)m->last - m->first + 1;
	const struct profile_flow *flows = profile_flows(profile, &count);

	for (m->block = 1; (ranks + m->block - 1) / m->block > columns; m->block *= 2)
		;
	m->side = (ranks + m->block - 1) / m->block;
	m->cells = calloc(m->side * m->side, sizeof(*m->cells));
	if (!m->cells)
		return HYB_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct profile_side side = traffic_of(&flows[i]), *cell;

		if (!is_inside(&flows[i], world))
			continue;
		cell = &m->cells[(flows[i].from - m->first) / m->block * m->side +
				 (flows[i].to - m->first) / m->block];
		cell->messages += side.messages;
		cell->bytes += side.bytes;
		cell->time += side.time;
	}
	return 0;
}

struct profile_side traffic_of(const struct profile_flow *f)
{
	const struct profile_side *more = f->received.messages > f->sent.messages ? &f->received : &f->sent;

	return (struct profile_side){more->messages, more->bytes, f->sent.time + f->received.time};
}

static int compare_flows(const void *pa, const void *pb)
{
	const struct profile_flow *a = pa, *b = pb;
	struct profile_side x = traffic_of(a), y = traffic_of(b);
	int d = COMPARE(y.bytes, x.bytes);

	if (!d)
		d = COMPARE(y.messages, x.messages);
	if (!d)
		d = COMPARE(a->world, b->world);
	if (!d)
		d = COMPARE(a->from, b->from);
	if (!d)
		d = COMPARE(a->to, b->to);
	return d ? d : COMPARE(a->kind, b->kind);
}

struct profile_flow *traffic_largest(const struct profile_flow *flows, size_t count)
{
	struct profile_flow *order = malloc((count + 1) * sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < count; i++)
		order[i] = flows[i];
	qsort(order, count, sizeof(*order), compare_flows);
	return order;
}

static enum traffic_group group_of(unsigned message)
{
	switch (message) {
	case HYB_SEND:
		return TRAFFIC_SENT;
	case HYB_RECV:
		return TRAFFIC_RECEIVED;
	case HYB_COLLECTIVE:
		return TRAFFIC_COLLECTIVE;
	case HYB_READ:
		return TRAFFIC_READ;
	case HYB_WRITE:
		return TRAFFIC_WRITTEN;
	}
	return TRAFFIC_ONE_SIDED;
}

void traffic_sum_sizes(const struct profile *profile, struct traffic_sizes *ret)
{
	size_t count;
	const struct profile_volume *volumes = profile_volumes(profile, &count);

	*ret = (struct traffic_sizes){.first = 64};
	for (size_t i = 0; i < count; i++) {
		const struct profile_volume *v = &volumes[i];
		unsigned c = v->size_class < 64 ? v->size_class : 63;
		enum traffic_group g = group_of(v->message);

		ret->classes[c][g].messages += v->messages;
		ret->classes[c][g].bytes += v->sent + v->received;
		ret->classes[c][g].time += v->time;
		ret->sums[g].messages += v->messages;
		ret->first = c < ret->first ? c : ret->first;
		ret->last = c > ret->last ? c : ret->last;
	}
}

static int compare_handles(const void *pa, const void *pb)
{
	const struct traffic_handle *a = pa, *b = pb;
	int d = COMPARE(b->sent + b->received, a->sent + a->received);

	if (!d)
		d = COMPARE(b->messages, a->messages);
	/* the profile has them in an order of its own */
	return d ? d : (a->handle > b->handle) - (a->handle < b->handle);
}

static int compare_identities(const void *pa, const void *pb)
{
	const struct profile_handle *a = *(const struct profile_handle *const *)pa;
	const struct profile_handle *b = *(const struct profile_handle *const *)pb;
	int d = COMPARE(a->world, b->world);

	return d ? d : COMPARE(a->identity, b->identity);
}

/* All handles by world and identity, to be freed; NULL when memory is out. */
static const struct profile_handle **index_handles(const struct profile *profile, size_t *ret_count)
{
	const struct profile_handle *handles = profile_handles(profile, ret_count);
	const struct profile_handle **index =
		malloc((*ret_count + 1) * sizeof(const struct profile_handle *));

	for (size_t i = 0; index && i < *ret_count; i++)
		index[i] = &handles[i];
	if (index)
		qsort(index, *ret_count, sizeof(*index), compare_identities);
	return index;
}

static const struct profile_handle *find_handle(
	const struct profile_handle **index, size_t count, const struct profile_volume *v)
{
	const struct profile_handle like = {.world = v->world, .identity = v->handle}, *key = &like;
	const struct profile_handle **found = bsearch(&key, index, count, sizeof(*index), compare_identities);

	return found ? *found : NULL;
}

struct traffic_handle *traffic_handles(const struct profile *profile, size_t *ret_count)
{
	size_t handle_count, count, rows = 0;
	const struct profile_handle **index = index_handles(profile, &handle_count);
	const struct profile_volume *v = profile_volumes(profile, &count), *last = NULL;
	struct traffic_handle *list = index ? calloc(count + 1, sizeof(*list)) : NULL;

	/* volumes of one handle stand together */
	for (; list && count--; last = v++) {
		struct traffic_handle *row;

		if (!last || last->world != v->world || last->handle != v->handle)
			list[rows++].handle = find_handle(index, handle_count, v);
		row = &list[rows - 1];
		row->messages += v->messages;
		row->sent += v->sent;
		row->received += v->received;
		row->time += v->time;
	}
	if (list)
		qsort(list, rows, sizeof(*list), compare_handles);
	free(index);
	*ret_count = rows;
	return list;
}

#define WORD(table_, i_) \
	((i_) < sizeof(table_) / sizeof(*(table_)) && (table_)[i_] ? (table_)[i_] : "unknown")

const char *traffic_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[PROFILE_POINT_TO_POINT] = "point_to_point", [PROFILE_ONE_SIDED] = "one_sided"};

	return WORD(names, kind);
}

const char *traffic_size_name(unsigned size_class, char text[FIGURE_SIZE])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned bit = size_class - 1;

	if (!size_class)
		snprintf(text, FIGURE_SIZE, "0");
	else
		snprintf(text, FIGURE_SIZE, "%u %s", 1u << bit % 10, bit / 10 < 7 ? units[bit / 10] : "?");
	return text;
}

#include "profile/mpi/mpi.h"

#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "base/search.h"

void mpi_init(struct mpi *mpi)
{
	*mpi = (struct mpi){
		.functions = {.row_size = sizeof(struct profile_function), .key_size = sizeof(const char *)},
		.ranks = {.row_size = sizeof(struct profile_rank),
			.key_size = offsetof(struct profile_rank, size)},
		.flows = {.row_size = sizeof(struct profile_flow),
			.key_size = offsetof(struct profile_flow, reserved)},
		.volumes = {.row_size = sizeof(struct profile_volume),
			.key_size = offsetof(struct profile_volume, messages)},
		.handles = {.row_size = sizeof(struct profile_handle),
			.key_size = offsetof(struct profile_handle, parent)},
	};
}

void mpi_release(struct mpi *mpi)
{
	row_map_release(&mpi->functions);
	row_map_release(&mpi->ranks);
	row_map_release(&mpi->flows);
	row_map_release(&mpi->volumes);
	row_map_release(&mpi->handles);
	spreads_release(&mpi->spreads);
	free(mpi->now);
}

static bool mpi_is_pair(unsigned message)
{
	return message == HYB_SEND || message == HYB_RECV || message == HYB_PUT || message == HYB_GET ||
	       message == HYB_UPDATE;
}

static bool is_rank(const struct hyb_process *process)
{
	return process->world && process->rank != HYB_RANK_NONE;
}

/* The row of the process's rank, or NULL when memory is out. */
static struct profile_rank *rank_of(struct mpi *mpi, const struct hyb_process *process)
{
	struct profile_rank key = {.world = process->world, .rank = process->rank};

	return row_map_row(&mpi->ranks, &key);
}

static struct profile_function *function_of(struct mpi *mpi, struct strings *strings, const char *name)
{
	const char *interned = strings_get(strings, name);

	return interned ? row_map_row(&mpi->functions, &interned) : NULL;
}

static int add_now(struct mpi *mpi, size_t row, const struct hyb_node_info *n)
{
	if (row >= mpi->now_count) {
		struct mpi_now *now = realloc(mpi->now, mpi->functions.capacity * sizeof(*now));

		if (!now)
			return HYB_ENOMEM;
		mpi->now = now;
		memset(now + mpi->now_count, 0, (mpi->functions.capacity - mpi->now_count) * sizeof(*now));
		mpi->now_count = mpi->functions.capacity;
	}
	mpi->now[row].calls += n->calls;
	mpi->now[row].time += n->inclusive;
	return 0;
}

static int add_function(struct mpi *mpi, struct strings *strings, const struct hyb_node_info *n)
{
	struct profile_function *f = function_of(mpi, strings, n->region->name);

	if (!f)
		return HYB_ENOMEM;
	f->calls += n->calls;
	f->time += n->inclusive;
	return add_now(mpi, (size_t)(f - (struct profile_function *)mpi->functions.rows), n);
}

static void add_side(struct profile_side *side, uint64_t messages, uint64_t bytes, uint64_t time)
{
	side->messages += messages;
	side->bytes += bytes;
	side->time += time;
}

static struct profile_flow *flow_of(
	struct mpi *mpi, const struct hyb_process *process, const struct hyb_node_info *n, bool to_peer)
{
	struct profile_flow key = {.world = process->world,
		.from = to_peer ? process->rank : n->peer,
		.to = to_peer ? n->peer : process->rank,
		.kind = n->message <= HYB_RECV ? PROFILE_POINT_TO_POINT : PROFILE_ONE_SIDED};

	return row_map_row(&mpi->flows, &key);
}

static int add_flow(struct mpi *mpi, const struct hyb_process *process, const struct hyb_node_info *n)
{
	bool out = n->message == HYB_SEND || n->message == HYB_PUT || n->message == HYB_UPDATE;
	bool in =
		n->message == HYB_RECV || n->message == HYB_GET || (n->message == HYB_UPDATE && n->received);
	struct profile_flow *f;

	if (out) {
		f = flow_of(mpi, process, n, true);
		if (!f)
			return HYB_ENOMEM;
		add_side(&f->sent, n->calls, n->sent, n->inclusive);
	}
	if (in) {
		f = flow_of(mpi, process, n, false);
		if (!f)
			return HYB_ENOMEM;
		add_side(&f->received, n->calls, n->received, out ? 0 : n->inclusive);
	}
	return 0;
}

static int add_volume(struct mpi *mpi, const struct hyb_process *process, const struct hyb_node_info *n)
{
	struct profile_volume *v, key = {.world = process->world,
					  .handle = n->handle ? n->handle->identity : 0,
					  .message = n->message,
					  .size_class = n->size_class};

	v = row_map_row(&mpi->volumes, &key);
	if (!v)
		return HYB_ENOMEM;
	v->messages += n->calls;
	v->sent += n->sent;
	v->received += n->received;
	v->time += n->inclusive;
	return 0;
}

static int add_message(struct mpi *mpi, struct strings *strings, const struct hyb_location_info *location,
	const struct hyb_node_info *n, bool traffic)
{
	struct profile_function *f =
		function_of(mpi, strings, location->nodes[location->nodes[n->parent].probe].region->name);

	if (!f)
		return HYB_ENOMEM;
	f->messages += n->calls;
	f->sent += n->sent;
	f->received += n->received;
	if (!traffic)
		return 0;
	if (add_volume(mpi, location->process, n))
		return HYB_ENOMEM;
	return mpi_is_pair(n->message) ? add_flow(mpi, location->process, n) : 0;
}

static void add_to_rank(struct profile_rank *r, const struct hyb_node_info *n)
{
	if (n->type == HYB_TYPE_REGION) {
		r->mpi_calls += n->calls;
		r->mpi_time += n->inclusive;
		return;
	}
	r->messages_sent += n->message == HYB_SEND ? n->calls : 0;
	r->messages_received += n->message == HYB_RECV ? n->calls : 0;
	if (n->message == HYB_READ || n->message == HYB_WRITE)
		return;
	r->sent += n->sent;
	r->received += n->received;
}

/* Whether the nearest probe is a function of MPI: for messages of damaged files it may be none. */
static bool is_of_mpi(const struct hyb_node_info *nodes, const struct hyb_node_info *n)
{
	const struct hyb_node_info *probe =
		&nodes[n->type == HYB_TYPE_MESSAGE ? nodes[n->parent].probe : n->probe];

	return (n->type == HYB_TYPE_MESSAGE || n->type == HYB_TYPE_REGION) &&
	       probe->type == HYB_TYPE_REGION && probe->region->mpi;
}

int mpi_add_location(struct mpi *mpi, struct strings *strings, const struct hyb_location_info *location,
	uint64_t blocked, bool traffic)
{
	struct profile_rank *r = NULL;
	int result = 0;

	if (is_rank(location->process)) {
		r = rank_of(mpi, location->process);
		if (!r)
			return HYB_ENOMEM;
		r->threads += location->rest ? location->threads : 1;
		r->thread_wall += location->nodes[0].inclusive;
		r->cpu += location->cpu;
		r->blocked += blocked;
		r->errors += location->mpi[HYB_MPI_ERRORS];
	}
	for (size_t i = 1; !result && i < location->node_count; i++) {
		const struct hyb_node_info *n = &location->nodes[i];

		if (!is_of_mpi(location->nodes, n))
			continue;
		if (r)
			add_to_rank(r, n);
		result = n->type == HYB_TYPE_MESSAGE ? add_message(mpi, strings, location, n, traffic)
						     : add_function(mpi, strings, n);
	}
	return result;
}

/* ------------------------------------------------------------- processes */

int mpi_choose_name(struct strings *strings, const char **name, const char *other)
{
	if (*name && (!*other || (**name && strcmp(*name, other) <= 0)))
		return 0;
	*name = strings_get(strings, other);
	return *name ? 0 : HYB_ENOMEM;
}

static int add_handles(struct mpi *mpi, struct strings *strings, const struct hyb_process *process)
{
	for (size_t i = 0; i < process->handle_count; i++) {
		const struct hyb_handle *from = &process->handles[i];
		struct profile_handle *h, key = {.world = process->world, .identity = from->identity};
		uint32_t size = from->size + from->remote;

		h = row_map_row(&mpi->handles, &key);
		if (!h || mpi_choose_name(strings, &h->name, from->name))
			return HYB_ENOMEM;
		h->parent = from->parent > h->parent ? from->parent : h->parent;
		h->type = from->type > h->type ? from->type : h->type;
		h->size = size > h->size ? size : h->size;
		h->members++;
	}
	return 0;
}

static void fold_functions(struct mpi *mpi, const struct hyb_process *process)
{
	struct profile_function *rows = mpi->functions.rows;

	for (size_t i = 0; i < mpi->functions.count && i < mpi->now_count; i++) {
		if (mpi->now[i].calls && is_rank(process))
			spread_add(&rows[i].spread, mpi->now[i].time, process->rank);
		mpi->now[i] = (struct mpi_now){0};
	}
}

static int add_rank(
	struct mpi *mpi, struct strings *strings, const struct hyb_process *process, bool selected)
{
	struct profile_rank *r = rank_of(mpi, process);

	if (!r || mpi_choose_name(strings, &r->host, process->host))
		return HYB_ENOMEM;
	r->size = process->world_size > r->size ? process->world_size : r->size;
	r->pid = r->pid && r->pid < process->pid ? r->pid : process->pid;
	if (!selected)
		return 0;
	r->selected++;
	r->thread_level = process->thread_level > r->thread_level ? process->thread_level : r->thread_level;
	r->wall += process->end > process->start ? process->end - process->start : 0;
	if (process->clock_error > r->clock_error || !r->clock_error) {
		r->clock_shift_start = process->clock_shift_start;
		r->clock_shift_end = process->clock_shift_end;
		r->clock_error = process->clock_error;
	}
	return 0;
}

int mpi_add_process(struct mpi *mpi, struct strings *strings, const struct hyb_process *process,
	const struct tree *tree, bool selected)
{
	fold_functions(mpi, process);
	if (!is_rank(process)) {
		spreads_forget(&mpi->spreads);
		return selected ? add_handles(mpi, strings, process) : 0;
	}
	if (add_rank(mpi, strings, process, selected) || (selected && add_handles(mpi, strings, process)))
		return HYB_ENOMEM;
	if (selected)
		spreads_fold(&mpi->spreads, tree, process->rank);
	return 0;
}

/* ----------------------------------------------------------------- order */

static int compare_functions(const void *pa, const void *pb)
{
	const struct profile_function *a = pa, *b = pb;
	int d = COMPARE(b->time, a->time);

	return d ? d : strcmp(a->name, b->name);
}

static int compare_ranks(const void *pa, const void *pb)
{
	const struct profile_rank *a = pa, *b = pb;
	int d = COMPARE(a->world, b->world);

	return d ? d : COMPARE(a->rank, b->rank);
}

static int compare_flows(const void *pa, const void *pb)
{
	const struct profile_flow *a = pa, *b = pb;
	int d = COMPARE(a->world, b->world);

	if (!d)
		d = COMPARE(a->from, b->from);
	if (!d)
		d = COMPARE(a->to, b->to);
	return d ? d : COMPARE(a->kind, b->kind);
}

static int compare_volumes(const void *pa, const void *pb)
{
	const struct profile_volume *a = pa, *b = pb;
	int d = COMPARE(a->world, b->world);

	if (!d)
		d = COMPARE(a->handle, b->handle);
	if (!d)
		d = COMPARE(a->message, b->message);
	return d ? d : COMPARE(a->size_class, b->size_class);
}

static int compare_handles(const void *pa, const void *pb)
{
	const struct profile_handle *a = pa, *b = pb;
	int d = COMPARE(a->world, b->world);

	if (!d)
		d = COMPARE(a->type, b->type);
	if (!d)
		d = COMPARE(b->size, a->size);
	if (!d)
		d = strcmp(a->name, b->name);
	return d ? d : COMPARE(a->identity, b->identity);
}

void mpi_finish(struct mpi *mpi)
{
	row_map_sort(&mpi->functions, compare_functions);
	row_map_sort(&mpi->ranks, compare_ranks);
	row_map_sort(&mpi->flows, compare_flows);
	row_map_sort(&mpi->volumes, compare_volumes);
	row_map_sort(&mpi->handles, compare_handles);
}

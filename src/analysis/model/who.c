/* Which process a rank of a communicator or of a world is. */
#include <stdlib.h>

#include "analysis/model/state.h"
#include "format/format.h"

static struct map_key process_key(const struct hyb_process *process)
{
	return (struct map_key){.a = (uintptr_t)process};
}

/* What its trace holds, from the start to where. */
static void judge(struct rank *rank)
{
	const struct hyb_process *p = rank->info;
	uint64_t lost = 0;

	for (size_t i = 0; i < p->location_count; i++)
		lost += p->locations[i].events_lost;
	rank->until = UINT64_MAX;
	if (!p->trace_events) {
		rank->why = HYB_LONE_ABSENT;
		rank->until = 0;
	} else if (p->trace_stopped || lost) {
		rank->why = HYB_LONE_CUT;
		rank->until = p->trace_stopped ? p->trace_stopped : UINT64_MAX;
	} else if (p->state == HYB_STATE_RUNNING || p->state == HYB_STATE_STOPPED) {
		rank->why = p->state == HYB_STATE_RUNNING ? HYB_LONE_KILLED : HYB_LONE_CUT;
		rank->until = p->end;
	}
}

static bool put_first(struct map *keys, const struct map_key *key, void *item)
{
	return map_get(keys, key) || map_put(keys, key, item);
}

static struct comm *comm_of(struct hyb_model *model, uint64_t identity)
{
	struct map_key key = {.a = identity};
	struct comm *comm = map_get(&model->comms, &key);

	if (comm)
		return comm;
	comm = arena_alloc(&model->arena, sizeof(*comm));
	return comm && map_put(&model->comms, &key, comm) ? comm : NULL;
}

static int add_member(struct hyb_model *model, struct rank *rank, const struct hyb_handle *handle)
{
	struct map_key place = {handle->identity, (uint64_t)handle->group << 32 | handle->rank, 0};
	struct map_key own = {handle->identity, rank->number, 0};
	size_t size = (size_t)handle->size + handle->remote;
	struct comm *comm;
	struct turn *turn;

	if (handle->type != HYB_COMM || map_get(&model->turns, &own))
		return HYB_OK;
	comm = comm_of(model, handle->identity);
	turn = arena_alloc(&model->arena, sizeof(*turn));
	if (!comm || !turn || !map_put(&model->turns, &own, turn) ||
		!put_first(&model->members, &place, rank))
		return HYB_ENOMEM;
	comm->shared |= comm->world && comm->world != rank->info->world;
	comm->world = rank->info->world;
	turn->out = rank->why == HYB_LONE_ABSENT;
	comm->expected += !turn->out;
	if (size > comm->size)
		comm->size = size;
	return HYB_OK;
}

static int add_rank(struct hyb_model *model, struct rank *rank)
{
	const struct hyb_process *p = rank->info;
	struct map_key process = process_key(p), place = {p->world, p->rank, 0};
	int error = HYB_OK;

	judge(rank);
	model->worlds_differ |= p->world && model->world && p->world != model->world;
	model->world = p->world ? p->world : model->world;
	rank->parallel = p->thread_level == 3 && p->location_count > 1;
	rank->tracks = calloc(p->location_count + 1, sizeof(*rank->tracks));
	if (!rank->tracks || !map_put(&model->processes, &process, rank))
		return HYB_ENOMEM;
	if (p->world && !put_first(&model->worlds, &place, rank))
		return HYB_ENOMEM;
	for (size_t i = 0; i < p->handle_count && !error; i++)
		error = add_member(model, rank, &p->handles[i]);
	return error;
}

int who_gather(struct hyb_model *model, struct hyb_process *const *processes, size_t count)
{
	int error = HYB_OK;

	model->ranks = calloc(count + 1, sizeof(*model->ranks));
	if (!model->ranks)
		return HYB_ENOMEM;
	for (size_t i = 0; i < count && !error; i++) {
		struct rank *rank = &model->ranks[model->rank_count++];

		rank->info = processes[i];
		rank->number = (uint32_t)i;
		error = add_rank(model, rank);
	}
	return error;
}

bool who_shares(const struct hyb_model *model, const struct hyb_handle *handle)
{
	struct map_key key = {.a = handle->identity};
	const struct comm *comm = map_get(&model->comms, &key);

	return comm && comm->shared;
}

struct rank *who_is(struct hyb_model *model, const struct hyb_process *process)
{
	struct map_key key = process_key(process);

	if (process != model->last_process) {
		model->last_process = process;
		model->last_rank = map_get(&model->processes, &key);
	}
	return model->last_rank;
}

struct rank *who_is_peer(const struct hyb_model *model, const struct rank *self,
	const struct hyb_handle *handle, uint32_t peer)
{
	struct map_key key = {self->info->world, peer, 0};

	if (!(peer & HYB_RANK_FOREIGN))
		return map_get(&model->worlds, &key);
	if (peer == HYB_RANK_NONE || !handle)
		return NULL;
	/* Of another world: its rank in the communicator; in the other group if there are two. */
	peer &= ~HYB_RANK_FOREIGN;
	key = (struct map_key){
		handle->identity, (uint64_t)(handle->remote ? !handle->group : 0) << 32 | peer, 0};
	return map_get(&model->members, &key);
}

#include "mpi/bridges.h"

#include "mpi/ranks.h"
#include "mpi/handle_map.h"

/* Never freed: there is one for each set of processes that none before has all of. */
struct bridge {
	struct bridge *next;
	uint64_t identity;
	MPI_Group group; /* of an inter-communicator both, the first one in front */
};

static struct bridge *_Atomic bridges;

struct groups {
	MPI_Group own, other;
	bool inter;
};

static bool get_groups(const struct handle *handle, MPI_Comm comm, struct groups *ret)
{
	ret->inter = handle->remote;
	if (PMPI_Comm_group(comm, &ret->own) != MPI_SUCCESS)
		return false;
	if (!ret->inter || PMPI_Comm_remote_group(comm, &ret->other) == MPI_SUCCESS)
		return true;
	PMPI_Group_free(&ret->own);
	return false;
}

static void free_groups(struct groups *groups)
{
	PMPI_Group_free(&groups->own);
	if (groups->inter)
		PMPI_Group_free(&groups->other);
}

static bool has_foreign(const uint32_t *ranks, uint32_t size)
{
	for (uint32_t i = 0; ranks && i < size; i++)
		if (ranks[i] & HYB_PEER_FOREIGN)
			return true;
	return false;
}

static bool is_mixed(const struct handle *handle)
{
	return has_foreign(handle->members, handle->size) ||
	       (handle->remote && has_foreign(handle->peers, handle->n_peers));
}

static bool has_all(const struct bridge *bridge, MPI_Group group)
{
	MPI_Group rest;
	int size = 1;

	if (PMPI_Group_difference(group, bridge->group, &rest) != MPI_SUCCESS)
		return false;
	PMPI_Group_size(rest, &size);
	PMPI_Group_free(&rest);
	return !size;
}

/* Of those that have all the one with the least identity: not everybody met them in the same order. */
static const struct bridge *find(const struct groups *groups)
{
	const struct bridge *found = NULL;

	for (const struct bridge *at = atomic_load(&bridges); at; at = at->next)
		if ((!found || at->identity < found->identity) && has_all(at, groups->own) &&
			(!groups->inter || has_all(at, groups->other)))
			found = at;
	return found;
}

static bool unite(const struct handle *handle, const struct groups *groups, MPI_Group *ret)
{
	MPI_Group first = handle->second ? groups->other : groups->own;
	MPI_Group second = handle->second ? groups->own : groups->other;

	return PMPI_Group_union(first, groups->inter ? second : first, ret) == MPI_SUCCESS;
}

void bridge_keep(const struct handle *handle, MPI_Comm comm)
{
	struct bridge *fresh = NULL, *first = atomic_load(&bridges);
	struct groups groups;

	if (!is_mixed(handle) || !get_groups(handle, comm, &groups))
		return;
	if (!find(&groups))
		fresh = memory_get(sizeof(*fresh));
	if (fresh && unite(handle, &groups, &fresh->group)) {
		fresh->identity = handle->identity;
		do
			fresh->next = first;
		while (!atomic_compare_exchange_weak(&bridges, &first, fresh));
	}
	free_groups(&groups);
}

static uint64_t hash_places(const struct bridge *bridge, MPI_Group group, uint32_t size, int *ret_first)
{
	int first = 0;

	PMPI_Group_translate_ranks(group, 1, &first, bridge->group, ret_first);
	return ranks_hash_in(bridge->group, group, size);
}

bool bridge_find(const struct handle *handle, MPI_Comm comm, struct bridge_places *ret)
{
	const struct bridge *bridge;
	struct groups groups;
	int first, other = 0;

	if (!is_mixed(handle) || !get_groups(handle, comm, &groups))
		return false;
	bridge = find(&groups);
	if (bridge) {
		*ret = (struct bridge_places){.bridge = bridge->identity,
			.own = hash_places(bridge, groups.own, handle->size, &first)};
		if (groups.inter)
			ret->other = hash_places(bridge, groups.other, handle->remote, &other);
		ret->second = groups.inter && other < first;
	}
	free_groups(&groups);
	return bridge != NULL;
}

/*
 * Identities. All members of a new handle must compute the same identity without communication, and no two
 * handles of a world may have the same one. If all members of a parent make the call, it is the n-th such
 * call on the parent for each of them (MPI demands the same order): the identity is a hash of the parent's
 * identity, n, the kind, and the rank in the parent of the first member, which differs between the parts of a
 * split. If only the new members make the call, they have also made all earlier handles of the same members
 * together: the identity is a hash of the members, hashed again for each handle that was there before.
 *
 * Processes of another world have no world rank here. Those that were spawned are told the identity of the
 * communicator with their parents (spawn.c), and what is made of it follows from that: also, by their places
 * in it, what only the new members of several worlds call (bridges.h). Where worlds have nothing in common,
 * what a side of MPI_Comm_connect, MPI_Comm_accept or MPI_Comm_join takes for its identity is not what the
 * other side does.
 */
#include "mpi/handles.h"

#include <stdlib.h>
#include <string.h>

#include "base/launch.h"
#include "mpi/bridges.h"
#include "mpi/files.h"
#include "mpi/ranks.h"
#include "mpi/handle_map.h"

enum salt { SALT_MADE = 1, SALT_GATHERED = 2, SALT_SELF = 3 };

static struct handle_map handles = {.entry = sizeof(struct handle *), .bits = 8};
static struct handle_map identities = {.entry = 0, .bits = 8};

struct handle *handle_world;

static __thread int creating;
static __thread uint32_t made; /* id of what the last creation defined; 0: nothing */

void creation_enter(bool measured)
{
	/* A measured call is inside of no other: if one is still noted as open, an error handler has jumped
	 * out of it. */
	creating = measured ? 1 : creating + 1;
	made = 0;
}

bool creation_leave(bool measured)
{
	return --creating == 0 && (measured || !api->version || !api->inside());
}

void creation_record(void)
{
	if (made)
		api->request(HYB_OTHER_CREATED, made);
}

static struct handle **entry_of(handle_slot *slot)
{
	return handle_map_entry(&handles, slot);
}

struct handle *handle_find(uint64_t key)
{
	handle_slot *slot = handle_map_find(&handles, key);

	return slot ? *entry_of(slot) : NULL;
}

void handle_freed(uint64_t key, const struct handle *old)
{
	handle_slot *slot = handle_map_find(&handles, key);
	uint64_t expected = key;

	/* Another thread may just have been given the same handle. */
	if (slot && atomic_compare_exchange_strong(slot, &expected, HANDLE_HELD))
		handle_map_set(slot, *entry_of(slot) == old ? HANDLE_FREE : key);
}

/* An identity that this process has not had. */
static uint64_t unique(uint64_t identity)
{
	for (;; identity = mix(identity, 1)) {
		handle_slot *slot;

		if (identity <= HANDLE_HELD || handle_map_find(&identities, identity))
			continue;
		slot = handle_map_claim(&identities, identity);
		if (slot)
			handle_map_set(slot, identity);
		return identity;
	}
}

static struct handle *handle_new(enum hyb_handle_kind kind)
{
	struct handle *handle = memory_get(sizeof(*handle));

	if (handle)
		handle->kind = (uint16_t)kind;
	return handle;
}

/* Ready with its identity: it gets an id, and is found by its key. */
static void publish(struct handle *handle, uint64_t key, uint64_t parent, const char *name)
{
	struct mpi_handle definition = {
		.identity = handle->identity,
		.parent = parent,
		.kind = handle->kind,
		.rank = handle->rank,
		.size = handle->size,
		.remote = handle->remote,
		.group = handle->second,
		.name = name,
	};
	handle_slot *slot = handle_map_claim(&handles, key);

	handle->id = api->define_handle(&definition);
	made = handle->id;
	if (!slot)
		return;
	*entry_of(slot) = handle;
	handle_map_set(slot, key);
}

/* Who is in it, by its group. */
static void set_members(struct handle *handle, MPI_Group group)
{
	int rank = 0, size = 0;

	PMPI_Group_rank(group, &rank);
	PMPI_Group_size(group, &size);
	handle->rank = (uint32_t)rank;
	handle->size = (uint32_t)size;
	/* Without memory peers are unknown. */
	if (!ranks_of(group, handle->size, &handle->members))
		handle->n_peers = handle->size;
	handle->peers = handle->members;
	PMPI_Group_free(&group);
}

static void describe_comm(struct handle *handle, MPI_Comm comm)
{
	MPI_Group group;
	int inter = 0, size = 0;

	if (PMPI_Comm_group(comm, &group) == MPI_SUCCESS)
		set_members(handle, group);
	PMPI_Comm_test_inter(comm, &inter);
	if (!inter || PMPI_Comm_remote_group(comm, &group) != MPI_SUCCESS)
		return;
	PMPI_Group_size(group, &size);
	handle->remote = (uint32_t)size;
	handle->n_peers = ranks_of(group, handle->remote, &handle->peers) ? 0 : handle->remote;
	PMPI_Group_free(&group);
}

/* The same members as another handle. */
static void copy_members(struct handle *handle, const struct handle *from)
{
	handle->rank = from->rank;
	handle->size = from->size;
	handle->remote = from->remote;
	handle->n_peers = from->n_peers;
	handle->peers = from->peers;
	handle->members = from->members;
	handle->second = from->second;
}

/* The number makes it unique: a program that duplicates in a loop leaves nothing in the map. */
static uint64_t made_identity(
	const struct handle *parent, uint64_t number, enum hyb_handle_kind kind, uint64_t first)
{
	return mix(mix(mix(mix(parent->identity, SALT_MADE), number), kind), first);
}

static bool get_group(MPI_Comm comm, bool remote, MPI_Group *ret)
{
	return (remote ? PMPI_Comm_remote_group(comm, ret) : PMPI_Comm_group(comm, ret)) == MPI_SUCCESS;
}

/*
 * The rank in the parent of the first member; of two groups that of the first one. 0 where all of the parent
 * are members: what they merge to has the groups in either order.
 */
static uint64_t place_of(
	const struct handle *handle, MPI_Comm comm, const struct handle *from, MPI_Comm parent)
{
	bool remote = handle->remote && handle->second;
	MPI_Group group, other;
	int rank = 0, place = 0;

	if (handle->size + handle->remote == from->size + from->remote || !get_group(comm, remote, &group))
		return 0;
	if (get_group(parent, remote, &other)) {
		PMPI_Group_translate_ranks(group, 1, &rank, other, &place);
		PMPI_Group_free(&other);
	}
	PMPI_Group_free(&group);
	return (uint64_t)place;
}

/* Of two groups, or of one and 0, from what both sides know in the same order. */
static void set_identity_of_groups(struct handle *handle, uint64_t from, uint64_t own, uint64_t other)
{
	handle->identity = unique(handle->second ? mix(mix(from, other), own) : mix(mix(from, own), other));
}

/*
 * Of all members. The first group of an inter-communicator is the one with the lowest world rank, so that
 * both sides have them in the same order.
 */
static void set_gathered_identity(struct handle *handle, uint64_t salt)
{
	uint64_t own = ranks_hash(handle->members, handle->size), other = 0;

	if (handle->remote) {
		other = ranks_hash(handle->peers, handle->n_peers);
		handle->second = handle->n_peers && ranks_at(handle->peers, 0) < ranks_at(handle->members, 0);
	}
	set_identity_of_groups(
		handle, mix(mix(mix(world.identity, SALT_GATHERED), handle->kind), salt), own, other);
}

/* Of members of several worlds. */
static void set_bridged_identity(struct handle *handle, const struct bridge_places *places, uint64_t salt)
{
	handle->second = places->second;
	set_identity_of_groups(
		handle, mix(mix(places->bridge, SALT_GATHERED), salt), places->own, places->other);
}

/* A communicator that this process knows nothing of yet; NULL: it has none. */
static struct handle *describe_new(MPI_Comm comm)
{
	struct handle *handle = NULL;

	if (comm != MPI_COMM_NULL && world.identity)
		handle = handle_new(HYB_HANDLE_COMM);
	if (handle)
		describe_comm(handle, comm);
	return handle;
}

struct handle *comm_handle(MPI_Comm comm)
{
	struct handle *handle;

	if (comm == MPI_COMM_WORLD && handle_world)
		return handle_world;
	handle = handle_find(handle_key(comm));
	if (handle)
		return handle;
	comm_met(comm, NULL);
	return handle_find(handle_key(comm));
}

void comm_created(MPI_Comm parent, MPI_Comm comm)
{
	struct handle *from = world.identity ? comm_handle(parent) : NULL;
	struct handle *handle;
	uint64_t number;

	if (!from)
		return;
	number = atomic_fetch_add(&from->made, 1);
	handle = describe_new(comm);
	made = 0; /* the parent may have been met just now */
	if (!handle)
		return;
	handle->second = handle->remote && from->second;
	handle->identity = made_identity(from, number, HYB_HANDLE_COMM, place_of(handle, comm, from, parent));
	bridge_keep(handle, comm);
	publish(handle, handle_key(comm), from->identity, NULL);
}

uint64_t comm_next_identity(MPI_Comm parent)
{
	const struct handle *from = world.identity ? comm_handle(parent) : NULL;

	return from ? made_identity(from, atomic_load(&from->made), HYB_HANDLE_COMM, 0) : 0;
}

/* A handle of all members of the parent. */
static struct handle *duplicate(MPI_Comm parent, enum hyb_handle_kind kind, uint64_t *ret_parent)
{
	struct handle *from = world.identity ? comm_handle(parent) : NULL;
	struct handle *handle;
	uint64_t number;

	if (!from)
		return NULL;
	number = atomic_fetch_add(&from->made, 1);
	handle = handle_new(kind);
	if (!handle)
		return NULL;
	copy_members(handle, from);
	handle->identity = made_identity(from, number, kind, 0);
	*ret_parent = from->identity;
	return handle;
}

void handle_duplicated(MPI_Comm parent, enum hyb_handle_kind kind, uint64_t key)
{
	uint64_t identity;
	struct handle *handle = duplicate(parent, kind, &identity);

	if (handle)
		publish(handle, key, identity, NULL);
}

void comm_grouped(MPI_Comm parent, MPI_Comm comm, int tag)
{
	struct handle *handle = describe_new(comm);
	const struct handle *from = handle ? comm_handle(parent) : NULL;
	uint64_t identity, members = 0;
	MPI_Group group, other;

	if (!from || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
		return;
	if (PMPI_Comm_group(parent, &other) == MPI_SUCCESS) {
		members = ranks_hash_in(other, group, handle->size);
		PMPI_Group_free(&other);
	}
	PMPI_Group_free(&group);
	identity = mix(mix(from->identity, SALT_GATHERED), (uint64_t)tag);
	handle->identity = unique(mix(identity, members));
	publish(handle, handle_key(comm), from->identity, NULL);
}

void comm_gathered(MPI_Comm comm, uint64_t salt, const char *name)
{
	struct handle *handle = describe_new(comm);
	struct bridge_places places;

	if (!handle)
		return;
	if (bridge_find(handle, comm, &places))
		set_bridged_identity(handle, &places, salt);
	else
		set_gathered_identity(handle, salt);
	publish(handle, handle_key(comm), 0, name);
}

void comm_met(MPI_Comm comm, const char *name)
{
	if (!handle_find(handle_key(comm)))
		comm_gathered(comm, 0, name);
}

void comm_parent(MPI_Comm comm)
{
	const char *inherited = getenv(LAUNCH_SPAWNED);
	struct handle *handle = handle_find(handle_key(comm)) ? NULL : describe_new(comm);

	if (!handle)
		return;
	set_gathered_identity(handle, 0);
	if (inherited && handle->remote) {
		handle->identity = strtoull(inherited, NULL, 16);
		handle->second = true;
		bridge_keep(handle, comm);
	}
	publish(handle, handle_key(comm), 0, "parent");
	made = 0;
}

uint64_t handle_text(const char *text)
{
	uint64_t hash = 0;

	while (*text)
		hash = mix(hash, (unsigned char)*text++);
	return hash;
}

void file_opened(MPI_Comm parent, MPI_File file, const char *path)
{
	uint64_t identity;
	struct handle *handle = duplicate(parent, HYB_HANDLE_FILE, &identity);

	if (!handle)
		return;
	handle->positions = file_has_positions(file);
	publish(handle, handle_key(file), identity, path);
}

/* A window or file whose creation was not seen. */
static struct handle *meet(uint64_t key, enum hyb_handle_kind kind, MPI_Group group)
{
	struct handle *handle = handle_new(kind);

	if (!handle)
		return NULL;
	set_members(handle, group);
	set_gathered_identity(handle, 0);
	publish(handle, key, 0, NULL);
	return handle_find(key);
}

struct handle *win_handle(MPI_Win win)
{
	struct handle *handle = handle_find(handle_key(win));
	MPI_Group group;

	if (handle || !world.identity || PMPI_Win_get_group(win, &group) != MPI_SUCCESS)
		return handle;
	return meet(handle_key(win), HYB_HANDLE_WINDOW, group);
}

struct handle *file_handle(MPI_File file)
{
	struct handle *handle = handle_find(handle_key(file));
	MPI_Group group;

	if (handle || !world.identity || PMPI_File_get_group(file, &group) != MPI_SUCCESS)
		return handle;
	return meet(handle_key(file), HYB_HANDLE_FILE, group);
}

void handle_named(const struct handle *handle, const char *name)
{
	if (handle)
		api->name_handle(handle->id, name);
	made = 0;
}

void handles_start(void)
{
	struct handle *self = handle_new(HYB_HANDLE_COMM), *all = handle_new(HYB_HANDLE_COMM);

	if (!self || !all)
		return;
	describe_comm(all, MPI_COMM_WORLD);
	all->identity = unique(world.identity);
	publish(all, handle_key(MPI_COMM_WORLD), 0, "MPI_COMM_WORLD");
	handle_world = all;
	describe_comm(self, MPI_COMM_SELF);
	self->identity = unique(mix(mix(world.identity, SALT_SELF), world.rank));
	publish(self, handle_key(MPI_COMM_SELF), 0, "MPI_COMM_SELF");
}

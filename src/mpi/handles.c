/*
 * Identities: all members of a new handle must come to the same one, without a word between them, and no two
 * handles of a world may have the same. A call that all members of a parent make is the n-th such call on it,
 * on each of them (MPI demands the same order): hash of the parent's identity, n, the kind, and the world
 * rank of the first member, which tells the parts of a split apart. Where only the new members call, they
 * have also made all earlier handles of the same members together: hash of the members, and again for each
 * that was there before.
 *
 * Processes of another world (spawned, or connected to) have no world rank here, and what a side takes for
 * its identity is not what the other side does.
 */
#include "mpi/handles.h"

#include <string.h>

#include "mpi/files.h"
#include "mpi/ranks.h"
#include "mpi/table.h"

enum salt { SALT_MADE = 1, SALT_GATHERED = 2, SALT_SELF = 3 };

static struct table handles = {.entry = sizeof(struct handle *), .bits = 8};
static struct table identities = {.entry = 0, .bits = 8};

struct handle *handle_world;

static __thread int creating;

void creation_enter(bool measured)
{
	/* What is measured is inside of no other: an error handler may have jumped out of that. */
	creating = measured ? 1 : creating + 1;
}

bool creation_leave(bool measured)
{
	return --creating == 0 && (measured || !api->version || !api->inside());
}

static struct handle **entry_of(table_slot *slot)
{
	return table_entry(&handles, slot);
}

struct handle *handle_find(uint64_t key)
{
	table_slot *slot = table_find(&handles, key);

	return slot ? *entry_of(slot) : NULL;
}

void handle_freed(uint64_t key, const struct handle *old)
{
	table_slot *slot = table_find(&handles, key);
	uint64_t expected = key;

	/* Another thread may just have been given the same handle. */
	if (slot && atomic_compare_exchange_strong(slot, &expected, TABLE_HELD))
		table_set(slot, *entry_of(slot) == old ? TABLE_FREE : key);
}

/* An identity that this process has not had. */
static uint64_t unique(uint64_t identity)
{
	for (;; identity = mix(identity, 1)) {
		table_slot *slot;

		if (identity <= TABLE_HELD || table_find(&identities, identity))
			continue;
		slot = table_claim(&identities, identity);
		if (slot)
			table_set(slot, identity);
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

/* The world rank of the first of all members. */
static uint32_t first_member(const struct handle *handle)
{
	uint32_t own = ranks_at(handle->members, 0), other;

	if (!handle->remote || !handle->n_peers)
		return own;
	other = ranks_at(handle->peers, 0);
	return own < other ? own : other;
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
		.group = handle->remote && ranks_at(handle->members, 0) != first_member(handle),
		.name = name,
	};
	table_slot *slot = table_claim(&handles, key);

	handle->id = api->define_handle(&definition);
	if (!slot)
		return;
	*entry_of(slot) = handle;
	table_set(slot, key);
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
}

static void set_identity(struct handle *handle, const struct handle *parent, uint64_t number)
{
	uint64_t identity = mix(mix(parent->identity, SALT_MADE), number);

	/* The number makes it unique: a program that duplicates in a loop leaves nothing in the table. */
	handle->identity = mix(mix(identity, handle->kind), first_member(handle));
}

/* Of all members, the groups in the same order on both sides. */
static void set_gathered_identity(struct handle *handle, uint64_t parent, uint64_t salt)
{
	uint64_t own = ranks_hash(handle->members, handle->size), first = own, second = 0;
	uint64_t identity = mix(mix(world.identity, SALT_GATHERED), handle->kind);

	if (handle->remote) {
		second = ranks_hash(handle->peers, handle->n_peers);
		if (ranks_at(handle->members, 0) != first_member(handle)) {
			first = second;
			second = own;
		}
	}
	handle->identity = unique(mix(mix(mix(mix(identity, parent), salt), first), second));
}

static void gather(MPI_Comm comm, uint64_t parent, uint64_t salt, const char *name)
{
	struct handle *handle;

	if (comm == MPI_COMM_NULL || !world.identity)
		return;
	handle = handle_new(HYB_HANDLE_COMM);
	if (!handle)
		return;
	describe_comm(handle, comm);
	set_gathered_identity(handle, parent, salt);
	publish(handle, handle_key(comm), parent, name);
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
	handle = comm == MPI_COMM_NULL ? NULL : handle_new(HYB_HANDLE_COMM);
	if (!handle)
		return;
	describe_comm(handle, comm);
	set_identity(handle, from, number);
	publish(handle, handle_key(comm), from->identity, NULL);
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
	set_identity(handle, from, number);
	*ret_parent = from->identity;
	return handle;
}

void comm_duplicated(MPI_Comm parent, MPI_Comm comm)
{
	uint64_t identity;
	struct handle *handle = duplicate(parent, HYB_HANDLE_COMM, &identity);

	if (handle)
		publish(handle, handle_key(comm), identity, NULL);
}

void comm_gathered(MPI_Comm parent, MPI_Comm comm, uint64_t salt)
{
	const struct handle *from = NULL;

	if (parent != MPI_COMM_NULL && world.identity)
		from = comm_handle(parent);
	gather(comm, from ? from->identity : 0, salt, NULL);
}

void comm_met(MPI_Comm comm, const char *name)
{
	if (!handle_find(handle_key(comm)))
		gather(comm, 0, 0, name);
}

uint64_t handle_text(const char *text)
{
	uint64_t hash = 0;

	while (*text)
		hash = mix(hash, (unsigned char)*text++);
	return hash;
}

void win_created(MPI_Comm parent, MPI_Win win)
{
	uint64_t identity;
	struct handle *handle = duplicate(parent, HYB_HANDLE_WINDOW, &identity);

	if (handle)
		publish(handle, handle_key(win), identity, NULL);
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

/* A window or file that nobody saw made. */
static struct handle *meet(uint64_t key, enum hyb_handle_kind kind, MPI_Group group)
{
	struct handle *handle = handle_new(kind);

	if (!handle)
		return NULL;
	set_members(handle, group);
	set_gathered_identity(handle, 0, 0);
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

void comm_named(MPI_Comm comm, const char *name)
{
	const struct handle *handle = world.identity ? comm_handle(comm) : NULL;

	if (handle)
		api->name_handle(handle->id, name);
}

void win_named(MPI_Win win, const char *name)
{
	const struct handle *handle = win_handle(win);

	if (handle)
		api->name_handle(handle->id, name);
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

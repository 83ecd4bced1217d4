/* What OTF2 wants to know of functions of MPI, by their names; and what it calls collectives. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "converters/otf2/state.h"
#include "format/format.h"
#include "format/words.h"

/* By enum hyb_operation. */
static const struct {
	OTF2_RegionRole role;
	OTF2_CollectiveOp op;
} collectives[] = {
	[HYB_COLLECTIVE_BARRIER] = {OTF2_REGION_ROLE_BARRIER, OTF2_COLLECTIVE_OP_BARRIER},
	[HYB_COLLECTIVE_BCAST] = {OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_BCAST},
	[HYB_COLLECTIVE_GATHER] = {OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHER},
	[HYB_COLLECTIVE_GATHERV] = {OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_GATHERV},
	[HYB_COLLECTIVE_SCATTER] = {OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTER},
	[HYB_COLLECTIVE_SCATTERV] = {OTF2_REGION_ROLE_COLL_ONE2ALL, OTF2_COLLECTIVE_OP_SCATTERV},
	[HYB_COLLECTIVE_ALLGATHER] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHER},
	[HYB_COLLECTIVE_ALLGATHERV] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHERV},
	[HYB_COLLECTIVE_ALLTOALL] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALL},
	[HYB_COLLECTIVE_ALLTOALLV] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLV},
	[HYB_COLLECTIVE_ALLTOALLW] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLW},
	[HYB_COLLECTIVE_REDUCE] = {OTF2_REGION_ROLE_COLL_ALL2ONE, OTF2_COLLECTIVE_OP_REDUCE},
	[HYB_COLLECTIVE_ALLREDUCE] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLREDUCE},
	[HYB_COLLECTIVE_SCAN] = {OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_SCAN},
	[HYB_COLLECTIVE_EXSCAN] = {OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_EXSCAN},
	[HYB_COLLECTIVE_REDUCE_SCATTER] = {OTF2_REGION_ROLE_COLL_OTHER, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
	[HYB_COLLECTIVE_REDUCE_SCATTER_BLOCK] = {OTF2_REGION_ROLE_COLL_OTHER,
		OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
	[HYB_COLLECTIVE_NEIGHBOR_ALLGATHER] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHER},
	[HYB_COLLECTIVE_NEIGHBOR_ALLGATHERV] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLGATHERV},
	[HYB_COLLECTIVE_NEIGHBOR_ALLTOALL] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALL},
	[HYB_COLLECTIVE_NEIGHBOR_ALLTOALLV] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLV},
	[HYB_COLLECTIVE_NEIGHBOR_ALLTOALLW] = {OTF2_REGION_ROLE_COLL_ALL2ALL, OTF2_COLLECTIVE_OP_ALLTOALLW},
};

/* Names without MPI_. */
static const struct role {
	const char *name;
	OTF2_RegionRole role;
} words[] = {
	{"put", OTF2_REGION_ROLE_RMA},
	{"rput", OTF2_REGION_ROLE_RMA},
	{"get", OTF2_REGION_ROLE_RMA},
	{"rget", OTF2_REGION_ROLE_RMA},
	{"accumulate", OTF2_REGION_ROLE_RMA},
	{"raccumulate", OTF2_REGION_ROLE_RMA},
	{"get_accumulate", OTF2_REGION_ROLE_RMA},
	{"rget_accumulate", OTF2_REGION_ROLE_RMA},
	{"fetch_and_op", OTF2_REGION_ROLE_RMA},
	{"compare_and_swap", OTF2_REGION_ROLE_RMA},
	{"file_open", OTF2_REGION_ROLE_FILE_IO_METADATA},
	{"file_close", OTF2_REGION_ROLE_FILE_IO_METADATA},
	{"file_set_view", OTF2_REGION_ROLE_FILE_IO_METADATA},
	{"file_seek", OTF2_REGION_ROLE_FILE_IO_METADATA},
};

/* Beginnings of names; the first that fits counts. */
static const struct role beginnings[] = {
	{"win_", OTF2_REGION_ROLE_RMA},
	{"file_", OTF2_REGION_ROLE_FILE_IO},
};

static const char *const point_to_point[] = {"send", "bsend", "ssend", "rsend", "isend", "ibsend", "issend",
	"irsend", "recv", "irecv", "mrecv", "imrecv", "sendrecv", "sendrecv_replace", "isendrecv",
	"isendrecv_replace", "send_init", "bsend_init", "ssend_init", "rsend_init", "recv_init", "psend_init",
	"precv_init", "probe", "iprobe", "mprobe", "improbe", "wait", "waitall", "waitany", "waitsome",
	"test", "testall", "testany", "testsome", "start", "startall", "cancel"};

static const struct {
	const char *name;
	enum otf2_sync sync;
} syncs[] = {
	{"win_fence", SYNC_ALL},
	{"win_post", SYNC_GROUP},
	{"win_start", SYNC_GROUP},
	{"win_complete", SYNC_GROUP},
	{"win_wait", SYNC_GROUP},
	{"win_test", SYNC_GROUP},
	{"win_lock", SYNC_LOCK},
	{"win_unlock", SYNC_UNLOCK},
	{"win_lock_all", SYNC_LOCK_ALL},
	{"win_unlock_all", SYNC_UNLOCK_ALL},
	{"win_flush", SYNC_FLUSH},
	{"win_flush_all", SYNC_FLUSH},
	{"win_flush_local", SYNC_FLUSH},
	{"win_flush_local_all", SYNC_FLUSH},
	{"win_sync", SYNC_FLUSH},
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static OTF2_RegionRole find_role(const char *name)
{
	unsigned collective = word_collective(name);

	if (collective)
		return collectives[collective].role;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(name, words[i].name))
			return words[i].role;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (!strncmp(name, beginnings[i].name, strlen(beginnings[i].name)))
			return beginnings[i].role;
	for (size_t i = 0; i < sizeof(point_to_point) / sizeof(*point_to_point); i++)
		if (!strcmp(name, point_to_point[i]))
			return OTF2_REGION_ROLE_POINT2POINT;
	return OTF2_REGION_ROLE_FUNCTION;
}

/* What an operation on a window's memory is. */
static OTF2_RmaAtomicType find_atomic(const char *name)
{
	if (strstr(name, "compare_and_swap"))
		return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
	if (strstr(name, "get_accumulate") || strstr(name, "fetch_and_op"))
		return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
	return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
}

void otf2_region_words(struct otf2_region *region)
{
	char name[64];
	size_t n = 0;

	region->mpi = true;
	region->paradigm = OTF2_PARADIGM_MPI;
	for (const char *c = region->name; *c && n < sizeof(name) - 1; c++)
		name[n++] = (char)tolower((unsigned char)*c);
	name[n] = 0;
	n = !strncmp(name, "mpi_", 4) ? 4 : !strncmp(name, "mpix_", 5) ? 5 : 0;
	if (ends_with(name, "_c"))
		name[strlen(name) - 2] = 0;
	for (size_t i = 0; i < sizeof(syncs) / sizeof(*syncs); i++)
		if (!strcmp(syncs[i].name, name + n))
			region->sync = (uint8_t)syncs[i].sync;
	region->atomic = (uint8_t)find_atomic(name + n);
	region->completes = region->sync && (strstr(name, "fence") || strstr(name, "complete") ||
						    strstr(name, "unlock") || strstr(name, "flush"));
	region->shared_all = strstr(name, "_all") || strstr(name, "_ordered");
	region->role = find_role(name + n);
}

OTF2_CollectiveOp otf2_collective(unsigned collective)
{
	return collectives[collective].op;
}

/* What OTF2 wants to know of functions of MPI, by their names. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "converters/otf2/state.h"
#include "format/format.h"

#define NONE 0u
#define OP(name_) (OTF2_COLLECTIVE_OP_##name_ + 1)

/* Names without MPI_, and those of collectives without what begins or prepares them. */
static const struct word {
	const char *name;
	OTF2_RegionRole role;
	uint8_t collective;
} words[] = {
	{"barrier", OTF2_REGION_ROLE_BARRIER, OP(BARRIER)},
	{"bcast", OTF2_REGION_ROLE_COLL_ONE2ALL, OP(BCAST)},
	{"gather", OTF2_REGION_ROLE_COLL_ALL2ONE, OP(GATHER)},
	{"gatherv", OTF2_REGION_ROLE_COLL_ALL2ONE, OP(GATHERV)},
	{"scatter", OTF2_REGION_ROLE_COLL_ONE2ALL, OP(SCATTER)},
	{"scatterv", OTF2_REGION_ROLE_COLL_ONE2ALL, OP(SCATTERV)},
	{"allgather", OTF2_REGION_ROLE_COLL_ALL2ALL, OP(ALLGATHER)},
	{"allgatherv", OTF2_REGION_ROLE_COLL_ALL2ALL, OP(ALLGATHERV)},
	{"alltoall", OTF2_REGION_ROLE_COLL_ALL2ALL, OP(ALLTOALL)},
	{"alltoallv", OTF2_REGION_ROLE_COLL_ALL2ALL, OP(ALLTOALLV)},
	{"alltoallw", OTF2_REGION_ROLE_COLL_ALL2ALL, OP(ALLTOALLW)},
	{"allreduce", OTF2_REGION_ROLE_COLL_ALL2ALL, OP(ALLREDUCE)},
	{"reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, OP(REDUCE)},
	{"reduce_scatter", OTF2_REGION_ROLE_COLL_OTHER, OP(REDUCE_SCATTER)},
	{"reduce_scatter_block", OTF2_REGION_ROLE_COLL_OTHER, OP(REDUCE_SCATTER_BLOCK)},
	{"scan", OTF2_REGION_ROLE_COLL_OTHER, OP(SCAN)},
	{"exscan", OTF2_REGION_ROLE_COLL_OTHER, OP(EXSCAN)},
	{"put", OTF2_REGION_ROLE_RMA, NONE},
	{"rput", OTF2_REGION_ROLE_RMA, NONE},
	{"get", OTF2_REGION_ROLE_RMA, NONE},
	{"rget", OTF2_REGION_ROLE_RMA, NONE},
	{"accumulate", OTF2_REGION_ROLE_RMA, NONE},
	{"raccumulate", OTF2_REGION_ROLE_RMA, NONE},
	{"get_accumulate", OTF2_REGION_ROLE_RMA, NONE},
	{"rget_accumulate", OTF2_REGION_ROLE_RMA, NONE},
	{"fetch_and_op", OTF2_REGION_ROLE_RMA, NONE},
	{"compare_and_swap", OTF2_REGION_ROLE_RMA, NONE},
	{"file_open", OTF2_REGION_ROLE_FILE_IO_METADATA, NONE},
	{"file_close", OTF2_REGION_ROLE_FILE_IO_METADATA, NONE},
	{"file_set_view", OTF2_REGION_ROLE_FILE_IO_METADATA, NONE},
	{"file_seek", OTF2_REGION_ROLE_FILE_IO_METADATA, NONE},
};

/* Beginnings of names; the first that fits counts. */
static const struct word beginnings[] = {
	{"win_", OTF2_REGION_ROLE_RMA, NONE},
	{"file_", OTF2_REGION_ROLE_FILE_IO, NONE},
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

static const struct word *find_word(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

/* "ineighbor_allgather_init" is an allgather. */
static const struct word *find_collective(char *name)
{
	const struct word *word = find_word(name);
	char *end = strrchr(name, '_');

	if (word)
		return word;
	if (end && !strcmp(end, "_init"))
		*end = 0;
	if (!strncmp(name, "neighbor_", 9))
		return find_word(name + 9);
	if (!strncmp(name, "ineighbor_", 10))
		return find_word(name + 10);
	return find_word(*name == 'i' && !find_word(name) ? name + 1 : name);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void find_role(struct otf2_region *region, char *name)
{
	const struct word *word;

	region->role = OTF2_REGION_ROLE_FUNCTION;
	for (size_t i = 0; i < sizeof(point_to_point) / sizeof(*point_to_point); i++)
		if (!strcmp(name, point_to_point[i]))
			region->role = OTF2_REGION_ROLE_POINT2POINT;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (!strncmp(name, beginnings[i].name, strlen(beginnings[i].name)))
			region->role = beginnings[i].role;
	word = find_collective(name);
	if (word) {
		region->role = word->role;
		region->collective = word->collective;
	}
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
	find_role(region, name + n);
}

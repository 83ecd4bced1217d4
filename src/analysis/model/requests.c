/* Requests under way. */
#include "analysis/model/state.h"

/* A program may free requests that nobody asks for any more: of so many, the oldest are forgotten. */
#define REQUESTS_MAX (1u << 20)

/* MPI_Isendrecv sends and receives with one number. */
static struct map_key request_key(const struct rank *rank, uint64_t number, bool receives)
{
	return (struct map_key){rank->number, number, receives};
}

struct request *request_find(
	const struct hyb_model *model, const struct rank *rank, uint64_t number, bool receives)
{
	struct map_key key = request_key(rank, number, receives);

	return number ? map_get(&model->requests, &key) : NULL;
}

void request_end(struct hyb_model *model, struct request *request)
{
	map_remove(&model->requests, &request->key);
	*(request->older ? &request->older->newer : &model->oldest_request) = request->newer;
	*(request->newer ? &request->newer->older : &model->newest_request) = request->older;
	pool_give(&model->request_pool, request);
}

void request_begin(struct hyb_model *model, const struct rank *rank, uint64_t number,
	const struct hyb_moment *started, struct op *recv, const struct map_key *channel)
{
	struct request *request = request_find(model, rank, number, recv != NULL);

	if (request) /* a damaged file */
		request_end(model, request);
	if (model->requests.count >= REQUESTS_MAX)
		request_end(model, model->oldest_request);
	request = pool_take(model, &model->request_pool, sizeof(*request));
	if (!request)
		return;
	request->key = request_key(rank, number, recv != NULL);
	if (!map_put(&model->requests, &request->key, request)) {
		pool_give(&model->request_pool, request);
		model->failed = true;
		return;
	}
	request->started = *started;
	request->recv = recv;
	if (channel)
		request->channel = *channel;
	request->older = model->newest_request;
	*(request->older ? &request->older->newer : &model->oldest_request) = request;
	model->newest_request = request;
}

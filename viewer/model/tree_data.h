/* What the panes of trees show: made of a snapshot by a job, without what is hidden. */
#ifndef HYB_TREE_DATA_H
#define HYB_TREE_DATA_H

#include "viewer/model/tree_hide.h"
#include "viewer/snapshot/session.h"

enum tree_kind {
	TREE_CALLS_DOWN = 0,
	TREE_REVERSED,
	TREE_FLAT,
	TREE_DIFFERENCE,
};

struct tree_request {
	enum tree_kind kind;
	enum profile_by by; /* flat */
	struct hide_list hide;
	struct snapshot *snapshot; /* kept, in the thread that draws */
	struct profile_node *window; /* nodes of a window of time, the request's own; or NULL */
	uint64_t from, to; /* that, ns */
};

struct tree_data {
	struct tree_request request;
	struct tree_source source; /* its parts are here, in the snapshot or in the request */
	struct hidden_tree hidden;
	struct profile_tree reversed;
	struct profile_tree rows;
	struct profile_node *nodes; /* of the rows */
	const struct profile_diff_pair *pairs; /* of the difference, the snapshot's */
	uint64_t *child_calls;
	struct match *match; /* of the difference: nodes in the profile, made when it is asked for */
};

/* Takes what the request has; may run in a job. NULL: memory is out, or there is no base; the request is then
 * as before. */
struct tree_data *tree_data_make(struct tree_request *request);
/* In the thread that draws. Both accept NULL. */
void tree_data_free(struct tree_data *data);
void tree_request_release(struct tree_request *request);

/* The node of snapshot->profile that a node is, or TREE_NONE. */
uint32_t tree_data_origin(struct tree_data *data, uint32_t node);

#endif

#include "viewer/snapshot/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/snapshot/chosen.h"
#include "viewer/snapshot/live.h"
#include "viewer/snapshot/make.h"

struct session {
	const struct view_options *options;
	struct work *work;
	void (*loaded)(void *data, struct snapshot *snapshot, const char *error);
	void *data;
	struct inputs *inputs; /* what was opened last, or NULL */
	struct load *load; /* that is asked for and not cancelled, or NULL */
	struct load *loads; /* all that are not done */
	bool again; /* all is to be read again: asked for, and not done */
	uint64_t serial; /* of the last snapshot */
	struct query query; /* of the last one that was asked for, without its selection: */
	struct chosen chosen;
	struct snapshot *snapshot; /* the last one; a reference */
	struct live live;
};

/* A job; it has references to all that it uses. */
struct load {
	struct job job;
	struct session *session; /* NULL: it is gone; for the thread that draws */
	struct load *next; /* of the session's */
	const struct view_options *options;
	struct query query;
	struct chosen chosen; /* of which query.selected is made */
	struct inputs *before, *inputs;
	bool open; /* the files are read */
	bool quiet; /* nobody asked for it: a failure is reported once */
	enum inputs_again how;
	struct snapshot *snapshot;
	char error[600];
};

static void load_free(struct load *load)
{
	query_release(&load->query);
	chosen_release(&load->chosen);
	inputs_drop(load->before);
	inputs_drop(load->inputs);
	free(load);
}

/* ---------------------------------------------------- in the other thread */

static void run(struct job *job)
{
	struct load *load = (struct load *)job;
	struct inputs *inputs = load->inputs;

	if (load->open)
		inputs = load->inputs = inputs_open(
			load->options, load->before, load->how, job, load->error, sizeof(load->error));
	if (!inputs)
		return;
	if (chosen_apply(&load->chosen, inputs, &load->query)) {
		snprintf(load->error, sizeof(load->error), "out of memory");
		return;
	}
	load->snapshot = snapshot_make(
		load->options, inputs_keep(inputs), &load->query, job, load->error, sizeof(load->error));
}

/* --------------------------------------------------- in that which draws */

static void adopt(struct session *session, struct load *load)
{
	if (!load->open || !load->inputs)
		return;
	session->again &= load->how != INPUTS_ALL;
	inputs_drop(session->inputs);
	session->inputs = inputs_keep(load->inputs);
}

static void deliver(struct session *session, struct load *load)
{
	struct snapshot *snapshot = load->snapshot;
	bool waits = session->options->live && !session->snapshot;

	session->again = false;
	if (!snapshot) {
		if (live_failed(&session->live, waits) || !load->quiet)
			session->loaded(session->data, NULL, load->error);
		return;
	}
	live_read(&session->live, session->inputs->unfinished, load->open ? load->job.cost : 0);
	load->snapshot = NULL;
	snapshot->serial = ++session->serial;
	snapshot_drop(session->snapshot);
	session->snapshot = snapshot_keep(snapshot);
	session->loaded(session->data, snapshot, NULL);
}

static void forget(struct session *session, const struct load *load)
{
	struct load **at = &session->loads;

	while (*at != load)
		at = &(*at)->next;
	*at = load->next;
	if (session->load == load)
		session->load = NULL;
}

static void done(struct job *job, bool cancelled)
{
	struct load *load = (struct load *)job;
	struct session *session = load->session;

	if (session) {
		forget(session, load);
		adopt(session, load);
		if (!cancelled)
			deliver(session, load);
	}
	snapshot_drop(load->snapshot);
	load_free(load);
}

/* Posts a job for session->query and ->chosen. 0 or HYB_ENOMEM. */
static int post(struct session *session, bool quiet)
{
	struct load *load = calloc(1, sizeof(*load));

	if (!load || chosen_copy(&load->chosen, &session->chosen)) {
		free(load);
		return HYB_ENOMEM;
	}
	load->job = (struct job){.text = quiet ? NULL : "reading", .run = run, .done = done};
	load->session = session;
	load->next = session->loads;
	load->options = session->options;
	load->query = session->query;
	load->quiet = quiet;
	load->open = session->again || quiet || !session->inputs;
	load->how = session->again ? INPUTS_ALL : INPUTS_UNFINISHED;
	if (session->inputs && load->open)
		load->before = inputs_keep(session->inputs);
	else if (session->inputs)
		load->inputs = inputs_keep(session->inputs);
	if (!load->open)
		load->job.text = "merging";
	if (session->load)
		work_cancel(session->work, &session->load->job);
	session->load = session->loads = load;
	work_post(session->work, &load->job);
	return 0;
}

int session_load(struct session *session, const struct query *query, bool again)
{
	struct chosen chosen;

	if (chosen_make(&chosen, session->snapshot, query))
		return HYB_ENOMEM;
	chosen_release(&session->chosen);
	session->chosen = chosen;
	session->query = *query;
	session->query.selected = NULL;
	session->query.selected_count = 0;
	session->again |= again;
	return post(session, false);
}

int session_wait(const struct session *session)
{
	return session->load ? -1 : live_wait(&session->live);
}

void session_turn(struct session *session)
{
	if (!session_wait(session) && post(session, true))
		live_postpone(&session->live);
}

struct session *session_new(const struct view_options *options, struct work *work,
	void (*loaded)(void *data, struct snapshot *snapshot, const char *error), void *data)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	*session = (struct session){.options = options, .work = work, .loaded = loaded, .data = data};
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (struct load *load = session->loads; load; load = load->next) {
		load->session = NULL;
		work_cancel(session->work, &load->job);
	}
	snapshot_drop(session->snapshot);
	inputs_drop(session->inputs);
	chosen_release(&session->chosen);
	free(session);
}

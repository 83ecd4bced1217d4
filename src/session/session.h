/*
 * Opens the symbols of experiments and merges what they measured into one profile. Report, viewer, converters
 * and the Python package begin here.
 */
#ifndef HYB_SESSION_H
#define HYB_SESSION_H

#include "profile/profile.h"

/* Whoever opened them closes them. */
struct session_input {
	struct hyb_experiment *experiment;
	struct hyb_symbols *symbols;
};

/* Opens the symbols of an experiment, with the names of all that was sampled. 0 or enum hyb_result; what was
 * opened is in *ret_symbols also on failure, else NULL. */
int session_name(struct hyb_experiment *experiment, const struct hyb_symbols_options *options,
	struct hyb_symbols **ret_symbols, struct hyb_error *err);

/*
 * One profile of all inputs, which must stay open as long as it lives. It is not finished: profile_finish()
 * puts it in order and computes what is derived, which formats of events need not. 0 or enum hyb_result;
 * *ret_profile is NULL on failure.
 */
int session_add(const struct session_input *inputs, size_t count, const struct profile_options *options,
	struct profile **ret_profile, struct hyb_error *err);

/* The same, finished. */
int session_merge(const struct session_input *inputs, size_t count, const struct profile_options *options,
	struct profile **ret_profile, struct hyb_error *err);

#endif

#include "session/session.h"

#include "base/error.h"

int session_name(struct hyb_experiment *experiment, const struct hyb_symbols_options *options,
	struct hyb_symbols **ret_symbols, struct hyb_error *err)
{
	*ret_symbols = hyb_symbols_open(experiment, options, err);
	return *ret_symbols ? hyb_symbols_resolve_all(*ret_symbols, err) : (int)err->code;
}

int session_add(const struct session_input *inputs, size_t count, const struct profile_options *options,
	struct profile **ret_profile, struct hyb_error *err)
{
	struct profile *profile = profile_new(options);
	int r = profile ? 0 : error_set(err, HYB_ENOMEM, "out of memory");

	for (size_t i = 0; !r && i < count; i++)
		r = profile_add(profile, inputs[i].experiment, inputs[i].symbols, err);
	if (r) {
		profile_free(profile);
		profile = NULL;
	}
	*ret_profile = profile;
	return r;
}

int session_merge(const struct session_input *inputs, size_t count, const struct profile_options *options,
	struct profile **ret_profile, struct hyb_error *err)
{
	struct profile *profile;
	int r = session_add(inputs, count, options, &profile, err);

	if (!r)
		r = profile_finish(profile, err);
	if (r) {
		profile_free(profile);
		profile = NULL;
	}
	*ret_profile = profile;
	return r;
}

/* What formats of all kinds have in common. */
#include "base/json.h"
#include "converters/formats.h"
#include "reader/error.h"

int convert_no_memory(struct hyb_error *err)
{
	return error_set(err, HYB_ENOMEM, "out of memory");
}

void convert_put_line(struct blob *to, const char *name, char avoid, char instead)
{
	size_t n;

	for (; *name; name += n ? n : 1) {
		unsigned char c = (unsigned char)*name;

		n = utf8_length(name);
		if (!n)
			blob_put_bytes(to, "\xef\xbf\xbd", 3);
		else if (*name == avoid)
			blob_put_bytes(to, &instead, 1);
		else if (c < 0x20 || c == 0x7f)
			blob_put_bytes(to, " ", 1);
		else
			blob_put_bytes(to, name, n);
	}
}

int convert_check(const struct convert_job *job, struct hyb_error *err)
{
	if (*job->stop)
		return error_set(err, HYB_EIO, "interrupted");
	if (job->file && ferror(job->file))
		return error_set(err, HYB_EIO, "cannot be written"); /* whose file it is knows why */
	return HYB_OK;
}

double convert_rate(int64_t before, int64_t now, uint64_t ns)
{
	double grown = now >= before ? (double)((uint64_t)now - (uint64_t)before)
				     : -(double)((uint64_t)before - (uint64_t)now);

	return grown / ((double)ns * 1e-9);
}

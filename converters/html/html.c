/*
 * One page that needs nothing else: flame graphs by speedscope, whose profile is that of the format of its
 * name, and tables, timeline and locations by a script of our own (html/page.js). The page without data is
 * made when hybrid is built (html/make_page.py); here it gets the data, as JSON.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "converters/formats.h"
#include "converters/html/page.h"
#include "profile/origin.h"
#include "profile/views/table.h"
#include "base/error.h"

#define MARK "<!--DATA-->"
#define THRESHOLD 0.01 /* percent: at most some ten thousand ways down a flame graph */
#define MOST 1.0 /* percent of a thread, however many there are */

/* ------------------------------------------------------- the page without data */

static FILE *open_page(void)
{
	char own[PATH_MAX], path[2 * PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	FILE *page;

	if (length <= 0)
		return NULL;
	own[length] = 0;
	*strrchr(own, '/') = 0;
	snprintf(path, sizeof(path), "%s/hybrid-page.html", own);
	page = fopen(path, "re");
	if (page)
		return page;
	snprintf(path, sizeof(path), "%s/" HYBRID_DATA "/hybrid-page.html", own);
	return fopen(path, "re");
}

/* Beside the program, or where it is installed. To be freed; NULL and *err: there is none. */
static char *read_page(struct hyb_error *err)
{
	FILE *page = open_page();
	char *text = NULL;
	size_t room = 0;
	ssize_t length = page ? getdelim(&text, &room, 0, page) : -1;

	if (page)
		fclose(page);
	if (length > 0 && strstr(text, MARK))
		return text;
	free(text);
	error_set(err, HYB_EFORMAT,
		"this build of hybrid has no page (hybrid-page.html): install npm, run scripts/setup, which "
		"fetches the package speedscope, and build again; --to speedscope needs neither");
	return NULL;
}

/* ------------------------------------------------------------- what goes into it */

/* A '<' stands only in strings of JSON, so that this says the same. */
static ssize_t write_escaped(void *cookie, const char *text, size_t size)
{
	FILE *out = cookie;
	const char *end = text + size;

	for (const char *p = text; p < end;) {
		const char *next = memchr(p, '<', (size_t)(end - p));
		size_t n = (size_t)((next ? next : end) - p);

		if (fwrite(p, 1, n, out) != n || (next && fputs("\\u003c", out) < 0))
			return 0;
		p += n + (next != NULL);
	}
	return (ssize_t)size;
}

static FILE *open_escaped(FILE *out)
{
	return fopencookie(out, "w", (cookie_io_functions_t){.write = write_escaped});
}

static void put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	json_string(out, text ? text : "");
}

static void put_run(struct html *html)
{
	struct hyb_experiment *e = html->job->experiment;
	const struct hyb_process *first = hyb_process_at(e, 0);
	char date[40] = "";
	struct tm tm;

	if (first && first->realtime) {
		time_t start = (time_t)(origin_realtime(first, first->start) / 1000000000);

		if (gmtime_r(&start, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	}
	fputs("\"path\":", html->out);
	json_string(html->out, hyb_experiment_path(e));
	put_text(html->out, "command", hyb_experiment_value(e, "command"));
	put_text(html->out, "host", first ? first->host : "");
	put_text(html->out, "date", date);
}

/* Files and modules stand for many functions. */
static int put_names(struct html *html, struct table *names, struct hyb_error *err)
{
	for (size_t i = 0; i < html->functions.count && i < HTML_FUNCTIONS; i++)
		if (!table_row(names, &html->functions.rows[i].file) ||
			!table_row(names, &html->functions.rows[i].module))
			return convert_no_memory(err);
	fputs(",\n\"names\":[", html->out);
	for (size_t i = 0; i < names->count; i++) {
		fputs(i ? "," : "", html->out);
		json_string(html->out, ((const char *const *)names->rows)[i]);
	}
	fputs("]", html->out);
	return HYB_OK;
}

static size_t number_of(struct table *names, const char *const *name)
{
	return (size_t)((const char *const *)table_row(names, name) - (const char *const *)names->rows);
}

static void put_function(struct html *html, struct table *names, size_t i)
{
	const struct profile_row *r = &html->functions.rows[i];
	const size_t metrics = html->functions.metrics;

	fputs(i ? ",\n[" : "\n[", html->out);
	json_string(html->out, *r->name ? r->name : "[unknown]");
	fprintf(html->out, ",%zu,%zu,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		number_of(names, &r->module), number_of(names, &r->file), r->line, r->kind, r->inclusive,
		r->exclusive, r->blocked, r->calls, r->samples);
	for (size_t k = 0; html->functions.values && k < metrics; k++)
		fprintf(html->out, ",%" PRId64 ",%" PRId64, html->functions.values[i * metrics + k].inclusive,
			html->functions.values[i * metrics + k].exclusive);
	fputc(']', html->out);
}

static int put_functions(struct html *html, struct hyb_error *err)
{
	const struct profile_node *root = &html->whole.nodes[0];
	struct table names = {.row_size = sizeof(char *), .key_size = sizeof(char *)};
	size_t count = html->functions.count;
	int r = put_names(html, &names, err);

	fputs(",\n\"metrics\":[", html->out);
	for (size_t k = 0; k < html->whole.metric_count; k++) {
		fputs(k ? ",{\"name\":" : "{\"name\":", html->out);
		json_string(html->out, html->whole.metrics[k].name);
		put_text(html->out, "unit", html->whole.metrics[k].unit);
		fputc('}', html->out);
	}
	fprintf(html->out, "],\n\"total\":%" PRIu64 ",\"waited\":%" PRIu64 ",\"functions\":[",
		profile_whole(root), root->inclusive - profile_whole(root));
	for (size_t i = 0; !r && i < count && i < HTML_FUNCTIONS; i++)
		put_function(html, &names, i);
	fputs("]", html->out);
	table_release(&names);
	if (!r && count > HTML_FUNCTIONS)
		convert_say(html->job, "the table has the 20,000 functions with most time of their own; the "
				       "others are left out");
	return r;
}

static int put_data(struct html *html, struct hyb_error *err)
{
	struct convert_job all = *html->job;
	int r;

	all.bounds.threshold = -1;
	if (all.mode == PROFILE_FUNCTION)
		all.mode = PROFILE_ROUTINE; /* as hybrid-report does it: shares are rounded by line */
	all.metric = NULL;
	r = convert_profile_make(&all, &html->whole, err);
	if (r)
		return r;
	if (profile_flat(html->whole.profile, PROFILE_BY_FUNCTION, PROFILE_SORT_EXCLUSIVE, &html->functions))
		return convert_no_memory(err);
	put_run(html);
	r = put_functions(html, err);
	if (!r)
		r = html_put_locations(html, err);
	if (!r)
		r = html_put_timeline(html, err);
	if (!r && html->job->quality && html->job->quality(html->job->data, &html->whole, html->out))
		r = convert_no_memory(err);
	return r;
}

/* An element of data. speedscope's is written by its own format, of all threads together or of each apart. */
static int put_element(
	const struct convert_job *whole, const char *id, bool by_location, struct hyb_error *err)
{
	struct convert_job job = *whole;
	int r;

	job.by_location = by_location;
	job.file = open_escaped(whole->file);
	if (!job.file)
		return convert_no_memory(err);
	fprintf(whole->file, "<script type=\"application/json\" id=\"%s\">", id);
	r = speedscope_put(&job, err);
	if (fclose(job.file) && !r)
		r = error_set(err, HYB_EIO, "cannot be written");
	fputs("</script>\n", whole->file);
	return r;
}

static int put_main(struct html *html, struct hyb_error *err)
{
	int r;

	html->out = open_escaped(html->job->file);
	if (!html->out)
		return convert_no_memory(err);
	fputs("<script type=\"application/json\" id=\"data\">{", html->job->file);
	r = put_data(html, err);
	fputs(",\n\"notes\":", html->out);
	convert_put_notes(html->job, html->out);
	fputc('}', html->out);
	if (fclose(html->out) && !r)
		r = error_set(err, HYB_EIO, "cannot be written");
	fputs("</script>\n", html->job->file);
	profile_flat_release(&html->functions);
	convert_profile_release(&html->whole);
	return r;
}

static size_t count_locations(const struct convert_job *job)
{
	size_t count = 0;

	for (size_t i = 0; i < hyb_process_count(job->experiment); i++) {
		const struct hyb_process *process = hyb_process_at(job->experiment, i);

		for (size_t k = 0; k < process->location_count; k++)
			count += !job->bounds.select ||
				 job->bounds.select(job->bounds.data, &process->locations[k]);
	}
	return count;
}

static int put_all(const struct convert_job *asked, struct hyb_error *err)
{
	struct convert_job job = *asked, apart = *asked;
	struct html html = {.job = &job};
	size_t locations = count_locations(asked);
	int r;

	if (asked->bounds.threshold <
		0) { /* each thread is the whole for itself: of many the ways are too many */
		job.bounds.threshold = THRESHOLD;
		apart.bounds.threshold = fmin(THRESHOLD * (double)locations, MOST);
	}
	r = put_element(&job, "together", false, err);
	if (!r && locations > 1)
		r = put_element(&apart, "apart", true, err);
	return r ? r : put_main(&html, err);
}

int html_write(const struct convert_job *job, struct hyb_error *err)
{
	char *page = read_page(err), *mark;
	int r;

	if (!page)
		return err->code;
	mark = strstr(page, MARK);
	fwrite(page, 1, (size_t)(mark - page), job->file);
	r = put_all(job, err);
	fputs(mark + strlen(MARK), job->file);
	free(page);
	return r ? r : convert_check(job, err);
}

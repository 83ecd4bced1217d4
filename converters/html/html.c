/*
 * One page that needs nothing else: flame graphs by speedscope, whose profile is that of the format of its
 * name, and tables, timeline and locations by a script of our own (html/page.js). The page without data is
 * made when hybrid is built (html/make_page.py); here it gets the data, as JSON.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "converters/formats.h"
#include "converters/html/page.h"
#include "profile/origin.h"
#include "profile/views/fields.h"
#include "profile/views/row_map.h"
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

/* A '<' occurs only in strings of JSON, where its escape means the same. */
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

static void put_run(struct html *html)
{
	struct hyb_experiment *e = html->job->experiment;
	const struct hyb_process *first = hyb_process_at(e, 0);
	const char *command = hyb_experiment_value(e, "command");
	char date[40] = "";
	struct tm tm;

	if (first && first->realtime) {
		time_t start = (time_t)(origin_realtime(first, first->start) / 1000000000);

		if (gmtime_r(&start, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	}
	json_text(&html->json, "path", hyb_experiment_path(e));
	json_text(&html->json, "command", command ? command : "");
	json_text(&html->json, "host", first ? first->host : "");
	json_text(&html->json, "date", date);
}

/* Files and modules stand for many functions. */
static int put_names(struct html *html, struct row_map *names, struct hyb_error *err)
{
	for (size_t i = 0; i < html->functions.count && i < HTML_FUNCTIONS; i++)
		if (!row_map_row(names, &html->functions.nodes[i].file) ||
			!row_map_row(names, &html->functions.nodes[i].module))
			return convert_no_memory(err);
	json_list(&html->json, "names");
	for (size_t i = 0; i < names->count; i++)
		json_text(&html->json, NULL, ((const char *const *)names->rows)[i]);
	json_end(&html->json);
	return HYB_OK;
}

static void put_function(struct html *html, struct row_map *names, size_t i)
{
	const struct profile_node *r = &html->functions.nodes[i];
	const struct field_row row = {.now = field_values_of_node(r)};
	const size_t metrics = html->functions.metrics;
	struct json *json = &html->json;

	json_list(json, NULL);
	json_text(json, NULL, *r->name ? r->name : "[unknown]");
	json_number(json, NULL, row_map_number(names, &r->module));
	json_number(json, NULL, row_map_number(names, &r->file));
	json_number(json, NULL, r->line);
	json_number(json, NULL, r->kind);
	for (unsigned id = 0; id < FIELDS; id++)
		if (fields[id].data & FIELD_FLAT)
			field_json(json, NULL, &fields[id], &row);
	for (size_t k = 0; html->functions.values && k < metrics; k++) {
		json_signed(json, NULL, html->functions.values[i * metrics + k].inclusive);
		json_signed(json, NULL, html->functions.values[i * metrics + k].exclusive);
	}
	json_end(json);
}

/* What the numbers of functions are: fields, then metrics. */
static void put_columns(struct html *html)
{
	struct json *json = &html->json;

	json_list(json, "fields");
	for (unsigned id = 0; id < FIELDS; id++)
		if (fields[id].data & FIELD_FLAT)
			json_text(json, NULL, fields[id].key);
	json_end(json);
	json_list(json, "metrics");
	for (size_t k = 0; k < html->whole.metric_count; k++) {
		json_object(json, NULL);
		json_text(json, "name", html->whole.metrics[k].name);
		json_text(json, "unit", html->whole.metrics[k].unit);
		json_end(json);
	}
	json_end(json);
}

static int put_functions(struct html *html, struct hyb_error *err)
{
	const struct profile_node *root = &html->whole.nodes[0];
	struct row_map names = {.row_size = sizeof(char *), .key_size = sizeof(char *)};
	size_t count = html->functions.count;
	int r = put_names(html, &names, err);

	put_columns(html);
	json_line(&html->json);
	json_number(&html->json, "total", profile_whole(root));
	json_number(&html->json, "waited", root->inclusive - profile_whole(root));
	json_array(&html->json, "functions");
	for (size_t i = 0; !r && i < count && i < HTML_FUNCTIONS; i++)
		put_function(html, &names, i);
	json_end(&html->json);
	row_map_release(&names);
	if (!r && count > HTML_FUNCTIONS)
		convert_note(html->job, "the table has the 20,000 functions with most time of their own; the "
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
	if (!r && html->job->quality && html->job->quality(html->job->data, &html->whole, &html->json))
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
	FILE *out = open_escaped(html->job->file);
	int r;

	if (!out)
		return convert_no_memory(err);
	fputs("<script type=\"application/json\" id=\"data\">", html->job->file);
	html->json = (struct json){.out = out};
	json_object(&html->json, NULL);
	r = put_data(html, err);
	json_line(&html->json);
	convert_put_notes(html->job, &html->json, "notes");
	json_end(&html->json);
	if (fclose(out) && !r)
		r = error_set(err, HYB_EIO, "cannot be written");
	fputs("</script>\n", html->job->file);
	profile_tree_release(&html->functions);
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
	struct convert_job job = *asked, apart;
	struct html html = {.job = &job};
	size_t locations = count_locations(asked);
	int r;

	if (job.fold == CONVERT_FOLD_NONE)
		job.fold = CONVERT_FOLD_DEEP;
	apart = job;
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

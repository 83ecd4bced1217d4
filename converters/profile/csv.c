/* A row for each call path, parents first, with all that is known of it; times in nanoseconds. Its ancestors
 * are named by their ids: call paths of g++ have thousands of names. */
#include "format/words.h"
#include "converters/formats.h"
#include "profile/views/fields.h"

static void put_header(struct csv *csv, const struct convert_profile *p)
{
	static const char *const parts[] = {" inclusive", " exclusive", " samples"};

	csv_plain(csv, "id,parent,level,kind,name,file,line,module");
	fields_csv_heading(csv, "", FIELD_FLAT);
	csv_plain(csv, "inclusive_percent,messages,bytes_sent,bytes_received,call_min_ns,call_max_ns");
	for (size_t k = 0; k < p->metric_count; k++)
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			char name[300];

			snprintf(name, sizeof(name), "%.250s%s", p->metrics[k].name, parts[i]);
			csv_text(csv, name);
		}
	csv_end(csv);
}

static void put_row(struct csv *csv, const struct convert_profile *p, uint32_t i, size_t level)
{
	const struct profile_node *n = &p->nodes[i];
	const struct profile_value *values = p->values ? &p->values[i * p->metric_count] : NULL;
	const struct field_row row = {.now = field_values_of_node(n)};
	const uint64_t all = i ? convert_all(p, i) : p->whole; /* the root has waited, too */

	csv_number(csv, i);
	if (i)
		csv_number(csv, n->parent);
	else
		csv_empty(csv);
	csv_number(csv, level);
	csv_plain(csv, word_key(&profile_kind_words, n->kind));
	csv_text(csv, n->name);
	csv_text(csv, n->file);
	csv_number(csv, n->line);
	csv_text(csv, n->module);
	fields_csv(csv, &row, FIELD_FLAT);
	csv_fixed(csv, p->whole ? (double)all * 100 / (double)p->whole : 0, 4);
	csv_number(csv, n->messages);
	csv_number(csv, n->sent);
	csv_number(csv, n->received);
	csv_number(csv, n->least);
	csv_number(csv, n->most);
	for (size_t k = 0; k < p->metric_count; k++) {
		csv_signed(csv, values ? values[k].inclusive : 0);
		csv_signed(csv, values ? values[k].exclusive : 0);
		csv_number(csv, values ? values[k].samples : 0);
	}
	csv_end(csv);
}

int csv_write(const struct convert_job *job, struct hyb_error *err)
{
	struct convert_profile p;
	struct csv csv = {.out = job->file, .end = "\r\n"};
	size_t level = 0;
	uint32_t i = 0;
	int r = convert_profile_make(job, &p, err);

	if (r)
		return r;
	put_header(&csv, &p);
	do {
		put_row(&csv, &p, i, level);
		r = i % 4096 == 0 ? convert_check(job, err) : HYB_OK;
		i = convert_next(&p, i, &level);
	} while (i && !r);
	convert_profile_release(&p);
	return r;
}

#include "quality/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/array.h"
#include "format/format.h"

static void count_killed(struct facts *facts, int signal)
{
	if (!facts->killed++)
		facts->signal = signal;
	else if (facts->signal != signal)
		facts->signal = -1;
}

static void count_state(const struct images *images, size_t i, struct facts *facts)
{
	const struct image *image = &images->list[i];

	switch (image->state) {
	case HYB_STATE_RUNNING:
		if (image->waited && WIFSIGNALED(image->status))
			count_killed(facts, WTERMSIG(image->status));
		else if (!image->waited && image->running)
			facts->running++;
		else if (!image->waited)
			count_killed(facts, 0);
		break;
	case HYB_STATE_EXEC:
		facts->replaced += images_last(images, i) == i;
		break;
	case HYB_STATE_STOPPED:
		facts->stopped++;
		break;
	}
}

static void count_trace(const struct hyb_process *process, struct facts *facts)
{
	if (!process->world)
		return;
	facts->ranks++;
	facts->traced += process->trace_events;
	facts->traced_bytes += process->trace_events ? process->trace_bytes : 0;
}

/* ---------------------------------------------------------------- adding */

/* Copies the texts. 0 or HYB_ENOMEM, as all functions that add. */

static int add_fact(
	struct facts *facts, struct fact_list *to, const char *words, unsigned severity, size_t count)
{
	const char *text = strings_get(&facts->strings, words);
	size_t i = 0;

	while (i < to->count && to->list[i].text != text)
		i++;
	if (!text || (i == to->count && !ARRAY_ROOM(to->list, to->count)))
		return HYB_ENOMEM;
	if (i == to->count)
		to->list[to->count++] = (struct fact){.text = text};
	if (severity > to->list[i].severity)
		to->list[i].severity = severity;
	to->list[i].count += count;
	return 0;
}

static int add_damage(struct facts *facts, size_t experiment, const char *words)
{
	struct fact_damage *damage = &facts->damage[experiment];
	const char *text = strings_get(&facts->strings, words);

	if (damage->text_count == FACTS_DAMAGE_TEXTS)
		return 0;
	if (!text || !ARRAY_ROOM(damage->texts, damage->text_count))
		return HYB_ENOMEM;
	damage->texts[damage->text_count++] = text;
	return 0;
}

/* ------------------------------------------------------------- gathering */

static int check_module(struct facts *facts, const struct hyb_module *module)
{
	struct stat st;

	if (stat(module->path, &st))
		return errno == ENOENT ? add_fact(facts, &facts->gone, module->path, 0, 1) : 0;
	if ((uint64_t)st.st_size == module->file_size && (!module->mtime || st.st_mtime == module->mtime))
		return 0;
	return add_fact(facts, &facts->changed, module->path, 0, 1);
}

/* Most modules are the same in all processes: `checked` has those that were looked at. */
static int gather_modules(const struct hyb_process *process, struct strings *checked, struct facts *facts)
{
	for (size_t m = 0; m < process->module_count; m++) {
		const struct hyb_module *module = &process->modules[m];
		size_t count = checked->count;
		char *key;
		bool out;

		if (*module->path != '/' || !module->file_size)
			continue;
		if (asprintf(&key, "%" PRIu64 " %" PRId64 " %s", module->file_size, module->mtime,
			    module->path) < 0)
			return HYB_ENOMEM;
		out = !strings_get(checked, key);
		free(key);
		if (out || (checked->count > count && check_module(facts, module)))
			return HYB_ENOMEM;
	}
	return 0;
}

static bool has_note(const struct hyb_process *process, size_t count, const char *text)
{
	for (size_t n = 0; n < count; n++)
		if (!strcmp(process->notes[n].text, text))
			return true;
	return false;
}

/* Whether this process left the same note before: in the same program, or in one that an exec replaced. */
static bool is_repeated(const struct hyb_process *process, size_t n)
{
	const char *text = process->notes[n].text;

	if (has_note(process, n, text))
		return true;
	for (size_t i = 0; process->image && i < hyb_process_count(process->experiment); i++) {
		const struct hyb_process *other = hyb_process_at(process->experiment, i);

		if (other->pid == process->pid && other->image < process->image &&
			!strcmp(other->host, process->host) && has_note(other, other->note_count, text))
			return true;
	}
	return false;
}

static int gather_process(const struct hyb_process *process, struct strings *checked, struct facts *facts)
{
	int r = gather_modules(process, checked, facts);

	count_trace(process, facts);
	for (size_t n = 0; !r && n < process->note_count; n++)
		r = add_fact(facts, &facts->notes, process->notes[n].text, process->notes[n].severity,
			!is_repeated(process, n));
	for (size_t m = 0; !r && m < process->metadata_count; m++)
		if (!strcmp(process->metadata[m].key, "hybrid.python"))
			r = add_fact(facts, &facts->pythons, process->metadata[m].value, 0, 1);
	return r;
}

static bool takes_part(const struct selection *part, const struct hyb_process *process)
{
	if (selection_is_all(part))
		return true;
	for (size_t i = 0; i < process->location_count; i++)
		if (selection_has(part, &process->locations[i]))
			return true;
	return false;
}

static int gather_experiment(
	const struct quality *quality, size_t e, struct strings *checked, struct facts *facts)
{
	struct hyb_experiment *experiment = quality->items[e].experiment;
	const char *text;
	int r = 0;

	for (size_t i = 0; !r && i < hyb_process_count(experiment); i++) {
		const struct hyb_process *process = hyb_process_at(experiment, i);
		bool part = takes_part(quality->part, process);

		r = part ? gather_process(process, checked, facts) : 0;
		if (!r)
			r = images_add(&facts->images, process, e, part, &facts->strings);
	}
	facts->damage[e].count = hyb_damage_count(experiment);
	for (size_t i = 0; !r && (text = hyb_damage_text(experiment, i)); i++)
		r = add_damage(facts, e, text);
	return r;
}

static int compare_facts(const void *pa, const void *pb)
{
	const struct fact *a = pa, *b = pb;

	if (a->severity != b->severity)
		return a->severity < b->severity ? 1 : -1;
	return strcmp(a->text, b->text);
}

/* In an order that does not depend on which process came first. */
static void sort(struct facts *facts)
{
	struct fact_list *const lists[] = {&facts->changed, &facts->gone, &facts->notes, &facts->pythons};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (lists[i]->count)
			qsort(lists[i]->list, lists[i]->count, sizeof(*lists[i]->list), compare_facts);
}

struct facts *facts_gather_part(const struct quality *quality)
{
	struct facts *facts = calloc(1, sizeof(*facts));
	struct strings checked = {0};
	int r = 0;

	if (!facts)
		return NULL;
	facts->damage = calloc(quality->count + 1, sizeof(*facts->damage));
	facts->experiment_count = facts->damage ? quality->count : 0;
	for (size_t e = 0; !r && e < facts->experiment_count; e++)
		r = gather_experiment(quality, e, &checked, facts);
	strings_release(&checked);
	if (r || !facts->damage) {
		facts_free(facts);
		return NULL;
	}
	sort(facts);
	return facts;
}

/* Whether all processes have CPU times from the kernel: files before 1.4 have none. */
static bool has_account(const struct quality *quality, const struct images *images)
{
	bool known = images->count && selection_is_all(quality->part);

	for (size_t e = 0; e < quality->count; e++)
		known &= hyb_experiment_value(quality->items[e].experiment, "user_ns") != NULL;
	for (size_t i = 0; i < images->count; i++)
		known &= images->list[i].hybrid_run || images->list[i].cpu_start;
	return known;
}

int facts_finish(struct facts *facts, const struct quality *quality)
{
	struct images *images = &facts->images;
	int r = 0;

	for (size_t e = 0; !r && e < quality->count; e++)
		r = images_add_command(images, quality->items[e].experiment, e, &facts->strings);
	if (!r)
		r = images_relate(images);
	if (r)
		return r;
	for (size_t i = 0; i < images->count; i++)
		if (images->list[i].selected)
			count_state(images, i, facts);
	return has_account(quality, images) ? account_make(images, &facts->account) : 0;
}

struct facts *facts_gather(const struct quality *quality)
{
	struct facts *facts = facts_gather_part(quality);

	if (!facts || !facts_finish(facts, quality))
		return facts;
	facts_free(facts);
	return NULL;
}

void facts_free(struct facts *facts)
{
	if (!facts)
		return;
	for (size_t e = 0; e < facts->experiment_count; e++)
		free(facts->damage[e].texts);
	free(facts->damage);
	free(facts->changed.list);
	free(facts->gone.list);
	free(facts->notes.list);
	free(facts->pythons.list);
	account_release(&facts->account);
	images_release(&facts->images);
	strings_release(&facts->strings);
	free(facts);
}

/* --------------------------------------------------------------- merging */

static void pack_list(const struct fact_list *from, struct blob *blob)
{
	blob_put(blob, from->count);
	for (size_t i = 0; i < from->count; i++) {
		blob_put_text(blob, from->list[i].text);
		blob_put(blob, from->list[i].severity);
		blob_put(blob, from->list[i].count);
	}
}

void facts_pack(const struct facts *facts, struct blob *blob)
{
	images_pack(&facts->images, blob);
	blob_put(blob, facts->ranks);
	blob_put(blob, facts->traced);
	blob_put(blob, facts->traced_bytes);
	pack_list(&facts->changed, blob);
	pack_list(&facts->gone, blob);
	pack_list(&facts->notes, blob);
	pack_list(&facts->pythons, blob);
	for (size_t e = 0; e < facts->experiment_count; e++) {
		blob_put(blob, facts->damage[e].count);
		blob_put(blob, facts->damage[e].text_count);
		for (size_t i = 0; i < facts->damage[e].text_count; i++)
			blob_put_text(blob, facts->damage[e].texts[i]);
	}
}

static int unpack_list(struct facts *facts, struct fact_list *to, struct blob_reader *from)
{
	int r = 0;

	for (size_t left = blob_get_count(from); !r && left; left--) {
		const char *text = blob_get_text(from);
		unsigned severity = (unsigned)blob_get(from);

		r = add_fact(facts, to, text, severity, (size_t)blob_get(from));
	}
	return r;
}

int facts_merge(struct facts *facts, struct blob_reader *from)
{
	int r = images_merge(&facts->images, from, &facts->strings);

	facts->ranks += (size_t)blob_get(from);
	facts->traced += (size_t)blob_get(from);
	facts->traced_bytes += blob_get(from);
	if (r || unpack_list(facts, &facts->changed, from) || unpack_list(facts, &facts->gone, from) ||
		unpack_list(facts, &facts->notes, from) || unpack_list(facts, &facts->pythons, from))
		return HYB_ENOMEM;
	for (size_t e = 0; !r && e < facts->experiment_count; e++) {
		facts->damage[e].count += (size_t)blob_get(from);
		for (size_t left = blob_get_count(from); !r && left; left--)
			r = add_damage(facts, e, blob_get_text(from));
	}
	sort(facts);
	return r;
}

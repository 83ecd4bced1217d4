#include "profile/views/fields.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RATE_LEAST 5e5 /* ns in a second: each reading knows a little better what a sample stands for */

/* ---------------------------------------------------------------- values */

static double share(double part, double whole)
{
	return whole != 0 ? part * 100 / whole : 0;
}

static double difference(uint64_t after, uint64_t before)
{
	return (double)(int64_t)(after - before);
}

static double percent(const struct field_row *row)
{
	return share((double)(row->now.inclusive - row->now.idle), (double)row->whole);
}

static double percent_alone(const struct field_row *row)
{
	return share(
		(double)(row->now.exclusive + row->now.blocked - row->now.idle_alone), (double)row->whole);
}

static double child_calls(const struct field_row *row)
{
	return (double)row->child_calls;
}

static double rate(const struct field_row *row)
{
	return row->rate;
}

static double before(const struct field_row *row)
{
	return row->before ? (double)row->before->inclusive : NAN;
}

static double after(const struct field_row *row)
{
	return row->before ? (double)row->now.inclusive : NAN;
}

static double change(const struct field_row *row)
{
	return row->before ? difference(row->now.inclusive, row->before->inclusive) : NAN;
}

static double change_percent(const struct field_row *row)
{
	return share(change(row) - difference(row->now.idle, row->before->idle), (double)row->whole);
}

static double change_exclusive(const struct field_row *row)
{
	return row->before ? difference(row->now.exclusive, row->before->exclusive) : NAN;
}

static double call_mean(const struct field_row *row)
{
	return row->now.calls ? (double)(row->now.inclusive / row->now.calls) : 0;
}

static double waited(const struct field_row *row)
{
	return (double)(row->now.blocked - row->now.ready);
}

/* -------------------------------------------------------- over the ranks */

static double ranks(const struct field_row *row)
{
	return row->spread ? (double)row->spread->ranks : NAN;
}

static double mean(const struct field_row *row)
{
	return row->spread ? (double)profile_spread_mean(row->spread, row->ranks) : NAN;
}

static double least(const struct field_row *row)
{
	return row->spread ? (double)profile_spread_least(row->spread, row->ranks) : NAN;
}

/* That of several which have none is not known. */
static double least_rank(const struct field_row *row)
{
	const struct profile_spread *s = row->spread;

	return s && s->ranks && s->ranks >= row->ranks ? s->least_rank : HYB_RANK_NONE;
}

static double most(const struct field_row *row)
{
	return row->spread ? (double)row->spread->most : NAN;
}

static double most_rank(const struct field_row *row)
{
	return row->spread && row->spread->ranks ? row->spread->most_rank : HYB_RANK_NONE;
}

static double deviation(const struct field_row *row)
{
	return row->spread ? profile_spread_deviation(row->spread, row->ranks) : NAN;
}

static double imbalance(const struct field_row *row)
{
	return row->spread ? profile_spread_imbalance(row->spread, row->ranks) : NAN;
}

/* ------------------------------------------------------------------ heat */

static double heat_of_percent(const struct field_row *row)
{
	return percent(row) / 100;
}

static double heat_of_exclusive(const struct field_row *row)
{
	return percent_alone(row) / 100;
}

static double heat_of_rate(const struct field_row *row)
{
	return row->rate_of_all > 0 ? row->rate / row->rate_of_all : 0;
}

static double heat_of_change(const struct field_row *row)
{
	return share(change(row), (double)row->whole) / 100;
}

static double heat_of_change_exclusive(const struct field_row *row)
{
	return share(change_exclusive(row), (double)row->whole) / 100;
}

/* ------------------------------------------------------------- the table */

#define TREES (FIELD_TREE | FIELD_REVERSE)
#define PROFILES (TREES | FIELD_FLAT) /* all but a difference */
#define ALL (PROFILES | FIELD_DIFF)
#define OVER (FIELD_OVER | FIELD_OVER_METRIC)
#define AMOUNT(member) offsetof(struct field_row, member)

/* clang-format off */
const struct field fields[FIELDS] = {
	[FIELD_INCLUSIVE] = {.name = "incl", .key = "inclusive_ns", .form = FIELD_TIME, .at = AMOUNT(now.inclusive),
		.text = PROFILES, .screen = PROFILES, .data = ALL, .adds = TREES,
		.priority = 1, .early = ALL, .heat = heat_of_percent},
	[FIELD_PERCENT] = {.name = "incl%", .form = FIELD_SHARE, .width = 7, .value = percent,
		.text = PROFILES, .screen = PROFILES, .adds = TREES,
		.priority = 2, .early = ALL, .heat = heat_of_percent},
	[FIELD_PERCENT_ALONE] = {.name = "excl%", .form = FIELD_SHARE, .width = 7, .value = percent_alone,
		.text = FIELD_TREE | FIELD_FLAT, .screen = FIELD_TREE | FIELD_FLAT, .adds = FIELD_FLAT,
		.least = 0.05, .priority = 2, .early = FIELD_FLAT},
	[FIELD_EXCLUSIVE] = {.name = "excl", .key = "exclusive_ns", .form = FIELD_TIME, .at = AMOUNT(now.exclusive),
		.text = FIELD_TREE | FIELD_FLAT, .screen = FIELD_TREE | FIELD_FLAT, .data = ALL, .adds = FIELD_FLAT,
		.least = 1, .priority = 7, .early = FIELD_FLAT, .heat = heat_of_exclusive},
	[FIELD_BLOCKED] = {.key = "blocked_ns", .form = FIELD_TIME, .at = AMOUNT(now.blocked), .data = ALL,
		.adds = FIELD_FLAT, .least = 1},
	[FIELD_WAIT] = {.name = "wait", .form = FIELD_TIME, .value = waited,
		.text = FIELD_TREE | FIELD_FLAT, .screen = FIELD_TREE | FIELD_FLAT, .adds = FIELD_FLAT,
		.least = 1, .needs = FIELD_HAS_BLOCKED, .priority = 8},
	[FIELD_READY] = {.name = "ready", .key = "ready_ns", .form = FIELD_TIME, .at = AMOUNT(now.ready),
		.text = FIELD_TREE | FIELD_FLAT, .screen = FIELD_TREE | FIELD_FLAT, .data = ALL, .adds = FIELD_FLAT,
		.least = 1, .needs = FIELD_HAS_READY, .priority = 8},
	[FIELD_IDLE] = {.key = "idle_ns", .form = FIELD_TIME, .at = AMOUNT(now.idle), .data = ALL, .least = 1},
	[FIELD_IDLE_ALONE] = {.key = "idle_alone_ns", .form = FIELD_TIME, .at = AMOUNT(now.idle_alone),
		.data = ALL, .least = 1},
	[FIELD_CALLS] = {.name = "calls", .key = "calls", .form = FIELD_COUNT, .width = 8, .at = AMOUNT(now.calls),
		.text = PROFILES, .screen = PROFILES, .data = ALL,
		.least = 1, .needs = FIELD_HAS_CALLS, .priority = 9},
	[FIELD_CHILD_CALLS] = {.name = "below", .form = FIELD_COUNT, .width = 8, .value = child_calls,
		.screen = FIELD_TREE, .least = 1, .needs = FIELD_HAS_CALLS, .priority = 14},
	[FIELD_SKIPPED] = {.name = "skipped", .key = "skipped", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(now.skipped), .data = TREES, .least = 1},
	[FIELD_SAMPLES] = {.name = "samples", .key = "samples", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(now.samples), .text = PROFILES, .screen = PROFILES, .data = ALL, .adds = FIELD_FLAT,
		.least = 1, .needs = FIELD_HAS_SAMPLES, .priority = 10},
	[FIELD_RATE] = {.name = "now", .form = FIELD_SECONDS, .width = 8, .value = rate, .screen = ALL,
		.least = RATE_LEAST, .needs = FIELD_HAS_RATE, .priority = 6, .early = ALL,
		.heat = heat_of_rate},
	[FIELD_BEFORE] = {.name = "before", .form = FIELD_TIME, .value = before, .screen = FIELD_DIFF,
		.adds = ALL, .least = 1, .priority = 3, .early = ALL},
	[FIELD_AFTER] = {.name = "after", .form = FIELD_TIME, .value = after, .screen = FIELD_DIFF,
		.adds = ALL, .least = 1, .priority = 4, .early = ALL},
	[FIELD_CHANGE] = {.name = "change", .form = FIELD_TIME, .sign = true, .value = change,
		.screen = FIELD_DIFF, .adds = ALL, .priority = 5, .early = ALL, .heat = heat_of_change},
	[FIELD_CHANGE_PERCENT] = {.name = "change%", .form = FIELD_SHARE, .width = 8, .sign = true,
		.value = change_percent, .screen = FIELD_DIFF, .adds = ALL, .priority = 12},
	[FIELD_CHANGE_EXCLUSIVE] = {.name = "exclchange", .form = FIELD_TIME, .wider = 2, .sign = true,
		.value = change_exclusive, .screen = FIELD_DIFF, .priority = 13, .heat = heat_of_change_exclusive},
	[FIELD_CALL_MEAN] = {.name = "mean", .key = "call_mean_ns", .form = FIELD_DURATION, .width = 10,
		.value = call_mean, .data = FIELD_EACH_CALL, .least = 1},
	[FIELD_CALL_LEAST] = {.name = "min", .key = "call_min_ns", .form = FIELD_DURATION, .width = 10,
		.at = AMOUNT(least), .data = FIELD_EACH_CALL, .least = 1},
	[FIELD_CALL_MOST] = {.name = "max", .key = "call_max_ns", .form = FIELD_DURATION, .width = 10,
		.at = AMOUNT(most), .data = FIELD_EACH_CALL, .least = 1},
	[FIELD_RANKS] = {.key = "ranks", .form = FIELD_COUNT, .value = ranks, .data = OVER},
	[FIELD_MEAN] = {.name = "mean", .key = "mean_ns", .form = FIELD_TIME, .value = mean, .data = OVER},
	[FIELD_LEAST] = {.name = "min", .key = "min_ns", .form = FIELD_TIME, .value = least, .data = OVER},
	[FIELD_LEAST_RANK] = {.name = "@rank", .key = "min_rank", .form = FIELD_AT_RANK, .width = -6,
		.value = least_rank, .data = OVER},
	[FIELD_MOST] = {.name = "max", .key = "max_ns", .form = FIELD_TIME, .value = most, .data = OVER},
	[FIELD_MOST_RANK] = {.name = "@rank", .key = "max_rank", .form = FIELD_AT_RANK, .width = -6,
		.value = most_rank, .data = OVER},
	[FIELD_DEVIATION] = {.key = "deviation_ns", .form = FIELD_TIME, .digits = 3, .value = deviation,
		.data = OVER},
	[FIELD_IMBALANCE] = {.name = "imb %", .key = "imbalance", .form = FIELD_SHARE, .digits = 6, .width = 7,
		.value = imbalance, .data = OVER},
	[FIELD_MESSAGES] = {.name = "msgs", .key = "messages", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(messages), .data = FIELD_TRAFFIC, .least = 1},
	[FIELD_SENT] = {.name = "sent", .key = "sent_bytes", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(sent), .data = FIELD_TRAFFIC, .least = 1},
	[FIELD_RECEIVED] = {.name = "recvd", .key = "received_bytes", .form = FIELD_COUNT, .width = 8,
		.at = AMOUNT(received), .data = FIELD_TRAFFIC, .least = 1},
};
/* clang-format on */

static const void *place(const struct field *field, const struct field_row *row)
{
	return (const char *)(field->size ? row->thing : row) + field->at;
}

static bool is_plain(const struct field *field)
{
	return field->at || field->size;
}

static uint64_t amount(const struct field *field, const struct field_row *row)
{
	const void *at = place(field, row);

	return field->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static const char *text_of(const struct field *field, const struct field_row *row)
{
	return field->word ? field->word(row) : *(const char *const *)place(field, row);
}

double field_value(const struct field *field, const struct field_row *row)
{
	return is_plain(field) ? (double)amount(field, row) : field->value(row);
}

const char *field_heading(const struct field *field, unsigned has)
{
	return field == &fields[FIELD_EXCLUSIVE] && has & FIELD_HAS_BLOCKED ? "cpu" : field->name;
}

bool field_is_in(const struct field *field, unsigned in, unsigned view, unsigned has)
{
	return in & view && (field->needs & has) == field->needs;
}

unsigned field_has_ready(uint64_t ready, uint64_t whole)
{
	return ready > whole / 200 ? FIELD_HAS_READY : 0;
}

struct profile_values field_values_of_node(const struct profile_node *n)
{
	return (struct profile_values){true, n->calls, n->skipped, n->samples, n->inclusive, n->exclusive,
		n->blocked, n->ready, n->idle, n->idle_alone};
}

/* ------------------------------------------------------------------ text */

/* "5'": of another MPI_COMM_WORLD. */
static const char *rank_text(uint32_t rank, const char *mark, const char *unknown, char text[FIGURE_SIZE])
{
	if (rank == HYB_RANK_NONE)
		return unknown ? unknown : "";
	snprintf(text, FIGURE_SIZE, "%s%" PRIu32 "%s", mark, rank & ~HYB_RANK_FOREIGN,
		rank & HYB_RANK_FOREIGN ? "'" : "");
	return text;
}

const char *field_text(const struct field *field, double value, double unit, char text[FIGURE_SIZE])
{
	*text = 0;
	if (isnan(value) || (field->least > 0 && value < field->least))
		return text;
	switch (field->form) {
	case FIELD_COUNT:
		return figure_count((uint64_t)value, text);
	case FIELD_DURATION:
		return figure_duration((uint64_t)value, text);
	case FIELD_RANK:
		return rank_text((uint32_t)value, "", field->unknown, text);
	case FIELD_AT_RANK:
		return rank_text((uint32_t)value, "@", field->unknown, text);
	case FIELD_SHARE:
		snprintf(text, FIGURE_SIZE, field->sign ? "%+.1f" : "%.1f", value);
		break;
	case FIELD_SECONDS:
		unit = 1e9;
		/* fall through */
	case FIELD_TIME:
		snprintf(text, FIGURE_SIZE, field->sign ? "%+.3f" : "%.3f", value / unit);
		break;
	case FIELD_SIGNED: /* for scripts alone */
	case FIELD_TEXT:
	case FIELD_ID:
		break;
	}
	return text;
}

/* ----------------------------------------------------------- for scripts */

/* The next one that files of this view have: counts, then times, then shares. NULL: no more. */
static const struct field *next_of_data(unsigned view, unsigned *at)
{
	for (; view && *at < 2 * FIELDS; ++*at) {
		const struct field *field = &fields[*at < FIELDS ? *at : *at - FIELDS];

		if (field->data & view && (field->form == FIELD_COUNT) == (*at < FIELDS)) {
			++*at;
			return field;
		}
	}
	return NULL;
}

static const char *key_of(const struct field *field, const char *prefix, unsigned view, char text[80])
{
	const char *end = field->key + strlen(field->key);

	if (!*prefix && !(view & FIELD_OVER_METRIC))
		return field->key;
	if (view & FIELD_OVER_METRIC && field->form == FIELD_TIME)
		end -= strlen("_ns");
	snprintf(text, 80, "%s%.*s", prefix, (int)(end - field->key), field->key);
	return text;
}

static double real_of(const struct field *field, const struct field_row *row)
{
	return field->value(row) / (field->form == FIELD_SHARE ? 100 : 1);
}

static void json_rank(struct json *json, const char *key, uint32_t rank)
{
	if (rank == HYB_RANK_NONE) {
		json_null(json, key);
	} else if (rank & HYB_RANK_FOREIGN) {
		json_object(json, key);
		json_number(json, "foreign", rank & ~HYB_RANK_FOREIGN);
		json_end(json);
	} else {
		json_number(json, key, rank);
	}
}

void field_json(struct json *json, const char *key, const struct field *field, const struct field_row *row)
{
	switch (field->form) {
	case FIELD_RANK:
	case FIELD_AT_RANK:
		json_rank(json, key, (uint32_t)field_value(field, row));
		return;
	case FIELD_TEXT:
		json_text(json, key, text_of(field, row));
		return;
	case FIELD_ID:
		json_id(json, key, amount(field, row));
		return;
	case FIELD_SIGNED:
		json_signed(json, key, (int64_t)amount(field, row));
		return;
	default:
		if (is_plain(field))
			json_number(json, key, amount(field, row));
		else
			json_fixed(json, key, real_of(field, row), field->digits);
	}
}

static void field_csv(struct csv *csv, const struct field *field, const struct field_row *row)
{
	char text[FIGURE_SIZE];

	switch (field->form) {
	case FIELD_RANK:
	case FIELD_AT_RANK:
		csv_plain(csv, rank_text((uint32_t)field_value(field, row), "", "", text));
		return;
	case FIELD_TEXT:
		(field->word ? csv_plain : csv_text)(csv, text_of(field, row));
		return;
	case FIELD_ID:
		csv_id(csv, amount(field, row));
		return;
	case FIELD_SIGNED:
		csv_signed(csv, (int64_t)amount(field, row));
		return;
	default:
		if (is_plain(field))
			csv_number(csv, amount(field, row));
		else
			csv_fixed(csv, real_of(field, row), field->digits);
	}
}

void fields_json(struct json *json, const struct field_row *row, unsigned view)
{
	const struct field *field;
	char key[80];

	for (unsigned at = 0; (field = next_of_data(view, &at));)
		field_json(json, key_of(field, "", view, key), field, row);
}

void fields_csv_heading(struct csv *csv, const char *prefix, unsigned view)
{
	const struct field *field;
	char key[80];

	for (unsigned at = 0; (field = next_of_data(view, &at));)
		csv_plain(csv, key_of(field, prefix, view, key));
}

void fields_csv(struct csv *csv, const struct field_row *row, unsigned view)
{
	const struct field *field;

	for (unsigned at = 0; (field = next_of_data(view, &at));)
		field_csv(csv, field, row);
}

/* ----------------------------------------------------------------- lists */

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

void field_list_json(struct json *json, const struct field_column *list, const struct field_row *row)
{
	const char *group = NULL;

	for (; list->field; list++) {
		if (!list->field->key)
			continue;
		if (group && !is_same(group, list->field->group))
			json_end(json);
		if (list->field->group && !is_same(group, list->field->group))
			json_object(json, list->field->group);
		group = list->field->group;
		field_json(json, list->field->key, list->field, row);
	}
	if (group)
		json_end(json);
}

void field_list_json_rows(struct json *json, const char *key, const struct field_column *list,
	const void *rows, size_t size, size_t count)
{
	json_list(json, key);
	for (size_t i = 0; i < count; i++) {
		json_row(json);
		field_list_json(json, list, &(struct field_row){.thing = (const char *)rows + i * size});
		json_end(json);
	}
	json_end(json);
}

static bool is_in_csv(const struct field *field)
{
	return field->key && !field->json_only;
}

void field_list_csv_heading(struct csv *csv, const struct field_column *list)
{
	char key[80];

	for (; list->field; list++) {
		const char *group = list->field->group;

		if (!is_in_csv(list->field))
			continue;
		snprintf(key, sizeof(key), "%s%s%s", group ? group : "", group ? "_" : "", list->field->key);
		csv_plain(csv, key);
	}
	csv_end(csv);
}

void field_list_csv(struct csv *csv, const struct field_column *list, const struct field_row *row)
{
	for (; list->field; list++)
		if (is_in_csv(list->field))
			field_csv(csv, list->field, row);
	csv_end(csv);
}

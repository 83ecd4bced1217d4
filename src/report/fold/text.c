/* The view --fold as text: what was folded, a table of its parts, a plot for each metric. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"

#define PLOT_ROWS 5u /* lines of a plot */
#define PLOT_MARGIN 12u /* columns in front of it */
#define PLOT_WIDEST 80u
#define LETTERS 10u /* places that have a letter of their own in the plot */
#define CELL 18 /* columns of a metric in the table */

/* ------------------------------------------------------------------------ head */

static void put_instances(const struct style *style, const struct report_fold *f)
{
	const struct fold *fold = &f->fold;
	char label[FOLD_LABEL], n[FIGURE_SIZE], mean[FIGURE_SIZE], least[FIGURE_SIZE], most[FIGURE_SIZE];
	struct text text = text_begin();

	text_add(&text, "%s: %s instance%s of", report_fold_label(&f->region, label),
		figure_number(fold->kept.count, n), text_plural(fold->kept.count));
	text_add(&text, " %s on average (%s to %s)",
		figure_duration((uint64_t)(report_fold_seconds(f) * 1e9), mean),
		figure_duration(fold->kept.least, least), figure_duration(fold->kept.most, most));
	if (f->along)
		text_add(&text, ", by %s", f->along);
	text_line(style, INK_BOLD, "fold", &text);
}

static void put_samples(const struct style *style, const struct report_fold *f)
{
	const struct fold *fold = &f->fold;
	struct text text = text_begin();
	char n[FIGURE_SIZE], each[FIGURE_SIZE], sampled[FIGURE_SIZE];

	text_add(&text, "%s in them, %s an instance; %s instance%s sampled", figure_number(fold->samples, n),
		report_fold_number((double)fold->samples / (double)fold->kept.count, each),
		figure_number(fold->sampled, sampled), fold->sampled == 1 ? " was" : "s were");
	text_line(style, INK_BOLD, "folded", &text);
}

static void put_aside(const struct style *style, const struct report_fold *f)
{
	const struct fold_durations *aside = &f->fold.aside;
	char n[FIGURE_SIZE], least[FIGURE_SIZE], most[FIGURE_SIZE], part[FIGURE_SIZE];
	struct text text = text_begin();

	if (aside->count)
		text_add(&text, "%s outlying instance%s of %s to %s, %s of all time in it",
			figure_number(aside->count, n), text_plural(aside->count),
			figure_duration(aside->least, least), figure_duration(aside->most, most),
			text_percent(aside->sum, aside->sum + f->fold.kept.sum, part));
	if (aside->count)
		text_add(&text, "; --fold-outliers changes that");
	text_line(style, INK_WARN, "aside", &text);
}

static unsigned empty_rows(const struct fold *fold)
{
	unsigned n = 0;

	for (unsigned row = 0; row < FOLD_ROWS; row++)
		n += !(fold->rows[row] > 0);
	return n;
}

static void put_notes(const struct style *style, const struct report_fold *f)
{
	const struct fold *fold = &f->fold;
	struct text text = text_begin();
	char n[FIGURE_SIZE];

	if (fold->untraced) {
		text_add(&text, "regions inside are not in it, nor are instances without a sample: "
				"hybrid-run --trace records them");
		if (fold->nested)
			text_add(&text, " (%s sample%s left out)", figure_number(fold->nested, n),
				text_plural(fold->nested));
	}
	text_line(style, INK_WARN, "note", &text);
	if (fold->incomplete)
		text_add(&text, "%s instance%s left out, whose start or end is not in the trace",
			figure_number(fold->incomplete, n), text_plural(fold->incomplete));
	text_line(style, INK_WARN, "note", &text);
	if (empty_rows(fold))
		text_add(&text, "%u of %u parts without a sample: nothing is known of them", empty_rows(fold),
			FOLD_ROWS);
	text_line(style, INK_WARN, "note", &text);
}

/* ----------------------------------------------------------------------- table */

/* "PAGE-FAULTS/s", as much as fits in. */
static const char *heading(const struct report_fold_column *c, char text[CELL])
{
	const char *name = strstr(c->name, "::");
	const char *per = c->kind == FOLD_GROWTH && !c->derived ? "/s" : "";
	size_t room = CELL - 2 - strlen(per) - c->estimated;

	name = name ? name + 2 : c->name;
	if (c->kind == FOLD_TIME)
		snprintf(text, CELL, "CPU %%");
	else
		snprintf(text, CELL, "%s%.*s%s", c->estimated ? "~" : "", (int)room, name, per);
	return text;
}

static void put_cell(const struct style *style, const struct report_fold_column *c, unsigned row)
{
	double scale = c->kind == FOLD_TIME ? 100 : 1;
	char value[FIGURE_SIZE], error[FIGURE_SIZE];

	fprintf(style->out, "%9s", report_fold_number(c->rate[row] * scale, value));
	if (isnan(c->low[row])) {
		fprintf(style->out, "%*s", CELL - 9, "");
		return;
	}
	style_put(style, INK_DIM, " %s%-*s", style->utf8 ? "±" : "+-", CELL - (style->utf8 ? 11 : 12),
		report_fold_number((c->high[row] - c->low[row]) / 2 * scale, error));
}

/* What the innermost is called. */
static struct label label_of_place(const struct report_fold *f, uint32_t place)
{
	const struct profile_node *n = place ? &f->below.nodes[place] : &f->region;
	struct label label = label_of(n);

	if (n->kind == PROFILE_INTERMEDIATE)
		label.kind = PROFILE_LEAF;
	label.skipped = 0;
	return label;
}

static void put_hot(struct style *style, const struct report_fold *f, unsigned row, unsigned used)
{
	double share;
	const struct fold_place *hot = report_fold_hot(f, row, &share);
	struct label label;
	char path[1024];

	if (!hot) {
		fputc('\n', style->out);
		return;
	}
	label = label_of_place(f, hot->place);
	label.name = report_fold_path(f, hot->place, path, sizeof(path));
	fprintf(style->out, "%5.0f  ", share * 100);
	style_label(style, &label, used + 7);
}

static void put_table(struct style *style, const struct report_fold *f)
{
	double seconds = report_fold_seconds(f);
	unsigned used = 18;
	char name[CELL];

	style_set_unit(style, (uint64_t)(seconds * 1e9));
	style_ink(style, INK_DIM);
	fprintf(style->out, "\n%7s%9s  ", "%", style->unit_name);
	for (size_t i = 0; i < f->column_count; i++, used += CELL)
		fprintf(style->out, "%9s%*s", heading(&f->columns[i], name),
			strlen(name) < 9 ? CELL - 9 : CELL - (int)strlen(name), "");
	fprintf(style->out, "%5s  ran most\n", "%");
	style_ink(style, INK_PLAIN);
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		double from = (double)row / FOLD_ROWS;

		fprintf(style->out, "%3.0f-%3.0f%9.3f  ", 100 * from, 100 * (from + 1.0 / FOLD_ROWS),
			from * seconds * 1e9 / style->unit);
		for (size_t i = 0; i < f->column_count; i++)
			put_cell(style, &f->columns[i], row);
		put_hot(style, f, row, used);
	}
}

/* ------------------------------------------------------------------------ plots */

/* A column of a plot, `v` of its lines high; line 0 is the lowest. */
static const char *block(const struct style *style, double v, unsigned line)
{
	static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	int n = (int)floor((v - line) * 8 + 0.5);

	n = n < 0 ? 0 : n > 8 ? 8 : n;
	return style->utf8 ? eighths[n] : n > 4 ? "#" : n > 1 ? "." : " ";
}

static void put_plot(
	const struct style *style, const struct report_fold_column *c, double seconds, unsigned width)
{
	double values[PLOT_WIDEST], top = 0, scale;
	char name[CELL], number[FIGURE_SIZE];

	for (unsigned i = 0; i < width; i++) {
		values[i] = fmax(report_fold_rise(c, (double)i / width, 1.0 / width), 0);
		top = fmax(top, values[i]);
	}
	if (!(top > 0))
		return;
	scale = c->kind == FOLD_TIME ? 100 : 1;
	if (c->curve && c->kind != FOLD_LEVEL)
		scale *= c->curve->growth / seconds;
	fprintf(style->out, "\n%*s", PLOT_MARGIN, "");
	style_put(style, INK_BOLD, "%s\n", heading(c, name));
	for (unsigned line = PLOT_ROWS; line-- > 0;) {
		fprintf(style->out, "%*s %s", PLOT_MARGIN - 2,
			line == PLOT_ROWS - 1 ? report_fold_number(top * scale, number)
			: line                ? ""
					      : "0",
			style->utf8 ? "│" : "|");
		for (unsigned i = 0; i < width; i++)
			fputs(block(style, values[i] / top * PLOT_ROWS, line), style->out);
		fputc('\n', style->out);
	}
}

/* ------------------------------------------------------------------- call path */

/* Which of the most frequent places is `place`; LETTERS: none of them. */
static unsigned letter_of(const struct fold *fold, const struct fold_place *place)
{
	size_t i = place ? (size_t)(place - fold->places) : LETTERS;

	return i < LETTERS ? (unsigned)i : LETTERS;
}

static void put_letter(const struct style *style, unsigned letter)
{
	if (style->colour && letter < LETTERS)
		fprintf(style->out, "\033[%u;30m", (letter / 6 ? 100 : 40) + 1 + letter % 6);
	fputc(letter < LETTERS ? 'A' + (int)letter : '.', style->out);
	style_ink(style, INK_PLAIN);
}

static void put_band(
	const struct style *style, const struct report_fold *f, unsigned width, bool used[LETTERS])
{
	double share;

	fprintf(style->out, "\n%*s", PLOT_MARGIN, "");
	for (unsigned i = 0; i < width; i++) {
		const struct fold_place *hot = report_fold_hot(f, i * FOLD_ROWS / width, &share);
		unsigned letter = letter_of(&f->fold, hot);

		if (letter < LETTERS)
			used[letter] = true;
		if (hot)
			put_letter(style, letter);
		else
			fputc(' ', style->out);
	}
	fprintf(style->out, "\n%*s0 %%%*s\n", PLOT_MARGIN, "", (int)width - 3, "100 %");
}

/* What a letter stands for: the way from the region down. */
static void put_legend(struct style *style, const struct report_fold *f, unsigned letter)
{
	const struct fold_place *p = &f->fold.places[letter];
	double all = 0;
	char path[1024];
	struct label label = label_of_place(f, p->place);

	for (unsigned row = 0; row < FOLD_ROWS; row++)
		all += f->fold.rows[row];
	put_letter(style, letter);
	fprintf(style->out, " %5.1f %%  ", 100 * p->weight / all);
	report_fold_path(f, p->place, path, sizeof(path));
	label.name = path;
	style_label(style, &label, 11);
}

static void put_path(struct style *style, const struct report_fold *f, unsigned width)
{
	bool used[LETTERS] = {false};

	put_band(style, f, width, used);
	for (unsigned i = 0; i < LETTERS; i++)
		if (used[i])
			put_legend(style, f, i);
}

void report_fold_text(struct style *style, const struct report_fold *fold)
{
	unsigned width = style->width - PLOT_MARGIN - 1;

	if (width > PLOT_WIDEST)
		width = PLOT_WIDEST;
	width -= width % FOLD_ROWS;
	fputc('\n', style->out);
	put_instances(style, fold);
	put_samples(style, fold);
	put_aside(style, fold);
	put_notes(style, fold);
	put_table(style, fold);
	for (size_t i = 0; i < fold->column_count; i++)
		put_plot(style, &fold->columns[i], report_fold_seconds(fold), width);
	put_path(style, fold, width);
}

/*
 * The view --fold as one SVG file: for each metric points, curve and rate, below them what ran. Nothing in it
 * refers to anything else, and no name of the program's can be markup.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "fold.h"

#define WIDTH 960
#define LEFT 80 /* of the plots */
#define RIGHT 880
#define TOP 84
#define HEIGHT 170 /* of a plot */
#define GAP 44
#define BAND 90
#define COLOURS 10u /* places that have one; the others are grey */
#define LINE 20 /* of the legend */

static const char *const colours[COLOURS + 1] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
	"#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#86bc86", "#c8c8c8"};

struct drawing {
	FILE *out;
	const struct report_fold *fold;
	double seconds; /* of the mean instance */
	double y; /* where the next thing begins */
};

static void put_text(FILE *out, const char *text)
{
	while (*text) {
		size_t n = utf8_length(text);

		if (!n || (unsigned char)*text < 0x20)
			fputs("\xef\xbf\xbd", out);
		else if (*text == '<' || *text == '>' || *text == '&')
			fprintf(out, "&#%d;", *text);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

/* A line of text; `class` chooses size and anchor. */
static void text_at(const struct drawing *d, double x, double y, const char *class, const char *text)
{
	fprintf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	put_text(d->out, text);
	fputs("</text>\n", d->out);
}

static double x_of(double share)
{
	return LEFT + (RIGHT - LEFT) * share;
}

/* ------------------------------------------------------------------------ head */

static void put_head(const struct drawing *d, double height)
{
	const struct fold *fold = &d->fold->fold;
	char label[FOLD_LABEL], line[400], n[FIGURE_SIZE], mean[FIGURE_SIZE], least[FIGURE_SIZE],
		most[FIGURE_SIZE], samples[FIGURE_SIZE];

	fprintf(d->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d "
		"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<style>.t{font-size:18px;font-weight:bold}.m{font-size:13px;font-weight:bold}.s{fill:#555}."
		"e{text-anchor:end;fill:#555}.c{text-anchor:middle;fill:#555}.r{text-anchor:start;fill:#"
		"c0392b}.w{fill:#b35900}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	text_at(d, 20, 30, "t", report_fold_label(&d->fold->region, label));
	snprintf(line, sizeof(line), "%s instances of %s on average (%s to %s)%s%.100s, %s samples in them",
		figure_number(fold->kept.count, n), figure_duration((uint64_t)(d->seconds * 1e9), mean),
		figure_duration(fold->kept.least, least), figure_duration(fold->kept.most, most),
		d->fold->along ? ", by " : "", d->fold->along ? d->fold->along : "",
		figure_number(fold->samples, samples));
	text_at(d, 20, 50, "s", line);
	if (fold->aside.count) {
		snprintf(line, sizeof(line),
			"set aside: %s outlying instances of %s to %s, %.2g %% of all time",
			figure_number(fold->aside.count, n), figure_duration(fold->aside.least, least),
			figure_duration(fold->aside.most, most),
			100 * (double)fold->aside.sum / (double)(fold->aside.sum + fold->kept.sum));
		text_at(d, 20, 67, "w", line);
	}
	if (fold->untraced)
		text_at(d, WIDTH - 20, 67, "e", "instances with samples only, without the regions inside");
}

/* ----------------------------------------------------------------------- plots */

/* A round number that is not below v. */
static double round_up(double v)
{
	static const double steps[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
	double power = pow(10, floor(log10(v)));

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i] * power >= v * 0.9999)
			return steps[i] * power;
	return v;
}

static double top_of(const struct report_fold_column *c)
{
	double top = 0;

	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		top = fmax(top, c->rate[row]); /* NAN is not more */
		top = fmax(top, c->high[row]);
	}
	if (c->curve && c->kind == FOLD_LEVEL)
		for (unsigned i = 0; i < FOLD_POINTS && i < c->curve->points; i++)
			top = fmax(top, c->curve->y[i]);
	return top > 0 ? round_up(top) : 1;
}

static void put_frame(const struct drawing *d, const struct report_fold_column *c, double top)
{
	double bottom = d->y + HEIGHT, scale = c->kind == FOLD_TIME ? 100 : 1;
	bool accumulates = c->curve && c->kind == FOLD_GROWTH;
	char n[FIGURE_SIZE], text[400];

	snprintf(text, sizeof(text), "%.300s%s%s", c->name,
		c->kind == FOLD_TIME ? ": share of a processor" : "",
		c->estimated ? " (estimated by multiplexing)" : "");
	text_at(d, LEFT, d->y - 8, "m", text);
	fprintf(d->out,
		"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#aaa\"/>\n",
		LEFT, d->y, RIGHT - LEFT, HEIGHT);
	for (int i = 0; i <= 4; i++) {
		double y = bottom - HEIGHT * i / 4.0;

		if (i && i < 4)
			fprintf(d->out, "<path d=\"M%d %.1fH%d\" stroke=\"#eee\"/>\n", LEFT, y, RIGHT);
		snprintf(text, sizeof(text), "%s%s", report_fold_number(top * scale * i / 4, n),
			c->kind == FOLD_TIME                              ? " %"
			: c->kind == FOLD_GROWTH && !c->derived && i == 4 ? "/s"
									  : "");
		text_at(d, RIGHT + 6, y + 4, "r", text);
		snprintf(text, sizeof(text), "%d %%", 25 * i);
		if (accumulates)
			text_at(d, LEFT - 6, y + 4, "e", text);
	}
}

static void put_points(const struct drawing *d, const struct report_fold_column *c, double top)
{
	const struct fold_curve *curve = c->curve;
	double scale = c->kind == FOLD_LEVEL ? top : 1;

	fputs("<g fill=\"#8aa\" fill-opacity=\"0.35\">\n", d->out);
	for (unsigned i = 0; i < FOLD_POINTS && i < curve->points; i++)
		if (curve->y[i] >= 0 && curve->y[i] <= scale)
			fprintf(d->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\"/>\n", x_of(curve->x[i]),
				d->y + HEIGHT * (1 - curve->y[i] / scale));
	fputs("</g>\n", d->out);
}

/* The range of errors of the rows, then what is in its middle. */
static void put_rate(const struct drawing *d, const struct report_fold_column *c, double top)
{
	double scale = c->kind == FOLD_TIME || c->kind == FOLD_GROWTH ? c->curve->growth / d->seconds : 1;

	for (unsigned row = 0; row < FOLD_ROWS; row++)
		if (c->high[row] > c->low[row])
			fprintf(d->out,
				"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#c0392b\" "
				"fill-opacity=\"0.15\"/>\n",
				x_of((double)row / FOLD_ROWS), d->y + HEIGHT * (1 - c->high[row] / top),
				(RIGHT - LEFT) / (double)FOLD_ROWS,
				HEIGHT * (c->high[row] - fmax(c->low[row], 0)) / top);
	fputs("<path fill=\"none\" stroke=\"#c0392b\" stroke-width=\"2\" d=\"", d->out);
	for (unsigned k = 0; k < FOLD_KNOTS; k++) {
		double x = (double)k / FOLD_KNOTS;
		double v = scale * report_fold_rise(c, x, 1.0 / FOLD_KNOTS);
		double y = d->y + HEIGHT * (1 - fmin(fmax(v / top, 0), 1.02));

		fprintf(d->out, "%c%.1f %.1fH%.1f", k ? 'L' : 'M', x_of(x), y, x_of(x + 1.0 / FOLD_KNOTS));
	}
	fputs("\"/>\n", d->out);
}

static void put_curve(const struct drawing *d, const struct fold_curve *c)
{
	fputs("<path fill=\"none\" stroke=\"#1f4e79\" stroke-width=\"1.5\" d=\"", d->out);
	for (unsigned k = 0; k <= FOLD_KNOTS; k++)
		fprintf(d->out, "%c%.1f %.1f", k ? 'L' : 'M', x_of((double)k / FOLD_KNOTS),
			d->y + HEIGHT * (1 - c->at[k]));
	fputs("\"/>\n", d->out);
}

static void put_plot(struct drawing *d, const struct report_fold_column *c)
{
	double top = top_of(c);

	put_frame(d, c, top);
	if (c->curve && c->kind != FOLD_TIME)
		put_points(d, c, top);
	if (!c->curve || c->curve->parts)
		put_rate(d, c, top);
	if (c->curve && c->curve->parts && c->kind == FOLD_GROWTH)
		put_curve(d, c->curve);
	d->y += HEIGHT + GAP;
}

/* ------------------------------------------------------------------- call path */

static void put_share(const struct drawing *d, unsigned row, double from, double share, const char *colour)
{
	if (share > 0)
		fprintf(d->out, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\"/>\n",
			x_of((double)row / FOLD_ROWS), d->y + BAND * from, (RIGHT - LEFT) / (double)FOLD_ROWS,
			BAND * share, colour);
}

static void put_band(struct drawing *d)
{
	const struct fold *fold = &d->fold->fold;
	char text[FIGURE_SIZE];

	text_at(d, LEFT, d->y - 8, "m", "what ran");
	for (unsigned row = 0; row < FOLD_ROWS; row++) {
		double from = 0;

		for (size_t i = 0; fold->rows[row] > 0 && i < fold->place_count && i < COLOURS; i++) {
			double share = fold->places[i].rows[row] / fold->rows[row];

			put_share(d, row, from, share, colours[i]);
			from += share;
		}
		put_share(d, row, from, fold->rows[row] > 0 ? 1 - from : 0, colours[COLOURS]);
	}
	fprintf(d->out,
		"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#aaa\"/>\n",
		LEFT, d->y, RIGHT - LEFT, BAND);
	d->y += BAND;
	for (int i = 0; i <= 4; i++)
		text_at(d, x_of(i / 4.0), d->y + 16, "c",
			figure_duration((uint64_t)(d->seconds * 1e9 * i / 4), text));
	d->y += GAP;
}

static void put_entry(struct drawing *d, const char *colour, double share, const char *name)
{
	char text[300];

	fprintf(d->out, "<rect x=\"%d\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/>\n", LEFT,
		d->y - 10, colour);
	snprintf(text, sizeof(text), "%.1f %%", 100 * share);
	text_at(d, LEFT + 64, d->y, "e", text);
	text_at(d, LEFT + 74, d->y, "s", name);
	d->y += LINE;
}

static void put_legend(struct drawing *d)
{
	const struct fold *fold = &d->fold->fold;
	double all = 0, rest;
	char text[FOLD_LABEL + 4], path[110], label[FOLD_LABEL];

	for (unsigned row = 0; row < FOLD_ROWS; row++)
		all += fold->rows[row];
	rest = all;
	for (size_t i = 0; i < fold->place_count && i < COLOURS; i++) {
		uint32_t place = fold->places[i].place,
			 above = place ? d->fold->below.nodes[place].parent : 0;

		*path = 0;
		if (above) /* else the region called it */
			report_fold_path(d->fold, above, path, sizeof(path));
		report_fold_label(place ? &d->fold->below.nodes[place] : &d->fold->region, label);
		snprintf(text, sizeof(text), "%s%s%.390s", path, *path ? " > " : "", label);
		put_entry(d, colours[i], fold->places[i].weight / all, text);
		rest -= fold->places[i].weight;
	}
	if (fold->place_count > COLOURS)
		put_entry(d, colours[COLOURS], rest / all, "elsewhere");
}

static void draw(FILE *out, const struct report_fold *fold)
{
	struct drawing d = {out, fold, report_fold_seconds(fold), TOP + GAP / 2.0};
	size_t entries = fold->fold.place_count > COLOURS ? COLOURS + 1 : fold->fold.place_count;

	put_head(&d,
		TOP + (double)fold->column_count * (HEIGHT + GAP) + BAND + 2 * GAP + (double)entries * LINE);
	for (size_t i = 0; i < fold->column_count; i++)
		put_plot(&d, &fold->columns[i]);
	put_band(&d);
	put_legend(&d);
	fputs("</svg>\n", out);
}

/* 0, or -1 with errno set. */
static int write_file(const struct report_fold *fold, const char *path, const char *mode)
{
	FILE *out = fopen(path, mode);
	int r;

	if (!out)
		return -1;
	draw(out, fold);
	r = fflush(out) || ferror(out) ? -1 : 0;
	return fclose(out) ? -1 : r;
}

int report_fold_svg(const struct report_fold *fold, const char *path)
{
	struct stat there;
	char *fresh;
	int r, error;

	if (!stat(path, &there) && !S_ISREG(there.st_mode)) /* a pipe, a terminal */
		return write_file(fold, path, "we");
	if (asprintf(&fresh, "%s.%ld.part", path, (long)getpid()) < 0)
		return -1;
	r = write_file(fold, fresh, "wxe");
	if (!r)
		r = rename(fresh, path);
	error = errno;
	if (r)
		unlink(fresh);
	free(fresh);
	errno = error;
	return r;
}

/* Parts of the viewer that need no terminal: canvas, lists, texts that are typed, names of keys, jobs. */
#include <curses.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "viewer/app/pane.h"
#include "viewer/app/prompt.h"
#include "viewer/app/work.h"

/* What canvas_write() makes of it, to be freed. */
static char *written(const struct canvas *canvas)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(canvas_write(canvas, out), 0);
	fclose(out);
	return text;
}

static void assert_written(const struct canvas *canvas, const char *expected)
{
	char *text = written(canvas);

	assert_string_equal(text, expected);
	free(text);
}

static struct area whole(struct canvas *canvas)
{
	return (struct area){canvas, 0, 0, canvas->height, canvas->width};
}

static void test_text_is_cut_at_the_area(void **state)
{
	struct canvas canvas = {.utf8 = true};
	struct area area, part;

	assert_int_equal(canvas_resize(&canvas, 10, 3), 0);
	area = whole(&canvas);
	part = (struct area){&canvas, 1, 2, 1, 5};
	assert_int_equal(canvas_text(&part, 0, 0, INK_PLAIN, "abcdefgh"), 8);
	assert_int_equal(canvas_text(&part, 0, -2, INK_PLAIN, "123"), 3);
	canvas_text(&part, 1, 0, INK_PLAIN, "outside");
	canvas_text(&area, 0, 8, INK_PLAIN, "xyz");
	canvas_text(&area, 99, 99, INK_PLAIN, "nowhere");
	assert_written(&canvas, "        xy\n  3bcde\n\n");
	canvas_release(&canvas);
}

static void test_what_does_not_print(void **state)
{
	struct canvas canvas = {.utf8 = true};
	struct area area;

	assert_int_equal(canvas_resize(&canvas, 20, 1), 0);
	area = whole(&canvas);
	canvas_text(&area, 0, 0, INK_PLAIN, "a\033[2Jb\xff\xc3(\x7f\xe2\x82");
	assert_written(&canvas, "a?[2Jb?\?(???\n");
	canvas_release(&canvas);
}

static void test_wide_characters(void **state)
{
	struct canvas canvas = {.utf8 = true};
	struct area area;

	assert_int_equal(canvas_resize(&canvas, 5, 2), 0);
	area = whole(&canvas);
	assert_int_equal(canvas_text(&area, 0, 0, INK_PLAIN, "世a界b"), 6);
	assert_int_equal(canvas_text(&area, 1, 4, INK_PLAIN, "世"), 2); /* half of it would be outside */
	assert_written(&canvas, "世a界\n\n");
	canvas.utf8 = false;
	canvas_clear(&canvas);
	assert_int_equal(canvas_text(&area, 0, 0, INK_PLAIN, "世ü"), 2);
	assert_written(&canvas, "??\n\n");
	canvas_release(&canvas);
}

static void test_the_middle_is_left_out(void **state)
{
	struct canvas canvas = {.utf8 = true};
	struct area area;

	assert_int_equal(canvas_resize(&canvas, 20, 3), 0);
	area = whole(&canvas);
	assert_int_equal(canvas_cut(&area, 0, 0, 7, INK_PLAIN, "abcdefghij"), 7);
	assert_int_equal(canvas_cut(&area, 1, 0, 10, INK_PLAIN, "abcdefghij"), 10);
	assert_int_equal(canvas_cut(&area, 2, 0, 0, INK_PLAIN, "abc"), 0);
	assert_written(&canvas, "abc…hij\nabcdefghij\n\n");
	canvas.utf8 = false;
	canvas_clear(&canvas);
	canvas_cut(&area, 0, 0, 7, INK_PLAIN, "abcdefghij");
	assert_written(&canvas, "abc~hij\n\n\n");
	canvas_release(&canvas);
}

static void assert_name(int room, const char *name, const char *expected)
{
	struct canvas canvas = {.utf8 = true};
	struct area area;
	char *text;

	assert_int_equal(canvas_resize(&canvas, 80, 1), 0);
	area = whole(&canvas);
	assert_int_equal(canvas_name(&area, 0, 0, room, INK_PLAIN, name), canvas_columns(&canvas, expected));
	text = written(&canvas);
	text[strcspn(text, "\n")] = 0;
	assert_string_equal(text, expected);
	free(text);
	canvas_release(&canvas);
}

/* What is called is the last that goes. */
static void test_names_are_cut_where_it_hurts_least(void **state)
{
	static const char name[] = "matrix::sparse<double, std::allocator<double>>::multiply(vector const&)";

	(void)state;
	assert_name(71, name, name);
	assert_name(70, name, "matrix::sparse<double, std::allocator<double>>::multiply(…)");
	assert_name(58, name, "matrix::sparse<…>::multiply(…)");
	assert_name(29, name, "…sparse<…>::multiply(…)");
	assert_name(22, name, "…multiply(…)");
	assert_name(11, name, "…multiply");
	assert_name(8, name, "…mul…ply");
	assert_name(9, "call(long, long)", "call(…)");
	assert_name(6, "call(long, long)", "call");
	assert_name(1, name, "…");
	assert_name(0, name, "");
	assert_name(12, "a_long_name_of_c", "a_long…_of_c");
	assert_name(
		29, "bool std::operator<< <char>(std::ostream&, char const*)", "bool std::operator<< <…>(…)");
	assert_name(20, "call::operator()(std::vector<int> const&)", "call::operator()(…)");
	assert_name(20, "run<void (*)(int)->int, 3>(std::string)", "run<…>(…)");
	assert_name(20, "odd<name that never ends", "odd<name t…ever ends");
	assert_name(12, "outer.<locals>.inner", "outer.…inner");
	assert_name(12, "<a comprehension>", "<a com…sion>");
}

static void test_bars(void **state)
{
	struct canvas canvas = {.utf8 = true};
	struct area area;

	assert_int_equal(canvas_resize(&canvas, 8, 4), 0);
	area = whole(&canvas);
	canvas_bar(&area, 0, 0, 4, 0.5, INK_PLAIN);
	canvas_bar(&area, 1, 0, 4, 1.0 / 32, INK_PLAIN);
	canvas_bar(&area, 2, 0, 4, 7, INK_PLAIN);
	canvas_bar(&area, 3, 0, 4, 0.0 / 0.0, INK_PLAIN);
	assert_written(&canvas, "██\n▏\n████\n\n");
	canvas_release(&canvas);
}

static void test_heat(void **state)
{
	assert_int_equal(canvas_heat(0.019), INK_PLAIN);
	assert_int_equal(canvas_heat(0.02), INK_HEAT);
	assert_int_equal(canvas_heat(1), INK_HEAT + HEAT_STEPS - 1);
	assert_int_equal(canvas_heat(0.0 / 0.0), INK_PLAIN);
}

static void test_list(void **state)
{
	struct list list = {0};

	list_move(&list, 1);
	list_move(&list, LONG_MAX);
	list_move(&list, LONG_MIN);
	assert_int_equal(list.cursor, 0);
	list_set(&list, 100, 10);
	list_move(&list, 12);
	assert_int_equal(list.cursor, 12);
	assert_int_equal(list.top, 3);
	list_move(&list, -10);
	assert_int_equal(list.top, 2);
	list_move(&list, LONG_MAX);
	assert_int_equal(list.cursor, 99);
	assert_int_equal(list.top, 90);
	list_set(&list, 95, 20); /* nothing is left empty */
	assert_int_equal(list.cursor, 94);
	assert_int_equal(list.top, 75);
	list_move(&list, LONG_MIN);
	assert_int_equal(list.cursor + list.top, 0);
	list_set(&list, 0, 0);
	assert_int_equal(list.cursor, 0);
}

static bool is_tenth(struct pane *pane, struct app *app, size_t row)
{
	return row % 10 == 0;
}

static bool is_none(struct pane *pane, struct app *app, size_t row)
{
	return false;
}

/* Behind the cursor or in front of it, round the end. */
static void test_list_find(void **state)
{
	struct list list = {0};

	assert_int_equal(list_find(&list, 1, true, NULL, NULL, is_tenth), LIST_NONE);
	list_set(&list, 35, 10);
	list_move(&list, 30);
	assert_int_equal(list_find(&list, 1, true, NULL, NULL, is_tenth), 30);
	assert_int_equal(list_find(&list, 1, false, NULL, NULL, is_tenth), 0);
	assert_int_equal(list_find(&list, -1, false, NULL, NULL, is_tenth), 20);
	assert_int_equal(list_find(&list, -1, true, NULL, NULL, is_none), LIST_NONE);
	list_move(&list, LONG_MIN);
	assert_int_equal(list_find(&list, -1, false, NULL, NULL, is_tenth), 30);
	list_move(&list, 12);
	list_centre(&list);
	assert_int_equal(list.top, 7);
	list_move(&list, LONG_MAX);
	list_centre(&list);
	assert_int_equal(list.top, 25);
}

static enum prompt_state press(struct prompt *prompt, int key)
{
	struct event event = {.kind = EVENT_KEY, .key = key};

	return prompt_key(prompt, &event);
}

static void test_prompt(void **state)
{
	struct event wide = {.kind = EVENT_CHARACTER, .key = 0x4e16};
	char text[PROMPT_BYTES];
	struct prompt prompt;

	prompt_open(&prompt, "Name:", "büro two");
	assert_string_equal(prompt_text(&prompt, text), "büro two");
	assert_int_equal(press(&prompt, KEY_CTRL('w')), PROMPT_CHANGED);
	assert_string_equal(prompt_text(&prompt, text), "büro ");
	assert_int_equal(press(&prompt, KEY_LEFT), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, &wide), PROMPT_CHANGED);
	assert_string_equal(prompt_text(&prompt, text), "büro世 ");
	press(&prompt, KEY_HOME);
	assert_int_equal(press(&prompt, KEY_BACKSPACE), PROMPT_SAME);
	press(&prompt, KEY_DC);
	press(&prompt, KEY_RIGHT);
	press(&prompt, KEY_CTRL('k'));
	assert_string_equal(prompt_text(&prompt, text), "ü");
	for (unsigned i = 0; i < 2 * PROMPT_MAX; i++)
		press(&prompt, 'x');
	assert_int_equal(strlen(prompt_text(&prompt, text)), PROMPT_MAX + 1);
	assert_int_equal(press(&prompt, '\n'), PROMPT_DONE);
	assert_int_equal(press(&prompt, 27), PROMPT_LEFT);
}

static void test_long_text_shows_its_end(void **state)
{
	struct canvas canvas = {.utf8 = true};
	struct prompt prompt;
	struct area area;

	assert_int_equal(canvas_resize(&canvas, 12, 1), 0);
	area = whole(&canvas);
	prompt_open(&prompt, "Name:", "0123456789");
	assert_int_equal(prompt_draw(&prompt, &area, 0), 11);
	assert_written(&canvas, "Name: 56789\n");
	canvas_release(&canvas);
}

static void test_names_of_keys(void **state)
{
	char text[KEY_TEXT];

	assert_string_equal(key_text(KEY_F(10), text), "F10");
	assert_string_equal(key_text('\n', text), "Enter");
	assert_string_equal(key_text(KEY_CTRL('l'), text), "^L");
	assert_string_equal(key_text('x', text), "x");
}

/* ----------------------------------------------------------------- jobs */

struct sum {
	struct job job;
	int *order; /* next number */
	int ran, was_done; /* their places; 0: not */
	bool cancelled, wait;
};

static void run_sum(struct job *job)
{
	struct sum *sum = (struct sum *)job;

	sum->ran = 1;
	while (sum->wait && !atomic_load(&job->stop))
		poll(NULL, 0, 1);
}

static void done_sum(struct job *job, bool cancelled)
{
	struct sum *sum = (struct sum *)job;

	sum->was_done = ++*sum->order;
	sum->cancelled = cancelled;
}

static void finish(struct work *work, const struct sum *last)
{
	struct pollfd polled = {.fd = work_fd(work), .events = POLLIN};

	while (!last->was_done) {
		poll(&polled, 1, -1);
		work_finish(work);
	}
}

static void test_jobs_are_done_in_order(void **state)
{
	struct work *work = work_new();
	struct sum sums[20];
	int order = 0;

	for (int i = 0; i < 20; i++) {
		sums[i] = (struct sum){.job = {.run = run_sum, .done = done_sum}, .order = &order};
		work_post(work, &sums[i].job);
	}
	finish(work, &sums[19]);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(sums[i].was_done, i + 1);
		assert_int_equal(sums[i].ran, 1);
		assert_false(sums[i].cancelled);
	}
	work_free(work);
}

static void test_cancelled_jobs_are_done_too(void **state)
{
	struct work *work = work_new();
	int order = 0;
	struct sum long_one = {.job = {.run = run_sum, .done = done_sum}, .order = &order, .wait = true};
	struct sum second = {.job = {.run = run_sum, .done = done_sum}, .order = &order};
	struct sum third = {.job = {.run = run_sum, .done = done_sum}, .order = &order, .wait = true};

	work_post(work, &long_one.job);
	work_post(work, &second.job);
	work_cancel(work, &second.job);
	work_cancel(work, &long_one.job);
	finish(work, &second);
	assert_true(long_one.cancelled && second.cancelled);
	assert_false(second.ran);
	work_post(work, &third.job);
	work_free(work); /* ends it, too */
	assert_true(third.cancelled);
	assert_int_equal(third.was_done, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_cut_at_the_area),
		cmocka_unit_test(test_what_does_not_print),
		cmocka_unit_test(test_wide_characters),
		cmocka_unit_test(test_the_middle_is_left_out),
		cmocka_unit_test(test_names_are_cut_where_it_hurts_least),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_find),
		cmocka_unit_test(test_prompt),
		cmocka_unit_test(test_long_text_shows_its_end),
		cmocka_unit_test(test_names_of_keys),
		cmocka_unit_test(test_jobs_are_done_in_order),
		cmocka_unit_test(test_cancelled_jobs_are_done_too),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 77; /* skipped */
	return cmocka_run_group_tests(tests, NULL, NULL);
}

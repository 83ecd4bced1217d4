#include "viewer/app/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "viewer/app/pane.h"

#define ESCAPE_MS 25
#define DOUBLE_NS 400000000u
#define RUN 256 /* cells of one ink that are shown at once */

/* Of 256 colours, of 8 and none; -1: the terminal's own. */
struct look {
	short front, back, front8, back8;
	attr_t attributes, without; /* without: where there are no colours */
};

static const struct look looks[INKS] = {
	[INK_PLAIN] = {-1, -1, -1, -1, A_NORMAL, A_NORMAL},
	[INK_DIM] = {244, -1, -1, -1, A_NORMAL, A_DIM},
	[INK_BOLD] = {-1, -1, -1, -1, A_BOLD, A_BOLD},
	[INK_PLACE] = {37, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL},
	[INK_WARN] = {214, -1, COLOR_YELLOW, -1, A_NORMAL, A_BOLD},
	[INK_GOOD] = {71, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL},
	[INK_BAD] = {203, -1, COLOR_RED, -1, A_NORMAL, A_BOLD},
	[INK_BAR] = {16, 37, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE},
	[INK_KEY] = {-1, -1, -1, -1, A_BOLD, A_BOLD},
	[INK_MATCH] = {16, 220, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_UNDERLINE},
	[INK_HEAT] = {143, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL},
	[INK_HEAT + 1] = {179, -1, COLOR_YELLOW, -1, A_NORMAL, A_NORMAL},
	[INK_HEAT + 2] = {214, -1, COLOR_YELLOW, -1, A_NORMAL, A_NORMAL},
	[INK_HEAT + 3] = {208, -1, COLOR_YELLOW, -1, A_BOLD, A_NORMAL},
	[INK_HEAT + 4] = {202, -1, COLOR_RED, -1, A_NORMAL, A_BOLD},
	[INK_HEAT + 5] = {196, -1, COLOR_RED, -1, A_BOLD, A_BOLD},
	[INK_BAND] = {16, 110, COLOR_BLACK, COLOR_BLUE, A_NORMAL, A_REVERSE},
	[INK_BAND + 1] = {16, 150, COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_REVERSE},
	[INK_BAND + 2] = {16, 216, COLOR_BLACK, COLOR_RED, A_NORMAL, A_REVERSE},
	[INK_BAND + 3] = {16, 182, COLOR_BLACK, COLOR_MAGENTA, A_NORMAL, A_REVERSE},
	[INK_BAND + 4] = {16, 222, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_REVERSE},
	[INK_BAND + 5] = {16, 116, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_REVERSE},
	[INK_BAND + 6] = {16, 175, COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_REVERSE},
	[INK_BAND + 7] = {16, 108, COLOR_WHITE, COLOR_GREEN, A_NORMAL, A_REVERSE},
	[INK_BAND + 8] = {16, 146, COLOR_WHITE, COLOR_BLUE, A_NORMAL, A_REVERSE},
	[INK_BAND + 9] = {16, 180, COLOR_WHITE, COLOR_RED, A_NORMAL, A_REVERSE},
	[INK_BAND + 10] = {16, 73, COLOR_WHITE, COLOR_CYAN, A_NORMAL, A_REVERSE},
	[INK_BAND + 11] = {16, 250, COLOR_WHITE, COLOR_MAGENTA, A_NORMAL, A_REVERSE},
};

static volatile sig_atomic_t asked_to_end; /* the signal; of a handler */

static void note_end(int number)
{
	asked_to_end = number;
}

bool screen_settle(int fd, int timeout)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	return poll(&polled, 1, timeout) > 0;
}

const char *screen_missing(void)
{
	const char *term = getenv("TERM");
	int r;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return "standard input and output must be a terminal; use hybrid-report to print";
	if (!term || !*term)
		return "TERM is not set: give the type of the terminal, as in TERM=xterm-256color";
	if (setupterm(NULL, STDOUT_FILENO, &r) != OK)
		return "the terminal type in TERM is not known here: try TERM=xterm, or install ncurses-term";
	if (!cursor_address || !clear_screen)
		return "this type of terminal (TERM) cannot move its cursor: hybrid-report prints lines";
	return NULL;
}

static int colours_of(const struct screen_wish *wish)
{
	const char *no = getenv("NO_COLOR");

	if (wish->colour == 0 || (wish->colour < 0 && no && *no) || !has_colors())
		return 0;
	if (start_color() == ERR)
		return 0;
	return COLORS >= 256 && COLOR_PAIRS > (int)INKS ? 256 : COLORS >= 8 ? 8 : 0;
}

static void make_inks(const struct screen *screen)
{
	bool own = use_default_colors() == OK;

	for (unsigned i = 1; screen->colours && i < INKS; i++) {
		const struct look *look = &looks[i];
		short front = screen->colours == 256 ? look->front : look->front8;
		short back = screen->colours == 256 ? look->back : look->back8;

		init_pair((short)i, front < 0 && !own ? COLOR_WHITE : front,
			back < 0 && !own ? COLOR_BLACK : back);
	}
}

/* Signals come while waiting only: none is missed, no call is cut short, and the end is an orderly one. */
static void hold_signals(struct screen *screen)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction action = {.sa_handler = note_end};
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGWINCH);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		sigaction(numbers[i], &action, NULL);
		sigaddset(&held, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &screen->outside);
	sigdelset(&screen->outside, SIGWINCH);
}

void screen_start(struct screen *screen, const struct screen_wish *wish)
{
	*screen = (struct screen){.utf8 = !wish->ascii && !strcmp(nl_langinfo(CODESET), "UTF-8")};
	hold_signals(screen);
	initscr();
	screen->on = true;
	screen->colours = colours_of(wish);
	make_inks(screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, FALSE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	refresh();
	tcgetattr(STDIN_FILENO, &screen->modes);
	if (wish->mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
}

static bool has_own_modes(const struct screen *screen, const struct termios *now)
{
	const struct termios *own = &screen->modes;

	return now->c_lflag == own->c_lflag && now->c_iflag == own->c_iflag && now->c_oflag == own->c_oflag;
}

void screen_stop(struct screen *screen)
{
	struct termios now;

	if (!screen->on)
		return;
	screen->on = false;
	erase();
	refresh();
	/* If the shell is in front already, as the guard was killed: what it did to the modes stays, what
	 * it left is put right. */
	if (!tcgetattr(STDIN_FILENO, &now) && has_own_modes(screen, &now))
		signal(SIGTTOU, SIG_IGN);
	endwin();
}

void screen_size(const struct screen *screen, int *ret_width, int *ret_height)
{
	getmaxyx(stdscr, *ret_height, *ret_width);
}

static void use_ink(const struct screen *screen, const struct cell *cell)
{
	const struct look *look = &looks[cell->ink < INKS ? cell->ink : INK_PLAIN];
	attr_t attributes = screen->colours ? look->attributes : look->without;

	if (cell->reverse)
		attributes ^= A_REVERSE;
	attr_set(attributes, screen->colours ? (short)cell->ink : 0, NULL);
}

/* The cells of a row that look alike, from x on; where the next ones begin. */
static int show_run(const struct screen *screen, const struct canvas *canvas, int y, int x)
{
	const struct cell *row = canvas->cells + (size_t)y * (size_t)canvas->width;
	wchar_t text[RUN];
	int begin = x, n = 0;

	for (; x < canvas->width && n < RUN; x++) {
		if (row[x].ink != row[begin].ink || row[x].reverse != row[begin].reverse)
			break;
		if (row[x].character)
			text[n++] = (wchar_t)row[x].character;
	}
	use_ink(screen, &row[begin]);
	mvaddnwstr(y, begin, text, n);
	return x;
}

void screen_show(struct screen *screen, const struct canvas *canvas, int cursor_y, int cursor_x)
{
	int width, height;

	screen_size(screen, &width, &height);
	erase();
	for (int y = 0; y < canvas->height && y < height; y++)
		for (int x = 0; x < canvas->width;)
			x = show_run(screen, canvas, y, x);
	attr_set(A_NORMAL, 0, NULL);
	curs_set(cursor_x >= 0);
	if (cursor_x >= 0)
		move(cursor_y, cursor_x < width ? cursor_x : width - 1);
	refresh();
}

void screen_repair(struct screen *screen)
{
	clearok(curscr, TRUE);
}

/* Two clicks that were read at once, as over a slow line, are two events for one key. */
static bool came_twice(const MEVENT *mouse)
{
	MEVENT other;
	bool twice = false;

	while (getmouse(&other) == OK)
		twice |= other.bstate & BUTTON1_PRESSED && other.y == mouse->y && other.x == mouse->x;
	return twice;
}

static struct event mouse_event(struct screen *screen)
{
	MEVENT mouse;
	struct event event = {.kind = EVENT_MOUSE};

	if (getmouse(&mouse) != OK)
		return (struct event){.kind = EVENT_NONE};
	event.y = mouse.y;
	event.x = mouse.x;
	if (mouse.bstate & BUTTON4_PRESSED) {
		event.button = MOUSE_WHEEL_UP;
	} else if (mouse.bstate & BUTTON5_PRESSED) {
		event.button = MOUSE_WHEEL_DOWN;
	} else {
		bool twice =
			came_twice(&mouse) || (screen->pressed_y == mouse.y && screen->pressed_x == mouse.x &&
						      now() - screen->pressed_at < DOUBLE_NS);

		event.button = twice ? MOUSE_DOUBLE : MOUSE_CLICK;
		screen->pressed_at = twice ? 0 : now();
		screen->pressed_y = mouse.y;
		screen->pressed_x = mouse.x;
	}
	return event;
}

static struct event read_event(struct screen *screen)
{
	struct event event = {.kind = EVENT_KEY};
	wint_t c;
	int r = get_wch(&c);

	if (r == ERR)
		return (struct event){.kind = EVENT_NONE};
	event.key = (int)c;
	if (r == KEY_CODE_YES) {
		if (event.key == KEY_MOUSE)
			return mouse_event(screen);
		if (event.key == KEY_RESIZE)
			event.kind = EVENT_RESIZE;
		else if (event.key == KEY_ENTER)
			event.key = '\n';
	} else if (c >= 0x80) {
		event.kind = EVENT_CHARACTER;
	} else if (c == '\r') {
		event.key = '\n';
	} else if (c == 0x7f || c == '\b') {
		event.key = KEY_BACKSPACE;
	}
	return event;
}

struct event screen_wait(struct screen *screen, int fd, int timeout)
{
	struct pollfd polled[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
	struct timespec limit = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000l};
	struct event event = read_event(screen); /* what was read with the key before */

	if (event.kind == EVENT_NONE) {
		ppoll(polled, 2, timeout < 0 ? NULL : &limit, &screen->outside);
		event = read_event(screen);
	}
	if (event.kind == EVENT_NONE && polled[0].revents && !isatty(STDIN_FILENO))
		asked_to_end = SIGHUP; /* the terminal is gone */
	if (asked_to_end)
		event = (struct event){.kind = EVENT_END, .key = asked_to_end};
	return event;
}

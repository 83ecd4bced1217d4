/* Probes used rightly and wrongly; `probes CASE`. What must come out is in test_probes.py. */
#include "work.h"

#include <hybrid/hybrid.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static struct hybrid_region outer = HYBRID_REGION_INIT("outer", HYBRID_USER);
static struct hybrid_region inner = HYBRID_REGION_INIT("inner", HYBRID_LOOP);
static struct hybrid_region never = HYBRID_REGION_INIT("never", HYBRID_USER);

static void good_nesting(const char *argument)
{
	for (int i = 0; i < 10; i++) {
		hybrid_enter(&outer);
		for (int j = 0; j < 100; j++) {
			hybrid_enter(&inner);
			hybrid_leave(&inner);
		}
		hybrid_leave(&outer);
	}
}

/* 100 times outer is left while inner is open; inner's own leave then finds nothing. */
static void wrong_nesting(const char *argument)
{
	for (int i = 0; i < 100; i++) {
		hybrid_enter(&outer);
		hybrid_enter(&inner);
		hybrid_leave(&outer);
		hybrid_leave(&inner);
	}
}

static void not_entered(const char *argument)
{
	for (int i = 0; i < 50; i++) {
		hybrid_leave(&never);
		hybrid_leave_name("nobody", 6);
	}
	hybrid_enter(&outer);
	hybrid_leave(&never);
	hybrid_leave(&outer);
}

static void never_left(const char *argument)
{
	hybrid_enter(&outer);
	hybrid_enter(&inner);
}

/* A million names by default; the argument may ask for more. */
static void many_names(const char *argument)
{
	long count = *argument ? atol(argument) : 1000000;
	char name[32];

	for (long i = 0; i < count; i++) {
		size_t length = (size_t)sprintf(name, "name-%ld", i);

		hybrid_enter_name(name, length);
		hybrid_leave_name(name, length);
	}
}

/* Two names of 100 KB that differ in the last byte only, and one of exactly 1023. */
static void long_names(const char *argument)
{
	static char name[100000];

	memset(name, 'x', sizeof(name));
	for (int i = 0; i < 20; i++) {
		name[sizeof(name) - 1] = i % 2 ? 'a' : 'b';
		hybrid_enter_name(name, sizeof(name));
		hybrid_leave_name(name, sizeof(name));
	}
	memset(name, 'y', 1023);
	hybrid_enter_name(name, 1023);
	hybrid_leave_name(name, 1023);
}

static void odd_names(const char *argument)
{
	static const char *const names[] = {
		"", " ", "a\nb", "\"quoted\"\\", "\xc3\xa9t\xc3\xa9", "bad\xff\xfeutf", "<tag>&", "%s%n"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		hybrid_enter_name(names[i], strlen(names[i]));
		hybrid_leave_name(names[i], strlen(names[i]));
	}
}

static void deep(const char *argument)
{
	int depth = *argument ? atoi(argument) : 5000;

	for (int i = 0; i < depth; i++)
		hybrid_enter(i % 2 ? &inner : &outer);
	for (int i = depth - 1; i >= 0; i--)
		hybrid_leave(i % 2 ? &inner : &outer);
	good_nesting("");
}

static NOINLINE void begin_step(void)
{
	HYBRID_ENTER("step");
}

static NOINLINE void end_step(void)
{
	HYBRID_LEAVE("step");
}

/* Begun in one function, ended in another; the work is in a third. */
static NOINLINE void work_between(void)
{
	burn_ms(5);
}

static void split(const char *argument)
{
	for (int i = 0; i < 100; i++) {
		begin_step();
		work_between();
		end_step();
	}
}

static void parameters(const char *argument)
{
	for (int i = 0; i < 12; i++) {
		hybrid_enter(&outer);
		hybrid_parameter_int("size", i % 3);
		hybrid_enter(&inner);
		hybrid_parameter("kind", i % 2 ? "odd" : "even");
		hybrid_leave(&inner);
		hybrid_leave(&outer);
	}
	hybrid_parameter("alone", "root");
}

/* What follows a parameter is done by others than who called it. */
static NOINLINE void set_parameter(int i)
{
	volatile char room[64];

	room[0] = (char)i;
	hybrid_parameter_int("again", room[0]);
}

static void parameter_again(const char *argument)
{
	hybrid_enter(&outer);
	for (int i = 0; i < 30; i++) {
		set_parameter(i % 3);
		hybrid_parameter("other", i % 2 ? "odd" : "even");
		work_between();
	}
	hybrid_leave(&outer);
}

/* Parameters of little time in regions of more. */
static void parameter_often(const char *argument)
{
	for (int i = 0; i < 12000; i++) {
		hybrid_enter(&outer);
		for (volatile int n = 0; n < 2000; n++)
			;
		hybrid_parameter_int("often", 1);
		hybrid_leave(&outer);
	}
}

static void counters(const char *argument)
{
	static struct hybrid_counter whole = HYBRID_COUNTER_INIT("whole", "items");
	static struct hybrid_counter real = HYBRID_COUNTER_INIT("real", "");

	hybrid_enter(&outer);
	for (int i = -3; i <= 3; i++) {
		hybrid_count(&whole, i * (INT64_MAX / 3));
		hybrid_count_real(&real, i * 0.5);
	}
	hybrid_count(&whole, INT64_MIN);
	hybrid_leave(&outer);
	for (int i = 0; i < 4; i++)
		hybrid_marker(i % 2 ? "tick" : "tock");
}

static void pauses(const char *argument)
{
	hybrid_enter(&outer);
	hybrid_enter(&inner);
	hybrid_leave(&inner);
	hybrid_pause();
	for (int i = 0; i < 1000; i++) {
		hybrid_enter(&never);
		hybrid_leave(&never);
	}
	burn_ms(100);
	hybrid_resume();
	hybrid_enter(&inner);
	hybrid_leave(&inner);
	hybrid_leave(&outer);
	hybrid_resume(); /* not paused: nothing happens */
	hybrid_enter(&outer);
	hybrid_leave(&outer);
}

static void metadata(const char *argument)
{
	hybrid_metadata("input", "wing.dat");
	hybrid_metadata("cells", "100000");
	hybrid_metadata("input", "body.dat");
	hybrid_metadata("", "");
	hybrid_enter(&outer);
	hybrid_leave(&outer);
}

static void *named_thread(void *argument)
{
	hybrid_thread_name(argument);
	hybrid_enter(&outer);
	burn_ms(20);
	hybrid_leave(&outer);
	return NULL;
}

static void thread_names(const char *argument)
{
	static char longest[200];
	pthread_t threads[3];

	memset(longest, 'n', sizeof(longest) - 1);
	hybrid_thread_name("boss");
	pthread_create(&threads[0], NULL, named_thread, (void *)"worker one");
	pthread_create(&threads[1], NULL, named_thread, (void *)"worker two");
	pthread_create(&threads[2], NULL, named_thread, longest);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void probing_handler(int number)
{
	static struct hybrid_region in_handler = HYBRID_REGION_INIT("in handler", HYBRID_USER);

	hybrid_enter(&in_handler);
	spin(1, 1000);
	hybrid_leave(&in_handler);
}

/* Enters and leaves without end while a timer's handler does the same. */
static void handler(const char *argument)
{
	struct sigaction action = {.sa_handler = probing_handler, .sa_flags = SA_RESTART};
	struct itimerspec often = {{0, 200000}, {0, 200000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t timer;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 300000000;

	sigaction(SIGUSR1, &action, NULL);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &often, NULL));
	while (clock_ns(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < 1000; i++) {
			hybrid_enter(&outer);
			hybrid_enter(&inner);
			hybrid_leave(&inner);
			hybrid_leave(&outer);
		}
	timer_delete(timer);
}

static jmp_buf back;

static volatile int stays; /* never set: the compiler shall not know that nobody returns */

static NOINLINE void jump_out(int depth)
{
	hybrid_enter(&inner);
	if (depth)
		jump_out(depth - 1);
	else if (!stays)
		longjmp(back, 1);
	hybrid_leave(&inner);
}

/* Each time five regions stay open under outer, which closes them. */
static void jump(const char *argument)
{
	for (volatile int i = 0; i < 100; i++) {
		hybrid_enter(&outer);
		if (!setjmp(back))
			jump_out(4);
		hybrid_leave(&outer);
	}
}

static NOINLINE void tiny(void)
{
	static struct hybrid_region region = HYBRID_REGION_INIT("tiny", HYBRID_FUNCTION);

	hybrid_enter(&region);
	hybrid_leave(&region);
}

static void often(const char *argument)
{
	long count = *argument ? atol(argument) : 20000000;

	hybrid_enter(&outer);
	for (long i = 0; i < count; i++)
		tiny();
	hybrid_leave(&outer);
}

/* What nobody frees and nobody writes: errno, and the heap, stay as they are. */
static void pure(const char *argument)
{
	static struct hybrid_counter counter = HYBRID_COUNTER_INIT("c", "");

	errno = 4711;
	for (int i = 0; i < 1000; i++) {
		hybrid_enter(&outer);
		hybrid_parameter_int("i", i);
		hybrid_count(&counter, i);
		hybrid_marker("m");
		hybrid_leave(&outer);
	}
	hybrid_metadata("k", "v");
	hybrid_thread_name("t");
	hybrid_pause();
	hybrid_resume();
	CHECK(errno == 4711);
	puts("PASS");
}

static void nothing(const char *argument)
{
	printf("measured %d\n", hybrid_measured());
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{"good", good_nesting},
		{"wrong", wrong_nesting},
		{"not_entered", not_entered},
		{"never_left", never_left},
		{"many_names", many_names},
		{"long_names", long_names},
		{"odd_names", odd_names},
		{"deep", deep},
		{"split", split},
		{"parameters", parameters},
		{"parameter_again", parameter_again},
		{"parameter_often", parameter_often},
		{"counters", counters},
		{"pause", pauses},
		{"metadata", metadata},
		{"thread_names", thread_names},
		{"handler", handler},
		{"jump", jump},
		{"often", often},
		{"pure", pure},
		{"nothing", nothing},
	};

	return RUN_CASE(cases, argc, argv);
}

/* What hybrid-report prints of MPI: a ring of ranks whose traffic is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "profile_fixture.h"
#include "report/sheet.h"
#include "profile/mpi/traffic.h"

/* A terminal without colour, ASCII. */
struct screen {
	struct style style;
	char *text;
	size_t size;
};

static struct style *open_screen(struct screen *screen, unsigned width)
{
	*screen = (struct screen){.style = {.width = width, .cut = true, .unit = 1e9, .unit_name = "s"}};
	screen->style.out = open_memstream(&screen->text, &screen->size);
	assert_non_null(screen->style.out);
	screen->style.json.out = screen->style.out;
	return &screen->style;
}

static void close_screen(struct screen *screen, const char *expected)
{
	fclose(screen->style.out);
	assert_string_equal(screen->text, expected);
	free(screen->text);
}

/* Without the ranks `missing` to `missing` + 1. */
static struct profile *ring(const struct report_options *options, uint32_t size, uint32_t missing)
{
	struct profile_options o = report_profile_options(options);
	struct profile *p = profile_new(&o);
	struct hyb_error err;

	for (uint32_t i = 0; i < size; i++) {
		struct fixture *f = fixture_ring(i, size);

		if (i != missing && i != missing + 1)
			fixture_add(f, p);
		fixture_free(f);
	}
	assert_int_equal(profile_finish(p, &err), 0);
	return p;
}

static void test_functions(void **state)
{
	struct report_options options = {.view = REPORT_MPI, .look.threshold = 0.5};
	struct profile *p = ring(&options, 4, 9);
	struct screen screen;

	assert_int_equal(report_mpi(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"\n"
		"   calls     time  time%     mean      max@rank     sent  function (us, bytes)\n"
		"       4   20.000   20.0    5.000    8.000@3          32  MPI_Allreduce\n"
		"      10   20.000   20.0    5.000    8.000@3              MPI_Recv\n"
		"      10   10.000   10.0    2.500    4.000@3        1000  MPI_Send\n"
		"\n"
		"     time  time%   calls      mean       max  call path to MPI (us, bytes)\n"
		"   50.000   50.0      24    2.1 us    8.0 us  [MPI]\n"
		"   50.000   50.0      24    2.1 us    8.0 us  `-[main]\n"
		"   20.000   20.0       4    5.0 us    8.0 us    |-MPI_Allreduce\n"
		"   20.000   20.0      10    2.0 us              |-MPI_Recv\n"
		"   10.000   10.0      10    1.0 us    4.0 us    `-MPI_Send\n");
	profile_free(p);
}

/* Four ranks have a column each where that is enough room, */
static void test_matrix(void **state)
{
	struct report_options options = {.view = REPORT_MESSAGES};
	struct profile *p = ring(&options, 4, 9);
	struct screen screen;

	assert_int_equal(report_messages(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"\n"
		"messages from rank (row) to rank (column)\n"
		"               0       1       2       3\n"
		"       0       .       1       .       .\n"
		"       1       .       .       2       .\n"
		"       2       .       .       .       3\n"
		"       3       4       .       .       .\n"
		"\n"
		"bytes from rank (row) to rank (column)\n"
		"               0       1       2       3\n"
		"       0       .     100       .       .\n"
		"       1       .       .     200       .\n"
		"       2       .       .       .     300\n"
		"       3     400       .       .       .\n"
		"\n"
		"time from rank (row) to rank (column), us\n"
		"               0       1       2       3\n"
		"       0       .   5.000       .       .\n"
		"       1       .       .   8.000       .\n"
		"       2       .       .       .  11.000\n"
		"       3   6.000       .       .       .\n"
		"\n"
		"    from      to    msgs   bytes    mean     sending   receiving  largest pairs\n"
		"       3       0       4     400     100      4.0 us      2.0 us\n"
		"       2       3       3     300     100      3.0 us      8.0 us\n"
		"       1       2       2     200     100      2.0 us      6.0 us\n"
		"       0       1       1     100     100      1.0 us      4.0 us\n"
		"\n"
		"sizes of messages: how many, and bytes\n"
		"    size            sent        received      collective\n"
		"     8 B       .               .               4      64\n"
		"    16 B       .               .               .        \n"
		"    32 B       .               .               .        \n"
		"    64 B      10    1000      10    1000       .        \n"
		"\n"
		"    msgs    sent   recvd        time   ranks  communicator, window or file\n"
		"      24    1032    1032     50.0 us       4  MPI_COMM_WORLD\n");
	profile_free(p);
}

/* and a thousand are blocks. What went into the cells is all that was sent. */
static void test_blocks(void **state)
{
	struct report_options options = {.view = REPORT_MESSAGES};
	struct profile *p = ring(&options, 1000, 2000);
	uint64_t messages = 0;
	struct matrix m;

	assert_true(matrix_range(&m, p, FIXTURE_WORLD));
	assert_int_equal(matrix_fill(&m, p, FIXTURE_WORLD, 9), 0);
	assert_int_equal(m.block, 128);
	assert_int_equal(m.side, 8);
	for (size_t r = 0; r < m.side; r++)
		for (size_t c = 0; c < m.side; c++) {
			messages += m.cells[r * m.side + c].messages;
			assert_true(!m.cells[r * m.side + c].messages == (c != r && c != (r + 1) % m.side));
		}
	assert_int_equal(messages, 1000 * 1001 / 2);
	free(m.cells);
	profile_free(p);
}

static void test_ranks(void **state)
{
	struct report_options options = {.view = REPORT_RANKS};
	struct profile *p = ring(&options, 3, 9);
	struct screen screen;

	assert_int_equal(report_ranks(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"\n"
		"   rank     wall      CPU      MPI      %  blocked    msgs    sent  process (us)\n"
		"      0   10.000    7.000    5.000   50.0    3.000       1     108  node1 100\n"
		"      1   20.000   14.000   10.000   50.0    6.000       2     208  node1 101\n"
		"      2   30.000   21.000   15.000   50.0    9.000       3     308  node1 102\n"
		"    all   60.000   42.000   30.000   50.0   18.000       6     624\n");
	profile_free(p);
}

static void test_over_ranks(void **state)
{
	struct report_options options = {.over_ranks = true, .look.threshold = 0.5};
	struct profile *p = ring(&options, 4, 9);
	const struct report_over over = {profile_spreads(p), profile_quality(p)->ranks, NULL};
	struct column_set set;
	struct sheet sheet = {.options = &options,
		.set = &set,
		.nodes = profile_nodes(p),
		.count = profile_count(p),
		.is_tree = true,
		.over = &over};
	struct screen screen;

	assert_int_equal(columns_init(&set, NULL, 0), 0);
	assert_int_equal(sheet_make(&sheet), 0);
	assert_int_equal(report_tree(open_screen(&screen, 80), &sheet), 0);
	close_screen(&screen,
		"\n"
		"    total     mean      min@rank       max@rank   imb %  call tree, 4 ranks (us)\n"
		"  100.000   25.000   10.000@0       40.000@3       60.0  [total]\n"
		"   50.000   12.500    5.000@0       20.000@3       60.0  |-[main]\n"
		"   20.000    5.000    2.000@0        8.000@3       60.0  | |-MPI_Allreduce\n"
		"   20.000    5.000    2.000@0        8.000@3       60.0  | |-MPI_Recv\n"
		"   10.000    2.500    1.000@0        4.000@3       60.0  | `-MPI_Send\n"
		"   50.000   12.500    5.000@0       20.000@3       60.0  `-main:prog.c:9\n");
	sheet_release(&sheet);
	columns_release(&set);
	profile_free(p);
}

/* What the quality block says of MPI. */
static void put_quality(const struct style *style, const struct profile *p)
{
	const char *const marks[] = {"", "", ""};
	struct remarks remarks = {0};

	quality_mpi(&remarks, p);
	for (size_t i = 0; i < remarks.count; i++)
		remark_put(&remarks.list[i], style->out, style->width, marks);
	remarks_release(&remarks);
}

/* Which ranks left no file is said, and what went to them stands in the matrix. */
static void test_missing(void **state)
{
	struct report_options options = {.view = REPORT_MESSAGES};
	struct profile *p = ring(&options, 8, 4);
	const struct profile_flow *flows;
	struct screen screen;
	size_t count;

	put_quality(open_screen(&screen, 80), p);
	close_screen(&screen,
		"mpi      6 of 8 ranks, threads single; 58 calls of 3 functions, 125.0 us; 19\n"
		"         returned errors\n"
		"note     ranks 4-5 of 8 have no file that can be read: what they did is missing\n");
	quality_json_mpi(&open_screen(&screen, 80)->json, p);
	close_screen(&screen,
		"\"mpi\":{\"ranks\":6,\"calls\":58,\"functions\":3,\"time_ns\":125000,\"clocks_correc"
		"ted\":0,\"clock_error_ns\":0,\"errors\":19,\"inside\":0,\"abandoned\":0,\"untracked\""
		":0,\"worlds\":[{\"world\":\"000000000000004d\",\"size\":8,\"seen\":6,\"missing\":[[4,"
		"5]]}]}");
	flows = profile_flows(p, &count);
	assert_int_equal(count, 7); /* nobody saw 4 to 5 */
	assert_int_equal(flows[4].from, 5);
	assert_int_equal(flows[4].sent.messages, 0);
	assert_int_equal(traffic_of(&flows[4]).bytes, 600);
	profile_free(p);
}

static void test_json(void **state)
{
	struct report_options options = {.view = REPORT_MESSAGES, .output = REPORT_JSON};
	struct profile *p = ring(&options, 2, 9);
	struct screen screen;

	assert_int_equal(report_messages(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"\n"
		"\"flows\":[\n"
		"{\"world\":\"000000000000004d\",\"kind\":\"point_to_point\",\"from\":0,\"to\":1,\"sen"
		"t\":{\"messages\":1,\"bytes\":100,\"time_ns\":1000},\"received\":{\"messages\":1,\"by"
		"tes\":100,\"time_ns\":4000}},\n"
		"{\"world\":\"000000000000004d\",\"kind\":\"point_to_point\",\"from\":1,\"to\":0,\"sen"
		"t\":{\"messages\":2,\"bytes\":200,\"time_ns\":2000},\"received\":{\"messages\":2,\"by"
		"tes\":200,\"time_ns\":2000}}],\n"
		"\"sizes\":[\n"
		"{\"world\":\"000000000000004d\",\"handle\":\"0000000000000005\",\"operation\":\"send"
		"\",\"least_bytes\":64,\"most_bytes\":127,\"messages\":3,\"sent_bytes\":300,\"received"
		"_bytes\":0,\"time_ns\":3000},\n"
		"{\"world\":\"000000000000004d\",\"handle\":\"0000000000000005\",\"operation\":\"recv"
		"\",\"least_bytes\":64,\"most_bytes\":127,\"messages\":3,\"sent_bytes\":0,\"received_b"
		"ytes\":300,\"time_ns\":6000},\n"
		"{\"world\":\"000000000000004d\",\"handle\":\"0000000000000005\",\"operation\":\"colle"
		"ctive\",\"least_bytes\":8,\"most_bytes\":15,\"messages\":2,\"sent_bytes\":16,\"receiv"
		"ed_bytes\":16,\"time_ns\":6000}],\n"
		"\"handles\":[\n"
		"{\"world\":\"000000000000004d\",\"handle\":\"0000000000000005\",\"parent\":\"00000000"
		"00000000\",\"type\":\"communicator\",\"name\":\"MPI_COMM_WORLD\",\"size\":4,\"members"
		"\":2}]");
	profile_free(p);
}

static void test_csv(void **state)
{
	struct report_options options = {.view = REPORT_MESSAGES, .output = REPORT_CSV};
	struct profile *p = ring(&options, 2, 9);
	struct screen screen;

	assert_int_equal(report_messages(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"world,kind,from,to,sent_messages,sent_bytes,sent_time_ns,received_messages,received_b"
		"ytes,received_time_ns\n"
		"000000000000004d,point_to_point,0,1,1,100,1000,1,100,4000\n"
		"000000000000004d,point_to_point,1,0,2,200,2000,2,200,2000\n");
	options.view = REPORT_MPI;
	assert_int_equal(report_mpi(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"name,calls,time_ns,messages,sent_bytes,received_bytes,ranks,mean_ns,min_ns,min_rank,m"
		"ax_ns,max_rank,deviation_ns,imbalance\n"
		"\"MPI_Allreduce\",2,6000,2,16,16,2,3000,2000,0,4000,1,1000.000,0.333333\n"
		"\"MPI_Recv\",3,6000,3,0,300,2,3000,2000,0,4000,1,1000.000,0.333333\n"
		"\"MPI_Send\",3,3000,3,300,0,2,1500,1000,0,2000,1,500.000,0.333333\n");
	options.view = REPORT_RANKS;
	assert_int_equal(report_ranks(open_screen(&screen, 80), &options, p), 0);
	close_screen(&screen,
		"world,rank,host,pid,threads,wall_ns,thread_wall_ns,cpu_ns,blocked_ns,mpi_calls,mpi_ns"
		",messages_sent,messages_received,sent_bytes,received_bytes,errors\n"
		"000000000000004d,0,\"node1\",100,1,10000,10000,7000,3000,4,5000,1,2,108,208,0\n"
		"000000000000004d,1,\"node1\",101,1,20000,20000,14000,6000,4,10000,2,1,208,108,1\n");
	profile_free(p);
}

/* Where no MPI was, the views say so. */
static void test_nothing(void **state)
{
	struct report_options options = {0};
	struct fixture *f = fixture_new();
	struct profile *p;
	struct screen screen;

	fixture_root(f, 1000, 1000);
	p = fixture_profile(f, PROFILE_ROUTINE, 1);
	open_screen(&screen, 80);
	assert_int_equal(report_mpi(&screen.style, &options, p), 0);
	assert_int_equal(report_messages(&screen.style, &options, p), 0);
	assert_int_equal(report_ranks(&screen.style, &options, p), 0);
	put_quality(&screen.style, p);
	close_screen(&screen, "\nno call of MPI was seen\n"
			      "\nno message of MPI was seen\n"
			      "\nno rank of MPI was seen\n");
	profile_free(p);
}

static void assert_options(int expected, char *option, struct report_options *ret)
{
	char *argv[] = {"hybrid-report", option, "exp", NULL};

	assert_int_equal(report_options_parse(ret, 3, argv), expected);
}

static bool chooses(const struct report_options *options, uint32_t rank)
{
	struct hyb_process process = {.world = FIXTURE_WORLD, .rank = rank};
	struct hyb_location_info location = {.process = &process};

	return selection_has(&options->look.part, &location);
}

static void test_options(void **state)
{
	static char *const wrong[] = {"--ranks=", "--ranks=a", "--ranks=3-1", "--ranks=1,", "--ranks=1-",
		"--ranks=-1", "--ranks=1,,2", "--ranks=4294967295", "--ranks=1 2"};
	struct report_options options;

	optind = 1;
	assert_options(0, "--ranks=0-3,7,9-9", &options);
	for (uint32_t rank = 0; rank < 12; rank++)
		assert_int_equal(chooses(&options, rank), rank <= 3 || rank == 7 || rank == 9);
	assert_false(selection_is_all(&options.look.part));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		optind = 1;
		assert_options(-1, wrong[i], &options);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_over_ranks),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "converters/events/convert_events.h"
#include "converters/converter.h"
#include "converters/formats.h"
#include "converters/hyb_copy.h"
#include "converters/otf2/write.h"

#ifndef HAVE_OTF2
#include <stdio.h>

int otf2_write(const struct convert_job *job, struct hyb_error *err)
{
	err->code = HYB_EFORMAT;
	snprintf(err->text, sizeof(err->text),
		"this build of hybrid cannot write OTF2: build it where libotf2 is installed");
	return err->code;
}
#endif

const struct converter converters[] = {
	{"otf2", "Open Trace Format 2, for Vampir, ViTE and others", CONVERT_FOLDER, true,
		CONVERT_TAKES_SAMPLES | CONVERT_TAKES_COUNTERS, otf2_write},
	{"collapsed", "collapsed stacks, for flame graph scripts (flamegraph.pl, inferno)", CONVERT_FILE,
		false, CONVERT_TAKES_PATHS | CONVERT_TAKES_FOLD, collapsed_write},
	{"speedscope", "JSON for speedscope: flame graph, left heavy and sandwich in a browser", CONVERT_FILE,
		false, CONVERT_TAKES_PATHS | CONVERT_TAKES_FOLD, speedscope_write},
	{"pprof", "a profile for go tool pprof and Google's pprof (gzipped protocol buffers)", CONVERT_FILE,
		false, CONVERT_TAKES_PATHS & ~(unsigned)CONVERT_TAKES_MODE, pprof_write},
	{"callgrind", "functions, lines and calls for KCachegrind and callgrind_annotate", CONVERT_FILE,
		false, CONVERT_TAKES_PATHS & ~(unsigned)CONVERT_TAKES_MODE, callgrind_write},
	{"dot", "the graph of calls between functions, for GraphViz", CONVERT_FILE, false,
		CONVERT_TAKES_PATHS & ~(unsigned)CONVERT_TAKES_MODE, dot_write},
	{"csv", "a row for each call path, for spreadsheets and pandas", CONVERT_FILE, false,
		CONVERT_TAKES_PATHS, csv_write},
	{"html", "one page for a browser: flame graphs, table, timeline, threads; needs no network",
		CONVERT_FILE, false, CONVERT_TAKES_PATHS | CONVERT_TAKES_FOLD, html_write},
	{"perfetto", "Perfetto's trace (protocol buffers), for ui.perfetto.dev", CONVERT_FILE, true,
		CONVERT_TAKES_EVENTS, perfetto_write},
	{"chrome", "Chrome's trace events (JSON), for chrome://tracing, Perfetto and speedscope",
		CONVERT_FILE, true, CONVERT_TAKES_EVENTS, chrome_write},
	{"firefox", "the Firefox Profiler's format (JSON), for profiler.firefox.com", CONVERT_FILE, true,
		CONVERT_TAKES_EVENTS, firefox_write},
	{"hybrid", "an experiment as hybrid-run makes it: keeps an OTF2 archive that was read",
		CONVERT_FOLDER, false, 0, hyb_copy},
	{0},
};

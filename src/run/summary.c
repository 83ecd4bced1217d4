#include "run/summary.h"

#include "base/status.h"
#include "run/message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LISTED 5 /* ranks that are named; the rest are counted */

static void put_count(FILE *out, uint64_t count, const char *one, const char *many)
{
	fprintf(out, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

static void put_size(FILE *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	double value = (double)bytes;
	int unit = 0;

	for (; value >= 1024 && unit < 3; unit++)
		value /= 1024;
	fprintf(out, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* A launcher that kills its ranks, or has them started by a daemon, does not count their time as its
 * children's. */
static double cpu_seconds(const struct summary *s)
{
	const struct rusage *usage = &s->outcome->usage;
	double used, measured = (double)s->harvest->cpu / 1e9;
	uint64_t ns = 0;

	for (uint32_t i = 0; s->ranks && i < s->ranks->count; i++)
		ns += s->ranks->list[i].user + s->ranks->list[i].system;
	if (s->ranks)
		return (double)ns / 1e9;
	used = (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
	return used > measured ? used : measured;
}

static double wall_seconds(const struct summary *s)
{
	uint64_t ns = s->ranks ? 0 : s->outcome->wall;

	for (uint32_t i = 0; s->ranks && i < s->ranks->count; i++)
		ns = s->ranks->list[i].wall > ns ? s->ranks->list[i].wall : ns;
	return (double)ns / 1e9;
}

/* "64 ranks on 1 host: ", or nothing. */
static void put_ranks(FILE *out, const struct summary *s)
{
	uint64_t ranks = s->ranks ? s->ranks->count : s->harvest->rank_count;

	if (!ranks || (!s->ranks && s->harvest->rank_count < 2))
		return;
	put_count(out, ranks, "rank", "ranks");
	fputs(" on ", out);
	put_count(out, s->ranks ? s->ranks->hosts : s->harvest->hosts, "host", "hosts");
	fputs(": ", out);
}

/* A launcher, or maybe a shell in front of a rank: what it started was measured. */
static bool stands_between(const struct summary *s)
{
	struct launch_place place;

	return s->program->launcher || launch_place(&place);
}

/* Of a process of another namespace nobody knows here which it is: without an obstacle only that none left a
 * file shows that there was one. */
static const char *why_not_measured(const struct summary *s)
{
	if (s->program->obstacle[0])
		return s->program->obstacle;
	return WIFSIGNALED(s->outcome->status) ? "was killed before its measurement began"
					       : "did not load the runtime";
}

static void say_taken(const struct summary *s)
{
	const struct harvest *harvest = s->harvest;
	char text[PATH_MAX + 256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (!out)
		return;
	put_ranks(out, s);
	fprintf(out, "%.3f s wall, %.3f s CPU; ", wall_seconds(s), cpu_seconds(s));
	if (harvest->files) {
		put_count(out, harvest->samples, "sample", "samples");
		fputs(" of ", out);
		put_count(out, harvest->processes, "process", "processes");
		fputs(", ", out);
		put_count(out, harvest->threads, "thread", "threads");
		fputs("; ", out);
		put_size(out, harvest->trace_bytes);
		fputs(" of trace", out);
	}
	if (s->program->obstacle[0] ? !harvest->program && !(harvest->files && stands_between(s))
				    : !harvest->files)
		fprintf(out, "%s%s %s: only its total time was measured", harvest->files ? "; " : "",
			s->program->path, why_not_measured(s));
	fclose(out);
	message("%s", text);
	if (!harvest->samples && *harvest->warning)
		message("%s", harvest->warning);
}

static void say_failures(const struct ranks *ranks)
{
	char status[STATUS_SIZE];
	uint32_t listed = 0;

	for (uint32_t i = 0; i < ranks->count && listed < LISTED; i++) {
		const struct rank *rank = &ranks->list[i];

		if (!rank->dead && !rank->status)
			continue;
		message("rank %u on %s ended by %s", rank->rank, rank->host,
			rank->dead ? "the kill of its hybrid-run" : status_text(rank->status, status));
		listed++;
	}
	if (ranks->failed > listed)
		message("%u more ranks failed: see the file `experiment`", ranks->failed - listed);
}

/* Ranks to the launcher that never called MPI: another MPI than the launcher's, or none. */
static void say_silent(const struct harvest *harvest)
{
	char text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (!out)
		return;
	if (harvest->silent_count == 1) {
		fprintf(out, "a process was started as rank %u of %u but never called MPI",
			harvest->silent[0], harvest->promised);
	} else {
		fprintf(out, "%zu processes were started as ranks of %u but never called MPI: ",
			harvest->silent_count, harvest->promised);
		for (size_t i = 0; i < harvest->silent_count && i < LISTED; i++)
			fprintf(out, "%s%u", i ? ", " : "", harvest->silent[i]);
		if (harvest->silent_count > LISTED)
			fputs(" ...", out);
	}
	fclose(out);
	message("%s", text);
}

static void say_next(const struct experiment *experiment, const char *report)
{
	char found[PATH_MAX];
	char *dir = shell_quote(experiment->shown);

	message("next: %s %s", program_find("hybrid-report", found) ? report : "hybrid-report",
		dir ? dir : experiment->shown);
	free(dir);
}

void summary_print(const struct summary *s, const char *report)
{
	message("experiment in %s", s->experiment->shown);
	say_taken(s);
	if (s->ranks && s->ranks->failed)
		say_failures(s->ranks);
	if (s->mpi && s->program->static_mpi && !s->harvest->rank_count)
		message("%s has MPI linked into it, statically: link it with -lhybrid-mpi-mpich or "
			"-lhybrid-mpi-openmpi in front of MPI to measure its calls",
			s->program->path);
	else if (s->mpi && s->harvest->silent_count && s->harvest->promised > 1)
		say_silent(s->harvest);
	if (s->harvest->fileless)
		message("programs that could make no file here, so that only their CPU time is known: %llu; "
			"if other users run them: `mkdir -m 1777 DIR`, and -o DIR",
			(unsigned long long)s->harvest->fileless);
	say_next(s->experiment, report);
}

void summary_failed(const struct experiment *experiment, const struct launch *launch, int status)
{
	char text[STATUS_SIZE], host[64] = "";

	gethostname(host, sizeof(host) - 1);
	message("rank %u of %u on %s ended by %s; experiment in %s", launch->place.rank, launch->place.size,
		host, status_text(status, text), experiment->shown);
}

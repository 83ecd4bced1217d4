"""Enter and leave of a region."""

from measure import Row, interleave, middle, run

KINDS = {"same": "one region again and again", "alternating": "two regions in turn", "nested": "10 deep",
         "turn": "64 regions in turn", "macro": "HYBRID_ENTER, HYBRID_LEAVE", "name": "name made at run time"}


def regions(bench):
    program, core = bench.program("regions"), bench.core
    rounds = bench.pick(5, 60, 100)
    plain = [program, rounds]

    def measured(*options, command=plain):
        return lambda: bench.measured(command, options, cpu=core)[0].values()

    runs = interleave({
        "not measured": lambda: run(plain, cpu=core).values(),
        "profile": measured("--rate", "0", "--demote", "0"),
        "profile, 250 samples a second": measured("--demote", "0"),
        "--trace": measured("--rate", "0", "--demote", "0", "--trace"),
        "--trace, 250 samples a second": measured("--demote", "0", "--trace"),
        # One batch of a round is 2000 calls: from the 51st round on, the regions are demoted.
        "default options, once demoted": measured(command=[program, rounds + 60, 60]),
    }, bench.times(1, 3, 11))
    targets = {"profile": 2.5, "--trace": 4}
    for way, results in runs.items():
        yield row(way, "same", "ticks", "2 rdtsc", results, targets.get(way))
        yield row(way, "same", "clock", "2 clock_gettime", results)
        for kind in list(KINDS)[1:]:
            yield row(way, kind, "ticks", "2 rdtsc", results, targets.get(way) if kind in ("alternating", "nested")
                      else None)


def row(way, kind, floor, floor_name, results, target=None):
    ours, against = middle([r[kind] for r in results]), middle([r[floor] for r in results])
    return Row(f"{way}: {KINDS[kind]}", f"{ours.value:.1f} ns", f"{floor_name} {against.value:.1f} ns",
               middle([r[kind] / r[floor] for r in results]), target)

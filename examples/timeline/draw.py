#!/usr/bin/python3
"""Draws the ranks of an OTF2 archive as SVG, with a colour for each group of regions by file: draw.py ARCHIVE SVG.

A call of MPI has the colour of the file that calls it. Says how long each file was drawn."""

import os
import re
import sys
from collections import Counter

import otf2
from otf2.enums import GroupType
from otf2.events import Enter, Leave

WIDTH, LINE, LEFT, TOP = 1200, 9, 40, 24
COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"]


def files_of(definitions):
    """Region to the file by whose group it is coloured; the group of MPI, and of code without a file, have none."""
    found = {}
    for group in definitions.groups:
        if group.group_type == GroupType.REGIONS and group.name.endswith((".c", ".h")):
            for region in group.members:
                found[region] = os.path.basename(group.name)
    return found


def stretches(trace, files):
    """(location, start, end, file of the innermost region that has one), between MPI_Init and MPI_Finalize."""
    stacks = {}
    for location, event in trace.events:
        stack, since = stacks.setdefault(location, ([], [0, False]))
        if not isinstance(event, (Enter, Leave)):
            continue
        name = next((files[region] for region in reversed(stack) if region in files), None)
        if name and since[1] and event.time > since[0]:
            yield location, since[0], event.time, name
        if isinstance(event, Enter):
            stack.append(event.region)
        elif event.region.name.startswith("MPI_Init"):
            since[1] = True
        if isinstance(event, Leave):
            assert stack.pop() == event.region
        elif event.region.name == "MPI_Finalize":
            since[1] = False
        since[0] = event.time
    assert not any(stack for stack, _ in stacks.values())


def write_svg(path, drawn, colour):
    def rank(location):
        return int(re.search(r"\d+", location.group.name)[0])

    locations = {location: i for i, location in enumerate(sorted({s[0] for s in drawn}, key=rank))}
    first, last = min(s[1] for s in drawn), max(s[2] for s in drawn)
    scale = (WIDTH - LEFT) / (last - first)
    with open(path, "w") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{TOP + LINE * len(locations)}" '
                  'font-family="sans-serif" font-size="9"><rect width="100%" height="100%" fill="white"/>\n')
        for i, name in enumerate(colour):
            out.write(f'<rect x="{LEFT + 150 * i}" y="4" width="10" height="10" fill="{colour[name]}"/>'
                      f'<text x="{LEFT + 14 + 150 * i}" y="13">{name}</text>\n')
        for location, i in locations.items():
            out.write(f'<text x="2" y="{TOP + LINE * i + 8}">{rank(location)}</text>\n')
        for location, start, end, name in drawn:
            out.write(f'<rect x="{LEFT + (start - first) * scale:.2f}" y="{TOP + LINE * locations[location]}" '
                      f'width="{(end - start) * scale:.2f}" height="{LINE - 1}" fill="{colour[name]}"/>\n')
        out.write("</svg>\n")
    return len(locations)


def main():
    with otf2.reader.open(sys.argv[1]) as trace:
        drawn = list(stretches(trace, files_of(trace.definitions)))
        ticks = trace.timer_resolution
    total = Counter()
    for _, start, end, name in drawn:
        total[name] += end - start
    common = [name for name, _ in total.most_common(len(COLOURS))]
    lines = write_svg(sys.argv[2], [s for s in drawn if s[3] in common], dict(zip(common, COLOURS)))
    print(f"{lines} lines in {sys.argv[2]}")
    for name in common:
        print(f"{total[name] / ticks:10.3f} s  {name}")


if __name__ == "__main__":
    main()

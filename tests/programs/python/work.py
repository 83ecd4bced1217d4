"""What the programs share: how long to spin, the parts' CPU times, and the truth that the interpreter tells.

A program runs functions named part_*. The docstring of each says which functions are below it on the stack, as in
    "outer inner"           outer called by the part, inner called by outer
    "0.6 a | 0.4 b"         shares of the part's CPU time
    "..."                   any functions; name{200} exactly so many, name+ and name? as in regular expressions
A line that ends in "#:" is where its function may be while it calls, or where it spins.

With ORACLE=FILE in the environment all stacks that the interpreter goes through are written to FILE, one a line:
each opcode and line of each function as sys.settrace reports it; N should be small then. With FAULTHANDLER=FILE
the stack of the main thread is written there every 5 ms of CPU time, as faulthandler sees it in a signal handler.
"""

import atexit
import faulthandler
import os
import signal
import sys
import threading
import time

N = int(os.environ.get("SPIN", "200000"))  # iterations of `x += i * i` in a part, about


def spin(n):
    x = 0
    for i in range(n):  #:
        x += i * i  #:
    return x


def run(*parts):
    """Calls them; prints the CPU time of each, nanoseconds."""
    chosen = os.environ.get("PARTS", "").split()
    for part in parts:
        if chosen and part.__name__ not in chosen:
            continue
        begin = time.process_time_ns()
        part()  #:
        print(part.__name__, time.process_time_ns() - begin, flush=True)


def describe(frame):
    """file:line:name, outermost first."""
    stack = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        stack.append("%s:%s:%s" % (os.path.basename(code.co_filename), frame.f_lineno, name))
        frame = frame.f_back
    return "\t".join(reversed(stack))


def watch(path):
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    seen = set()

    def key(frame):
        while frame:
            yield frame.f_code
            yield frame.f_lineno
            frame = frame.f_back

    def trace(frame, event, argument):
        frame.f_trace_opcodes = True
        stack = tuple(key(frame))
        if stack not in seen:
            seen.add(stack)
            os.write(out, (describe(frame) + "\n").encode(errors="surrogateescape"))
        return trace

    frame = sys._getframe(1)
    while frame:
        frame.f_trace_opcodes = True
        frame.f_trace = trace
        frame = frame.f_back
    threading.settrace(trace)
    sys.settrace(trace)


def sample(path):
    out = open(path, "w")
    faulthandler.register(signal.SIGPROF, out, all_threads=False)
    signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
    atexit.register(signal.setitimer, signal.ITIMER_PROF, 0)
    return out


if os.environ.get("ORACLE"):
    watch(os.environ["ORACLE"])
if os.environ.get("FAULTHANDLER"):
    samples = sample(os.environ["FAULTHANDLER"])

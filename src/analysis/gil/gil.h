/* Threads that wait for the global interpreter lock of Python, by call path. */
#ifndef HYB_GIL_H
#define HYB_GIL_H

#include "analysis/analysis.h"

extern const struct analysis gil_analysis;

#endif

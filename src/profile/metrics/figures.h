/* How numbers read wherever they are shown. Pure. */
#ifndef HYB_FIGURES_H
#define HYB_FIGURES_H

#include <stdint.h>

#include "profile/metrics/columns.h"

/* 999999 or 12.3M: at most seven columns. The buffer is returned. */
#define FIGURE_SIZE 32
const char *figure_count(uint64_t count, char text[FIGURE_SIZE]);

/* 1234567 as 1,234,567. */
const char *figure_number(uint64_t number, char text[FIGURE_SIZE]);

/* "3.026 s", "12.1 ms", "350 ns". */
const char *figure_duration(uint64_t ns, char text[FIGURE_SIZE]);

/* Columns of metrics: whether it is a time, in seconds then; how wide its values are at most. */
bool figure_is_time(const struct column *column);
double figure_seconds(const struct column *column, double value);
int figure_width(const struct column *column);

/* ns that a printed 1.0 stands for (1e9, 1e6 or 1e3) where the largest is so many seconds. */
double figure_unit(double most);

/* A value as it reads well, "-" for NAN. `unit`: of times. */
const char *figure_value(const struct column *column, double value, double unit, char text[FIGURE_SIZE]);

#endif

/* What could not be measured, by what the measurement itself says. */
#ifndef HYB_NOTES_H
#define HYB_NOTES_H

#include "analysis/analysis.h"

extern const struct analysis notes_analysis;

#endif

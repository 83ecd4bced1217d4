/* Findings about what could not be measured, from the notes of the measurement. */
#ifndef HYB_NOTES_H
#define HYB_NOTES_H

#include "analysis/analysis.h"

extern const struct analysis notes_analysis;

#endif

/* Ranks that spend longer in a call of MPI than others do, by call path. */
#ifndef HYB_IMBALANCE_H
#define HYB_IMBALANCE_H

#include "analysis/analysis.h"

extern const struct analysis imbalance_analysis;

#endif

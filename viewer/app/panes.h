/* The panes that there are. */
#ifndef HYB_PANES_H
#define HYB_PANES_H

#include "viewer/app/pane.h"

extern const struct pane_class *const pane_classes[];
extern const size_t pane_class_count;

#endif

#include "viewer/app/pane.h"

const struct pane_class *const pane_classes[] = {
	&tree_pane,
	&reverse_pane,
	&flat_pane,
	&locations_pane,
	&timeline_pane,
	&communication_pane,
	&diff_pane,
	&quality_pane,
	&findings_pane,
	&source_pane,
	&assembly_pane,
	&help_pane,
};

const size_t pane_class_count = sizeof(pane_classes) / sizeof(*pane_classes);

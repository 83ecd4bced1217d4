#include "session/look.h"

#include "base/argument.h"

static const char *add_list(const char **lists, size_t *count, const char *value)
{
	if (*count == LOOK_LISTS)
		return "fewer of them, or lists";
	lists[(*count)++] = value;
	return NULL;
}

/* Those that have a value. */
static const char *take_value(struct look *look, int option, const char *value)
{
	switch (option) {
	case LOOK_THRESHOLD:
		return argument_percentage(value, &look->threshold);
	case LOOK_PROCESS:
		return selection_process(&look->part, value);
	case LOOK_THREAD:
		return selection_thread(&look->part, value);
	case LOOK_RANKS:
		return selection_ranks(&look->part, value);
	case LOOK_METRIC:
		return add_list(look->metrics, &look->metric_count, value);
	case LOOK_METRICS_FILE:
		return add_list(look->metrics_files, &look->metrics_file_count, value);
	case LOOK_COLOR:
		return argument_colour(value, &look->colour);
	}
	return NULL;
}

const char *look_take(struct look *look, int option, const char *value)
{
	switch (option) {
	case LOOK_CALLSITES:
		look->mode = PROFILE_CALLSITE;
		break;
	case LOOK_ROUTINES:
		look->mode = PROFILE_ROUTINE;
		break;
	case LOOK_FUNCTIONS:
		look->mode = PROFILE_FUNCTION;
		break;
	case LOOK_PYTHON_INTERNALS:
		look->python_internals = true;
		break;
	case LOOK_MPI_INTERNALS:
		look->mpi_internals = true;
		break;
	case LOOK_DIFF:
		look->base = value;
		break;
	case LOOK_NO_COLOR:
		look->colour = 0;
		break;
	}
	return take_value(look, option, value);
}

#include "profile/views/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/argument.h"

const char *selection_process(struct selection *s, const char *value)
{
	return argument_number(value, UINT32_MAX, &s->process);
}

const char *selection_thread(struct selection *s, const char *value)
{
	return argument_number(value, UINT32_MAX, &s->thread);
}

/* The next "A" or "A-B" of a list that is not at its end; NULL: it is none. */
static const char *next_range(const char *list, uint32_t *ret_first, uint32_t *ret_last)
{
	unsigned long numbers[2];

	for (int i = 0; i < 2; i++) {
		char *end;

		errno = 0;
		numbers[i] = strtoul(list, &end, 10);
		if (*list < '0' || *list > '9' || errno || numbers[i] >= HYB_RANK_FOREIGN)
			return NULL;
		list = end;
		if (!i && *list != '-') {
			numbers[1] = numbers[0];
			break;
		}
		list += !i;
	}
	if (numbers[0] > numbers[1] || (*list && (*list != ',' || !list[1])))
		return NULL;
	*ret_first = (uint32_t)numbers[0];
	*ret_last = (uint32_t)numbers[1];
	return list + (*list == ',');
}

const char *selection_ranks(struct selection *s, const char *value)
{
	const char *list = value;
	uint32_t first, last;

	do
		list = next_range(list, &first, &last);
	while (list && *list);
	if (!list)
		return "numbers of ranks, as in 0-3,7";
	s->ranks = value;
	return NULL;
}

static bool holds(const char *list, uint32_t rank)
{
	uint32_t first = 0, last = 0;

	while (list && *list) {
		list = next_range(list, &first, &last);
		if (list && rank >= first && rank <= last)
			return true;
	}
	return false;
}

bool selection_is_all(const struct selection *s)
{
	return !s->process && !s->thread && !s->ranks && !s->only_ranks;
}

bool selection_has(const struct selection *s, const struct hyb_location_info *location)
{
	const struct hyb_process *process = location->process;
	bool is_rank = process->world && process->rank != HYB_RANK_NONE;

	return (!s->process || process->pid == s->process) && (!s->thread || location->tid == s->thread) &&
	       (!s->only_ranks || is_rank) && (!s->ranks || (is_rank && holds(s->ranks, process->rank)));
}

bool selection_select(void *selection, const struct hyb_location_info *location)
{
	return selection_has(selection, location);
}

void selection_nothing(const struct selection *s, const char *path, char *text, size_t size)
{
	if (s->process || s->thread)
		snprintf(text, size,
			"no such process or thread in %.300s; hybrid-report --flat=thread shows which there "
			"are",
			path);
	else if (!s->ranks)
		snprintf(text, size, "no rank of MPI in %.300s; leave --over-ranks out", path);
	else
		snprintf(text, size,
			"no such rank in %.300s; hybrid-report --flat=rank shows which there are", path);
}

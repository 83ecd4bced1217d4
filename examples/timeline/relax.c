#include <hybrid/hybrid.h>
#include <string.h>
#include <time.h>
#include "plate.h"

/* Few processors cannot compute for 64 ranks at once: most of the work is to sleep, longer in the middle of
 * the plate. */
static void work(const struct plate *p, int step)
{
	int middle = p->size / 2, away = p->rank > middle ? p->rank - middle : middle - p->rank;
	long us = 4000 + 16000L * (middle - away) / (middle ? middle : 1) + 1000 * (step % 3);
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

double plate_relax(struct plate *p, int step)
{
	double change = 0;

	HYBRID_ENTER("relax");
	work(p, step);
	for (int j = 0; j < SIDE; j++) {
		double left = p->now[1][j ? j - 1 : 0], right = p->now[1][j + 1 < SIDE ? j + 1 : j];

		p->next[j] = 0.25 * (left + right + p->now[0][j] + p->now[2][j]);
		change += p->next[j] > p->now[1][j] ? p->next[j] - p->now[1][j] : p->now[1][j] - p->next[j];
	}
	memcpy(p->now[1], p->next, sizeof(p->next));
	HYBRID_LEAVE("relax");
	return change;
}

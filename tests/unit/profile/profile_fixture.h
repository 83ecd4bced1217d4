/* Locations made by hand, with symbols that are known beforehand: input of the profile without files. */
#ifndef PROFILE_FIXTURE_H
#define PROFILE_FIXTURE_H

#include "profile/profile.h"

struct fixture {
	struct hyb_process process;
	struct hyb_location_info location;
	struct hyb_node_info *nodes;
	struct hyb_region *regions[64];
	size_t region_count;
};

/* A location of a root alone; owned by the caller until fixture_profile(). */
struct fixture *fixture_new(void);
void fixture_free(struct fixture *f);

/* Times of the root: wall and CPU time, ns. */
void fixture_root(struct fixture *f, uint64_t wall, uint64_t cpu);

/* Add a node, return its index. Regions have line 1 of "regions.c"; code is in the module "/opt/prog". */
uint32_t fixture_region(struct fixture *f, uint32_t parent, const char *name, unsigned kind,
	uint64_t inclusive, uint64_t calls);
uint32_t fixture_call(struct fixture *f, uint32_t parent, const char *function, unsigned line);
uint32_t fixture_leaf(
	struct fixture *f, uint32_t parent, const char *function, unsigned line, uint64_t samples);
uint32_t fixture_code(struct fixture *f, uint32_t parent, unsigned type, const struct hyb_module *module,
	uint64_t address, uint64_t samples);

/* What is read beside time, at most 16; they stay the caller's. Then by how much one grew in a node (a
 * probe), and how many samples ended there that its overflow took. */
void fixture_metrics(struct fixture *f, const struct hyb_metric *metrics, size_t count);
void fixture_grow(struct fixture *f, uint32_t node, size_t metric, int64_t value);
void fixture_overflow(struct fixture *f, uint32_t node, size_t metric, uint64_t samples);

/* Makes the process a rank, a call of MPI, and what was communicated in one. */
struct fixture_message {
	uint8_t kind; /* enum hyb_message_kind */
	uint8_t size_class;
	const struct hyb_handle *handle;
	uint32_t peer;
	uint64_t count, sent, received, time;
};
void fixture_rank(struct fixture *f, uint64_t world, uint32_t rank, uint32_t size);
uint32_t fixture_mpi(
	struct fixture *f, uint32_t parent, const char *name, uint64_t inclusive, uint64_t calls);
void fixture_message(struct fixture *f, uint32_t parent, const struct fixture_message *message);

/*
 * A rank of `size`: below main it sends `rank` + 1 messages of 100 bytes to the next rank (1000 ns each),
 * receives what the last one sends (twice as long as it sends), and reduces 8 bytes once (as long). All have
 * ten times as much wall time as they send, and a communicator of identity 5.
 */
#define FIXTURE_WORLD 77u
struct fixture *fixture_ring(uint32_t rank, uint32_t size);

/* Frames of Python, and its functions as probes: in "/src/app.py", first line 1. */
uint32_t fixture_python(struct fixture *f, uint32_t parent, const char *function, unsigned line);
uint32_t fixture_hooked(
	struct fixture *f, uint32_t parent, const char *function, uint64_t inclusive, uint64_t calls);

/*
 * Names for addresses of any module, frames innermost first, beside those that
 * fixture_call() and fixture_leaf() make.
 */
struct fixture_symbol {
	const struct hyb_module *module;
	uint64_t address;
	struct hyb_frame frames[4];
	size_t count;
	bool exact; /* must not be looked up as a return address */
};
void fixture_symbols(const struct fixture_symbol *symbols, size_t count);

/* Probes, frames and samples at random, times that fit: children within parents. */
struct fixture *fixture_random(unsigned seed, unsigned nodes);

void fixture_add(struct fixture *f, struct profile *profile);
void fixture_add_location(const struct hyb_location_info *location, struct profile *profile); /* alone */

/* The finished profile of `copies` times the location; frees the fixture. */
struct profile *fixture_profile(struct fixture *f, enum profile_mode mode, unsigned copies);

/* The first such node; find: it must be there. */
const struct profile_node *seek_node(const struct profile *p, unsigned kind, const char *name, unsigned line);
const struct profile_node *find_node(const struct profile *p, unsigned kind, const char *name, unsigned line);

/*
 * The tree as text, a line a node, indented: "[intermediate]", "leaf:line", "(probe)", each with its
 * exclusive and, behind a plus, blocked ns where there are any. Freed by the caller.
 */
char *tree_text(const struct profile *p);

/* inclusive = exclusive + blocked + children, parents in front, links and order right. */
void assert_exact(const struct profile *p);

#endif

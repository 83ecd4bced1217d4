/*
 * fork: the child is measured in a file of its own, with the regions that were
 * open at the fork open again. The parent's file is not written by the child, unless it can have none: it is
 * noted there.
 */
#ifndef HYB_FORK_H
#define HYB_FORK_H

/* Handlers for pthread_atfork. */
void fork_prepare(void);
void fork_parent(void);

/* Also for children that were made without atfork handlers, at their first probe. start */
void fork_child(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * Regions: parts of a program with a name, by which `mpigauge profile` tells calls of MPI apart.
 *
 *   mpigauge_begin("solve");
 *   mpigauge_end();
 *
 * Without the profiler both compare an address with null, and do nothing else. There is nothing to
 * link. Regions nest; each end is that of the region that was begun last. Those of the main thread
 * are of the whole process, those of other threads of their own thread.
 */
#ifndef MPIGAUGE_H
#define MPIGAUGE_H

/* The address is looked up while the program is loaded, in programs at fixed addresses, too. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define MPIGAUGE_IF_THERE __attribute__((weak, noplt))
#endif
#endif
#ifndef MPIGAUGE_IF_THERE
#define MPIGAUGE_IF_THERE __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

void mpigauge_begin(const char* name) MPIGAUGE_IF_THERE;
void mpigauge_end(void) MPIGAUGE_IF_THERE;

#ifdef __cplusplus
}
#endif

#define mpigauge_begin(name) (mpigauge_begin ? mpigauge_begin(name) : (void)0)
#define mpigauge_end() (mpigauge_end ? mpigauge_end() : (void)0)

#endif

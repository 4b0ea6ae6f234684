/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the two halves of the test program share. */
#ifndef AACO_GUEST_H
#define AACO_GUEST_H

#include <stddef.h>

#include "../aaco_kmod_abi.h"

/* Prints PASS or FAIL with the name and counts failures; returns `good`. */
int check(const char *name, int good);
/* Whether the module in this file was loaded. */
int load(const char *path);
/* 0, or the errno of unloading aaco. */
int unload(void);
/* A new open file of the device, or -1. */
int device(void);
size_t ring_bytes(void);

/* Random and nearly valid calls from several processes at once; whether all of them ended by
 * themselves. */
int hostile_processes(void);
/* Unloads the module while its device is open, mapped, and in a race with openers. */
void unload_under_use(void);

#endif

// SPDX-License-Identifier: MIT OR GPL-2.0-only
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define HOSTILE_CALLS 10000
#define HOSTILE_PROCESSES 4

static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void *somewhere(char *buffer)
{
	switch (next_random() % 6) {
	case 0:
		return NULL;
	case 1:
		return (void *)next_random();
	case 2:
		return buffer + 8192 - next_random() % 64; /* crosses into an unmapped page */
	default:
		return buffer;
	}
}

/* Returns how many calls were accepted; the count of calls is fixed. */
static int hostile(void)
{
	static const unsigned long known[] = {AACO_KMOD_INFO, AACO_KMOD_CLOCK,
					      AACO_KMOD_REGION_BEGIN, AACO_KMOD_REGION_END,
					      AACO_KMOD_GPU_MEMORY};
	char *buffer =
		mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int file = device(), drm = open("/dev/dri/renderD128", O_RDWR);

	munmap(buffer + 8192, 4096);
	for (int i = 0; i < HOSTILE_CALLS / HOSTILE_PROCESSES; ++i) {
		unsigned long command =
			next_random() % 4 ? known[next_random() % 5] : next_random();

		for (int byte = 0; byte < 256; ++byte)
			buffer[byte] = next_random() % 2 ? 0 : (char)next_random();
		if (next_random() % 3 ==
		    0) { /* nearly valid: a process that exists and a writable buffer */
			struct aaco_kmod_gpu_memory request = {
				.pid = (int)(next_random() % 80),
				.next_fd = (uint32_t)next_random(),
				.text = next_random() % 2 ? (uintptr_t)buffer : next_random(),
				.text_bytes = (uint32_t)next_random()};
			memcpy(buffer, &request, sizeof(request));
		}
		if (next_random() % 16 == 0)
			command = _IOC(next_random() % 4, 0xac, next_random() % 8,
				       next_random() % 16384);
		ioctl(file, command, somewhere(buffer));
		if (i % 64 == 0) {
			void *map = mmap(NULL, ring_bytes(), (int)(next_random() % 8), MAP_SHARED,
					 file, (off_t)(next_random() % 4) * 4096);
			if (map != MAP_FAILED && next_random() % 2)
				munmap(map, ring_bytes());
			read(file, buffer, 64);
			write(file, buffer, 64);
			lseek(file, (off_t)next_random(), SEEK_SET);
			close(file);
			file = device();
		}
	}
	close(drm);
	return 0;
}

int hostile_processes(void)
{
	int good = 1, status;

	for (int i = 0; i < HOSTILE_PROCESSES; ++i) {
		if (fork() == 0) {
			seed = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
			_exit(hostile());
		}
	}
	for (int i = 0; i < HOSTILE_PROCESSES; ++i)
		good &= wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	printf("FIGURE hostile_calls %d\n", HOSTILE_CALLS);
	return good;
}

static void open_until_killed(void)
{
	for (;;) {
		struct aaco_kmod_region begin = {0};
		int file = device();

		if (file < 0)
			continue;
		ioctl(file, AACO_KMOD_REGION_BEGIN, &begin);
		close(file);
	}
}

void unload_under_use(void)
{
	int file = device(), unloads = 0;
	void *ring;
	pid_t opener;

	check("not unloaded while open", unload() == EAGAIN);
	ring = mmap(NULL, ring_bytes(), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	check("not unloaded while mapped", ring != MAP_FAILED && unload() == EAGAIN);
	munmap(ring, ring_bytes());
	check("unloaded when free", unload() == 0 && device() == -1 && load("/aaco.ko"));
	opener = fork();
	if (opener == 0)
		open_until_killed();
	for (int i = 0; i < 300;
	     ++i) { /* in a race with a process that opens, begins a region and closes */
		if (unload() == 0 && ++unloads && !load("/aaco.ko"))
			break;
		usleep(500);
	}
	kill(opener, SIGKILL);
	waitpid(opener, NULL, 0);
	printf("FIGURE unloads_in_race %d\n", unloads);
	check("unloaded under use", unloads > 0 && unload() == 0);
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The first process of the virtual machine in which GPU events are recorded;
 * scripts/proofs/drm_events.py starts it. Called as /work it is the program that is recorded:
 * 20 buffers of the display driver and 20 jobs of the test GPU. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <drm/drm.h>
#include <drm/drm_mode.h>

#define ROUNDS 20

static int work(void)
{
	int card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	int gpu = open("/dev/aaco_test_gpu", O_WRONLY | O_CLOEXEC);

	if (card < 0 || gpu < 0)
		return 1;
	for (int i = 0; i < ROUNDS; ++i) {
		struct drm_mode_create_dumb made = {.width = 64, .height = 64, .bpp = 32};
		struct drm_mode_map_dumb map = {0};
		struct drm_mode_destroy_dumb gone = {0};
		void *memory;

		if (ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &made))
			return 2;
		map.handle = gone.handle = made.handle;
		if (ioctl(card, DRM_IOCTL_MODE_MAP_DUMB, &map))
			return 3;
		memory = mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, card,
			      (off_t)map.offset);
		if (memory == MAP_FAILED)
			return 4;
		memset(memory, i, made.size);
		munmap(memory, made.size);
		if (ioctl(card, DRM_IOCTL_MODE_DESTROY_DUMB, &gone))
			return 5;
		if (write(gpu, "job", 3) != 3)
			return 6;
	}
	return 0;
}

static int load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	return file >= 0 && syscall(SYS_finit_module, file, "", 0) == 0;
}

static int call(char *const words[])
{
	static char *environment[] = {"PATH=/bin", "HOME=/tmp", "LD_LIBRARY_PATH=/lib", "TERM=dumb",
				      NULL};
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		execve(words[0], words, environment);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

/* How the GPU's events were attached, and what was lost, as the session says. */
static void show_account(void)
{
	FILE *session = fopen("/tmp/sessions/latest/session.json", "r");
	static char text[1 << 20];
	size_t bytes = session ? fread(text, 1, sizeof(text) - 1, session) : 0;

	text[bytes] = 0;
	for (char *word = strtok(text, "\"\n"); word; word = strtok(NULL, "\"\n"))
		if (strstr(word, "GPU ") || strstr(word, " lost events of kind"))
			printf("ACCOUNT %s\n", word);
	printf("SESSION %zu bytes\n", bytes);
}

int main(int count, char **words)
{
	char line[128];
	FILE *modules;

	if (count > 0 && strcmp(words[0], "/work") == 0)
		return work();
	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/tmp", 0777);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	mkdir("/dev/shm", 01777);
	mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
	freopen("/dev/console", "w", stdout);
	freopen("/dev/console", "w", stderr);
	modules = fopen("/modules.txt", "r");
	while (modules && fgets(line, sizeof(line), modules)) {
		line[strcspn(line, "\n")] = 0;
		printf("LOAD %s %d\n", line, load(line));
	}
	fflush(stdout);
	chdir("/tmp");
	printf("STATUS record %d\n",
	       call((char *[]){"/aaco", "record", "--ebpf", "--", "/work", NULL}));
	fflush(stdout);
	call((char *[]){"/aaco", "query",
			"SELECT 'ROW' AS mark, "
			/* buffers of the driver itself have another size (64 x 64 x 4 are ours) */
			"kind || CASE WHEN kind IN ('gpu_buffer', 'gpu_memory') AND bytes <> 16384 "
			"THEN ' of another size' ELSE '' END AS kind, "
			"detail, count(*) AS n, min(bytes) AS bytes, "
			"max(duration_ns) AS longest FROM sched_events WHERE kind LIKE 'gpu%' "
			"GROUP BY ALL ORDER BY ALL",
			"--format", "csv", NULL});
	show_account();
	printf("GUEST DONE\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The first process of the virtual machine in which the module is tested;
 * scripts/proofs/kernel_module.sh starts it. Prints one line per check ("PASS name", "FAIL name"),
 * the kernel's warnings, and switches the machine off. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#define STRANGER 1000

static int failures;

int check(const char *name, int good)
{
	printf("%s %s\n", good ? "PASS" : "FAIL", name);
	fflush(stdout);
	failures += !good;
	return good;
}

int load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	long result = file < 0 ? -1 : syscall(SYS_finit_module, file, "", 0);

	if (result)
		printf("%s: %s\n", path, strerror(errno));
	if (file >= 0)
		close(file);
	return result == 0;
}

int unload(void)
{
	return syscall(SYS_delete_module, "aaco", O_NONBLOCK) == 0 ? 0 : errno;
}

int device(void)
{
	return open(AACO_KMOD_DEVICE, O_RDWR | O_CLOEXEC);
}

size_t ring_bytes(void)
{
	size_t bytes = 256 * sizeof(struct aaco_kmod_record);

	return 4096 + (bytes + 4095) / 4096 * 4096;
}

/* Whether a child that runs `work` exits with 0. */
static int in_child(int (*work)(void))
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(work());
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void describe(void)
{
	struct aaco_kmod_info info = {0};
	struct aaco_kmod_clock before, after;
	int file = device();

	check("information", ioctl(file, AACO_KMOD_INFO, &info) == 0 &&
				     info.abi_version == AACO_KMOD_ABI_VERSION &&
				     info.record_bytes == sizeof(struct aaco_kmod_record) &&
				     info.features & AACO_KMOD_DRM_MEMORY);
	check("clock", ioctl(file, AACO_KMOD_CLOCK, &before) == 0 && usleep(100000) == 0 &&
			       ioctl(file, AACO_KMOD_CLOCK, &after) == 0 &&
			       after.tsc_before > before.tsc_after &&
			       after.monotonic_ns - before.monotonic_ns >= 100000000);
	printf("FIGURE tsc_hz_kernel %llu\nFIGURE clock_pair_ticks %llu\n",
	       (unsigned long long)info.tsc_hz,
	       (unsigned long long)(after.tsc_after - after.tsc_before));
	printf("FIGURE tsc_hz_measured %.0f\n", (double)(after.tsc_before - before.tsc_before) *
							1e9 /
							(double)(after.raw_ns - before.raw_ns));
	close(file);
}

/* 600 regions, more than the ring has records, each with a sleep. A slow machine may end a sleep
 * before the switch, so the switches and interrupts are counted over all. */
static int use_regions(void)
{
	int file = device();
	uint64_t switches = 0, interrupts = 0;
	const struct aaco_kmod_ring *ring =
		mmap(NULL, ring_bytes(), PROT_READ, MAP_SHARED, file, 0);
	const struct aaco_kmod_record *records = (const void *)((const char *)ring + 4096);

	if (file < 0 || ring == MAP_FAILED)
		return 1;
	for (uint64_t i = 1; i <= 600; ++i) {
		struct aaco_kmod_region begin = {.tag = i};
		struct aaco_kmod_region_end end = {0};
		const struct aaco_kmod_record *seen = &records[(i - 1) % 256];

		if (ioctl(file, AACO_KMOD_REGION_BEGIN, &begin))
			return 2;
		usleep(2000);
		end.slot = begin.slot;
		if (ioctl(file, AACO_KMOD_REGION_END, &end))
			return 3;
		if (end.record.tag != i || end.record.sequence != i || ring->head != i)
			return 4;
		if (end.record.end_ns <= end.record.begin_ns ||
		    end.record.end_tsc <= end.record.begin_tsc)
			return 5;
		switches += end.record.voluntary_switches;
		interrupts += end.record.machine.timer_irqs + end.record.machine.ipis;
		if (memcmp(seen, &end.record, sizeof(*seen)))
			return 6;
	}
	return switches >= 300 && interrupts >= 300 ? 0 : 7;
}

static int two_processes(void)
{
	pid_t first = fork(), second;
	int status[2] = {-1, -1};

	if (first == 0)
		_exit(use_regions());
	second = fork();
	if (second == 0)
		_exit(use_regions());
	waitpid(first, &status[0], 0);
	waitpid(second, &status[1], 0);
	printf("FIGURE region_processes_status %d %d\n", status[0], status[1]);
	return status[0] == 0 && status[1] == 0;
}

static int region_refusals(void)
{
	struct aaco_kmod_region begin = {0}, reserved = {.reserved = 1};
	struct aaco_kmod_region_end end = {.slot = 99}, closed = {.slot = 5}, own = {0};
	int file = device(), open_count = 0, status = 0;

	if (ioctl(file, AACO_KMOD_REGION_BEGIN, &reserved) == 0 || errno != EINVAL)
		return 1;
	if (ioctl(file, AACO_KMOD_REGION_END, &end) == 0 || errno != EINVAL)
		return 2;
	if (ioctl(file, AACO_KMOD_REGION_END, &closed) == 0 || errno != ENOENT)
		return 3;
	while (ioctl(file, AACO_KMOD_REGION_BEGIN, &begin) == 0)
		++open_count;
	if (open_count != 16 || errno != EBUSY)
		return 4;
	if (fork() == 0) /* another process with the same open file */
		_exit(ioctl(file, AACO_KMOD_REGION_END, &own) == -1 && errno == EPERM ? 0 : 1);
	wait(&status);
	return status ? 5 : 0;
}

static int map_refusals(void)
{
	int file = device();
	void *ring;

	if (mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED)
		return 1;
	if (mmap(NULL, ring_bytes() + 4096, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED)
		return 2;
	if (mmap(NULL, ring_bytes(), PROT_READ, MAP_SHARED, file, 4096) != MAP_FAILED)
		return 3;
	ring = mmap(NULL, ring_bytes(), PROT_READ, MAP_SHARED, file, 0);
	if (ring == MAP_FAILED || mprotect(ring, 4096, PROT_READ | PROT_WRITE) == 0)
		return 4;
	return 0;
}

static int many_opens(void)
{
	int count = 0;

	while (device() >= 0)
		++count;
	return count == 64 && errno == EMFILE ? 0 : 1;
}

static char text[4 * AACO_KMOD_MIN_TEXT + 1];

static int ask(struct aaco_kmod_gpu_memory *request)
{
	int file = device(), result = ioctl(file, AACO_KMOD_GPU_MEMORY, request) ? errno : 0;

	close(file);
	return result;
}

static int gpu_memory(pid_t pid, struct aaco_kmod_gpu_memory *request)
{
	memset(text, 0, sizeof(text));
	*request = (struct aaco_kmod_gpu_memory){
		.pid = pid, .text = (uintptr_t)text, .text_bytes = sizeof(text) - 1};
	return ask(request);
}

static int stranger(void)
{
	struct aaco_kmod_gpu_memory request;

	if (setgroups(0, NULL) || setgid(STRANGER) || setuid(STRANGER))
		return 1;
	return device() == -1 && errno == EACCES && gpu_memory(1, &request) == EBADF ? 0 : 2;
}

static int
member(void) /* of the group of the device: may open it, not look into root's processes */
{
	struct aaco_kmod_gpu_memory request;
	gid_t group = STRANGER;

	if (setgroups(1, &group) || setgid(STRANGER) || setuid(STRANGER))
		return 1;
	return gpu_memory(1, &request) == EPERM ? 0 : 2;
}

static void drm_files(void)
{
	struct aaco_kmod_gpu_memory request;
	int first = open("/dev/dri/renderD128", O_RDWR),
	    second = open("/dev/dri/renderD128", O_RDWR);
	int far = dup2(first, 900);

	check("DRM files of the test driver", first >= 0 && second >= 0 && far == 900);
	check("GPU memory of a process",
	      gpu_memory(getpid(), &request) == 0 && request.files == 3 &&
		      request.next_fd == AACO_KMOD_ALL_FDS && strstr(text, "drm-minor:\t128\n") &&
		      strstr(text, "drm-memory-vram:\t2048 KiB\n"));
	request.next_fd = 0;
	request.text_bytes = AACO_KMOD_MIN_TEXT - 1;
	check("small buffer", ask(&request) == EINVAL);
	request.text_bytes = AACO_KMOD_MIN_TEXT;
	check("continued after the first files",
	      ask(&request) == 0 && request.files == 2 && request.next_fd < 900 &&
		      (request.text_bytes = AACO_KMOD_MIN_TEXT) && ask(&request) == 0 &&
		      request.files == 1 && request.next_fd == AACO_KMOD_ALL_FDS);
	check("no such process", gpu_memory(30000, &request) == ESRCH);
	check("invalid process", gpu_memory(-1, &request) == EINVAL);
	check("device closed to others", in_child(stranger));
	check("device group", chown(AACO_KMOD_DEVICE, 0, STRANGER) == 0 && in_child(member));
	close(first);
	close(second);
	close(far);
	check("no DRM file, no text", gpu_memory(getpid(), &request) == 0 && request.files == 0);
}

static int kernel_warnings(void)
{
	static const char *const signs[] = {"WARNING:",
					    "BUG",
					    "Oops",
					    "UBSAN",
					    "KASAN",
					    "general protection",
					    "Call Trace",
					    "rcu:  INFO",
					    "stall",
					    "hung_task",
					    "Poison overwritten",
					    "Redzone",
					    "Object already free",
					    "refcount_t",
					    "lockup"};
	static char log[1 << 20];
	int length = klogctl(3, log, sizeof(log) - 1), count = 0;

	if (length < 0)
		return -1;
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); ++i) {
			if (strstr(line, signs[i])) {
				printf("LOG %s\n", line);
				++count;
				break;
			}
		}
	}
	return count;
}

int main(void)
{
	struct rlimit files = {1024, 1024};
	int before, warnings;

	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	freopen("/dev/console", "w", stdout);
	setrlimit(RLIMIT_NOFILE, &files);
	before = kernel_warnings();
	check("load", load("/drm.ko") && load("/aaco_test_drm.ko") && load("/aaco.ko"));
	describe();
	check("two processes", two_processes());
	check("refusals of regions", in_child(region_refusals));
	check("refusals of mappings", in_child(map_refusals));
	check("limit of open files", in_child(many_opens));
	drm_files();
	check("hostile calls", hostile_processes());
	unload_under_use();
	warnings = kernel_warnings() - before;
	printf("FIGURE kernel_warnings %d\n", warnings);
	check("kernel log", warnings == 0 && before >= 0);
	printf("%s\n", failures ? "GUEST FAILED" : "GUEST PASSED");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}

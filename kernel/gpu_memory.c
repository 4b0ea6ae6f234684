// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* GPU memory of a process: what the DRM drivers say in the fdinfo of its open files. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#ifdef AACO_TASK_DUMPABLE
#include <linux/sched/exec_state.h>
#endif
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "aaco.h"

#define DRM_MAJOR_NUMBER 226
#define FDS_PER_STEP 256u /* looked at under the locks */
#define STEPS_PER_CALL 16
#define FILES_PER_STEP 8u

struct step {
	struct file *files[FILES_PER_STEP]; /* referenced */
	u32 count;
	u32 next_fd;
};

#ifdef AACO_TASK_DUMPABLE /* 7.x: of the task, no longer of its memory (Kbuild looks which) */
static bool is_dumpable(struct task_struct *task)
{
	const struct task_exec_state *state;
	bool dumpable;

	rcu_read_lock();
	state = rcu_dereference(task->exec_state);
	dumpable = state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return dumpable;
}
#else
static bool is_dumpable(struct task_struct *task)
{
	return get_dumpable(task->mm) == SUID_DUMP_USER;
}
#endif

/* The uid and dumpable rules of ptrace, which modules cannot call. */
static bool may_read(struct task_struct *task)
{
	const struct cred *mine = current_cred(), *theirs;
	bool same, dumpable;

	rcu_read_lock();
	theirs = __task_cred(task);
	same = uid_eq(mine->fsuid, theirs->euid) && uid_eq(mine->fsuid, theirs->suid) &&
	       uid_eq(mine->fsuid, theirs->uid) && gid_eq(mine->fsgid, theirs->egid) &&
	       gid_eq(mine->fsgid, theirs->sgid) && gid_eq(mine->fsgid, theirs->gid);
	rcu_read_unlock();
	task_lock(task);
	dumpable = task->mm && is_dumpable(task);
	task_unlock(task);
	return (same && dumpable) || capable(CAP_SYS_PTRACE);
}

static bool is_drm(struct file *file)
{
	const struct inode *inode = file_inode(file);

	return S_ISCHR(inode->i_mode) && imajor(inode) == DRM_MAJOR_NUMBER &&
	       file->f_op->show_fdinfo;
}

/* Takes references of DRM files among the next descriptors; next_fd becomes AACO_KMOD_ALL_FDS at
 * the end of the table. */
static void collect(struct task_struct *task, struct step *step)
{
	struct files_struct *files;
	u32 end, fds;

	step->count = 0;
	task_lock(task);
	files = task->files;
	if (!files) {
		task_unlock(task);
		step->next_fd = AACO_KMOD_ALL_FDS;
		return;
	}
	spin_lock(&files->file_lock);
	fds = files_fdtable(files)->max_fds;
	end = step->next_fd < fds ? min(fds, step->next_fd + FDS_PER_STEP) : fds;
	for (; step->next_fd < end && step->count < FILES_PER_STEP; ++step->next_fd) {
		struct file *file = files_lookup_fd_locked(files, step->next_fd);

		if (file && is_drm(file))
			step->files[step->count++] = get_file(file);
	}
	if (step->next_fd >= fds)
		step->next_fd = AACO_KMOD_ALL_FDS;
	spin_unlock(&files->file_lock);
	task_unlock(task);
}

/* Writes the text of one file to the caller; the driver may sleep. */
static int write_text(struct file *file, char *page, struct aaco_kmod_gpu_memory *request, u32 room)
{
	struct seq_file text = {.buf = page, .size = PAGE_SIZE, .file = file};

	seq_printf(&text, "drm-minor:\t%u\n", iminor(file_inode(file)));
	file->f_op->show_fdinfo(&text, file);
	seq_putc(&text, '\n');
	if (seq_has_overflowed(&text)) {
		++request->cut;
		return 0;
	}
	if (text.count > room - request->text_bytes)
		return -ENOSPC;
	if (copy_to_user(u64_to_user_ptr(request->text + request->text_bytes), page, text.count))
		return -EFAULT;
	request->text_bytes += text.count;
	++request->files;
	return 0;
}

static int read_task(struct task_struct *task, char *page, struct aaco_kmod_gpu_memory *request)
{
	const u32 room = request->text_bytes;
	struct step step = {.next_fd = request->next_fd};
	int i, error = 0;
	u32 file;

	request->text_bytes = 0;
	for (i = 0; i < STEPS_PER_CALL && step.next_fd != AACO_KMOD_ALL_FDS; ++i) {
		/* A step's files must fit whole, otherwise the next call begins with this step. */
		if (room - request->text_bytes < AACO_KMOD_MIN_TEXT && request->files)
			break;
		request->next_fd = step.next_fd;
		collect(task, &step);
		for (file = 0; file < step.count; ++file) {
			if (!error)
				error = write_text(step.files[file], page, request, room);
			fput(step.files[file]);
		}
		if (error || fatal_signal_pending(current))
			return error ? error : -EINTR;
		cond_resched();
	}
	request->next_fd = step.next_fd;
	return 0;
}

int aaco_gpu_memory_read(struct aaco_kmod_gpu_memory *request)
{
	struct task_struct *task;
	struct pid *pid;
	char *page;
	int error;

	if (request->reserved || request->pid <= 0 || request->text_bytes < AACO_KMOD_MIN_TEXT)
		return -EINVAL;
	request->files = 0;
	request->cut = 0;
	pid = find_get_pid(request->pid);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task)
		return -ESRCH;
	page = (char *)__get_free_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!page)
		error = -ENOMEM;
	else if (!may_read(task))
		error = -EPERM;
	else
		error = read_task(task, page, request);
	free_page((unsigned long)page);
	put_task_struct(task);
	return error;
}

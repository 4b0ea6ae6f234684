// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A GPU without hardware for the tests: each write to /dev/aaco_test_gpu is a job of the DRM
 * scheduler that "runs" for 5 ms; the writer waits for its fence. */
#include <linux/dma-fence.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <drm/gpu_scheduler.h>

struct test_job {
	struct drm_sched_job base;
};

struct test_fence {
	struct dma_fence base;
	struct delayed_work done;
};

static DEFINE_SPINLOCK(fence_lock);
static DEFINE_MUTEX(submit_lock);
static struct drm_gpu_scheduler scheduler;
static struct drm_sched_entity entity;
static u64 fence_context, fence_number;

static const char *fence_name(struct dma_fence *fence)
{
	return "aaco_test";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

static void end_of_job(struct work_struct *work)
{
	struct test_fence *fence =
		container_of(to_delayed_work(work), struct test_fence, done);

	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

static struct dma_fence *run_job(struct drm_sched_job *job)
{
	struct test_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return ERR_PTR(-ENOMEM);
	dma_fence_init(&fence->base, &fence_ops, &fence_lock, fence_context, ++fence_number);
	INIT_DELAYED_WORK(&fence->done, end_of_job);
	dma_fence_get(&fence->base); /* the worker's */
	schedule_delayed_work(&fence->done, msecs_to_jiffies(5));
	return &fence->base;
}

static void free_job(struct drm_sched_job *job)
{
	drm_sched_job_cleanup(job);
	kfree(container_of(job, struct test_job, base));
}

static const struct drm_sched_backend_ops sched_ops = {
	.run_job = run_job,
	.free_job = free_job,
};

static int init_job(struct drm_sched_job *job)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
	return drm_sched_job_init(job, &entity, 1, NULL, 0);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	return drm_sched_job_init(job, &entity, 1, NULL);
#else
	return drm_sched_job_init(job, &entity, NULL);
#endif
}

static ssize_t test_write(struct file *file, const char __user *data, size_t bytes, loff_t *at)
{
	struct test_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	struct dma_fence *finished;
	long error;

	if (!job)
		return -ENOMEM;
	mutex_lock(&submit_lock);
	error = init_job(&job->base);
	if (error) {
		mutex_unlock(&submit_lock);
		kfree(job);
		return error;
	}
	drm_sched_job_arm(&job->base);
	finished = dma_fence_get(&job->base.s_fence->finished);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&submit_lock);
	error = dma_fence_wait(finished, true);
	dma_fence_put(finished);
	return error ? error : bytes;
}

static const struct file_operations test_operations = {
	.owner = THIS_MODULE,
	.write = test_write,
};

static struct miscdevice test_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "aaco_test_gpu",
	.fops = &test_operations,
};

static int __init test_init(void)
{
	struct drm_sched_init_args arguments = {
		.ops = &sched_ops,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = 2,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "aaco_test",
	};
	struct drm_gpu_scheduler *schedulers = &scheduler;
	int error = misc_register(&test_device); /* nobody writes before the machine is up */

	if (error)
		return error;
	arguments.dev = test_device.this_device; /* trace events name it since 6.16 */
	error = drm_sched_init(&scheduler, &arguments);
	if (error)
		goto no_scheduler;
	fence_context = dma_fence_context_alloc(1);
	error = drm_sched_entity_init(&entity, DRM_SCHED_PRIORITY_NORMAL, &schedulers, 1, NULL);
	if (!error)
		return 0;
	drm_sched_fini(&scheduler);
no_scheduler:
	misc_deregister(&test_device);
	return error;
}

/* Stays until the machine ends. */
module_init(test_init);
MODULE_DESCRIPTION("AACO: jobs of the DRM scheduler for the tests");
MODULE_LICENSE("Dual MIT/GPL");

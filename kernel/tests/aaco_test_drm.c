// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* A DRM device without hardware for the tests: each open file says in its fdinfo that it has
 * memory, as amdgpu's files do. */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/seq_file.h>
#include <linux/version.h>
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_ioctl.h>

static void test_show_fdinfo(struct seq_file *text, struct file *file)
{
	seq_puts(text, "drm-driver:\taaco_test\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:00.0\n");
	seq_puts(text, "drm-memory-vram:\t2048 KiB\ndrm-memory-gtt:\t512 KiB\n");
}

static const struct file_operations test_operations = {
	.owner = THIS_MODULE,
#ifdef FOP_UNSIGNED_OFFSET /* since 6.12; drm_open() warns without it */
	.fop_flags = FOP_UNSIGNED_OFFSET,
#endif
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.show_fdinfo = test_show_fdinfo,
};

static const struct drm_driver test_driver = {
	.driver_features = DRIVER_RENDER,
	.name = "aaco_test",
	.desc = "a device for the tests of aaco",
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
	.date = "20260101",
#endif
	.major = 1,
	.fops = &test_operations,
};

static struct platform_device *parent;
static struct drm_device *device;

static int __init test_init(void)
{
	int error;

	parent = platform_device_register_simple("aaco_test_drm", -1, NULL, 0);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	device = drm_dev_alloc(&test_driver, &parent->dev);
	if (IS_ERR(device)) {
		error = PTR_ERR(device);
		goto unregister;
	}
	error = drm_dev_register(device, 0);
	if (!error)
		return 0;
	drm_dev_put(device);
unregister:
	platform_device_unregister(parent);
	return error;
}

static void __exit test_exit(void)
{
	drm_dev_unregister(device);
	drm_dev_put(device);
	platform_device_unregister(parent);
}

module_init(test_init);
module_exit(test_exit);
MODULE_DESCRIPTION("AACO: DRM device of the tests");
MODULE_LICENSE("Dual MIT/GPL");

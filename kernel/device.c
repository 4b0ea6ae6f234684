// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* /dev/aaco: one open file holds its own regions and ring. Who may open it is the group of the
 * device node (60-aaco.rules). */
#include <linux/atomic.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

#include "aaco.h"

static unsigned int max_opens = 64;
module_param(max_opens, uint, 0444);
MODULE_PARM_DESC(max_opens, "open files of the device at one time (each takes about 64 KiB)");

static atomic_t opens = ATOMIC_INIT(0);

static int aaco_open(struct inode *inode, struct file *file)
{
	struct aaco_file *own;
	int error = -ENOMEM;

	if (atomic_inc_return(&opens) > max_opens) {
		atomic_dec(&opens);
		return -EMFILE;
	}
	own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);
	if (own)
		error = aaco_ring_make(own);
	if (error) {
		kfree(own);
		atomic_dec(&opens);
		return error;
	}
	mutex_init(&own->lock);
	file->private_data = own; /* replaces the miscdevice that misc_open() put there */
	return nonseekable_open(inode, file);
}

static int aaco_release(struct inode *inode, struct file *file)
{
	struct aaco_file *own = file->private_data;

	vfree(own->ring);
	kfree(own);
	atomic_dec(&opens);
	return 0;
}

static int aaco_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct aaco_file *own = file->private_data;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != aaco_ring_bytes())
		return -EINVAL;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
#else
	vma->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
#endif
	return remap_vmalloc_range(vma, own->ring, 0);
}

static struct aaco_kmod_info describe(void)
{
	struct aaco_kmod_info info = {
		.abi_version = AACO_KMOD_ABI_VERSION,
		.features = IS_ENABLED(CONFIG_DRM) ? AACO_KMOD_DRM_MEMORY : 0,
		.tsc_hz = (u64)tsc_khz * 1000,
		.ring_records = AACO_RING_RECORDS,
		.record_bytes = sizeof(struct aaco_kmod_record),
		.max_regions = AACO_MAX_REGIONS,
	};

	if (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC))
		info.features |= AACO_KMOD_TSC_CONSTANT;
	return info;
}

static long aaco_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct aaco_file *own = file->private_data;
	void __user *user = (void __user *)argument;
	union {
		struct aaco_kmod_info info;
		struct aaco_kmod_clock clock;
		struct aaco_kmod_region region;
		struct aaco_kmod_region_end end;
		struct aaco_kmod_gpu_memory memory;
	} data;
	int error = 0;

	if (_IOC_TYPE(command) != _IOC_TYPE(AACO_KMOD_INFO) || _IOC_SIZE(command) > sizeof(data))
		return -ENOTTY;
	memset(&data, 0, sizeof(data));
	if ((_IOC_DIR(command) & _IOC_WRITE) && copy_from_user(&data, user, _IOC_SIZE(command)))
		return -EFAULT;
	switch (command) {
	case AACO_KMOD_INFO:
		data.info = describe();
		break;
	case AACO_KMOD_CLOCK:
		aaco_clock_read(&data.clock);
		break;
	case AACO_KMOD_REGION_BEGIN:
		mutex_lock(&own->lock);
		error = aaco_region_begin(own, &data.region);
		mutex_unlock(&own->lock);
		break;
	case AACO_KMOD_REGION_END:
		mutex_lock(&own->lock);
		error = aaco_region_end(own, &data.end);
		mutex_unlock(&own->lock);
		break;
	case AACO_KMOD_GPU_MEMORY:
		error = aaco_gpu_memory_read(&data.memory);
		break;
	default:
		return -ENOTTY;
	}
	if (!error && copy_to_user(user, &data, _IOC_SIZE(command)))
		return -EFAULT;
	return error;
}

static const struct file_operations aaco_operations = {
	.owner = THIS_MODULE, /* open files and mappings keep the module loaded */
	.open = aaco_open,
	.release = aaco_release,
	.mmap = aaco_mmap,
	.unlocked_ioctl = aaco_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	.llseek = no_llseek,
#endif
};

static struct miscdevice aaco_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "aaco",
	.mode = 0660,
	.fops = &aaco_operations,
};

module_misc_device(aaco_device);

MODULE_DESCRIPTION("AACO: GPU memory of processes, clock pairs, interrupts around a region");
MODULE_AUTHOR("AACO contributors");
MODULE_VERSION("1");
MODULE_LICENSE("Dual MIT/GPL");

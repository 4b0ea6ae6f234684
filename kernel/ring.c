// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The ring of finished regions: written by the kernel only, mapped read only, and never read back.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "aaco.h"

size_t aaco_ring_bytes(void)
{
	return PAGE_SIZE + PAGE_ALIGN(AACO_RING_RECORDS * sizeof(struct aaco_kmod_record));
}

int aaco_ring_make(struct aaco_file *file)
{
	struct aaco_kmod_ring *head = vmalloc_user(aaco_ring_bytes());

	if (!head)
		return -ENOMEM;
	head->abi_version = AACO_KMOD_ABI_VERSION;
	head->record_bytes = sizeof(struct aaco_kmod_record);
	head->capacity = AACO_RING_RECORDS;
	file->ring = head;
	return 0;
}

/* Gives the record its sequence. Called with file->lock held. */
void aaco_ring_add(struct aaco_file *file, struct aaco_kmod_record *record)
{
	struct aaco_kmod_ring *head = file->ring;
	struct aaco_kmod_record *records = file->ring + PAGE_SIZE;
	struct aaco_kmod_record *slot = &records[file->sequence % AACO_RING_RECORDS];

	record->sequence = 0;
	WRITE_ONCE(slot->sequence, 0);
	smp_wmb(); /* a reader that sees a new field sees sequence 0 or the new one */
	memcpy(slot, record, sizeof(*slot));
	record->sequence = ++file->sequence;
	smp_store_release(&slot->sequence, record->sequence);
	smp_store_release(&head->head, record->sequence);
}

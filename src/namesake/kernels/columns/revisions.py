"""Which record of an item counts, if the dumps and changes have several."""

from namesake.kernels.compiled import kernel

NONE = -1  # the item has no record, or is deleted; an event i that redirects the item is NONE - 1 - i


@kernel("int64(int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int32[::1])")
def settle(item, revision, gone_item, gone_target, gone_before, current):
    """Write to `current` the record of each item that counts; returns how many records are older than one before them.

    A record replaces those before it, except one of a later revision. A deletion or redirect replaces all before it:
    event i stands before record gone_before[i].
    """
    older, event = 0, 0
    for row in range(len(item) + 1):
        while event < len(gone_item) and (gone_before[event] <= row or row == len(item)):
            current[gone_item[event]] = NONE - 1 - event if gone_target[event] else NONE
            event += 1
        if row == len(item):
            break
        known = current[item[row]]
        if known >= 0 and 0 < revision[row] < revision[known]:
            older += 1
        else:
            current[item[row]] = row
    return older

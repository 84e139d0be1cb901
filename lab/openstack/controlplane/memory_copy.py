"""What a hypervisor would say of the memory it copies, as pure functions of
the time since the copy began."""

# A stalled stream: some is over, then nothing moves any more.
HANGS_AT = 0.6
# A guest that dirties its memory faster than the network carries it: each
# round begins with HIGH of the memory left, and ends with LOW.
SLOW_HIGH, SLOW_LOW, SLOW_ROUND_SECONDS = 0.5, 0.2, 3.0


def remaining_bytes(mode, spent_seconds, seconds, total_bytes):
    """Bytes of memory that are still to be copied."""
    return int(total_bytes * _remaining(mode, spent_seconds, seconds))


def processed_bytes(mode, spent_seconds, seconds, total_bytes):
    """Bytes sent so far. A page that is sent twice counts twice."""
    if mode == "slow":
        per_second = (SLOW_HIGH - SLOW_LOW) / SLOW_ROUND_SECONDS
        return int(total_bytes * (0.5 + per_second * spent_seconds))
    return total_bytes - remaining_bytes(
        mode, spent_seconds, seconds, total_bytes)


def _remaining(mode, spent_seconds, seconds):
    if mode == "hang":
        return HANGS_AT
    if mode == "slow":
        of_round = spent_seconds % SLOW_ROUND_SECONDS / SLOW_ROUND_SECONDS
        return SLOW_HIGH - (SLOW_HIGH - SLOW_LOW) * of_round
    return max(0.0, 1 - spent_seconds / seconds) if seconds else 0.0

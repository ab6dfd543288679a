import type { AdminCollections } from '../store/stores.ts'

/**
 * Records that a heartbeat came back. It continues the latest time of uptime, or begins another one after an outage. Several processes may
 * record the same heartbeat.
 * @param outageAfterMs a longer time without a heartbeat is an outage
 */
export async function recordUptime(
  uptimes: AdminCollections['uptimes'],
  returnedAtMs: number,
  outageAfterMs: number,
): Promise<void> {
  const to = new Date(returnedAtMs)
  const [latest] = await uptimes.page({ where: {}, by: 'to', limit: 1 })
  if (latest !== undefined && latest.to >= to) return
  if (latest !== undefined && returnedAtMs - latest.to.getTime() <= outageAfterMs) {
    await uptimes.change({ _id: latest._id, to: { max: to } }, { to })
  } else {
    await uptimes.insert({ _id: to.toISOString(), from: to, to })
  }
}

import type { Db } from 'mongodb'

/** Milliseconds of processor time that MongoDB has used so far; NaN on systems where it does not report this. */
export async function mongoCpuMs(db: Db): Promise<number> {
  const { extra_info: used } = await db.admin().serverStatus()
  return (Number(used?.user_time_us) + Number(used?.system_time_us)) / 1_000
}

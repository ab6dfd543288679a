import { randomFillSync } from 'node:crypto'

const ID_BYTES = 24
/** Random bytes are drawn for many ids at once, because one call costs as much as the signature of a small body. */
const RANDOM_POOL = Buffer.alloc(ID_BYTES * 256)
let used = RANDOM_POOL.length

/** Makes 48 random hex digits: a trace id and a span id. They only identify a trace and protect nothing. */
export function newTraceIds(): string {
  if (used === RANDOM_POOL.length) {
    randomFillSync(RANDOM_POOL)
    used = 0
  }
  used += ID_BYTES
  return RANDOM_POOL.toString('hex', used - ID_BYTES, used)
}

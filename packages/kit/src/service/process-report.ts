import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { ProcessDocument, ProcessKey, ServiceName } from '@backstop/contracts'
import type { Db } from 'mongodb'
import { type Clock, sleep } from '../clock/clock.ts'
import type { MeasuredClock } from '../clock/measured-clock.ts'
import { waitUntilSettled } from '../clock/with-deadline.ts'
import type { Logger } from '../logger.ts'
import { asUnavailable } from '../mongo/mongo.ts'
import { createDerivedKeys } from '../secret-box/derived-keys.ts'
import type { KeyRing } from '../secret-box/key-ring.ts'

/** What a process reports about itself, without its name and version. */
export type ProcessState = Pick<ProcessDocument, 'started_at' | 'unready' | 'keys' | 'clock_ahead_ms'>

/** The place of this process in the list of processes. */
export interface ProcessEntry {
  /** @throws AppError `unavailable` */
  save(state: ProcessState): Promise<void>
  /** @throws AppError `unavailable` */
  remove(): Promise<void>
}

/** How long MongoDB may take for a report, in milliseconds. */
const WRITE_MS = 5_000

/** The entry in the collection `processes`. */
export function createMongoProcessEntry(db: Db, service: ServiceName, version: string): ProcessEntry {
  const processes = db.collection<ProcessDocument>('processes')
  const _id = `${hostname()}-${randomBytes(4).toString('hex')}`
  return {
    save: state =>
      asUnavailable(async () => {
        // The time of MongoDB, so that the ages of all reports can be compared.
        const update = { $set: { service, version, ...state }, $currentDate: { reported_at: true } } as const
        await processes.updateOne({ _id }, update, { upsert: true, timeoutMS: WRITE_MS })
      }),
    remove: () => asUnavailable(async () => void (await processes.deleteOne({ _id }, { timeoutMS: WRITE_MS }))),
  }
}

export interface ProcessReportOptions {
  readonly entry: ProcessEntry
  readonly keys: KeyRing
  readonly clock: Clock & Pick<MeasuredClock, 'aheadMs'>
  readonly logger: Logger
  /** The reason why this process is not ready; undefined if it is. */
  ready(): Promise<string | undefined>
}

export interface ProcessReport {
  /** Removes the process from the list. Takes at most two seconds. */
  stop(): Promise<void>
}

/** How soon a change of readiness is noticed, in milliseconds: sooner while a start or a repair is watched. */
const LOOK_EVERY_MS = 2_000
const LOOK_EVERY_MS_WHILE_UNREADY = 500
/** After so many looks without a change comes a report, at least every 16 s: three of them before a process counts as silent. */
const LOOKS_PER_REPORT = 8
const REMOVE_WITHIN_MS = 2_000

/**
 * Reports this process to the list of processes: now, after each change of its readiness, and every 16 s. A failure changes nothing else:
 * only the first one is logged.
 */
export function startProcessReport({ entry, keys, clock, logger, ready }: ProcessReportOptions): ProcessReport {
  const stopping = new AbortController()
  const fingerprints = fingerprintsOf(keys)
  let reported: string | null | undefined
  let looks = 0
  let isFailing = false

  async function report(): Promise<void> {
    const unready = (await ready().catch(String)) ?? null
    looks += 1
    if (stopping.signal.aborted || (reported === unready && looks < LOOKS_PER_REPORT)) return
    reported = unready
    looks = 0
    const aheadMs = clock.aheadMs()
    try {
      await entry.save({
        started_at: new Date(clock.now() - performance.now()),
        unready,
        keys: fingerprints,
        clock_ahead_ms: aheadMs === undefined ? null : Math.round(aheadMs),
      })
      if (isFailing) logger.info('processes.written')
      isFailing = false
    } catch (error) {
      if (!isFailing) logger.warn({ error }, 'processes.not_written')
      isFailing = true
    }
  }

  async function reportForEver(): Promise<void> {
    while (!stopping.signal.aborted) {
      await report()
      await sleep(clock, reported === null ? LOOK_EVERY_MS : LOOK_EVERY_MS_WHILE_UNREADY, stopping.signal)
    }
  }

  const loop = reportForEver()
  return {
    async stop() {
      stopping.abort()
      await waitUntilSettled(
        loop.then(() => entry.remove()),
        REMOVE_WITHIN_MS,
      )
    },
  }
}

/** A keyed hash with a key that is derived from the key of the ring, so that neither shows anything of it. */
function fingerprintsOf(ring: KeyRing): ProcessKey[] {
  const derived = createDerivedKeys(ring)
  return [...ring.keys.keys()].map(key_id => {
    const mac = derived.mac(key_id, 'process list', key_id) as Buffer
    return { key_id, fingerprint: mac.toString('hex').slice(0, 16) }
  })
}
